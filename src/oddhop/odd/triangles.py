"""Triangles: what is left of every entry, the common neighbours of its ends, and the largest surprises of every node.

The unexplained triangles of a node, T = sum of t / 2 over its edges, are compared with what chance gives it, C = sum of
c / 2. A triangle has the weight of its three edges, their product. With w the mean weight of the node's triangles,
weighted by itself, there are T / w triangles and chance gives C / w: P(Poisson(C / w) >= T / w). In a sparse network a
few nodes have a triangle by chance and all others have none, so that the bulk says nothing about them. This does. C is
at most its mean over the nodes: where hubs have many triangles by chance, the bulk knows about them.

The owner of the end with more neighbours works out what the ends of an edge have in common: its row is a table, in
which the row of the other end is looked up. The owner of that end reads it there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammainc

from oddhop.arrays.handles import Handle, Output
from oddhop.arrays.stores import ENTRIES, ROWS
from oddhop.arrays.wiring import Wiring
from oddhop.base.arrays import Floats, Ints
from oddhop.base.kernels import compiled
from oddhop.graph.adjacency import first_not_below
from oddhop.odd.p_values import FLOOR

STAGE = "cliques"
LARGEST = 12
MANY = 2**17  # nodes whose table is too large for the cache anyway
SPREAD = 2_654_435_769  # 2^32 over the golden ratio: numbers in a row take places far apart
LIGHTEST = 1e-6  # a triangle; squares of lighter ones are lost in single precision


@dataclass(frozen=True, eq=False)
class Unexplained:
    """What neither communities nor attributes explain of the edges.

    Attributes
    ----------
    left, sums : r of every entry, and s, its sum, at every node.
    chance : the sum of s^2 over the squared sum of s, here or in the network that a model was fitted on.
    """

    left: Handle
    sums: Handle
    chance: float


def unexplained(wiring: Wiring, residuals: Handle, f: Handle, chance: float | None = None) -> Unexplained:
    """Make what communities and attributes leave of every entry; ``chance`` is left out for the network's own."""
    left, sums = wiring.entries(_leave, [residuals, f], [], Output(ENTRIES, np.float32), Output(ROWS, np.float64))
    if chance is None:
        every = sums.all()
        whole = float(every.sum())
        chance = float((every**2).sum()) / whole**2 if whole > 0 else 0.0
    return Unexplained(left, sums, chance)


def largest_surprises(wiring: Wiring, edges: Unexplained) -> tuple[Handle, Handle]:
    """Make the twelve largest surprises among the edges of every node, from small to large.

    With them comes the logarithm of the probability that chance gives a node as many triangles.
    """
    wiring.begin(STAGE, 2)
    single, left = Output(ENTRIES, np.float32), edges.left
    ours, theirs = [wiring.ids, wiring.indptr, left], [wiring.indptr, wiring.indices]
    found = wiring.entries(_common, ours, [*theirs, left], single, single)
    outputs = Output(ROWS, np.float64, (LARGEST,)), Output(ROWS, np.float64, (3,))
    others = [*theirs, *found, edges.sums, edges.chance]
    largest, totals = wiring.entries(_largest, [*ours, *found, edges.sums], others, *outputs, keep=False)
    rate = triangle_rate(edges.sums.all(), edges.chance)
    by_chance, kept = wiring.rows(_by_chance, totals, rate), wiring.rows(np.array, largest)
    wiring.make(kept, by_chance)
    return kept, by_chance


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


def _by_chance(totals: Floats, rate: float) -> Floats:
    return chance_log_p(totals[:, 0], totals[:, 1], totals[:, 2], rate)


@compiled
def _leave(
    low: Ints,
    high: Ints,
    indices: Ints,  # noqa: ARG001 - of all kernels over entries
    start: int,  # noqa: ARG001
    residuals: Floats,
    f: Floats,
    left: Floats,
    sums: Floats,
) -> None:
    """Write the residual of every entry times the chance that looks are no reason, and the sums of it."""
    for i in range(low.size):
        for e in range(low[i], high[i]):
            left[e] = residuals[e] / (1.0 + np.exp(-np.float64(f[e])))
            sums[i] += left[e]


@compiled
def _common(
    low: Ints,
    high: Ints,
    indices: Ints,
    start: int,
    ids: Ints,
    indptr: Ints,
    left: Floats,
    their_indptr: Ints,
    their_indices: Ints,
    their_left: Floats,
    common: Floats,
    squares: Floats,
) -> None:
    """Write, for entries that are this end's, the sum over common neighbours of the product of the two other weights.

    ``squares`` has the sum of the squared products. They are summed along the row of the other end, so in the order of
    their numbers.
    """
    longest = 0
    for i in range(low.size):
        longest = max(longest, indptr[i + 1] - indptr[i])
    table, weights = np.full(_room(longest), -1, indices.dtype), np.empty(_room(longest), left.dtype)
    for i in range(low.size):
        if low[i] == high[i]:
            continue
        degree = indptr[i + 1] - indptr[i]
        mask = _room(degree) - 1
        for e in range(indptr[i], indptr[i + 1]):
            slot = _slot(table, mask, indices[e])
            table[slot], weights[slot] = indices[e], left[e]
        for entry in range(low[i], high[i]):
            j = indices[entry]
            row = their_indptr[j - start], their_indptr[j - start + 1]
            if is_ours(ids[i], degree, j, row[1] - row[0]):
                total, squared = 0.0, 0.0
                for e in range(row[0], row[1]):
                    slot = _slot(table, mask, their_indices[e])
                    if table[slot] >= 0:
                        product = their_left[e] * weights[slot]
                        total += product
                        squared += np.float64(product) * product
                common[entry], squares[entry] = total, squared
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
def _largest(
    low: Ints,
    high: Ints,
    indices: Ints,
    start: int,
    ids: Ints,
    indptr: Ints,
    left: Floats,
    common: Floats,
    squares: Floats,
    sums: Floats,
    their_indptr: Ints,
    their_indices: Ints,
    their_common: Floats,
    their_squares: Floats,
    their_sums: Floats,
    chance: float,
    largest: Floats,
    totals: Floats,
) -> None:
    """Keep the largest surprises among the entries of every node, from small to large, and the sums."""
    for i in range(low.size):
        for e in range(low[i], high[i]):
            j = indices[e] - start
            shared, squared = common[e], squares[e]
            if not is_ours(ids[i], indptr[i + 1] - indptr[i], j + start, their_indptr[j + 1] - their_indptr[j]):
                there = first_not_below(their_indices, their_indptr[j], their_indptr[j + 1], ids[i])
                shared, squared = their_common[there], their_squares[there]
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
