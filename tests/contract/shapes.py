"""Odd networks: each must get finite scores or an error of a type that can be caught, and no crash."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from oddhop.base.arrays import Floats
from oddhop.errors import OddhopError
from oddhop.graph.graph import Graph
from tests.contract.subjects import scores_of

NODES = 24


def _ring(x: Floats | None = None, nodes: int = NODES) -> Graph:
    around = np.stack([np.arange(nodes), (np.arange(nodes) + 1) % nodes])
    across = np.stack([np.arange(0, nodes, 3), (np.arange(0, nodes, 3) + 5) % nodes])
    return Graph.from_arrays(np.hstack([around, across]), _noise(nodes) if x is None else x)


def _noise(nodes: int, columns: int = 3) -> Floats:
    return np.random.default_rng(0).normal(size=(nodes, columns))


def _wired(pairs: Any, nodes: int) -> Graph:
    return Graph.from_arrays(np.array(pairs, dtype=np.int64).reshape(-1, 2).T, _noise(nodes))


SHAPES: dict[str, Callable[[], Graph]] = {
    "one node": lambda: _wired([], 1),
    "two nodes and one edge": lambda: _wired([(0, 1)], 2),
    "no edges": lambda: _wired([], 6),
    "a square": lambda: _wired([(0, 1), (1, 2), (2, 3), (3, 0)], 4),
    "a star": lambda: _wired([(0, k) for k in range(1, NODES)], NODES),
    "a path": lambda: _wired([(k, k + 1) for k in range(NODES - 1)], NODES),
    "a clique": lambda: _wired([(i, j) for i in range(12) for j in range(i)], 12),
    "two sides": lambda: _wired([(i, j) for i in range(5) for j in range(5, 12)], 12),
    "two components": lambda: _wired([(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)], 6),
    "the last node alone": lambda: _wired([(k, k + 1) for k in range(NODES - 2)], NODES),
    "one edge among a thousand nodes": lambda: _wired([(3, 7)], 1_000),
    "a hub of two thousand": lambda: _wired([(0, k) for k in range(1, 2_001)], 2_001),
    "attributes all alike": lambda: _ring(np.full((NODES, 3), 7.0)),
    "attributes all zero": lambda: _ring(np.zeros((NODES, 3))),
    "one column": lambda: _ring(_noise(NODES, 1)),
    "more columns than nodes": lambda: _ring(_noise(NODES, 150)),
    "one constant column": lambda: _ring(np.hstack([_noise(NODES), np.ones((NODES, 1))])),
    "attributes of 1e20": lambda: _ring(1e20 * _noise(NODES)),
    "attributes of 1e-20": lambda: _ring(1e-20 * _noise(NODES)),
    "columns of very different size": lambda: _ring(_noise(NODES) * np.array([1e-9, 1.0, 1e9])),
    "one cell of 1e30": lambda: _ring(np.where(np.arange(3 * NODES).reshape(-1, 3) == 4, 1e30, _noise(NODES))),
    "zeros and ones": lambda: _ring((_noise(NODES, 6) > 0).astype(float)),
    "a column for every node": lambda: _ring(np.eye(NODES)),
    "rows all but alike": lambda: _ring(1.0 + 1e-12 * _noise(NODES)),
}


def finite_or_refused(detector: Any, shape: str) -> None:
    """Fit one of the shapes; a refusal must be one of ours, or a ValueError."""
    graph = SHAPES[shape]()
    try:
        scores = scores_of(detector, graph)
    except (OddhopError, ValueError):
        return
    assert scores.shape == (graph.node_count,)
    assert np.isfinite(scores).all(), f"{np.sum(~np.isfinite(scores))} scores are not finite"
