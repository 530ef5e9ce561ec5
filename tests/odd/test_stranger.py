from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from oddhop import Graph
from oddhop.odd.coordinates import learn_coordinates
from oddhop.odd.homophily import make_ratios, related_coordinates
from oddhop.odd.stranger import (
    Half,
    Homophily,
    Ratio,
    canonical_variates,
    held_out_nats,
    probability_unexplained,
    share_as_far,
    strangeness,
    variances,
)
from tests.odd.planted import STRANGER, planted
from tests.odd.stores import homophily_of, in_memory

pytestmark = pytest.mark.kernels


def _pairs(correlations: list[float], count: int, seed: int = 0) -> Graph:
    """Return ``count`` joined pairs whose k-th coordinates have the k-th correlation."""
    rng = np.random.default_rng(seed)
    left = rng.normal(size=(count, len(correlations)))
    rho = np.array(correlations)
    right = rho * left + np.sqrt(1 - rho**2) * rng.normal(size=left.shape)
    return Graph.from_arrays([np.arange(count), np.arange(count) + count], np.concatenate([left, right]))


def test_known_correlations_are_found_of_either_sign() -> None:
    graph = _pairs([0.7, -0.5, 0.0], 20_000)
    homophily, _, _ = homophily_of(graph, graph.attributes)
    np.testing.assert_allclose(np.sort(homophily.correlation), [-0.5, 0.7], atol=0.03)  # what tells nothing is left out


def test_what_an_edge_tells_is_the_mutual_information() -> None:
    graph = _pairs([0.7, -0.5], 20_000)
    expected = -0.5 * np.log(1 - np.array([0.7, -0.5]) ** 2).sum()
    assert homophily_of(graph, graph.attributes)[0].information == pytest.approx(expected, rel=0.05)


def test_the_ratio_is_that_of_two_normal_distributions() -> None:
    a, b, rho = np.array([0.4, -1.1]), np.array([1.3, 0.2]), np.array([0.6, -0.3])
    graph = Graph.from_arrays([[0], [1]], np.stack([a, b]))
    homophily = Homophily(np.zeros(2), np.eye(2), np.eye(2), rho, 0.0, 0.0, 0.0, 1.0)
    joined = sum(
        multivariate_normal.logpdf([a[k], b[k]], cov=[[1, rho[k]], [rho[k], 1]]) for k in range(2)
    )  # fmt: skip
    apart = multivariate_normal.logpdf(np.concatenate([a, b]), cov=np.eye(4))
    wiring = in_memory(graph)
    ratios = make_ratios(wiring, wiring.given(graph.attributes), homophily)
    np.testing.assert_allclose(ratios.f.read(), 2 * [apart - joined], rtol=1e-7)  # of single precision
    np.testing.assert_allclose(ratios.sums.read(), 2 * [apart - joined])


def test_the_probability_of_no_reason_is_that_of_the_ratio_from_both_ends() -> None:
    graph = planted()
    coordinates = learn_coordinates(graph.attributes).some(graph.attributes, 0, graph.node_count)
    homophily, f, ratios = homophily_of(graph, coordinates)
    variates = canonical_variates(coordinates, homophily)
    np.testing.assert_array_equal(f, homophily_of(graph, coordinates, workers=3)[1])
    left, right = graph.ends(0, graph.edge_count)
    ratio = Ratio.of(homophily.correlation)
    for a, b in ((left, right), (right, left)):
        # f is kept in single precision: its odds are off by as much as f is.
        np.testing.assert_allclose(
            probability_unexplained(f), 1 / (1 + np.exp(-ratio(variates[a], variates[b]))), rtol=1e-6
        )
        np.testing.assert_array_equal(f, ratios.f.read()[_entries(graph, a, b)])
    for power, array in ((1, ratios.sums), (2, ratios.squares)):
        each = ratio(variates[left], variates[right]) ** power
        expected = sum(np.bincount(end, each, graph.node_count) for end in (left, right))
        np.testing.assert_allclose(array.read(), expected, rtol=1e-9, atol=1e-9)


def _entries(graph: Graph, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    place = graph.entry_nodes.astype(np.int64) * graph.node_count + graph.indices
    return np.searchsorted(place, rows.astype(np.int64) * graph.node_count + columns)


def test_an_edge_looks_as_far_as_itself_in_single_precision() -> None:
    f = np.sort(np.random.default_rng(0).normal(scale=20.0, size=1_000))
    expected = (f.size - np.arange(f.size)) / f.size
    np.testing.assert_array_equal(share_as_far(f.astype(np.float32), f), expected)
    assert share_as_far(f, np.array([1e9]))[0] == 1 / f.size


def test_what_an_edge_tells_of_held_out_nodes_is_the_mean_over_the_edges_within_the_other_half() -> None:
    graph = _pairs([0.6, -0.3], 400)
    rng = np.random.default_rng(1)
    ends = np.stack(graph.ends(0, graph.edge_count))
    half, x = rng.integers(0, 2, graph.node_count), graph.attributes * [1.0, 2.0] + [0.5, 0.0]
    inside = [ends[:, (half[ends] == k).all(axis=0)] for k in (0, 1)]
    halves, told = [], []
    for own in inside:
        both = np.concatenate([own, own[::-1]], axis=1)
        a, b = (np.hstack([np.ones((both.shape[1], 1)), x[end]]) for end in both)
        halves.append(Half(a.T @ b, a.T @ a, a.T @ a))
    for ours, theirs in ((0, 1), (1, 0)):
        learned, (left, right) = x[inside[ours]], x[inside[theirs]]
        mean, covariance = learned.mean(axis=(0, 1)), np.cov(learned.reshape(-1, 2), rowvar=False, ddof=0)
        values, vectors = np.linalg.eigh(covariance)
        white = vectors / np.sqrt(values)
        one, two = (learned - mean) @ white
        rho, turn = np.linalg.eigh((one.T @ two + two.T @ one) / (2 * len(one)))
        rho = np.sign(rho) * np.sqrt(np.maximum(rho**2 - 4 * 2 / (2 * len(one)), 0.0))
        kept = turn[:, rho != 0]
        told.append(-Ratio.of(rho)((left - mean) @ white @ kept, (right - mean) @ white @ kept))
    assert held_out_nats(tuple(halves)) == pytest.approx(np.concatenate(told).mean(), rel=1e-9)
    assert np.concatenate(told).mean() > 0.1


@pytest.mark.parametrize("seed", range(5))
def test_where_the_wiring_says_nothing_the_view_is_silent(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = Graph.from_arrays(rng.integers(0, 300, (2, 900)), rng.normal(size=(300, 10)))
    homophily, f, _ = homophily_of(graph, graph.attributes)
    assert homophily.silent
    assert homophily.information == 0.0
    np.testing.assert_array_equal(probability_unexplained(f), 0.5)


def test_attributes_that_do_not_vary_are_silent() -> None:
    graph = Graph.from_arrays([[0, 1], [1, 2]], np.ones((3, 2)))
    homophily, _, ratios = homophily_of(graph, np.zeros((3, 2)))
    assert homophily.silent
    np.testing.assert_array_equal(strangeness(homophily, ratios.sums.read(), graph.degrees), 0.0)


def test_the_variances_between_and_within_nodes_are_found() -> None:
    rng = np.random.default_rng(0)
    degrees = rng.integers(2, 40, 20_000)
    own = rng.normal(scale=2.0, size=degrees.size)
    values = [o + rng.normal(scale=3.0, size=d) for o, d in zip(own, degrees, strict=True)]
    sums, squares = (np.array([(v**p).sum() for v in values]) for p in (1, 2))
    middle, between, within = variances(degrees, sums, squares)
    assert middle == pytest.approx(0.0, abs=0.1)
    assert between == pytest.approx(4.0, rel=0.1)
    assert within == pytest.approx(9.0, rel=0.02)


def test_a_node_that_looks_like_another_community_is_the_strangest() -> None:
    graph = planted()
    coordinates = learn_coordinates(graph.attributes).some(graph.attributes, 0, graph.node_count)
    homophily, f, ratios = homophily_of(graph, coordinates)
    assert np.argmax(strangeness(homophily, ratios.sums.read(), graph.degrees)) == STRANGER
    np.testing.assert_array_equal(f, homophily_of(graph, coordinates, workers=2)[1])


def test_a_coordinate_that_tells_nothing_leaves_the_view_as_it_was() -> None:
    graph = planted()
    coordinates = learn_coordinates(graph.attributes).some(graph.attributes, 0, graph.node_count)
    noise = np.random.default_rng(5).normal(size=(graph.node_count, 3))
    before, after = (homophily_of(graph, x)[2] for x in (coordinates, np.hstack([coordinates, noise])))
    np.testing.assert_allclose(before.sums.read(), after.sums.read(), atol=1e-9)
    np.testing.assert_allclose(before.f.read(), after.f.read(), rtol=1e-6, atol=1e-9)


def test_of_columns_dealt_out_at_random_hardly_one_in_a_thousand_is_kept_even_where_hubs_have_most_edges() -> None:
    rng = np.random.default_rng(6)
    hubs = Graph.from_arrays(np.stack([rng.integers(0, 5, 3_000), rng.integers(5, 2_000, 3_000)]), np.zeros((2_000, 1)))
    wiring = in_memory(hubs)
    kept = [related_coordinates(wiring, wiring.given(rng.normal(size=(2_000, 8)))).sum() for _ in range(50)]
    assert sum(kept) <= 2  # of 400; one in 800 is expected at most
