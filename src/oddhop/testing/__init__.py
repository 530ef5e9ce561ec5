"""Checks that any graph detector can be put to, ours or yours, after the manner of scikit-learn's estimator checks.

A detector here is an object with scikit-learn's parameters, ``fit(graph)``, and ``anomaly_scores_`` afterwards, one a
node, high is odd. What else it may offer (``predict``, ``score_samples``, ``save`` and ``load``, ``random_state``,
``contamination``, ``workers``) is checked where it is there. A plain function from graph and seed to scores is taken
with :class:`FunctionDetector`.

>>> from oddhop.evaluate.baselines import BASELINES
>>> from oddhop.testing import FunctionDetector, graph_detector_report
>>> report = graph_detector_report(FunctionDetector(BASELINES["degree"]))
>>> len(report) >= 60, report["edges given the other way round change no score"]
(True, 'passes')
"""

from oddhop.testing.checks import (
    Check,
    check_graph_detector,
    graph_detector_checks,
    graph_detector_report,
    parametrize_with_graph_checks,
)
from oddhop.testing.subjects import DoesNotApply, FunctionDetector

__all__ = [
    "Check",
    "DoesNotApply",
    "FunctionDetector",
    "check_graph_detector",
    "graph_detector_checks",
    "graph_detector_report",
    "parametrize_with_graph_checks",
]
