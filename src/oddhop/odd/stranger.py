"""The stranger: a node whose neighbours do not look like neighbours.

Coordinates are whitened and turned so that each one, over the edges, is correlated with itself alone: rho_k is the
correlation of coordinate k over the two ends of an edge. For normal distributions the log-likelihood ratio of "these
two are just two nodes" against "these two are joined" is then

    f(i, j) = sum over k of   log(1 - rho_k^2) / 2  +  (rho_k^2 (a_k^2 + b_k^2) - 2 rho_k a_k b_k) / (2 (1 - rho_k^2))

with a and b the coordinates of i and j. Nothing is trained, an edge has next to no say in its own judgement, and a
negative rho ("opposites attract") is as good as a positive one. Coordinates that are
not related over the edges are left out, and of rho^2 the noise is taken off, the largest that chance makes with so many
coordinates and edges. Where f has no information about nodes that it was not learned from, the view is silent.

A node is judged by its mean f over its neighbours, against what such a mean varies by,

    z(i) = (mean f(i) - median) / sqrt(between + within / degree)

``within`` is the variance of f among the edges of one node, ``between`` what ordinary nodes differ by beyond it (from
the median deviation, which strangers hardly move). At low degree z is like a t statistic, at high degree like the mean.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, ndtri

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.base.parallel import single_threaded
from oddhop.base.roots import sign_change
from oddhop.odd.view import View

STRANGER = View("stranger", weight=lambda apart: 1.0 - apart / 2)
FARTHEST = 3.0  # standard deviations; farther coordinates are brought back to it
STRONGEST = 0.98
BY_CHANCE = 0.01  # how often an unrelated coordinate is kept
ROUNDING = 1e-6  # of f; less than that is single precision
MEDIAN_OF_ABSOLUTE_NORMAL = 0.6744897501960817


@dataclass(frozen=True)
class Homophily:
    """What an edge says about the attributes of its ends.

    Attributes
    ----------
    centre, whiten, turn : coordinates x become ``clip((x - centre) @ whiten) @ turn``.
    correlation : rho of every canonical variate, the noise taken off; all 0 where the view is silent.
    information : of an edge, in nats: the mean of -f over the edges.
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
        """Whether edges say nothing about the attributes."""
        return not bool(np.any(self.correlation))


def with_variances(
    homophily: Homophily, f: float, edges: int, degrees: Ints, sums: Floats, squares: Floats
) -> Homophily:
    """Add the information of an edge, and what z is made with.

    ``f`` is the sum over the edges; ``sums`` and ``squares`` are those of f and f^2 at every node.
    """
    middle, between, within = variances(degrees, sums, squares)
    return replace(homophily, information=max(-f / edges, 0.0), middle=middle, between=between, within=within)


def whitening(moments: Floats) -> Floats:
    """Return what turns coordinates with these second moments into uncorrelated ones of variance 1."""
    values, vectors = np.linalg.eigh(moments)
    kept = values > max(values.max(initial=0.0), 1e-30) * 1e-6
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))


def corrected(rho: Floats, noise: float) -> Floats:
    """Take the noise off squared correlations, and keep them below 1."""
    rho = np.sign(rho) * np.sqrt(np.maximum(np.minimum(rho**2, 1.0) - noise, 0.0))
    return np.clip(rho, -STRONGEST, STRONGEST)


def sums_beyond_chance(
    sums: Floats, own_squares: Floats, around_squares: Floats, nodes: int, *, itself: int = 0, pairs: float = 0.0
) -> Bools:
    """Tell which columns go together with any of the sums over neighbours, more than if they were permuted.

    ``sums`` are those of the products of columns and sums over neighbours; both also come as sums of squares.
    ``itself`` is where the sums of the same columns begin, and ``pairs`` the weight of all pairs of different nodes in
    these: a value that one node has no other can have, so that products are below 0 on average.

    The sum over the edges of the products of coordinate j at one end and k at the other is compared with its mean and
    variance over all permutations of the values of j: nodes are what is exchanged, so that a few hubs with many edges
    are a few draws. A coordinate is left out when none of its sums is beyond what chance reaches once in a hundred
    times.
    """
    width, others = sums.shape
    spread = np.sqrt(np.outer(own_squares, around_squares) / max(nodes - 1, 1))
    # With itself every edge counts twice.
    same = np.arange(min(width, max(others - itself, 0)))
    spread[same, itself + same] *= np.sqrt(2)
    if pairs:
        sums[same, itself + same] += own_squares[same] * pairs / max(nodes * (nodes - 1), 1)
    limit = -ndtri(BY_CHANCE / (2 * max(width * others, 1)))
    return np.asarray((np.abs(sums) > limit * np.maximum(spread, 1e-12)).any(axis=1))


def strangeness(homophily: Homophily, sums: Floats, degrees: Ints) -> Floats:
    """Return z of every node from the sum of f over its edges; 0 for nodes without, or where the view is silent."""
    if homophily.silent:
        return np.zeros(degrees.size)
    known = np.maximum(degrees, 1)
    return np.where(degrees > 0, standing(homophily, sums / known, known), 0.0)


def standing(homophily: Homophily, means: Floats, degrees: Ints | Floats) -> Floats:
    """Return z of nodes from their mean f and their degrees."""
    return np.asarray((means - homophily.middle) / np.sqrt(homophily.between + homophily.within / degrees))


def canonical_variates(coordinates: Floats, homophily: Homophily) -> Floats:
    """Return coordinates whitened and turned, those whose correlation counts; f is made of them."""
    with single_threaded():
        white = np.clip((coordinates - homophily.centre) @ homophily.whiten, -FARTHEST, FARTHEST)
        return np.asarray(white @ homophily.turn[:, homophily.correlation != 0])


@dataclass(frozen=True)
class Ratio:
    """The parts of f: ``constant + own(a) + own(b) - (a * across) @ b`` for canonical variates a and b."""

    constant: float
    squared: Floats
    across: Floats

    @classmethod
    def of(cls, correlation: Floats) -> Ratio:
        """Take the parts from correlations."""
        rho = correlation[correlation != 0]
        spare = 1 - rho**2
        return cls(float(np.log1p(-(rho**2)).sum() / 2), rho**2 / (2 * spare), rho / spare)

    def own(self, a: Floats) -> Floats:
        """Return what one end adds to f by itself."""
        return np.asarray((a**2) @ self.squared)

    def __call__(self, a: Floats, b: Floats) -> Floats:
        """Return f of rows of a and b."""
        return np.asarray(self.constant + self.own(a) + self.own(b) - (a * b) @ self.across)


@dataclass(frozen=True, eq=False)
class Half:
    """Sums over the edges within one half of the nodes, from both ends; a column of ones comes before coordinates x.

    Attributes
    ----------
    products : those of both ends of an edge.
    moments : those of one end with itself.
    unbounded : the same before far coordinates were brought back.
    """

    products: Floats
    moments: Floats
    unbounded: Floats


Halves = tuple[Half, ...]
"""Those of both halves; none in a network without edges."""


def held_out_nats(halves: Halves) -> float:
    """Return the cross-validated information of an edge, in nats: the mean of -f, each half by the other.

    Edges between the halves are not used. Learned from edges and judged by other edges of the same nodes, a few hubs
    would seem to inform where they only repeat. Far coordinates are brought back in the whitening of all edges, and
    then turned into that of a half.
    """
    nats, entries = 0.0, 0.0
    for ours, theirs in (halves, halves[::-1]):
        counted, learned = float(theirs.moments[0, 0]), float(ours.moments[0, 0])
        if not counted:
            return 0.0
        entries += counted
        if not learned:
            continue
        with single_threaded():
            centred = np.vstack([-ours.unbounded[0, 1:] / learned, np.eye(len(ours.moments) - 1)])
            white = centred @ whitening(centred.T @ ours.unbounded @ centred / learned)
            rho, turn = np.linalg.eigh(white.T @ (ours.products + ours.products.T) @ white / (2 * learned))
            rho = corrected(rho, 4 * rho.size / learned)
            turn = white @ turn[:, rho != 0]
            ratio = Ratio.of(rho)
            squares, products = (
                np.einsum("ik,ij,jk->k", turn, sums, turn) for sums in (theirs.moments, theirs.products)
            )
        nats -= counted * ratio.constant + float(2 * squares @ ratio.squared - products @ ratio.across)
    return nats / entries if entries else 0.0


def probability_unexplained(f: Floats) -> Floats:
    """Return, for every edge, the posterior probability (prior 1/2) that similarity does not explain it."""
    return np.asarray(expit(f))


def share_as_far(usual: Floats, f: Floats) -> Floats:
    """Return the share of edges, whose f is sorted and may be of single precision, that look as far apart as f says."""
    rounding = ROUNDING * np.maximum(np.abs(f), 1.0) if usual.dtype == np.float32 else 1e-9
    as_far = usual.size - np.searchsorted(usual, f - rounding, side="left")
    return np.asarray(np.maximum(as_far, 1) / usual.size)


def variances(degrees: Ints, sums: Floats, squares: Floats) -> tuple[float, float, float]:
    """Return the median of the node means, and the variances between and within nodes."""
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
        most = floor + 4 * float(off.max()) ** 2
        between = sign_change(surplus, floor, most, 1e-12 * most)
    if not spare:  # every node has one edge: the two cannot be separated, and z is the same
        return middle, floor, between
    return middle, between, within or floor
