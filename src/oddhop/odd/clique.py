"""The clique: a node with mutual ties that neither looks nor communities nor chance explain.

The leading eigenvectors of the adjacency stand for the communities, but for those that live on few nodes: these are
cliques themselves, and must not explain themselves away. What they leave of an edge is

    r(i, j) = 1 - sum over m of  lambda_m v_m(i) v_m(j),    held between 0 and 1,

times the chance that looks are not why the two are joined: friends who are alike make honest cliques.

The unexplained common neighbours of the ends of an edge, t = r(i, j) x sum over k of r(i, k) r(k, j), are compared with
what chance would give nodes with as many unexplained edges, c = r(i, j) s_i s_j (sum of s^2) / (sum of s)^2 with s the
sums of r: (t - c) / sqrt(c + 1), and at least 0. A node's knot is the sum of its twelve largest, over twelve.

Who has many neighbours has larger knots, odd or not. So the view of a single node is its knot less that of nodes with
as many neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from oddhop.base.arrays import Floats, Ints
from oddhop.base.kernels import compiled
from oddhop.graph.adjacency import first_not_below
from oddhop.graph.graph import Graph
from oddhop.odd.communities import edge_residuals, unfolded

LARGEST = 12
DEGREE_GROUPS = 4


@dataclass(frozen=True)
class Ties:
    """What communities and looks leave of the edges.

    Attributes
    ----------
    residuals : what communities alone leave of every edge, in the order of the rows.
    left : r of every edge, which is less where looks explain it.
    sums : s of every node.
    chance : the sum of s^2 over the squared sum of s.
    """

    residuals: Floats
    left: Floats
    sums: Floats
    chance: float


@dataclass(frozen=True, eq=False)
class UsualKnots:
    """What is usual among the knots of a network, to judge another one by.

    Attributes
    ----------
    places, medians : the mean logarithm of the degree and the median knot of groups by degree.
    chance, nodes : see :class:`Ties`, and how many nodes there were.
    """

    places: Floats
    medians: Floats
    chance: float
    nodes: float

    def chance_for(self, nodes: int) -> float:
        """Give the chance for so many nodes: it falls with their number."""
        return self.chance * (self.nodes / nodes)


def knots(
    graph: Graph, *, residuals: Floats | None = None, no_reason: Floats | None = None, workers: int = 1
) -> Floats:
    """Give the knot of every node; ``residuals`` is ``edge_residuals`` of the network, where it is known.

    ``no_reason`` has, for every edge, the chance that looks are not why the two are joined; it is taken for 1 where it
    is not given.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph
    >>> from oddhop.odd.clique import knots
    >>> triangle_and_path = Graph.from_arrays([[0, 1, 0, 3, 4], [1, 2, 2, 4, 5]], np.eye(6))
    >>> (knots(triangle_and_path) > 0).tolist()
    [True, True, True, False, False, False]
    """
    return knots_of(graph, unexplained(graph, residuals=residuals, no_reason=no_reason, workers=workers))


def knots_of(graph: Graph, ties: Ties) -> Floats:
    """Give the knot of every node from what is left of the edges."""
    return np.asarray(largest_ties(graph, ties).sum(axis=1) / LARGEST)


def largest_ties(graph: Graph, ties: Ties) -> Floats:
    """Give the twelve largest surprises among the edges of every node, (nodes, 12), from small to large.

    Every triangle is found once, from the end that comes first by degree: a hub costs its neighbours little.
    """
    weights = ties.left[graph.indices > graph.entry_nodes]
    common = _common_neighbours(graph.indptr, graph.indices, graph.upper, weights)
    return np.asarray(_knots(graph.indptr, graph.indices, graph.upper, weights, common, ties.sums, ties.chance))


def unexplained(
    graph: Graph,
    *,
    residuals: Floats | None = None,
    no_reason: Floats | None = None,
    chance: float | None = None,
    workers: int = 1,
) -> Ties:
    """Give what communities, and looks where ``no_reason`` is given, leave of every edge.

    ``chance`` is that of the network that a model was fitted on; left out, it is this network's own.
    """
    residuals = edge_residuals(graph, workers=workers) if residuals is None else residuals
    left = residuals if no_reason is None else residuals * unfolded(graph, no_reason)
    sums = np.add.reduceat(np.append(left, 0.0), np.minimum(graph.indptr[:-1], left.size)) * (graph.degrees > 0)
    if chance is None:
        whole = float(sums.sum())
        chance = float((sums**2).sum()) / whole**2 if whole > 0 else 0.0
    return Ties(residuals, left, sums, chance)


def surprises(graph: Graph, ties: Ties, node: int) -> Floats:
    """Give the surprise of every edge of one node, in the order of its row.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph
    >>> from oddhop.odd.clique import surprises, unexplained
    >>> triangle_and_path = Graph.from_arrays([[0, 1, 0, 3, 4], [1, 2, 2, 4, 5]], np.eye(6))
    >>> surprises(triangle_and_path, unexplained(triangle_and_path), 0).round(2).tolist()
    [0.21, 0.21]
    """
    found = _surprises(graph.indptr, graph.indices, ties.left, ties.sums, ties.chance, node)
    return np.asarray(np.maximum(found, 0.0))


def knots_with(graph: Graph, ties: Ties, node: int, own: Floats) -> Floats:
    """Give the knot of one node for every row of ``own``: other r of its edges, 0 for those that are taken away.

    What communities explain, what chance gives, and the edges of all others are held as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph
    >>> from oddhop.odd.clique import knots_with, unexplained
    >>> triangle_and_path = Graph.from_arrays([[0, 1, 0, 3, 4], [1, 2, 2, 4, 5]], np.eye(6))
    >>> as_it_is, half, one_gone = [1.0, 1.0], [0.5, 0.5], [1.0, 0.0]
    >>> own = np.array([as_it_is, half, one_gone])
    >>> knots_with(triangle_and_path, unexplained(triangle_and_path), 0, own).round(3).tolist()
    [0.036, 0.018, 0.0]
    """
    row = slice(graph.indptr[node], graph.indptr[node + 1])
    old = ties.sums[graph.indices[row]]
    sums, theirs = own.sum(axis=1), old + (own - ties.left[row])
    places = _mutual(graph.indptr, graph.indices, ties.left, node)
    found = own * (sp.csr_array(places, shape=2 * (old.size,)) @ own.T).T
    expected = own * theirs * (sums * ties.chance)[:, None]
    surprise = np.maximum((found - expected) / np.sqrt(expected + 1.0), 0.0)
    first = max(old.size - LARGEST, 0)
    return np.asarray(np.partition(surprise, first, axis=1)[:, first:].sum(axis=1) / LARGEST)


def beyond_degree(tied: Floats, degrees: Ints, usual: UsualKnots | None = None) -> Floats:
    """Give the knots less the median knot of nodes with as many neighbours; 0 for nodes without.

    The medians are those of four groups by degree, and between the groups a line in the logarithm of the degree. They
    are those of the same nodes where ``usual`` is not given.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop.odd.clique import beyond_degree
    >>> beyond_degree(np.array([1.0, 1.0, 4.0, 5.0, 5.0, 0.0]), np.array([2, 2, 2, 9, 9, 0])).tolist()
    [0.0, 0.0, 3.0, 0.0, 0.0, 0.0]
    """
    known = usual_knots(tied, degrees) if usual is None else usual
    usually = np.interp(np.log(np.maximum(degrees, 1)), known.places, known.medians)
    return np.where(degrees > 0, tied - usually, 0.0)


def usual_knots(tied: Floats, degrees: Ints, chance: float = 0.0) -> UsualKnots:
    """Give the mean logarithm of the degree and the median knot of four groups by degree."""
    judged = degrees > 0
    if not judged.any():
        return UsualKnots(np.zeros(1), np.zeros(1), chance, float(degrees.size))
    own, size = tied[judged], np.log(degrees[judged])
    bounds = np.unique(np.quantile(size, np.arange(1, DEGREE_GROUPS) / DEGREE_GROUPS, method="inverted_cdf"))
    group = np.searchsorted(bounds, size, side="left")
    members = [group == g for g in np.unique(group)]
    places, medians = ([values[one] for one in members] for values in (size, own))
    means, middles = np.array([one.mean() for one in places]), np.array([np.median(one) for one in medians])
    return UsualKnots(means, middles, chance, float(degrees.size))


@compiled
def _common_neighbours(indptr: Ints, indices: Ints, upper: Ints, weights: Floats) -> Floats:
    """Give, for every edge, the sum over the common neighbours of its ends of the product of the two other weights."""
    nodes = indptr.size - 1
    starts = np.zeros(nodes + 1, np.int64)  # arcs leave from the end with the lower degree, of equals the lower number
    for u in range(nodes):
        for e in range(upper[u], upper[u + 1]):
            v = np.int64(indices[indptr[u + 1] - (upper[u + 1] - e)])
            starts[(u if indptr[u + 1] - indptr[u] <= indptr[v + 1] - indptr[v] else v) + 1] += 1
    for u in range(nodes):
        starts[u + 1] += starts[u]
    heads, edges, cursor = np.empty(weights.size, indices.dtype), np.empty(weights.size, np.int64), starts[:-1].copy()
    for u in range(nodes):
        for e in range(upper[u], upper[u + 1]):
            v = np.int64(indices[indptr[u + 1] - (upper[u + 1] - e)])
            tail, head = (u, v) if indptr[u + 1] - indptr[u] <= indptr[v + 1] - indptr[v] else (v, u)
            heads[cursor[tail]], edges[cursor[tail]] = head, e
            cursor[tail] += 1
    common, place = np.zeros(weights.size), np.full(nodes, -1, np.int64)
    for u in range(nodes):
        for a in range(starts[u], starts[u + 1]):
            place[heads[a]] = edges[a]
        for a in range(starts[u], starts[u + 1]):
            v, uv = heads[a], edges[a]
            for b in range(starts[v], starts[v + 1]):
                uw, vw = place[heads[b]], edges[b]
                if uw >= 0:
                    common[uv] += weights[uw] * weights[vw]
                    common[uw] += weights[uv] * weights[vw]
                    common[vw] += weights[uv] * weights[uw]
        for a in range(starts[u], starts[u + 1]):
            place[heads[a]] = -1
    return common


@compiled
def _knots(
    indptr: Ints, indices: Ints, upper: Ints, weights: Floats, common: Floats, sums: Floats, chance: float
) -> Floats:
    """Give the largest surprises among the edges of every node, from small to large."""
    nodes = indptr.size - 1
    largest = np.zeros((nodes, LARGEST))
    for u in range(nodes):
        for e in range(upper[u], upper[u + 1]):
            v = np.int64(indices[indptr[u + 1] - (upper[u + 1] - e)])
            expected = weights[e] * sums[u] * sums[v] * chance
            surprise = (weights[e] * common[e] - expected) / np.sqrt(expected + 1.0)
            for end in (u, v):
                place = 0
                while place < LARGEST and surprise > largest[end, place]:
                    if place > 0:
                        largest[end, place - 1] = largest[end, place]
                    largest[end, place] = surprise
                    place += 1
    return largest


@compiled
def _surprises(indptr: Ints, indices: Ints, left: Floats, sums: Floats, chance: float, u: int) -> Floats:
    out = np.zeros(indptr[u + 1] - indptr[u])
    for e in range(indptr[u], indptr[u + 1]):
        v = indices[e]
        expected = left[e] * sums[u] * sums[v] * chance
        found = left[e] * _in_common(indptr, indices, left, u, v)
        out[e - indptr[u]] = (found - expected) / np.sqrt(expected + 1.0)
    return out


@compiled
def _mutual(indptr: Ints, indices: Ints, left: Floats, u: int) -> tuple[Floats, Ints, Ints]:
    """Give what is left of the edges among the neighbours of a node, as the parts of a sparse square."""
    row = indices[indptr[u] : indptr[u + 1]]
    most = 0
    for v in row:
        most += min(row.size, indptr[v + 1] - indptr[v])
    starts, places, values = np.zeros(row.size + 1, np.int64), np.empty(most, np.int64), np.empty(most)
    count = 0
    for a in range(row.size):
        first, theirs = indptr[row[a]], indices[indptr[row[a]] : indptr[row[a] + 1]]
        if theirs.size < row.size:  # the shorter row is looked up in the longer one
            found = np.searchsorted(row, theirs)
            for k in range(theirs.size):
                if found[k] < row.size and row[found[k]] == theirs[k]:
                    places[count], values[count] = found[k], left[first + k]
                    count += 1
        else:
            found = np.searchsorted(theirs, row)
            for b in range(row.size):
                if found[b] < theirs.size and theirs[found[b]] == row[b]:
                    places[count], values[count] = b, left[first + found[b]]
                    count += 1
        starts[a + 1] = count
    return values[:count], places[:count], starts


@compiled
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
        place = first_not_below(indices, place + step // 2, min(place + step, end), wanted)
        if place >= end:
            break
        if indices[place] == wanted:
            total += left[e] * left[place]
    return total
