"""The canonical variates of a simulated network.

A node has the mean of its community, and a random direction with the length that a real node of like degree has beyond
its community. The direction is noise, smoothed over the wiring as far as neighbours are alike beyond their communities.
Each variate is then mapped to the real one by rank.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from oddhop.base.arrays import Floats, Ints
from oddhop.odd.homophily import VARIATES
from oddhop.odd.null_model import (
    COMMUNITY,
    VALUES,
    NullModel,
    column_groups,
    correlation_of,
    edge_correlation,
    edge_moments,
    whole,
)
from oddhop.odd.row_blocks import block_sums, gathered, neighbour_sums, summed
from oddhop.partitions.files import Store
from oddhop.partitions.task import TaskRunner

STAGE = "canonical variates"
SMOOTHINGS, ATTEMPTS = 8, 3
LENGTH, NOISE = "length", "noise"


def write_simulated_variates(
    store: Store, runner: TaskRunner, model: NullModel, lengths: Floats, rng: np.random.Generator
) -> None:
    """Draw the canonical variates of a simulated network, whose wiring the store has, and write them.

    ``lengths`` is how far every node lies from the mean of its community.
    """
    width = model.width
    for number in store.ranges:
        store.write(LENGTH, number, lengths[slice(*store.span(number))])
    for name in (NOISE, _smooth(0)):
        for number in store.ranges:
            start, stop = store.span(number)
            store.write(name, number, rng.normal(size=(stop - start, width)))
    if not width:
        runner.quiet.each(STAGE, partial(_joined, store, 0, 0, VARIATES), store.ranges)
        return
    part: Floats = np.zeros(width)
    name = _mixed(store, runner, model, 0, _smooth(0), part, np.ones(width))
    without = edge_correlation(store, runner.quiet, name)
    # Communities that were found badly leave too little; strangers, of which these networks have none, leave too much.
    # Half of the gap is made up for.
    target = (model.alike + np.minimum(without + model.share * model.own_alike, model.alike)) / 2
    missing = target - without
    _, wide = _smoothed(store, runner, 0)
    for step in range(1, SMOOTHINGS + 1):
        correlation, following = _smoothed(store, runner, step)
        # The variates have the means of the communities, too: only this share of their variance is noise.
        added = model.share * correlation
        if step == SMOOTHINGS or (added > missing).all():
            break
        wide = following
    store.forget(_smooth(step + 1), "around")
    for attempt in range(1, ATTEMPTS + 1):
        part = np.clip(part + missing / np.maximum(added, 1e-30), 0.0, 1.0)
        name = _mixed(store, runner, model, attempt, _smooth(step), part, wide)
        if attempt < ATTEMPTS:
            missing = target - edge_correlation(store, runner.quiet, name)
    store.forget(NOISE, LENGTH, _smooth(step), "around")


def _smooth(step: int) -> str:
    return f"smooth{step}"


def _smoothed(store: Store, runner: TaskRunner, step: int) -> tuple[Floats, Floats]:
    """Smooth the noise once more; give the correlation over the edges from before, and the deviation from now on."""
    *moments, sums, squares = summed(store, runner, STAGE, partial(_smooth_once, store, step), step, SMOOTHINGS + 1)
    if step:
        store.forget(_smooth(step - 1))
    deviation = np.sqrt(np.maximum(squares / store.nodes - (sums / store.nodes) ** 2, 0.0))
    return correlation_of(np.array(moments)), np.maximum(deviation, 1e-30)


def _smooth_once(store: Store, step: int, number: int) -> list[Floats]:
    x, degrees = store.read(_smooth(step), number), np.diff(store.rows(number).indptr)
    around = neighbour_sums(store, _smooth(step), "around", number)
    mixed = (x + around / np.maximum(degrees, 1)[:, None]) / 2
    store.write(_smooth(step + 1), number, mixed)

    def sums(part: slice) -> Floats:
        moments = edge_moments(x[part], around[part], degrees[part])
        return np.vstack([moments, mixed[part].sum(axis=0), (mixed[part] ** 2).sum(axis=0)])

    return block_sums(store, number, sums)


def _mixed(
    store: Store, runner: TaskRunner, model: NullModel, attempt: int, smooth: str, part: Floats, wide: Floats
) -> str:
    """Mix noise that is smooth and noise that is not, map it to the real variates by rank, and name what was written.

    ``part`` is that of the smooth noise, and ``wide`` its deviation.
    """
    groups = column_groups(model.width, store.nodes)
    weights = np.sqrt(part) / wide, np.sqrt(1 - part)
    target = VARIATES if attempt == ATTEMPTS else f"drawn{attempt}"
    runner.quiet.each(STAGE, partial(_mix, store, attempt, smooth, weights, model.means), store.ranges)
    runner.quiet.each(STAGE, partial(_map_by_rank, store, attempt), list(enumerate(groups)))
    runner.quiet.each(STAGE, partial(_joined, store, attempt, len(groups), target), store.ranges)
    store.forget(f"raw{attempt}", *(f"mapped{attempt}-{k}" for k in range(len(groups))))
    if attempt:
        store.forget(f"drawn{attempt - 1}")
    return target


def _mix(store: Store, attempt: int, smooth: str, weights: tuple[Floats, Floats], means: Floats, number: int) -> None:
    direction = weights[0] * store.read(smooth, number) + weights[1] * store.read(NOISE, number)
    longer = store.read(LENGTH, number) / np.maximum(np.sqrt((direction**2).sum(axis=1)), 1e-30)
    store.write(f"raw{attempt}", number, means[store.read(COMMUNITY, number)] + direction * longer[:, None])


def _map_by_rank(store: Store, attempt: int, group: tuple[int, slice]) -> None:
    k, columns = group
    drawn, values = whole(store, f"raw{attempt}", columns), gathered(store, f"{VALUES}{k}")
    for column in range(drawn.shape[1]):
        drawn[_order(drawn[:, column]), column] = values[:, column]
    for number in store.ranges:
        store.write(f"mapped{attempt}-{k}", number, drawn[slice(*store.span(number))])


def _order(column: Floats) -> Ints:
    """Return the order of a column, equal values as they stand; a stable sort takes longer, and few columns need it."""
    order = np.argsort(column)
    ordered = column[order]
    return np.argsort(column, kind="stable") if (ordered[1:] == ordered[:-1]).any() else order


def _joined(store: Store, attempt: int, groups: int, target: str, number: int) -> None:
    start, stop = store.span(number)
    parts = [store.read(f"mapped{attempt}-{k}", number) for k in range(groups)]
    store.write(target, number, np.hstack([np.empty((stop - start, 0)), *parts]))
