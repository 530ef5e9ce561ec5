from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oddhop import Graph
from oddhop.base.arrays import frozen
from oddhop.base.randomness import LEFT_OUT_EDGES, word
from oddhop.odd.combine import KINDS
from oddhop.odd.fit import _keep, replicate_scores
from oddhop.odd.views import FittedViews, ViewData, fit_views, judge
from tests.odd.planted import CLIQUE, NODES, OUTLIER, STRANGER, planted
from tests.odd.stores import in_memory


def test_each_planted_oddity_is_found_for_what_it_is() -> None:
    _, evidence, _ = fit_views(planted())
    top = np.argsort(-evidence.score)[: CLIQUE.size + 2]
    assert set(top) == {STRANGER, OUTLIER, *CLIQUE}
    assert KINDS[evidence.kind[STRANGER]] == "stranger"
    assert KINDS[evidence.kind[OUTLIER]] == "outlier"
    assert {KINDS[k] for k in evidence.kind[CLIQUE]} == {"clique"}


def _sparse(seed: int, across: float) -> tuple[Graph, np.ndarray]:
    """Return 2,000 nodes in four groups that their attributes tell, with so large a share of edges between groups."""
    rng = np.random.default_rng(seed)
    group = np.arange(2_000) % 4
    left = rng.integers(0, 2_000, 13_862)
    right = np.where(rng.random(left.size) < across, 0, left % 4) + 4 * rng.integers(0, 500, left.size)
    right = np.where(right % 4 == left % 4, right, (right + rng.integers(0, 4, left.size)) % 2_000)
    return Graph.from_arrays([left, right], np.column_stack([np.eye(4)[group], rng.lognormal(size=(2_000, 2))])), group


@pytest.mark.parametrize("across", [0.1, 0.2, 0.3])
def test_a_triangle_by_chance_is_no_clique(across: float) -> None:
    graph, _ = _sparse(0, across)
    _, evidence, _ = fit_views(graph)
    top = np.argsort(-evidence.score)[:100]
    assert np.exp(evidence.log_p[2]).min() > 1e-4  # 95 nodes were at exp(-30) while chance was not asked
    assert np.count_nonzero(evidence.kind[top] == KINDS.index("clique")) <= 15


def test_a_clique_among_triangles_by_chance_is_found() -> None:
    graph, _ = _sparse(0, 0.2)
    members = np.arange(0, 2_000, 251)  # eight nodes of all groups
    ends = np.triu_indices(members.size, 1)
    edges = np.concatenate([np.stack(graph.ends(0, graph.edge_count)), members[np.stack(ends)]], axis=1)
    _, evidence, _ = fit_views(Graph.from_arrays(edges, graph.attributes))
    assert set(np.argsort(-evidence.parts[KINDS.index("clique")])[: members.size]) == set(members)


def _with_clique(edges: np.ndarray, members: np.ndarray, attributes: np.ndarray) -> np.ndarray:
    """Return the ranks of the members of a clique that is added, from 0."""
    ends = members[np.stack(np.triu_indices(members.size, 1))]
    _, evidence, _ = fit_views(Graph.from_arrays(np.concatenate([edges, ends], axis=1), attributes))
    return np.argsort(np.argsort(-evidence.score))[members]


@pytest.mark.parametrize("size", [7, 15])
@pytest.mark.parametrize("degree", [1, 4])
def test_a_clique_is_found_where_hardly_any_other_node_is_in_a_triangle(degree: int, size: int) -> None:
    rng = np.random.default_rng(0)
    edges, members = rng.integers(0, 1_500, (2, 750 * degree)), rng.choice(1_500, size, replace=False)
    assert _with_clique(edges, members, rng.normal(size=(1_500, 4))).max() < size


def test_a_clique_is_found_where_a_column_explains_nearly_all_edges() -> None:
    rng = np.random.default_rng(0)
    sector = rng.integers(0, 5, 1_500)
    left = rng.integers(0, 1_500, 13_000)
    near = np.argsort(sector)[np.searchsorted(np.sort(sector), sector[left]) + rng.integers(0, 250, left.size)]
    right = np.where(rng.random(left.size) < 0.85, near, rng.integers(0, 1_500, left.size))
    members = np.array([rng.choice(np.flatnonzero(sector == s)) for s in (0, 1, 2, 3, 0, 1, 2)])
    ranks = _with_clique(np.stack([left, right]), members, np.column_stack([np.eye(5)[sector], rng.normal(size=1_500)]))
    assert ranks.max() < members.size


def test_the_numbering_of_the_nodes_does_not_matter() -> None:
    order = np.random.default_rng(0).permutation(NODES)
    one, two = (fit_views(graph)[1].score for graph in (planted(), planted(order)))
    np.testing.assert_allclose(two[order], one, rtol=1e-5, atol=1e-6)


def test_a_panel_judges_its_own_network_to_the_bit_and_on_any_number_of_workers() -> None:
    graph = planted()
    views, evidence, _ = fit_views(graph)
    np.testing.assert_array_equal(judge(views, graph, workers=2)[0].score, evidence.score)
    np.testing.assert_array_equal(fit_views(graph, workers=3)[1].score, evidence.score)


def _thinned_scores(views: FittedViews, data: ViewData, rounds: int) -> list[np.ndarray]:
    keys = np.arange(data.source.wiring.nodes, dtype=np.uint64)
    return replicate_scores(data, {"": views.blocks}, np.zeros(0), keys, 1, rounds)


def test_thinned_scores_depend_on_seed_and_turn_alone() -> None:
    views, evidence, data = fit_views(planted())
    first, second = _thinned_scores(views, data, 2)
    again = _thinned_scores(*fit_views(planted(), workers=2)[::2], 1)
    np.testing.assert_array_equal(first, again[0])
    assert not np.array_equal(first, second)
    assert np.corrcoef(first, evidence.score)[0, 1] > 0.8


def _left_out(graph: Graph, keys: np.ndarray) -> np.ndarray:
    """Tell of every edge whether it is left out; both of its entries must be."""
    wiring = in_memory(graph)
    ends = wiring.given(keys)
    fewer = wiring.thinned(_keep, [ends], [ends, word(3, LEFT_OUT_EDGES, 1)])
    kept = replace(graph, indptr=frozen(fewer.indptr.read()), indices=frozen(fewer.indices.read())).adjacency()
    assert (kept != kept.T).nnz == 0
    left, right = graph.ends(0, graph.edge_count)
    return np.asarray(kept.tocsr()[left, right]).ravel() == 0


def test_an_edge_is_left_out_alike_in_any_network_that_has_it() -> None:
    whole = planted()
    keys = np.random.default_rng(0).integers(0, 2**63, whole.node_count, dtype=np.uint64)
    keep = np.random.default_rng(1).random(whole.edge_count) < 0.7
    drawn = _left_out(whole, keys)
    np.testing.assert_array_equal(_left_out(whole.with_edges(keep), keys), drawn[keep])
    # A share of 0.2 of so many: five standard deviations to either side.
    assert abs(drawn.mean() - 0.2) < 5 * np.sqrt(0.2 * 0.8 / drawn.size)
