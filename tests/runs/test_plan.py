"""The estimate of the time that a run takes besides the fit."""

from __future__ import annotations

from pathlib import Path

from oddhop.detector.cost import Size
from oddhop.runs.plan import START_SECONDS, seconds_after_fit, seconds_before_fit
from tests.cli.test_detect import run


def test_more_rows_and_values_take_longer_to_read() -> None:
    small = seconds_before_fit(Size(100, 1_000, 10, 1_000))["reading"]
    assert small < seconds_before_fit(Size(100, 1_000, 10, 10**6))["reading"]
    assert small < seconds_before_fit(Size(100, 1_000, 10, 1_000, events=10**6))["reading"]


def test_a_network_on_disk_is_not_read() -> None:
    assert seconds_before_fit(Size(10**7, 10**8, 20, mapped=True)) == {"reading": START_SECONDS}


def test_no_more_nodes_are_explained_than_there_are() -> None:
    assert (
        seconds_after_fit(Size(50, 100, 3))["explanations"] == seconds_after_fit(Size(50, 100, 3), 50)["explanations"]
    )


def test_the_total_of_a_plan_counts_all_parts(folder: Path) -> None:
    told = run("plan", "edges.csv", "--nodes", "nodes.csv").splitlines()
    seconds = [int(line.split()[-2]) for line in told if line.startswith("  ") and line.endswith(" s")]
    (total,) = (int(line.split()[1]) for line in told if line.startswith("total: "))
    assert len(seconds) == 4  # reading, views, explanations, report
    assert abs(total - sum(seconds)) <= len(seconds) / 2 + 0.5  # each is rounded
