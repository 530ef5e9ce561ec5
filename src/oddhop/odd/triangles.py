"""Triangles over the ranges of a network: what is left of every entry, and the common neighbours of its ends.

The unexplained triangles of a node, T = sum of t / 2 over its edges, are compared with what chance gives it, C = sum of
c / 2. A triangle has the weight of its three edges, their product. With w the mean weight of the node's triangles,
weighted by itself, there are T / w triangles and chance gives C / w: P(Poisson(C / w) >= T / w). In a sparse network a
few nodes have a triangle by chance and all others have none, so that the bulk says nothing about them. This does. C is
at most its mean over the nodes: where hubs have many triangles by chance, the bulk knows about them.

The owner of the end with more neighbours works out what the ends of an edge have in common: its row is a table, in
which the row of the other end is looked up. The owner of that end reads it there.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.special import gammainc

from oddhop.base.arrays import Floats, Ints
from oddhop.base.kernels import compiled
from oddhop.graph.adjacency import first_not_below
from oddhop.odd.communities import RESIDUALS
from oddhop.odd.homophily import RATIOS
from oddhop.odd.p_values import FLOOR
from oddhop.odd.row_blocks import gathered
from oddhop.partitions.files import Store
from oddhop.partitions.task import TaskRunner

STAGE = "cliques"
LARGEST = 12
MANY = 2**17  # nodes whose table is too large for the cache anyway
SPREAD = 2_654_435_769  # 2^32 over the golden ratio: numbers in a row take places far apart
LEFT, TIE_SUMS, LARGEST_TIES, CHANCE_LOG_P = "left", "tie_sums", "largest", "chance_log_p"
COMMON, SQUARES = "common", "squares"
LIGHTEST = 1e-6  # a triangle; squares of lighter ones are lost in single precision


def unexplained(store: Store, runner: TaskRunner, chance: float | None = None) -> float:
    """Write what communities and looks leave of every entry, and its sum at every node; give the chance."""
    runner.quiet.each(STAGE, partial(_write_left, store), store.ranges)
    if chance is not None:
        return chance
    sums = gathered(store, TIE_SUMS)
    whole = float(sums.sum())
    return float((sums**2).sum()) / whole**2 if whole > 0 else 0.0


def write_largest(store: Store, runner: TaskRunner, chance: float) -> None:
    """Write the twelve largest surprises among the edges of every node, (nodes, 12), from small to large.

    Beside them it writes the logarithm of the probability that chance gives a node as many triangles.
    """
    runner.each(STAGE, partial(_write_common, store), store.ranges, 0, 2)
    rate = triangle_rate(gathered(store, TIE_SUMS), chance)
    runner.each(STAGE, partial(_write_largest, store, chance, rate), store.ranges, 1, 2)


def _write_left(store: Store, number: int) -> None:
    if store.has(TIE_SUMS, number):
        return
    rows = store.rows(number)
    left, sums = store.entry_room(LEFT, number, np.float32), np.zeros(rows.stop - rows.start)
    _leave(rows.indptr, store.read(RESIDUALS, number), store.read(RATIOS, number), left, sums)
    store.write(LEFT, number, left)
    store.write(TIE_SUMS, number, sums)


def _write_common(store: Store, number: int) -> None:
    if store.has(COMMON, number):
        return
    rows, left = store.rows(number), store.read(LEFT, number)
    common, squares = (store.entry_room(name, number, np.float32) for name in (COMMON, SQUARES))
    cursor = rows.indptr[:-1].copy()
    for peer in store.peers:
        theirs = store.peer_rows(peer)
        ours = rows.indptr, rows.indices, cursor, left
        others = theirs.start, theirs.indptr, theirs.indices, store.read_peer(LEFT, peer)
        _common(rows.start, ours, others, common, squares)
        del theirs, others  # a peer's maps close before those of the next open
    store.write(SQUARES, number, squares)
    store.write(COMMON, number, common)


def _write_largest(store: Store, chance: float, rate: float, number: int) -> None:
    if store.has(LARGEST_TIES, number):
        return
    rows, left, sums = store.rows(number), store.read(LEFT, number), store.read(TIE_SUMS, number)
    cursor, largest = rows.indptr[:-1].copy(), np.zeros((rows.stop - rows.start, LARGEST))
    totals = np.zeros((len(largest), 3))
    found = store.read(COMMON, number), store.read(SQUARES, number)
    ours = rows.start, rows.indptr, rows.indices, cursor, left, *found, sums
    for peer in store.peers:
        theirs = store.peer_rows(peer)
        their_found = store.read_peer(COMMON, peer), store.read_peer(SQUARES, peer)
        others = theirs.start, theirs.indptr, theirs.indices, *their_found, store.read_peer(TIE_SUMS, peer)
        _largest(ours, others, chance, largest, totals)
        del theirs, their_found, others
    store.write(CHANCE_LOG_P, number, chance_log_p(totals[:, 0], totals[:, 1], totals[:, 2], rate))
    store.write(LARGEST_TIES, number, largest)


def triangle_rate(sums: Floats, chance: float) -> float:
    """Return how many triangles chance gives a node on average, by the configuration model."""
    return float((chance * sums.sum()) ** 3) / (2 * max(sums.size, 1))


def chance_log_p(found: Floats, expected: Floats, squares: Floats, rate: float) -> Floats:
    """Return the logarithm of the probability of as many triangles by chance, from sums over the edges of a node.

    The sums are those of t, of c, and of t with squared weights. Every triangle of a node is met from two of its edges.
    """
    log_p, some = np.zeros(found.size), (found > 0) & (squares > 0)  # either may be lost in single precision
    twice = 2 * np.maximum(squares[some] / found[some], LIGHTEST)
    by_chance = np.minimum(expected[some], 2 * rate) / twice
    log_p[some] = np.log(np.maximum(gammainc(found[some] / twice, by_chance), np.exp(FLOOR)))
    return log_p


@compiled
def _leave(indptr: Ints, residuals: Floats, f: Floats, left: Floats, sums: Floats) -> None:
    """Write the residual of every entry times the chance that looks are no reason, and the sums of it."""
    for i in range(indptr.size - 1):
        for e in range(indptr[i], indptr[i + 1]):
            left[e] = residuals[e] / (1.0 + np.exp(-np.float64(f[e])))
            sums[i] += left[e]


@compiled
def _common(first: int, ours: tuple[Any, ...], theirs: tuple[Any, ...], common: Floats, squares: Floats) -> None:
    """Write, for entries that are this end's, the sum over common neighbours of the product of the two other weights.

    ``squares`` has the sum of the squared products. They are summed along the row of the other end, so in the order of
    their numbers.
    """
    indptr, indices, cursor, left = ours
    start, their_indptr, their_indices, their_left = theirs
    stop, longest = start + their_indptr.size - 1, 0
    for i in range(indptr.size - 1):
        longest = max(longest, indptr[i + 1] - indptr[i])
    table, weights = np.full(_room(longest), -1, indices.dtype), np.empty(_room(longest), left.dtype)
    for i in range(indptr.size - 1):
        entry, end = cursor[i], indptr[i + 1]
        if entry == end or indices[entry] >= stop:
            continue
        degree = end - indptr[i]
        mask = _room(degree) - 1
        for e in range(indptr[i], end):
            slot = _slot(table, mask, indices[e])
            table[slot], weights[slot] = indices[e], left[e]
        while entry < end and indices[entry] < stop:
            j = indices[entry]
            row = their_indptr[j - start], their_indptr[j - start + 1]
            if is_ours(first + i, degree, j, row[1] - row[0]):
                total, squared = 0.0, 0.0
                for e in range(row[0], row[1]):
                    slot = _slot(table, mask, their_indices[e])
                    if table[slot] >= 0:
                        product = their_left[e] * weights[slot]
                        total += product
                        squared += np.float64(product) * product
                common[entry], squares[entry] = total, squared
            entry += 1
        cursor[i] = entry
        table[: mask + 1] = -1


@compiled
def is_ours(node: int, degree: int, other: int, its_degree: int) -> bool:
    """Return whether an edge is computed from this end: the one with more neighbours, which walks the rows of others.

    So a hub costs its neighbours nothing, and no row is walked more often than it is long.
    """
    return its_degree < degree or (its_degree == degree and other > node)


@compiled
def _room(count: int) -> int:
    """Return the size of a table for so many nodes, a power of 2 with at least 8 places for each, or 2."""
    size = 4
    while size < (8 if count < MANY else 2) * count:
        size *= 2
    return size


@compiled
def _slot(table: Ints, mask: int, node: int) -> int:
    """Return the place of a node in a table, or the free one that it would take."""
    slot = (np.int64(node) * SPREAD >> 16) & mask
    while table[slot] >= 0 and table[slot] != node:
        slot = (slot + 1) & mask
    return slot  # type: ignore[return-value]


@compiled
def _largest(ours: tuple[Any, ...], theirs: tuple[Any, ...], chance: float, largest: Floats, totals: Floats) -> None:
    """Keep the largest surprises among the entries of every node below ``stop``, from small to large, and the sums."""
    first, indptr, indices, cursor, left, common, squares, sums = ours
    start, their_indptr, their_indices, their_common, their_squares, their_sums = theirs
    stop = start + their_indptr.size - 1
    for i in range(indptr.size - 1):
        while cursor[i] < indptr[i + 1] and indices[cursor[i]] < stop:
            e, j = cursor[i], indices[cursor[i]] - start
            shared, squared = common[e], squares[e]
            if not is_ours(first + i, indptr[i + 1] - indptr[i], j + start, their_indptr[j + 1] - their_indptr[j]):
                there = first_not_below(their_indices, their_indptr[j], their_indptr[j + 1], first + i)
                shared, squared = their_common[there], their_squares[there]
            cursor[i] += 1
            by_chance = left[e] * sums[i] * their_sums[j] * chance
            totals[i, 1] += by_chance
            if shared == 0:  # the surprise would be negative
                continue
            common_here = left[e] * shared
            totals[i, 0] += common_here
            totals[i, 2] += np.float64(left[e]) * left[e] * squared
            surprise = (common_here - by_chance) / np.sqrt(by_chance + 1.0)
            place = 0
            while place < LARGEST and surprise > largest[i, place]:
                if place > 0:
                    largest[i, place - 1] = largest[i, place]
                largest[i, place] = surprise
                place += 1
