"""The edges between judged nodes and nodes of another kind, as rows of either end.

A task of the judged nodes looks at its edges some at a time. They are cut by blocks of both ends, so that their order,
and the bits of what is added up, are the same whatever the ranges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from oddhop.base.arrays import Floats, Ints
from oddhop.base.kernels import compiled
from oddhop.graph.disk import Partition
from oddhop.partitions import store as ranges
from oddhop.partitions.files import Store
from oddhop.partitions.store import Array
from oddhop.partitions.task import TaskRunner

EDGES_AT_ONCE = 16_384


@dataclass(frozen=True, eq=False)
class Pairs:
    """The edges between judged nodes and nodes of another kind.

    Attributes
    ----------
    kind : the name of the other kind.
    near, far : the rows of the judged nodes, and of the others. Each faces the other, and has coordinates.
    """

    kind: str
    near: Store
    far: Store

    @classmethod
    def of(cls, kind: str, near: Store, far: Store) -> Pairs:
        """Let two stores face each other."""
        return cls(kind, near.facing(far), far.facing(near))

    @property
    def sides(self) -> tuple[Store, Store]:
        """The rows of the judged nodes, and of the others."""
        return self.near, self.far

    @property
    def count(self) -> int:
        """The number of edges."""
        return sum(int(self.near.rows(number).indptr[-1]) for number in self.near.ranges)

    def kept(self, name: str, mark: str, shared: tuple[str, ...], runner: TaskRunner) -> Pairs:
        """Return the edges of which both ends are marked by an array of that name."""
        same = {one: one for one in shared}
        near, far = (side.rewired(name, partial(_marked_rows, mark), same, runner) for side in self.sides)
        return Pairs.of(self.kind, near, far)

    def clear(self) -> None:
        """Remove the arrays of both sides."""
        for side in self.sides:
            side.clear()

    def in_memory(self) -> Partition:
        """Return the rows of all judged nodes of a network in memory."""
        return self.far.peer_rows(0)

    def array(self, name: str) -> Array:
        """Return an array of all judged nodes, or of their entries, of a network in memory."""
        return self.far.read_peer(name, 0)


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some edges of a range: the block of their rows, their entries, and arrays of either end, a row for every edge."""

    block: int
    entries: Ints
    own: tuple[Array, ...]
    theirs: tuple[Array, ...]


def edge_chunks(store: Store, number: int, names: tuple[str, ...]) -> Iterator[Chunk]:
    """Return the edges of a range with arrays of their ends, at most 16,384 edges at a time."""
    rows = store.rows(number)
    nodes, cursor = rows.stop - rows.start, rows.indptr[:-1].copy()
    own = [store.read(name, number) for name in names]
    entries, owners = np.empty((2, EDGES_AT_ONCE), dtype=np.int64)
    for peer in store.peers:
        start, stop = store.peer_span(peer)
        theirs = [store.read_peer(name, peer) for name in names]
        for until in range(start + ranges.BLOCK, stop + ranges.BLOCK, ranges.BLOCK):
            for block, first in enumerate(range(0, nodes, ranges.BLOCK)):
                row, last = first, min(first + ranges.BLOCK, nodes)
                while row < last:
                    count, row = _take(rows.indptr, rows.indices, cursor, row, last, until, entries, owners)
                    if count:
                        some, a = entries[:count].copy(), owners[:count]
                        b = rows.indices[some] - start
                        yield Chunk(block, some, tuple(one[a] for one in own), tuple(one[b] for one in theirs))


def chunk_sums(
    store: Store, number: int, names: tuple[str, ...], function: Callable[[Chunk], Floats], size: int
) -> list[Floats]:
    """Add what a function returns for some edges of a range at a time, so many figures, block by block of the rows."""
    start, stop = store.span(number)
    sums: list[Floats] = [np.zeros(size) for _ in range(start, stop, ranges.BLOCK)]
    for chunk in edge_chunks(store, number, names):
        sums[chunk.block] = sums[chunk.block] + function(chunk)
    return sums


def _marked_rows(mark: str, store: Store, number: int) -> tuple[Ints, Ints]:
    rows, own = store.rows(number), store.read(mark, number)
    theirs = np.concatenate([store.read_peer(mark, peer) for peer in store.peers])
    kept = np.repeat(own, np.diff(rows.indptr)) & theirs[rows.indices]
    before = np.concatenate([[0], np.cumsum(kept)])
    return before[rows.indptr], rows.indices[kept]


@compiled
def _take(
    indptr: Ints, indices: Ints, cursor: Ints, row: int, last: int, until: int, entries: Ints, owners: Ints
) -> tuple[int, int]:
    """Take entries below ``until`` of the rows from ``row`` to ``last``; return how many, and the row to go on with."""
    count = 0
    while row < last:
        while cursor[row] < indptr[row + 1] and indices[cursor[row]] < until:
            if count == entries.size:
                return count, row
            entries[count], owners[count] = cursor[row], row
            cursor[row] += 1
            count += 1
        row += 1
    return count, row
