"""The readings beside HCM's own: what the authors' script does, step by step, and the most likely hop count."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from oddhop import Graph
from oddhop.bench.authors_script import _labelled, _over_peak, _purified, _row_means
from oddhop.bench.readings import _node_means, read_posterior
from oddhop.hcm.settings import HCMSettings

PATH = np.array([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
X = np.array([[0.0], [1.0], [3.0], [6.0]])  # the edges of the path are 1, 2 and 3 long


def test_the_script_drops_what_is_as_unlike_as_its_threshold_ties_and_all() -> None:
    # A third of six entries is two, the longest edge in both directions; a quarter is one, and its twin is tied.
    for ratio in (2 / 6, 1.5 / 6):
        assert _purified(X, *PATH, ratio, one_way=False).tolist() == [True, True, True, True, False, False]
    assert _purified(X, *PATH, 0.0, one_way=False).all()


def test_the_script_keeps_one_direction_of_what_it_takes_for_directed() -> None:
    assert _purified(X, *PATH, 2 / 6, one_way=True).tolist() == [True, False, True, False, False, False]


def test_the_script_labels_pairs_by_their_distance_and_leaves_empty_classes_out() -> None:
    wiring = sp.csr_array((np.ones(6), (PATH[0], PATH[1])), shape=(4, 4))
    groups = _labelled(wiring, 4, np.random.default_rng(0))
    apart = [set(np.abs(group[:, 0] - group[:, 1]).tolist()) for group in groups]
    assert apart == [{1}, {2}, {3}]  # nobody is farther, so there is no fourth class
    assert [len(group) for group in groups] == [6, 4, 2]


def test_the_script_averages_over_the_neighbours_and_divides_by_the_peak() -> None:
    assert _row_means(np.array([1.0, 3.0, 5.0]), np.array([0, 0, 2]), 3).tolist() == [2.0, 0.0, 5.0]
    assert _over_peak(np.array([1.0, 4.0])).tolist() == [0.25, 1.0]
    assert _over_peak(np.zeros(2)).tolist() == [0.0, 0.0]


def test_an_edge_counts_for_both_its_ends() -> None:
    graph = Graph.from_arrays(PATH[:, ::2], X)
    assert _node_means(np.array([1.0, 2.0, 4.0]), graph).tolist() == [1.0, 1.5, 3.0, 4.0]


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
