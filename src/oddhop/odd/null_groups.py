"""Groups of like nodes, within which simulated networks exchange edges: by kind or by looks, and by degree.

A network in which every edge between two groups stays between them keeps its hubs apart, or together, as they are, and
roles that deal with each other. No eigenvector is searched for it.
"""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np

from oddhop.base.arrays import Floats, Ints
from oddhop.base.randomness import SIMULATED, generator
from oddhop.odd.homophily import VARIATES
from oddhop.odd.row_blocks import gathered
from oddhop.odd.stranger import Homophily
from oddhop.partitions import store as ranges
from oddhop.partitions.files import Store
from oddhop.partitions.task import TaskRunner

SIMULATIONS, POWER_STEPS = 20, 2
STAGE, CELL = "null model", "cell"
CELLS, CENTRES_FROM, STARTS, STEPS = 8, 20_000, 4, 30  # of k-means
FEWEST_ALIKE = 32  # nodes of a group: of fewer, edges hardly change places


def by_degree(cells: Ints, degrees: Ints) -> Ints:
    """Divide the nodes of every cell by the octave of their degree; an octave with few nodes joins the one below."""
    octave = np.log2(np.maximum(degrees, 1)).astype(np.int64)
    for high in range(int(octave.max(initial=0)), 0, -1):
        here = octave == high
        few = np.bincount(cells[here], minlength=int(cells.max(initial=0)) + 1) < FEWEST_ALIKE
        octave[here & few[cells]] = high - 1
    return np.asarray(np.unique(cells * 64 + octave, return_inverse=True)[1])


def cells_by_looks(store: Store, runner: TaskRunner, homophily: Homophily, seed: int) -> Ints:
    """Divide nodes by the looks that go with their edges: k-means of the canonical variates, which the store has."""
    from scipy.cluster.vq import kmeans2, vq

    weights = np.abs(homophily.correlation[np.nonzero(homophily.correlation)])
    if not weights.size:
        return np.zeros(store.nodes, dtype=np.int64)
    rng, some = generator(seed, SIMULATED, SIMULATIONS), np.arange(store.nodes)
    if store.nodes > CENTRES_FROM:  # a part of many nodes shows where the centres are
        some = np.sort(rng.choice(store.nodes, CENTRES_FROM, replace=False))
    spans = ((one, *np.searchsorted(some, store.span(one))) for one in store.ranges)
    rows = [store.read(VARIATES, one)[some[a:b] - store.span(one)[0]] * weights for one, a, b in spans]
    found = np.concatenate(rows)
    with warnings.catch_warnings(action="ignore"):  # of cells that stay empty where nodes have few different looks
        tried = [kmeans2(found, CELLS, STEPS, minit="++", rng=rng)[0] for _ in range(STARTS)]
    centres = min(tried, key=lambda one: float((vq(found, one)[1] ** 2).sum()))
    runner.quiet.each(STAGE, partial(_write_cells, store, weights, centres), store.ranges)
    return gathered(store, CELL)


def _write_cells(store: Store, weights: Floats, centres: Floats, number: int) -> None:
    from scipy.cluster.vq import vq

    rows = store.read(VARIATES, number)
    blocks = (rows[first : first + ranges.BLOCK] * weights for first in range(0, len(rows), ranges.BLOCK))
    store.write(CELL, number, np.concatenate([vq(block, centres)[0] for block in blocks]).astype(np.int64))


def edge_ends(store: Store) -> Ints:
    """Return the two ends of every edge, the lower one first."""
    found = []
    for number in store.ranges:
        rows = store.rows(number)
        owner = np.repeat(np.arange(rows.start, rows.stop, dtype=rows.indices.dtype), np.diff(rows.indptr))
        upper = owner < rows.indices
        found.append(np.stack([owner[upper], rows.indices[upper]], axis=1))
    return np.concatenate(found)


def blocks_of(store: Store, groups: Ints) -> Ints:
    """Return the pair of groups of every edge as a number."""
    count = int(groups.max(initial=0)) + 1
    own = np.sort(groups.astype(np.int32 if count < 2**15 else np.int64)[edge_ends(store)], axis=1)
    return np.asarray(own[:, 0] * count + own[:, 1])
