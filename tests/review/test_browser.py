"""A review in a real browser: by keys, in two windows, with a server that is killed and started again."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from oddhop.casebook import open_book
from tests.reports.browser import CHROMIUM, Page
from tests.review.conftest import HARMFUL
from tests.review.serving import Server

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium"),
    pytest.mark.slow,
]
SHOWN = "document.body.dataset.shown"
IDLE = "!document.body.classList.contains('busy')"
LAST = "document.getElementById('last').textContent"
TROUBLE = "document.getElementById('trouble')"


def answer(page: Page, key: str) -> str:
    """Press a key; wait until the book has it and another case is shown."""
    before = page.run(SHOWN)
    page.press(key)
    page.wait(f"{IDLE} && {SHOWN} !== {json.dumps(before)}")
    return before


def strange(page: Page, origin: str) -> list[str]:
    """Return exceptions, breaches of the policy, and requests to anybody else."""
    found = []
    for event in page.events:
        method, told = event.get("method"), json.dumps(event.get("params", {}))
        if method == "Runtime.exceptionThrown" or "Content Security Policy" in told or "TrustedHTML" in told:
            found.append(told[:500])
        if method == "Network.requestWillBeSent" and not event["params"]["request"]["url"].startswith(f"{origin}/"):
            found.append(event["params"]["request"]["url"])
    return found


@pytest.mark.parametrize("count", [10, pytest.param(100, marks=pytest.mark.long)])
def test_answers_by_keys_in_two_windows_with_a_kill(run: Path, tmp_path: Path, count: int) -> None:
    server = Server(run, tmp_path / "cases.db")
    origin = f"http://127.0.0.1:{server.port}"
    page = Page(server.address, tmp_path / "profile")
    said: list[tuple[str, str]] = []
    try:
        page.wait(f"{SHOWN} !== undefined")
        assert page.run("location.href") == f"{origin}/"
        page.open(f"{origin}/")  # the second window has the cookie of the first
        page.wait(f"{SHOWN} !== undefined")
        for k in range(count):
            if k % 5 == 0:
                page.turn_to(k // 5 % 2)
                page.wait(f"{IDLE} && !{json.dumps([case for case, _ in said])}.includes({SHOWN})")
                time.sleep(0.6)  # keys are not taken at once when another window answered the case that was shown
            if k == count // 2:
                server.kill()
                before = page.run(SHOWN)
                page.press("y")
                page.wait(f"{TROUBLE}.textContent.startsWith('NOT saved')")
                with open_book(tmp_path / "cases.db") as book:
                    assert len(book) == len(said)
                server = Server(run, tmp_path / "cases.db", port=server.port)
                page.open(server.address)  # this gives the browser the new key
                page.wait(f"{SHOWN} !== undefined")
                page.turn_to(k // 5 % 2)
                page.wait(f"{TROUBLE}.hidden && {IDLE} && {SHOWN} !== {json.dumps(before)}")
                said.append((before, "confirmed"))
                continue
            key = "ynnu"[k % 4]
            alike = page.run("document.querySelector('#alikes input')?.value") if k % 3 == 2 else None
            if alike is not None:
                page.click("#alikes input")
            verdict = {"y": "confirmed", "n": "cleared", "u": "watch"}[key]
            said.append((answer(page, key), verdict))
            if alike is not None:
                said.append((alike, verdict))
        assert page.run("document.title") == "oddhop review"
        assert page.run("document.querySelectorAll('main img, main script, main i').length") == 0
        assert strange(page, origin) == []
        with open_book(tmp_path / "cases.db") as book:
            written = [(one.case_id, one.verdict) for one in book.entries()]
        assert sorted(written) == sorted(said)
        assert len({case for case, _ in said}) == len(said)
        assert {case for case, _ in said} & set(HARMFUL)
        assert f"in {len(said)} answers" in page.run("document.getElementById('sentence').textContent")
    finally:
        page.close()
        server.stop()


def test_undo_arrows_reason_and_note(run: Path, tmp_path: Path) -> None:
    server = Server(run, tmp_path / "cases.db")
    page = Page(server.address, tmp_path / "profile")
    try:
        page.wait(f"{SHOWN} !== undefined")
        first = page.run(SHOWN)
        page.press("ArrowRight")
        page.wait(f"{SHOWN} !== {json.dumps(first)}")
        page.press("ArrowLeft")
        page.wait(f"{SHOWN} === {json.dumps(first)}")
        page.press("Enter")
        for letter in "yes <i>":
            page.press(letter)
        page.press("Enter")  # no verdict was chosen
        page.wait(f"{TROUBLE}.textContent.includes('Nothing was sent')")
        assert page.run(SHOWN) == first
        page.press("Escape")
        assert answer(page, "n") == first
        assert page.run(SHOWN) != first
        page.press("z")
        page.wait(f"{IDLE} && {SHOWN} === {json.dumps(first)}")
        page.click("[name=verdict][value=watch]")
        page.press("Escape")
        page.press("Enter")
        page.press("x")
        page.press("Enter")
        page.wait(f"{IDLE} && {SHOWN} !== {json.dumps(first)}")
        with open_book(tmp_path / "cases.db") as book:
            told = [(one.verdict, one.reason, one.who) for one in book.history(first)]
        assert told == [("cleared", "yes <i>", "ann"), ("open", "undo", "ann"), ("watch", "x", "ann")]
        for width in (360, 700, 1200):
            page.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
            assert page.run("document.documentElement.scrollWidth") <= width, width
        assert strange(page, f"http://127.0.0.1:{server.port}") == []
    finally:
        page.close()
        server.stop()


def test_ticked_cases_get_the_same_answer_and_are_undone_together(run: Path, tmp_path: Path) -> None:
    server = Server(run, tmp_path / "cases.db")
    page = Page(server.address, tmp_path / "profile")
    # Whether there are look-alikes depends on the answers; here the two after the first are taken for such.
    told = "const told = await (await real(path, how)).json(); if (told.queue) told.alike = told.queue.slice(1, 3);"
    fake = f"const real = fetch; window.fetch = async (path, how) => {{ {told} return Response.json(told); }};"
    try:
        page.wait(f"{SHOWN} !== undefined")
        page.run(fake)
        first = page.run(SHOWN)
        page.press("ArrowRight")
        page.wait(f"{SHOWN} !== {json.dumps(first)}")
        page.press("ArrowLeft")
        page.wait(f"{SHOWN} === {json.dumps(first)} && document.querySelectorAll('#alikes input').length === 2")
        page.click("#alikes input")
        other = page.run("document.querySelector('#alikes input').value")
        assert answer(page, "y") == first
        page.press("z")
        page.wait(f"{IDLE} && {SHOWN} === {json.dumps(first)}")
        with open_book(tmp_path / "cases.db") as book:
            for case in (first, other):
                assert [one.verdict for one in book.history(case)] == ["confirmed", "open"]
            assert len(book) == 4
    finally:
        page.close()
        server.stop()


def test_the_page_says_for_how_many_members_an_answer_counts(grouped: Path, tmp_path: Path) -> None:
    server = Server(grouped, tmp_path / "cases.db")
    page = Page(server.address, tmp_path / "profile")
    applies = "document.getElementById('applies').textContent"
    try:
        page.wait(f"{SHOWN} !== undefined")
        said = set()
        for _ in range(10):
            said.add(page.run(applies))
            before = page.run(SHOWN)
            page.press("ArrowRight")
            page.wait(f"{SHOWN} !== {json.dumps(before)}")
        sizes = Counter(pq.read_table(grouped / "results.parquet")["case"].drop_null().to_pylist()).values()
        assert max(sizes) > 1
        counts = {int(word) for text in said for word in text.split(".")[0].split() if word.isdigit()}
        assert counts == {size for size in sizes if size > 1}
        assert any("other member" in text for text in said)
    finally:
        page.close()
        server.stop()
