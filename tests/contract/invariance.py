"""Checks that what does not matter changes nothing: order, direction, repetition, storage, names."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import scipy.sparse as sp

from oddhop.graph.graph import Graph
from tests.contract.subjects import communities, edges_and_attributes, scores_of


def edges_in_another_order_change_no_score(detector: Any) -> None:
    edges, x = edges_and_attributes()
    _same(detector, Graph.from_arrays(edges, x), Graph.from_arrays(edges[:, ::-1], x))


def edges_given_the_other_way_round_change_no_score(detector: Any) -> None:
    edges, x = edges_and_attributes()
    _same(detector, Graph.from_arrays(edges, x), Graph.from_arrays(edges[::-1], x))


def edges_given_twice_change_no_score(detector: Any) -> None:
    edges, x = edges_and_attributes()
    _same(detector, Graph.from_arrays(edges, x), Graph.from_arrays(np.hstack([edges, edges]), x))


def loops_change_no_score(detector: Any) -> None:
    edges, x = edges_and_attributes()
    loops = np.tile(np.arange(5), (2, 1))
    _same(detector, Graph.from_arrays(edges, x), Graph.from_arrays(np.hstack([edges, loops]), x))


def nodes_in_another_order_keep_their_scores(detector: Any) -> None:
    edges, x = edges_and_attributes()
    ids = np.array([f"n{k:03d}" for k in range(80)])
    order = np.random.default_rng(3).permutation(80)
    place = np.argsort(order)
    _same(detector, Graph.from_arrays(edges, x, ids), Graph.from_arrays(place[edges], x[order], ids[order]))


def names_of_nodes_change_no_score(detector: Any) -> None:
    edges, x = edges_and_attributes()
    _same(detector, Graph.from_arrays(edges, x, np.arange(80) * 7), communities())


def names_of_columns_change_no_score(detector: Any) -> None:
    edges, x = edges_and_attributes()
    _same(detector, Graph.from_arrays(edges, x), Graph.from_arrays(edges, x, attribute_names=list("abcd")))


def sparse_attributes_give_the_scores_of_dense_ones(detector: Any) -> None:
    edges, x = edges_and_attributes()
    _same(detector, Graph.from_arrays(edges, x), Graph.from_arrays(edges, sp.csr_array(x)), tolerance=1e-4)


def integers_give_the_scores_of_the_same_floats(detector: Any) -> None:
    edges, x = edges_and_attributes()
    whole = np.round(4 * x)
    _same(detector, Graph.from_arrays(edges, whole), Graph.from_arrays(edges, whole.astype(np.int64)))


def attributes_in_columns_give_the_scores_of_rows(detector: Any) -> None:
    edges, x = edges_and_attributes()
    _same(detector, Graph.from_arrays(edges, x), Graph.from_arrays(edges, np.asfortranarray(x)))


def a_view_of_a_larger_array_is_as_good(detector: Any) -> None:
    edges, x = edges_and_attributes()
    wide = np.hstack([x, np.full_like(x, 1e9)])
    _same(detector, Graph.from_arrays(edges, x), Graph.from_arrays(edges, wide[:, : x.shape[1]]))


def threads_of_the_caller_change_no_score(detector: Any) -> None:
    graph = communities()
    with ThreadPoolExecutor(2) as pool:
        one, two = pool.map(lambda _: scores_of(detector, graph), range(2))
    alone = scores_of(detector, graph)
    assert np.array_equal(one, alone)
    assert np.array_equal(two, alone)


def workers_change_no_score(detector: Any) -> None:
    graph = communities()
    one, two = (scores_of(detector, graph, workers=workers) for workers in (1, 3))
    assert np.array_equal(one, two)


def _same(detector: Any, one: Graph, two: Graph, tolerance: float = 0.0) -> None:
    first, second = scores_of(detector, one), scores_of(detector, two)
    if tolerance == 0.0:
        assert np.array_equal(first, second), f"differs by {np.max(np.abs(first - second)):.3g}"
    else:
        np.testing.assert_allclose(second, first, rtol=tolerance, atol=tolerance)
