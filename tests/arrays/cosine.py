"""A detector on the passes: the mean cosine distance of a node to its neighbours, with some edges left out as well."""

from __future__ import annotations

import numpy as np

from oddhop.arrays.handles import Handle, Output
from oddhop.arrays.stores import ROWS
from oddhop.arrays.wiring import Wiring
from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.base.kernels import compiled


def cosine_scores(wiring: Wiring, x: Handle) -> Floats:
    """Return the mean distance of every node to its neighbours, and the same without edges to far numbers."""
    centred = wiring.rows(_less, x, wiring.sum(_sums, x) / wiring.nodes)
    unit = wiring.rows(_unit, centred)
    found = [_mean_distances(wiring, unit)]
    ids = wiring.rows(np.array, wiring.ids)
    found.append(wiring.stage("near", lambda: {"score": _mean_distances(_near(wiring, ids), unit)})["score"])
    far = wiring.sum_edges(_distance_sums, 2, [unit], [unit])
    return np.concatenate([*found, far])


def _near(wiring: Wiring, ids: Handle) -> Wiring:
    return wiring.thinned(_is_near, [ids], [ids])


def _mean_distances(wiring: Wiring, unit: Handle) -> Floats:
    sums = wiring.entries(_distances, [unit], [unit], Output(ROWS, np.float64))
    scores: Floats = wiring.rows(_mean, sums, wiring.degrees).all()
    return scores


def _sums(x: Floats) -> Floats:
    return np.asarray(x.sum(axis=0))


def _less(x: Floats, mean: Floats) -> Floats:
    return x - mean


def _unit(x: Floats) -> Floats:
    return np.asarray(x / np.maximum(np.sqrt((x**2).sum(axis=1, keepdims=True)), 1e-30))


def _mean(sums: Floats, degrees: Ints) -> Floats:
    return sums / np.maximum(degrees, 1)


def _distance_sums(own: tuple[Floats], theirs: tuple[Floats]) -> Floats:
    return np.array([len(own[0]), (own[0] * theirs[0]).sum()])


@compiled
def _distances(low: Ints, high: Ints, indices: Ints, start: int, own: Floats, theirs: Floats, out: Floats) -> None:
    for i in range(low.size):
        for e in range(low[i], high[i]):
            out[i] += 1.0 - np.dot(own[i], theirs[indices[e] - start])


@compiled
def _is_near(low: Ints, high: Ints, indices: Ints, start: int, own: Ints, theirs: Ints, out: Bools) -> None:
    for i in range(low.size):
        for e in range(low[i], high[i]):
            out[e] = abs(own[i] - theirs[indices[e] - start]) < 100
