"""A node judged again is judged as in the whole network."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oddhop.arrays import frozen
from oddhop.views.again import Held, hold, judge_again
from oddhop.views.panel import learn_panel
from oddhop.views.ring import LARGEST, Ties, knots, surprises, unexplained
from tests.views.planted import RING, STRANGER, planted


@pytest.fixture(scope="module")
def held() -> Held:
    graph = planted()
    return hold(learn_panel(graph)[0], graph)


def test_without_a_change_it_is_judged_as_it_was(held: Held) -> None:
    graph = held.graph
    _, evidence, _ = learn_panel(graph)
    for node in range(0, 400, 13):
        kept = np.ones((1, graph.degrees[node]), dtype=bool)
        again = judge_again(held, node, *held.seen(graph.attributes[[node]]), kept)
        np.testing.assert_allclose(again.evidence.log_p[:, 0], evidence.log_p[:, node], atol=1e-8)


def test_the_figures_without_some_edges_are_those_of_the_network_without_them(held: Held) -> None:
    graph, node = held.graph, int(RING[0])
    there = held.neighbours(node)
    gone = np.isin(there, RING[1:3])
    again = judge_again(held, node, *held.seen(graph.attributes[[node]]), ~gone[None])
    f = held.strangeness(node)[~gone]
    kinship = held.panel.kinship
    z = (f.mean() - kinship.middle) / np.sqrt(kinship.between + kinship.within / f.size)
    assert again.figures[0, 0] == pytest.approx(z)
    # What is left of the edges is held, so we take them out of it by hand and let the definition count.
    left = held.ties.left.copy()
    row = slice(graph.indptr[node], graph.indptr[node + 1])
    left[row][gone] = 0.0
    sums = held.ties.sums.copy()
    sums[node] = left[row].sum()
    found = surprises(graph, Ties(left, sums, held.ties.chance), node)
    assert again.figures[2, 0] == pytest.approx(np.sort(found)[-LARGEST:].sum() / LARGEST)


def test_the_surprises_make_the_knot(held: Held) -> None:
    expected = knots(held.graph)
    for node in (STRANGER, int(RING[0]), 100):
        found = surprises(held.graph, unexplained(held.graph), node)
        assert np.sort(found)[-LARGEST:].sum() / LARGEST == pytest.approx(expected[node])


def test_rarity_is_the_share_of_edges_that_look_as_far(held: Held) -> None:
    assert held.usual.size == 2 * held.graph.edge_count
    assert held.rarity(held.usual[:1])[0] == pytest.approx(1.0)
    assert held.rarity(np.array([np.median(held.usual)]))[0] == pytest.approx(0.5, abs=0.01)
    assert held.rarity(held.usual[-1:] + 9)[0] == pytest.approx(1 / held.usual.size)


def test_very_many_edges_are_drawn_from_evenly(held: Held, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oddhop.views.again.EDGES_COMPARED", 500)
    few = hold(held.panel, replace(held.graph, indices=frozen(held.graph.indices.copy())))
    assert few.usual.size == 500
    assert np.median(few.usual) == pytest.approx(np.median(held.usual), abs=0.5)
