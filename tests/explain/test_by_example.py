"""Functions that one example each shows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from oddhop import read_network
from oddhop.explain.audit import rank_correlation
from oddhop.explain.cases import case_numbers
from oddhop.explain.counterfactual import Step, search
from oddhop.explain.explanation import Baseline, Change, Explanation, Neighbour, alert_line
from oddhop.explain.flows import node_flows, values_of, with_neighbour


def test_members_of_a_clique_share_a_number() -> None:
    usual = Baseline(threshold=1.0, usual_hops=1.0, usual_spread=0.0)

    def why(name, kind, *group):
        members = tuple(Neighbour(one, 1.0, 0.0, 0.0, member=True) for one in group)
        return Explanation(name, 9.0, 3, 1.0, 0.0, usual, kind, members, 0, 3, (), None)

    whys = why("a", "clique", "c"), why("b", "stranger"), why("c", "clique", "a"), why("d", "clique", "b")
    assert case_numbers(whys) == [1, 2, 1, 3]


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
