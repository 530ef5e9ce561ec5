"""The report as a document: escaped, closed to the world, of bounded size; and its pictures."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pytest

from oddhop.explain.explanation import Baseline, ColumnDifference, Explanation, Neighbour, View
from oddhop.explain.orbit import STEP, orbit, shade
from oddhop.graph.adjacency import Repairs
from oddhop.odd.phrases import GUIDE
from oddhop.reports import CaseReport, render, repair_facts
from oddhop.reports.page import card
from oddhop.tables.read import read_tables
from tests.reports.conftest import HARMFUL

USUAL = Baseline(threshold=1.0, usual_hops=1.5, usual_spread=0.1)


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.fixture(scope="module", params=["report", "odd_report"])
def parsed(request: pytest.FixtureRequest) -> Tags:
    tags = Tags()
    tags.feed(render(request.getfixturevalue(request.param)))
    return tags


def test_text_from_outside_makes_no_tag(parsed: Tags) -> None:
    assert parsed.names.count("script") == 1
    assert not {"img", "i", "b", "link", "iframe", "object"} & set(parsed.names)
    assert not [name for name, _ in parsed.attributes if name.startswith("on") or name == "style"]
    for one in HARMFUL:
        assert one in parsed.texts


def test_a_notebook_gets_the_whole_page_in_a_frame_and_nothing_beside_it(report: CaseReport) -> None:
    tags = Tags()
    tags.feed(report._repr_html_())
    assert tags.names == ["iframe"]
    found = dict(tags.attributes)
    assert found["srcdoc"].replace('href="about:srcdoc#', 'href="#') == render(report)
    assert 'href="about:srcdoc#cases"' in found["srcdoc"]
    assert 'href="#' not in found["srcdoc"]
    assert found["sandbox"] == "allow-scripts"
    assert tags.texts == ["The case report is not shown. Run this cell, or trust the notebook."]
    assert len(repr(report)) < 100


def test_nothing_in_it_names_another_place(parsed: Tags) -> None:
    places = [value for name, value in parsed.attributes if name in ("href", "src", "action", "srcset", "data")]
    assert places
    assert all(value is not None and value.startswith("#") for value in places)


def test_the_policy_names_the_script_and_the_style_that_are_there(report: CaseReport) -> None:
    page = render(report)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy
    for tag in ("style", "script"):
        part = re.search(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        assert part
        digest = base64.b64encode(hashlib.sha256(part[1].encode()).digest()).decode()
        assert f"{tag}-src &#39;sha256-{digest}&#39;" in policy[1]
    assert "default-src &#39;none&#39;" in policy[1]


def test_a_thousand_heavy_cases_stay_under_ten_megabytes(report: CaseReport) -> None:
    case = report.cases[0]
    many = tuple(Neighbour(f"a neighbour with a long name {k}", 3.14159, 0.27, 1.3, -0.1) for k in range(24))
    heavy = replace(case, why=replace(case.why, neighbours=many, degree=500, looked_at=500))
    cases = tuple(replace(heavy, rank=k + 1) for k in range(1_000))
    assert len(render(replace(report, cases=cases)).encode()) < 10e6


def test_the_page_tells_what_was_mended() -> None:
    people = pa.table({"name": ["al", "bo", "cy", "di"], "age": [1, 2, 3, 4]})
    tables = read_tables(pa.table({"u": ["al", "al", "bo", "bo"], "v": ["bo", "bo", "bo", "zed"]}), people)
    told = {what: count for count, what in repair_facts(Repairs(weights=3), tables.counts)}
    assert told["edges with a weight, which is not used"] == 3
    assert told["edge rows with a node that is not in the node table, skipped"] == 1
    assert told["edge rows that repeat the two nodes and the direction of another row"] == 1
    assert told["nodes without an edge, kept but not scored"] == 2


def explanation(hops: list[float], degree: int = 30) -> Explanation:
    near = tuple(Neighbour(k, hop, 0.2, hop / 2) for k, hop in enumerate(hops))
    return Explanation("$a$", 1.2, degree, 2.0, 0.2, USUAL, None, near, 1, degree, (), None)


def test_each_detector_is_told_in_its_own_words(report: CaseReport, odd_report: CaseReport) -> None:
    hops, odd = render(report), render(odd_report)
    assert "a predicted distance of" in hops
    assert "Each ring in the picture is one predicted hop" in hops
    assert "Contribution of each view" not in hops
    for word in (
        "Each ring in the picture is one predicted hop",
        "predicted distance",
        "±",
        "another run with a new seed",
        "<strong>Predicted hops",
    ):
        assert word not in odd
    # A group has one card.
    assert odd.count("Contribution of each view") == len({case.case for case in odd_report.cases})
    kinds = {case.why.kind for case in odd_report.cases}
    assert all(f"<option>{kind}</option>" in odd for kind in kinds)
    assert {one.check for one in odd_report.findings} >= {"strangers", "top", "judged", "degree"}
    assert "<option>" not in hops


def test_a_caveat_of_all_cases_is_said_once(report: CaseReport) -> None:
    caveat, note = "Edges are <fixed>.", "It has many neighbours."
    cases = tuple(replace(one, why=replace(one.why, caveats=(caveat,), notes=(note,))) for one in report.cases[:3])
    page = render(replace(report, cases=cases))
    assert page.count("Edges are &lt;fixed&gt;.") == 1
    assert page.count(note) == 3
    assert card(cases[0], cases[:1], GUIDE).count("Edges are &lt;fixed&gt;.") == 1
    assert cases[0].why.sentences[-2:] == (note, caveat)


def test_the_group_is_outlined_and_its_ties_are_drawn(report: CaseReport) -> None:
    near = tuple(Neighbour(k, 1.0, 0.0, 0.0, rarity=share, member=k < 2) for k, share in enumerate((0.5, 0.004, 0.9)))
    views = (View("clique", 0.001, 1.2),)
    why = Explanation("a", 1.2, 3, 1.0, 0.0, USUAL, "clique", near, 0, 3, (), None, views=views, ties=((0, 1),))
    drawn = orbit(why)
    assert [one.member for one in drawn.satellites] == [True, True, False]
    assert [one.shade for one in drawn.satellites] == [1, 4, 0]
    assert drawn.ties == (
        ((drawn.satellites[0].x, drawn.satellites[0].y), (drawn.satellites[1].x, drawn.satellites[1].y)),
    )
    assert drawn.satellites[1].label == "1: 1 in 250 edges are at least as different, in the group"
    assert drawn.ticks == ("1 in 2", "1 in 10", "1 in 100", "1 in 1,000")
    page = render(replace(report, guide=GUIDE, cases=(replace(report.cases[0], why=why),)))
    assert page.count(' member"') == 2
    assert 'class="tie"' in page


def test_the_arrows_follow_the_cycle_also_over_nodes_that_are_not_neighbours(report: CaseReport) -> None:
    near = tuple(Neighbour(k, 1.0, 0.0, 0.0, rarity=0.5) for k in ("p", "q", "r"))
    views = (View("cycle", 0.001, 1.2),)
    cycle = ("x", "q", "a", "p")  # a pays p, p pays x, x pays q, q pays a
    why = Explanation("a", 1.2, 3, 1.0, 0.0, USUAL, "cycle", near, 0, 3, (), None, views=views, cycle=cycle)
    drawn = orbit(why)
    place = {"a": (0.0, 0.0)} | {one.label[0]: (one.x, one.y) for one in drawn.satellites}
    assert drawn.cycle == tuple((place[start], place[end]) for start, end in ("ap", "px", "xq", "qa"))
    assert [one.member for one in drawn.satellites] == [True, True, False, True]
    assert drawn.satellites[3].label == "x (on the cycle)"
    assert len(set(place.values())) == 5
    page = render(replace(report, guide=GUIDE, cases=(replace(report.cases[0], why=why),)))
    assert page.count('class="cycle"') == 1
    assert "The arrows in the picture show the earliest cycle" in page
    assert "x → q → a → p → x" in why.plot().svg
    assert "outlined: the cycle" in why.plot().svg
    column = ColumnDifference("age", "1", "2", "", "2", -1.0)
    assert "depends most on the column" not in " ".join(replace(why, columns=(column,)).sentences)
    assert "depends most on the column" in " ".join(replace(why, columns=(column,), kind="flow").sentences)
    by_chance = replace(why, views=(View("cycle", 0.2, 0.0),))
    assert orbit(by_chance).cycle == ()
    assert "arrows" not in by_chance.plot().svg


def test_each_neighbour_stands_as_far_out_as_it_looks() -> None:
    hops = [3.9, 2.0, 1.1]
    drawn = orbit(explanation(hops))
    assert [np.hypot(one.x, one.y) / STEP for one in drawn.satellites] == pytest.approx(hops)
    assert drawn.satellites[0].y < 0  # the farthest at twelve
    assert drawn.not_shown == 27
    assert drawn.size > max(np.hypot(*one.outer) for one in drawn.satellites)
    assert [shade(score, 1.0) for score in (0.1, 0.7, 0.9, 1.0, 2.0)] == [0, 1, 2, 3, 4]
