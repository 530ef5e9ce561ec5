"""The readings beside HCM's own: what the authors' script does, step by step, and the most likely hop count."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks.comparison.authors_script import _attributes, _joined, _labelled, _purified, _row_means, authors_script
from benchmarks.comparison.readings import read_posterior
from oddhop import Graph
from oddhop.hcm.settings import HCMSettings

PATH = np.array([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
X = np.array([[0.0], [1.0], [3.0], [6.0]])  # the edges of the path are 1, 2 and 3 long


def test_the_script_drops_what_is_as_unlike_as_its_threshold_ties_and_all() -> None:
    x = sp.csr_array(X)
    assert _purified(x, *PATH, 0.0).tolist() == [True, False, True, False, False, False]  # the least alike goes always
    assert _purified(x, *PATH, 0.4).tolist() == [True, False, False, False, False, False]
    tied = sp.csr_array(np.array([[0.0], [1.0], [0.0], [1.0]]))
    assert not _purified(tied, *PATH, 0.0).any()


def test_the_script_drops_what_points_from_a_later_to_an_earlier_node() -> None:
    rows, columns = np.array([1, 1, 3]), np.array([0, 2, 2])
    assert not _purified(sp.csr_array(X), rows, columns, 0.0).any()  # 1 -> 2 is the only one left, and the least alike


def test_the_script_labels_pairs_by_their_undirected_distance_and_leaves_empty_classes_out() -> None:
    one_way = np.array([0, 2, 2]), np.array([1, 1, 3])
    groups = _labelled(4, *one_way, 4)
    assert [group.tolist() for group in groups] == [[1, 6, 11], [2, 7], [3]]  # nobody is farther: no fourth class
    assert [group.size for group in _labelled(4, *one_way, 3)] == [3, 2, 1]


def test_deviations_as_written_land_on_other_edges_of_a_one_way_network_only() -> None:
    rng = np.random.default_rng(0)
    graph = Graph.from_arrays(rng.integers(0, 30, (2, 90)), rng.normal(size=(30, 3)))
    one_way = np.stack([graph.entry_nodes, graph.indices])
    one_way = one_way[:, (one_way.sum(axis=0) % 2 == 0) == (one_way[0] < one_way[1])]
    written = authors_script(graph, seed=0, directed_edges=one_way, hidden=8)
    placed = authors_script(graph, seed=0, directed_edges=one_way, hidden=8, deviations="on their edges")
    assert np.array_equal(written["ahp"], placed["ahp"])
    assert not np.allclose(written["iv"], placed["iv"])
    # Moved, not changed: a mean times the number of edges is a sum.
    out = np.bincount(one_way[0], minlength=30)
    assert (written["iv"] * out).sum() == pytest.approx((placed["iv"] * out).sum())


def test_the_script_averages_over_the_neighbours_and_divides_by_the_peak() -> None:
    assert _row_means(np.array([1.0, 3.0, 5.0]), np.array([0, 0, 2]), 3).tolist() == [2.0, 0.0, 5.0]
    assert _joined(np.array([1.0, 4.0]), np.array([2.0, 1.0])).tolist() == [1.25, 1.5]
    assert _joined(np.array([1.0, 4.0]), np.zeros(2)).tolist() == [0.0, 0.0]


def test_rows_are_divided_by_their_sums_and_a_row_of_zeros_stays() -> None:
    graph = Graph.from_arrays([[0, 1], [1, 2]], [[1.0, 3.0], [0.0, 0.0], [2.0, 2.0]])
    found = _attributes(graph, row_sums=True, components=20).toarray()
    assert found.tolist() == [[0.25, 0.75], [0.0, 0.0], [0.5, 0.5]]


def test_the_most_likely_hop_count_is_a_whole_number_of_hops() -> None:
    rng = np.random.default_rng(0)
    graph = Graph.from_arrays(rng.integers(0, 30, (2, 90)), rng.normal(size=(30, 3)))
    # Four samples: the mean over them and the neighbours is a whole number over four times their count.
    found = read_posterior(graph, HCMSettings(burn_in=5, samples=4, thin=1, chains=1), 0)
    hops = 4 * found["argmax ahp"] * graph.degrees
    assert hops == pytest.approx(np.round(hops))
    assert (found["argmax ahp"][graph.degrees > 0] >= 1).all()
    assert found["argmax ahp"].max() <= 4
    assert not np.allclose(found["argmax ahp"], found["ahp"])
