from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator

pytest.importorskip("torch")

from benchmarks.baselines import BASELINES
from oddhop import HCM, Graph, NeighbourCosine, Odd
from tests.conftest import QUICK
from tests.contract.checks import Check, graph_detector_checks, graph_detector_report
from tests.contract.subjects import DoesNotApply, FunctionDetector

# Two seeds of two short chains agree by luck; those of eight do, at .81 or above in 15 pairs of seeds.
OURS = [
    check for one in (HCM(**{**QUICK, "chains": 8}), Odd(), NeighbourCosine()) for check in graph_detector_checks(one)
]


@pytest.mark.slow
@pytest.mark.parametrize("check", OURS, ids=lambda check: f"{type(check.detector).__name__}-{check.name}")
def test_our_detectors_pass_every_check(check: Check) -> None:
    check()


class Careless(BaseEstimator):  # type: ignore[misc]
    """A detector with the faults that were seen in the wild."""

    def __init__(self, random_state: int | None = None) -> None:
        self.random_state = random_state
        self.seen = 0

    def fit(self, graph: Graph, y: Any = None) -> Careless:
        if self.random_state:  # 0 is taken for none
            np.random.seed(self.random_state)
        print("fitting")
        self.seen += graph.edge_count
        spread = graph.attributes.std(axis=0)
        with np.errstate(all="ignore"):
            self.anomaly_scores_ = ((graph.attributes / spread) ** 2).sum(axis=1) + np.random.rand(graph.node_count)
        return self


FAULTS = [
    "the constructor stores and does nothing else",
    "one seed gives the same bits twice",
    "zero is a seed like any other",
    "the global random states are left alone",
    "what is learned ends with an underscore",
    "what is not a network is refused",
    "fitting prints nothing",
    "edges given the other way round change no score",
    "attributes all alike: finite scores or a refusal",
]


def test_a_careless_detector_is_told_its_faults() -> None:
    report = graph_detector_report(Careless())
    for fault in FAULTS:
        assert report[fault].startswith("fails: "), fault
    assert report["there is one score a node"] == "passes"
    assert report["predictions are plus and minus one"] == "does not apply: it has no predict"


def test_a_function_is_checked_as_a_detector() -> None:
    report = graph_detector_report(FunctionDetector(BASELINES["degree"]))
    failing = [name for name, outcome in report.items() if outcome.startswith("fails")]
    assert failing == ["a foreign member of a community stands out"]  # the degree sees no attribute


def test_what_is_not_offered_is_said() -> None:
    checks = graph_detector_checks(FunctionDetector(BASELINES["LOF"]))
    (check,) = [found for found in checks if found.name == "workers change no score"]
    with pytest.raises(DoesNotApply, match="it has no workers"):
        check()
