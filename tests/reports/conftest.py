"""Reports whose ids and names would do harm if they could: one made of four model cases, one of a fitted network."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from oddhop import Graph, Odd
from oddhop.cases.case import Case, Member
from oddhop.explain.audit import Finding
from oddhop.reports import CaseReport
from oddhop.reports import report as case_report
from oddhop.reports.page import ChangesSince
from oddhop.tables.encode.encoding import ColumnReport
from tests.cases import model

HARMFUL = ("<script>document.title='harm'</script>", "=cmd()", '"><img src=x onerror=alert(1)>', "a\u2028b & 'c'")


@pytest.fixture(scope="session")
def report() -> CaseReport:
    """Of 15 cases, the last of which has harmful texts."""
    four = model.four()
    more = [replace(four.cases[k % 4], number=k + 1, id=f"c{k + 1}") for k in range(14)]
    members = tuple(Member(one, "group", one, one, flagged=True) for one in HARMFUL)
    ties = tuple((a, b) for a in HARMFUL for b in HARMFUL if a < b)
    harm = Case("x", 15, "group", HARMFUL[0], HARMFUL[2], members, ties=ties, next=HARMFUL, status=HARMFUL[0])
    columns = (
        ColumnReport("<b>age</b>", "int64", "number", "as it is", 1),
        ColumnReport("{{ 7 * 7 }}", "string", "text", HARMFUL[2]),
    )
    findings = (
        Finding("top", "warning", 0.3, "The order of cases 8 to 10 is uncertain."),
        Finding("degree", "fine", 0.1, HARMFUL[0]),
    )
    return CaseReport(
        title="<i>title</i>",
        made="19 November 2026",
        cases=replace(four, cases=(*more, harm)),
        facts=(("nodes", "20,000"), ("edges", "120,413"), ("attributes", "12")),
        repairs=((212, "edges from a node to itself, skipped"),),
        columns=columns,
        settings=(("seed", "0"), ("name", HARMFUL[2])),
        findings=findings,
        hidden=(replace(harm, book=HARMFUL),),
        edge_facts=HARMFUL,
        changes=ChangesSince(HARMFUL[0], HARMFUL, tuple((one, one, 3, None, one) for one in HARMFUL)),
    )


@pytest.fixture(scope="session")
def hostile() -> Graph:
    rng = np.random.default_rng(0)
    side = rng.integers(0, 3, 80)
    edges = np.array([(a, b) for a in range(80) for b in rng.integers(0, 80, 9) if side[a] == side[b] and a != b]).T
    ids = [*HARMFUL, *(f"node {k}" for k in range(4, 80))]
    x = 2.0 * np.eye(3)[side] + rng.normal(0, 0.4, (80, 3))
    return Graph.from_arrays(edges, x, ids, attribute_names=["<b>age</b>", "{{ 7 * 7 }}", "town"])


@pytest.fixture(scope="session")
def odd_report(hostile: Graph) -> CaseReport:
    fitted = Odd(top_k=10, random_state=0, workers=1).fit(hostile)
    return case_report(fitted, title="<i>title</i>", cases=80)


@pytest.fixture(scope="session")
def page(report: CaseReport, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    report.write(path)
    return path
