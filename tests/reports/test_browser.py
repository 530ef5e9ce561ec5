"""The report in a real browser: nothing runs that should not, nothing is asked of anybody, hands and keys work."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from oddhop.reports import CaseReport
from tests.reports.browser import CHROMIUM, Page

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium")
RANKS = "[...document.querySelectorAll('#table tbody tr')].filter(r => !r.hidden).map(r => Number(r.dataset.case))"
FOCUS = "document.activeElement.closest('.case, tr')?.dataset.case"


@pytest.fixture
def opened(page: Path, tmp_path: Path) -> Iterator[Page]:
    browser = Page(page, tmp_path / "profile")
    yield browser
    faults = browser.faults()
    browser.close()
    assert faults == []


def test_the_policy_lets_the_page_s_own_script_run_and_nothing_else(opened: Page) -> None:
    assert opened.run("document.querySelector('.tools').hidden") is False
    assert opened.run("document.title") == "Anomalous nodes of <i>title</i>"
    assert opened.run("document.querySelectorAll('img, i, b, #table script').length") == 0
    # Whatever got in by another way would not run or load.
    opened.run("document.body.insertAdjacentHTML('beforeend', '<img src=\"http://127.0.0.1:9/x.png\">')")
    opened.run(
        "(s => { s.textContent = 'window.harm = 1'; document.body.append(s) })(document.createElement('script'))"
    )
    opened.wait("document.querySelector('img').complete")
    assert opened.run("window.harm") is None
    refused = [one for one in opened.faults() if "Content Security Policy" in one]
    assert len(refused) == 2
    opened.events.clear()


def test_in_a_notebook_the_page_works_in_a_frame_of_its_own(report: CaseReport, tmp_path: Path) -> None:
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<!doctype html><meta charset='utf-8'><p>a cell</p>{report._repr_html_()}", encoding="utf-8")
    browser = Page(notebook, tmp_path / "profile")
    assert browser.run("document.querySelectorAll('body > *').length") == 2
    browser.turn_to_frame()
    browser.wait("document.querySelector('.tools')?.hidden === false")
    assert browser.run("origin") == "null"
    assert browser.run("document.title") == "Anomalous nodes of <i>title</i>"
    browser.run("document.querySelectorAll('#table a')[30].click()")
    assert browser.run(FOCUS) == browser.run("document.querySelectorAll('#table tbody tr')[30].dataset.case")
    browser.run("document.querySelector('nav a[href$=\"#how\"]').click()")
    browser.wait("scrollY > 100 && document.querySelector('#how').getBoundingClientRect().top < innerHeight")
    faults = browser.faults()
    browser.close()
    assert faults == []


def test_columns_sort_by_mouse_and_keyboard(opened: Page) -> None:
    ranks = opened.run(RANKS)
    assert ranks == sorted(ranks)
    opened.click("#table th:nth-child(1) button")
    assert opened.run(RANKS) == ranks[::-1]
    opened.run("document.querySelector('#table th:nth-child(6) button').focus()")
    opened.press("Enter")
    degrees = opened.run("[...document.querySelectorAll('#table tbody tr')].map(r => Number(r.cells[5].dataset.v))")
    assert degrees == sorted(degrees)
    assert opened.run("document.querySelector('#table th:nth-child(6)').getAttribute('aria-sort')") == "ascending"
    assert opened.run("document.querySelector('.case').dataset.case") == str(opened.run(RANKS)[0])


def test_filtering_leaves_what_fits(opened: Page) -> None:
    everyone = len(opened.run(RANKS))
    opened.press("/")
    for letter in "=cmd":
        opened.press(letter)
    some = opened.run(RANKS)
    assert 0 < len(some) < everyone
    shown = "new Set([...document.querySelectorAll('#table tbody tr:not([hidden])')].map(r => r.dataset.case)).size"
    cases = opened.run(shown)
    told = f"{len(some)} of {everyone} nodes, {cases} case{'s' * (cases != 1)}"
    assert opened.run("document.getElementById('shown').textContent") == told
    assert opened.run("document.querySelectorAll('.case:not([hidden])').length") == cases
    opened.run("document.getElementById('filter').value = ''")
    opened.click("#alerts")
    opened.wait("document.getElementById('alerts').checked")
    assert opened.run(RANKS) == list(range(1, 11))


def test_a_case_opens_by_mouse(opened: Page) -> None:
    assert opened.run("document.getElementById('case-7').open") is False
    opened.click("tr[data-case='7'] td:nth-child(3)")
    assert opened.run("document.getElementById('case-7').open") is True
    assert opened.run(FOCUS) == "7"
    assert opened.run("document.querySelector('#case-7 svg circle.n') !== null") is True


def test_a_case_opens_by_keyboard_and_gives_the_focus_back(opened: Page) -> None:
    opened.press("/")
    opened.press("ArrowDown")
    for _ in range(5):
        opened.press("ArrowDown")
    opened.press("ArrowUp")
    assert opened.run(FOCUS) == "5"
    opened.press("Enter")
    assert opened.run("document.getElementById('case-5').open") is True
    assert opened.run("document.activeElement.tagName") == "SUMMARY"
    opened.press("Escape")
    assert opened.run("document.activeElement.tagName + document.activeElement.closest('tr').dataset.case") == "A5"


def test_no_part_is_wider_than_the_window(page: Path, tmp_path: Path) -> None:
    browser = Page(page, tmp_path / "profile")
    for width in (360, 420, 560, 641, 720, 800, 897, 1000, 1200):
        browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        table = "(one => one.scrollWidth - one.clientWidth)(document.querySelector('.scroll'))"
        assert browser.run("document.documentElement.scrollWidth") <= width, width
        assert browser.run(table) <= 0, width  # the table of cases is not to be scrolled sideways either
    browser.close()
