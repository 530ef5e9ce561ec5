"""Tables that were read -> attributes, of one kind of node or several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from oddhop.base.parallel import Progress
from oddhop.tables.encode import Difference, Encoding, learn_and_apply
from oddhop.tables.encode.kinds import learn_kinds, with_kind_flows
from oddhop.tables.flows import check_names, flow_columns, flow_values, with_flow_columns
from oddhop.tables.read import NetworkTables
from oddhop.tables.settings import EncodeSettings


@dataclass(frozen=True, eq=False)
class Encoded:
    """The attributes of all nodes, how they were made, and where the tables are not as those of the encoding."""

    encoding: Encoding
    attributes: Any
    differences: tuple[Difference, ...] = ()


def encode_tables(
    tables: NetworkTables, settings: EncodeSettings, encoding: Encoding | None, progress: Progress
) -> Encoded:
    """Turn the columns of nodes, and those that events give them, into attributes; without an encoding, learn it."""
    columns, kinds, events = tables.columns, tables.kinds, tables.events
    if events is not None:
        check_names([name for _, name, _ in kinds.columns], [one.name for one in flow_columns(events.columns)])
        values = flow_values(events)
        if kinds.several:
            columns = with_kind_flows(columns, kinds.names, events.columns, values)
        else:
            columns = with_flow_columns(columns, events.columns, values)
    rows = kinds.rows() if kinds.several else None
    if encoding is not None:
        return Encoded(encoding, encoding.apply(columns, rows)[0], encoding.differences(columns, rows))
    told = None if events is None else events.columns
    if not kinds.several:
        return Encoded(*learn_and_apply(columns, settings, events=told, progress=progress))
    blocks: list[Any] = []
    learned = learn_kinds(kinds, columns.column, settings, events=told, keep=blocks.append, progress=progress)
    return Encoded(learned, learned.joined(blocks))
