"""Which coordinates of two kinds of nodes go together over their edges, more than if they were permuted."""

from __future__ import annotations

import numpy as np

from oddhop.base.arrays import Floats, Ints
from oddhop.odd.pairs import Pairs
from oddhop.odd.stranger import sums_beyond_chance


def related_columns(pairs: Pairs) -> tuple[Ints, Ints]:
    """Return the own coordinates, of either side, that go together with what is around them beyond chance."""
    sides = pairs.sides
    first = [side.wiring.sum(_first_sums, side.wiring.degrees, side.coordinates) for side in sides]
    means = [sums[1:] / max(side.wiring.nodes, 1) for side, sums in zip(sides, first, strict=True)]
    made = []
    for side, other, mean in zip(sides, sides[::-1], means[::-1], strict=True):
        sums = side.wiring.around(other.coordinates, keep=False)
        around, lending = side.wiring.rows(_around, sums, side.wiring.degrees, mean, outputs=2)
        side.wiring.make(around, lending)
        made.append((around, lending))
    found = []
    # Without the node itself its sum with the others is below 0 on average, wherever the values are dealt out.
    for k, (side, mean) in enumerate(zip(sides, means, strict=True)):
        lent = side.wiring.around(made[1 - k][1], keep=False)
        moments = side.wiring.sum(_moments_around, side.coordinates, made[k][0], lent, mean)
        own, around = mean.size, mean.size + means[1 - k].size
        together, squares, sums, others = np.split(moments, np.cumsum([own * around, own, around]))
        spread = np.maximum(others - sums**2 / max(side.wiring.nodes, 1), 0.0)
        sums_of_all = together.reshape(own, around), squares, spread, side.wiring.nodes
        beyond = sums_beyond_chance(*sums_of_all, itself=means[1 - k].size, pairs=float(first[1 - k][0]))
        found.append(np.flatnonzero(beyond))
    return found[0], found[1]


def _first_sums(degrees: Ints, x: Floats) -> Floats:
    """Return how many pairs of edges share a node, but for one of each, and the sums of the coordinates."""
    return np.append(np.maximum(degrees - 1, 0).sum(), x.sum(axis=0))


def _around(sums: Floats, degrees: Ints, mean: Floats) -> tuple[Floats, Floats]:
    """Return the sums of the coordinates of the neighbours less their mean, and what a node lends of them."""
    counts = degrees[:, None]
    around = sums - counts * mean
    return around, np.hstack([around, np.ones_like(counts)]) / np.maximum(counts, 1)


def _moments_around(x: Floats, around: Floats, lent: Floats, mean: Floats) -> Floats:
    own = x - mean
    # What the other neighbours of the neighbours are like: the node itself is taken out.
    every = np.hstack([around, lent[:, :-1] - own * lent[:, -1:]])
    squares = (own**2).sum(axis=0), every.sum(axis=0), (every**2).sum(axis=0)
    return np.concatenate([(own.T @ every).ravel(), *squares])
