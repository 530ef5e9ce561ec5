"""Coordinates: attributes brought to a form in which a normal distribution describes them fairly.

Many columns that are mostly zero and never negative are taken for word counts: a column weighs the less the
more nodes have it, a row has length one, and PCA leaves 64 coordinates. Other wide tables go through PCA, each column
divided by its standard deviation. A narrow table gets normal scores, column by column: the rank of a value, read off a
normal distribution, so that one huge value is just the largest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.special import ndtri

from oddhop.base.arrays import Floats
from oddhop.base.kernels import compiled
from oddhop.errors import GraphError
from oddhop.graph.checks import Attributes, is_sparse
from oddhop.graph.graph import Graph
from oddhop.graph.preparation import Preparation, learn_preparation

COMPONENTS = 64
WIDE = 100
SPARSE_SHARE = 0.5
SMALLEST_WEIGHT = 1e-3  # of a word: those that nearly all nodes have tell nothing
KNOTS = 1_001


@dataclass(frozen=True)
class Coordinates:
    """How attributes become coordinates; of the three parts, those that the table needs.

    Attributes
    ----------
    weights : of the columns of a table of words, or None.
    preparation : the PCA of a wide table, or None.
    knots : (knots, columns), sorted values of a narrow table, or None.
    """

    weights: Floats | None = None
    preparation: Preparation | None = None
    knots: Floats | None = None

    @property
    def units(self) -> Floats | None:
        """What a column is measured in before PCA: a word by its weight, a measure by its spread; None without PCA."""
        if self.weights is not None:
            return np.asarray(1.0 / np.maximum(self.weights, SMALLEST_WEIGHT))
        return None if self.preparation is None else self.preparation.unit

    @property
    def width(self) -> int:
        """How many coordinates there are."""
        if self.preparation is not None:
            return self.preparation.width
        return 0 if self.knots is None else int(self.knots.shape[1])

    def apply(self, graph: Graph) -> Floats:
        """Give the coordinates of every node, one row a node."""
        if self.preparation is not None:
            seen = graph if self.weights is None else _weighted(graph, self.weights)
            return np.asarray(self.preparation.apply(seen).attributes)
        assert self.knots is not None  # noqa: S101 - one of the two is there by construction
        if graph.attribute_count != self.knots.shape[1]:
            raise GraphError(
                f"the model was fitted on {self.knots.shape[1]} attributes, got {graph.attribute_count}",
                "give the same columns in the same order",
            )
        dense = graph.attributes.toarray() if is_sparse(graph.attributes) else graph.attributes
        return np.stack([_normal_scores(dense[:, k], self.knots[:, k]) for k in range(dense.shape[1])], axis=1)


def learn_coordinates(graph: Graph) -> Coordinates:
    """Learn the coordinates that suit the attributes of a network.

    Examples
    --------
    >>> from oddhop import Graph
    >>> from oddhop.odd.coordinates import learn_coordinates
    >>> graph = Graph.from_arrays([[0, 1], [1, 2]], [[1.0], [2.0], [1e20]])
    >>> learn_coordinates(graph).apply(graph).ravel().round(2).tolist()
    [-0.97, 0.0, 0.97]
    """
    if graph.attribute_count <= WIDE:
        dense = graph.attributes.toarray() if is_sparse(graph.attributes) else graph.attributes
        shares = (np.arange(min(KNOTS, graph.node_count)) + 0.5) / min(KNOTS, graph.node_count)
        knots = np.quantile(dense, shares, axis=0, method="inverted_cdf")
        return Coordinates(knots=np.asarray(knots, dtype=np.float64))
    if _like_words(graph):
        weights = _word_weights(graph)
        seen = _weighted(graph, weights)
        return Coordinates(weights, learn_preparation(seen, scale="none", pca_components=COMPONENTS, pca_above=WIDE))
    standard = learn_preparation(graph, scale="standard", pca_components=None, pca_above=WIDE)
    unit = standard.unit * standard.spread
    return Coordinates(
        None, learn_preparation(graph, scale="standard", pca_components=COMPONENTS, pca_above=WIDE, unit=unit)
    )


def logarithms(counts: Attributes) -> sp.csr_array:
    """Give the logarithm of one more than every count."""
    rows = sp.csr_array(counts, dtype=np.float64, copy=True)
    rows.data = np.sign(rows.data) * np.log1p(np.abs(rows.data))
    return rows


def _like_words(graph: Graph) -> bool:
    x = graph.attributes
    values = x.data if is_sparse(x) else x
    filled = np.count_nonzero(values) / (graph.node_count * graph.attribute_count)
    return bool(filled < SPARSE_SHARE and values.size > 0 and values.min() >= 0)


def _word_weights(graph: Graph) -> Floats:
    x = graph.attributes
    counts = np.bincount(x.indices, minlength=x.shape[1]) if is_sparse(x) else np.count_nonzero(x, axis=0)
    weights: Floats = np.log(graph.node_count / np.maximum(counts, 1))
    return weights


def _weighted(graph: Graph, weights: Floats) -> Graph:
    if graph.attribute_count != weights.size:
        raise GraphError(
            f"the model was fitted on {weights.size} attributes, got {graph.attribute_count}",
            "give the same columns in the same order",
        )
    rows = logarithms(graph.attributes)
    rows.data *= weights[rows.indices]
    _to_length_one(rows.indptr, rows.data)
    return graph.with_attributes(rows)


@compiled
def _to_length_one(indptr: Floats, data: Floats) -> None:
    for i in range(indptr.size - 1):
        row = data[indptr[i] : indptr[i + 1]]
        length = np.sqrt((row * row).sum())
        if length > 0:
            row /= length


def _normal_scores(values: Floats, knots: Floats) -> Floats:
    # The middle of the ranks that a value shares with its equals: ties stay ties, a constant column is 0.
    below, up_to = (np.searchsorted(knots, values, side=side) for side in ("left", "right"))
    half = 0.5 / knots.size
    scores: Floats = ndtri(np.clip((below + up_to) / (2 * knots.size), half, 1 - half))
    return scores
