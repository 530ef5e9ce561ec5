"""Functions that one example each shows."""

from __future__ import annotations

from oddhop.explain.flows import FlowEvent, NodeFlows
from oddhop.reports.timeline import timeline


def test_events_are_laid_out_on_an_axis() -> None:
    drawn = timeline(NodeFlows((), (FlowEvent(0.0, True, 5.0), FlowEvent(86400.0, False, 20.0)), amount="euros"))
    assert [(mark.x, mark.shade, mark.label) for mark in drawn.marks] == [
        (10.0, "in", "1970-01-01 00:00, received, euros 5"),
        (470.0, "out", "1970-01-02 00:00, sent, euros 20"),
    ]
