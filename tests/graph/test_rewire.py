"""Rewired networks: what stays, and what does not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oddhop import Graph
from oddhop.graph.rewire import rewired

pytestmark = pytest.mark.kernels  # run again with kernels as plain Python, for their coverage


def between(graph: Graph, groups: np.ndarray) -> np.ndarray:
    """Count the edges between every two groups."""
    ends = np.sort(groups[np.stack(graph.ends(0, graph.edge_count))], axis=0)
    return np.bincount(ends[0] * 10 + ends[1], minlength=100)


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 40), st.integers(1, 120), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_degrees_and_edges_between_groups_stay_and_the_network_is_simple(nodes, edges, count, seed) -> None:
    rng = np.random.default_rng(seed)
    graph = Graph.from_arrays(rng.integers(0, nodes, (2, edges)), np.zeros((nodes, 1)))
    if not graph.edge_count:
        return
    groups = rng.integers(0, count, nodes)
    other = rewired(graph, groups, seed, 0)
    np.testing.assert_array_equal(other.degrees, graph.degrees)
    np.testing.assert_array_equal(between(other, groups), between(graph, groups))
    assert other.edge_count == graph.edge_count  # no loop and no edge twice: they would have been left out


def test_a_clique_is_gone_and_the_same_key_gives_the_same_network() -> None:
    rng = np.random.default_rng(0)
    clique = np.stack(np.triu_indices(12, 1))
    graph = Graph.from_arrays(np.concatenate([rng.integers(0, 500, (2, 2_000)), clique], axis=1), np.zeros((500, 1)))
    one, same, other = (rewired(graph, np.zeros(500, dtype=np.int64), 0, turn) for turn in (0, 0, 1))
    np.testing.assert_array_equal(one.indices, same.indices)
    assert (one.indices != other.indices).any()
    left, right = one.ends(0, one.edge_count)
    assert ((left < 12) & (right < 12)).sum() < 20  # of 66; about six are expected by their degrees
