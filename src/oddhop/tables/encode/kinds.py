"""Attributes of several kinds of nodes: every kind's columns are learned from the rows of that kind alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from oddhop.base.parallel import Progress, silent
from oddhop.graph.events import EventColumns
from oddhop.graph.kinds import NodeKinds
from oddhop.tables.encode.columns import Column
from oddhop.tables.encode.encoding import ColumnReport, Encoding, KindNames, padded
from oddhop.tables.encode.learn import Keep, Learning, check_any, checked_kinds, learn_by_column, learn_made, learn_own
from oddhop.tables.flows import FlowColumn, flow_columns
from oddhop.tables.kinds import KindsRead, Known, KnownKinds


def learn_kinds(
    nodes: KindsRead,
    names: Sequence[str],
    column_of: Callable[[str], Column],
    learning: Learning,
    *,
    events: EventColumns | None = None,
    keep: Keep | None = None,
    progress: Progress = silent,
) -> Encoding:
    """Learn how the columns of nodes of one kind, called ``names``, or of several become attributes; flows come last.

    ``column_of`` gives a column by its full name, one row a node of any kind; flow columns have one, too. The settings
    say what a column is by its full name, or by its own in every kind that has it. ``keep`` takes the attributes.
    """
    if not nodes.several:
        return learn_by_column(names, column_of, learning, events=events, keep=keep, progress=progress)
    rows = nodes.rows()
    flows = () if events is None else flow_columns(events)
    forced = _forced(nodes, learning.encode.kinds, flows)
    seen: dict[str, dict[bytes, str]] = {kind: {} for kind in nodes.names}
    learned: list[Any] = []
    having: list[str] = []
    report: list[ColumnReport] = []

    def step(kind: str, names: Sequence[str], made: Mapping[str, FlowColumn]) -> None:
        where = rows[kind]

        def column(name: str) -> Column:
            progress("encoding", len(report), len(nodes.columns) + len(nodes.names) * len(flows))
            return column_of(name).slice(where.start, where.stop - where.start)

        def kept(block: Any) -> None:
            if keep is not None:
                keep(padded(block, where, nodes.bounds[-1]))

        own = replace(learning, row_name=lambda row: learning.row_name(where.start + row))
        found = learn_own(names, column, forced, own, seen[kind], kept)
        more = learn_made(made, column, forced, seen[kind], kept)
        learned.extend([*found[0], *more[0]])
        having.extend([kind] * (len(learned) - len(having)))
        report.extend([*found[1], *more[1]])

    for k, kind in enumerate(nodes.names):
        step(kind, [nodes.full_name(k, name) for of, name, _ in nodes.columns if of == k], {})
    for kind in nodes.names:
        step(kind, [], {f"{kind}.{one.name}": replace(one, name=f"{kind}.{one.name}") for one in flows})
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
        return Known(encoding.events, KnownKinds(), dict(encoding.edge_forms))
    columns = frozenset(one.name for one in encoding.columns)
    kinds = KnownKinds(encoding.nodes.names, encoding.nodes.judged, columns)
    return Known(encoding.events, kinds, dict(encoding.edge_forms))
