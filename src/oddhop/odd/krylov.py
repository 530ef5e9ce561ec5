"""The leading eigenvectors of a matrix by a block Krylov method with one restart.

A block of 16 random vectors is multiplied 13 times, each time made orthonormal to all before. Of the 208 Ritz vectors
the 80 leading ones are kept, and eight more blocks follow. So there are 21 passes over the edges whatever the network,
and the residual of every eigenpair says how near it is.

Vectors are of single precision, and Gram matrices of double precision. Every block of the basis is an array of the
store. A step reads those before it and writes one; what it comes to is remembered, so that a killed search goes on. No
name is used twice, for a task that comes late may write its array again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from oddhop.base.arrays import Bools, Floats
from oddhop.base.files import Arrays
from oddhop.base.parallel import single_threaded
from oddhop.base.randomness import word
from oddhop.odd.row_blocks import block_sums, neighbour_sums, random_rows, summed
from oddhop.partitions.files import Store
from oddhop.partitions.store import Array
from oddhop.partitions.task import TaskRunner

WIDTH, STEPS, STEPS_AFTER = 16, 13, 8
KEPT = STEPS - STEPS_AFTER  # blocks of Ritz vectors
DENSE_BELOW = 512  # nodes; a basis of 208 vectors is nearly all there is
ROUNDING = 1e-6  # of the norm of a product; less than that is rounding
SMALLEST = 1e-7  # eigenvalue of a Gram matrix of unit vectors that single precision tells from 0
WEAK = 1e-4  # squared norm of a direction after it was divided by the root of at least the smallest
NEARLY_ONE = 0.1
ATTEMPTS = 3
STAGE = "eigenvectors"
VECTORS = "vectors"
Names = Sequence[str]


@dataclass(frozen=True, eq=False)
class Eigenvalues:
    """Leading eigenvalues of a matrix from low to high; their eigenvectors are the array "vectors" of the store.

    ``residuals`` has the norm of A v - value v for each.
    """

    values: Floats
    residuals: Floats


def leading_eigenpairs(store: Store, runner: TaskRunner, count: int, key: int) -> Eigenvalues:
    """Search the eigenvalues of the adjacency with the largest magnitude, and their eigenvectors.

    ``key`` is that of the random start. A matrix of fewer than 512 rows is decomposed as a whole.
    """
    with single_threaded():
        if store.nodes < DENSE_BELOW:
            found, _ = store.remembered("eigenvalues", lambda: (_decomposed(store, count), {}))
        else:
            search = _Search(store, runner, key)
            found, _ = store.remembered("eigenvalues", lambda: (search.run(count), {}))
            store.forget(*(f"{name}{k}" for name in ("basis", "ritz", "again") for k in range(STEPS + 1)))
    return Eigenvalues(found["values"], found["residuals"])


def refined_eigenpairs(store: Store, runner: TaskRunner, known: str, steps: int = 1) -> Eigenvalues:
    """Approximate eigenpairs from eigenvectors of a similar matrix: some power steps, each with Rayleigh-Ritz."""
    with single_threaded():
        for step in range(1, steps + 1):
            target, name = (VECTORS, "eigenvalues") if step == steps else (f"vectors{step}", f"refined{step}")
            found, _ = store.remembered(name, partial(_refined, store, runner, known, target))
            known = target
        store.forget(*(f"vectors{step}" for step in range(1, steps)))
    return Eigenvalues(found["values"], found["residuals"])


def _refined(store: Store, runner: TaskRunner, known: str, target: str) -> tuple[Arrays, dict[str, Any]]:
    def each(task: Callable[[int], list[Floats]], part: int | None = None) -> Floats:
        return summed(store, runner.quiet if part is None else runner, STAGE, task, part or 0, 2)

    # No name is used twice, for a task that comes late may write its array again.
    power, unit, orthonormal, product = (f"{name}-{target}" for name in ("power", "unit", "orthonormal", "product"))
    gram = each(partial(_product, store, known, power, ()), 0)[0]
    turn, _ = _unit_vectors(gram, float(np.diag(gram).max()), SMALLEST)
    gram = each(partial(_changed, store, power, unit, (), None, turn, ()))[0]
    # Two Gram matrices make vectors orthonormal in single precision, one does not.
    turn, weak = _unit_vectors(gram, 0.0, WEAK)
    turn[:, weak] = 0.0
    each(partial(_changed, store, unit, orthonormal, (), None, turn, None))
    store.forget(power, unit)
    sums = each(partial(_product, store, orthonormal, product, [orthonormal]), 1)
    values, ritz = np.linalg.eigh((sums[1] + sums[1].T) / 2)
    squares = np.einsum("ik,ij,jk->k", ritz, sums[0], ritz) - values**2
    each(partial(_changed, store, orthonormal, target, (), None, ritz, None))
    store.forget(orthonormal, product)
    return {"values": values, "residuals": np.sqrt(np.maximum(squares, 0.0))}, {}


@dataclass(frozen=True, eq=False)
class _Search:
    """One search. The basis is a list of names of arrays."""

    store: Store
    runner: TaskRunner
    key: int

    def run(self, count: int) -> Arrays:
        basis = ["basis0"]
        kept = self._remembered(0, self._started)
        for filled in range(1, STEPS + 1):
            target = f"basis{filled}"
            kept = self._remembered(filled, partial(self._extended, basis, kept, filled, target))
            basis.append(target)
        values, ritz = _ritz(kept["inner"])
        again = [f"ritz{k}" for k in range(KEPT)]
        self._each(partial(_combined, self.store, basis[:STEPS], again, _coefficients(ritz[:, : KEPT * WIDTH])), STEPS)
        self.store.forget(*basis[:STEPS])
        again.append(basis[STEPS])
        kept = {**kept, "inner": np.zeros_like(kept["inner"])}
        for k in range(KEPT):
            kept["inner"][k, k] = np.diag(values[k * WIDTH : (k + 1) * WIDTH])
        for filled in range(KEPT + 1, STEPS + 1):
            step, last = STEPS + filled - KEPT, filled == STEPS
            kept = self._remembered(
                step, partial(self._extended, again, kept, step, None if last else f"again{filled}")
            )
            again += [] if last else [f"again{filled}"]
        values, ritz = _ritz(kept["inner"])
        order = np.argsort(values[:count])
        values, ritz = values[order], ritz[:, order]
        self._each(partial(_combined, self.store, again, [VECTORS], _coefficients(ritz)), STEPS + STEPS_AFTER)
        # Of the product with the basis only that with its last block has a part beyond the basis.
        ends = ritz[-WIDTH:]
        residuals = np.sqrt(np.maximum(np.einsum("ik,ij,jk->k", ends, kept["beyond"], ends), 0.0))
        return {"values": values, "residuals": residuals}

    def _remembered(self, step: int, find: Callable[[], Arrays]) -> Arrays:
        return self.store.remembered(f"krylov{step}", lambda: (find(), {}))[0]

    def _each(self, task: Callable[[int], list[Floats]], step: int | None = None) -> Floats:
        """Run a task over all ranges, and tell so where it is the long one of a step."""
        runner, part = (self.runner.quiet, 0) if step is None else (self.runner, step)
        return summed(self.store, runner, STAGE, task, part, STEPS + STEPS_AFTER + 1)

    def _started(self) -> Arrays:
        everything = np.ones(WIDTH, dtype=bool)
        sums = self._each(partial(_random, self.store, None, "start", everything, word(0, self.key, 0), ()))
        self._orthonormal([], 0, "start", sums, 0.0, "basis0")
        self.store.forget("start")
        inner = np.zeros((STEPS, STEPS, WIDTH, WIDTH))
        return {"inner": inner, "size": np.zeros(1), "beyond": np.zeros((WIDTH, WIDTH))}

    def _extended(self, basis: list[str], kept: Arrays, step: int, target: str | None = None) -> Arrays:
        """Multiply the last block, and make what the basis lacks of it the next block."""
        inner, filled = kept["inner"].copy(), len(basis)
        # The product with the first block after the restart has parts in all Ritz vectors, others in the last two.
        near = 0 if step == STEPS + 1 else max(filled - 2, 0)
        product, rest = f"product{step}", f"rest{step}"
        first = self._each(partial(_product, self.store, basis[-1], product, basis[near:]), step)[1:]
        sums = self._each(partial(_changed, self.store, product, rest, basis[near:], first, None, basis))
        self.store.forget(product)
        inner[:filled, filled - 1] = sums[1:]
        inner[near:filled, filled - 1] += first
        # The largest squared norm of a product so far; that of a block may be rounding altogether.
        size = max(float(kept["size"][0]), float(((first**2).sum(axis=(0, 1)) + np.diag(sums[0])).max()))
        if target is not None:
            self._orthonormal(basis, step, rest, sums, size, target)
        self.store.forget(rest)
        return {"inner": inner, "size": np.array([size]), "beyond": _beyond(sums)}

    def _orthonormal(self, basis: list[str], step: int, source: str, sums: Floats, size: float, target: str) -> None:
        """Make a block orthogonal to the basis and orthonormal, and write it."""
        for attempt in range(ATTEMPTS):
            unit, turned, drawn = (f"{name}{step}-{attempt}" for name in ("unit", "turned", "drawn"))
            turn, _ = _unit_vectors(_beyond(sums), size, SMALLEST)
            gram = self._each(partial(_changed, self.store, source, unit, basis, sums[1:], turn, ()))[0]
            if np.abs(gram - np.eye(WIDTH)).max() < NEARLY_ONE:
                break
            # The product has fewer dimensions than the block: new random vectors take the place of those that lack.
            turn, weak = _unit_vectors(gram, 0.0, WEAK)
            self._each(partial(_changed, self.store, unit, turned, (), None, turn, None))
            key = word(0, self.key, (step + 1) * WIDTH)
            sums, size = self._each(partial(_random, self.store, turned, drawn, weak, key, basis)), 0.0
            source = drawn
        turn = _unit_vectors(gram, 0.0, SMALLEST)[0]
        self._each(partial(_changed, self.store, unit, target, (), None, turn, None))
        self.store.forget(*(f"{name}{step}-{k}" for name in ("unit", "turned", "drawn") for k in range(ATTEMPTS)))


def _random(
    store: Store, source: str | None, target: str, columns: Bools, key: np.uint64, against: Names, number: int
) -> list[Floats]:
    """Write a block with random vectors in some columns; give its Gram matrix and projections."""
    if not store.has(target, number):
        own = store.room(target, number, np.float32, WIDTH)
        drawn = np.empty(own.shape, dtype=np.float32)
        random_rows(key, store.span(number)[0], drawn)
        if source is not None:
            own[:] = store.read(source, number)
        own[:, columns] = np.float32(np.sqrt(3.0 / store.nodes)) * drawn[:, columns]
        store.write(target, number, own)
    return _gram_matrices(store, target, against, number)


def _product(store: Store, source: str, target: str, near: Names, number: int) -> list[Floats]:
    """Write the product of the matrix and a block; give its Gram matrix and projections."""
    if not store.has(target, number):
        store.write(target, number, neighbour_sums(store, source, target, number))
    return _gram_matrices(store, target, near, number)


def _changed(
    store: Store,
    source: str,
    target: str,
    slabs: Names,
    projected: Floats | None,
    turn: Floats | None,
    against: Names | None,
    number: int,
) -> list[Floats]:
    """Write a block less its projections, its columns turned; give its Gram matrix, then its new projections.

    They come from rows that were just written, which are still in the cache. Without ``against`` it returns no sums.
    """
    if store.has(target, number):
        return [] if against is None else _gram_matrices(store, target, against, number)
    before, basis = store.read(source, number), [store.read(name, number) for name in slabs]
    own = store.room(target, number, np.float32, before.shape[1] if turn is None else turn.shape[1])
    others = [own, *(store.read(name, number) for name in against or ())]
    coefficients = None if projected is None or not basis else projected.astype(np.float32)
    change = None if turn is None else turn.astype(np.float32)

    def apply(part: slice) -> Floats:
        rows = before[part]
        if coefficients is not None:
            rows = rows - _combination(basis, coefficients, part)
        own[part] = rows if change is None else rows @ change
        return np.zeros(()) if against is None else _products(others, own, part)

    sums = block_sums(store, number, apply)
    store.write(target, number, own)
    return [] if against is None else sums


def _combined(store: Store, basis: Names, targets: Names, coefficients: Floats, number: int) -> list[Floats]:
    """Write combinations of the vectors of all blocks, cut into blocks again."""
    if store.has(targets[-1], number):
        return []
    slabs, width = [store.read(name, number) for name in basis], coefficients.shape[2] // len(targets)
    rooms = [store.room(name, number, np.float32, width) for name in targets]

    def apply(part: slice) -> Floats:
        found = _combination(slabs, coefficients, part)
        for k, room in enumerate(rooms):
            room[part] = found[:, k * width : (k + 1) * width]
        return np.zeros(())

    block_sums(store, number, apply)
    for name, room in zip(targets, rooms, strict=True):
        store.write(name, number, room)
    return []


def _gram_matrices(store: Store, name: str, against: Names, number: int) -> list[Floats]:
    """Return the products of the vectors of a block with each other, and with those of other blocks."""
    slabs = [store.read(one, number) for one in (name, *against)]
    return block_sums(store, number, lambda part: _products(slabs, slabs[0], part))


def _products(slabs: list[Array], own: Array, part: slice) -> Floats:
    rows = own[part]
    found = np.empty((len(slabs), slabs[0].shape[1], own.shape[1]), dtype=own.dtype)
    for slab, place in zip(slabs, found, strict=True):
        np.matmul(slab[part].T, rows, out=place)
    return found


def _combination(slabs: list[Array], coefficients: Floats, part: slice) -> Floats:
    total = slabs[0][part] @ coefficients[0]
    for slab, own in zip(slabs[1:], coefficients[1:], strict=True):
        total += slab[part] @ own
    return np.asarray(total)


def _coefficients(ritz: Floats) -> Floats:
    return ritz.reshape(STEPS, WIDTH, -1).astype(np.float32)


def _decomposed(store: Store, count: int) -> Arrays:
    """Decompose a small matrix as a whole."""
    whole = np.zeros((store.nodes, store.nodes))
    for number in store.ranges:
        rows = store.rows(number)
        whole[np.repeat(np.arange(rows.start, rows.stop), np.diff(rows.indptr)), rows.indices] = 1.0
    values, vectors = np.linalg.eigh(whole)
    chosen = np.sort(_order(values)[:count])
    values, vectors = values[chosen], np.ascontiguousarray(vectors[:, chosen])
    for number in store.ranges:
        start, stop = store.span(number)
        store.write(VECTORS, number, vectors[start:stop])
    return {"values": values, "residuals": np.sqrt(((whole @ vectors - vectors * values) ** 2).sum(axis=0))}


def _order(values: Floats) -> Floats:
    return np.asarray(np.argsort(-np.abs(values), kind="stable"))


def _ritz(inner: Floats) -> tuple[Floats, Floats]:
    """Return the eigenvalues of the projected matrix, the leading ones first, and its eigenvectors."""
    upper = np.triu(inner.transpose(0, 2, 1, 3).reshape(STEPS * WIDTH, STEPS * WIDTH))
    values, vectors = np.linalg.eigh(upper + np.triu(upper, 1).T)
    order = _order(values)
    return values[order], vectors[:, order]


def _beyond(sums: Floats) -> Floats:
    """Return the Gram matrix of a block less its projections."""
    return np.asarray(sums[0] - np.einsum("sij,sik->jk", sums[1:], sums[1:]))


def _unit_vectors(gram: Floats, size: float, smallest: float) -> tuple[Floats, Bools]:
    """Return what turns a block into orthonormal vectors, and which of these are too weak to be told from rounding.

    ``size`` is the squared norm that rounding is measured by; 0 where the vectors have about the norm 1.
    """
    squares = np.diag(gram) if size else np.ones(gram.shape[0])
    norms = np.where(squares > size * ROUNDING**2, 1.0 / np.sqrt(np.maximum(squares, 1e-300)), 0.0)
    values, vectors = np.linalg.eigh(gram * np.outer(norms, norms))
    turn = norms[:, None] * vectors / np.sqrt(np.maximum(values, smallest))
    return turn, np.asarray(values < smallest)
