"""A network with other edges, but the same degrees and as many edges between any two groups of nodes.

Edges between the same two groups form a block.

1. The ends of a block are put in the order of keyed random numbers and joined anew: a draw of the configuration model.
2. A loop, or an edge that is there already, exchanges ends with another edge of its block, if both edges that arise are
   new. Where ten tries an edge of the block do not suffice, as in a very dense block, the edges are taken as they were.
3. Step 2 leaves too many edges between hubs. So edges drawn at random exchange ends, forty tries for every edge that
   step 2 found, and at most ten for every edge of the block.

Degrees are exact, and there is never a loop or an edge twice.
"""

from __future__ import annotations

import numpy as np

from oddhop.base.arrays import Bools, Ints, frozen
from oddhop.base.kernels import compiled
from oddhop.base.randomness import SIMULATED, mix, word
from oddhop.graph.adjacency import symmetric_csr
from oddhop.graph.graph import Graph

TRIES = 10  # exchanges at most, for every edge of a block, in steps 2 and 3
TRIES_PER_WRONG = 40  # in step 3; with 20 a network with hubs still has too many triangles


def rewired(graph: Graph, groups: Ints, seed: int, turn: int) -> Graph:
    """Join the ends of the edges between the same two groups of nodes anew; degrees stay as they are.

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
    ends = np.stack([end.astype(np.int64) for end in graph.ends(0, graph.edge_count)])
    ends = np.where(groups[ends[0]] > groups[ends[1]], ends[::-1], ends)
    block = groups[ends[0]] * (int(groups.max()) + 1) + groups[ends[1]]
    order = np.argsort(block, kind="stable")
    ends, block = ends[:, order], block[order]
    bounds = np.concatenate([[0], np.flatnonzero(np.diff(block)) + 1, [block.size]])
    keys = [word(seed, SIMULATED, turn, 1 + k) for k in range(3)]
    left, right = ends.copy()
    within = groups[left] == groups[right]
    both = _shuffled(ends[:, within].T.ravel(), np.repeat(block[within], 2), keys[0])
    left[within], right[within] = both[::2], both[1::2]
    right[~within] = _shuffled(right[~within], block[~within], keys[1])
    _repair(left, right, ends, groups, bounds, keys[2], graph.node_count)
    indptr, indices, _ = symmetric_csr(left, right, graph.node_count)
    return Graph(frozen(indptr), frozen(indices), graph.attributes, repairs=graph.repairs, kinds=graph.kinds)


def _shuffled(nodes: Ints, block: Ints, key: np.uint64) -> Ints:
    """Put the nodes of every block, which follow each other, in the order of random numbers."""
    numbers = np.empty(nodes.size, dtype=np.uint64)
    _draw(key, numbers)
    return np.asarray(nodes[np.lexsort((numbers, block))])


@compiled
def _draw(key: np.uint64, out: Ints) -> None:
    for k in range(out.size):
        out[k] = mix(key, k)


@compiled
def _repair(left: Ints, right: Ints, before: Ints, groups: Ints, bounds: Ints, key: np.uint64, nodes: int) -> None:
    """Exchange ends until there is no loop and no edge twice."""
    size = 16
    while size < 3 * left.size:
        size *= 2
    table, wrong = np.full(size, -1, np.int64), np.empty(left.size, np.bool_)
    for k in range(bounds.size - 1):
        start, stop = bounds[k], bounds[k + 1]
        found = 0
        for e in range(start, stop):
            wrong[e] = not _put_in(table, left[e], right[e], nodes)
            found += wrong[e]
        if not _exchanged(left, right, wrong, groups, start, stop, mix(key, k), table, nodes):
            for e in range(start, stop):
                if not wrong[e]:
                    _take_out(table, _code(left[e], right[e], nodes))
            for e in range(start, stop):
                left[e], right[e] = before[0, e], before[1, e]
                _put_in(table, left[e], right[e], nodes)
                wrong[e] = False
            found = stop - start
        for turn in range(min(TRIES_PER_WRONG * found, TRIES * (stop - start))):
            bits = mix(mix(mix(key, k), turn), np.int64(0))
            one = start + np.int64(mix(bits, np.int64(0)) % np.uint64(stop - start))
            _exchange(left, right, wrong, groups, one, start, stop, bits, table, nodes)


@compiled
def _exchanged(
    left: Ints,
    right: Ints,
    wrong: Bools,
    groups: Ints,
    start: int,
    stop: int,
    key: np.uint64,
    table: Ints,
    nodes: int,
) -> bool:
    """Let the wrong edges of a block exchange ends, one after the other; return whether none is left."""
    count = 0
    for e in range(start, stop):
        count += wrong[e]
    todo, count = np.empty(count, np.int64), 0
    for e in range(start, stop):
        if wrong[e]:
            todo[count] = e
            count += 1
    tries, most = 0, TRIES * (stop - start)
    while count:
        looked_at, count = count, 0
        for k in range(looked_at):
            if wrong[todo[k]]:
                _exchange(left, right, wrong, groups, todo[k], start, stop, mix(key, tries), table, nodes)
                tries += 1
        if tries > most:
            return False
        for k in range(looked_at):
            if wrong[todo[k]]:
                todo[count] = todo[k]
                count += 1
    return True


@compiled
def _exchange(
    left: Ints,
    right: Ints,
    wrong: Bools,
    groups: Ints,
    one: int,
    start: int,
    stop: int,
    bits: np.uint64,
    table: Ints,
    nodes: int,
) -> None:
    """Exchange ends of an edge and a random one of its block, if both edges that arise are new."""
    two = start + np.int64((bits >> np.uint64(1)) % np.uint64(stop - start))
    a, b, c, d = left[one], right[one], left[two], right[two]
    if groups[c] == groups[d] and bits & np.uint64(1):
        c, d = d, c
    first, second = _code(a, d, nodes), _code(c, b, nodes)
    if a == d or c == b or first == second or one == two:
        return
    if table[_place(table, first)] == first or table[_place(table, second)] == second:
        return
    if not wrong[one]:
        _take_out(table, _code(a, b, nodes))
    if not wrong[two]:
        _take_out(table, _code(c, d, nodes))
    table[_place(table, first)] = first
    table[_place(table, second)] = second
    left[one], right[one], left[two], right[two] = a, d, c, b
    wrong[one], wrong[two] = False, False


@compiled
def _code(a: int, b: int, nodes: int) -> int:
    return min(a, b) * nodes + max(a, b)


@compiled
def _put_in(table: Ints, a: int, b: int, nodes: int) -> bool:
    """Put an edge into the table; return whether it is no loop and was not there."""
    code = _code(a, b, nodes)
    place = _place(table, code)
    if a == b or table[place] == code:
        return False
    table[place] = code
    return True


@compiled
def _home(table: Ints, key: int) -> int:
    return np.int64(mix(np.uint64(0), key) & np.uint64(table.size - 1))  # type: ignore[return-value]


@compiled
def _place(table: Ints, key: int) -> int:
    """Return the place of a key in a table of open addresses, or of the gap where it belongs."""
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
