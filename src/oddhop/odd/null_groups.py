"""Groups of like nodes, within which simulated networks exchange edges: by kind or by looks, and by degree.

A network in which every edge between two groups stays between them keeps its hubs apart, or together, as they are, and
roles that deal with each other. No eigenvector is searched for it.
"""

from __future__ import annotations

import warnings

import numpy as np

from oddhop.arrays import stores
from oddhop.arrays.handles import WHOLE, Handle
from oddhop.arrays.wiring import Wiring
from oddhop.base.arrays import Floats, Ints
from oddhop.base.randomness import SIMULATED, generator
from oddhop.odd.stranger import Homophily

SIMULATIONS, POWER_STEPS = 20, 2
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


def cells_by_looks(wiring: Wiring, variates: Handle, homophily: Homophily, seed: int) -> Ints:
    """Divide nodes by the looks that go with their edges: k-means of the canonical variates."""
    from scipy.cluster.vq import kmeans2, vq

    weights = np.abs(homophily.correlation[np.nonzero(homophily.correlation)])
    if not weights.size:
        return np.zeros(wiring.nodes, dtype=np.int64)
    rng, some = generator(seed, SIMULATED, SIMULATIONS), np.arange(wiring.nodes)
    if wiring.nodes > CENTRES_FROM:  # a part of many nodes shows where the centres are
        some = np.sort(rng.choice(wiring.nodes, CENTRES_FROM, replace=False))
    rows, spans = variates.any_rows(), wiring.store.peers
    taken = ((span, some[slice(*np.searchsorted(some, span))] - span[0]) for span in spans)
    found = np.concatenate([rows[slice(*span)][places] * weights for span, places in taken])
    with warnings.catch_warnings(action="ignore"):  # of cells that stay empty where nodes have few different looks
        tried = [kmeans2(found, CELLS, STEPS, minit="++", rng=rng)[0] for _ in range(STARTS)]
    centres = min(tried, key=lambda one: float((vq(found, one)[1] ** 2).sum()))
    cells: Ints = wiring.rows(_cells, variates, weights, centres, rows=WHOLE).all()
    return cells


def _cells(variates: Floats, weights: Floats, centres: Floats) -> Ints:
    from scipy.cluster.vq import vq

    blocks = (variates[first : first + stores.BLOCK] * weights for first in range(0, len(variates), stores.BLOCK))
    return np.concatenate([vq(block, centres)[0] for block in blocks]).astype(np.int64)


def edge_ends(wiring: Wiring) -> Ints:
    """Return the two ends of every edge, the lower one first."""
    found = []
    for first, stop in wiring.store.peers:
        indptr, indices = (wiring.store.read(one, (first, stop)) for one in (wiring.indptr, wiring.indices))
        owner = np.repeat(np.arange(first, stop, dtype=indices.dtype), np.diff(indptr))
        upper = owner < indices
        found.append(np.stack([owner[upper], indices[upper]], axis=1))
    return np.concatenate(found)


def groups_of_edges(wiring: Wiring, groups: Ints) -> Ints:
    """Return the pair of groups of every edge as a number."""
    count = int(groups.max(initial=0)) + 1
    own = np.sort(groups.astype(np.int32 if count < 2**15 else np.int64)[edge_ends(wiring)], axis=1)
    return np.asarray(own[:, 0] * count + own[:, 1])
