"""A network with other edges, but the same degrees and as many edges between any two groups of nodes.

Edges between the same two groups form a block.

1. The ends of a block are put in the order of keyed random numbers and joined anew: a draw of the configuration model.
2. A loop, or an edge that is there already, exchanges ends with another edge of its block, if both edges that arise are
   new. Where ten tries an edge of the block do not suffice, as in a very dense block, the edges are taken as they were.
3. Step 2 leaves too many edges between hubs. So edges drawn at random exchange ends, forty tries for every edge that
   step 2 found, and at most ten for every edge of the block.
4. So far a node has as many edges to each group as before: seven nodes that deal only with each other would do so
   again. If asked, ends of a group then change places between all its blocks, where both edges that arise are new.

Degrees are exact, and there is never a loop or an edge twice.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from oddhop.base.arrays import Ints
from oddhop.base.kernels import compiled
from oddhop.base.randomness import SIMULATED, mix, word
from oddhop.graph.adjacency import symmetric_csr

TRIES = 10  # exchanges at most, for every edge of a block, in steps 2 and 3
AT_ONCE = 2**23  # ends that are shuffled: 37 bytes each
TRIES_PER_WRONG = 40  # in step 3; with 20 a network with hubs still has too many triangles
TRIES_PER_END = 2  # in step 4


def rewired_wiring(ends: Ints, groups: Ints, seed: int, turn: int, *, across: bool = False) -> tuple[Ints, Ints]:
    """Rewire edges, given as rows of two ends, and return ``(indptr, indices)``.

    With ``across``, ends of a group also change places between its blocks. It takes 40 bytes an edge, or 17 bytes, with
    ``across`` 44, and a table of eight bytes for 1.5 to 3 times the edges.
    """
    before, bounds = _by_block(ends, groups)
    del ends
    keys = [word(seed, SIMULATED, turn, 1 + k) for k in range(4)]
    after = before.copy()
    _shuffle_blocks(before, after, groups, bounds, keys)
    table = _repair(after, before, groups, bounds, keys[2], groups.size)
    del before
    if across and bounds.size > 2:
        own = groups.astype(np.min_scalar_type(int(groups.max())))[after].reshape(-1)
        firsts = np.concatenate([[0], np.cumsum(np.bincount(own))])
        _mix_blocks(after, np.argsort(own, kind="stable"), firsts, table, keys[3], groups.size)
    del table
    left, right = (after[:, k].astype(np.int64) for k in range(2))  # as tables are read: compiled once
    del after
    indptr, indices, _ = symmetric_csr(left, right, groups.size)
    return indptr, indices


def _by_block(ends: Ints, groups: Ints) -> tuple[Ints, Ints]:
    """Return the edges block by block, the end in the lower group first, and where blocks begin."""
    count = int(groups.max(initial=0)) + 1
    if count == 1:
        return ends, np.array([0, len(ends)] if len(ends) else [0])
    ends = np.where((groups[ends[:, 0]] > groups[ends[:, 1]])[:, None], ends[:, ::-1], ends)
    block = (groups[ends[:, 0]] * count + groups[ends[:, 1]]).astype(np.min_scalar_type(count * count))
    order = np.argsort(block, kind="stable")  # of 16 bits in linear time
    return ends[order], np.concatenate([[0], np.cumsum(np.unique(block, return_counts=True)[1])])


def _shuffle_blocks(before: Ints, after: Ints, groups: Ints, bounds: Ints, keys: list[np.uint64]) -> None:
    """Put the ends of every block in a random order; those of edges between two groups within their group."""
    drawn = [0, 0]
    for start, stop in pairwise(bounds.tolist()):
        across = int(groups[before[start, 0]] != groups[before[start, 1]])
        source, target = (one[start:stop, 1] if across else one[start:stop].reshape(-1) for one in (before, after))
        _shuffle(source, target, keys[across], drawn[across])
        drawn[across] += source.size


def _shuffle(source: Ints, target: Ints, key: np.uint64, first: int) -> None:
    """Write nodes in the order of random numbers, as many at a time as fit: those with the lowest numbers first."""
    shares, done = -(-source.size // AT_ONCE), 0
    for share in range(shares):
        numbers, nodes = [], []
        for start in range(0, source.size, AT_ONCE):
            part = source[start : start + AT_ONCE]
            some = np.empty(part.size, dtype=np.uint64)
            _draw(key, first + start, some)
            own = (some >> np.uint64(32)) * np.uint64(shares) >> np.uint64(32) == share
            numbers.append(some[own])
            nodes.append(part[own])
        order = np.argsort(np.concatenate(numbers), kind="stable")
        target[done : done + order.size] = np.concatenate(nodes)[order]
        done += order.size


@compiled
def _draw(key: np.uint64, first: int, out: Ints) -> None:
    for k in range(out.size):
        out[k] = mix(key, first + k)


@compiled
def _repair(ends: Ints, before: Ints, groups: Ints, bounds: Ints, key: np.uint64, nodes: int) -> Ints:
    """Exchange ends until there is no loop and no edge twice; return the table of the edges."""
    size = 16
    while 2 * size < 3 * len(ends):
        size *= 2
    table, wrong = np.full(size, -1, np.int64), np.empty(len(ends), np.bool_)
    for k in range(bounds.size - 1):
        start, stop = bounds[k], bounds[k + 1]
        block, found = (ends, wrong, groups, start, stop), 0
        for e in range(start, stop):
            wrong[e] = not _put_in(table, ends[e, 0], ends[e, 1], nodes)
            found += wrong[e]
        if not _exchanged(block, mix(key, k), table, nodes):
            for e in range(start, stop):
                if not wrong[e]:
                    _take_out(table, _code(ends[e, 0], ends[e, 1], nodes))
            for e in range(start, stop):
                # By elements: a row would bring numba's error text for shapes, which takes seconds to compile.
                ends[e, 0], ends[e, 1] = before[e, 0], before[e, 1]
                _put_in(table, ends[e, 0], ends[e, 1], nodes)
                wrong[e] = False
            found = stop - start
        for turn in range(min(TRIES_PER_WRONG * found, TRIES * (stop - start))):
            bits = mix(mix(mix(key, k), turn), np.int64(0))
            one = start + np.int64(mix(bits, np.int64(0)) % np.uint64(stop - start))
            _exchange(block, one, bits, table, nodes)
    return table


@compiled
def _mix_blocks(ends: Ints, places: Ints, firsts: Ints, table: Ints, key: np.uint64, nodes: int) -> None:
    """Exchange ends of a group, whatever their blocks; ``places`` are those of the ends, group by group."""
    for k in range(firsts.size - 1):
        first, size = firsts[k], np.uint64(firsts[k + 1] - firsts[k])
        for turn in range(TRIES_PER_END * (firsts[k + 1] - first)):
            bits = mix(mix(key, k), turn)
            one = places[first + np.int64(mix(bits, np.int64(0)) % size)]
            two = places[first + np.int64(mix(bits, np.int64(1)) % size)]
            a, b = ends[one >> 1, one & 1], ends[one >> 1, 1 - (one & 1)]
            c, d = ends[two >> 1, two & 1], ends[two >> 1, 1 - (two & 1)]
            here, there = _code(a, d, nodes), _code(c, b, nodes)
            if one >> 1 == two >> 1 or a in (c, d) or c == b:
                continue
            if table[_place(table, here)] == here or table[_place(table, there)] == there:
                continue
            _take_out(table, _code(a, b, nodes))
            _take_out(table, _code(c, d, nodes))
            table[_place(table, here)] = here
            table[_place(table, there)] = there
            ends[one >> 1, one & 1], ends[two >> 1, two & 1] = c, a


@compiled
def _exchanged(block: tuple[Any, ...], key: np.uint64, table: Ints, nodes: int) -> bool:
    """Let the wrong edges of a block exchange ends, one after the other; return whether none is left."""
    _, wrong, _, start, stop = block
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
                _exchange(block, todo[k], mix(key, tries), table, nodes)
                tries += 1
        if tries > most:
            return False
        for k in range(looked_at):
            if wrong[todo[k]]:
                todo[count] = todo[k]
                count += 1
    return True


@compiled
def _exchange(block: tuple[Any, ...], one: int, bits: np.uint64, table: Ints, nodes: int) -> None:
    """Exchange ends of an edge and a random one of its block, if both edges that arise are new."""
    ends, wrong, groups, start, stop = block
    two = start + np.int64((bits >> np.uint64(1)) % np.uint64(stop - start))
    a, b, c, d = ends[one, 0], ends[one, 1], ends[two, 0], ends[two, 1]
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
    ends[one, 0], ends[one, 1], ends[two, 0], ends[two, 1] = a, d, c, b
    wrong[one], wrong[two] = False, False


@compiled
def _code(a: int, b: int, nodes: int) -> int:
    return min(np.int64(a), np.int64(b)) * nodes + max(a, b)  # type: ignore[return-value]


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
