"""Functions that one example each shows."""

from __future__ import annotations

import numpy as np

from oddhop.explain.audit import rank_correlation
from oddhop.explain.explanation import alert_line
from oddhop.explain.phrases import counted, one_in, said_number, share, spoken


def test_the_rank_correlation_is_that_of_spearman() -> None:
    assert round(rank_correlation(np.array([1.0, 2.0, 2.0, 5.0]), np.array([1.0, 3.0, 2.0, 9.0])), 4) == 0.9487


def test_where_nothing_is_flagged_the_line_is_the_score_of_the_last_of_the_first() -> None:
    assert alert_line(np.array([1.0, 3.0, 2.0]), np.inf, 2) == 2.0


def test_phrases_are_joined_as_one_says_them() -> None:
    assert spoken(["red", "blue", "green"]) == "red, blue and green"


def test_a_count_has_a_plural() -> None:
    assert (counted(1, "event"), counted(2000, "event")) == ("1 event", "2,000 events")


def test_a_small_share_is_one_in_so_many() -> None:
    shares = 0.8, 0.5, 0.0123, 2e-6, 1e-9
    among = 1_000_000
    assert [one_in(one, among) for one in shares] == [
        "most",
        "1 in 2",
        "1 in 81",
        "1 in 500,000",
        "fewer than 1 in 1,000,000",
    ]
    assert one_in(2e-6, 600) == "fewer than 1 in 600"


def test_a_share_is_a_percentage() -> None:
    assert (share(0.5), share(0.00002), share(0.9999), share(0)) == ("50 %", "under 0.1 %", "over 99.9 %", "none")


def test_a_number_has_as_many_digits_as_help() -> None:
    assert [said_number(one) for one in (12345.6, 3.0, 0.12345, 1.2e300, float("-inf"))] == [
        "12,346",
        "3",
        "0.123",
        "1.2e+300",
        "-inf",
    ]
