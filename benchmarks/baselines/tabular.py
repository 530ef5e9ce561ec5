"""Detectors that see the attributes and no edge: LOF and the isolation forest, both of scikit-learn."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor

from oddhop.base.arrays import Floats
from oddhop.graph.graph import Graph

NEIGHBOURS = 20  # scikit-learn's


def lof(graph: Graph, *, seed: int = 0) -> Floats:  # noqa: ARG001 - every baseline takes a seed
    """Return the local outlier factor of every node's attributes (Breunig 2000).

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph
    >>> from benchmarks.baselines.tabular import lof
    >>> x = np.concatenate([np.random.default_rng(0).normal(size=(50, 2)), [[9.0, 9.0]]])
    >>> int(lof(Graph.from_arrays([[0], [1]], x)).argmax())
    50
    """
    neighbours = min(NEIGHBOURS, graph.node_count - 1)
    with warnings.catch_warnings():
        # Equal rows are many among real attributes; scikit-learn says so every time.
        warnings.filterwarnings("ignore", message="Duplicate values", category=UserWarning)
        fitted = LocalOutlierFactor(n_neighbors=neighbours).fit(graph.attributes)
    return np.asarray(-fitted.negative_outlier_factor_, dtype=np.float64)


def isolation_forest(graph: Graph, *, seed: int = 0) -> Floats:
    """Return the isolation forest's score of every node's attributes (Liu 2008).

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph
    >>> from benchmarks.baselines.tabular import isolation_forest
    >>> x = np.concatenate([np.random.default_rng(0).normal(size=(50, 2)), [[9.0, 9.0]]])
    >>> int(isolation_forest(Graph.from_arrays([[0], [1]], x), seed=0).argmax())
    50
    """
    forest = IsolationForest(random_state=seed).fit(graph.attributes)
    return np.asarray(-forest.score_samples(graph.attributes), dtype=np.float64)
