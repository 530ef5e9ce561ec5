"""The coordinates of both ends of edges between two kinds: own ones, and those borrowed from the other neighbours."""

from __future__ import annotations

from functools import partial

import numpy as np

from oddhop.base.arrays import Floats, Ints
from oddhop.odd.homophily import COORDINATES
from oddhop.odd.pairs import Pairs
from oddhop.odd.row_blocks import block_sums, neighbour_sums, summed
from oddhop.partitions.files import Store
from oddhop.partitions.store import Array
from oddhop.partitions.task import TaskRunner

STAGE = "edges between kinds"
DEGREES, USED, BORROWED = "degrees", "used", "borrowed"
ENDS = (USED, BORROWED, DEGREES)
Usual = tuple[Floats, Floats]


def chosen_edges(pairs: Pairs, columns: tuple[Ints, Ints], runner: TaskRunner) -> Pairs:
    """Return the edges of which both ends have coordinates, own or borrowed, by some of the columns."""
    for side, used in zip(pairs.sides, columns, strict=True):
        runner.quiet.each(STAGE, partial(_write_used, side, used), side.ranges)
    return informed(pairs, runner)


def informed(pairs: Pairs, runner: TaskRunner) -> Pairs:
    """Return the edges of which both ends have coordinates; write the degrees, and the sums over the neighbours."""
    wide = [bool(side.read(USED, 0).shape[1]) for side in pairs.sides]
    if not all(wide):
        for side, own, theirs in zip(pairs.sides, wide, wide[::-1], strict=True):
            runner.quiet.each(STAGE, partial(_write_informed, side, own, theirs), side.ranges)
        pairs = pairs.kept("informed", "informed", (USED,), runner.quiet)
    for side in pairs.sides:
        runner.quiet.each(STAGE, partial(_write_borrowed, side), side.ranges)
    return pairs


def _write_used(store: Store, columns: Ints, number: int) -> None:
    if not store.has(USED, number):
        # In the order of rows, in files as in memory: in another a product has other last bits.
        store.write(USED, number, np.ascontiguousarray(store.read(COORDINATES, number)[:, columns]))


def _write_informed(store: Store, wide: bool, theirs: bool, number: int) -> None:
    degrees = np.diff(store.rows(number).indptr)
    store.write("informed", number, np.full(degrees.size, wide) | (theirs & (degrees > 1)))


def _write_borrowed(store: Store, number: int) -> None:
    if not store.has(BORROWED, number):
        store.write(DEGREES, number, np.diff(store.rows(number).indptr))
        store.write(BORROWED, number, neighbour_sums(store, USED, BORROWED, number))


def ends_of(own: tuple[Array, ...], theirs: tuple[Array, ...], usual: Usual) -> tuple[Floats, Floats]:
    """Return the coordinates of both ends of edges, by those used, their sums over neighbours, and the degrees."""
    (near, near_sums, near_degrees), (far, far_sums, far_degrees) = own, theirs
    lent_near = (near_sums - far + usual[1]) / near_degrees[:, None]
    lent_far = (far_sums - near + usual[0]) / far_degrees[:, None]
    return np.hstack([near, lent_near]), np.hstack([far, lent_far])


def usual_ends(pairs: Pairs, runner: TaskRunner) -> Usual:
    """Return the means of the used coordinates over the edges, of either side."""
    sums = [summed(side, runner.quiet, STAGE, partial(_weighted_sums, side)) for side in pairs.sides]
    near, far = (one[1:] / max(float(one[0]), 1.0) for one in sums)
    return near, far


def _weighted_sums(store: Store, number: int) -> list[Floats]:
    x, degrees = store.read(USED, number), store.read(DEGREES, number)
    return block_sums(store, number, lambda part: np.append(degrees[part].sum(), degrees[part] @ x[part]))
