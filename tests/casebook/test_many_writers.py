from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from oddhop.casebook import Entry, open_book

# A run writes cases and says so when the book has them. Killed and started again, it begins with the last one it said.
RUN = """
import sys
from pathlib import Path
from oddhop.casebook import Entry, Fingerprint, open_book
where, told, name, count = sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
done = len(told.read_text().split()) if told.exists() else 0
with open_book(where) as book, told.open("a") as file:
    for k in range(max(done - 1, 0), count):
        some = [f"{name}-{k}-{part}" for part in range(5)]
        entry = Entry.of_run(name, f"{name}-{k}", members=some, fingerprint=Fingerprint({}))
        book.append([entry])
        if k >= done:
            file.write(entry.entry + "\\n")
            file.flush()
"""
# A person says one thing after the other of the same case.
PERSON = """
import sys
from pathlib import Path
from oddhop.casebook import NewVerdict, open_book
where, told, name, count = sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
done = len(told.read_text().split()) if told.exists() else 0
with open_book(where) as book, told.open("a") as file:
    for k in range(done, count):
        book.judge([NewVerdict("shared", ("cleared", "watch")[k % 2], note=f"{k}", who=name)])
        file.write(f"{k}\\n")
        file.flush()
"""
COUNT = 120


@pytest.mark.slow
def test_kills_lose_and_double_nothing(where: str, tmp_path: Path) -> None:
    with open_book(where) as book:
        book.append([Entry("shared", "open", ("a",))])
    programs = {"one": RUN, "two": RUN, "ann": PERSON}
    told = {name: tmp_path / name for name in programs}

    def started(name: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", programs[name], where, told[name], name, str(COUNT)])

    running = {name: started(name) for name in programs}
    chance = random.Random(0)  # noqa: S311
    kills, end = 0, time.monotonic() + 100
    while running:
        assert time.monotonic() < end
        name = chance.choice(sorted(running))
        said = told[name].read_text().count("\n") if told[name].exists() else 0
        time.sleep(chance.uniform(0, 0.05))
        if running[name].poll() == 0:
            del running[name]
        elif running[name].poll() is not None or (told[name].exists() and kills < 9 and said >= 10 * (kills // 3 + 1)):
            kills += running[name].poll() is None
            running[name].kill()  # SIGKILL
            assert running[name].wait() in (-9, 0)
            running[name] = started(name)
    assert kills >= 5
    with open_book(where, create=False) as book:
        entries = list(book.entries())
        counts = Counter(entry.entry for entry in entries)
        assert max(counts.values()) == 1
        for name in ("one", "two"):
            mine = {entry.case_id: entry for entry in entries if entry.run == name}
            assert set(told[name].read_text().split()) <= set(counts)
            assert len(mine) == COUNT == sum(entry.run == name for entry in entries)
            assert all(len(entry.members) == 5 for entry in mine.values())
        notes = [entry.note for entry in book.history("shared")[1:]]
        # A word that was written but not yet told when the kill came is said again, and not written again.
        assert notes == [str(k) for k in range(COUNT)]
        assert all(entry.members == ("a",) for entry in book.history("shared"))


def test_many_may_make_the_book_at_once(where: str) -> None:
    with ThreadPoolExecutor(8) as pool:

        def one(k: int) -> None:
            with open_book(where) as book:
                book.append([Entry(f"c{k}", "open", ("a",))])

        list(pool.map(one, range(8)))
    with open_book(where, create=False) as book:
        assert sorted(book.current()) == [f"c{k}" for k in range(8)]
