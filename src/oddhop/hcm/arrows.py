"""Arrows: which way the edges of a network go, as its events have it."""

from __future__ import annotations

import numpy as np

from oddhop.base.arrays import Ints
from oddhop.base.kernels import compiled
from oddhop.errors import GraphError
from oddhop.graph.adjacency import first_not_below
from oddhop.graph.graph import Graph

FORWARD, BACKWARD = 1, 2


def arrows(graph: Graph) -> Ints:
    """Return for every edge (u, v), u < v, whether events go from u to v (1), from v to u (2), or both ways (3)."""
    events = graph.events
    if events is None or not events.columns.directed:
        raise GraphError(
            "HCM with directed=True needs directed edges, and this network has none",
            "make the network with directed=True (Graph.from_arrays, read_network), without flows=False",
            command="give --directed, and leave out --no-flows",
        )
    out = np.zeros(graph.edge_count, dtype=np.uint8)
    _mark(graph.indptr, graph.indices, graph.upper, events.indptr, events.partners, out)
    bare = int(np.count_nonzero(out == 0))
    if bare:
        raise GraphError(f"{bare} of {out.size} edges have no event that gives their direction", "remove them")
    return out


def arrows_of(graph: Graph, node: int, neighbours: Ints) -> Ints:
    """Return the same for the edges from one node to some of its neighbours, seen from the node."""
    assert graph.events is not None  # noqa: S101 - ``arrows`` refuses a network without
    own = graph.events.of_nodes(node, node + 1)
    sent, received = np.split(own.partners, own.indptr[1:2])
    return FORWARD * np.isin(neighbours, sent) + BACKWARD * np.isin(neighbours, received)


@compiled
def _mark(indptr: Ints, indices: Ints, upper: Ints, starts: Ints, partners: Ints, out: Ints) -> None:
    for u in range(indptr.size - 1):
        for k in range(starts[2 * u], starts[2 * u + 1]):
            low, high = min(u, partners[k]), max(u, partners[k])
            end = indptr[low + 1]
            first = end - (upper[low + 1] - upper[low])
            place = first_not_below(indices, first, end, high)
            if place < end and indices[place] == high:  # an edge may have been taken out since
                out[upper[low] + place - first] |= FORWARD if u == low else BACKWARD
