"""Scores that learn nothing, each with a fixed sign: what every method has to beat."""

from __future__ import annotations

import numpy as np

from oddhop.base.arrays import Floats
from oddhop.graph.checks import is_sparse
from oddhop.graph.graph import Graph
from oddhop.hcm import cosine as untrained
from oddhop.hcm.purify import learn_attributes, purify
from oddhop.hcm.settings import HCMSettings

EDGES_AT_ONCE = 65_536


def degree(graph: Graph, *, seed: int = 0) -> Floats:  # noqa: ARG001 - every baseline takes a seed
    """Return the number of neighbours: many is odd.

    Examples
    --------
    >>> from oddhop import Graph
    >>> from benchmarks.baselines.trivial import degree
    >>> degree(Graph.from_arrays([[0, 0], [1, 2]], [[1.0], [2.0], [4.0]])).tolist()
    [2.0, 1.0, 1.0]
    """
    return graph.degrees.astype(np.float64)


def attribute_norm(graph: Graph, *, seed: int = 0) -> Floats:  # noqa: ARG001
    """Return the length of the attribute vector: long is odd.

    Examples
    --------
    >>> from oddhop import Graph
    >>> from benchmarks.baselines.trivial import attribute_norm
    >>> attribute_norm(Graph.from_arrays([[0], [1]], [[3.0, 4.0], [0.0, 1.0]])).tolist()
    [5.0, 1.0]
    """
    x = graph.attributes
    squares = x.multiply(x).sum(axis=1) if is_sparse(x) else (np.asarray(x, dtype=np.float64) ** 2).sum(axis=1)
    return np.asarray(np.sqrt(np.asarray(squares, dtype=np.float64).ravel()))


def neighbour_distance(graph: Graph, *, seed: int = 0) -> Floats:  # noqa: ARG001
    """Return the mean Euclidean distance to the neighbours' attributes: far is odd; 0 without neighbours.

    Examples
    --------
    >>> from oddhop import Graph
    >>> from benchmarks.baselines.trivial import neighbour_distance
    >>> neighbour_distance(Graph.from_arrays([[0, 1], [1, 2]], [[0.0], [1.0], [4.0]])).tolist()
    [1.0, 2.0, 3.0]
    """
    sums = np.zeros(graph.node_count)
    np.add.at(sums, graph.entry_nodes, edge_distances(graph))
    return np.asarray(sums / np.maximum(graph.degrees, 1))


def degree_and_distance(graph: Graph, *, seed: int = 0) -> Floats:
    """Return z(degree) + z(distance to the neighbours).

    Examples
    --------
    >>> from oddhop import Graph
    >>> from benchmarks.baselines.trivial import degree_and_distance
    >>> degree_and_distance(Graph.from_arrays([[0, 1], [1, 2]], [[0.0], [1.0], [4.0]])).round(2).tolist()
    [-1.93, 1.41, 0.52]
    """
    return _standard(degree(graph, seed=seed)) + _standard(neighbour_distance(graph, seed=seed))


def neighbour_cosine(graph: Graph, *, seed: int = 0) -> Floats:
    """Return the mean of 1 - cosine to the neighbours, on attributes prepared as for HCM; 0 without neighbours.

    Examples
    --------
    >>> from oddhop import Graph
    >>> from benchmarks.baselines.trivial import neighbour_cosine
    >>> neighbour_cosine(Graph.from_arrays([[0, 1], [1, 2]], [[0.0], [1.0], [4.0]])).tolist()
    [0.0, 1.0, 2.0]
    """
    return untrained.neighbour_cosine(_prepared(graph), seed)[0]


def dropped_share(graph: Graph, *, seed: int = 0) -> Floats:
    """Return the share of the edges of a node that HCM drops before it trains: its least similar fifth.

    Examples
    --------
    >>> from oddhop import Graph
    >>> from benchmarks.baselines.trivial import dropped_share
    >>> path = Graph.from_arrays([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]], [[3.0], [2.0], [3.0], [2.0], [3.0], [-9.0]])
    >>> dropped_share(path).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.5, 1.0]
    """
    left = np.diff(purify(_prepared(graph), HCMSettings().drop_ratio, seed=seed).indptr)
    return np.asarray(1.0 - left / np.maximum(graph.degrees, 1)) * (graph.degrees > 0)


def _prepared(graph: Graph) -> Graph:
    return learn_attributes(graph, HCMSettings()).apply(graph)


def edge_distances(graph: Graph) -> Floats:
    """Return the Euclidean distance between the ends of every adjacency entry, in the order of ``indices``."""
    x, squares = graph.attributes, attribute_norm(graph) ** 2
    rows = graph.entry_nodes
    out = np.empty(graph.indices.size)
    wide = max(1, int(np.diff(x.indptr).mean())) if is_sparse(x) else graph.attribute_count
    step = max(1, EDGES_AT_ONCE * 16 // wide)
    for start in range(0, out.size, step):
        left, right = rows[start : start + step], graph.indices[start : start + step]
        if is_sparse(x):
            products = np.asarray(x[left].multiply(x[right]).sum(axis=1), dtype=np.float64).ravel()
            apart = squares[left] + squares[right] - 2 * products
        else:
            apart = ((np.asarray(x[left], dtype=np.float64) - x[right]) ** 2).sum(axis=1)
        out[start : start + step] = np.sqrt(np.maximum(apart, 0.0))
    return out


def _standard(values: Floats) -> Floats:
    spread = values.std()
    return np.asarray((values - values.mean()) / (spread if spread > 0 else 1.0))
