"""What communities leave of the edges: the residual of the adjacency after its leading eigenvectors.

The eigenvectors stand for the communities, but for those that live on few nodes: these are rings themselves, and must
not explain themselves away.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from oddhop.base.arrays import Floats, Ints
from oddhop.base.kernels import compiled
from oddhop.base.parallel import map_blocks, single_threaded
from oddhop.base.randomness import START_VECTOR, generator
from oddhop.graph.adjacency import both_ways
from oddhop.graph.graph import Graph

EIGENVECTORS = 64
FEWEST_NODES = 64
CLOSE_ENOUGH = 1e-6
NODES_AT_ONCE = 512


def communities(graph: Graph) -> tuple[Floats, Floats]:
    """Give the leading eigenvalues and eigenvectors of the adjacency that live on many nodes."""
    nodes = graph.node_count
    count = min(EIGENVECTORS, nodes // 4)
    if nodes < FEWEST_NODES or count < 1:
        return np.zeros(0), np.zeros((nodes, 0))
    ones = np.ones(graph.indices.size)
    adjacency = sp.csr_array((ones, graph.indices, graph.indptr), shape=(nodes, nodes))
    start = generator(0, START_VECTOR).random(nodes) + 0.5
    with single_threaded():
        try:
            values, vectors = eigsh(adjacency, k=count, v0=start, tol=CLOSE_ENOUGH)
        except ArpackNoConvergence as short:  # those that were found explain what they can
            values, vectors = short.eigenvalues, short.eigenvectors
    many = 1.0 / np.maximum((vectors**4).sum(axis=0), 1e-30) > FEWEST_NODES
    return values[many], np.ascontiguousarray(vectors[:, many])


def edge_residuals(graph: Graph, *, workers: int = 1) -> Floats:
    """Give what communities leave of every edge, in the order of the rows; it takes the eigenvectors."""
    values, vectors = communities(graph)

    def leftover(start: int) -> Floats:
        stop = min(start + NODES_AT_ONCE, graph.node_count)
        return np.asarray(_unexplained(graph.indptr, graph.indices, values, vectors, start, stop))

    return np.concatenate(list(map_blocks(leftover, range(0, graph.node_count, NODES_AT_ONCE), workers=workers)))


def folded(graph: Graph, residuals: Floats) -> Floats:
    """Give what communities leave, once for every edge and in single precision: a quarter to keep.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph
    >>> from oddhop.odd.communities import folded, edge_residuals, unfolded
    >>> rng = np.random.default_rng(0)
    >>> graph = Graph.from_arrays(rng.integers(0, 80, (2, 250)), np.ones((80, 1)))
    >>> residuals = edge_residuals(graph)
    >>> kept = folded(graph, residuals)
    >>> residuals.size == 2 * kept.size, bool(np.allclose(unfolded(graph, kept), residuals, atol=1e-7))
    (True, True)
    """
    return np.asarray(residuals[graph.entry_nodes < graph.indices], dtype=np.float32)


def unfolded(graph: Graph, kept: Floats) -> Floats:
    """Give what ``folded`` kept, in the order of the rows."""
    residuals = np.empty(graph.indices.size)
    both_ways(graph.indptr, graph.indices, graph.upper, kept, residuals)
    return residuals


@compiled
def _unexplained(indptr: Ints, indices: Ints, values: Floats, vectors: Floats, start: int, stop: int) -> Floats:
    out = np.empty(indptr[stop] - indptr[start])
    for u in range(start, stop):
        for e in range(indptr[u], indptr[u + 1]):
            explained = 0.0
            for m in range(values.size):
                explained += values[m] * vectors[u, m] * vectors[indices[e], m]
            out[e - indptr[start]] = min(max(1.0 - explained, 0.0), 1.0)
    return out
