"""Arrays of a network by ranges of nodes: in memory, or in files that tasks on any machine read and write.

A task works on one range, its own. Of other nodes it reads arrays range by range, its peers. In files both are the
partitions of the network. In memory the own ranges are blocks of rows, and the one peer is the whole network. A range
begins at a multiple of a block. Sums are taken over blocks and added in their order, so that they have the same bits
whatever the ranges.

Where there are several kinds of nodes, the edges from one kind to another are a store of their own: its ranges are
those of the one kind, and its peers those of the store that it faces.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from oddhop.base.arrays import Ints
from oddhop.base.files import Arrays
from oddhop.graph.disk import Partition
from oddhop.partitions.task import TaskRunner

BLOCK = 16_384  # rows
REWIRING = "wiring"
Array = npt.NDArray[Any]
Found = tuple[Arrays, dict[str, Any]]


Wiring = Callable[[Any, int], tuple[Ints, Ints]]
"""Gives the indptr and the indices of a range of a store."""


@dataclass(frozen=True, eq=False)
class InMemory:
    """Arrays in memory: those over nodes, and those over entries."""

    indptr: Ints
    indices: Ints
    of_nodes: dict[str, Array] = field(default_factory=dict)
    of_entries: dict[str, Array] = field(default_factory=dict)
    lock: Any = field(default_factory=Lock)
    opposite: InMemory | None = None

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return self.indptr.size - 1

    @property
    def ranges(self) -> range:
        """The numbers of the blocks of rows."""
        return range(-(-self.nodes // BLOCK))

    @property
    def peers(self) -> range:
        """One peer, the whole network."""
        return range(1)

    def span(self, number: int) -> tuple[int, int]:
        """Return where a block begins and ends."""
        return number * BLOCK, min((number + 1) * BLOCK, self.nodes)

    def peer_span(self, peer: int) -> tuple[int, int]:  # noqa: ARG002 - there is one
        """Return the whole."""
        return 0, (self.opposite or self).nodes

    def rows(self, number: int) -> Partition:
        """Return the wiring of a block."""
        start, stop = self.span(number)
        first, last = self.indptr[start], self.indptr[stop]
        return Partition(start, stop, self.indptr[start : stop + 1] - first, self.indices[first:last])

    def peer_rows(self, peer: int) -> Partition:  # noqa: ARG002 - there is one
        """Return the whole wiring."""
        whole = self.opposite or self
        return Partition(0, whole.nodes, whole.indptr, whole.indices)

    def has(self, name: str, number: int) -> bool:  # noqa: ARG002 - a killed process leaves nothing
        """Tell that nothing was written before."""
        return False

    def read(self, name: str, number: int) -> Array:
        """Return an array of a block."""
        start, stop = self.span(number)
        if name in self.of_nodes:
            return self.of_nodes[name][start:stop]
        return self.of_entries[name][self.indptr[start] : self.indptr[stop]]

    def read_peer(self, name: str, peer: int) -> Array:  # noqa: ARG002
        """Return a whole array."""
        whole = self.opposite or self
        return whole.of_nodes[name] if name in whole.of_nodes else whole.of_entries[name]

    def room(self, name: str, number: int, dtype: npt.DTypeLike, width: int | None = None) -> Array:
        """Return a block of an array over nodes, to fill and then write; with a width it has a row for every node."""
        return self._part(self.of_nodes, name, number, (self.nodes,) if width is None else (self.nodes, width), dtype)

    def entry_room(self, name: str, number: int, dtype: npt.DTypeLike) -> Array:
        """Return a block of an array over entries, to fill and then write."""
        return self._part(self.of_entries, name, number, (self.indices.size,), dtype)

    def _part(
        self, kept: dict[str, Array], name: str, number: int, shape: tuple[int, ...], dtype: npt.DTypeLike
    ) -> Array:
        with self.lock:
            if name not in kept or (kept[name].shape, kept[name].dtype) != (shape, dtype):
                kept[name] = np.empty(shape, dtype=dtype)
        return self.read(name, number)

    def write(self, name: str, number: int, array: Array) -> None:
        """Keep an array of a block; where it was filled in its room that is done."""
        if name in self.of_entries:
            own = self.entry_room(name, number, array.dtype)
        else:
            own = self.room(name, number, array.dtype, None if array.ndim == 1 else array.shape[1])
        if own.ctypes.data != array.ctypes.data:
            own[:] = array

    def forget(self, *names: str) -> None:
        """Remove arrays."""
        for name in names:
            self.of_nodes.pop(name, None)
            self.of_entries.pop(name, None)

    def remembered(self, name: str, find: Callable[[], tuple[Arrays, Mapping[str, Any]]]) -> Found:  # noqa: ARG002
        """Find figures of the whole."""
        arrays, info = find()
        return arrays, dict(info)

    def rewired(self, name: str, rows: Wiring, shared: Mapping[str, str], runner: TaskRunner) -> InMemory:
        """Return the same nodes with the wiring that ``rows`` gives every range.

        ``shared`` names the arrays that it has in common with this one, and what they are called here.
        """
        parts = runner.each(REWIRING, partial(rows, self), self.ranges)
        degrees = np.concatenate([np.diff(indptr) for indptr, _ in parts])
        indptr = np.concatenate([[0], np.cumsum(degrees)])
        indices = np.concatenate([indices for _, indices in parts])
        return self.with_wiring(name, lambda: (indptr, indices), shared)

    def with_wiring(self, name: str, find: Callable[[], tuple[Ints, Ints]], shared: Mapping[str, str]) -> InMemory:  # noqa: ARG002
        """Return the same nodes with another wiring, found as a whole where it is not there already."""
        return InMemory(*find(), {other: self.of_nodes[own] for other, own in shared.items()})

    def discard(self, name: str) -> None:
        """Do nothing: the arrays of another wiring go with it."""

    def part(
        self,
        name: str,  # noqa: ARG002
        nodes: slice,
        others: slice,
        entries: Sequence[str],
        shared: tuple[Any, str],
        runner: TaskRunner,
    ) -> Self:
        """Return nodes that follow each other with their edges to such others, both numbered from 0.

        ``entries`` names the arrays over entries that are taken along. ``shared`` is a store of the same nodes, and the
        array that they have in common.
        """
        firsts = range(nodes.start, nodes.stop, BLOCK)
        spans = [(first, min(first + BLOCK, nodes.stop)) for first in firsts]
        parts = runner.each(REWIRING, partial(part_rows, self, others, entries), spans)
        degrees, indices, *taken = (np.concatenate(some) for some in zip(*parts, strict=True))
        indptr, (known, array) = np.concatenate([[0], np.cumsum(degrees)]), shared
        arrays = dict(zip(entries, taken, strict=True))
        return replace(self, indptr=indptr, indices=indices, of_nodes={array: known.of_nodes[array]}, of_entries=arrays)

    def facing(self, other: Any) -> Self:
        """Return the same arrays with entries that are nodes of another store, its peers."""
        return replace(self, opposite=replace(other, opposite=None))

    def clear(self) -> None:
        """Remove all arrays of this wiring."""
        self.of_nodes.clear()
        self.of_entries.clear()


def part_rows(store: Any, others: slice, entries: Sequence[str], span: tuple[int, int]) -> list[Array]:
    """Return the degrees of some nodes among others that follow each other, these by number, and arrays over them."""
    found = []
    for number in store.ranges:
        start, stop = store.span(number)
        first, last = max(span[0] - start, 0), min(span[1], stop) - start
        if first >= last:
            continue
        rows = store.rows(number)
        indptr = rows.indptr[first : last + 1]
        own = slice(indptr[0], indptr[-1])
        indices = rows.indices[own]
        kept = (indices >= others.start) & (indices < others.stop)
        degrees = np.diff(np.concatenate([[0], np.cumsum(kept)])[indptr - indptr[0]])
        taken = [store.read(name, number)[own][kept] for name in entries]
        found.append([degrees, indices[kept] - others.start, *taken])
    return [np.concatenate(some) for some in zip(*found, strict=True)]
