"""A sparse symmetric matrix by blocks of rows, and sums over them that have the same bits on any number of workers.

The matrix is an adjacency A, or D A D for a diagonal D. Every block of rows is computed by one worker, and the results
are added in the order of the blocks. Within a block a few rows are taken at a time: their part of all vectors stays in
the cache while it is used twice, and sums of single precision are short before they are added in double precision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from oddhop.base.arrays import Floats, Ints
from oddhop.base.kernels import compiled
from oddhop.base.parallel import map_blocks
from oddhop.base.randomness import mix, unit

ROWS_AT_ONCE = 16_384
ROWS_IN_CACHE = 1_024
ENTRIES_AT_ONCE = 1_024  # of a row: the sum of a hub of single precision would be long


@dataclass(frozen=True, eq=False)
class Rows:
    """Consecutive rows of an adjacency, whose entries are ones.

    Attributes
    ----------
    start : the number of the first row.
    indptr : where each row begins among ``indices``, and where the last one ends.
    indices : the columns of the entries; may hold those of other rows too.
    """

    start: int
    indptr: Ints
    indices: Ints

    @property
    def stop(self) -> int:
        """The number of the row after the last one."""
        return self.start + self.indptr.size - 1

    @property
    def parts(self) -> Iterator[slice]:
        """A few rows at a time."""
        for start in range(self.start, self.stop, ROWS_IN_CACHE):
            yield slice(start, min(start + ROWS_IN_CACHE, self.stop))


@dataclass(frozen=True, eq=False)
class Matrix:
    """D A D by blocks of rows; it is A without ``weights``, the diagonal of D.

    The blocks have 16,384 rows each, and the last one the rest: the last bits of a sum depend on it.
    """

    rows: Sequence[Rows]
    weights: Floats | None = None
    workers: int = 1

    @classmethod
    def of(cls, indptr: Ints, indices: Ints, weights: Floats | None = None, *, workers: int = 1) -> Matrix:
        """Split an adjacency into blocks of rows.

        Examples
        --------
        >>> import numpy as np
        >>> from oddhop.odd.row_blocks import Matrix
        >>> path = Matrix.of(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1]))
        >>> path.times(np.float32([[1], [2], [4]])).ravel().tolist()
        [2.0, 5.0, 2.0]
        """
        starts = range(0, indptr.size - 1, ROWS_AT_ONCE)
        rows = [Rows(start, indptr[start : start + ROWS_AT_ONCE + 1], indices) for start in starts]
        return cls(rows, None if weights is None else np.asarray(weights, dtype=np.float32), workers)

    @property
    def nodes(self) -> int:
        """The number of rows."""
        return self.rows[-1].stop if self.rows else 0

    def sums(self, function: Callable[[Rows], Floats]) -> Floats:
        """Add what a function returns for the blocks."""
        found = map_blocks(function, self.rows, workers=self.workers)
        total = next(found)
        for part in found:
            total = total + part
        return total

    def over_parts(self, function: Callable[[slice], Floats]) -> Floats:
        """Add what a function returns for a few rows at a time."""
        return self.sums(lambda rows: _added(function, rows))

    def times(
        self, vectors: Floats, out: Floats | None = None, also: Callable[[slice], Floats] | None = None
    ) -> Floats:
        """Give the product with vectors; with ``also``, the sum of what that returns for the rows of the product.

        The product is written to ``out`` where that is given.
        """
        source = np.asarray(vectors) if self.weights is None else vectors * self.weights[:, None]
        written = np.empty_like(source) if out is None else out

        def multiply(rows: Rows) -> Floats:
            own = written[rows.start : rows.stop]
            add_rows(rows.indptr, rows.indices, source, own)
            if self.weights is not None:
                own *= self.weights[rows.start : rows.stop, None]
            return np.zeros(()) if also is None else _added(also, rows)

        total = self.sums(multiply)
        return written if also is None else total

    def dense(self) -> Floats:
        """Give the matrix with all its zeros.

        Examples
        --------
        >>> import numpy as np
        >>> from oddhop.odd.row_blocks import Matrix
        >>> Matrix.of(np.array([0, 1, 2]), np.array([1, 0]), np.array([2.0, 3.0])).dense().tolist()
        [[0.0, 6.0], [6.0, 0.0]]
        """
        found = np.zeros((self.nodes, self.nodes))
        for rows in self.rows:
            entries = slice(rows.indptr[0], rows.indptr[-1])
            found[np.repeat(np.arange(rows.start, rows.stop), np.diff(rows.indptr)), rows.indices[entries]] = 1.0
        return found if self.weights is None else found * np.outer(self.weights, self.weights)


def _added(function: Callable[[slice], Floats], rows: Rows) -> Floats:
    total: Floats = np.zeros(())
    for part in rows.parts:
        total = total + function(part).astype(np.float64)
    return total


def projections(slabs: Floats, block: Floats, part: slice) -> Floats:
    """Give the products of the vectors of every slab and those of a block, over a few rows."""
    return np.asarray(slabs[:, part].transpose(0, 2, 1) @ block[part])


def combination(slabs: Floats, coefficients: Floats, part: slice) -> Floats:
    """Give combinations of the vectors of all slabs, in a few rows."""
    return np.asarray((slabs[:, part] @ coefficients).sum(axis=0))


@compiled
def add_rows(indptr: Ints, indices: Ints, vectors: Floats, out: Floats) -> None:
    """Write the sum of the rows of ``vectors`` at the entries of every row of an adjacency."""
    width = vectors.shape[1]
    whole = width - width % 8
    for i in range(indptr.size - 1):
        out[i] = 0.0
        for first in range(indptr[i], indptr[i + 1], ENTRIES_AT_ONCE):
            last = min(first + ENTRIES_AT_ONCE, indptr[i + 1])
            for k in range(0, whole, 8):
                # Eight sums by name stay in registers, which those of an array do not.
                a = b = c = d = e = f = g = h = np.float32(0.0)
                for entry in range(first, last):
                    row = vectors[indices[entry], k : k + 8]
                    a += row[0]
                    b += row[1]
                    c += row[2]
                    d += row[3]
                    e += row[4]
                    f += row[5]
                    g += row[6]
                    h += row[7]
                sums = out[i, k : k + 8]
                sums[0] += a
                sums[1] += b
                sums[2] += c
                sums[3] += d
                sums[4] += e
                sums[5] += f
                sums[6] += g
                sums[7] += h
            for k in range(whole, width):
                a = np.float32(0.0)
                for entry in range(first, last):
                    a += vectors[indices[entry], k]
                out[i, k] += a


@compiled
def random_rows(key: np.uint64, start: int, out: Floats) -> None:
    """Write random numbers between -1 and 1, by a key and the numbers of row and column."""
    for i in range(out.shape[0]):
        bits = mix(key, start + i)
        for k in range(out.shape[1]):
            out[i, k] = 2.0 * unit(mix(bits, k)) - 1.0
