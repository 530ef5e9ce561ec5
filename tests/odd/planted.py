"""A network with one stranger, one outlier and one clique, planted in eight communities."""

from __future__ import annotations

import numpy as np

from oddhop import Graph

NODES = 400
STRANGER, OUTLIER = 5, 17
CLIQUE = np.array([40, 91, 142, 193, 244, 295, 346, 397])


def planted(order: np.ndarray | None = None) -> Graph:
    """Return the network, its nodes renumbered where an order is given: node i becomes ``order[i]``."""
    rng = np.random.default_rng(3)
    community = np.arange(NODES) % 8
    members = [np.flatnonzero(community == c) for c in range(8)]
    own = np.concatenate([rng.choice(group, (2, 300)) for group in members], axis=1)
    # Everybody has two ties to other communities, so that nobody is a stranger by chance.
    around = np.stack([np.arange(NODES), (np.arange(NODES) + 1) % NODES])
    ends = np.triu_indices(CLIQUE.size, 1)
    edges = np.concatenate([own, around, np.stack([CLIQUE[ends[0]], CLIQUE[ends[1]]])], axis=1)
    centres = rng.normal(size=(8, 6))
    opposite = np.argmax(((centres - centres[community[STRANGER]]) ** 2).sum(axis=1))
    looks_like = np.where(np.arange(NODES) == STRANGER, opposite, community)
    x = centres[looks_like] + 0.3 * rng.normal(size=(NODES, 6))
    x = np.column_stack([x, rng.normal(size=NODES)])  # what no community shares, and the outlier has far too much of
    x[OUTLIER, -1] = 30.0
    if order is not None:
        moved = np.empty_like(x)
        moved[order] = x
        return Graph.from_arrays(order[edges], moved)
    return Graph.from_arrays(edges, x)
