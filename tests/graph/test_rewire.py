"""Rewired networks: what stays, and what does not."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oddhop import Graph
from oddhop.graph.rewire import rewired_wiring

pytestmark = pytest.mark.kernels


def rewired(graph: Graph, groups: np.ndarray, seed: int, turn: int, across: bool = False) -> Graph:
    """Return a network with its edges joined anew."""
    ends = np.stack(graph.ends(0, graph.edge_count), axis=1)
    indptr, indices = rewired_wiring(ends, groups, seed, turn, across=across)
    return Graph(indptr, indices, graph.attributes)


def between(graph: Graph, groups: np.ndarray) -> np.ndarray:
    """Count the edges between every two groups."""
    ends = np.sort(groups[np.stack(graph.ends(0, graph.edge_count))], axis=0)
    return np.bincount(ends[0] * 10 + ends[1], minlength=100)


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 40), st.integers(1, 120), st.integers(1, 4), st.integers(0, 2**32 - 1), st.booleans())
def test_degrees_and_edges_between_groups_stay_and_the_network_is_simple(nodes, edges, count, seed, across) -> None:
    rng = np.random.default_rng(seed)
    graph = Graph.from_arrays(rng.integers(0, nodes, (2, edges)), np.zeros((nodes, 1)))
    if not graph.edge_count:
        return
    groups = rng.integers(0, count, nodes)
    other = rewired(graph, groups, seed, 0, across)
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


def test_nodes_that_deal_only_with_each_other_do_so_no_more_if_ends_change_places_between_blocks() -> None:
    rng = np.random.default_rng(0)
    groups, ring = np.repeat([0, 1], [400, 60]), 400 + np.stack(np.triu_indices(8, 1))
    bought = np.stack([rng.integers(0, 400, 2_000), rng.integers(400, 460, 2_000)])
    graph = Graph.from_arrays(np.concatenate([bought, ring], axis=1), np.zeros((460, 1)))
    kept = {}
    for across in (False, True):
        left, right = rewired(graph, groups, 0, 0, across).ends(0, graph.edge_count)
        kept[across] = int(((left >= 400) & (left < 408) & (right >= 400) & (right < 408)).sum())
    assert kept[False] == 28
    assert kept[True] < 8


def toward(ends: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Count the edges of every node to either of two groups."""
    places = np.concatenate([2 * ends[0] + groups[ends[1]], 2 * ends[1] + groups[ends[0]]])
    return np.bincount(places, minlength=2 * groups.size)


@pytest.mark.parametrize(
    ("edges", "of_groups"),
    [
        ([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5)], [0, 0, 0, 0, 0, 0]),
        ([(0, 1), (0, 2), (0, 3), (1, 2), (1, 4), (4, 5)], [0, 0, 0, 0, 0, 0]),  # hubs
        ([(0, 3), (0, 4), (1, 3), (2, 5), (0, 1), (3, 4)], [0, 0, 0, 1, 1, 1]),  # two groups
    ],
)
def test_every_network_with_these_degrees_is_as_likely(edges: list[tuple[int, int]], of_groups: list[int]) -> None:
    graph, groups, draws = Graph.from_arrays(np.array(edges).T, np.zeros((6, 1))), np.array(of_groups), 1_500
    known = toward(np.array(edges).T, groups)
    every = combinations(combinations(range(6), 2), len(edges))
    counts = {some: 0 for some in every if np.array_equal(toward(np.array(some).T, groups), known)}
    for seed in range(draws):
        left, right = rewired(graph, groups, seed, 0).ends(0, len(edges))
        counts[tuple(sorted(zip(left.tolist(), right.tolist(), strict=True)))] += 1
    assert len(counts) > 2
    expected = draws / len(counts)
    chi_squared = sum((one - expected) ** 2 for one in counts.values()) / expected
    freedom = len(counts) - 1
    assert chi_squared < freedom + 4 * np.sqrt(2 * freedom) + 4


def test_a_network_that_has_no_other_wiring_stays_as_it_is() -> None:
    complete = Graph.from_arrays(np.stack(np.triu_indices(9, 1)), np.zeros((9, 1)))
    star = Graph.from_arrays([[0] * 8, list(range(1, 9))], np.zeros((9, 1)))
    for graph in (complete, star):
        other = rewired(graph, np.zeros(9, dtype=np.int64), 0, 0)
        np.testing.assert_array_equal(other.indices, graph.indices)


def test_ends_shuffled_in_parts_are_those_shuffled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    graph = Graph.from_arrays(rng.integers(0, 200, (2, 900)), np.zeros((200, 1)))
    groups = rng.integers(0, 3, 200)
    whole = rewired(graph, groups, 0, 0)
    monkeypatch.setattr("oddhop.graph.rewire.AT_ONCE", 50)
    np.testing.assert_array_equal(rewired(graph, groups, 0, 0).indices, whole.indices)
