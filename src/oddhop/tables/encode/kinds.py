"""Attributes of several kinds of nodes: every kind's columns are learned from the rows of that kind alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from oddhop.base.arrays import Floats
from oddhop.base.parallel import Progress, silent
from oddhop.graph.events import EventColumns
from oddhop.graph.kinds import NodeKinds
from oddhop.tables.encode.columns import Column
from oddhop.tables.encode.encoding import ColumnReport, Encoding, KindNames, padded
from oddhop.tables.encode.learn import check_any, checked_kinds, learn_column
from oddhop.tables.flows import FlowColumn, flow_columns
from oddhop.tables.kinds import KindsRead, Known, KnownKinds
from oddhop.tables.settings import EncodeSettings


def learn_kinds(
    nodes: KindsRead,
    column_of: Callable[[str], Column],
    settings: EncodeSettings,
    *,
    events: EventColumns | None = None,
    keep: Callable[[Any], None] | None = None,
    progress: Progress = silent,
) -> Encoding:
    """Learn how the columns of several kinds of nodes become attributes; flow columns come last.

    ``column_of`` gives a column by its full name, one row a node of any kind; flow columns have one, too. The settings
    say what a column is by its full name, or by its own in every kind that has it. ``keep`` takes the attributes.
    """
    rows = nodes.rows()
    flows = () if events is None else flow_columns(events)
    forced = _forced(nodes, settings.kinds, flows)
    own = [(nodes.names[kind], nodes.full_name(kind, name), None) for kind, name, _ in nodes.columns]
    made = [(kind, f"{kind}.{flow.name}", flow) for kind in nodes.names for flow in flows]
    seen: dict[str, dict[bytes, str]] = {kind: {} for kind in nodes.names}
    learned: list[Any] = []
    having: list[str] = []
    report: list[ColumnReport] = []
    steps = [*own, *made]
    for k, (kind, name, flow) in enumerate(steps):
        progress("encoding", k, len(steps))
        where = rows[kind]
        column = column_of(name).slice(where.start, where.stop - where.start)
        made_of = None if flow is None else replace(flow, name=name)
        encoder, block, entry = learn_column(name, column, forced.get(name), made_of, settings, seen[kind])
        if encoder is not None:
            learned.append(encoder)
            having.append(kind)
            if keep is not None:
                keep(padded(block, where, nodes.bounds[-1]))
        report.append(entry)
    check_any(learned, report)
    named = KindNames(nodes.names, nodes.names[nodes.judged])
    return Encoding(tuple(learned), tuple(report), events, tuple(having), named)


def _forced(nodes: KindsRead, kinds: Mapping[str, str], flows: Sequence[FlowColumn]) -> dict[str, str]:
    """Return what columns are by their full names; of a short and a full name for one the full one holds."""
    columns = [*((nodes.names[kind], name) for kind, name, _ in nodes.columns)]
    columns += [(kind, flow.name) for kind in nodes.names for flow in flows]
    checked_kinds(kinds, [*(f"{kind}.{name}" for kind, name in columns), *dict.fromkeys(name for _, name in columns)])
    said = {f"{kind}.{name}": kinds.get(f"{kind}.{name}", kinds.get(name)) for kind, name in columns}
    return {name: what for name, what in said.items() if what is not None}


def with_kind_flows(table: pa.Table, names: Sequence[str], events: EventColumns, values: Floats) -> pa.Table:
    """Append the flow columns under the name of every kind; their values are in memory once."""
    columns = [pa.array(np.ascontiguousarray(values[:, k])) for k in range(values.shape[1])]
    for kind in names:
        for flow, column in zip(flow_columns(events), columns, strict=True):
            table = table.append_column(f"{kind}.{flow.name}", column)
    return table


def node_kinds(encoding: Encoding, nodes: KindsRead) -> NodeKinds | None:
    """Return the kinds of a network's nodes and attributes; None where there is one kind."""
    if not nodes.several:
        return None
    columns = [
        nodes.names.index(kind) for one, kind in zip(encoding.columns, encoding.kinds, strict=True) for _ in one.names
    ]
    return NodeKinds(nodes.names, nodes.bounds, tuple(columns), nodes.judged)


def known_of(encoding: Encoding | None) -> Known | None:
    """Return what an encoding says about the tables that it can be used for."""
    if encoding is None:
        return None
    if encoding.nodes is None:
        return Known(encoding.events, KnownKinds())
    columns = frozenset(one.name for one in encoding.columns)
    return Known(encoding.events, KnownKinds(encoding.nodes.names, encoding.nodes.judged, columns))
