"""Learning the stranger's view: which coordinates go together over the edges, and f of every entry.

With X the coordinates, one row a node, and A the adjacency, what is learned from the edges are entries of X'AX: sums
over the neighbours of every node, multiplied by what the node has itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from oddhop.arrays.handles import Handle, Output
from oddhop.arrays.kernels import weighted_product
from oddhop.arrays.stores import ENTRIES, ROWS
from oddhop.arrays.wiring import Wiring
from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.base.kernels import compiled
from oddhop.base.prefetch import AHEAD, prefetch
from oddhop.base.randomness import HALVES, mix, word
from oddhop.odd.stranger import (
    Half,
    Halves,
    Homophily,
    Ratio,
    canonical_variates,
    corrected,
    held_out_nats,
    sums_beyond_chance,
    whitening,
    with_variances,
)

STAGE = "neighbours"
PASSES = 3  # over the edges; the second sums two arrays
SUMS = 7  # matrices that a block of rows gives, as wide as the coordinates


@dataclass(frozen=True, eq=False)
class Ratios:
    """f of the edges.

    Attributes
    ----------
    f, sums, squares : f of every entry, and the sums of f and its square at every node; 0 where edges say nothing.
    variates : the canonical variates of every node, which f is made of.
    """

    f: Handle
    sums: Handle
    squares: Handle
    variates: Handle


def learn_homophily(wiring: Wiring, x: Handle) -> tuple[Homophily, Ratios]:
    """Learn from the edges of a network how the coordinates of neighbours go together; make f of every entry."""
    wiring.begin(STAGE, PASSES)
    homophily, halves = _correlated(wiring, x, related_coordinates(wiring, x))
    if not homophily.silent and held_out_nats(halves) <= 0.0:
        homophily = replace(homophily, correlation=np.zeros_like(homophily.correlation))
    ratios = make_ratios(wiring, x, homophily)
    if homophily.silent:
        return homophily, ratios
    sums, squares = ratios.sums.all(), ratios.squares.all()
    edges = wiring.entry_count // 2
    return with_variances(homophily, float(sums.sum()) / 2, edges, wiring.degrees.all(), sums, squares), ratios


def make_ratios(wiring: Wiring, x: Handle, homophily: Homophily) -> Ratios:
    """Make f of every entry by what was learned."""
    outputs = Output(ENTRIES, np.float32), Output(ROWS, np.float64), Output(ROWS, np.float64)
    variates = wiring.rows(canonical_variates, x, homophily)
    if homophily.silent:
        found = wiring.entries(_nothing, [], [], *outputs)
    else:
        ratio = Ratio.of(homophily.correlation)
        ends = variates, wiring.rows(_own_parts, variates, ratio)
        found = wiring.entries(_ratios, ends, [*ends, ratio.constant, ratio.across], *outputs)
    wiring.make(*found)
    f, sums, squares = found
    return Ratios(f, sums, squares, variates)


def related_coordinates(wiring: Wiring, x: Handle) -> Bools:
    """Find the coordinates that go together with any coordinate of the neighbours, more than if they were permuted."""
    mean = wiring.sum(_sums, x) / max(wiring.nodes, 1)
    moments = wiring.sum(_moments_around, x, wiring.around(x, keep=False), wiring.degrees, mean)
    *products, own, around, squares = moments.reshape(-1, mean.size) if mean.size else np.zeros((3, 0))
    together = np.array(products).reshape(own.size, own.size)
    return sums_beyond_chance(together, own, np.maximum(squares - around**2 / max(wiring.nodes, 1), 0.0), wiring.nodes)


def _correlated(wiring: Wiring, x: Handle, related: Bools) -> tuple[Homophily, Halves]:
    """Whiten the coordinates that are related, and turn them so that each is correlated with itself alone.

    The sums over the edges within each half of the nodes come with it.
    """
    width, degrees = related.size, wiring.degrees
    sums = wiring.sum(_weighted_sums, x, degrees)
    entries = float(sums[0])  # judged nodes may be joined to other kinds alone, and then there are none
    if not entries:
        return Homophily(np.zeros(width), np.zeros((width, 0)), np.zeros((0, 0)), np.zeros(0)), ()
    centre = sums[1:] / entries
    inner = whitening(wiring.sum(_weighted_moments, x, degrees, centre)[np.ix_(related, related)] / entries)
    # In the order of a file, for a product has other last bits in another.
    whiten = np.zeros((width, inner.shape[1]))
    whiten[related] = inner
    white = Homophily(centre, whiten, np.eye(inner.shape[1]), np.ones(inner.shape[1]))
    key = word(0, HALVES)
    every, half = wiring.rows(_white, x, wiring.ids, key, white, outputs=2)
    inside = wiring.entries(_count_inside, [wiring.ids, key], [], Output(ROWS, np.int64), keep=False)
    around = wiring.around(every, keep=False), wiring.around(half, keep=False)
    products = wiring.sum(_neighbour_products, x, every, *around, inside, wiring.ids, key, white)
    together = products[0, 1:, 1:]
    rho, turn = np.linalg.eigh((together + together.T) / (2 * entries))
    homophily = replace(white, turn=turn, correlation=corrected(rho, 4 * inner.shape[1] / entries))
    return homophily, tuple(Half(*products[first : first + 3]) for first in (1, 4))


def _sums(x: Floats) -> Floats:
    return np.asarray(x.sum(axis=0))


def _moments_around(x: Floats, sums: Floats, degrees: Ints, mean: Floats) -> Floats:
    """Return the products of coordinates and their sums over neighbours, the squares of both, and the sums."""
    own, around = x - mean, sums - degrees[:, None] * mean
    return np.vstack([own.T @ around, (own**2).sum(axis=0), around.sum(axis=0), (around**2).sum(axis=0)])


def _weighted_sums(x: Floats, weights: Ints) -> Floats:
    return np.append(weights.sum(), weights @ x)


def _weighted_moments(x: Floats, weights: Ints, centre: Floats) -> Floats:
    centred = x - centre
    return np.asarray((centred * weights[:, None]).T @ centred)


def _white(x: Floats, ids: Ints, key: np.uint64, white: Homophily) -> tuple[Floats, Floats]:
    """Return whitened coordinates, and the same with 0 outside one half; single precision is enough."""
    own = canonical_variates(x, white).astype(np.float32)
    return own, own * (_halves(ids, key) == 0)[:, None]


def _own_parts(variates: Floats, ratio: Ratio) -> Floats:
    return ratio.own(variates)


def _neighbour_products(
    x: Floats, own: Floats, around: Floats, of_half: Floats, inside: Ints, ids: Ints, key: np.uint64, white: Homophily
) -> Floats:
    """Return X'AX for whitened coordinates, then the products and moments of both halves as in ``Half``."""
    found, halves = np.zeros((SUMS, own.shape[1] + 1, own.shape[1] + 1)), _halves(ids, key)
    found[0, 1:, 1:] = own.T @ around
    unbounded = (x - white.centre) @ white.whiten
    for half, within in enumerate((of_half, around - of_half)):
        chosen = halves == half
        weights = inside[chosen, None]
        ends, bare = _with_ones(own[chosen]), _with_ones(unbounded[chosen])
        found[3 * half + 1] = ends.T @ np.hstack([weights, within[chosen]])
        found[3 * half + 2] = (ends * weights).T @ ends
        found[3 * half + 3] = (bare * weights).T @ bare
    return found


def _with_ones(rows: Floats) -> Floats:
    return np.hstack([np.ones((len(rows), 1)), rows])


def _halves(ids: Ints, key: np.uint64) -> Ints:
    halves = np.empty(ids.size, dtype=np.int64)
    _draw_halves(key, ids, halves)
    return halves


@compiled
def _draw_halves(key: np.uint64, ids: Ints, out: Ints) -> None:
    for i in range(out.size):
        out[i] = np.int64(mix(key, ids[i]) & np.uint64(1))


@compiled
def _count_inside(low: Ints, high: Ints, indices: Ints, start: int, ids: Ints, key: np.uint64, out: Ints) -> None:  # noqa: ARG001
    """Count the neighbours of every node that are in its own half."""
    for i in range(low.size):
        half = mix(key, ids[i]) & np.uint64(1)
        for e in range(low[i], high[i]):
            out[i] += (mix(key, np.int64(indices[e])) & np.uint64(1)) == half


@compiled
def _nothing(low: Ints, high: Ints, indices: Ints, start: int, f: Floats, sums: Floats, squares: Floats) -> None:
    pass


@compiled
def _ratios(
    low: Ints,
    high: Ints,
    indices: Ints,
    start: int,
    variates: Floats,
    own: Floats,
    theirs: Floats,
    their_own: Floats,
    constant: float,
    across: Floats,
    f: Floats,
    sums: Floats,
    squares: Floats,
) -> None:
    """Write f; the bits are those of the entry at the other end."""
    for i in range(low.size):
        for e in range(low[i], high[i]):
            ahead = indices[min(e + AHEAD, indices.size - 1)] - start
            prefetch(theirs, ahead)
            prefetch(their_own, ahead)
            j = indices[e] - start
            ratio = constant + (own[i] + their_own[j]) - weighted_product(across, variates, i, theirs, j)
            f[e] = ratio
            sums[i] += ratio
            squares[i] += ratio * ratio
