"""Kernels of the passes: sums over neighbours, places of entries, and edges some at a time."""

from __future__ import annotations

import numpy as np

from oddhop.base.arrays import Floats, Ints
from oddhop.base.kernels import compiled, compiled_unordered
from oddhop.base.prefetch import AHEAD, prefetch
from oddhop.base.randomness import mix, unit

LONG_ROW = 1_024  # entries, and columns of a group; a block has a whole number of groups


@compiled
def first_from(low: Ints, indptr: Ints, indices: Ints, stop: int, high: Ints) -> None:
    """Write where the entries below ``stop`` end, row by row from ``low`` on."""
    for i in range(low.size):
        e = low[i]
        while e < indptr[i + 1] and indices[e] < stop:
            e += 1
        high[i] = e


@compiled
def add_neighbours(
    low: Ints, high: Ints, indices: Ints, start: int, degrees: Ints, theirs: Floats, out: Floats
) -> None:
    """Add the rows of the neighbours.

    The sum of a short row goes on where it stood. That of a long one, which single precision would lose, is taken over
    groups of columns, and ranges begin with a group. So it has the same bits whether entries come at once or in pieces.
    """
    width = theirs.shape[1]
    group = np.zeros(width, out.dtype)
    for i in range(low.size):
        grouped = degrees[i] > LONG_ROW
        for e in range(low[i], high[i]):
            prefetch(theirs, indices[min(e + AHEAD, indices.size - 1)] - start)
            j = indices[e] - start
            if not grouped:
                for k in range(width):
                    out[i, k] += theirs[j, k]
            else:
                for k in range(width):
                    group[k] += theirs[j, k]
                if e + 1 == high[i] or indices[e + 1] // LONG_ROW != indices[e] // LONG_ROW:
                    for k in range(width):
                        out[i, k] += group[k]
                        group[k] = 0


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


@compiled
def take_entries(
    indptr: Ints, indices: Ints, cursor: Ints, row: int, last: int, until: int, entries: Ints, owners: Ints
) -> tuple[int, int]:
    """Take entries below ``until`` of the rows from ``row`` to ``last``; return how many, and the row to go on with."""
    count = 0
    while row < last:
        while cursor[row] < indptr[row + 1] and indices[cursor[row]] < until:
            if count == entries.size:
                return count, row
            entries[count], owners[count] = cursor[row], row
            cursor[row] += 1
            count += 1
        row += 1
    return count, row
