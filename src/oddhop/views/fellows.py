"""Fellows: the others that a neighbour is tied to.

Who belongs where he is tied looks like his neighbours, and like those that they are tied to as well. With r_k the
correlation of coordinate k over any two neighbours of one node, g(i, j) is the mean of the log-likelihood ratio f of i
and every other neighbour of j, made with r instead of rho. It is bilinear, so sums over the neighbours of j are enough,
and no pair two steps apart is ever listed. Where j has no other neighbour g is what it is on average.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from oddhop.arrays import Floats, Ints
from oddhop.engine.local import single_threaded
from oddhop.graph import Graph
from oddhop.views.ratio import Ratio


@dataclass(frozen=True, eq=False)
class Fellows:
    """What is needed to compare nodes with their fellows.

    Attributes
    ----------
    ratio : of two neighbours of one node.
    usual : the mean of g.
    others : how many others every node is tied to, seen from a neighbour: the degree less one.
    faces : the coordinates.
    sums : of the faces of every node's neighbours.
    own, own_sums : what every node adds to f by itself, and the sum of that over its neighbours.
    squares : the product that every node has with itself, which its neighbours' sums contain.
    """

    ratio: Ratio
    usual: float
    others: Ints
    faces: Floats
    sums: Floats
    own: Floats
    own_sums: Floats
    squares: Floats

    @classmethod
    def of(cls, graph: Graph, faces: Floats, correlation: Floats, usual: float) -> Fellows:
        """Sum up the neighbours of every node."""
        ratio = Ratio.of(correlation)
        with single_threaded():
            own, squares = ratio.own(faces), faces**2 @ ratio.across
            sums, own_sums = _sums(graph, faces), _sums(graph, own)
        return cls(ratio, usual, graph.degrees - 1, faces, sums, own, own_sums, squares)

    def __call__(self, nodes: Ints, through: Ints) -> Floats:
        """Give g of nodes and a neighbour of each."""
        others = self.others[through]
        product = (self.faces[nodes] * self.sums[through]) @ self.ratio.across - self.squares[nodes]
        rest = self.own_sums[through] - self.own[nodes] - product
        return self._told(self.own[nodes] + rest / np.maximum(others, 1), others)

    def with_faces(self, node: int, through: Ints, faces: Floats) -> Floats:
        """Give g of one node, had it other faces, (changes, ...), and its neighbours; (changes, neighbours)."""
        others = self.others[through]
        count = np.maximum(others, 1)
        there = (self.sums[through] - self.faces[node]) / count[:, None]
        rest = (self.own_sums[through] - self.own[node]) / count - (faces * self.ratio.across) @ there.T
        return self._told(self.ratio.own(faces)[:, None] + rest, others)

    def _told(self, beyond_constant: Floats, others: Ints) -> Floats:
        return np.where(others > 0, self.ratio.constant + beyond_constant, self.usual)


def learn_fellowship(graph: Graph, faces: Floats, noise: float, strongest: float) -> tuple[Floats, float]:
    """Learn the correlations of two neighbours of one node, the noise taken off their squares, and the mean of g.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph
    >>> from oddhop.views.fellows import learn_fellowship
    >>> hubs = np.repeat(np.arange(200), 3)  # each with three neighbours that are alike
    >>> looks = np.random.default_rng(0).normal(size=200)
    >>> graph = Graph.from_arrays([hubs, 200 + np.arange(600)], np.zeros((800, 1)))
    >>> faces = np.concatenate([np.zeros(200), looks[hubs] / looks.std()])[:, None]
    >>> learn_fellowship(graph, faces, 0.0, 0.9)[0].round(2).tolist()
    [0.9]
    """
    degrees = graph.degrees
    weight = np.where(degrees > 1, 1.0 / np.maximum(degrees - 1, 1), 0.0)
    pairs = float(degrees[degrees > 1].sum())
    if pairs == 0:
        return np.zeros(faces.shape[1]), 0.0
    with single_threaded():
        # Of all pairs of neighbours, the square of the sum less every neighbour's own square.
        found = (weight @ _sums(graph, faces) ** 2 - _sums(graph, weight) @ faces**2) / pairs
        size = np.sqrt(np.maximum(np.minimum(found**2, 1.0) - noise, 0.0))
        correlation = np.clip(np.sign(found) * size, -strongest, strongest)
        ratio = Ratio.of(correlation)
        own = float(_sums(graph, ratio.own(faces))[degrees > 1].sum()) / pairs
    return correlation, float(ratio.constant + 2 * own - ratio.across @ found)


def _sums(graph: Graph, values: Floats) -> Floats:
    """Give the sums of values over the neighbours of every node."""
    ones = np.ones(graph.indices.size)
    adjacency = sp.csr_array((ones, graph.indices, graph.indptr), shape=2 * (graph.node_count,))
    return np.asarray(adjacency @ values)
