"""What communities leave of the edges: the residual of the adjacency after its leading eigenvectors.

The eigenvectors stand for the communities, but for those that live on few nodes: these are cliques themselves, and must
not explain themselves away.
"""

from __future__ import annotations

import numpy as np

from oddhop.base.arrays import Floats
from oddhop.base.parallel import map_blocks
from oddhop.base.randomness import START_VECTOR
from oddhop.graph.adjacency import both_ways, products
from oddhop.graph.graph import Graph
from oddhop.odd.krylov import Spectrum, leading_eigenpairs, refined_eigenpairs
from oddhop.odd.row_blocks import Matrix

EIGENVECTORS = 64
FEWEST_NODES = 64
EDGES_AT_ONCE = 16_384


def leading(graph: Graph, *, workers: int = 1) -> Spectrum:
    """Search the leading eigenvectors of a network, those of the largest eigenvalues by magnitude.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph
    >>> from oddhop.odd.communities import leading
    >>> edges = np.concatenate([np.random.default_rng(0).integers(0, 50, (2, 400)) + 50 * k for k in range(4)], axis=1)
    >>> found = leading(Graph.from_arrays(edges, np.ones((200, 1))))
    >>> found.vectors.shape, bool(found.residuals.max() < 1e-9)
    ((200, 50), True)
    """
    nodes = graph.node_count
    count = min(EIGENVECTORS, nodes // 4)
    if nodes < FEWEST_NODES or count < 1:
        return Spectrum.empty(nodes)
    return leading_eigenpairs(Matrix.of(graph.indptr, graph.indices, workers=workers), count, START_VECTOR)


def leading_from(graph: Graph, known: Spectrum, *, workers: int = 1) -> Spectrum:
    """Approximate the leading eigenvectors of a network that differs in some edges from one whose are known.

    One power step and Rayleigh-Ritz: two products with 64 vectors instead of 21 with 16 and a basis of 208.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph
    >>> from oddhop.odd.communities import leading, leading_from
    >>> edges = np.concatenate([np.random.default_rng(0).integers(0, 50, (2, 400)) + 50 * k for k in range(4)], axis=1)
    >>> whole, less = (Graph.from_arrays(some, np.ones((200, 1))) for some in (edges, edges[:, ::5]))
    >>> found, searched = leading_from(less, leading(whole)).values.max(), leading(less).values.max()
    >>> bool(0.9 * searched < found <= searched + 1e-6)
    True
    """
    if not known.values.size:
        return known
    return refined_eigenpairs(Matrix.of(graph.indptr, graph.indices, workers=workers), known.vectors)


def of_communities(spectrum: Spectrum) -> tuple[Floats, Floats]:
    """Return the eigenvalues and eigenvectors that live on many nodes.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop.odd.communities import of_communities
    >>> from oddhop.odd.krylov import Spectrum
    >>> vectors = np.stack([np.full(100, 0.1), np.eye(100)[0]], axis=1)
    >>> of_communities(Spectrum(np.array([9.0, 8.0]), vectors, np.zeros(2)))[0].tolist()
    [9.0]
    """
    vectors, concentrated = spectrum.vectors, np.zeros(spectrum.values.size)
    for start in range(0, len(vectors), EDGES_AT_ONCE):
        concentrated += (vectors[start : start + EDGES_AT_ONCE].astype(np.float64) ** 4).sum(axis=0)
    many = 1.0 / np.maximum(concentrated, 1e-30) > FEWEST_NODES
    return spectrum.values[many], np.ascontiguousarray(vectors[:, many])


def edge_residuals(graph: Graph, spectrum: Spectrum | None = None, *, workers: int = 1) -> Floats:
    """Give what communities leave of every edge, in the order of the rows; eigenvectors are searched if not given."""
    values, vectors = of_communities(leading(graph, workers=workers) if spectrum is None else spectrum)
    scaled = vectors * values.astype(vectors.dtype)

    def leftover(start: int) -> Floats:
        explained = products(*graph.ends(start, start + EDGES_AT_ONCE), scaled, vectors)
        return np.asarray(np.clip(1.0 - explained, 0.0, 1.0))

    found = list(map_blocks(leftover, range(0, graph.edge_count, EDGES_AT_ONCE), workers=workers))
    return unfolded(graph, np.concatenate([np.zeros(0), *found]))


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
