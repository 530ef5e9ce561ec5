"""The stranger: a node whose neighbours do not look like neighbours.

Coordinates are whitened and turned so that each one, over the edges, is correlated with itself alone: rho_k is the
correlation of coordinate k over the two ends of an edge. For normal distributions the log-likelihood ratio of "these
two are just two nodes" against "these two are joined" is then

    f(i, j) = sum over k of   log(1 - rho_k^2) / 2  +  (rho_k^2 (a_k^2 + b_k^2) - 2 rho_k a_k b_k) / (2 (1 - rho_k^2))

with a and b the coordinates of i and j. Nothing is trained, an edge has next to no say in its own judgement, and a
negative rho ("opposites attract") is as good as a positive one. Of rho^2 the noise is taken off, the largest that
chance makes with so many coordinates and edges. Where no rho^2 is twice the noise, the wiring says nothing about the
attributes and the view is silent.

A node is judged by its mean f over its neighbours, against what such a mean varies by,

    z(i) = (mean f(i) - median) / sqrt(between + within / degree)

``within`` is the variance of f among the edges of one node, ``between`` what ordinary nodes differ by beyond it (from
the median deviation, which strangers hardly move). At low degree z is like a t statistic, at high degree like the mean.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import optimize
from scipy.special import expit

from oddhop.base.arrays import Floats, Ints
from oddhop.base.kernels import compiled
from oddhop.base.parallel import map_blocks, single_threaded
from oddhop.graph.adjacency import upper_edges
from oddhop.graph.graph import Graph

EDGES_AT_ONCE = 16_384
FARTHEST = 3.0  # standard deviations; farther coordinates are brought back to it
STRONGEST = 0.98
CLEAR = 2.0  # times the noise: what one correlation must reach, or the view is silent
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
    information: float
    middle: float
    between: float
    within: float

    @property
    def silent(self) -> bool:
        """Whether the wiring says nothing about the attributes."""
        return not bool(np.any(self.correlation))


def learn_kinship(graph: Graph, coordinates: Floats, *, workers: int = 1) -> Kinship:
    """Learn from the edges of a network how the attributes of neighbours go together.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph
    >>> from oddhop.odd.stranger import learn_kinship
    >>> x = np.repeat(np.random.default_rng(0).normal(size=(200, 1)), 2, axis=0)  # pairs of twins
    >>> twins = Graph.from_arrays(np.arange(400).reshape(200, 2).T, x)
    >>> learn_kinship(twins, x).correlation.round(1).tolist()
    [1.0]
    """
    share = graph.degrees / max(graph.degrees.sum(), 1)
    with single_threaded():
        centre = share @ coordinates
        centred = coordinates - centre
        values, vectors = np.linalg.eigh((centred * share[:, None]).T @ centred)
        kept = values > max(values.max(initial=0.0), 1e-30) * 1e-6
        # In the order of a file, for a product has other last bits in another.
        whiten = np.ascontiguousarray(vectors[:, kept] / np.sqrt(values[kept]))
        white = np.clip(centred @ whiten, -FARTHEST, FARTHEST)
    width = white.shape[1]

    def products(start: int) -> Floats:
        left, right = _ends(graph, start)
        return np.asarray(white[left].T @ white[right])

    together = np.zeros((width, width))
    for part in map_blocks(products, range(0, graph.edge_count, EDGES_AT_ONCE), workers=workers):
        together += part
    with single_threaded():
        rho, turn = np.linalg.eigh((together + together.T) / (2 * graph.edge_count))
    noise = 2 * width / graph.edge_count
    clear = bool(np.max(rho**2, initial=0.0) >= CLEAR * noise)
    rho = clear * np.sign(rho) * np.sqrt(np.maximum(np.minimum(rho**2, 1.0) - noise, 0.0))
    rho = np.clip(rho, -STRONGEST, STRONGEST)
    raw = Kinship(centre, whiten, turn, rho, 0.0, 0.0, 0.0, 1.0)
    if raw.silent:
        return raw
    sums, squares, total = _over_neighbours(graph, coordinates, raw, workers)
    middle, between, within = _variances(graph.degrees, sums, squares)
    return Kinship(centre, whiten, turn, rho, max(-total / graph.edge_count, 0.0), middle, between, within)


def strangeness(graph: Graph, coordinates: Floats, kinship: Kinship, *, workers: int = 1) -> Floats:
    """Give z of every node; 0 for nodes without neighbours, and for all where the view is silent."""
    if kinship.silent:
        return np.zeros(graph.node_count)
    sums, _, _ = _over_neighbours(graph, coordinates, kinship, workers)
    degrees = np.maximum(graph.degrees, 1)
    return np.where(graph.degrees > 0, standing(kinship, sums / degrees, degrees), 0.0)


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


def odds_of_no_reason(graph: Graph, faces: Floats, kinship: Kinship, *, workers: int = 1) -> Floats:
    """Give, for every entry of ``graph.indices``, the chance that looks are not why the two are joined.

    ``faces`` are the turned coordinates of the nodes. The chance is 1 / (1 + exp(-f)): what f makes of even odds. Where
    the view is silent it is one half.
    """
    entries = graph.indices.size
    if kinship.silent:
        return np.full(entries, 0.5)
    f = _between(faces, kinship)

    def chance(start: int) -> Floats:
        stop = min(start + EDGES_AT_ONCE, entries)
        rows = np.searchsorted(graph.indptr, np.arange(start, stop), side="right") - 1
        return np.asarray(expit(f(rows, graph.indices[start:stop])))

    return np.concatenate(list(map_blocks(chance, range(0, entries, EDGES_AT_ONCE), workers=workers)))


def _between(faces: Floats, kinship: Kinship) -> Callable[[Ints, Ints], Floats]:
    """Give f as a function of two nodes, with what each end adds worked out once."""
    ratio = Ratio.of(kinship)
    with single_threaded():
        own = ratio.own(faces)
    return lambda left, right: ratio.constant + own[left] + own[right] - (faces[left] * faces[right]) @ ratio.across


def _over_neighbours(graph: Graph, coordinates: Floats, kinship: Kinship, workers: int) -> tuple[Floats, Floats, float]:
    """Give the sums of f and f^2 over the edges of every node, and the sum of f over all edges."""
    ratio = _between(turned(coordinates, kinship), kinship)

    def over(start: int) -> tuple[Ints, Ints, Floats]:
        left, right = _ends(graph, start)
        return left, right, ratio(left, right)

    sums, squares = np.zeros(graph.node_count), np.zeros(graph.node_count)
    total = 0.0
    for left, right, f in map_blocks(over, range(0, graph.edge_count, EDGES_AT_ONCE), workers=workers):
        _add_to_ends(left, right, f, sums, squares)
        total += float(f.sum())
    return sums, squares, total


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

    if surplus(floor) <= 0:
        return middle, floor, within
    ceiling = floor + 4 * float(off.max()) ** 2
    return middle, float(optimize.brentq(surplus, floor, ceiling)), within


def _ends(graph: Graph, start: int) -> tuple[Ints, Ints]:
    stop = min(start + EDGES_AT_ONCE, graph.edge_count)
    ends: tuple[Ints, Ints] = upper_edges(graph.indptr, graph.indices, graph.upper, start, stop)
    return ends


@compiled
def _add_to_ends(left: Ints, right: Ints, values: Floats, sums: Floats, squares: Floats) -> None:
    for k in range(values.size):
        for node in (left[k], right[k]):
            sums[node] += values[k]
            squares[node] += values[k] * values[k]
