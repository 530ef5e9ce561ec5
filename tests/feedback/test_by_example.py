"""Functions that one example each shows."""

from __future__ import annotations

import numpy as np

from oddhop import Graph, Odd
from oddhop.feedback.audit import checked_verdict
from oddhop.feedback.bounds import at_any_time
from oddhop.feedback.learner import Rows, highest, learn, order_weight, places
from oddhop.feedback.ranked import ranked_network


def test_a_ranked_network_has_features_of_every_node() -> None:
    rng = np.random.default_rng(0)
    odd = Odd(random_state=0).fit(Graph.from_arrays(rng.integers(0, 60, (2, 200)), rng.normal(size=(60, 3))))
    ranked = ranked_network(odd, odd.network_, odd.result_)
    assert ranked.names[-1] == "place in the original ranking"
    assert ranked.x[ranked.order[0], -1] == ranked.x[:, -1].max()


def test_an_order_that_finds_hits_weighs_more() -> None:
    place = np.array([[2.0], [1.5], [0.0]], dtype=np.float32)
    for hits, weight in (([0, 0, 1], 0.05), ([1, 1, 0], 0.3)):
        assert round(order_weight(Rows(place, np.array(hits), place[:0], nodes=40)), 2) == weight


def test_a_verdict_is_one_nothing_or_none() -> None:
    assert (checked_verdict("a", True), checked_verdict("a", None)) == (1, None)


def test_a_bound_on_hits_holds_at_any_time() -> None:
    assert repr(at_any_time(100, 30, 13, 17, 0.05)) == "Range(low=23, high=66)"


def test_nodes_that_tie_share_their_place() -> None:
    assert places(np.array([0.1, 0.7, 0.7])).round(2).tolist() == [-0.97, 0.43, 0.43]


def test_what_is_learned_puts_hits_first() -> None:
    x = np.random.default_rng(0).normal(size=(300, 4)).astype(np.float32)
    learned = learn(Rows(x[:40], (x[:40, 0] > 0).astype(float), x[100:], nodes=300))
    score = learned.score(x[40:100])
    assert bool(score[x[40:100, 0] > 0].mean() > score[x[40:100, 0] < 0].mean() + 0.3)


def test_the_highest_scores_come_first_and_ties_in_their_order() -> None:
    assert highest(np.array([1.0, 3.0, 2.0, 3.0]), 3).tolist() == [1, 3, 2]
