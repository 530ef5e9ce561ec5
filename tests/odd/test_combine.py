from __future__ import annotations

import numpy as np

from oddhop.odd.combine import KINDS, join

LOG_P = np.log([[0.1, 0.9], [0.2, 0.8], [0.3, 0.7], [1.0, 1.0], [1.0, 1.0]])


def test_where_edges_tell_nothing_attributes_and_wiring_are_judged_apart() -> None:
    evidence = join(LOG_P, np.array([0.0, -1.0]), information=0.0)
    np.testing.assert_allclose(evidence.score, -LOG_P[0] / 2 - LOG_P[1] - LOG_P[2] / 2 + [0.0, 1.0])


def test_where_edges_tell_all_the_stranger_decides_and_cliques_apart_are_still_heard() -> None:
    evidence = join(LOG_P, np.array([0.0, -5.0]), information=1e12)
    np.testing.assert_allclose(evidence.score, -LOG_P[0] + [0.0, 5.0])
    assert [KINDS[k] for k in evidence.kind] == ["stranger", "clique"]


def test_what_is_not_rare_adds_nothing() -> None:
    np.testing.assert_array_equal(join(np.zeros((5, 4)), np.zeros(4), 0.3).score, 0.0)


def test_flows_and_cycles_count_as_they_are_whatever_edges_tell() -> None:
    log_p = np.log([[1.0, 1.0], [1.0, 1.0], [1.0, 1.0], [0.01, 1.0], [0.5, 0.001]])
    for information in (0.0, 3.0):
        evidence = join(log_p, np.zeros(2), information)
        np.testing.assert_allclose(evidence.score, -log_p.sum(axis=0))
        assert [KINDS[k] for k in evidence.kind] == ["flow", "cycle"]


def test_the_place_of_a_node_weighs_as_said_and_events_count_whole() -> None:
    log_p = np.log([[0.1], [0.2], [0.3], [0.01], [0.5]])
    whole, half = (join(log_p, np.array([-1.0]), 0.5, place).parts[:, 0] for place in (1.0, 0.5))
    np.testing.assert_allclose(half[:3], whole[:3] / 2)
    np.testing.assert_allclose(half[3:], whole[3:])
