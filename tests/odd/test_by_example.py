"""Functions that one example each shows."""

from __future__ import annotations

import numpy as np

from oddhop import Graph
from oddhop.arrays.stores import ENTRIES
from oddhop.detector.cost import Size
from oddhop.odd import communities
from oddhop.odd.blocks import _categories
from oddhop.odd.communities import folded, unfolded
from oddhop.odd.cost import cost, simulates
from oddhop.odd.features import triangle_counts
from oddhop.odd.findings import cut_short, left_out_hubs, related
from oddhop.odd.null import simulations_for
from oddhop.odd.outlier import lengths
from oddhop.odd.settings import OddSettings
from tests.odd.stores import in_memory, wiring_of


def test_an_eigenvector_of_one_node_does_not_live_on_many() -> None:
    vectors = np.stack([np.full(100, 0.1), np.eye(100)[0]], axis=1)
    wiring = wiring_of(np.zeros(101), np.zeros(0, dtype=int))
    powers = wiring.sum(communities._fourth_powers, wiring.given(vectors))
    assert (1 / powers > communities.MANY_NODES).tolist() == [True, False]


def test_what_is_kept_once_for_every_edge_is_unfolded_again() -> None:
    path = Graph.from_arrays([[0, 1], [1, 2]], np.ones((3, 1)))
    wiring = in_memory(path)
    kept = folded(wiring, wiring.given(np.float32([0.5, 0.5, 0.25, 0.25]), ENTRIES))
    assert (kept.tolist(), unfolded(path, kept).tolist()) == ([0.5, 0.25], [0.5, 0.5, 0.25, 0.25])


def test_small_networks_are_not_simulated_unless_asked() -> None:
    few, many = Size(100, 1_000, 20), Size(10_000, 100_000, 20)
    assert (
        simulates(few, OddSettings()),
        simulates(many, OddSettings()),
        simulates(few, OddSettings(max_chance=0.1)),
    ) == (False, True, True)


def test_triangles_are_counted_at_every_node() -> None:
    graph = Graph.from_arrays([[0, 1, 0, 2], [1, 2, 2, 3]], np.eye(4))
    assert triangle_counts(graph.indptr, graph.indices).tolist() == [1.0, 1.0, 1.0, 0.0]


def test_columns_of_a_category_are_found() -> None:
    x = np.array([[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1], [1, 0, 0, 0]])
    assert _categories(x, np.arange(4)).tolist() == [0, 1, 2]


def test_the_views_of_a_million_nodes_take_less_than_six_gibibytes() -> None:
    assert cost(Size(1_000_000, 10_000_000, 20), OddSettings()).memory["views"] < 6 * 2**30


def test_a_large_network_is_simulated_less_often() -> None:
    assert [simulations_for(nodes) for nodes in (600, 100_000, 10_000_000)] == [20, 5, 2]


def test_the_length_of_a_row_is_logarithmic() -> None:
    assert lengths(np.array([[3.0, 4.0], [1.0, 0.0]])).round(2).tolist() == [1.61, 0.0]


def test_related_columns_are_told() -> None:
    assert related(0.5).sentence[:41] == "Connected nodes have related column value"


def test_a_search_that_ended_by_itself_is_not_told() -> None:
    assert cut_short(0) == ()


def test_hubs_that_are_left_out_are_told() -> None:
    assert (
        left_out_hubs({"merchant": 2})[0].sentence[:67]
        == "Odd does not count 2 nodes of kind merchant as common neighbours, b"
    )


def test_the_network_is_judged_four_times_again() -> None:
    assert OddSettings().n_resamples == 4
