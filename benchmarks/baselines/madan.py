"""MADAN (Gutierrez-Gomez, Bovet and Delvenne 2019): odd nodes keep their heat.

Edges weigh w = exp(-||x_i - x_j||^2 / 2 s^2), s the median distance between joined nodes. With L the weighted
Laplacian, a unit of heat on node i spreads to exp(-tL) delta_i, and its concentration

    c_i(t) = || exp(-tL) delta_i ||,  c_i(t)^2 = (exp(-2tL))_ii

falls slowly where a node is tied to the rest by weak edges only. The paper looks through many scales t; its authors'
script keeps the best of 201 *by the labels*. Here one scale is declared: t = 3 / (mean weighted degree).
Columns are standardised, so that the units of the attributes do not matter; more than 100 become 20 principal
components.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.special import ive

from benchmarks.baselines.trivial import edge_distances
from oddhop.base.arrays import Floats
from oddhop.graph.graph import Graph
from oddhop.graph.preparation import learn_preparation

SCALE = 3.0
NODES_AT_ONCE = 256
ENOUGH = 1e-7


def madan(graph: Graph, *, seed: int = 0) -> Floats:  # noqa: ARG001 - every baseline takes a seed
    """Return the concentration of heat that started on every node, at the declared scale.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph
    >>> from benchmarks.baselines.madan import madan
    >>> pair = Graph.from_arrays([[0], [1]], [[0.0], [0.0]])  # one edge of weight 1: c^2 = (1 + exp(-12)) / 2
    >>> np.allclose(madan(pair), np.sqrt((1 + np.exp(-12)) / 2), atol=1e-6)
    True
    """
    weights = _weights(graph)
    degrees = np.asarray(weights.sum(axis=1)).ravel()
    time = SCALE / max(float(degrees.mean()), 1e-300)
    return _concentration(weights, degrees, time)


def _weights(graph: Graph) -> sp.csr_array:
    prepared = learn_preparation(graph.attributes, scale="standard", pca_components=20, pca_above=100).apply(graph)
    apart = edge_distances(prepared)
    middle = float(np.median(apart)) if apart.size else 0.0
    alike = np.exp(-(apart**2) / (2 * middle**2)) if middle > 0 else np.ones_like(apart)
    return sp.csr_array((alike, graph.indices, graph.indptr), shape=(graph.node_count,) * 2)


def _concentration(weights: sp.csr_array, degrees: Floats, time: float) -> Floats:
    """Apply exp(-tL) to blocks of unit vectors by its Chebyshev series on [0, 2 max degree]."""
    nodes = degrees.size
    half = max(float(degrees.max()), 1e-300)  # Gershgorin: no eigenvalue is over twice the largest degree
    terms = 1
    while ive(terms, time * half) > ENOUGH:
        terms += 1
    # exp(-t half (1 + y)) for y in [-1, 1]; ive carries the factor exp(-t half), so nothing overflows.
    series = ive(np.arange(terms + 1), time * half) * (-1.0) ** np.arange(terms + 1)
    series[1:] *= 2.0
    shifted = sp.csr_array(sp.diags_array(degrees / half - 1.0) - weights / half)
    out = np.empty(nodes)
    for start in range(0, nodes, NODES_AT_ONCE):
        stop = min(start + NODES_AT_ONCE, nodes)
        before = np.zeros((nodes, stop - start))
        before[np.arange(start, stop), np.arange(stop - start)] = 1.0
        now = shifted @ before
        heat = series[0] * before + series[1] * now
        for factor in series[2:]:
            before, now = now, 2.0 * (shifted @ now) - before
            heat += factor * now
        out[start:stop] = np.sqrt((heat**2).sum(axis=0))
    return out
