"""From a list of edges to a symmetric CSR adjacency: sorted rows, no loops, every edge in both rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from oddhop.base.arrays import Bools, Floats, Ints, frozen
from oddhop.base.kernels import compiled, sort_ascending


@dataclass(frozen=True)
class Repairs:
    """Counts of the repairs that made the network simple and undirected.

    Attributes
    ----------
    loops : entries that joined a node to itself; left out.
    duplicates : entries that repeated an earlier one in the same direction; left out.
    one_way : edges that came in one direction only; they count in both.
    weights : entries whose weight was not 1; weights are not used.
    edge_columns, other_fields : columns of the edges, and fields such as labels and masks, that are not used.

    Examples
    --------
    >>> from oddhop import Graph
    >>> Graph.from_arrays([[0, 0, 1, 1], [1, 1, 0, 1]], [[0.0], [1.0]]).repairs
    Repairs(loops=1, duplicates=1, one_way=0, weights=0, edge_columns=0, other_fields=0)
    """

    loops: int = 0
    duplicates: int = 0
    one_way: int = 0
    weights: int = 0
    edge_columns: int = 0
    other_fields: int = 0


def index_dtype(nodes: int) -> type[np.signedinteger]:
    """Return the narrowest index type that can number this many nodes."""
    return np.int32 if nodes < 2**31 else np.int64


def symmetric_csr(sources: Ints, targets: Ints, nodes: int) -> tuple[Ints, Ints, Repairs]:
    """Build ``(indptr, indices)`` of the simple undirected network, and say what was repaired."""
    sources, targets = frozen(sources), frozen(targets)  # numba compiles once more for arrays that may be written
    starts = _row_starts(sources, targets, nodes)
    entries = _fill_rows(sources, targets, starts)
    kept, duplicates, one_way = _sort_rows(starts, entries)
    indptr = np.zeros(nodes + 1, dtype=np.int64)
    np.cumsum(kept, out=indptr[1:])
    indices = np.empty(int(indptr[-1]), dtype=index_dtype(nodes))
    _compact_rows(starts, entries, indptr, indices)
    loops = int(np.count_nonzero(np.asarray(sources) == np.asarray(targets)))
    return indptr, indices, Repairs(loops=loops, duplicates=int(duplicates), one_way=int(one_way))


@compiled
def _row_starts(sources: Ints, targets: Ints, nodes: int) -> Ints:
    starts = np.zeros(nodes + 1, dtype=np.int64)
    for e in range(sources.size):
        if sources[e] != targets[e]:
            starts[sources[e] + 1] += 1
            starts[targets[e] + 1] += 1
    for i in range(nodes):
        starts[i + 1] += starts[i]
    return starts


@compiled
def _fill_rows(sources: Ints, targets: Ints, starts: Ints) -> Ints:
    # The lowest bit of an entry is its direction, so that one sort of a row tells a repeated
    # entry from the same edge given the other way round.
    cursor = starts.copy()
    entries = np.empty(starts[-1], dtype=np.int64)
    for e in range(sources.size):
        u, v = np.int64(sources[e]), np.int64(targets[e])
        if u != v:
            entries[cursor[u]] = 2 * v
            entries[cursor[v]] = 2 * u + 1
            cursor[u] += 1
            cursor[v] += 1
    return entries


@compiled
def _sort_rows(starts: Ints, entries: Ints) -> tuple[Ints, int, int]:
    nodes = starts.size - 1
    kept = np.zeros(nodes, dtype=np.int64)
    duplicates = 0
    one_way = 0
    for i in range(nodes):
        row = entries[starts[i] : starts[i + 1]]
        sort_ascending(row)
        k: Any = np.int64(0)  # with a literal, same_edge would be compiled twice
        while k < row.size:
            neighbour = row[k] >> 1
            k, again, lone = same_edge(row, k)
            kept[i] += 1
            if i < neighbour:  # each edge stands in two rows: count it in one
                duplicates += again
                one_way += lone
    return kept, duplicates, one_way


@compiled
def same_edge(entries: Ints, first: int) -> tuple[int, int, int]:
    """Of sorted entries, give where those of one edge end, how many repeat another, and 1 if all go one way.

    The lowest bit of an entry is its direction; the bits above it are the same for the same edge.
    """
    forward, backward, k = 0, 0, first
    while k < entries.size and entries[k] >> 1 == entries[first] >> 1:
        if entries[k] & 1:
            backward += 1
        else:
            forward += 1
        k += 1
    return k, max(forward - 1, 0) + max(backward - 1, 0), int(forward == 0 or backward == 0)


@compiled
def _compact_rows(starts: Ints, entries: Ints, indptr: Ints, indices: Ints) -> None:
    for i in range(starts.size - 1):
        place = indptr[i]
        for k in range(starts[i], starts[i + 1]):
            neighbour = entries[k] >> 1
            if k == starts[i] or neighbour != entries[k - 1] >> 1:
                indices[place] = neighbour
                place += 1


@compiled
def upper_indptr(indptr: Ints, indices: Ints) -> Ints:
    """Return where the edges (u, v), u < v, of each u begin when edges are numbered in that order."""
    nodes = indptr.size - 1
    starts = np.zeros(nodes + 1, dtype=np.int64)
    for i in range(nodes):
        starts[i + 1] = starts[i] + indptr[i + 1] - first_not_below(indices, indptr[i], indptr[i + 1], i)
    return starts


@compiled
def upper_edges(indptr: Ints, indices: Ints, upper: Ints, start: int, stop: int) -> tuple[Ints, Ints]:
    """Return both ends of the undirected edges numbered start to stop."""
    left = np.empty(stop - start, dtype=indices.dtype)
    right = np.empty(stop - start, dtype=indices.dtype)
    node = first_not_below(upper, 0, upper.size, start + 1) - 1
    for e in range(start, stop):
        while upper[node + 1] <= e:
            node += 1
        left[e - start] = node
        # The edges of a row to higher numbers are its last ones.
        right[e - start] = indices[indptr[node + 1] - (upper[node + 1] - e)]
    return left, right


@compiled
def both_ways(indptr: Ints, indices: Ints, upper: Ints, values: Floats, out: Floats) -> None:
    """Write the values of the undirected edges, in the order of their numbers, to both rows of each."""
    cursor = indptr[:-1].copy()
    for u in range(indptr.size - 1):
        for e in range(upper[u], upper[u + 1]):
            place = indptr[u + 1] - (upper[u + 1] - e)
            out[place] = values[e]
            v = indices[place]
            out[cursor[v]] = values[e]  # as u ascends, so do the lower neighbours of v
            cursor[v] += 1


@compiled
def first_not_below(values: Ints, low: int, high: int, wanted: int | np.integer) -> int:
    """Return the first place of a sorted range, from ``low`` to before ``high``, whose value is at least ``wanted``."""
    while low < high:
        middle = (low + high) // 2
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def keep_edges(indptr: Ints, indices: Ints, upper: Ints, keep: Bools) -> tuple[Ints, Ints]:
    """Return the adjacency that is left when only the marked undirected edges stay."""
    nodes = indptr.size - 1
    new_indptr = np.zeros(nodes + 1, dtype=np.int64)
    for u in range(nodes):
        for e in range(upper[u], upper[u + 1]):
            if keep[e]:
                v = indices[indptr[u + 1] - (upper[u + 1] - e)]
                new_indptr[u + 1] += 1
                new_indptr[v + 1] += 1
    for i in range(nodes):
        new_indptr[i + 1] += new_indptr[i]
    new_indices = np.empty(new_indptr[-1], dtype=indices.dtype)
    cursor = new_indptr[:-1].copy()
    # Taking u in ascending order puts the lower neighbours of every row first, already sorted;
    # a row's own higher neighbours are written when its turn comes, after all the lower ones.
    for u in range(nodes):
        for e in range(upper[u], upper[u + 1]):
            if keep[e]:
                v = indices[indptr[u + 1] - (upper[u + 1] - e)]
                new_indices[cursor[u]] = v
                cursor[u] += 1
                new_indices[cursor[v]] = u
                cursor[v] += 1
    return new_indptr, new_indices
