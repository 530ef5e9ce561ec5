"""A network with other edges, but the same degrees and as many edges between any two groups of nodes."""

from __future__ import annotations

import numpy as np

from oddhop.base.arrays import Bools, Floats, Ints, frozen
from oddhop.base.kernels import compiled
from oddhop.base.randomness import SIMULATED, generator, mix
from oddhop.graph.adjacency import symmetric_csr
from oddhop.graph.graph import Graph

SWAPS = 10  # exchanges that are tried, for every edge


def rewired(graph: Graph, groups: Ints, seed: int, turn: int) -> Graph:
    """Exchange ends of pairs of edges between the same two groups of nodes; degrees stay as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph
    >>> from oddhop.graph.rewire import rewired
    >>> graph = Graph.from_arrays(np.random.default_rng(0).integers(0, 50, (2, 200)), np.ones((50, 1)))
    >>> other = rewired(graph, np.zeros(50, dtype=int), 0, 0)
    >>> bool((other.degrees == graph.degrees).all()), bool((other.indices == graph.indices).all())
    (True, False)
    """
    left, right = (end.astype(np.int64) for end in graph.ends(0, graph.edge_count))
    turn_round = groups[left] > groups[right]
    left, right = np.where(turn_round, right, left), np.where(turn_round, left, right)
    pair = groups[left] * (int(groups.max()) + 1) + groups[right]
    order = np.argsort(pair, kind="stable")
    left, right, pair = left[order].copy(), right[order].copy(), pair[order]
    starts = np.searchsorted(pair, pair, side="left")
    stops = np.searchsorted(pair, pair, side="right")
    rng = generator(seed, SIMULATED, turn, 1)
    # A round of draws at a time: an array of all would be ten times the edges.
    table = _edge_table(left, right, graph.node_count)
    for _ in range(SWAPS):
        draws = rng.random((2, left.size))
        flips = rng.random(left.size) < 0.5
        _exchange(left, right, groups, starts, stops, draws, flips, table, graph.node_count)
    indptr, indices, _ = symmetric_csr(left, right, graph.node_count)
    return Graph(frozen(indptr), frozen(indices), graph.attributes, repairs=graph.repairs, kinds=graph.kinds)


@compiled
def _home(table: Ints, key: int) -> int:
    return np.int64(mix(np.uint64(0), key) & np.uint64(table.size - 1))  # type: ignore[return-value]


@compiled
def _place(table: Ints, key: int) -> int:
    """Give the place of a key in a table of open addresses, or of the gap where it belongs."""
    mask = table.size - 1
    place = _home(table, key)
    while table[place] != -1 and table[place] != key:
        place = (place + 1) & mask
    return place


@compiled
def _take_out(table: Ints, key: int) -> None:
    mask = table.size - 1
    hole = _place(table, key)
    table[hole] = -1
    place = (hole + 1) & mask
    while table[place] != -1:  # what follows may have been put there because the hole was full
        if ((place - _home(table, table[place])) & mask) >= ((place - hole) & mask):
            table[hole] = table[place]
            table[place] = -1
            hole = place
        place = (place + 1) & mask


@compiled
def _edge_table(left: Ints, right: Ints, nodes: int) -> Ints:
    size = 16
    while size < 3 * left.size:
        size *= 2
    table = np.full(size, -1, np.int64)
    for e in range(left.size):
        key = min(left[e], right[e]) * nodes + max(left[e], right[e])
        table[_place(table, key)] = key
    return table


@compiled
def _exchange(
    left: Ints,
    right: Ints,
    groups: Ints,
    starts: Ints,
    stops: Ints,
    draws: Floats,
    flips: Bools,
    table: Ints,
    nodes: int,
) -> None:
    for k in range(left.size):
        one = int(draws[0, k] * left.size)
        two = starts[one] + int(draws[1, k] * (stops[one] - starts[one]))
        a, b, c, d = left[one], right[one], left[two], right[two]
        if flips[k] and groups[c] == groups[d]:
            c, d = d, c
        if a in (c, d) or b in (c, d):
            continue
        new_one, new_two = min(a, d) * nodes + max(a, d), min(c, b) * nodes + max(c, b)
        if table[_place(table, new_one)] == new_one or table[_place(table, new_two)] == new_two:
            continue
        _take_out(table, min(left[one], right[one]) * nodes + max(left[one], right[one]))
        _take_out(table, min(left[two], right[two]) * nodes + max(left[two], right[two]))
        table[_place(table, new_one)] = new_one
        table[_place(table, new_two)] = new_two
        left[one], right[one], left[two], right[two] = a, d, c, b
