"""Follow the second tutorial by keys in headless Chromium, tell its figures, and draw its pictures.

    python docs/pictures/tutorial_review.py

The answers are those of ``planted.csv``: yes for a mule or the cycle, no for anybody else. Pictures go beside this
script.
"""

from __future__ import annotations

import csv
import json
import subprocess
import tempfile
import time
from contextlib import chdir
from pathlib import Path

import mules
from review import Page, Server, take

LOOKS = {"light": (1280, 1180), "dark": (1280, 1180)}
FIRST = 20, 40, 60, 100
LEARN = ("oddhop", "learn", "run", "--answers", "cases.db", "--out", "learned")
DETECT = ("oddhop", "detect", "payments.csv", "--nodes", "accounts.csv", "--out", "run", "--seed", "1")
IDLE = "!document.body.classList.contains('busy')"
SHOWN = "document.body.dataset.shown"


def answer(page: Page, count: int, wanted: set[str]) -> None:
    """Answer the next cases by keys."""
    for _ in range(count):
        shown = page.run(SHOWN)
        page.press("y" if shown in wanted else "n")
        page.wait(f"{IDLE} && {SHOWN} !== {json.dumps(shown)}")


def planted_among(table: str, wanted: set[str]) -> list[int]:
    """Return how many planted accounts are among the first of a ranking."""
    with Path(table).open() as file:
        order = [row["id"] for row in csv.DictReader(file)]
    return [len(wanted & set(order[:first])) for first in FIRST]


def text(page: Page, name: str) -> str:
    return str(page.run(f"document.getElementById('{name}').textContent"))


def main() -> None:
    with tempfile.TemporaryDirectory() as name, chdir(name):
        folder = Path(name)
        mules.make(folder)
        with (folder / "planted.csv").open() as file:
            wanted = {row["account"] for row in csv.DictReader(file) if row["what"] in ("mule", "cycle")}
        began = time.monotonic()
        told = subprocess.run(DETECT, check=True, capture_output=True, text=True).stdout
        print(f"detect: {time.monotonic() - began:.0f} s", told, sep="\n")
        server = Server(folder / "run", folder / "cases.db")
        page = Page(server.address, folder / "profile")
        try:
            page.wait(f"{SHOWN} !== undefined")
            page.call("Emulation.setScrollbarsHidden", hidden=True)
            began = time.monotonic()
            answer(page, 20, wanted)
            print(f"20 answers: {time.monotonic() - began:.0f} s. {text(page, 'sentence')}")
            take(page, "tutorial-review", LOOKS)
            subprocess.run(LEARN, check=True, capture_output=True)
            for table in ("run/results.csv", "learned/learned.csv"):
                print(f"planted among the first {FIRST} of {table}: {planted_among(table, wanted)}")
            page.run("document.getElementById('first').value = 60")
            page.run("document.getElementById('list').value = 'learned'")
            page.click("#begin button")
            page.wait("!document.getElementById('audit').hidden")
            answer(page, 30, wanted)
            print(text(page, "audited"), text(page, "about"))
            frozen = json.loads((folder / "run" / "audits.json").read_text())["audits"][-1]["audit"]["ids"]
            print(f"planted among the {len(frozen)}: {len(wanted & set(frozen))}")
            take(page, "tutorial-audit", {"light": LOOKS["light"], "dark": LOOKS["dark"]})
        finally:
            page.close()
            server.stop()


if __name__ == "__main__":
    main()
