"""The ring: a node with mutual ties that neither looks nor communities nor chance explain.

The leading eigenvectors of the adjacency stand for the communities, but for those that live on few nodes: these are
rings themselves, and must not explain themselves away. What they leave of an edge is

    r(i, j) = 1 - sum over m of  lambda_m v_m(i) v_m(j),    held between 0 and 1,

times the chance that looks are not why the two are joined: friends who are alike make honest rings.

The unexplained common neighbours of the ends of an edge, t = r(i, j) x sum over k of r(i, k) r(k, j), are compared with
what chance would give nodes with as many unexplained edges, c = r(i, j) s_i s_j (sum of s^2) / (sum of s)^2 with s the
sums of r: (t - c) / sqrt(c + 1), and at least 0. A node's knot is the sum of its twelve largest, over twelve.

Who has many neighbours has larger knots, odd or not. So the view of a single node is its knot less that of nodes with
as many neighbours.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numba import njit
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from oddhop.arrays import Floats, Ints
from oddhop.engine.local import map_blocks, single_threaded
from oddhop.graph import Graph
from oddhop.randomness import generator

EIGENVECTORS = 64
FEWEST_NODES = 64
LARGEST = 12
CLOSE_ENOUGH = 1e-6
NODES_AT_ONCE = 512
DEGREE_GROUPS = 4
START = 0x51E6  # the key of the vector that the search for eigenvectors starts from


def knots(graph: Graph, no_reason: Floats | None = None, *, workers: int = 1) -> Floats:
    """Give the knot of every node.

    ``no_reason`` has, for every entry of ``graph.indices``, the chance that looks are not why the two are joined; it is
    taken for 1 where it is not given.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph
    >>> from oddhop.views.ring import knots
    >>> triangle_and_path = Graph.from_arrays([[0, 1, 0, 3, 4], [1, 2, 2, 4, 5]], np.eye(6))
    >>> (knots(triangle_and_path) > 0).tolist()
    [True, True, True, False, False, False]
    """
    values, vectors = communities(graph)
    blocks = range(0, graph.node_count, NODES_AT_ONCE)

    def leftover(start: int) -> Floats:
        stop = min(start + NODES_AT_ONCE, graph.node_count)
        return np.asarray(_unexplained(graph.indptr, graph.indices, values, vectors, start, stop))

    left = np.concatenate(list(map_blocks(leftover, blocks, workers=workers)))
    if no_reason is not None:
        left *= no_reason
    sums = np.add.reduceat(np.append(left, 0.0), np.minimum(graph.indptr[:-1], left.size)) * (graph.degrees > 0)
    whole = float(sums.sum())
    chance = float((sums**2).sum()) / whole**2 if whole > 0 else 0.0

    def tie(start: int) -> Floats:
        stop = min(start + NODES_AT_ONCE, graph.node_count)
        return np.asarray(_knots(graph.indptr, graph.indices, left, sums, chance, start, stop))

    return np.concatenate(list(map_blocks(tie, blocks, workers=workers)))


def beyond_degree(tied: Floats, degrees: Ints) -> Floats:
    """Give the knots less the median knot of nodes with as many neighbours; 0 for nodes without.

    The medians are those of four groups by degree, and between the groups a line in the logarithm of the degree.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop.views.ring import beyond_degree
    >>> beyond_degree(np.array([1.0, 1.0, 4.0, 5.0, 5.0, 0.0]), np.array([2, 2, 2, 9, 9, 0])).tolist()
    [0.0, 0.0, 3.0, 0.0, 0.0, 0.0]
    """
    judged = degrees > 0
    beyond = np.zeros(tied.size)
    if not judged.any():
        return beyond
    own, size = tied[judged], np.log(degrees[judged])
    bounds = np.unique(np.quantile(size, np.arange(1, DEGREE_GROUPS) / DEGREE_GROUPS, method="inverted_cdf"))
    group = np.searchsorted(bounds, size, side="left")
    found = np.unique(group)
    places = [float(size[group == g].mean()) for g in found]
    medians = [float(np.median(own[group == g])) for g in found]
    beyond[judged] = own - np.interp(size, places, medians)
    return beyond


def communities(graph: Graph) -> tuple[Floats, Floats]:
    """Give the leading eigenvalues and eigenvectors of the adjacency that live on many nodes."""
    nodes = graph.node_count
    count = min(EIGENVECTORS, nodes // 4)
    if nodes < FEWEST_NODES or count < 1:
        return np.zeros(0), np.zeros((nodes, 0))
    ones = np.ones(graph.indices.size)
    adjacency = sp.csr_array((ones, graph.indices, graph.indptr), shape=(nodes, nodes))
    start = generator(0, START).random(nodes) + 0.5
    with single_threaded():
        try:
            values, vectors = eigsh(adjacency, k=count, v0=start, tol=CLOSE_ENOUGH)
        except ArpackNoConvergence as short:  # those that were found explain what they can
            values, vectors = short.eigenvalues, short.eigenvectors
    many = 1.0 / np.maximum((vectors**4).sum(axis=0), 1e-30) > FEWEST_NODES
    return values[many], np.ascontiguousarray(vectors[:, many])


@njit(cache=True, nogil=True)
def _unexplained(indptr: Ints, indices: Ints, values: Floats, vectors: Floats, start: int, stop: int) -> Floats:
    out = np.empty(indptr[stop] - indptr[start])
    for u in range(start, stop):
        for e in range(indptr[u], indptr[u + 1]):
            explained = 0.0
            for m in range(values.size):
                explained += values[m] * vectors[u, m] * vectors[indices[e], m]
            out[e - indptr[start]] = min(max(1.0 - explained, 0.0), 1.0)
    return out


@njit(cache=True, nogil=True)
def _knots(indptr: Ints, indices: Ints, left: Floats, sums: Floats, chance: float, start: int, stop: int) -> Floats:
    out = np.zeros(stop - start)
    largest = np.zeros(LARGEST)
    for u in range(start, stop):
        largest[:] = 0.0
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e]
            found = left[e] * _in_common(indptr, indices, left, u, v)
            expected = left[e] * sums[u] * sums[v] * chance
            surprise = (found - expected) / np.sqrt(expected + 1.0)
            place = 0  # largest is sorted from small to large: what is pushed out is its first
            while place < LARGEST and surprise > largest[place]:
                if place > 0:
                    largest[place - 1] = largest[place]
                largest[place] = surprise
                place += 1
        out[u - start] = largest.sum() / LARGEST
    return out


@njit(cache=True, nogil=True)
def _in_common(indptr: Ints, indices: Ints, left: Floats, u: int, v: int) -> float:
    # Walk the shorter row and look its nodes up in the longer one: a hub costs its neighbours little.
    if indptr[u + 1] - indptr[u] > indptr[v + 1] - indptr[v]:
        u, v = v, u
    total = 0.0
    place = indptr[v]
    end = indptr[v + 1]
    for e in range(indptr[u], indptr[u + 1]):
        wanted = indices[e]
        step = 1
        while place + step < end and indices[place + step] < wanted:
            step *= 2
        low = place + step // 2
        high = min(place + step, end)
        while low < high:
            middle = (low + high) // 2
            if indices[middle] < wanted:
                low = middle + 1
            else:
                high = middle
        place = low
        if place >= end:
            break
        if indices[place] == wanted:
            total += left[e] * left[place]
    return total
