"""Edges as pairs of node numbers -> sorted rows, both directions, partition by partition: two passes over files.

An entry of the adjacency is one integer: its row within the partition, its neighbour, and its direction in the
lowest bit. So a partition is sorted by one sort of integers, and a repeated edge can be told from the same edge
given the other way round. DuckDB does the same at seven times the cost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from oddhop.base.arrays import Ints
from oddhop.base.files import atomic_file
from oddhop.base.kernels import compiled
from oddhop.base.parallel import Progress, silent
from oddhop.graph.adjacency import index_dtype, same_edge
from oddhop.graph.disk import PARTITION_NODES

PAIRS_AT_ONCE = 1 << 21
BITS = 63
SCATTERING, SORTING = "scattering edges", "sorting edges"


@dataclass(frozen=True)
class Buckets:
    """Where the entries of every partition lie in the file of buckets.

    Attributes
    ----------
    bounds : the nodes where partitions begin, and the number of nodes.
    starts : where their entries begin, and the number of entries. Repeated edges are still among them.
    """

    bounds: tuple[int, ...]
    starts: tuple[int, ...]


@dataclass(frozen=True)
class SortedRows:
    """The rows of a partition, sorted, each neighbour once; repairs are counted at the lower end of an edge."""

    indices: Ints
    degrees: Ints
    duplicates: int
    one_way: int


def _shift(nodes: int) -> int:
    """Return the bits of an entry that its neighbour and its direction take."""
    return max(nodes - 1, 1).bit_length() + 1


def _pairs(file: Path, nodes: int) -> Iterator[Ints]:
    """Read pairs of node numbers in blocks."""
    kind = np.dtype(index_dtype(nodes))
    with file.open("rb") as content:
        while (block := np.fromfile(content, kind, 2 * PAIRS_AT_ONCE)).size:
            yield block.reshape(-1, 2)


def choose_bounds(degrees: Ints, most: int) -> tuple[int, ...]:
    """Cut the nodes into ranges of at most ``most`` entries, or of one node that has more; none has too many nodes."""
    nodes = int(degrees.size)
    ends = np.cumsum(degrees)
    # Whoever scores a partition holds a vector of each of its nodes.
    longest = min(1 << (BITS - _shift(nodes)), PARTITION_NODES)
    bounds = [0]
    while bounds[-1] < nodes:
        start = bounds[-1]
        before = int(ends[start - 1]) if start else 0
        stop = int(np.searchsorted(ends, before + most, side="right"))
        bounds.append(min(max(stop, start + 1), start + longest, nodes))
    return tuple(bounds)


def fill_buckets(pairs: Path, nodes: int, most: int, buckets: Path, progress: Progress = silent) -> Buckets:
    """Write every edge into the buckets of both its ends, in no order."""
    blocks = -(-pairs.stat().st_size // (2 * PAIRS_AT_ONCE * np.dtype(index_dtype(nodes)).itemsize))
    degrees = np.zeros(nodes, dtype=np.int64)
    for block in _pairs(pairs, nodes):
        _count(block, degrees)
    bounds = choose_bounds(degrees, most)
    sizes = np.add.reduceat(degrees, bounds[:-1])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    del degrees
    cursor = starts[:-1].copy()
    with atomic_file(buckets) as file:
        for k, block in enumerate(_pairs(pairs, nodes)):
            progress(SCATTERING, k, blocks)
            entries, ends = _grouped(block, np.asarray(bounds), _shift(nodes))
            for b in np.flatnonzero(np.diff(ends, prepend=0)):
                group = entries[ends[b - 1] if b else 0 : ends[b]]
                file.seek(8 * int(cursor[b]))
                file.write(group.data)
                cursor[b] += group.size
    progress(SCATTERING, blocks, blocks)
    return Buckets(bounds, tuple(starts.tolist()))


def sorted_rows(buckets: Path, where: Buckets, number: int) -> SortedRows:
    """Read a bucket and make it the rows of its partition."""
    nodes, start, stop = where.bounds[-1], *where.bounds[number : number + 2]
    first, last = where.starts[number : number + 2]
    entries = np.fromfile(buckets, np.int64, last - first, offset=8 * first)
    entries.sort()
    indices = np.empty(entries.size, dtype=index_dtype(nodes))
    degrees = np.zeros(stop - start, dtype=np.int64)
    kept, duplicates, one_way = _merge(entries, start, _shift(nodes), indices, degrees)
    return SortedRows(indices[:kept], degrees, int(duplicates), int(one_way))


@compiled
def _count(pairs: Ints, degrees: Ints) -> None:
    for e in range(pairs.shape[0]):
        degrees[pairs[e, 0]] += 1
        degrees[pairs[e, 1]] += 1


@compiled
def _grouped(pairs: Ints, bounds: Ints, shift: int) -> tuple[Ints, Ints]:
    """Return the entries of some edges, those of one bucket together, and where each bucket ends."""
    owners = np.empty((pairs.shape[0], 2), dtype=np.int32)
    ends = np.zeros(bounds.size - 1, dtype=np.int64)
    for e in range(pairs.shape[0]):
        for side in range(2):
            owner = np.searchsorted(bounds, pairs[e, side], side="right") - 1
            owners[e, side] = owner
            ends[owner] += 1
    for b in range(1, ends.size):
        ends[b] += ends[b - 1]
    cursor = np.zeros(ends.size, dtype=np.int64)
    cursor[1:] = ends[:-1]
    entries = np.empty(2 * pairs.shape[0], dtype=np.int64)
    for e in range(pairs.shape[0]):
        for side in range(2):
            owner = owners[e, side]
            row = np.int64(pairs[e, side]) - bounds[owner]
            entries[cursor[owner]] = (row << shift) | (np.int64(pairs[e, 1 - side]) << 1) | side
            cursor[owner] += 1
    return entries, ends


@compiled
def _merge(entries: Ints, start: int, shift: int, indices: Ints, degrees: Ints) -> tuple[int, int, int]:
    kept, duplicates, one_way = 0, 0, 0
    low = (np.int64(1) << shift) - 1
    k = 0
    while k < entries.size:
        place = entries[k] >> 1  # row and neighbour
        k, again, lone = same_edge(entries, k)
        row, neighbour = (place << 1) >> shift, ((place << 1) & low) >> 1
        indices[kept] = neighbour
        degrees[row] += 1
        kept += 1
        if start + row < neighbour:  # each edge stands in two rows: count it in one
            duplicates += again
            one_way += lone
    return kept, duplicates, one_way
