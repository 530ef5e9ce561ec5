"""What communities leave of the edges: the residual of the adjacency after its leading eigenvectors.

The eigenvectors stand for the communities, but for those that live on few nodes: these are cliques themselves, and must
not explain themselves away.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from oddhop.base.arrays import Bools, Floats
from oddhop.base.kernels import compiled
from oddhop.base.prefetch import AHEAD, prefetch
from oddhop.base.randomness import START_VECTOR
from oddhop.graph.adjacency import both_ways
from oddhop.graph.disk import Partition
from oddhop.graph.graph import Graph
from oddhop.odd.krylov import VECTORS, Eigenvalues, leading_eigenpairs, refined_eigenpairs
from oddhop.odd.row_blocks import block_sums, summed, weighted_product
from oddhop.partitions.files import Store
from oddhop.partitions.task import TaskRunner

EIGENVECTORS = 64
FEWEST_NODES = 64
STAGE = "communities"
RESIDUALS = "residuals"


def leading(store: Store, runner: TaskRunner) -> Eigenvalues:
    """Search the leading eigenvectors of a network, those of the largest eigenvalues by magnitude."""
    count = min(EIGENVECTORS, store.nodes // 4)
    if store.nodes < FEWEST_NODES or count < 1:
        return Eigenvalues(np.zeros(0), np.zeros(0))
    return leading_eigenpairs(store, runner, count, START_VECTOR)


def leading_from(store: Store, runner: TaskRunner, known: str, count: int, steps: int = 1) -> Eigenvalues:
    """Approximate the leading eigenvectors of a network that differs in some edges from one whose are known.

    A power step and Rayleigh-Ritz are two products with 64 vectors instead of 21 with 16 and a basis of 208.
    """
    if not count:
        return Eigenvalues(np.zeros(0), np.zeros(0))
    return refined_eigenpairs(store, runner, known, steps)


def write_residuals(store: Store, runner: TaskRunner, found: Eigenvalues) -> None:
    """Write what communities leave of every entry: the eigenvectors that live on many nodes stand for them."""
    values = np.where(on_many_nodes(store, runner), found.values, 0.0) if found.values.size else found.values
    runner.each(STAGE, partial(_write_residuals, store, values), store.ranges)


def on_many_nodes(store: Store, runner: TaskRunner) -> Bools:
    """Tell which eigenvectors of a store live on more than 64 nodes, by their participation number."""
    fourth_powers = summed(store, runner.quiet, STAGE, partial(_fourth_powers, store))
    return np.asarray(1.0 / np.maximum(fourth_powers, 1e-30) > FEWEST_NODES)


def _fourth_powers(store: Store, number: int) -> list[Floats]:
    vectors = store.read(VECTORS, number)
    return block_sums(store, number, lambda part: np.square(np.square(vectors[part], dtype=np.float64)).sum(axis=0))


def _write_residuals(store: Store, values: Floats, number: int) -> None:
    if store.has(RESIDUALS, number):
        return
    rows = store.rows(number)
    out = store.entry_room(RESIDUALS, number, np.float32)
    out[:] = 1.0
    if values.size:
        own, cursor = store.read(VECTORS, number), rows.indptr[:-1].copy()
        for peer in store.peers:
            entries = rows.indptr, rows.indices, cursor, *store.peer_span(peer)
            _residuals(entries, own, store.read_peer(VECTORS, peer), values.astype(own.dtype), out)
    store.write(RESIDUALS, number, out)


def folded(graph: Graph, residuals: Floats) -> Floats:
    """Return what communities leave, once for every edge: half to keep."""
    return folded_rows(Partition(0, graph.node_count, graph.indptr, graph.indices), residuals)


def folded_rows(rows: Partition, residuals: Floats) -> Floats:
    """Return the same of some rows of a network."""
    owner = np.repeat(np.arange(rows.start, rows.stop), np.diff(rows.indptr))
    return np.asarray(residuals[owner < rows.indices], dtype=np.float32)


def folded_store(store: Store, name: str) -> Floats:
    """Return an array over the entries of a store, once for every edge."""
    return np.concatenate([folded_rows(store.rows(number), store.read(name, number)) for number in store.ranges])


def unfolded(graph: Graph, kept: Floats) -> Floats:
    """Return what ``folded`` kept, in the order of the rows."""
    residuals = np.empty(graph.indices.size, dtype=kept.dtype)
    both_ways(graph.indptr, graph.indices, graph.upper, kept, residuals)
    return residuals


@compiled
def _residuals(entries: tuple[Any, ...], own: Floats, theirs: Floats, values: Floats, out: Floats) -> None:
    """Write what is left of the entries below ``stop``, from ``cursor`` on; the same bits from either end."""
    indptr, indices, cursor, start, stop = entries
    for i in range(indptr.size - 1):
        entry, end = cursor[i], indptr[i + 1]
        while entry < end and indices[entry] < stop:
            prefetch(theirs, indices[min(entry + AHEAD, indices.size - 1)] - start)
            explained = weighted_product(values, own, i, theirs, indices[entry] - start)
            out[entry] = min(max(1.0 - explained, 0.0), 1.0)
            entry += 1
        cursor[i] = entry
