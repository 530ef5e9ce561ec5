"""Sums over blocks of rows that have the same bits whatever the ranges of nodes, and sums over neighbours.

Within a block a few rows are taken at a time: their part of all vectors stays in the cache while it is used twice, and
sums of single precision are short before they are added in double precision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from oddhop.base.arrays import Floats, Ints
from oddhop.base.kernels import compiled, compiled_unordered
from oddhop.base.prefetch import AHEAD, prefetch
from oddhop.base.randomness import mix, unit
from oddhop.partitions import store as ranges
from oddhop.partitions.files import Store
from oddhop.partitions.store import Array
from oddhop.partitions.task import TaskRunner

ROWS_IN_CACHE = 1_024
LONG_ROW = 1_024  # entries, and columns of a group; a block has a whole number of groups


def block_sums(store: Store, number: int, function: Callable[[slice], Floats]) -> list[Floats]:
    """Add what a function returns for a few rows of a range at a time, block by block; rows count from its start."""
    start, stop = store.span(number)
    sums = []
    for first in range(0, stop - start, ranges.BLOCK):
        total: Floats = np.zeros(())
        for part in _parts(first, min(first + ranges.BLOCK, stop - start)):
            total = total + function(part).astype(np.float64)
        sums.append(total)
    return sums


def added(sums: Iterable[list[Floats]]) -> Floats:
    """Add the sums of all blocks of all ranges in their order."""
    total: Floats = np.zeros(())
    for part in sums:
        for one in part:
            total = total + one
    return total


def summed(
    store: Store, runner: TaskRunner, stage: str, task: Callable[[int], list[Floats]], part: int = 0, parts: int = 1
) -> Floats:
    """Run a task over all ranges that gives the sums of its blocks, and add them."""
    return added(runner.each(stage, task, store.ranges, part, parts))


def gathered(store: Store, name: str) -> Array:
    """Return an array over nodes as a whole: eight bytes a node and more."""
    return np.concatenate([store.read(name, number) for number in store.ranges])


def degrees_of(store: Store) -> Ints:
    """Return how many entries the rows of all nodes have."""
    return np.concatenate([np.diff(store.rows(number).indptr) for number in store.ranges])


def _parts(start: int, stop: int) -> Iterator[slice]:
    for first in range(start, stop, ROWS_IN_CACHE):
        yield slice(first, min(first + ROWS_IN_CACHE, stop))


def neighbour_sums(store: Store, source: str, target: str, number: int) -> Array:
    """Return the sum of an array over the neighbours of every node of a range, in the room of another array."""
    part = store.rows(number)
    cursor = part.indptr[:-1].copy()
    out = None
    for peer in store.peers:
        theirs = store.read_peer(source, peer)
        if out is None:
            out = store.room(target, number, theirs.dtype, theirs.shape[1])
            out[:] = 0
        if theirs.shape[1]:
            add_rows(part.indptr, part.indices, cursor, *store.peer_span(peer), theirs, out)
    assert out is not None  # noqa: S101 - there is a peer
    return out


@compiled
def add_rows(indptr: Ints, indices: Ints, cursor: Ints, start: int, stop: int, theirs: Floats, out: Floats) -> None:
    """Add to every row the rows of ``theirs`` at its entries below ``stop``, from ``cursor`` on, which is moved.

    The sum of a short row goes on where it stood. That of a long one, which single precision would lose, is taken over
    groups of columns, and peers begin with a group. So it has the same bits whether entries come at once or in pieces.
    """
    width = theirs.shape[1]
    group = np.zeros(width, out.dtype)
    for i in range(indptr.size - 1):
        entry, end, grouped = cursor[i], indptr[i + 1], indptr[i + 1] - indptr[i] > LONG_ROW
        while entry < end and indices[entry] < stop:
            prefetch(theirs, indices[min(entry + AHEAD, indices.size - 1)] - start)
            j = indices[entry] - start
            if not grouped:
                for k in range(width):
                    out[i, k] += theirs[j, k]
            else:
                for k in range(width):
                    group[k] += theirs[j, k]
                following = indices[entry + 1] if entry + 1 < end else stop
                if following >= stop or following // LONG_ROW != indices[entry] // LONG_ROW:
                    for k in range(width):
                        out[i, k] += group[k]
                        group[k] = 0
            entry += 1
        cursor[i] = entry


@compiled
def row_sums(indptr: Ints, values: Floats | Ints) -> Floats:
    """Return the sums of values over the entries of rows, each in the order of the entries."""
    sums = np.zeros(indptr.size - 1)
    for i in range(sums.size):
        for value in values[indptr[i] : indptr[i + 1]]:
            sums[i] += value
    return sums


@compiled_unordered
def weighted_product(weights: Floats, own: Floats, i: int, theirs: Floats, j: int) -> float:
    """Return the weighted inner product of a row and another, in their precision; the same bits from either end."""
    total: float = own[i, 0] - own[i, 0]  # of the type of the rows
    for k in range(weights.size):
        total += weights[k] * (own[i, k] * theirs[j, k])
    return total


@compiled
def random_rows(key: np.uint64, start: int, out: Floats) -> None:
    """Write random numbers between -1 and 1, by a key and the numbers of row and column."""
    for i in range(out.shape[0]):
        bits = mix(key, start + i)
        for k in range(out.shape[1]):
            out[i, k] = 2.0 * unit(mix(bits, k)) - 1.0
