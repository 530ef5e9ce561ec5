"""Which coordinates of two kinds of nodes go together over their edges, more than if they were permuted."""

from __future__ import annotations

from functools import partial

import numpy as np

from oddhop.base.arrays import Floats, Ints
from oddhop.odd.ends import STAGE
from oddhop.odd.homophily import COORDINATES
from oddhop.odd.pairs import Pairs
from oddhop.odd.row_blocks import block_sums, neighbour_sums, summed
from oddhop.odd.stranger import sums_beyond_chance
from oddhop.partitions.files import Store
from oddhop.partitions.task import TaskRunner


def telling_columns(pairs: Pairs, runner: TaskRunner) -> tuple[Ints, Ints]:
    """Return the own coordinates, of either side, that go together with what is around them beyond chance."""
    quiet, sides = runner.quiet, pairs.sides
    first = [summed(side, quiet, STAGE, partial(_first_sums, side)) for side in sides]
    means = [sums[1:] / max(side.nodes, 1) for side, sums in zip(sides, first, strict=True)]
    for side, mean in zip(sides, means[::-1], strict=True):
        runner.each(STAGE, partial(_write_around, side, mean), side.ranges)
    tells = []
    # Without the node itself its sum with the others is below 0 on average, wherever the values are dealt out.
    for side, mean, theirs, shared in zip(sides, means, means[::-1], first[::-1], strict=True):
        own, around = mean.size, mean.size + theirs.size
        moments = summed(side, quiet, STAGE, partial(_around_moments, side, mean))
        together, squares, sums, others = np.split(moments, np.cumsum([own * around, own, around]))
        spread = np.maximum(others - sums**2 / max(side.nodes, 1), 0.0)
        found = together.reshape(own, around), squares, spread, side.nodes
        tells.append(np.flatnonzero(sums_beyond_chance(*found, itself=theirs.size, pairs=float(shared[0]))))
    for side in sides:
        side.forget("lending", "around", "lent")  # first what stands for both: a kill in between leaves neither trusted
    return tells[0], tells[1]


def _first_sums(store: Store, number: int) -> list[Floats]:
    """Return how many pairs of edges share a node, but for one of each, and the sums of the coordinates."""
    x, degrees = store.read(COORDINATES, number), np.diff(store.rows(number).indptr)
    shared = np.maximum(degrees - 1, 0)
    return block_sums(store, number, lambda part: np.append(shared[part].sum(), x[part].sum(axis=0)))


def _write_around(store: Store, mean: Floats, number: int) -> None:
    """Write the sums of the coordinates of the neighbours, less their mean, and what a node lends of them."""
    if store.has("lending", number):
        return
    degrees = np.diff(store.rows(number).indptr)[:, None]
    around = neighbour_sums(store, COORDINATES, "around", number)
    around -= degrees * mean
    store.write("around", number, around)
    store.write("lending", number, np.hstack([around, np.ones_like(degrees)]) / np.maximum(degrees, 1))


def _around_moments(store: Store, mean: Floats, number: int) -> list[Floats]:
    x, around = store.read(COORDINATES, number), store.read("around", number)
    lent = neighbour_sums(store, "lending", "lent", number)

    def moments(part: slice) -> Floats:
        own = x[part] - mean
        # What the other neighbours of the neighbours are like: the node itself is taken out.
        every = np.hstack([around[part], lent[part, :-1] - own * lent[part, -1:]])
        squares = (own**2).sum(axis=0), every.sum(axis=0), (every**2).sum(axis=0)
        return np.concatenate([(own.T @ every).ravel(), *squares])

    return block_sums(store, number, moments)
