"""Neighbour cosine: its formula, and rank intervals that hold."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from oddhop import Graph, NeighbourCosine
from oddhop.errors import GraphError
from oddhop.graph.kinds import NodeKinds
from oddhop.graph.preparation import learn_preparation
from oddhop.hcm.cosine import neighbour_cosine


def test_it_is_the_mean_over_the_neighbours_of_one_minus_the_cosine(small: Graph) -> None:
    found = NeighbourCosine(random_state=0).fit(small)
    x = learn_preparation(small.attributes, scale="standard", pca_components=20, pca_above=100).apply(small).attributes
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    joined = sp.csr_array((np.ones(small.indices.size), small.indices, small.indptr)).toarray()[:, :61]
    joined = np.pad(joined, ((0, 0), (0, 61 - joined.shape[1])))
    expected = (joined * (1 - x @ x.T)).sum(axis=1) / np.maximum(small.degrees, 1)
    assert found.anomaly_scores_ == pytest.approx(expected, abs=1e-6)
    assert found.anomaly_scores_[60] == 0.0
    assert not found.result_.sort_by("id")["judged"][60].as_py()


def test_the_jackknife_leaves_out_each_edge_once_and_at_both_ends(small: Graph) -> None:
    score, without = neighbour_cosine(small, 3)
    degrees = small.degrees
    rich = degrees >= 6
    assert not np.array_equal(without[0], without[1])
    # The parts together are the whole: the mean of what is left out, weighted, is the score.
    assert np.abs(without.mean(axis=0) - score)[rich].max() < 0.1
    assert not np.array_equal(without, neighbour_cosine(small, 4)[1])
    assert np.array_equal(score, neighbour_cosine(small, 4)[0])


def test_another_sample_of_the_edges_mostly_ranks_within_the_intervals() -> None:
    rng = np.random.default_rng(0)
    nodes, share = 400, []
    x = rng.normal(size=(nodes, 4)) + 1.5 * rng.normal(size=(4, 4))[np.arange(nodes) % 4]
    for _ in range(5):
        halves = []
        for _ in range(2):
            left = np.repeat(np.arange(nodes), 5)
            right = (left + np.where(rng.random(left.size) < 0.2, 1, 0)) % 4 + 4 * rng.integers(0, 100, left.size)
            halves.append(
                NeighbourCosine(random_state=0).fit(Graph.from_arrays([left, right], x)).result_.sort_by("id")
            )
        low, high, other = (halves[k][name].to_numpy() for k, name in ((0, "rank_low"), (0, "rank_high"), (1, "rank")))
        share.append(np.mean((low <= other) & (other <= high)))
    assert 0.8 < np.mean(share) < 0.99


def test_several_kinds_of_nodes_are_refused() -> None:
    kinds = NodeKinds(("account", "device"), (0, 2, 4), (0,), judged=0)
    graph = Graph.from_arrays([[0, 1], [2, 3]], [[1.0], [2.0], [3.0], [4.0]])
    object.__setattr__(graph, "kinds", kinds)
    with pytest.raises(GraphError, match="one kind of node, got 2"):
        neighbour_cosine(graph)
