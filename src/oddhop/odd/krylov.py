"""The leading eigenvectors of a matrix by a block Krylov method with one restart.

A block of 16 random vectors is multiplied 13 times, each time made orthonormal to all before. Of the 208 Ritz vectors
the 80 leading ones are kept, and eight more blocks follow. So there are 21 passes over the edges whatever the network,
and the residual of every eigenpair says how near it is.

Vectors are of single precision, and Gram matrices of double precision. The basis is an array (13, nodes, 16): a step
writes one slab and reads those before it, in memory or in a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from oddhop.base.arrays import Bools, Floats
from oddhop.base.parallel import single_threaded
from oddhop.base.randomness import word
from oddhop.odd.row_blocks import Matrix, combination, projections, random_rows

WIDTH, STEPS, STEPS_AFTER = 16, 13, 8
KEPT = STEPS - STEPS_AFTER  # blocks of Ritz vectors
DENSE_BELOW = 512  # nodes; a basis of 208 vectors is nearly all there is
ROUNDING = 1e-6  # of the norm of a product; less than that is rounding
SMALLEST = 1e-7  # eigenvalue of a Gram matrix of unit vectors that single precision tells from 0
WEAK = 1e-4  # squared norm of a direction after it was divided by the root of at least the smallest
NEARLY_ONE = 0.1
ATTEMPTS = 3
Which = Literal["LM", "LA"]


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Leading eigenvalues of a matrix from low to high, and their eigenvectors as columns.

    ``residuals`` has the norm of A v - value v for each.
    """

    values: Floats
    vectors: Floats
    residuals: Floats

    @classmethod
    def empty(cls, nodes: int) -> Spectrum:
        """Return no eigenvectors."""
        return cls(np.zeros(0), np.zeros((nodes, 0)), np.zeros(0))


def leading_eigenpairs(
    matrix: Matrix, count: int, key: int, *, which: Which = "LM", basis: Floats | None = None
) -> Spectrum:
    """Search eigenvalues of the largest magnitude (``"LM"``) or the largest ones (``"LA"``), and their eigenvectors.

    ``key`` is that of the random start. ``basis`` is an array (13, nodes, 16) of single precision that is written over;
    it may be mapped from a file. A matrix of fewer than 512 rows is decomposed as a whole.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop.odd.krylov import leading_eigenpairs
    >>> from oddhop.odd.row_blocks import Matrix
    >>> star = Matrix.of(np.concatenate([[0], np.arange(900, 1_801)]), np.concatenate([np.arange(1, 901), [0] * 900]))
    >>> found = leading_eigenpairs(star, 2, key=0)
    >>> found.values.round(3).tolist(), bool((found.residuals < 1e-4).all())
    ([-30.0, 30.0], True)
    """
    with single_threaded():
        if matrix.nodes < DENSE_BELOW:
            return _decomposed(matrix, count, which)
        room = np.empty((STEPS, matrix.nodes, WIDTH), dtype=np.float32) if basis is None else basis
        return _Search(matrix, room, np.empty(room.shape[1:], dtype=np.float32), key, which).run(count)


def refined_eigenpairs(matrix: Matrix, known: Floats) -> Spectrum:
    """Approximate eigenpairs of a matrix from eigenvectors of a similar one: one power step and Rayleigh-Ritz.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop.odd.krylov import refined_eigenpairs
    >>> from oddhop.odd.row_blocks import Matrix
    >>> triangle = Matrix.of(np.array([0, 2, 4, 6]), np.array([1, 2, 0, 2, 0, 1]))
    >>> refined_eigenpairs(triangle, np.array([[1.0], [1.0], [0.9]])).values.round(2).tolist()
    [2.0]
    """
    with single_threaded():
        block = matrix.times(np.asarray(known, dtype=np.float32))
        gram = matrix.over_parts(lambda part: block[part].T @ block[part])
        turn, _ = _unit_vectors(gram, float(np.diag(gram).max()), SMALLEST)
        gram = _changed(matrix, block[None, :0], block, turn)[0]
        # Two Gram matrices make vectors orthonormal in single precision, one does not.
        turn, weak = _unit_vectors(gram, 0.0, WEAK)
        turn[:, weak] = 0.0
        _changed(matrix, block[None, :0], block, turn)
        product = np.empty_like(block)
        sums = matrix.times(block, product, lambda part: np.stack([block[part].T, product[part].T]) @ product[part])
        values, ritz = np.linalg.eigh((sums[0] + sums[0].T) / 2)
        squares = np.einsum("ik,ij,jk->k", ritz, sums[1], ritz) - values**2
        turned = ritz.astype(np.float32)
        _changed(matrix, block[None, :0], block, turned)
        return Spectrum(values, block, np.sqrt(np.maximum(squares, 0.0)))


@dataclass(frozen=True, eq=False)
class _Search:
    """One search: ``block`` is the next block of the basis while it is made."""

    matrix: Matrix
    basis: Floats
    block: Floats
    key: int
    which: Which

    def run(self, count: int) -> Spectrum:
        inner = np.zeros((STEPS, STEPS, WIDTH, WIDTH))
        self._start(np.ones(WIDTH, dtype=bool), 0)
        self._write(0, self._orthonormal(0, 0, _changed(self.matrix, self.basis[:0], self.block, None), 0.0))
        turn: Floats = np.eye(WIDTH)
        size = 0.0  # the largest squared norm of a product so far; that of a block may be rounding altogether
        for filled in range(1, STEPS + 1):
            sums, own = self._multiply(inner, filled, max(filled - 2, 0))
            size = max(size, own)
            turn = self._orthonormal(filled, filled, sums, size)
            if filled < STEPS:
                self._write(filled, turn)
        values, ritz = _ritz(inner, self.which)
        self._restart(ritz[:, : KEPT * WIDTH])
        self._write(KEPT, turn)
        inner[:] = 0.0
        for k in range(KEPT):
            inner[k, k] = np.diag(values[k * WIDTH : (k + 1) * WIDTH])
        for filled in range(KEPT + 1, STEPS + 1):
            # The product with the first block has parts in all Ritz vectors, with others only in the last two blocks.
            sums, _ = self._multiply(inner, filled, 0 if filled == KEPT + 1 else filled - 2)
            if filled < STEPS:
                self._write(filled, self._orthonormal(filled, STEPS + filled, sums, size))
        values, ritz = _ritz(inner, self.which)
        order = np.argsort(values[:count])
        return self._spectrum(values[order], ritz[:, order], _beyond(sums))

    def _start(self, columns: Bools, step: int) -> None:
        """Write random vectors to columns of the block."""
        key, size = word(0, self.key, step), np.float32(np.sqrt(3.0 / self.matrix.nodes))

        def draw(part: slice) -> Floats:
            drawn = np.empty((part.stop - part.start, WIDTH), dtype=np.float32)
            random_rows(key, part.start, drawn)
            self.block[part, columns] = size * drawn[:, columns]
            return np.zeros(())

        self.matrix.over_parts(draw)

    def _multiply(self, inner: Floats, filled: int, near: int) -> tuple[Floats, float]:
        """Multiply the last block; give the sums of what the basis lacks of it, and the largest squared norm."""
        slabs, block = self.basis[:filled], self.block
        first = self.matrix.times(slabs[-1], block, lambda part: projections(slabs[near:], block, part))
        sums = _changed(self.matrix, slabs[near:], block, None, first, slabs)
        inner[:filled, filled - 1] = sums[1:]
        inner[near:filled, filled - 1] += first
        return sums, float(((first**2).sum(axis=(0, 1)) + np.diag(sums[0])).max())

    def _orthonormal(self, filled: int, step: int, sums: Floats, size: float) -> Floats:
        """Make the block orthogonal to the basis and orthonormal, but for a last change of its columns."""
        slabs = self.basis[:filled]
        for _ in range(ATTEMPTS):
            turn, _ = _unit_vectors(_beyond(sums), size, SMALLEST)
            gram = _changed(self.matrix, slabs, self.block, turn, sums[1:])[0]
            if np.abs(gram - np.eye(WIDTH)).max() < NEARLY_ONE:
                break
            # The product has fewer dimensions than the block: new random vectors take the place of those that lack.
            turn, weak = _unit_vectors(gram, 0.0, WEAK)
            _changed(self.matrix, slabs[:0], self.block, turn)
            self._start(weak, (step + 1) * WIDTH)
            sums, size = _changed(self.matrix, slabs[:0], self.block, None, None, slabs), 0.0
        return _unit_vectors(gram, 0.0, SMALLEST)[0]

    def _write(self, place: int, turn: Floats) -> None:
        slab, change = self.basis[place], turn.astype(np.float32)

        def write(part: slice) -> Floats:
            slab[part] = self.block[part] @ change
            return np.zeros(())

        self.matrix.over_parts(write)

    def _restart(self, ritz: Floats) -> None:
        """Replace the first blocks of the basis by Ritz vectors."""
        coefficients = ritz.reshape(STEPS, WIDTH, -1).astype(np.float32)

        def rotate(part: slice) -> Floats:
            found = combination(self.basis, coefficients, part)
            self.basis[:KEPT, part] = found.reshape(-1, KEPT, WIDTH).transpose(1, 0, 2)
            return np.zeros(())

        self.matrix.over_parts(rotate)

    def _spectrum(self, values: Floats, ritz: Floats, beyond: Floats) -> Spectrum:
        vectors = np.empty((self.matrix.nodes, values.size), dtype=np.float32)
        coefficients = ritz.reshape(STEPS, WIDTH, -1).astype(np.float32)

        def rotate(part: slice) -> Floats:
            vectors[part] = combination(self.basis, coefficients, part)
            return np.zeros(())

        self.matrix.over_parts(rotate)
        # Of the product with the basis only that with its last block has a part beyond the basis.
        last = ritz[-WIDTH:]
        residuals = np.sqrt(np.maximum(np.einsum("ik,ij,jk->k", last, beyond, last), 0.0))
        return Spectrum(values, vectors, residuals)


def _decomposed(matrix: Matrix, count: int, which: Which) -> Spectrum:
    whole = matrix.dense()
    values, vectors = np.linalg.eigh(whole)
    chosen = np.sort(_order(values, which)[:count])
    values, vectors = values[chosen], np.ascontiguousarray(vectors[:, chosen])
    return Spectrum(values, vectors, np.sqrt(((whole @ vectors - vectors * values) ** 2).sum(axis=0)))


def _order(values: Floats, which: Which) -> Floats:
    return np.asarray(np.argsort(-np.abs(values) if which == "LM" else -values, kind="stable"))


def _ritz(inner: Floats, which: Which) -> tuple[Floats, Floats]:
    """Give the eigenvalues of the projected matrix, the leading ones first, and its eigenvectors."""
    upper = np.triu(inner.transpose(0, 2, 1, 3).reshape(STEPS * WIDTH, STEPS * WIDTH))
    values, vectors = np.linalg.eigh(upper + np.triu(upper, 1).T)
    order = _order(values, which)
    return values[order], vectors[:, order]


def _beyond(sums: Floats) -> Floats:
    """Give the Gram matrix of a block less its projections."""
    return np.asarray(sums[0] - np.einsum("sij,sik->jk", sums[1:], sums[1:]))


def _changed(
    matrix: Matrix,
    slabs: Floats,
    block: Floats,
    turn: Floats | None,
    projected: Floats | None = None,
    against: Floats | None = None,
) -> Floats:
    """Subtract projections from a block and turn its columns; give its Gram matrix, then its new projections."""
    coefficients = None if projected is None or not len(projected) else projected.astype(np.float32)
    change = None if turn is None else turn.astype(np.float32)

    def apply(part: slice) -> Floats:
        own = block[part]
        if coefficients is not None:
            own -= combination(slabs, coefficients, part)
        if change is not None:
            own[:] = own @ change
        gram = (own.T @ own)[None]
        return gram if against is None else np.concatenate([gram, projections(against, block, part)])

    return matrix.over_parts(apply)


def _unit_vectors(gram: Floats, size: float, smallest: float) -> tuple[Floats, Bools]:
    """Give what turns a block into orthonormal vectors, and which of these are too weak to be told from rounding.

    ``size`` is the squared norm that rounding is measured by; 0 where the vectors have about the norm 1.
    """
    squares = np.diag(gram) if size else np.ones(gram.shape[0])
    norms = np.where(squares > size * ROUNDING**2, 1.0 / np.sqrt(np.maximum(squares, 1e-300)), 0.0)
    values, vectors = np.linalg.eigh(gram * np.outer(norms, norms))
    turn = norms[:, None] * vectors / np.sqrt(np.maximum(values, smallest))
    return turn, np.asarray(values < smallest)
