"""The stranger: a node whose neighbours do not look like neighbours.

Coordinates are whitened and turned so that each one, over the edges, is correlated with itself alone: rho_k is the
correlation of coordinate k over the two ends of an edge. For normal distributions the log-likelihood ratio of "these
two are just two nodes" against "these two are joined" is then

    f(i, j) = sum over k of   log(1 - rho_k^2) / 2  +  (rho_k^2 (a_k^2 + b_k^2) - 2 rho_k a_k b_k) / (2 (1 - rho_k^2))

with a and b the coordinates of i and j. Nothing is trained, an edge has next to no say in its own judgement, and a
negative rho ("opposites attract") is as good as a positive one. Coordinates that tell
nothing over the edges are left out, and of rho^2 the noise is taken off, the largest that chance makes with so many
coordinates and edges. Where f tells nothing about nodes that it was not learned from, the view is silent.

A node is judged by its mean f over its neighbours, against what such a mean varies by,

    z(i) = (mean f(i) - median) / sqrt(between + within / degree)

``within`` is the variance of f among the edges of one node, ``between`` what ordinary nodes differ by beyond it (from
the median deviation, which strangers hardly move). At low degree z is like a t statistic, at high degree like the mean.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import optimize
from scipy.special import expit, ndtri

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.base.kernels import compiled
from oddhop.base.parallel import map_blocks, single_threaded
from oddhop.base.randomness import HALVES, generator
from oddhop.graph.adjacency import products
from oddhop.graph.graph import Graph

EDGES_AT_ONCE = 16_384
FARTHEST = 3.0  # standard deviations; farther coordinates are brought back to it
STRONGEST = 0.98
BY_CHANCE = 0.01  # how often a coordinate that tells nothing is kept
MEDIAN_OF_ABSOLUTE_NORMAL = 0.6744897501960817


@dataclass(frozen=True)
class Kinship:
    """What being joined says about attributes.

    Attributes
    ----------
    centre, whiten, turn : coordinates x become ``clip((x - centre) @ whiten) @ turn``.
    correlation : rho of every turned coordinate, the noise taken off; all 0 where the view is silent.
    information : the mean of -f over the edges: what an edge tells, in nats.
    middle, between, within : what z is made with.
    """

    centre: Floats
    whiten: Floats
    turn: Floats
    correlation: Floats
    information: float = 0.0
    middle: float = 0.0
    between: float = 0.0
    within: float = 1.0

    @property
    def silent(self) -> bool:
        """Whether the wiring says nothing about the attributes."""
        return not bool(np.any(self.correlation))


def learn_kinship(graph: Graph, coordinates: Floats, *, workers: int = 1) -> tuple[Kinship, Floats]:
    """Learn from the edges of a network how the attributes of neighbours go together; return it, and f of every edge.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph
    >>> from oddhop.odd.stranger import learn_kinship
    >>> x = np.repeat(np.random.default_rng(0).normal(size=(200, 1)), 2, axis=0)  # pairs of twins
    >>> twins = Graph.from_arrays(np.arange(400).reshape(200, 2).T, x)
    >>> learn_kinship(twins, x)[0].correlation.round(1).tolist()
    [1.0]
    """
    if not graph.edge_count:  # judged nodes may be joined to other kinds alone
        width = coordinates.shape[1]
        return Kinship(np.zeros(width), np.zeros((width, 0)), np.zeros((0, 0)), np.zeros(0)), np.zeros(0)
    telling = telling_coordinates(graph, coordinates)
    raw = _correlated(graph, coordinates, telling, workers)
    if not raw.silent and _held_out_nats(graph, coordinates, telling, workers) <= 0.0:
        raw = replace(raw, correlation=np.zeros_like(raw.correlation))
    f = edge_ratios(graph, turned(coordinates, raw), raw, workers=workers)
    if raw.silent:
        return raw, f
    return with_variances(raw, f, graph.degrees, *_over_neighbours(graph.indptr, graph.indices, graph.upper, f)), f


def with_variances(kinship: Kinship, f: Floats, degrees: Ints, sums: Floats, squares: Floats) -> Kinship:
    """Add what an edge tells, and what z is made with; ``sums`` and ``squares`` are those of f at every node."""
    middle, between, within = _variances(degrees, sums, squares)
    information = max(-float(f.sum()) / f.size, 0.0)
    return replace(kinship, information=information, middle=middle, between=between, within=within)


def _held_out_nats(graph: Graph, coordinates: Floats, telling: Bools, workers: int) -> float:
    """Give what an edge tells about nodes that nothing was learned from: the mean of -f, each half by the other.

    Edges between the halves are not used. Learned from edges and told about other edges of the same nodes, a few hubs
    would seem to tell what they only repeat.
    """
    half = generator(0, HALVES).random(graph.node_count) < 0.5
    left, right = graph.ends(0, graph.edge_count)
    sides = [graph.with_edges(side[left] & side[right]) for side in (half, ~half)]
    if not all(side.edge_count for side in sides):
        return 0.0
    told = []
    for ours, theirs in (sides, sides[::-1]):
        learned = _correlated(ours, coordinates, telling, workers)
        told.append(-edge_ratios(theirs, turned(coordinates, learned), learned, workers=workers))
    return float(np.concatenate(told).mean())


def _correlated(graph: Graph, coordinates: Floats, telling: Bools, workers: int) -> Kinship:
    """Whiten the coordinates that tell something, and turn them so that each is correlated with itself alone."""
    share = graph.degrees / max(graph.degrees.sum(), 1)
    with single_threaded():
        centre = share @ coordinates
        centred = coordinates[:, telling] - centre[telling]
        inner = whitening((centred * share[:, None]).T @ centred)
        # In the order of a file, for a product has other last bits in another.
        whiten = np.zeros((telling.size, inner.shape[1]))
        whiten[telling] = inner
        white = np.clip((coordinates - centre) @ whiten, -FARTHEST, FARTHEST)
    width = white.shape[1]

    def moments(start: int) -> Floats:
        left, right = graph.ends(start, start + EDGES_AT_ONCE)
        return np.asarray(white[left].T @ white[right])

    together = np.zeros((width, width))
    for part in map_blocks(moments, range(0, graph.edge_count, EDGES_AT_ONCE), workers=workers):
        together += part
    with single_threaded():
        rho, turn = np.linalg.eigh((together + together.T) / (2 * graph.edge_count))
    return Kinship(centre, whiten, turn, corrected(rho, 2 * width / graph.edge_count))


def whitening(moments: Floats) -> Floats:
    """Give what turns coordinates with these second moments into uncorrelated ones of variance 1."""
    values, vectors = np.linalg.eigh(moments)
    kept = values > max(values.max(initial=0.0), 1e-30) * 1e-6
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))


def corrected(rho: Floats, noise: float) -> Floats:
    """Take the noise off squared correlations, and keep them below 1."""
    rho = np.sign(rho) * np.sqrt(np.maximum(np.minimum(rho**2, 1.0) - noise, 0.0))
    return np.clip(rho, -STRONGEST, STRONGEST)


def telling_coordinates(graph: Graph, coordinates: Floats) -> Bools:
    """Tell which coordinates go together with any coordinate of the neighbours, more than if they were dealt out anew.

    The sum over the edges of the products of coordinate j at one end and k at the other is compared with its mean and
    variance over all ways to deal out the values of j to the nodes: nodes are what is exchanged, so that a few hubs
    with many edges are a few draws. A coordinate is left out when none of its sums is beyond what chance reaches once
    in a hundred times.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph
    >>> from oddhop.odd.stranger import telling_coordinates
    >>> rng = np.random.default_rng(0)
    >>> twins = np.repeat(rng.normal(size=(200, 1)), 2, axis=0)
    >>> x = np.hstack([twins, rng.normal(size=(400, 1))])
    >>> telling_coordinates(Graph.from_arrays(np.arange(400).reshape(200, 2).T, x), x).tolist()
    [True, False]
    """
    centred = coordinates - coordinates.mean(axis=0)
    return beyond_chance(centred, graph.adjacency() @ centred, itself=0)


def beyond_chance(centred: Floats, around: Floats, *, itself: int, pairs: float = 0.0) -> Bools:
    """Tell which columns go together with any of the sums over neighbours, more than if they were dealt out anew.

    ``itself`` is where the sums of the same columns begin among ``around``, and ``pairs`` the weight of all pairs of
    different nodes in these: a value that one node has no other can have, so that products are below 0 on average.
    """
    nodes, width = centred.shape
    around = around - around.mean(axis=0)
    spread = np.sqrt(np.outer((centred**2).sum(axis=0), (around**2).sum(axis=0)) / max(nodes - 1, 1))
    with single_threaded():
        sums = centred.T @ around
    # With itself every edge counts twice.
    same = np.arange(min(width, max(around.shape[1] - itself, 0)))
    spread[same, itself + same] *= np.sqrt(2)
    if pairs:
        sums[same, itself + same] += (centred**2).sum(axis=0)[same] * pairs / max(nodes * (nodes - 1), 1)
    limit = -ndtri(BY_CHANCE / (2 * max(width * around.shape[1], 1)))
    return np.asarray((np.abs(sums) > limit * np.maximum(spread, 1e-12)).any(axis=1))


def edge_ratios(graph: Graph, faces: Floats, kinship: Kinship, *, workers: int = 1) -> Floats:
    """Give f of every edge, in the order of their numbers; 0 where the view is silent.

    ``faces`` are the turned coordinates of the nodes.
    """
    if kinship.silent:
        return np.zeros(graph.edge_count)
    ratio = Ratio.of(kinship)
    with single_threaded():
        own = ratio.own(faces)
    scaled = faces * ratio.across

    def between(start: int) -> Floats:
        left, right = graph.ends(start, start + EDGES_AT_ONCE)
        return np.asarray(ratio.constant + (own[left] + own[right]) - products(left, right, scaled, faces))

    found = list(map_blocks(between, range(0, graph.edge_count, EDGES_AT_ONCE), workers=workers))
    return np.concatenate([np.zeros(0), *found])


def strangeness(graph: Graph, f: Floats, kinship: Kinship) -> Floats:
    """Give z of every node from f of every edge; 0 for nodes without neighbours, or where the view is silent."""
    if kinship.silent:
        return np.zeros(graph.node_count)
    means, degrees = mean_ratios(graph, f), np.maximum(graph.degrees, 1)
    return np.where(graph.degrees > 0, standing(kinship, means, degrees), 0.0)


def mean_ratios(graph: Graph, f: Floats) -> Floats:
    """Give the mean f over the edges of every node."""
    sums, _ = _over_neighbours(graph.indptr, graph.indices, graph.upper, f)
    return np.asarray(sums / np.maximum(graph.degrees, 1))


def standing(kinship: Kinship, means: Floats, degrees: Ints | Floats) -> Floats:
    """Give z of nodes from their mean f and their degrees."""
    return np.asarray((means - kinship.middle) / np.sqrt(kinship.between + kinship.within / degrees))


def turned(coordinates: Floats, kinship: Kinship) -> Floats:
    """Give coordinates whitened and turned, those whose correlation counts; f is made of them."""
    with single_threaded():
        white = np.clip((coordinates - kinship.centre) @ kinship.whiten, -FARTHEST, FARTHEST)
        return np.asarray(white @ kinship.turn[:, kinship.correlation != 0])


@dataclass(frozen=True)
class Ratio:
    """The parts of f: ``constant + own(a) + own(b) - (a * across) @ b`` for turned coordinates a and b.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop.odd.stranger import Kinship, Ratio
    >>> one = np.eye(1)
    >>> ratio = Ratio.of(Kinship(np.zeros(1), one, one, np.array([0.5]), 0.0, 0.0, 0.0, 1.0))
    >>> ratio(np.array([[2.0], [2.0]]), np.array([[2.0], [-2.0]])).round(2).tolist()  # alike, and not
    [-1.48, 3.86]
    """

    constant: float
    squared: Floats
    across: Floats

    @classmethod
    def of(cls, kinship: Kinship) -> Ratio:
        """Take the parts from what was learned."""
        rho = kinship.correlation[kinship.correlation != 0]
        spare = 1 - rho**2
        return cls(float(np.log1p(-(rho**2)).sum() / 2), rho**2 / (2 * spare), rho / spare)

    def own(self, a: Floats) -> Floats:
        """Give what one end adds to f by itself."""
        return np.asarray((a**2) @ self.squared)

    def __call__(self, a: Floats, b: Floats) -> Floats:
        """Give f of rows of a and b."""
        return np.asarray(self.constant + self.own(a) + self.own(b) - (a * b) @ self.across)


def odds_of_no_reason(f: Floats) -> Floats:
    """Give, for every edge, the chance that looks are not why the two are joined: what f makes of even odds.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop.odd.stranger import odds_of_no_reason
    >>> odds_of_no_reason(np.array([-2.0, 0.0, 2.0])).round(2).tolist()
    [0.12, 0.5, 0.88]
    """
    return np.asarray(expit(f))


def _variances(degrees: Ints, sums: Floats, squares: Floats) -> tuple[float, float, float]:
    """Give the median of the node means, and the variances between and within nodes."""
    judged = degrees > 0
    d = degrees[judged].astype(np.float64)
    means = sums[judged] / d
    inner = np.maximum(squares[judged] - d * means**2, 0.0)
    spare = float((d - 1).sum())
    within = float(inner.sum()) / spare if spare > 0 else 0.0
    middle = float(np.median(means))
    off = np.abs(means - middle)
    floor = 1e-12 * max(within, float(off.max()) ** 2, 1e-30)

    def surplus(between: float) -> float:
        return float(np.median(off / np.sqrt(between + within / d))) - MEDIAN_OF_ABSOLUTE_NORMAL

    between = floor
    if surplus(floor) > 0:
        between = float(optimize.brentq(surplus, floor, floor + 4 * float(off.max()) ** 2))
    if not spare:  # every node has one edge: nothing tells the two apart, and z is the same
        return middle, floor, between
    return middle, between, within or floor


@compiled
def _over_neighbours(indptr: Ints, indices: Ints, upper: Ints, f: Floats) -> tuple[Floats, Floats]:
    """Give the sums of f and f^2 over the edges of every node."""
    nodes = indptr.size - 1
    sums, squares = np.zeros(nodes), np.zeros(nodes)
    for u in range(nodes):
        for e in range(upper[u], upper[u + 1]):
            v = indices[indptr[u + 1] - (upper[u + 1] - e)]
            sums[u] += f[e]
            sums[v] += f[e]
            squares[u] += f[e] * f[e]
            squares[v] += f[e] * f[e]
    return sums, squares
