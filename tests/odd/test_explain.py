"""Explanations of Odd: what was planted is named, and what is claimed holds when the network is scored again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from oddhop import Graph, Network, Odd, read_network
from oddhop.base.parallel import silent
from oddhop.errors import GraphError
from oddhop.explain.explanation import NOTABLE, Explanation
from oddhop.odd.explain import MANY
from oddhop.odd.features import node_features
from oddhop.odd.views import fit_views
from oddhop.tables.encode import learn_encoding
from tests.odd.planted import CLIQUE, OUTLIER, STRANGER, planted
from tests.odd.small_shop import shop

FLAGGED = 10


@pytest.fixture(scope="module")
def network() -> Graph:
    return planted()


@pytest.fixture(scope="module")
def fitted(network: Graph) -> Odd:
    return Odd(random_state=0, top_k=FLAGGED, workers=1).fit(network)


def explained(fitted: Odd, graph: Graph, nodes: list[int], workers: int = 1) -> list[Explanation]:
    baseline = fitted.baseline(fitted.result_)
    return list(fitted._explain(Network.of(graph), np.array(nodes), baseline, workers, silent))


def test_score_kind_and_p_values_are_those_of_the_detector(network: Graph, fitted: Odd) -> None:
    rows = {row["id"]: row for row in fitted.result_.to_pylist()}
    nodes = list(range(0, 400, 7))
    for node, why in zip(nodes, explained(fitted, network, nodes), strict=True):
        row = rows[node]
        # What communities leave of the edges is kept in single precision.
        assert why.score == pytest.approx(row["score"], rel=1e-5)
        assert why.kind == row["kind"]
        assert [one.p for one in why.views] == pytest.approx([row[f"p_{one.name}"] for one in why.views], rel=1e-4)
        assert sum(one.part for one in why.views) == pytest.approx(why.score)


def several_kinds() -> Network:
    made = shop()
    return read_network(made.edges, made.tables, judge="account")


@pytest.mark.parametrize("make", [pytest.param(planted, marks=pytest.mark.slow), several_kinds])
def test_explained_again_with_another_threshold_nothing_is_left_of_the_first(
    make: Callable[[], Graph | Network],
) -> None:
    detector = Odd(random_state=0, top_k=FLAGGED, simulate=False, n_resamples=2).fit(make())
    nodes = detector.network_.numbers(detector.result_["id"].slice(0, 40))
    before = list(detector.explain_nodes(detector.network_, detector.result_, nodes))
    for place in (2, 25):  # a higher threshold, and a lower one
        detector.flag_above(detector.result_["score"][place].as_py())
        everything = list(detector.explain_nodes(detector.network_, detector.result_, nodes))
        before = detector.explain_again(detector.network_, detector.result_, nodes, before)
        assert before == everything


def test_the_stranger_is_told_by_its_columns(network: Graph, fitted: Odd) -> None:
    [why] = explained(fitted, network, [STRANGER])
    assert why.telling
    assert why.counterfactual is not None
    assert why.counterfactual.enough
    far = [one.rarity for one in why.neighbours]
    assert far == sorted(far)
    assert why.far == sum(one <= NOTABLE for one in far)


def test_the_outlier_is_told_by_the_column_it_has_too_much_of(network: Graph, fitted: Odd) -> None:
    [why] = explained(fitted, network, [OUTLIER])
    assert why.kind == "outlier"
    assert why.columns[0].column == "attribute 6"
    assert [one.name for one in why.counterfactual.changes] == ["attribute 6"]  # type: ignore[union-attr]


def test_the_ring_is_told_by_its_members_and_their_ties(network: Graph, fitted: Odd) -> None:
    [why] = explained(fitted, network, [int(CLIQUE[0])])
    others = set(CLIQUE[1:].tolist())
    members = {one.id for one in why.neighbours if one.member}
    assert {one.id for one in why.neighbours[:7]} == others
    assert members == others - {142}  # who looks enough like it for their tie to be half explained
    assert set(why.group) == members
    assert {one.kind for one in why.counterfactual.changes} == {"edge"}  # type: ignore[union-attr]
    assert {one.name for one in why.counterfactual.changes} <= others  # type: ignore[union-attr]


def test_an_ordinary_node_is_said_to_be_one(network: Graph, fitted: Odd) -> None:
    last = fitted.result_["id"].to_pylist()[-1]
    [why] = explained(fitted, network, [last])
    assert min(one.p for one in why.views) > NOTABLE
    assert why.counterfactual is None
    assert not why.group


def test_counterfactuals_hold_when_the_changed_network_is_scored(network: Graph, fitted: Odd) -> None:
    nodes = fitted.result_["id"].to_pylist()[:FLAGGED]
    ends = np.stack([np.repeat(np.arange(400), network.degrees), network.indices])
    ends = ends[:, ends[0] < ends[1]]
    tried = 0
    for node, why in zip(nodes, explained(fitted, network, nodes), strict=True):
        if why.counterfactual is None:
            continue
        tried += 1
        edges, x = ends, np.array(network.attributes)
        for change in why.counterfactual.changes:
            if change.kind == "edge":
                edges = edges[:, ~((edges == node) | (edges == change.name)).all(axis=0)]
            else:
                column = int(str(change.name).split()[1])
                theirs = network.indices[network.indptr[node] : network.indptr[node + 1]]
                x[node, column] = np.quantile(network.attributes[theirs, column], 0.5, method="nearest")
        after = -fitted.score_samples(Graph.from_arrays(edges, x))[node]
        assert why.counterfactual.after < why.score
        assert after < why.score
        if all(one.kind == "attribute" for one in why.counterfactual.changes):  # then only a median would move
            assert after == pytest.approx(why.counterfactual.after, abs=1e-3)
        assert 1 <= len(why.counterfactual.changes) <= 5
    assert tried == FLAGGED


def test_dense_and_sparse_tell_the_same(network: Graph, fitted: Odd) -> None:
    sparse = network.with_attributes(sp.csr_array(np.asarray(network.attributes)))
    for one, other in zip(*(explained(fitted, each, [STRANGER, OUTLIER]) for each in (network, sparse)), strict=True):
        assert [column.column for column in one.columns] == [column.column for column in other.columns]
        assert one.counterfactual is not None
        assert other.counterfactual is not None
        assert one.counterfactual.changes == other.counterfactual.changes


def test_a_wide_table_of_words_is_explained_by_words() -> None:
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 100)
    words = rng.random((200, 120)) < np.where(group[:, None] == np.arange(120) // 60, 0.15, 0.01)
    words[3] = words[150]
    ends = np.concatenate([rng.integers(0, 100, (2, 500)), rng.integers(100, 200, (2, 500))], axis=1)
    graph = Graph.from_arrays(ends[:, ends[0] != ends[1]], sp.csr_array(words.astype(float)))
    found = Odd(random_state=0, top_k=FLAGGED, workers=1).fit(graph)
    [why] = explained(found, graph, [3])
    assert why.score == pytest.approx(found.anomaly_scores_[3])
    assert why.kind == "stranger"
    assert int(why.columns[0].column.split()[1]) >= 60


def test_where_the_wiring_says_nothing_no_neighbour_is_far() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 3))
    x[4] = 40.0
    graph = Graph.from_arrays(rng.integers(0, 200, (2, 400)), x)
    found = Odd(random_state=0, top_k=1, workers=1).fit(graph)
    assert found.information_ == 0
    [why] = explained(found, graph, [4])
    assert why.kind == "outlier"
    assert why.far == 0
    assert {one.rarity for one in why.neighbours} == {None}


def test_of_a_hub_no_edge_is_taken_away() -> None:
    rng = np.random.default_rng(0)
    many = MANY + 100
    edges = [[0] * many + list(range(1, many)), [*range(1, many + 1), *range(2, many + 1)]]
    graph = Graph.from_arrays(edges, rng.normal(size=(many + 1, 2)))
    found = Odd(random_state=0, top_k=1, workers=1).fit(graph)
    [why] = explained(found, graph, [0])
    assert why.score == pytest.approx(found.anomaly_scores_[0])
    assert (why.degree, why.looked_at) == (many, MANY)
    assert why.counterfactual is None or {one.kind for one in why.counterfactual.changes} == {"attribute"}


def test_one_edge_is_never_taken_away_and_no_edge_is_said(small: Graph) -> None:
    found = Odd(random_state=0, contamination=0.5, workers=1).fit(small)
    for why in explained(found, small, list(range(61))):
        if why.degree == 0:
            assert (why.score, why.neighbours, why.views) == (0.0, (), ())
        removed = [one for one in why.counterfactual.changes if one.kind == "edge"] if why.counterfactual else []
        assert len(removed) < max(why.degree, 1)


def test_an_id_that_no_node_has_is_refused(fitted: Odd) -> None:
    with pytest.raises(GraphError, match="no node is called 400"):
        fitted.explain(400)
    assert [one.id for one in fitted.explain([3, 9])] == [3, 9]


def test_workers_change_nothing(network: Graph, fitted: Odd) -> None:
    one, two = (explained(fitted, network, list(range(20)), workers=workers) for workers in (1, 2))
    assert one == two


def test_columns_of_a_table_are_spoken_of_by_name_and_value() -> None:
    rng = np.random.default_rng(0)
    town = np.repeat(["Delft", "Leiden"], 100)
    table = pa.table({"town": town, "age": np.where(town == "Delft", 30.0, 60.0) + rng.normal(0, 2, 200)})
    table = table.set_column(0, "town", pa.array(["Leiden", *town[1:]]))
    encoding = learn_encoding(table)
    attributes, names = encoding.apply(table)
    left = np.repeat(np.arange(200), 4)
    right = 100 * (left // 100) + rng.integers(0, 100, left.size)
    graph = Graph.from_arrays([left, right], attributes, attribute_names=names)
    found = Odd(random_state=0, top_k=FLAGGED, workers=1).fit(graph)
    why = found.explain(0, Network(graph, pa.array(range(200)), encoding, originals=table), result=found.result_)
    assert why.columns[0].column == "town"
    assert (why.columns[0].own, why.columns[0].instead) == ("Leiden", "Delft")


@pytest.mark.parametrize("form", [pytest.param(np.asarray, marks=pytest.mark.slow), sp.csr_array])
def test_a_word_that_it_has_is_named_before_words_that_it_lacks_as_most_do(form: Callable[[np.ndarray], Any]) -> None:
    rng = np.random.default_rng(0)
    topic = np.repeat(np.arange(6), 50)
    members = [np.flatnonzero(topic == t) for t in range(6)]
    edges = np.concatenate([rng.choice(group, (2, 200)) for group in members], axis=1)
    words = (rng.random((300, 120)) < np.where(topic[:, None] == np.arange(120) // 20, 0.5, 0.02)).astype(float)
    words[7] = 0
    words[7, [3, 104, 111]] = 1  # one word of its own topic, two of another's
    graph = Graph.from_arrays(edges, form(words))
    fitted = Odd(top_k=10, random_state=0).fit(graph)
    why = fitted.explain(7)
    assert {one.column for one in why.columns[:2]} == {"attribute 104", "attribute 111"}
    assert all(one.own == "no" for one in why.columns[2:])  # what lacks is still said, after


def test_a_column_by_the_name_of_a_feature_does_not_replace_it() -> None:
    rng = np.random.default_rng(0)
    names = ["age", "log degree", "mean age of its neighbours"]
    graph = Graph.from_arrays(rng.integers(0, 60, (2, 200)), rng.normal(size=(60, 3)), attribute_names=names)
    plain = graph.with_attributes(graph.attributes, names=["a", "b", "c"])
    found, other = (node_features(fit_views(one)[0], one) for one in (graph, plain))
    assert len(found) == len(other)
    assert np.array_equal(found["mean log degree of its neighbours"], other["mean log degree of its neighbours"])
