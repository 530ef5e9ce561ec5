"""Tables that were read -> attributes, of one kind of node or several."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from oddhop.base.parallel import Progress
from oddhop.tables.encode import Difference, Encoding, Learning
from oddhop.tables.encode.kinds import learn_kinds
from oddhop.tables.flows import check_names, flow_columns, flow_values, with_flow_columns
from oddhop.tables.read import NetworkTables
from oddhop.tables.settings import EncodeSettings, ReadSettings


@dataclass(frozen=True, eq=False)
class Encoded:
    """The attributes of all nodes, how they were made, and where the tables are not as those of the encoding."""

    encoding: Encoding
    attributes: Any
    differences: tuple[Difference, ...] = ()


def encode_tables(
    tables: NetworkTables, read: ReadSettings, settings: EncodeSettings, encoding: Encoding | None, progress: Progress
) -> Encoded:
    """Turn the columns of nodes, and those that events give them, into attributes; without an encoding, learn it."""
    columns, kinds, events = tables.columns, tables.kinds, tables.events
    if events is not None:
        check_names([name for _, name, _ in kinds.columns], [one.name for one in flow_columns(events.columns)])
        columns = with_flow_columns(columns, events.columns, flow_values(events), kinds.names if kinds.several else ())
    rows = kinds.rows() if kinds.several else None

    def row_name(row: int) -> str:
        return f"the row of {tables.ids[row].as_py()!r}"

    if encoding is not None:
        return Encoded(encoding, *encoding.apply_and_compare(columns, rows, row_name))
    learning = Learning(settings, read, row_name)
    told = None if events is None else events.columns
    blocks: list[Any] = []
    names, column = columns.column_names, columns.column
    learned = learn_kinds(kinds, names, column, learning, events=told, keep=blocks.append, progress=progress)
    return Encoded(replace(learned, edge_forms=tables.edge_forms), learned.joined(blocks))
