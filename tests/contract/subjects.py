"""What is checked, and on which networks."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from oddhop.base.arrays import Floats
from oddhop.graph.graph import Graph


class DoesNotApply(Exception):  # noqa: N818 - it is no error
    """A check does not apply to a detector."""


class FunctionDetector(BaseEstimator):  # type: ignore[misc]
    """A function from a graph and a seed to scores, as a detector.

    Examples
    --------
    >>> from oddhop import Graph
    >>> from benchmarks.baselines import BASELINES
    >>> from tests.contract.subjects import FunctionDetector
    >>> path = Graph.from_arrays([[0, 1], [1, 2]], [[0.0], [1.0], [2.0]])
    >>> FunctionDetector(BASELINES["degree"]).fit(path).anomaly_scores_.tolist()
    [1.0, 2.0, 1.0]
    """

    def __init__(self, function: Callable[..., Floats], random_state: int = 0) -> None:
        self.function = function
        self.random_state = random_state

    def fit(self, graph: Graph, y: Any = None) -> FunctionDetector:
        """Score the nodes of a graph."""
        if not isinstance(graph, Graph):
            raise TypeError(f"a detector needs an oddhop.Graph, got {type(graph).__name__}")
        self.anomaly_scores_ = np.asarray(self.function(graph, seed=self.random_state))
        return self


def fitted(detector: Any, graph: Graph, **parameters: Any) -> Any:
    """Fit a fresh copy of a detector; with a seed where it takes one."""
    fresh = clone(detector)
    known = fresh.get_params()
    if "random_state" in known and "random_state" not in parameters:
        parameters["random_state"] = 0
    missing = sorted(set(parameters) - set(known))
    if missing:
        raise DoesNotApply(f"it has no {', '.join(missing)}")
    return fresh.set_params(**parameters).fit(graph)


def scores_of(detector: Any, graph: Graph, **parameters: Any) -> Floats:
    """Return the scores of a fresh copy of a detector."""
    return np.asarray(fitted(detector, graph, **parameters).anomaly_scores_)


def needs(detector: Any, *names: str) -> None:
    """Pass over a check of what a detector does not offer."""
    missing = [name for name in names if not hasattr(detector, name)]
    if missing:
        raise DoesNotApply(f"it has no {', '.join(missing)}")


def state_of(detector: Any) -> dict[str, Any]:
    """Copy the parameters of a detector, to see whether they change."""
    return copy.deepcopy(detector.get_params())


def communities(seed: int = 0, nodes: int = 80, columns: int = 4) -> Graph:
    """Return a network of two communities whose members are alike, with ids."""
    edges, x = edges_and_attributes(seed, nodes, columns)
    return Graph.from_arrays(edges, x, [f"n{k:03d}" for k in range(nodes)])


def edges_and_attributes(seed: int = 0, nodes: int = 80, columns: int = 4) -> tuple[np.ndarray, Floats]:
    """Return the same network as arrays, every edge once."""
    rng = np.random.default_rng(seed)
    side = np.arange(nodes) % 2
    left, right = np.triu_indices(nodes, 1)
    joined = rng.random(left.size) < np.where(side[left] == side[right], 12 / nodes, 0.6 / nodes)
    x = rng.normal(size=(nodes, columns)) + 2.0 * (2 * side[:, None] - 1)
    return np.stack([left[joined], right[joined]]), x
