"""Nodes that were read -> attributes, in memory and on disk: the encoding is learned, then applied block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import pyarrow as pa

from oddhop.base.arrays import Floats
from oddhop.base.parallel import Progress
from oddhop.graph.events import EventColumns
from oddhop.tables.encode import Difference, Encoding, Learning
from oddhop.tables.encode.columns import Column
from oddhop.tables.encode.kinds import learn_kinds
from oddhop.tables.flows import Flows
from oddhop.tables.kinds import KindsRead
from oddhop.tables.settings import EncodeSettings, ReadSettings


class Nodes(Protocol):
    """The nodes that were read, in memory or in a database; columns are called by their full names."""

    @property
    def kinds(self) -> KindsRead:
        """The kinds of the nodes."""

    def column(self, name: str) -> Column:
        """Return one column whole."""

    def blocks(self, names: Sequence[str]) -> Iterator[tuple[pa.Array, pa.Table]]:
        """Return the ids and some columns, block by block."""

    def row_name(self, row: int) -> str:
        """Name a node for a message."""


def flows_of(columns: EventColumns, values: Floats, kinds: KindsRead) -> Flows:
    """Return the columns that events make, unless a node table has a column of such a name."""
    flows = Flows(columns, values, kinds.names if kinds.several else ())
    flows.check([name for _, name, _ in kinds.columns])
    return flows


def learn(
    nodes: Nodes,
    flows: Flows | None,
    edge_forms: tuple[tuple[str, str], ...],
    read: ReadSettings,
    settings: EncodeSettings,
    progress: Progress,
) -> Encoding:
    """Learn how the columns of nodes, and those that events give them, become attributes."""
    made = {} if flows is None else flows.names

    def column(name: str) -> Column:
        return flows.column(name) if flows is not None and name in made else nodes.column(name)

    learning = Learning(settings, read, nodes.row_name)
    events = None if flows is None else flows.columns
    learned = learn_kinds(nodes.kinds, column, learning, events=events, progress=progress)
    return replace(learned, edge_forms=edge_forms)


@dataclass(frozen=True, eq=False)
class Block:
    """Some nodes: ids, columns to quote from, attributes, and where they are not as those that were learned from."""

    ids: pa.Array
    originals: pa.Table
    attributes: Any
    differences: tuple[Difference, ...] = ()


def encoded_blocks(
    nodes: Nodes, flows: Flows | None, encoding: Encoding, kept: Sequence[str], *, learned: bool, progress: Progress
) -> Iterator[Block]:
    """Return attributes block by block; ``learned`` says that the encoding is of these nodes, which differ nowhere."""
    kinds, start = nodes.kinds, 0
    quoted = encoding.quoted(kinds.full_names, kinds.kept(kept))
    needed = {one.name for one in encoding.columns} | set(quoted)
    for ids, table in nodes.blocks([name for name in kinds.full_names if not learned or name in needed]):
        progress("attributes", start, kinds.bounds[-1])
        stop, originals = start + len(ids), table.select(quoted)
        if flows is not None:
            table = flows.beside(table, start, stop)
        rows = kinds.rows(start, stop) if kinds.several else None
        if learned:
            yield Block(ids, originals, encoding.apply(table, rows)[0])
        else:
            name = partial(_named_after, nodes, start)
            yield Block(ids, originals, *encoding.apply_and_compare(table, rows, name))
        start = stop
    progress("attributes", start, start)


def added(differences: Sequence[Difference]) -> tuple[Difference, ...]:
    """Add up the differences of blocks that follow each other; the first row of each is the first of all."""
    found: dict[tuple[str, str], Difference] = {}
    for one in differences:
        before = found.get((one.column, one.what), replace(one, count=0))
        found[one.column, one.what] = replace(before, count=before.count + one.count)
    return tuple(found.values())


def _named_after(nodes: Nodes, start: int, row: int) -> str:
    return nodes.row_name(start + row)
