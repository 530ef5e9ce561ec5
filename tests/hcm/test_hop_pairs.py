"""How pairs are to be drawn, by hand; that they are drawn by that law is in statistical/test_hop_pairs.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from oddhop.base.arrays import Floats
from oddhop.hcm import hop_pairs as hops
from oddhop.hcm.hop_pairs import list_pairs, order_of_sources, plan_draw, sample_pairs
from oddhop.hcm.purify import Purified

pytestmark = pytest.mark.kernels

PATH = Purified(np.array([0, 1, 3, 5, 7, 8]), np.array([1, 0, 2, 1, 3, 2, 4, 3]))
# Four edges a node, and four at the end of an edge; two pilots and four sources among ten nodes.
REGULAR = Purified(np.arange(0, 41, 4), np.zeros(40, dtype=np.int32))


@pytest.fixture
def two_pilots(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hops, "PILOT_SOURCES", 2)


def planned(counts: list[int], rim_edges: int) -> tuple[Floats, Floats, bool]:
    return plan_draw(REGULAR, 4, 10, np.array(counts, dtype=float), rim_edges, 8)


@pytest.mark.usefixtures("two_pilots")
def test_rates_and_sizes_follow_from_what_the_pilots_saw() -> None:
    rates, sizes, _ = planned([16, 0, 32, 64], 10)
    assert rates.tolist() == [0.25, 0.0, 0.125, 0.0625]  # 8 pairs of a class from 4 sources
    assert sizes.tolist() == [20.0, 0.0, 80.0, 160.0]  # the first are the edges


@pytest.mark.parametrize(("pilots", "exact"), [(4, False), (5, True)])
def test_sizes_are_exact_where_all_nodes_were_pilots(pilots: int, exact: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hops, "PILOT_SOURCES", pilots)
    assert sample_pairs(PATH, 3, seed=0).exact is exact


@pytest.mark.usefixtures("two_pilots")
@pytest.mark.parametrize(("rim_edges", "expand"), [(2, True), (10, True), (11, False), (400, False)])
def test_the_rim_is_read_where_proposals_would_read_no_less(rim_edges: int, expand: bool) -> None:
    # Half the rim's edges for one class, as rate x neighbours = 1/2, and 1/16 of all 40 entries for the other: at
    # five edges of the rim a source both cost the same.
    assert planned([16, 16, 32, 64], rim_edges)[2] is expand


@pytest.mark.usefixtures("two_pilots")
@pytest.mark.parametrize(
    ("counts", "expand"), [([16, 16, 4, 64], True), ([16, 16, 64, 4], True), ([16, 4, 64, 64], False)]
)
def test_a_class_that_is_wanted_whole_needs_the_rim_read(counts: list[int], expand: bool) -> None:
    assert planned(counts, 10_000)[2] is expand


def test_what_pilots_count_on_a_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hops, "SOURCES_AT_ONCE", 2)
    seen = []

    def noted(*asked: Any) -> tuple[Floats, Floats, bool]:
        seen.append((asked[3].tolist(), asked[4]))
        return plan_draw(*asked)

    monkeypatch.setattr(hops, "plan_draw", noted)
    steps: list[tuple[str, int, int]] = []
    sample_pairs(PATH, 3, pairs_per_class=5, max_sources=5, seed=0, progress=lambda *step: steps.append(step))
    assert seen == [([8.0, 6.0, 6.0], 14)]  # 14 edges of those one hop away, over all sources
    assert steps == [("hop pairs", 1, 3), ("hop pairs", 2, 3), ("hop pairs", 3, 3)]


def test_of_a_large_network_every_node_may_be_searched_from_once() -> None:
    assert np.unique(order_of_sources(np.ones(100_000), seed=0)).tolist() == list(range(100_000))


def test_where_hardly_a_node_has_an_edge_those_that_have_one_are_searched_from() -> None:
    degrees = np.zeros(10_000, dtype=int)
    degrees[[3, 7, 9_000]] = 1
    assert order_of_sources(degrees, seed=0).tolist() == [3, 7, 9_000]


def test_pairs_of_a_path_are_listed_by_class_and_then_by_node() -> None:
    path = Purified(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1]))
    pairs = list_pairs(path, 3)
    assert list(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)) == [(0, 1), (1, 2), (0, 2)]
    assert pairs.starts.tolist() == [0, 2, 3, 3]
    crossed = list_pairs(Purified(np.arange(5), np.array([3, 2, 1, 0])), 2)
    assert crossed.left.tolist() == [0, 1, 0, 0, 1, 2]
    assert crossed.right.tolist() == [3, 2, 1, 2, 3, 3]
    drawn = sample_pairs(path, 3, pairs_per_class=100, max_sources=3, seed=0)
    assert (drawn.class_sizes.tolist(), drawn.present.tolist()) == ([2.0, 1.0, 0.0], [0, 1])
