"""The ring: a node with mutual ties that neither communities nor chance explain.

The leading eigenvectors of the adjacency stand for the communities, but for those that live on few nodes: these are
rings themselves, and must not explain themselves away. What they leave of an edge is

    r(i, j) = 1 - sum over m of  lambda_m v_m(i) v_m(j),    held between 0 and 1.

The unexplained common neighbours of the ends of an edge, t = r(i, j) x sum over k of r(i, k) r(k, j), are compared with
what chance would give nodes with as many unexplained edges, c = r(i, j) s_i s_j (sum of s^2) / (sum of s)^2 with s the
sums of r: (t - c) / sqrt(c + 1), and at least 0. A node's knot is the sum of its twelve largest, over twelve.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numba import njit
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from oddhop.adjacency import both_ways
from oddhop.arrays import Bools, Floats, Ints
from oddhop.engine.local import map_blocks, single_threaded
from oddhop.graph import Graph
from oddhop.randomness import generator

EIGENVECTORS = 64
FEWEST_NODES = 64
LARGEST = 12
CLOSE_ENOUGH = 1e-6
NODES_AT_ONCE = 512
START = 0x51E6  # the key of the vector that the search for eigenvectors starts from


@dataclass(frozen=True)
class Ties:
    """What communities leave of the edges.

    Attributes
    ----------
    left : r of every edge, in the order of the rows.
    sums : s of every node.
    chance : the sum of s^2 over the squared sum of s.
    """

    left: Floats
    sums: Floats
    chance: float


def knots(graph: Graph, apart: Floats | None = None, *, workers: int = 1) -> Floats:
    """Give the knot of every node; ``apart`` is ``left_apart`` of the network, where it is known.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph
    >>> from oddhop.views.ring import knots
    >>> triangle_and_path = Graph.from_arrays([[0, 1, 0, 3, 4], [1, 2, 2, 4, 5]], np.eye(6))
    >>> (knots(triangle_and_path) > 0).tolist()
    [True, True, True, False, False, False]
    """
    ties = unexplained(graph, apart, workers=workers)

    def tie(start: int) -> Floats:
        stop = min(start + NODES_AT_ONCE, graph.node_count)
        return np.asarray(_knots(graph.indptr, graph.indices, ties.left, ties.sums, ties.chance, start, stop))

    return np.concatenate(list(map_blocks(tie, range(0, graph.node_count, NODES_AT_ONCE), workers=workers)))


def unexplained(graph: Graph, apart: Floats | None = None, *, workers: int = 1) -> Ties:
    """Give what communities leave of every edge; ``apart`` is ``left_apart``, where it is known."""
    left = left_apart(graph, workers=workers) if apart is None else apart
    sums = np.add.reduceat(np.append(left, 0.0), np.minimum(graph.indptr[:-1], left.size)) * (graph.degrees > 0)
    whole = float(sums.sum())
    return Ties(left, sums, float((sums**2).sum()) / whole**2 if whole > 0 else 0.0)


def left_apart(graph: Graph, *, workers: int = 1) -> Floats:
    """Give what communities leave of every edge, in the order of the rows; it takes the eigenvectors."""
    values, vectors = communities(graph)

    def leftover(start: int) -> Floats:
        stop = min(start + NODES_AT_ONCE, graph.node_count)
        return np.asarray(_unexplained(graph.indptr, graph.indices, values, vectors, start, stop))

    return np.concatenate(list(map_blocks(leftover, range(0, graph.node_count, NODES_AT_ONCE), workers=workers)))


def folded(graph: Graph, apart: Floats) -> Floats:
    """Give what communities leave, once for every edge and in single precision: a quarter to keep.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph
    >>> from oddhop.views.ring import folded, left_apart, unfolded
    >>> rng = np.random.default_rng(0)
    >>> graph = Graph.from_arrays(rng.integers(0, 80, (2, 250)), np.ones((80, 1)))
    >>> apart = left_apart(graph)
    >>> kept = folded(graph, apart)
    >>> apart.size == 2 * kept.size, bool(np.allclose(unfolded(graph, kept), apart, atol=1e-7))
    (True, True)
    """
    rows = np.repeat(np.arange(graph.node_count), graph.degrees)
    return np.asarray(apart[rows < graph.indices], dtype=np.float32)


def unfolded(graph: Graph, kept: Floats) -> Floats:
    """Give what ``folded`` kept, in the order of the rows."""
    apart = np.empty(graph.indices.size)
    both_ways(graph.indptr, graph.indices, graph.upper, kept, apart)
    return apart


def surprises(graph: Graph, ties: Ties, node: int) -> Floats:
    """Give the surprise of every edge of one node, in the order of its row.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph
    >>> from oddhop.views.ring import surprises, unexplained
    >>> triangle_and_path = Graph.from_arrays([[0, 1, 0, 3, 4], [1, 2, 2, 4, 5]], np.eye(6))
    >>> surprises(triangle_and_path, unexplained(triangle_and_path), 0).round(2).tolist()
    [0.21, 0.21]
    """
    found = _surprises(graph.indptr, graph.indices, ties.left, ties.sums, ties.chance, node)
    return np.maximum(found, 0.0)


def knots_without(graph: Graph, ties: Ties, node: int, kept: Bools) -> Floats:
    """Give the knot of one node for every row of ``kept``, which tells the edges of the node that are left.

    All other edges, and what communities explain, are held as they are. It takes degree x degree numbers.
    """
    row = slice(graph.indptr[node], graph.indptr[node + 1])
    own = ties.left[row] * kept
    found = own * (own @ _mutual(graph.indptr, graph.indices, ties.left, node))
    expected = own * own.sum(axis=1, keepdims=True) * ties.sums[graph.indices[row]] * ties.chance
    surprise = np.maximum((found - expected) / np.sqrt(expected + 1.0), 0.0)
    return np.asarray(np.sort(surprise, axis=1)[:, -LARGEST:].sum(axis=1) / LARGEST)


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
def _surprises(indptr: Ints, indices: Ints, left: Floats, sums: Floats, chance: float, u: int) -> Floats:
    out = np.zeros(indptr[u + 1] - indptr[u])
    for e in range(indptr[u], indptr[u + 1]):
        v = indices[e]
        expected = left[e] * sums[u] * sums[v] * chance
        found = left[e] * _in_common(indptr, indices, left, u, v)
        out[e - indptr[u]] = (found - expected) / np.sqrt(expected + 1.0)
    return out


@njit(cache=True, nogil=True)
def _mutual(indptr: Ints, indices: Ints, left: Floats, u: int) -> Floats:
    """Give what is left of the edges among the neighbours of a node, as a square."""
    row = indices[indptr[u] : indptr[u + 1]]
    out = np.zeros((row.size, row.size))
    for a in range(row.size):
        v = row[a]
        theirs = indices[indptr[v] : indptr[v + 1]]
        places = np.searchsorted(theirs, row)
        for b in range(row.size):
            if places[b] < theirs.size and theirs[places[b]] == row[b]:
                out[a, b] = left[indptr[v] + places[b]]
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
