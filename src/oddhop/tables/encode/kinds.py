"""Attributes of several kinds of nodes: every kind's columns are learned from the rows of that kind alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from oddhop.base.parallel import Progress, silent
from oddhop.graph.events import EventColumns
from oddhop.graph.kinds import NodeKinds
from oddhop.tables.encode.columns import Column
from oddhop.tables.encode.encoding import Encoding, KindNames
from oddhop.tables.encode.learn import Group, Learning, checked_kinds, learn_columns
from oddhop.tables.flows import flow_columns
from oddhop.tables.kinds import KindsRead, Known, KnownKinds


def learn_kinds(
    nodes: KindsRead,
    column_of: Callable[[str], Column],
    learning: Learning,
    *,
    events: EventColumns | None = None,
    progress: Progress = silent,
) -> Encoding:
    """Learn how the columns of nodes of one kind, or of several, become attributes; flows come last.

    ``column_of`` gives a column by its full name, one row a node of any kind; flow columns have one, too. The settings
    say what a column is by its full name, or by its own in every kind that has it; the full one holds.
    """
    flows, rows = () if events is None else flow_columns(events), nodes.rows()
    groups, short = [], dict[str, str]()
    for k, kind in enumerate(nodes.names):
        own = {nodes.full_name(k, name): name for of, name, _ in nodes.columns if of == k}
        made = {nodes.full_name(k, one.name): one for one in flows}
        short |= own | {name: one.name for name, one in made.items()}
        named = {name: replace(one, name=name) for name, one in made.items()}
        groups.append(Group(kind, tuple(own), named, rows[kind]))
    kinds = checked_kinds(learning.encode.kinds, [*short, *dict.fromkeys(short.values())])
    asked = {full: kinds.get(full, kinds.get(name)) for full, name in short.items()}
    forced = {name: what for name, what in asked.items() if what is not None}
    several = KindNames(nodes.names, nodes.names[nodes.judged]) if nodes.several else None
    return learn_columns(groups, column_of, forced, learning, events=events, kinds=several, progress=progress)


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
