from __future__ import annotations

import numpy as np

from oddhop.odd.combine import KINDS
from oddhop.odd.views import judge, learn_panel, thinned_score
from tests.odd.planted import CLIQUE, NODES, OUTLIER, STRANGER, planted


def test_each_planted_oddity_is_found_for_what_it_is() -> None:
    _, evidence, _ = learn_panel(planted())
    top = np.argsort(-evidence.score)[: CLIQUE.size + 2]
    assert set(top) == {STRANGER, OUTLIER, *CLIQUE}
    assert KINDS[evidence.kind[STRANGER]] == "stranger"
    assert KINDS[evidence.kind[OUTLIER]] == "outlier"
    assert {KINDS[k] for k in evidence.kind[CLIQUE]} == {"clique"}


def test_the_numbering_of_the_nodes_does_not_matter() -> None:
    order = np.random.default_rng(0).permutation(NODES)
    one, two = (learn_panel(graph)[1].score for graph in (planted(), planted(order)))
    np.testing.assert_allclose(two[order], one, rtol=1e-5, atol=1e-6)


def test_a_panel_judges_its_own_network_to_the_bit_and_on_any_number_of_workers() -> None:
    graph = planted()
    panel, evidence, _ = learn_panel(graph)
    np.testing.assert_array_equal(judge(panel, graph, workers=2)[0].score, evidence.score)
    np.testing.assert_array_equal(learn_panel(graph, workers=3)[1].score, evidence.score)


def test_thinned_scores_depend_on_seed_and_turn_alone() -> None:
    panel, evidence, seen = learn_panel(planted())
    first = thinned_score(panel, seen, 1, 0)
    np.testing.assert_array_equal(first, thinned_score(panel, seen, 1, 0, workers=2))
    assert not np.array_equal(first, thinned_score(panel, seen, 1, 1))
    assert np.corrcoef(first, evidence.score)[0, 1] > 0.8
