"""Explanations: what was planted is named, what is claimed holds when the whole network is scored again."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from oddhop import HCM, Graph, Network
from oddhop.base.parallel import silent
from oddhop.errors import GraphError
from oddhop.explain.explanation import Explanation
from oddhop.hcm.explain import LOOKED_AT, SHOWN
from oddhop.tables.encode import learn_encoding
from tests.conftest import QUICK

pytestmark = pytest.mark.slow  # with kernels as plain Python: minutes
GROUPS, SIZE = 4, 40
STRANGER, DISGUISED = 5, 50


def edge_list(graph: Graph) -> np.ndarray:
    ends = np.stack([np.repeat(np.arange(graph.node_count), graph.degrees), graph.indices])
    return ends[:, ends[0] < ends[1]]


@pytest.fixture(scope="module")
def planted() -> Graph:
    """Four groups; node 5 also knows six of another group, node 50 has the values of another group in one column."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(GROUPS), SIZE)
    left = np.repeat(np.arange(GROUPS * SIZE), 4)
    right = SIZE * group[left] + rng.integers(0, SIZE, left.size)
    edges = np.concatenate([[left, right], [[STRANGER] * 6, np.arange(130, 136)]], axis=1)
    x = np.column_stack([3.0 * np.eye(GROUPS)[group], np.zeros(group.size)]) + rng.normal(0, 0.3, (group.size, 5))
    x[DISGUISED, :4] = [0, 0, 0, 3.0]
    return Graph.from_arrays(edges[:, edges[0] != edges[1]], x, attribute_names=["a", "b", "c", "d", "noise"])


@pytest.fixture(scope="module")
def fitted(planted: Graph) -> HCM:
    return HCM(burn_in=300, samples=4, thin=4, hidden=32, top_k=8, random_state=0, workers=1).fit(planted)


def explained(fitted: HCM, graph: Graph, nodes: list[int]) -> list[Explanation]:
    return list(fitted.explain_nodes(Network.of(graph), fitted.result_, np.array(nodes)))


def test_the_planted_edges_look_farthest(planted: Graph, fitted: HCM) -> None:
    [why] = explained(fitted, planted, [STRANGER])
    far = {one.id for one in why.neighbours[:6]}
    assert len(far & set(range(130, 136))) >= 5
    assert why.neighbours[0].hops > why.neighbours[-1].hops
    assert str(why.neighbours[0].id) in why.sentences[1]


def test_the_replaced_columns_are_named(planted: Graph, fitted: HCM) -> None:
    [why] = explained(fitted, planted, [DISGUISED])
    assert {one.column for one in why.columns[:2]} == {"b", "d"}
    assert why.telling
    assert "The main reason depends most on the column " in " ".join(why.sentences)


def test_the_score_is_the_one_of_the_detector(planted: Graph, fitted: HCM) -> None:
    nodes = fitted.result_["id"].to_numpy()[:20].tolist()
    for node, why in zip(nodes, explained(fitted, planted, nodes), strict=True):
        assert why.score == pytest.approx(fitted.anomaly_scores_[node], rel=1e-4)
        assert why.degree == planted.degrees[node]


@pytest.mark.parametrize("layers", [1, 2])
def test_a_counterfactual_holds_when_the_changed_network_is_scored(planted: Graph, layers: int) -> None:
    fitted = HCM(**{**QUICK, "burn_in": 100, "layers": layers, "top_k": 12}).fit(planted)
    nodes = fitted.result_["id"].to_numpy()[:12].tolist()
    tried = 0
    for node, why in zip(nodes, explained(fitted, planted, nodes), strict=True):
        if why.counterfactual is None:
            continue
        tried += 1
        edges, x = edge_list(planted), np.array(planted.attributes)
        neighbours = planted.indices[planted.indptr[node] : planted.indptr[node + 1]]
        for change in why.counterfactual.changes:
            if change.kind == "edge":
                edges = edges[:, ~(((edges == node) | (edges == change.name)).all(axis=0))]
            else:
                column = planted.attribute_names.index(change.name)
                x[node, column] = np.quantile(planted.attributes[neighbours, column], 0.5, method="nearest")
        after = -fitted.score_samples(Graph.from_arrays(edges, x))[node]
        assert after == pytest.approx(why.counterfactual.after, rel=1e-4)
        assert after < fitted.anomaly_scores_[node]
        assert 1 <= len(why.counterfactual.changes) <= 5
        assert edges.size < 2 * planted.edge_count or why.counterfactual.changes[0].kind == "attribute"
    assert tried >= 6


def test_the_last_edge_is_never_taken_away() -> None:
    rng = np.random.default_rng(0)
    graph = Graph.from_arrays([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]], rng.normal(size=(6, 2)))
    fitted = HCM(**{**QUICK, "top_k": 6}).fit(graph)
    for why in explained(fitted, graph, list(range(6))):
        removed = [one for one in why.counterfactual.changes if one.kind == "edge"] if why.counterfactual else []
        assert len(removed) < why.degree


def test_a_node_with_very_many_neighbours_is_explained_by_a_draw() -> None:
    rng = np.random.default_rng(0)
    many = 3 * LOOKED_AT
    edges = [[0] * many + list(range(1, many)), [*range(1, many + 1), *range(2, many + 1)]]
    graph = Graph.from_arrays(edges, rng.normal(size=(many + 1, 2)))
    fitted = HCM(**QUICK).fit(graph)
    [why] = explained(fitted, graph, [0])
    assert (why.degree, why.looked_at, len(why.neighbours)) == (many, LOOKED_AT, SHOWN)
    assert why.not_shown == many - SHOWN
    assert why.counterfactual is None
    assert why.score == pytest.approx(fitted.anomaly_scores_[0], rel=0.1)
    assert "uses 512 of the " in why.sentences[-1]


def test_a_node_without_neighbours_says_so(small: Graph) -> None:
    fitted = HCM(**QUICK).fit(small)
    [why] = explained(fitted, small, [60])
    assert why.sentences == ("This node has no neighbours, so it cannot be scored.",)


def test_an_id_that_no_node_has_is_refused(small: Graph) -> None:
    fitted = HCM(**QUICK).fit(small)
    assert fitted.explain(60).degree == 0
    with pytest.raises(GraphError, match="no node is called 61"):
        fitted.explain(61)


def test_batches_and_workers_change_nothing(planted: Graph, fitted: HCM, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = list(range(12))
    whole = explained(fitted, planted, nodes)
    monkeypatch.setattr("oddhop.hcm.explain.FROZEN_BYTES", 1)
    context = Network.of(planted), np.array(nodes), fitted.baseline(fitted.result_)
    parts = list(fitted._explain(*context, 2, silent))
    assert [one.sentences for one in parts] == [one.sentences for one in whole]


def test_columns_of_a_table_are_spoken_of_by_name_and_value() -> None:
    rng = np.random.default_rng(0)
    town = np.repeat(["Delft", "Leiden"], 40)
    table = pa.table(
        {
            "town": town,
            "age": np.where(town == "Delft", 30.0, 60.0) + rng.normal(0, 2, 80),
            "job": np.where(town == "Delft", "makes blue tiles", "reads old books"),
            "odd": rng.choice(["x", "y"], 80),
        }
    )
    table = table.set_column(0, "town", pa.array(["Leiden", *town[1:]]))
    encoding = learn_encoding(table, kinds={"job": "text"}, text_columns=16)
    attributes, names = encoding.apply(table)
    left = np.repeat(np.arange(80), 4)
    right = 40 * (left // 40) + rng.integers(0, 40, left.size)
    graph = Graph.from_arrays([left, right], attributes, attribute_names=names)
    fitted = HCM(**{**QUICK, "burn_in": 200, "hidden": 32, "top_k": 3}).fit(graph)
    network = Network(graph, pa.array(range(80)), encoding, originals=table)
    why = fitted.explain(0, network, result=fitted.result_)
    named = {one.column: one for one in why.columns}
    assert set(named) <= {"town", "age", "job", "odd"}
    assert named["town"].own == "Leiden"
    assert named["town"].usual.startswith("Delft (")
    assert named["town"].instead == "Delft"
    assert why.columns[0].column == "town"
