"""Functions that one example each shows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from oddhop import read_network
from oddhop.explain.audit import rank_correlation
from oddhop.explain.counterfactual import Step, search
from oddhop.explain.explanation import Baseline, Change, alert_line
from oddhop.explain.flows import node_flows, values_of, with_neighbour
from oddhop.explain.phrases import counted, one_in, said_number, share, spoken


def test_what_a_node_sent_is_said() -> None:
    paid = pa.table({"from": ["a", "a", "b"], "to": ["b", "c", "a"], "euros": [100.0, 50.0, 10.0]})
    people = pa.table({"id": ["a", "b", "c"], "age": [30, 40, 50]})
    events = read_network(paid, people).graph.events
    told = node_flows(events, 0, values_of(events, 0)).sentences
    assert told[0].startswith("This node sent 2 events to 2 nodes (total euros: 150). ")


def test_what_passed_between_two_nodes_is_said() -> None:
    paid = pa.table({"from": ["a", "a", "b"], "to": ["b", "b", "a"], "euros": [100.0, 50.0, 10.0]})
    people = pa.table({"id": ["a", "b"], "age": [30, 40]})
    assert with_neighbour(read_network(paid, people).graph.events, 0, 1) == "sent 2 (150), received 1 (10)"


def test_changes_are_taken_until_the_node_is_no_alert() -> None:
    scores = iter([3.0, 1.0])
    found = search(4.0, Baseline(2.0, 1.0, 0.0), lambda taken, now: Step(Change("edge", len(taken)), next(scores)))
    assert ([change.name for change in found.changes], found.after, found.enough) == ([0, 1], 1.0, True)


def test_the_rank_correlation_is_that_of_spearman() -> None:
    assert round(rank_correlation(np.array([1.0, 2.0, 2.0, 5.0]), np.array([1.0, 3.0, 2.0, 9.0])), 4) == 0.9487


def test_where_nothing_is_flagged_the_line_is_the_score_of_the_last_of_the_first() -> None:
    assert alert_line(np.array([1.0, 3.0, 2.0]), np.inf, 2) == 2.0


def test_phrases_are_joined_as_one_says_them() -> None:
    assert spoken(["red", "blue", "green"]) == "red, blue and green"


def test_a_count_has_a_plural() -> None:
    assert (counted(1, "event"), counted(2000, "event")) == ("1 event", "2,000 events")


def test_a_small_share_is_one_in_so_many() -> None:
    assert (one_in(0.8), one_in(0.5), one_in(0.0123), one_in(1e-9)) == (
        "most",
        "1 in 2",
        "1 in 81",
        "fewer than 1 in a million",
    )


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
