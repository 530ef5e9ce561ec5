"""The report in a real browser: nothing runs or loads, links lead to cards, text has contrast, no part is too wide."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from oddhop.reports import CaseReport
from tests.reports.browser import CHROMIUM, Page

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium")
# Every text that is seen, with its contrast to what is behind it; half-transparent marks are no text.
CONTRAST = """(() => {
  const parts = (text) => text.match(/[\\d.]+/g).map(Number);
  const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const light = (rgb) => rgb.slice(0, 3).map((v) => linear(v / 255))
    .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
  const behind = (one) => {
    for (let up = one; up; up = up.parentElement) {
      const colour = parts(getComputedStyle(up).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return parts(getComputedStyle(document.body).backgroundColor);
  };
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const one = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || !one.getClientRects().length || one.tagName === "title") continue;
    const style = getComputedStyle(one);
    let ground = behind(one);
    const box = one.closest("g")?.querySelector("rect");
    const night = one.classList.contains("nightword") && document.querySelector(".night");
    if (box || night) {
      const fill = getComputedStyle(box || night).fill;
      if (fill !== "none") ground = parts(fill);
    }
    const [a, b] = [light(parts(one.namespaceURI.endsWith("svg") ? style.fill : style.color)), light(ground)];
    found.push([(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), walk.currentNode.data.slice(0, 30)]);
  }
  return found.sort((a, b) => a[0] - b[0])[0];
})()"""


@pytest.fixture
def opened(page: Path, tmp_path: Path) -> Iterator[Page]:
    browser = Page(page, tmp_path / "profile")
    yield browser
    faults = browser.faults()
    browser.close()
    assert faults == []


def test_the_policy_lets_nothing_run_and_nothing_load(opened: Page) -> None:
    assert opened.run("document.title") == "Cases of <i>title</i>"
    assert opened.run("document.querySelectorAll('img, i, script').length") == 0
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


def test_in_a_notebook_the_page_is_in_a_frame_of_its_own(report: CaseReport, tmp_path: Path) -> None:
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<!doctype html><meta charset='utf-8'><p>a cell</p>{report._repr_html_()}", encoding="utf-8")
    browser = Page(notebook, tmp_path / "profile")
    assert browser.run("document.querySelectorAll('body > *').length") == 2
    browser.turn_to_frame()
    browser.wait("document.querySelector('#case-1') !== null")
    assert browser.run("origin") == "null"
    browser.run("document.querySelector('a[href$=\"#case-3\"]').click()")
    browser.wait("scrollY > 100 && Math.abs(document.querySelector('#case-3').getBoundingClientRect().top) < 200")
    faults = browser.faults()
    browser.close()
    assert faults == []


def test_a_link_opens_a_folded_case(opened: Page) -> None:
    card = "document.querySelector('#case-14').closest('details').open"
    assert opened.run(card) is False
    opened.run("location.hash = 'case-14'")
    opened.wait(card)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_text_can_be_read(opened: Page, scheme: str, width: int) -> None:
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    opened.call("Emulation.setEmulatedMedia", features=features)
    opened.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
    opened.run("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    contrast, text = opened.run(CONTRAST)
    assert contrast >= 4.5, text


def test_narrow_screens_and_paper_get_one_picture_each(opened: Page) -> None:
    shown = "['wide', 'tall'].map((one) => document.querySelector(`#case-1 svg.${one}`).getClientRects().length)"
    assert opened.run(shown) == [1, 0]
    opened.call("Emulation.setDeviceMetricsOverride", width=390, height=900, deviceScaleFactor=1, mobile=False)
    assert opened.run(shown) == [0, 1]
    opened.call("Emulation.setEmulatedMedia", media="print")
    assert opened.run(shown) == [1, 0]


def test_no_part_is_wider_than_the_window(page: Path, tmp_path: Path) -> None:
    browser = Page(page, tmp_path / "profile")
    browser.run("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    for width in (360, 390, 420, 560, 641, 720, 864, 897, 1000, 1280):
        browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        assert browser.run("document.documentElement.scrollWidth") <= width, width
        texts = "[...document.querySelectorAll('.case svg text')].filter((t) => t.getClientRects().length)"
        wide = f"Math.max(...{texts}.map((t) => t.getBoundingClientRect().right))"
        assert browser.run(wide) <= width, width
    browser.close()
