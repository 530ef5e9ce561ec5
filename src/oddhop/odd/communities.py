"""What communities leave of the edges: the residual of the adjacency after its leading eigenvectors.

The eigenvectors stand for the communities, but for those that live on few nodes: these are cliques themselves, and must
not explain themselves away.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from oddhop.base.arrays import Floats
from oddhop.base.parallel import map_blocks, single_threaded
from oddhop.base.randomness import START_VECTOR, generator
from oddhop.graph.adjacency import both_ways, products
from oddhop.graph.graph import Graph

EIGENVECTORS = 64
FEWEST_NODES = 64
CLOSE_ENOUGH = 1e-6
EDGES_AT_ONCE = 16_384


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The leading eigenvalues of the adjacency, and their eigenvectors as columns."""

    values: Floats
    vectors: Floats

    @classmethod
    def empty(cls, nodes: int) -> Spectrum:
        """Return no eigenvectors."""
        return cls(np.zeros(0), np.zeros((nodes, 0)))

    def of_communities(self) -> tuple[Floats, Floats]:
        """Return those that live on many nodes."""
        many = 1.0 / np.maximum((self.vectors**4).sum(axis=0), 1e-30) > FEWEST_NODES
        return self.values[many], np.ascontiguousarray(self.vectors[:, many])


def leading(graph: Graph) -> Spectrum:
    """Search the leading eigenvectors of a network; of all that is learned from it, this takes longest."""
    nodes = graph.node_count
    count = min(EIGENVECTORS, nodes // 4)
    if nodes < FEWEST_NODES or count < 1:
        return Spectrum.empty(nodes)
    return searched(graph.adjacency(), count, START_VECTOR, which="LM", tolerance=CLOSE_ENOUGH)


def searched(matrix: sp.csr_array, count: int, key: int, *, which: str, tolerance: float) -> Spectrum:
    """Search eigenvectors of a symmetric matrix from a start vector with a key; as many as are found."""
    start = generator(0, key).random(matrix.shape[0]) + 0.5
    with single_threaded():
        try:
            return Spectrum(*eigsh(matrix, k=count, which=which, v0=start, tol=tolerance))
        except ArpackNoConvergence as short:  # those that were found explain what they can
            return Spectrum(short.eigenvalues, short.eigenvectors)


def leading_from(graph: Graph, known: Spectrum) -> Spectrum:
    """Approximate the leading eigenvectors of a network that differs in some edges from one whose are known.

    One power step and Rayleigh-Ritz: two products instead of hundreds.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph
    >>> from oddhop.odd.communities import leading, leading_from
    >>> edges = np.concatenate([np.random.default_rng(0).integers(0, 50, (2, 400)) + 50 * k for k in range(4)], axis=1)
    >>> whole, less = (Graph.from_arrays(some, np.ones((200, 1))) for some in (edges, edges[:, ::5]))
    >>> found, searched = leading_from(less, leading(whole)).values.max(), leading(less).values.max()
    >>> bool(0.9 * searched < found <= searched + 1e-9)
    True
    """
    if not known.values.size:
        return known
    adjacency = graph.adjacency()
    with single_threaded():
        basis = np.linalg.qr(adjacency @ known.vectors)[0]
        inner = basis.T @ (adjacency @ basis)
        values, turn = np.linalg.eigh((inner + inner.T) / 2)
        return Spectrum(values, basis @ turn)


def edge_residuals(graph: Graph, spectrum: Spectrum | None = None, *, workers: int = 1) -> Floats:
    """Give what communities leave of every edge, in the order of the rows; eigenvectors are searched if not given."""
    values, vectors = (leading(graph) if spectrum is None else spectrum).of_communities()
    scaled = vectors * values

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
