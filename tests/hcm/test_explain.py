"""Explanations: the planted neighbours look farthest, and the figures are those of the scores."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from oddhop import HCM, Graph, Network
from oddhop.base.parallel import silent
from oddhop.errors import GraphError
from oddhop.explain.explanation import SHOWN, Explanation
from oddhop.hcm.explain import LOOKED_AT
from tests.conftest import QUICK

GROUPS, SIZE = 4, 40
STRANGER = 5


@pytest.fixture(scope="module")
def planted() -> Graph:
    """Four groups; node 5 also knows six of another group."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(GROUPS), SIZE)
    left = np.repeat(np.arange(GROUPS * SIZE), 4)
    right = SIZE * group[left] + rng.integers(0, SIZE, left.size)
    edges = np.concatenate([[left, right], [[STRANGER] * 6, np.arange(130, 136)]], axis=1)
    x = np.column_stack([3.0 * np.eye(GROUPS)[group], np.zeros(group.size)]) + rng.normal(0, 0.3, (group.size, 5))
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


@pytest.mark.parametrize("score", ["ahp", "hav"])
def test_the_score_and_the_spread_are_those_of_the_detector(planted: Graph, score: str) -> None:
    fitted = HCM(**{**QUICK, "burn_in": 60, "score": score}).fit(planted)
    nodes = fitted.result_["id"].to_numpy()[:20].tolist()
    for node, why in zip(nodes, explained(fitted, planted, nodes), strict=True):
        assert why.score == pytest.approx(fitted.anomaly_scores_[node], rel=1e-4)
        row = fitted.result_.filter(np.asarray(fitted.result_["id"]) == node)
        assert why.hops == pytest.approx(row["ahp"][0].as_py(), rel=1e-4)
        assert why.spread**2 == pytest.approx(row["iv"][0].as_py(), rel=1e-3)
        assert why.degree == planted.degrees[node]


def test_nothing_is_claimed_that_was_not_tried(planted: Graph, fitted: HCM) -> None:
    for why in explained(fitted, planted, fitted.result_["id"].to_numpy()[:8].tolist()):
        assert why.counterfactual is None
        assert not why.columns


def test_a_node_with_very_many_neighbours_is_explained_by_a_draw() -> None:
    rng = np.random.default_rng(0)
    many = 3 * LOOKED_AT
    edges = [[0] * many + list(range(1, many)), [*range(1, many + 1), *range(2, many + 1)]]
    graph = Graph.from_arrays(edges, rng.normal(size=(many + 1, 2)))
    fitted = HCM(**QUICK).fit(graph)
    [why] = explained(fitted, graph, [0])
    assert (why.degree, why.looked_at, len(why.neighbours)) == (many, LOOKED_AT, SHOWN)
    assert why.score == pytest.approx(fitted.anomaly_scores_[0], rel=0.1)


def test_a_node_without_neighbours_says_so(small: Graph) -> None:
    fitted = HCM(**QUICK).fit(small)
    [why] = explained(fitted, small, [60])
    assert (why.degree, why.score, why.neighbours) == (0, 0.0, ())


def test_an_id_that_no_node_has_is_refused(small: Graph) -> None:
    fitted = HCM(**QUICK).fit(small)
    assert fitted.explain(60).degree == 0
    with pytest.raises(GraphError, match="no node is called 61"):
        fitted.explain(61)


def test_workers_change_nothing(planted: Graph, fitted: HCM) -> None:
    nodes = list(range(12))
    whole = explained(fitted, planted, nodes)
    context = Network.of(planted), np.array(nodes), fitted.baseline(fitted.result_)
    assert list(fitted._explain(*context, 2, silent)) == whole
