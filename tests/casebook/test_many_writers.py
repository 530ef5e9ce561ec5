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
        entry = Entry.of_run(name, f"{name}-{k}", members=some, fingerprint=Fingerprint())
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
# A writer whose clock goes wrong by some seconds: a reviewer, or a run that opens the case again. It says what it is
# asked to say, one line after the other, and answers when the book has it.
WRITER = """
import sys
from datetime import UTC, datetime, timedelta
from oddhop.casebook import Entry, Fingerprint, NewVerdict, book as module, open_book
from oddhop.casebook.entry import FORM
where, ahead = sys.argv[1], timedelta(seconds=int(sys.argv[2]))
module.now = lambda: (datetime.now(UTC) + ahead).strftime(FORM)
with open_book(where) as book:
    print("ready", flush=True)
    for line in sys.stdin:
        verdict, note = line.split()
        if verdict == "open":
            book.append([Entry.of_run(note, "shared", members=["a"], fingerprint=Fingerprint())])
        else:
            book.judge([NewVerdict("shared", verdict, note=note, who="ann")])
        print(note, flush=True)
"""


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


@pytest.mark.parametrize(
    ("rounds", "kills"), [(60, 2), pytest.param(1_000, 60, marks=pytest.mark.long)], ids=["short", "long"]
)
def test_the_last_verdict_holds_with_clocks_an_hour_apart_and_kills(where: str, rounds: int, kills: int) -> None:
    offsets = {"bo": 3_600, "ann": -3_600, "run": 0}
    chance = random.Random(0)  # noqa: S311
    killed = set(chance.sample(range(rounds), kills))

    def started(name: str) -> subprocess.Popen[str]:
        words = [sys.executable, "-c", WRITER, where, str(offsets[name])]
        made = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert made.stdout is not None
        assert made.stdout.readline() == "ready\n"
        return made

    def say(name: str, line: str, *, kill: bool) -> None:
        stdin, stdout = running[name].stdin, running[name].stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(line)
        stdin.flush()
        if kill:
            time.sleep(chance.uniform(0, 0.02))
            running[name].kill()
            running[name].communicate()
            running[name] = started(name)
            say(name, line, kill=False)  # what was not acknowledged is said again
        else:
            assert stdout.readline().split() == line.split()[1:]

    right = 0
    with open_book(where) as book:
        book.append([Entry("shared", "open", ("a",))])
        running = {name: started(name) for name in offsets}
        for k in range(rounds):
            name = chance.choice(sorted(offsets))
            verdict = "open" if name == "run" else chance.choice(["cleared", "confirmed", "watch"])
            say(name, f"{verdict} {k}\n", kill=k in killed)
            last = book.current()["shared"]
            right += (last.verdict, last.run if name == "run" else last.note) == (verdict, str(k))
        times = [entry.at for entry in book.history("shared")]
    for one in running.values():
        one.communicate()
    assert right == rounds
    assert len(times) == rounds + 1  # and nothing is doubled
    assert times == sorted(set(times))
