"""Functions that one example each shows."""

from __future__ import annotations

import numpy as np

from oddhop import Graph, Odd
from oddhop.feedback.learner import Rows, order_weight
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
