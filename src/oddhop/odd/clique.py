"""The clique: a node with mutual ties that neither looks nor communities nor chance explain.

The leading eigenvectors of the adjacency stand for the communities, but for those that live on few nodes: these are
cliques themselves, and must not explain themselves away. What they leave of an edge is

    r(i, j) = 1 - sum over m of  lambda_m v_m(i) v_m(j),    held between 0 and 1,

times the chance that looks are not why the two are joined: friends who are alike make honest cliques.

The unexplained common neighbours of the ends of an edge, t = r(i, j) x sum over k of r(i, k) r(k, j), are compared with
what chance would give nodes with as many unexplained edges, c = r(i, j) s_i s_j (sum of s^2) / (sum of s)^2 with s the
sums of r: (t - c) / sqrt(c + 1), and at least 0. The raw clique score of a node is the sum of its twelve largest, over
twelve.

The raw clique score grows with the number of neighbours. So the view of a single node is its raw clique score less that
of nodes with as many neighbours. And no p-value is smaller than the probability that chance gives a node as many
triangles, see :mod:`oddhop.odd.triangles`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from oddhop.arrays.handles import Handle
from oddhop.base.arrays import Floats, Ints
from oddhop.base.kernels import compiled
from oddhop.graph.adjacency import first_not_below
from oddhop.graph.graph import Graph
from oddhop.odd.triangles import LARGEST, Unexplained, chance_log_p, triangle_rate
from oddhop.odd.view import View

CLIQUE = View("clique", weight=lambda apart: apart / 2)
DEGREE_GROUPS = 4
RESOLUTION = 2 * 0.5**3 / LARGEST  # the raw clique score of one triangle, where looks say nothing of its edges


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

    @cached_property
    def rate(self) -> float:
        """How many triangles chance gives a node on average."""
        return triangle_rate(self.sums, self.chance)


@dataclass(frozen=True, eq=False)
class UsualScores:
    """What is usual among the raw clique scores of a network, to judge another one by.

    Attributes
    ----------
    places, medians : the mean logarithm of the degree and the median raw clique score of groups by degree.
    chance, nodes : see :class:`Ties`, and how many nodes there were.
    """

    places: Floats
    medians: Floats
    chance: float
    nodes: float

    def chance_for(self, nodes: int) -> float:
        """Return the chance for so many nodes: it falls with their number."""
        return self.chance * (self.nodes / nodes)


def ties_of(residuals: Handle, found: Unexplained) -> Ties:
    """Return what is left of the edges of a network in memory, to look at single nodes."""
    return Ties(residuals.read(), found.left.read(), found.sums.all(), found.chance)


def surprises(graph: Graph, ties: Ties, node: int) -> Floats:
    """Return the surprise of every edge of one node, in the order of its row."""
    row = slice(graph.indptr[node], graph.indptr[node + 1])
    left, theirs = ties.left[row], ties.sums[graph.indices[row]]
    places = _mutual(graph.indptr, graph.indices, ties.left, node)
    found = left * (sp.csr_array(places, shape=2 * (left.size,)) @ left)
    expected = left * ties.sums[node] * theirs * ties.chance
    return np.asarray(np.maximum((found - expected) / np.sqrt(expected + 1.0), 0.0))


def clique_scores_with(graph: Graph, ties: Ties, node: int, own: Floats) -> tuple[Floats, Floats]:
    """Return the raw clique score of one node for every row of ``own``: other r of its edges, 0 for those taken away.

    The second array has the logarithm of the probability that chance gives as many triangles. What communities
    explain, the rate of chance, and the edges of all others are held as they are.
    """
    row = slice(graph.indptr[node], graph.indptr[node + 1])
    old = ties.sums[graph.indices[row]]
    sums, theirs = own.sum(axis=1), old + (own - ties.left[row])
    places = _mutual(graph.indptr, graph.indices, ties.left, node)
    mutual = sp.csr_array(places, shape=2 * (old.size,))
    found, squares = own * (mutual @ own.T).T, own**2 * (mutual.power(2) @ (own**2).T).T
    expected = own * theirs * (sums * ties.chance)[:, None]
    surprise = np.maximum((found - expected) / np.sqrt(expected + 1.0), 0.0)
    first = max(old.size - LARGEST, 0)
    raw = np.partition(surprise, first, axis=1)[:, first:].sum(axis=1) / LARGEST
    return raw, chance_log_p(found.sum(axis=1), expected.sum(axis=1), squares.sum(axis=1), ties.rate)


def beyond_degree(tied: Floats, degrees: Ints, usual: UsualScores | None = None) -> Floats:
    """Return the raw clique scores less the median of nodes with as many neighbours; 0 for nodes without.

    The medians are those of four groups by degree, and between the groups a line in the logarithm of the degree. They
    are those of the same nodes where ``usual`` is not given.
    """
    known = usual_scores(tied, degrees) if usual is None else usual
    usually = np.interp(np.log(np.maximum(degrees, 1)), known.places, known.medians)
    return np.where(degrees > 0, tied - usually, 0.0)


def usual_scores(tied: Floats, degrees: Ints, chance: float = 0.0) -> UsualScores:
    """Return the mean logarithm of the degree and the median raw clique score of four groups by degree."""
    judged = degrees > 0
    if not judged.any():
        return UsualScores(np.zeros(1), np.zeros(1), chance, float(degrees.size))
    own, size = tied[judged], np.log(degrees[judged])
    bounds = np.unique(np.quantile(size, np.arange(1, DEGREE_GROUPS) / DEGREE_GROUPS, method="inverted_cdf"))
    group = np.searchsorted(bounds, size, side="left")
    members = [group == g for g in np.unique(group)]
    places, medians = ([values[one] for one in members] for values in (size, own))
    means, middles = np.array([one.mean() for one in places]), np.array([np.median(one) for one in medians])
    return UsualScores(means, middles, chance, float(degrees.size))


@compiled
def _mutual(indptr: Ints, indices: Ints, left: Floats, u: int) -> tuple[Floats, Ints, Ints]:
    """Return what is left of the edges among the neighbours of a node, as the parts of a sparse square."""
    own, end = indptr[u], indptr[u + 1]
    degree, most = end - own, 0
    for v in indices[own:end]:
        most += min(degree, indptr[v + 1] - indptr[v])
    starts, places, values = np.zeros(degree + 1, np.int64), np.empty(most, np.int64), np.empty(most)
    count = 0
    for a in range(degree):
        first, last = indptr[indices[own + a]], indptr[indices[own + a] + 1]
        mine, theirs, shorter = own, first, last - first < degree
        for k in range(min(last - first, degree)):  # the shorter row is looked up in the longer one
            if shorter:
                theirs = first + k
                mine = first_not_below(indices, mine, end, np.int64(indices[theirs]))
            else:
                mine = own + k
                theirs = first_not_below(indices, theirs, last, np.int64(indices[mine]))
            if mine < end and theirs < last and indices[mine] == indices[theirs]:
                places[count], values[count] = mine - own, left[theirs]
                count += 1
        starts[a + 1] = count
    return values[:count], places[:count], starts
