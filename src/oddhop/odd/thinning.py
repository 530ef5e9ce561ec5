"""The wiring of a network with a share of its edges left out at random."""

from __future__ import annotations

from functools import partial

import numpy as np

from oddhop.base.arrays import Ints
from oddhop.base.kernels import compiled
from oddhop.base.randomness import LEFT_OUT_EDGES, drawn, word
from oddhop.graph.graph import Graph
from oddhop.odd.krylov import VECTORS
from oddhop.partitions.files import Store
from oddhop.partitions.task import TaskRunner

LEFT_OUT = 0.2
KEYS = "keys"


def thinned(store: Store, runner: TaskRunner, seed: int, turn: int, shared: tuple[str, ...]) -> Store:
    """Leave out a fifth of the edges, by the keys of their ends: one that is still there tomorrow is treated alike."""
    rows = partial(_kept_rows, word(seed, LEFT_OUT_EDGES, turn))
    names = {("known" if name == VECTORS else name): name for name in shared}
    return store.rewired(wiring_of(turn), rows, names, runner)


def node_keys(graph: Graph) -> Ints:
    """Return what edges are drawn by: the keys of the nodes, or else their numbers."""
    return np.arange(graph.node_count, dtype=np.uint64) if graph.keys is None else graph.keys


def wiring_of(turn: int) -> str:
    """Return the name of a wiring with edges left out."""
    return f"turn{turn}"


def _kept_rows(key: np.uint64, store: Store, number: int) -> tuple[Ints, Ints]:
    rows, own = store.rows(number), store.read(KEYS, number)
    cursor, kept = rows.indptr[:-1].copy(), np.empty(rows.indices.size, dtype=bool)
    for peer in store.peers:
        entries = rows.indptr, rows.indices, cursor, *store.peer_span(peer)
        _keep(*entries, own, store.read_peer(KEYS, peer), key, kept)
    before = np.concatenate([[0], np.cumsum(kept)])
    return before[rows.indptr], rows.indices[kept]


@compiled
def _keep(
    indptr: Ints, indices: Ints, cursor: Ints, start: int, stop: int, own: Ints, theirs: Ints, key: np.uint64, out: Ints
) -> None:
    for i in range(indptr.size - 1):
        while cursor[i] < indptr[i + 1] and indices[cursor[i]] < stop:
            out[cursor[i]] = not drawn(own[i], theirs[indices[cursor[i]] - start], key, LEFT_OUT)
            cursor[i] += 1
