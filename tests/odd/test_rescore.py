"""A node judged again is judged as in the whole network."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oddhop import Graph
from oddhop.arrays.wiring import Wiring
from oddhop.base.arrays import frozen
from oddhop.odd.clique import clique_scores_with, surprises
from oddhop.odd.eigenvectors import Eigenpairs, leading_eigenpairs
from oddhop.odd.rescore import FixedNetwork, fix_network, rescore_node
from oddhop.odd.triangles import LARGEST
from oddhop.odd.views import Figures, fit_views, judge, measure
from tests.odd.planted import CLIQUE, OUTLIER, STRANGER, planted
from tests.odd.stores import in_memory


@pytest.fixture(scope="module")
def held() -> FixedNetwork:
    graph = planted()
    return fix_network(fit_views(graph)[0], graph)


def test_without_a_change_it_is_judged_as_it_was(held: FixedNetwork) -> None:
    graph = held.graph
    _, evidence, _ = fit_views(graph)
    for node in range(0, 400, 13):
        kept = np.ones((1, graph.degrees[node]), dtype=bool)
        again = rescore_node(held, node, *held.of_attributes(graph.attributes[[node]]), kept)
        np.testing.assert_allclose(again.evidence.log_p[:, 0], evidence.log_p[:, node], rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(again.evidence.parts[:, 0], evidence.parts[:, node], rtol=1e-6, atol=1e-8)


def figures_of(held: FixedNetwork, changed: Graph, node: int) -> np.ndarray:
    """Return the four figures of a node by seeing the whole changed network."""
    views = held.fitted
    return as_rows(measure(views, changed)[0].figures)[:, node]


def as_rows(figures: Figures) -> np.ndarray:
    return np.stack([*figures.values.values(), figures.by_chance])


def without(graph: Graph, node: int, others: np.ndarray) -> Graph:
    ends = np.stack([np.repeat(np.arange(graph.node_count), graph.degrees), graph.indices])
    gone = ((ends[0] == node) & np.isin(ends[1], others)) | (ends[0] > ends[1])
    gone |= (ends[1] == node) & np.isin(ends[0], others)
    return Graph.from_arrays(ends[:, ~gone], graph.attributes)


@pytest.mark.parametrize("node", [int(CLIQUE[0]), STRANGER, 100])
def test_the_figures_after_a_change_are_those_of_the_whole_changed_network(
    held: FixedNetwork, node: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = held.graph
    there = held.neighbours(node)
    gone = np.isin(there, CLIQUE[1:3]) if node in CLIQUE else np.arange(there.size) < 2
    row = np.array(graph.attributes[there[3]])
    changed_row = np.array(graph.attributes)
    changed_row[node] = row
    same_looks, new_looks = held.of_attributes(graph.attributes[[node]]), held.of_attributes(row[None])
    fewer = without(graph, node, there[gone])
    assert fewer.degrees[node] == there.size - 2
    known = leading_eigenpairs(in_memory(graph))

    def held_still(wiring: Wiring) -> Eigenpairs:
        return Eigenpairs(known.values, wiring.given(known.vectors.read()))

    monkeypatch.setattr("oddhop.odd.views.leading_eigenpairs", held_still)
    for seen, kept, changed in (
        (same_looks, ~gone, fewer),
        (new_looks, np.ones(there.size, dtype=bool), graph.with_attributes(changed_row)),
        (new_looks, ~gone, fewer.with_attributes(changed_row)),
    ):
        again = rescore_node(held, node, *seen, kept[None])
        expected = figures_of(held, changed, node)
        np.testing.assert_allclose(as_rows(again.figures)[:2, 0], expected[:2], rtol=1e-9, atol=1e-9)
        # The raw clique scores of others move a little, and with them the median that is taken off.
        assert again.evidence.score[0] == pytest.approx(judge(held.fitted, changed)[0].score[node], abs=0.05)


@pytest.mark.parametrize("node", [int(CLIQUE[0]), int(CLIQUE[5]), STRANGER, OUTLIER, 100])
def test_what_is_held_moves_the_score_by_little(held: FixedNetwork, node: int) -> None:
    graph = held.graph
    there = held.neighbours(node)
    gone = np.isin(there, CLIQUE[:3]) if node in CLIQUE else np.arange(there.size) < 2
    again = rescore_node(held, node, *held.of_attributes(graph.attributes[[node]]), ~gone[None])
    before = judge(held.fitted, graph)[0].score[node]
    expected = judge(held.fitted, without(graph, node, there[gone]))[0].score[node]
    # The network is small: three edges less turn its eigenvectors, by up to a quarter of a log p far out in the tail.
    assert again.evidence.score[0] == pytest.approx(expected, rel=0.3, abs=0.05)
    assert (again.evidence.score[0] - before) * (expected - before) >= 0


def test_blocks_of_changes_change_nothing(held: FixedNetwork, monkeypatch: pytest.MonkeyPatch) -> None:
    node = int(CLIQUE[0])
    kept = ~np.eye(held.graph.degrees[node], dtype=bool)
    seen = held.of_attributes(held.graph.attributes[[node]])
    whole = as_rows(rescore_node(held, node, *seen, kept).figures)
    monkeypatch.setattr("oddhop.odd.rescore.NUMBERS_AT_ONCE", 3 * kept.shape[1])
    np.testing.assert_allclose(as_rows(rescore_node(held, node, *seen, kept).figures), whole, rtol=1e-12)


def test_where_the_stranger_is_silent_looks_do_not_move_the_ring() -> None:
    rng = np.random.default_rng(0)
    graph = Graph.from_arrays(rng.integers(0, 200, (2, 900)), rng.normal(size=(200, 3)))
    views, evidence, _ = fit_views(graph)
    assert views.homophily.silent
    held = fix_network(views, graph)
    again = rescore_node(held, 3, *held.of_attributes(graph.attributes[:9]), np.ones((1, graph.degrees[3]), dtype=bool))
    np.testing.assert_allclose(again.evidence.log_p[2], evidence.log_p[2, 3])
    assert np.ptp(again.figures.values["raw_clique"]) == 0.0


def test_the_surprises_make_the_clique_score(held: FixedNetwork) -> None:
    expected = measure(held.fitted, held.graph)[0].figures.values["raw_clique"]  # from products of single precision
    for node in (STRANGER, int(CLIQUE[0]), 100):
        found = surprises(held.graph, held.ties, node)
        assert np.sort(found)[-LARGEST:].sum() / LARGEST == pytest.approx(expected[node], rel=1e-6, abs=1e-9)
        row = slice(held.graph.indptr[node], held.graph.indptr[node + 1])
        same = clique_scores_with(held.graph, held.ties, node, held.ties.left[None, row])
        assert same[0] == pytest.approx(expected[node], rel=1e-6, abs=1e-9)


def test_rarity_is_the_share_of_edges_that_look_as_far(held: FixedNetwork) -> None:
    assert held.usual.size == held.graph.edge_count
    assert held.rarity(held.usual[:1])[0] == pytest.approx(1.0)
    assert held.rarity(np.array([np.median(held.usual)]))[0] == pytest.approx(0.5, abs=0.01)
    assert held.rarity(held.usual[-1:] + 9)[0] == pytest.approx(1 / held.usual.size)


def test_very_many_edges_are_drawn_from_evenly(held: FixedNetwork, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oddhop.odd.rescore.EDGES_COMPARED", 500)
    few = fix_network(held.fitted, replace(held.graph, indices=frozen(held.graph.indices.copy())))
    assert few.usual.size == 500
    assert np.median(few.usual) == pytest.approx(np.median(held.usual), abs=0.5)
