"""HCM with a direction: which networks have one, and that every part of the detector follows it."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
import scipy.sparse as sp

pytest.importorskip("torch")

from benchmarks.comparison.cells import Cell, Problem, scores_of
from oddhop import HCM, Graph, Network, read_network
from oddhop.errors import GraphError, SettingsError
from oddhop.hcm.arrows import arrows
from oddhop.tables.ingest import ingest
from tests.conftest import QUICK, sha256

DIRECTED = {**QUICK, "directed": True}
TABLES = {
    "edges": pa.table({"from": ["a", "c", "b"], "to": ["b", "b", "a"]}),
    "nodes": pa.table({"id": list("abc"), "x": [0.0, 1.0, 2.0]}),
}


@pytest.fixture(scope="module")
def arcs() -> np.ndarray:
    arcs = np.random.default_rng(0).integers(0, 60, (2, 240))
    return arcs[:, arcs[0] != arcs[1]]


@pytest.fixture(scope="module")
def graph(arcs: np.ndarray) -> Graph:
    return Graph.from_arrays(arcs, np.random.default_rng(1).normal(size=(60, 5)), directed=True)


@pytest.fixture(scope="module")
def fitted(graph: Graph) -> HCM:
    return HCM(**DIRECTED, top_k=12).fit(graph)


def test_every_way_to_make_a_network_keeps_the_same_arrows() -> None:
    x = np.arange(3.0)[:, None]
    other = nx.DiGraph([(0, 1), (2, 1), (1, 0)])
    nx.set_node_attributes(other, {k: float(k) for k in range(3)}, "x")
    made = [
        Graph.from_arrays([[0, 2, 1], [1, 1, 0]], x, directed=True),
        Graph.from_arrays([[2, 1, 0], [0, 0, 2]], x[[1, 2, 0]], ["b", "c", "a"], directed=True),
        Graph.from_scipy(sp.csr_array([[0, 1, 0], [1, 0, 0], [0, 1, 0]]), x, directed=True),
        Graph.from_networkx(other, directed=True),
        read_network(TABLES["edges"], TABLES["nodes"], directed=True).graph,
    ]
    assert [arrows(one).tolist() for one in made] == [[3, 2]] * 5
    made[0].events.check(3, "it")
    with pytest.raises(GraphError, match="the NetworkX graph is undirected; give a DiGraph"):
        Graph.from_networkx(other.to_undirected(), directed=True)


def test_a_network_without_a_direction_is_refused(graph: Graph, fitted: HCM, arcs: np.ndarray, tmp_path: Path) -> None:
    plain = Graph.from_arrays(arcs, graph.attributes)
    fitted.save(tmp_path / "model.oddhop")
    loaded = HCM.load(tmp_path / "model.oddhop")
    assert sha256(-loaded.score_samples(graph)) == sha256(fitted.anomaly_scores_)
    why = r"this network has none; make the network with directed=True"
    for refused in (
        lambda: HCM(**DIRECTED).fit(plain),
        lambda: loaded.score_samples(plain),
        lambda: list(loaded.explain_nodes(Network.of(plain), fitted.result_, np.array([0]))),
        lambda: HCM(**DIRECTED).fit(read_network(TABLES["edges"], TABLES["nodes"], directed=False)),
    ):
        with pytest.raises(GraphError, match=why):
            refused()


def test_an_edge_without_an_event_is_refused(graph: Graph, arcs: np.ndarray) -> None:
    events = Graph.from_arrays(arcs[:, 1:], graph.attributes, directed=True).events
    with pytest.raises(GraphError, match=r"1 of \d+ edges have no event"):
        arrows(Graph(graph.indptr, graph.indices, graph.attributes, events=events))


def test_readings_of_the_benchmark_are_refused(graph: Graph, tmp_path: Path) -> None:
    for name, table in TABLES.items():
        pa.csv.write_csv(table, tmp_path / f"{name}.csv")
    ingest(tmp_path / "edges.csv", tmp_path / "nodes.csv", tmp_path / "graph")
    assert arrows(Graph.open(tmp_path / "graph")).tolist() == [3, 2]
    with pytest.raises(SettingsError, match="directed=True: readings have no direction"):
        scores_of(Cell("some", "HCM readings", settings={"directed": True}), Problem(graph, None, None, None))


def test_the_direction_changes_scores_and_the_order_of_rows_does_not(
    graph: Graph, fitted: HCM, arcs: np.ndarray
) -> None:
    shuffled = Graph.from_arrays(arcs[:, ::-1], graph.attributes, directed=True)
    turned = Graph.from_arrays(arcs[::-1], graph.attributes, directed=True)
    assert shuffled.fingerprint == graph.fingerprint
    assert sha256(HCM(**DIRECTED, workers=2).fit(shuffled).anomaly_scores_) == sha256(fitted.anomaly_scores_)
    assert np.array_equal(HCM(**QUICK).fit(turned).anomaly_scores_, HCM(**QUICK).fit(graph).anomaly_scores_)
    assert not np.allclose(-fitted.score_samples(turned), fitted.anomaly_scores_)


@pytest.mark.parametrize("settings", [{"neighbours": 3}, {"pair_labels": "exhaustive"}])
def test_other_settings_go_with_it(graph: Graph, settings: dict[str, object]) -> None:
    found = HCM(**DIRECTED, **settings).fit(graph)
    assert np.isfinite(found.anomaly_scores_).all()
    assert found.diagnostics_.class_sizes.sum() == 60 * 59


def test_a_cell_of_the_benchmark_has_the_direction_of_its_file(graph: Graph, fitted: HCM, arcs: np.ndarray) -> None:
    problem = Problem(Graph.from_arrays(arcs, graph.attributes), None, None, None, directed_edges=arcs)
    settings = {name: value for name, value in DIRECTED.items() if name != "random_state"}
    found = scores_of(Cell("some", "HCM", 0, settings=settings), problem)
    assert np.array_equal(found["ahp"], fitted.anomaly_scores_)


@pytest.mark.parametrize("layers", [1, 2])
def test_an_explained_score_is_the_fitted_one(graph: Graph, layers: int) -> None:
    fitted = HCM(**{**DIRECTED, "layers": layers, "top_k": 12}).fit(graph)
    nodes = fitted.result_["id"].to_numpy()[:12]
    for node, why in zip(nodes, fitted.explain_nodes(Network.of(graph), fitted.result_, nodes), strict=True):
        assert why.score == pytest.approx(fitted.anomaly_scores_[node], rel=1e-4)
