"""Networks of any size, made on the spot: communities, a heavy tail of degrees, attributes by community."""

from __future__ import annotations

import numpy as np

from oddhop.graph.graph import Graph


def synthetic(nodes: int, edges: int, attributes: int, seed: int = 0) -> Graph:
    """Make a network; of the edges asked for, loops and repeats fall out.

    Examples
    --------
    >>> from benchmarks.synthetic import synthetic
    >>> synthetic(1_000, 10_000, 20).node_count
    1000
    """
    rng = np.random.default_rng(seed)
    community = rng.integers(0, max(2, nodes // 1000), nodes)
    order = np.argsort(community, kind="stable")
    popularity = rng.pareto(2.0, nodes) + 0.2
    ends = np.cumsum(popularity[order])
    sources = order[np.searchsorted(ends, rng.random(edges) * ends[-1])]
    # Three edges in four stay near in the order of communities, the rest go anywhere.
    place = np.empty(nodes, dtype=np.int64)
    place[order] = np.arange(nodes)
    near = order[(place[sources] + rng.integers(1, 500, edges)) % nodes]
    anywhere = order[np.searchsorted(ends, rng.random(edges) * ends[-1])]
    targets = np.where(rng.random(edges) < 0.75, near, anywhere)
    centres = rng.normal(size=(int(community.max()) + 1, attributes))
    x = centres[community] + rng.normal(size=(nodes, attributes))
    return Graph.from_arrays(np.stack([sources, targets]), x.astype(np.float32))
