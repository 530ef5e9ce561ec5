"""Two nightly jobs and a person write one book at once, and are killed in between: nothing is lost or doubled."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from oddhop.casebook import open_book
from oddhop.casebook.entry import entry_of_run
from tests.casebook.conftest import where  # noqa: F401 - a fixture
from tests.runs.test_cases import home  # noqa: F401 - a fixture

# A job scores night after night; started again, it goes on with the night that was not done.
JOB = """
import sys
from pathlib import Path
from oddhop.runs import checked_run_settings, score
home, where, out, nights = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), int(sys.argv[4])
settings = checked_run_settings({"read": {"flows": False}, "odd": {"random_state": 0}})
for k in range(nights):
    edges = home / f"night{k % 3}.csv"
    score(home / "model.oddhop", str(edges), str(home / "nodes.csv"), out=out / str(k), settings=settings, top=3,
          explain=8, cases=where, resume=True, workers=1)
"""
# A person clears, confirms and opens cases, and notes what was taken.
PERSON = """
import random, sys, time
from pathlib import Path
from oddhop.casebook import NewVerdict, open_book
where, told, count = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
chance = random.Random(len(told.read_text()) if told.exists() else 0)
done = told.read_text().count("\\n") if told.exists() else 0
with open_book(where) as book, told.open("a") as file:
    while done < count:
        cases = sorted(book.current())
        if cases:
            note = f"said {done}"
            verdict = chance.choice(["cleared", "confirmed", "watch", "open"])
            book.judge([NewVerdict(chance.choice(cases), verdict, note=note, who="ann")])
            file.write(note + "\\n")
            file.flush()
            done += 1
        time.sleep(0.05)
"""
NIGHTS, SAID = 6, 60


@pytest.mark.slow
def test_two_jobs_and_a_person_lose_and_double_nothing(home: Path, where: str, tmp_path: Path) -> None:  # noqa: F811
    lines = (home / "edges.csv").read_text().splitlines(keepends=True)
    for k in range(3):  # every third night is the same; some edges come and go
        (home / f"night{k}.csv").write_text("".join(lines[: len(lines) - 12 * k]))
    told = tmp_path / "told"
    programs = {
        "one": [JOB, str(home), where, str(tmp_path / "one"), str(NIGHTS)],
        "two": [JOB, str(home), where, str(tmp_path / "two"), str(NIGHTS)],
        "ann": [PERSON, where, str(told), str(SAID)],
    }

    def started(name: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", *programs[name]])

    running = {name: started(name) for name in programs}
    chance, kills, end = random.Random(0), 0, time.monotonic() + 400  # noqa: S311
    while running:
        assert time.monotonic() < end
        time.sleep(chance.uniform(0.5, 4))
        name = chance.choice(sorted(running))
        if running[name].poll() == 0:
            del running[name]
        elif running[name].poll() is not None or kills < 8:
            kills += running[name].poll() is None
            running[name].kill()  # SIGKILL
            assert running[name].wait() in (-9, 0)
            running[name] = started(name)
    assert kills >= 4
    with open_book(where, create=False) as book:
        entries = list(book.entries())
    assert max(Counter(entry.entry for entry in entries).values()) == 1
    notes = Counter(entry.note for entry in entries if entry.who == "ann")
    assert set(told.read_text().splitlines()) <= set(notes)  # what was acknowledged is there
    written = {entry.entry for entry in entries if entry.who == "oddhop"}
    opened = set()
    for job in ("one", "two"):
        for k in range(NIGHTS):
            manifest = json.loads((tmp_path / job / str(k) / "manifest.json").read_text())
            runs = {entry.run for entry in entries if entry.run and entry.run.startswith(f"{k} ")}
            for case, what in manifest["cases"].items():
                if what["status"] in ("new", "changed", "back"):
                    mine = {entry_of_run(run, case) for run in runs} & written
                    assert mine, f"{job} {k}: {case} is not in the book"
                    opened |= mine
    assert opened <= written
