"""The report as a document: escaped, closed to the world, of bounded size, and the cases first."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser

import pyarrow as pa
import pytest

from oddhop.cases.drawing.page import page_of
from oddhop.graph.adjacency import Repairs
from oddhop.reports import CaseReport, render, repair_facts
from oddhop.tables.read import read_tables
from tests.cases import model
from tests.reports.conftest import HARMFUL


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


def tags_of(page: str) -> Tags:
    found = Tags()
    found.feed(page)
    return found


@pytest.fixture(scope="module", params=["report", "odd_report"])
def parsed(request: pytest.FixtureRequest) -> Tags:
    return tags_of(render(request.getfixturevalue(request.param)))


def test_text_from_outside_makes_no_tag(parsed: Tags) -> None:
    assert not {"script", "img", "i", "link", "iframe", "object"} & set(parsed.names)
    assert not [name for name, _ in parsed.attributes if name.startswith("on") or name == "style"]
    assert parsed.names.count("style") == 1
    shown = " ".join(parsed.texts)
    for one in HARMFUL:
        assert one in shown


def test_a_notebook_gets_the_whole_page_in_a_frame_and_nothing_beside_it(report: CaseReport) -> None:
    tags = tags_of(report._repr_html_())
    assert tags.names == ["iframe"]
    found = dict(tags.attributes)
    assert found["srcdoc"] is not None
    assert found["srcdoc"].replace('href="about:srcdoc#', 'href="#') == render(report)
    assert 'href="#' not in found["srcdoc"]
    assert found["sandbox"] is None  # nothing is allowed
    assert len(tags.texts) == 1
    assert len(repr(report)) < 100


def test_cases_alone_are_a_page_of_the_same_cards(report: CaseReport) -> None:
    four = model.four()
    page = page_of(four)
    assert tags_of(page).names.count("article") == 4
    card = re.search(r"<article.*?</article>", page, re.DOTALL)
    assert card
    assert card[0] in render(replace(report, cases=four))
    assert tags_of(four._repr_html_()).names == tags_of(four.cases[0]._repr_html_()).names == ["iframe"]


def test_nothing_in_it_names_another_place(parsed: Tags) -> None:
    places = [value for name, value in parsed.attributes if name in ("href", "src", "action", "srcset", "data")]
    assert places
    assert all(value is not None and value.startswith("#") for value in places)


def test_every_link_has_a_place_on_the_page(parsed: Tags) -> None:
    names = {value for name, value in parsed.attributes if name == "id"}
    assert {str(value)[1:] for name, value in parsed.attributes if name == "href"} <= names
    assert len(names) == sum(name == "id" for name, _ in parsed.attributes)


def test_the_policy_names_the_style_that_is_there_and_lets_no_script_run(report: CaseReport) -> None:
    page = render(report)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    part = re.search("<style>(.*?)</style>", page, re.DOTALL)
    assert policy
    assert part
    digest = base64.b64encode(hashlib.sha256(part[1].encode()).digest()).decode()
    assert f"style-src &#39;sha256-{digest}&#39;" in policy[1]
    assert "default-src &#39;none&#39;" in policy[1]
    assert "script-src" not in policy[1]


def test_at_most_three_hundred_words_stand_before_the_first_card(report: CaseReport) -> None:
    body = render(report).partition("<body>")[2].partition('<article class="case"')[0]
    assert len(" ".join(tags_of(body).texts).split()) <= 300


def test_the_order_is_list_cards_and_last_the_checks_and_settings(report: CaseReport) -> None:
    places = [render(report).index(f'id="{name}"') for name in ("list", "case-1", "case-15", "checks", "read", "how")]
    assert places == sorted(places)


def test_every_case_has_a_card_and_the_first_are_open(report: CaseReport) -> None:
    page = render(report)
    assert [f'id="case-{one.number}"' in page for one in report.cases.cases] == [True] * 15
    assert page.count('<article class="case"') == 12
    assert page.count('<details class="case more">') == 3


def test_a_hundred_cases_stay_under_five_megabytes(report: CaseReport) -> None:
    cases = tuple(replace(report.cases.cases[k % 4], number=k + 1) for k in range(100))
    assert len(render(replace(report, cases=replace(report.cases, cases=cases))).encode()) < 5e6


def test_the_page_tells_what_was_mended() -> None:
    people = pa.table({"name": ["al", "bo", "cy", "di"], "age": [1, 2, 3, 4]})
    tables = read_tables(pa.table({"u": ["al", "al", "bo", "bo"], "v": ["bo", "bo", "bo", "zed"]}), people)
    told = {what: count for count, what in repair_facts(Repairs(weights=3), tables.counts)}
    assert told["edges with a weight, which is not used"] == 3
    assert told["edge rows with a node that is not in the node table, skipped"] == 1
    assert told["edge rows that repeat the two nodes and the direction of another row"] == 1
    assert told["nodes without an edge, kept but not scored"] == 2


def test_hidden_cases_are_listed_and_have_no_card(odd_report: CaseReport, report: CaseReport) -> None:
    assert "hidden" not in {value for name, value in tags_of(render(odd_report)).attributes if name == "id"}
    assert render(report).count('id="hidden"') == 1
