"""The leading eigenvectors of the adjacency by a block Krylov method with one restart.

A block of 16 random vectors is multiplied 13 times, each time made orthonormal to all before. Of the 208 Ritz vectors
the 80 leading ones are kept, and eight more blocks follow. So there are 21 passes over the edges whatever the network.
Vectors are of single precision, and Gram matrices of double precision.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from oddhop.arrays.handles import Handle
from oddhop.arrays.kernels import random_rows
from oddhop.arrays.wiring import Wiring
from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.base.randomness import START_VECTOR, word

EIGENVECTORS = FEWEST_NODES = 64
WIDTH, STEPS, STEPS_AFTER = 16, 13, 8
KEPT = STEPS - STEPS_AFTER  # blocks of Ritz vectors
DENSE_BELOW = 512  # nodes; a basis of 208 vectors is nearly all there is
ROUNDING = 1e-6  # of the norm of a product; less than that is rounding
SMALLEST = 1e-7  # eigenvalue of a Gram matrix of unit vectors that single precision distinguishes from 0
WEAK = 1e-4  # squared norm of a direction after it was divided by the root of at least the smallest
NEARLY_ONE = 0.1
ATTEMPTS = 3
STAGE = "eigenvectors"


@dataclass(frozen=True, eq=False)
class Eigenpairs:
    """Leading eigenvalues from low to high, and the array of their eigenvectors; None for a very small network."""

    values: Floats
    vectors: Handle | None


def leading_eigenpairs(wiring: Wiring, count: int = EIGENVECTORS) -> Eigenpairs:
    """Search the eigenvalues of the largest magnitude and their eigenvectors.

    A matrix of fewer than 512 rows is decomposed as a whole, and none is searched of one with fewer than 64.
    """
    count = min(count, wiring.nodes // 4)
    if wiring.nodes < FEWEST_NODES:
        return Eigenpairs(np.zeros(0), None)
    if wiring.nodes < DENSE_BELOW:
        return _decomposed(wiring, count)
    wiring.begin(STAGE, STEPS + STEPS_AFTER)
    inner, size = np.zeros((STEPS, STEPS, WIDTH, WIDTH)), 0.0
    start = wiring.rows(_random, wiring.ids, wiring.nodes, word(0, START_VECTOR, 0))
    basis = [_orthonormal(wiring, [], 0, start, wiring.sum(_gram, start), 0.0)]
    del start
    for step in range(1, STEPS + 1):
        rest, sums, size = _extended(wiring, basis, inner, step, size)
        basis.append(_orthonormal(wiring, basis, step, rest, sums, size))
        del rest
    values, ritz = _ritz(inner)
    again = wiring.rows(_combined, KEPT, _blocks(ritz[:, : KEPT * WIDTH]), *basis[:STEPS], outputs=KEPT)
    basis, inner = [*again, basis[STEPS]], np.zeros_like(inner)
    del again
    for k in range(KEPT):
        inner[k, k] = np.diag(values[k * WIDTH : (k + 1) * WIDTH])
    for step in range(STEPS + 1, STEPS + STEPS_AFTER + 1):
        rest, sums, size = _extended(wiring, basis, inner, step, size)
        if len(basis) < STEPS:
            basis.append(_orthonormal(wiring, basis, step, rest, sums, size))
        del rest
    values, ritz = _ritz(inner)
    order = np.argsort(values[:count])
    vectors = wiring.rows(_combined, 1, _blocks(ritz[:, order]), *basis)
    wiring.make(vectors)
    return Eigenpairs(values[order], vectors)


def refined_eigenpairs(wiring: Wiring, known: Handle | None, steps: int = 1) -> Eigenpairs:
    """Approximate eigenpairs from eigenvectors of a similar matrix: some power steps, each with Rayleigh-Ritz.

    A step is two products with 64 vectors instead of 21 with 16 and a basis of 208.
    """
    found = Eigenpairs(np.zeros(0), known)
    wiring.begin(STAGE, 2 * steps)
    for _ in range(steps if known is not None else 0):
        found = _refined(wiring, found.vectors)
    return found


def _refined(wiring: Wiring, known: Handle | None) -> Eigenpairs:
    assert known is not None  # noqa: S101 - it begins with some
    power = wiring.around(known)
    gram = wiring.sum(_gram, power)[0]
    turn, _ = _unit_vectors(gram, float(np.diag(gram).max()), SMALLEST)
    unit = wiring.rows(_turned, power, _single(turn))
    # Two Gram matrices make vectors orthonormal in single precision, one does not.
    turn, weak = _unit_vectors(wiring.sum(_gram, unit)[0], 0.0, WEAK)
    turn[:, weak] = 0.0
    del power
    orthonormal = wiring.rows(_turned, unit, _single(turn))
    del unit
    sums = wiring.sum(_gram, wiring.around(orthonormal, keep=False), orthonormal)
    values, ritz = np.linalg.eigh((sums[1] + sums[1].T) / 2)
    return Eigenpairs(values, wiring.rows(_turned, orthonormal, _single(ritz)))


def _extended(
    wiring: Wiring, basis: list[Handle], inner: Floats, step: int, size: float
) -> tuple[Handle, Floats, float]:
    """Multiply the last block; return what the basis lacks of it, and fill in the projected matrix."""
    # The product with the first block after the restart has parts in all Ritz vectors, others in the last two.
    filled, near = len(basis), 0 if step == STEPS + 1 else max(len(basis) - 2, 0)
    product = wiring.around(basis[-1])
    first = wiring.sum(_gram, product, *basis[near:])[1:]
    rest = wiring.rows(_less, product, _single(first), *basis[near:])
    sums = wiring.sum(_gram, rest, *basis)
    inner[:filled, filled - 1] = sums[1:]
    inner[near:filled, filled - 1] += first
    # The largest squared norm of a product so far; that of a block may be rounding altogether.
    return rest, sums, max(size, float(((first**2).sum(axis=(0, 1)) + np.diag(sums[0])).max()))


def _orthonormal(wiring: Wiring, basis: list[Handle], step: int, source: Handle, sums: Floats, size: float) -> Handle:
    """Make a block orthogonal to the basis and orthonormal."""
    for _ in range(ATTEMPTS):
        turn, _ = _unit_vectors(sums[0] - np.einsum("sij,sik->jk", sums[1:], sums[1:]), size, SMALLEST)
        unit = wiring.rows(_less_and_turned, source, _single(turn), _single(sums[1:]), *basis)
        gram = wiring.sum(_gram, unit)[0]
        if np.abs(gram - np.eye(WIDTH)).max() < NEARLY_ONE:
            break
        # The product has fewer dimensions than the block: new random vectors take the place of those that lack.
        turn, weak = _unit_vectors(gram, 0.0, WEAK)
        key = word(0, START_VECTOR, (step + 1) * WIDTH)
        source = wiring.rows(_renewed, wiring.ids, wiring.nodes, key, unit, _single(turn), weak)
        sums, size = wiring.sum(_gram, source, *basis), 0.0
    block: Handle = wiring.rows(_turned, unit, _single(_unit_vectors(gram, 0.0, SMALLEST)[0]))
    wiring.make(block)
    return block


def _random(ids: Ints, nodes: int, key: np.uint64) -> Floats:
    drawn = np.empty((ids.size, WIDTH), dtype=np.float32)
    random_rows(key, int(ids[0]), drawn)
    return np.asarray(np.float32(np.sqrt(3.0 / nodes)) * drawn)


def _renewed(ids: Ints, nodes: int, key: np.uint64, unit: Floats, turn: Floats, weak: Bools) -> Floats:
    rows = np.asarray(unit @ turn)
    rows[:, weak] = _random(ids, nodes, key)[:, weak]
    return rows


def _gram(own: Floats, *against: Floats) -> Floats:
    """Return the products of the vectors of a block with each other, and with those of other blocks."""
    width = own.shape[1] if not against else against[0].shape[1]
    found = np.empty((1 + len(against), width, own.shape[1]), own.dtype)
    for slab, place in zip((own, *against), found, strict=True):
        np.matmul(slab.T, own, out=place)
    return found


def _less(rows: Floats, projected: Floats, *basis: Floats) -> Floats:
    return rows - _combination(projected, basis)


def _less_and_turned(rows: Floats, turn: Floats, projected: Floats, *basis: Floats) -> Floats:
    return np.asarray((_less(rows, projected, *basis) if basis else rows) @ turn)


def _turned(rows: Floats, turn: Floats) -> Floats:
    return np.asarray(rows @ turn, dtype=np.float32)


def _combined(outputs: int, coefficients: Floats, *basis: Floats) -> Any:
    found = _combination(coefficients, basis)
    return tuple(np.hsplit(found, outputs)) if outputs > 1 else found


def _combination(coefficients: Floats, basis: tuple[Floats, ...]) -> Floats:
    total = basis[0] @ coefficients[0]
    for slab, own in zip(basis[1:], coefficients[1:], strict=True):
        total += slab @ own
    return np.asarray(total)


def _single(numbers: Floats) -> Floats:
    return numbers.astype(np.float32)


def _blocks(ritz: Floats) -> Floats:
    return _single(ritz.reshape(STEPS, WIDTH, -1))


def _decomposed(wiring: Wiring, count: int) -> Eigenpairs:
    """Decompose a small matrix as a whole."""
    whole, indptr = np.zeros((wiring.nodes, wiring.nodes)), wiring.indptr.read()
    whole[np.repeat(np.arange(wiring.nodes), np.diff(indptr)), wiring.indices.read()] = 1.0
    values, vectors = np.linalg.eigh(whole)
    chosen = np.sort(_order(values)[:count])
    return Eigenpairs(values[chosen], wiring.given(np.ascontiguousarray(vectors[:, chosen])))


def _order(values: Floats) -> Ints:
    return np.argsort(-np.abs(values), kind="stable")


def _ritz(inner: Floats) -> tuple[Floats, Floats]:
    """Return the eigenvalues of the projected matrix, the leading ones first, and its eigenvectors."""
    upper = np.triu(inner.transpose(0, 2, 1, 3).reshape(STEPS * WIDTH, STEPS * WIDTH))
    values, vectors = np.linalg.eigh(upper + np.triu(upper, 1).T)
    order = _order(values)
    return values[order], vectors[:, order]


def _unit_vectors(gram: Floats, size: float, smallest: float) -> tuple[Floats, Bools]:
    """Return what turns a block into orthonormal vectors, and which of these rounding may have made.

    ``size`` is the squared norm that rounding is measured by; 0 where the vectors have about the norm 1.
    """
    squares = np.diag(gram) if size else np.ones(gram.shape[0])
    norms = np.where(squares > size * ROUNDING**2, 1.0 / np.sqrt(np.maximum(squares, 1e-300)), 0.0)
    values, vectors = np.linalg.eigh(gram * np.outer(norms, norms))
    turn = norms[:, None] * vectors / np.sqrt(np.maximum(values, smallest))
    return turn, np.asarray(values < smallest)
