"""A network whose ids and names would do harm if they could, and its report."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import oddhop
from oddhop import Graph, Odd
from oddhop.reports import CaseReport
from oddhop.reports import report as case_report

HARMFUL = ("<script>document.title='harm'</script>", "=cmd()", '"><img src=x onerror=alert(1)>', "a\u2028b & 'c'")


@pytest.fixture(scope="session")
def hostile() -> Graph:
    rng = np.random.default_rng(0)
    side = rng.integers(0, 3, 80)
    edges = np.array([(a, b) for a in range(80) for b in rng.integers(0, 80, 9) if side[a] == side[b] and a != b]).T
    ids = [*HARMFUL, *(f"node {k}" for k in range(4, 80))]
    x = 2.0 * np.eye(3)[side] + rng.normal(0, 0.4, (80, 3))
    return Graph.from_arrays(edges, x, ids, attribute_names=["<b>age</b>", "{{ 7 * 7 }}", "town"])


@pytest.fixture(scope="session")
def report(hostile: Graph) -> CaseReport:
    pytest.importorskip("torch")
    fitted = oddhop.HCM(burn_in=60, samples=2, thin=2, hidden=16, top_k=10, random_state=0, workers=1).fit(hostile)
    return case_report(fitted, title="<i>title</i>", cases=80)


@pytest.fixture(scope="session")
def odd_report(hostile: Graph) -> CaseReport:
    fitted = Odd(top_k=10, random_state=0, workers=1).fit(hostile)
    return case_report(fitted, title="<i>title</i>", cases=80)


@pytest.fixture(scope="session")
def page(report: CaseReport, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    report.write(path)
    return path
