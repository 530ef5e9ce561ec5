"""Learning the stranger's view over the ranges of a network: which coordinates tell something, and f of every entry.

With X the coordinates, one row a node, and A the adjacency, what is learned from the edges are entries of X'AX: sums
over the neighbours of every node, multiplied by what the node has itself.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.base.files import Arrays
from oddhop.base.kernels import compiled
from oddhop.base.parallel import single_threaded
from oddhop.base.prefetch import AHEAD, prefetch
from oddhop.base.randomness import HALVES, mix, word
from oddhop.odd.row_blocks import block_sums, gathered, neighbour_sums, summed, weighted_product
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
from oddhop.partitions.files import Store
from oddhop.partitions.task import TaskRunner

STAGE = "neighbours"
PASSES = 3  # over the edges; the second sums two arrays
COORDINATES, VARIATES, RATIOS, RATIO_SUMS = "coordinates", "variates", "f", "f_sums"
WHITE, WHITE_HALF = "white", "white_half"
SUMS = 7  # matrices that a block of rows gives, as wide as the coordinates


def learn_homophily(store: Store, runner: TaskRunner) -> Homophily:
    """Learn from the edges of a network how the coordinates of neighbours go together; write f of every entry."""
    found, told = store.remembered("homophily", lambda: _learned(store, runner))
    homophily = Homophily(found["centre"], found["whiten"], found["turn"], found["correlation"])
    write_ratios(store, runner, homophily)
    if homophily.silent:
        return homophily
    degrees, sums, squares = (gathered(store, name) for name in ("degrees", RATIO_SUMS, "f_squares"))
    return with_variances(homophily, float(sums.sum()) / 2, told["edges"], degrees, sums, squares)


def write_ratios(store: Store, runner: TaskRunner, homophily: Homophily) -> None:
    """Write the canonical variates of every node, f of every entry, and the sums of f and its square at every node."""
    runner.quiet.each(STAGE, partial(_write_variates, store, homophily), store.ranges)
    runner.quiet.each(STAGE, partial(_write_parts, store, homophily), store.ranges)
    runner.each(STAGE, partial(_write_ratios, store, homophily), store.ranges, PASSES - 1, PASSES)


def telling_coordinates(store: Store, runner: TaskRunner) -> Bools:
    """Tell which coordinates go together with any coordinate of the neighbours, more than if they were permuted."""
    nodes = store.nodes
    mean = summed(store, runner.quiet, STAGE, partial(_sums, store)) / max(nodes, 1)
    moments = summed(store, runner, STAGE, partial(_around, store, mean), 0, PASSES)
    *products, own, around, squares = moments.reshape(-1, mean.size) if mean.size else np.zeros((3, 0))
    together = np.array(products).reshape(own.size, own.size)
    return sums_beyond_chance(together, own, np.maximum(squares - around**2 / max(nodes, 1), 0.0), nodes)


def _learned(store: Store, runner: TaskRunner) -> tuple[Arrays, dict[str, int]]:
    entries = int(summed(store, runner.quiet, STAGE, partial(_write_degrees, store)))
    telling = telling_coordinates(store, runner)
    homophily, halves = _correlated(store, runner, telling)
    if not homophily.silent and held_out_nats(halves) <= 0.0:
        homophily = replace(homophily, correlation=np.zeros_like(homophily.correlation))
    # First the array that says whether both were written: a process that is killed in between must find neither.
    store.forget(WHITE_HALF, WHITE, "inside", "around", "around_half")
    parts = {"centre": homophily.centre, "whiten": homophily.whiten, "turn": homophily.turn}
    return {**parts, "correlation": homophily.correlation}, {"edges": entries // 2}


def _correlated(store: Store, runner: TaskRunner, telling: Bools) -> tuple[Homophily, Halves]:
    """Whiten the coordinates that tell something, and turn them so that each is correlated with itself alone.

    The sums over the edges within each half of the nodes come with it.
    """
    width = telling.size
    sums = summed(store, runner.quiet, STAGE, partial(_weighted_sums, store))
    entries = float(sums[0])  # judged nodes may be joined to other kinds alone, and then there are none
    if not entries:
        return Homophily(np.zeros(width), np.zeros((width, 0)), np.zeros((0, 0)), np.zeros(0)), ()
    centre = sums[1:] / entries
    moments = summed(store, runner.quiet, STAGE, partial(_weighted_moments, store, centre))
    with single_threaded():
        inner = whitening(moments[np.ix_(telling, telling)] / entries)
        # In the order of a file, for a product has other last bits in another.
        whiten = np.zeros((width, inner.shape[1]))
        whiten[telling] = inner
        white = Homophily(centre, whiten, np.eye(inner.shape[1]), np.ones(inner.shape[1]))
    runner.quiet.each(STAGE, partial(_write_white, store, white), store.ranges)
    products = summed(store, runner, STAGE, partial(_neighbour_products, store, white), 1, PASSES)
    together = products[0, 1:, 1:]
    with single_threaded():
        rho, turn = np.linalg.eigh((together + together.T) / (2 * entries))
    homophily = replace(white, turn=turn, correlation=corrected(rho, 4 * inner.shape[1] / entries))
    return homophily, tuple(Half(*products[first : first + 3]) for first in (1, 4))


def _write_degrees(store: Store, number: int) -> list[Floats]:
    """Write the degrees, in all and within the own half of the nodes; give the number of entries."""
    rows = store.rows(number)
    degrees = np.diff(rows.indptr)
    inside = np.empty(degrees.size, dtype=np.int64)
    _count_inside(rows.indptr, rows.indices, rows.start, word(0, HALVES), inside)
    store.write("degrees", number, degrees)
    store.write("inside", number, inside)
    return block_sums(store, number, lambda part: degrees[part].sum())


def _sums(store: Store, number: int) -> list[Floats]:
    x = store.read(COORDINATES, number)
    return block_sums(store, number, lambda part: x[part].sum(axis=0))


def _around(store: Store, mean: Floats, number: int) -> list[Floats]:
    """Return the products of coordinates and their sums over neighbours, the squares of both, and the sums."""
    x, degrees = store.read(COORDINATES, number), np.diff(store.rows(number).indptr)
    sums = neighbour_sums(store, COORDINATES, "around", number)

    def moments(part: slice) -> Floats:
        own, around = x[part] - mean, sums[part] - degrees[part, None] * mean
        return np.vstack([own.T @ around, (own**2).sum(axis=0), around.sum(axis=0), (around**2).sum(axis=0)])

    return block_sums(store, number, moments)


def _halves(store: Store, number: int) -> Ints:
    start, stop = store.span(number)
    halves = np.empty(stop - start, dtype=np.int64)
    _draw_halves(word(0, HALVES), start, halves)
    return halves


def _weighted_sums(store: Store, number: int) -> list[Floats]:
    x, weights = store.read(COORDINATES, number), store.read("degrees", number)
    return block_sums(store, number, lambda part: np.append(weights[part].sum(), weights[part] @ x[part]))


def _weighted_moments(store: Store, centre: Floats, number: int) -> list[Floats]:
    x, weights = store.read(COORDINATES, number), store.read("degrees", number)

    def moments(part: slice) -> Floats:
        centred = x[part] - centre
        return np.asarray((centred * weights[part, None]).T @ centred)

    return block_sums(store, number, moments)


def _write_white(store: Store, white: Homophily, number: int) -> None:
    """Write whitened coordinates, and the same with 0 outside one half. Single precision is enough for correlations."""
    if store.has(WHITE_HALF, number):
        return
    out = _variates(store, white, WHITE, np.float32, number)
    store.write(WHITE, number, out)
    half = store.room(WHITE_HALF, number, np.float32, out.shape[1])
    half[:] = out * (_halves(store, number) == 0)[:, None]
    store.write(WHITE_HALF, number, half)


def _write_variates(store: Store, homophily: Homophily, number: int) -> None:
    """Write canonical variates."""
    if not store.has(VARIATES, number):
        store.write(VARIATES, number, _variates(store, homophily, VARIATES, np.float64, number))


def _variates(store: Store, homophily: Homophily, target: str, dtype: npt.DTypeLike, number: int) -> Floats:
    x = store.read(COORDINATES, number)
    out = store.room(target, number, dtype, int(np.count_nonzero(homophily.correlation)))

    def turn(part: slice) -> Floats:
        out[part] = canonical_variates(x[part], homophily)
        return np.zeros(())

    block_sums(store, number, turn)
    return out


def _write_parts(store: Store, homophily: Homophily, number: int) -> None:
    """Write what every node adds to f of its edges."""
    if not store.has("variate_parts", number):
        store.write("variate_parts", number, Ratio.of(homophily.correlation).own(store.read(VARIATES, number)))


def _neighbour_products(store: Store, white: Homophily, number: int) -> list[Floats]:
    """Return X'AX for whitened coordinates, then the products and moments of both halves as in ``Half``."""
    x, own, inside = store.read(COORDINATES, number), store.read(WHITE, number), store.read("inside", number)
    around = neighbour_sums(store, WHITE, "around", number)
    of_half = neighbour_sums(store, WHITE_HALF, "around_half", number)
    halves = _halves(store, number)

    def products(part: slice) -> Floats:
        found = np.zeros((SUMS, own.shape[1] + 1, own.shape[1] + 1))
        found[0, 1:, 1:] = own[part].T @ around[part]
        unbounded = (x[part] - white.centre) @ white.whiten
        for half, within in enumerate((of_half[part], around[part] - of_half[part])):
            chosen = halves[part] == half
            weights = inside[part][chosen, None]
            ends, bare = _with_ones(own[part][chosen]), _with_ones(unbounded[chosen])
            found[3 * half + 1] = ends.T @ np.hstack([weights, within[chosen]])
            found[3 * half + 2] = (ends * weights).T @ ends
            found[3 * half + 3] = (bare * weights).T @ bare
        return found

    return block_sums(store, number, products)


def _with_ones(rows: Floats) -> Floats:
    return np.hstack([np.ones((len(rows), 1)), rows])


def _write_ratios(store: Store, homophily: Homophily, number: int) -> None:
    if store.has("f_squares", number):
        return
    rows, own = store.rows(number), store.read(VARIATES, number)
    f = store.entry_room(RATIOS, number, np.float32)
    sums, squares = np.zeros(len(own)), np.zeros(len(own))
    f[:] = 0.0
    if not homophily.silent:
        ratio, cursor = Ratio.of(homophily.correlation), rows.indptr[:-1].copy()
        for peer in store.peers:
            entries = rows.indptr, rows.indices, cursor, *store.peer_span(peer)
            parts = store.read("variate_parts", number), store.read_peer("variate_parts", peer)
            ends = own, store.read_peer(VARIATES, peer), *parts
            _ratios(entries, ends, (ratio.constant, ratio.across), f, sums, squares)
    store.write(RATIOS, number, f)
    store.write(RATIO_SUMS, number, sums)
    store.write("f_squares", number, squares)


@compiled
def _ratios(
    entries: tuple[Any, ...], ends: tuple[Any, ...], ratio: tuple[Any, ...], f: Floats, sums: Floats, squares: Floats
) -> None:
    """Write f of the entries below ``stop``, from ``cursor`` on; the bits are those of the entry at the other end."""
    indptr, indices, cursor, start, stop = entries
    variates, theirs, own, their_own = ends
    constant, across = ratio
    for i in range(indptr.size - 1):
        entry, end = cursor[i], indptr[i + 1]
        while entry < end and indices[entry] < stop:
            ahead = indices[min(entry + AHEAD, indices.size - 1)] - start
            prefetch(theirs, ahead)
            prefetch(their_own, ahead)
            j = indices[entry] - start
            value = constant + (own[i] + their_own[j]) - weighted_product(across, variates, i, theirs, j)
            f[entry] = value
            sums[i] += value
            squares[i] += value * value
            entry += 1
        cursor[i] = entry


@compiled
def _count_inside(indptr: Ints, indices: Ints, start: int, key: np.uint64, out: Ints) -> None:
    """Count the neighbours of every node that are in its own half."""
    for i in range(indptr.size - 1):
        half, out[i] = mix(key, start + i) & np.uint64(1), 0
        for j in indices[indptr[i] : indptr[i + 1]]:
            out[i] += (mix(key, np.int64(j)) & np.uint64(1)) == half


@compiled
def _draw_halves(key: np.uint64, start: int, out: Ints) -> None:
    for i in range(out.size):
        out[i] = np.int64(mix(key, start + i) & np.uint64(1))
