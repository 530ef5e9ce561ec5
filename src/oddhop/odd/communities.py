"""What communities leave of the edges: the residual of the adjacency after its leading eigenvectors.

The eigenvectors stand for the communities, but for those that live on few nodes: these are cliques themselves, and must
not explain themselves away.
"""

from __future__ import annotations

import numpy as np

from oddhop.arrays.handles import Handle, Output
from oddhop.arrays.kernels import weighted_product
from oddhop.arrays.stores import ENTRIES
from oddhop.arrays.wiring import Wiring
from oddhop.base.arrays import Floats, Ints
from oddhop.base.kernels import compiled
from oddhop.base.prefetch import AHEAD, prefetch
from oddhop.graph.adjacency import both_ways
from oddhop.graph.graph import Graph
from oddhop.odd.eigenvectors import Eigenpairs

MANY_NODES = 64
STAGE = "communities"


def residuals(wiring: Wiring, pairs: Eigenpairs) -> Handle:
    """Make what communities leave of every entry: the eigenvectors that live on many nodes stand for them."""
    wiring.begin(STAGE)
    if pairs.vectors is None:
        found = wiring.entries(_ones, [], [], Output(ENTRIES, np.float32))
    else:
        many = 1.0 / np.maximum(wiring.sum(_fourth_powers, pairs.vectors), 1e-30) > MANY_NODES
        kept = np.where(many, pairs.values, 0.0).astype(pairs.vectors.any_rows().dtype)
        found = wiring.entries(_residuals, [pairs.vectors], [pairs.vectors, kept], Output(ENTRIES, np.float32))
    wiring.make(found)
    return found  # type: ignore[no-any-return]


def folded(wiring: Wiring, values: Handle) -> Floats:
    """Return an array over the entries once for every edge: half to keep."""
    wiring.make(values)
    found = []
    for first, stop in wiring.store.peers:
        indptr, indices, own = (
            wiring.store.read(one, (first, stop)) for one in (wiring.indptr, wiring.indices, values)
        )
        owners = np.repeat(np.arange(first, stop), np.diff(indptr))
        found.append(np.asarray(own[owners < indices], dtype=np.float32))
    return np.concatenate(found)


def unfolded(graph: Graph, kept: Floats) -> Floats:
    """Return what ``folded`` kept, in the order of the rows."""
    values = np.empty(graph.indices.size, dtype=kept.dtype)
    both_ways(graph.indptr, graph.indices, graph.upper, kept, values)
    return values


def _fourth_powers(vectors: Floats) -> Floats:
    return np.asarray(np.square(np.square(vectors, dtype=np.float64)).sum(axis=0))


@compiled
def _ones(low: Ints, high: Ints, indices: Ints, start: int, out: Floats) -> None:  # noqa: ARG001
    out[:] = 1.0


@compiled
def _residuals(
    low: Ints, high: Ints, indices: Ints, start: int, own: Floats, theirs: Floats, values: Floats, out: Floats
) -> None:
    """Write what is left of an entry; the same bits from either end."""
    for i in range(low.size):
        for e in range(low[i], high[i]):
            prefetch(theirs, indices[min(e + AHEAD, indices.size - 1)] - start)
            explained = weighted_product(values, own, i, theirs, indices[e] - start)
            out[e] = min(max(1.0 - explained, 0.0), 1.0)
