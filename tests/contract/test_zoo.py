"""Every degenerate network either gets finite scores or an error that says what to do; never a warning."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

import oddhop
from oddhop import Graph
from oddhop.errors import GraphError
from tests.conftest import QUICK, needs_torch

pytestmark = needs_torch

SHAPES = {
    "empty": (0, []),
    "one node": (1, []),
    "one edge": (2, [(0, 1)]),
    "4-cycle": (4, list(nx.cycle_graph(4).edges)),
    "star": (12, list(nx.star_graph(11).edges)),
    "path": (12, list(nx.path_graph(12).edges)),
    "clique": (10, list(nx.complete_graph(10).edges)),
    "bipartite": (10, list(nx.complete_bipartite_graph(4, 6).edges)),
    "disconnected": (12, [(0, 1), (1, 2), (4, 5), (5, 6), (8, 9)]),
    "all isolated": (6, []),
    "duplicated edges": (4, [(0, 1), (1, 0), (0, 1), (2, 3), (1, 2), (1, 2), (3, 3)]),
}


def _attributes(kind: str, nodes: int) -> np.ndarray:
    normal = np.random.default_rng(0).normal(size=(nodes, 3))
    if kind in ("one NaN", "Inf") and nodes:
        normal[nodes // 2, 1] = np.nan if kind == "one NaN" else np.inf
    return {
        "normal": normal,
        "constant": np.full((nodes, 3), 7.0),
        "zero": np.zeros((nodes, 3)),
        "one NaN": normal,
        "Inf": normal,
        "1e20": normal * 1e20,
        "1e-20": normal * 1e-20,
    }[kind]


@pytest.mark.parametrize("kind", ["normal", "constant", "zero", "one NaN", "Inf", "1e20", "1e-20"])
@pytest.mark.parametrize("shape", SHAPES)
def test_finite_scores_or_an_error_that_says_what_to_do(shape: str, kind: str) -> None:
    nodes, pairs = SHAPES[shape]
    edges = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    refused = nodes == 0 or not pairs or kind in ("one NaN", "Inf")
    if refused:
        with pytest.raises(GraphError, match=r"give|fill"):
            oddhop.HCM(**QUICK).fit(Graph.from_arrays(edges, _attributes(kind, nodes)))
        return
    detector = oddhop.HCM(**QUICK).fit(Graph.from_arrays(edges, _attributes(kind, nodes)))
    for column in detector.result_.columns[1:]:
        assert np.isfinite(column.to_numpy().astype(float)).all()


@pytest.mark.parametrize("columns", [101, 300])
@pytest.mark.parametrize("kind", ["normal", "constant", "zero", "1e20", "1e-20"])
def test_many_columns_go_through_pca_as_safely(columns: int, kind: str) -> None:
    graph = nx.path_graph(8)
    x = np.tile(_attributes(kind, 8), (1, columns))[:, :columns]
    detector = oddhop.HCM(**QUICK).fit(Graph.from_arrays(np.array(graph.edges).T, x))
    assert np.isfinite(detector.anomaly_scores_).all()


@pytest.mark.parametrize("hops", [2, 3, 6])
@pytest.mark.parametrize("labels", ["sampled", "exhaustive"])
def test_every_number_of_classes_works_on_a_graph_that_lacks_some(hops: int, labels: Any) -> None:
    graph = Graph.from_arrays(np.array(nx.star_graph(6).edges).T, np.random.default_rng(0).normal(size=(7, 2)))
    scores = oddhop.HCM(**QUICK, hop_classes=hops, pair_labels=labels).fit(graph).anomaly_scores_
    assert np.isfinite(scores).all()
