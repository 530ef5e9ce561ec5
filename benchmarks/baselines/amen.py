"""AMEN (Perozzi and Akoglu 2016): how normal the neighbourhood of a node is, under the weights that suit it best.

With C a node and its neighbours, B the nodes next to C, k degrees, m edges, and o the product by columns,

    x_I = sum over i, j in C of (A_ij - k_i k_j / 2m) x_i o x_j
    x_E = - sum over i in C, b in B, joined, of (1 - min(1, k_i k_b / 2m)) x_i o x_b
    N = norm of the positive part of x_I + x_E; where nothing is positive, its largest entry

The score is -N. N grows with the neighbourhood, so a high degree looks normal: the paper ranks so, and so do we. The
method is meant for zeros and ones; other columns are divided by their largest entry, and those with negative entries
are brought to [0, 1] by their range.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from oddhop.base.arrays import Floats, Ints
from oddhop.base.kernels import compiled
from oddhop.graph.checks import Attributes, is_sparse
from oddhop.graph.graph import Graph


def amen(graph: Graph, *, seed: int = 0) -> Floats:  # noqa: ARG001 - every baseline takes a seed
    """Return minus the normality of every node's neighbourhood.

    Examples
    --------
    >>> from oddhop import Graph
    >>> from benchmarks.baselines.amen import amen
    >>> pair = Graph.from_arrays([[0], [1]], [[1.0], [1.0]])
    >>> amen(pair).tolist()  # 2 (1 - 1/2) - 2 (1/2) = 0: no more than chance
    [0.0, 0.0]
    """
    x = _unit_range(graph.attributes)
    return np.asarray(0.0 - _normality(graph.indptr, graph.indices, x.indptr, x.indices, x.data, int(x.shape[1])))


def _unit_range(x: Attributes) -> sp.csr_array:
    if is_sparse(x):
        low, high = x.min(axis=0).toarray().ravel(), x.max(axis=0).toarray().ravel()
        if low.min() >= 0:
            scale = sp.diags_array(1.0 / np.where(high > 0, high, 1.0))
            return sp.csr_array(x.astype(np.float64) @ scale)
        x = x.toarray()
    low = np.minimum(x.min(axis=0), 0.0)  # what has no negative entry keeps its 0
    high = x.max(axis=0)
    spread = np.where(high > low, high - low, 1.0)
    return sp.csr_array((np.asarray(x, dtype=np.float64) - low) / spread)


@compiled
def _normality(indptr: Ints, indices: Ints, rows: Ints, columns: Ints, values: Floats, width: int) -> Floats:
    nodes = indptr.size - 1
    edges_twice = max(indices.size, 1)
    inside = np.full(nodes, -1, dtype=np.int64)
    total = np.zeros(width)  # x_I + x_E
    pull = np.zeros(width)  # sum over C of k_i x_i, whose square is what chance would give
    own = np.zeros(width)
    out = np.zeros(nodes)
    for centre in range(nodes):
        total[:] = 0.0
        pull[:] = 0.0
        inside[centre] = centre
        for p in range(indptr[centre], indptr[centre + 1]):
            inside[indices[p]] = centre
        for q in range(indptr[centre + 1] - indptr[centre] + 1):
            i = centre if q == 0 else indices[indptr[centre] + q - 1]
            degree = indptr[i + 1] - indptr[i]
            for c in range(rows[i], rows[i + 1]):
                own[columns[c]] = values[c]
                pull[columns[c]] += degree * values[c]
            for p in range(indptr[i], indptr[i + 1]):
                j = indices[p]
                chance = degree * (indptr[j + 1] - indptr[j]) / edges_twice
                weight = 1.0 if inside[j] == centre else min(1.0, chance) - 1.0
                if weight != 0.0:
                    for c in range(rows[j], rows[j + 1]):
                        total[columns[c]] += weight * own[columns[c]] * values[c]
            for c in range(rows[i], rows[i + 1]):
                own[columns[c]] = 0.0
        square, largest = 0.0, -np.inf
        for c in range(width):
            entry = total[c] - pull[c] * pull[c] / edges_twice
            largest = max(largest, entry)
            if entry > 0:
                square += entry * entry
        out[centre] = np.sqrt(square) if square > 0 else largest
    return out
