"""Rows of the purified network by the numbers of their nodes, wherever their partitions lie, one mapped at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from oddhop.base.arrays import Ints
from oddhop.base.kernels import compiled
from oddhop.partitions.task import Task


@dataclass(frozen=True)
class LeftRows:
    """What :func:`oddhop.hcm.partitioned.purify.purify` left, to be looked up in."""

    work: Task

    def degrees(self, nodes: Ints) -> Ints:
        """Return the number of neighbours of some nodes."""
        out = np.empty(nodes.size, dtype=np.int64)

        def look(number: int, here: Ints, local: Ints) -> None:
            indptr = self.work.read("left_indptr", number)
            out[here] = indptr[local + 1] - indptr[local]

        self._by_partition(nodes, look)
        return out

    def take(self, nodes: Ints, degrees: Ints) -> Ints:
        """Return all neighbours of some nodes, row after row; ``degrees`` says how many there are of each."""
        starts = np.cumsum(degrees) - degrees
        out = np.empty(int(degrees.sum()), dtype=np.int64)

        def look(number: int, here: Ints, local: Ints) -> None:
            indptr, indices = (self.work.read(name, number) for name in ("left_indptr", "left_indices"))
            _copy_rows(indptr, indices, local, starts[here], out)

        self._by_partition(nodes, look)
        return out

    def pick(self, nodes: Ints, places: Ints) -> Ints:
        """Return one neighbour of each of some nodes, by its place in the row."""
        out = np.empty(nodes.size, dtype=np.int64)

        def look(number: int, here: Ints, local: Ints) -> None:
            indptr, indices = (self.work.read(name, number) for name in ("left_indptr", "left_indices"))
            out[here] = indices[indptr[local] + places[here]]

        self._by_partition(nodes, look)
        return out

    def pieces(self, nodes: Ints, at_once: int) -> Iterator[tuple[int, int, Ints, Ints]]:
        """Return the rows of many nodes in pieces: the first and the last node, their degrees, and their neighbours."""
        degrees = self.degrees(nodes)
        ends = np.cumsum(degrees)
        start = 0
        while start < nodes.size:
            passed = int(ends[start] - degrees[start])
            stop = max(int(np.searchsorted(ends, passed + at_once, side="right")), start + 1)
            yield start, stop, degrees[start:stop], self.take(nodes[start:stop], degrees[start:stop])
            start = stop

    def _by_partition(self, nodes: Ints, look: Callable[[int, Ints, Ints], None]) -> None:
        if nodes.size == 0:
            return
        bounds = self.work.bounds
        owner = np.searchsorted(bounds, nodes, side="right") - 1
        order = np.argsort(owner, kind="stable")
        numbers, first = np.unique(owner[order], return_index=True)
        for number, here in zip(numbers.tolist(), np.split(order, first[1:]), strict=True):
            look(number, here, nodes[here] - bounds[number])


@compiled
def _copy_rows(indptr: Ints, indices: Ints, rows: Ints, starts: Ints, out: Ints) -> None:
    for k in range(rows.size):
        place = starts[k]
        for p in range(indptr[rows[k]], indptr[rows[k] + 1]):
            out[place] = indices[p]
            place += 1
