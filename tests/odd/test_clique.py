from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from scipy import stats

from oddhop import Graph
from oddhop.arrays.stores import ENTRIES
from oddhop.odd import clique, triangles
from oddhop.odd import communities as odd_communities
from oddhop.odd.clique import beyond_degree
from oddhop.odd.eigenvectors import leading_eigenpairs
from tests.odd.planted import CLIQUE, planted
from tests.odd.stores import clique_scores_of, in_memory, raw_scores

pytestmark = pytest.mark.kernels


def _graph(network: nx.Graph) -> Graph:
    return Graph.from_scipy(nx.to_scipy_sparse_array(network), np.ones((network.number_of_nodes(), 1)))


def _by_the_formula(graph: Graph, no_reason: np.ndarray) -> np.ndarray:
    nodes = graph.node_count
    a = np.zeros((nodes, nodes))
    doubt = np.zeros((nodes, nodes))
    for u in range(nodes):
        a[u, graph.indices[graph.indptr[u] : graph.indptr[u + 1]]] = 1.0
    left, right = graph.ends(0, graph.edge_count)
    doubt[left, right] = doubt[right, left] = no_reason
    pairs = leading_eigenpairs(in_memory(graph))
    values, vectors = pairs.values, pairs.vectors.read().astype(float)
    on_many = 1 / (vectors**4).sum(axis=0) > odd_communities.MANY_NODES
    values, vectors = values[on_many], vectors[:, on_many]
    r = np.clip(1 - (vectors * values) @ vectors.T, 0, 1) * doubt
    s = r.sum(axis=1)
    chance = r * np.outer(s, s) * (s**2).sum() / s.sum() ** 2
    surprise = np.maximum((r * (r @ r) - chance) / np.sqrt(chance + 1), 0) * a
    return np.sort(surprise, axis=1)[:, ::-1][:, : clique.LARGEST].sum(axis=1) / clique.LARGEST


@pytest.mark.parametrize("network", [nx.gnm_random_graph(150, 900, seed=1), nx.barabasi_albert_graph(120, 6, seed=2)])
def test_clique_scores_follow_the_formula(network: nx.Graph) -> None:
    graph = _graph(network)
    # What is left of an edge is kept in single precision, and a surprise is a difference of sums of products of it.
    expected = _by_the_formula(graph, np.ones(graph.edge_count))
    np.testing.assert_allclose(clique_scores_of(graph), expected, rtol=1e-6, atol=1e-6)
    no_reason = 1 / (1.0 + sum(graph.ends(0, graph.edge_count)) % 3)
    np.testing.assert_allclose(
        clique_scores_of(graph, no_reason), _by_the_formula(graph, no_reason), rtol=1e-6, atol=1e-6
    )


def test_what_chance_gives_is_the_upper_tail_of_a_poisson_count() -> None:
    graph = _graph(nx.gnm_random_graph(150, 900, seed=1))
    wiring, entries = in_memory(graph), graph.indices.size
    left = wiring.given(np.ones(entries, np.float32), ENTRIES)
    _, by_chance, chance = raw_scores(wiring, left, np.full(entries, 60.0, np.float32))
    triangles = np.array(list(nx.triangles(nx.gnm_random_graph(150, 900, seed=1)).values()))
    around = graph.adjacency() @ graph.degrees.astype(float)
    rate = (chance * graph.degrees.sum()) ** 3 / 300
    assert rate == pytest.approx(
        triangles.mean(), rel=0.35
    )  # a node is no neighbour of itself, which the model does not know
    at_least = stats.poisson.sf(triangles - 1, np.minimum(graph.degrees * around * chance / 2, rate))
    np.testing.assert_allclose(np.exp(by_chance), at_least, rtol=1e-5)


def test_no_triangle_no_knot() -> None:
    for network in (nx.star_graph(30), nx.path_graph(30), nx.complete_bipartite_graph(5, 7)):
        np.testing.assert_array_equal(clique_scores_of(_graph(network)), 0.0)


def test_a_ring_does_not_explain_itself_away(monkeypatch: pytest.MonkeyPatch) -> None:
    network = nx.gnm_random_graph(600, 1800, seed=0)
    members = list(range(0, 600, 50))
    network.add_edges_from((u, v) for u in members for v in members if u < v)
    graph = _graph(network)
    tied = clique_scores_of(graph)
    assert set(np.argsort(-tied)[: len(members)]) == set(members)
    monkeypatch.setattr(odd_communities, "MANY_NODES", 2)  # let the eigenvector of the clique stand for a community
    assert clique_scores_of(graph)[members].mean() < 0.5 * tied[members].mean()


def test_the_planted_ring_is_found_on_any_number_of_workers() -> None:
    graph = planted()
    tied = clique_scores_of(graph)
    assert set(np.argsort(-tied)[: CLIQUE.size]) == set(CLIQUE)
    np.testing.assert_array_equal(tied, clique_scores_of(graph, workers=3))


def test_a_ring_of_those_who_are_alike_is_no_ring() -> None:
    graph = planted()
    left, right = graph.ends(0, graph.edge_count)
    inside = np.isin(left, CLIQUE) & np.isin(right, CLIQUE)
    alike = clique_scores_of(graph, np.where(inside, 0.1, 1.0))
    assert alike[CLIQUE].mean() < 0.2 * clique_scores_of(graph)[CLIQUE].mean()


def test_a_large_degree_alone_is_not_beyond_it() -> None:
    rng = np.random.default_rng(0)
    degrees = np.ceil(np.exp(rng.normal(2.0, 1.0, 4_000))).astype(np.int64)
    tied = np.log(degrees) + rng.normal(size=degrees.size)
    before, after = (np.corrcoef(view, np.log(degrees))[0, 1] for view in (tied, beyond_degree(tied, degrees)))
    assert abs(after) < 0.3 * before


def test_where_all_degrees_are_the_same_the_median_is_taken_off() -> None:
    tied = np.array([3.0, 1.0, 2.0])
    np.testing.assert_array_equal(beyond_degree(tied, np.array([5, 5, 5])), tied - 2.0)
    np.testing.assert_array_equal(beyond_degree(tied, np.zeros(3, dtype=np.int64)), 0.0)


def test_products_that_are_lost_in_single_precision_are_no_triangles() -> None:
    lost = triangles.chance_log_p(np.array([0.0, 1e-30]), np.array([0.1, 0.1]), np.array([1e-40, 0.0]), 1.0)
    np.testing.assert_array_equal(lost, 0.0)
