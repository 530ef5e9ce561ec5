"""Systems that lack what Linux has: no locks, no /proc, no sync of folders; and, as on Windows, open files stay."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

# Blocks modules and flags, and refuses to remove or rename what this process has open or mapped.
SYSTEM = '''
import os, sys

for name in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules[name] = None
import builtins, io, pathlib, shutil, select
for place, name in ((os, "O_NOFOLLOW"), (os, "O_DIRECTORY"), (os, "posix_fallocate"), (os, "getuid"), (select, "poll")):
    if hasattr(place, name):
        delattr(place, name)
real = {name: getattr(os, name) for name in ("unlink", "remove", "rename", "replace", "rmdir", "open")}
listed, linked, read = os.listdir, os.readlink, io.open
shutil._use_fd_functions = False  # as where folders cannot be opened


def held(path):
    """Return what this process has open or mapped at a path or below it."""
    full = os.path.abspath(os.fspath(path))
    found = set()
    for number in listed("/proc/self/fd"):
        try:
            found.add(linked(f"/proc/self/fd/{number}"))
        except OSError:
            pass
    with read("/proc/self/maps") as maps:
        found |= {line.split(maxsplit=5)[5].strip() for line in maps if line.count(" ") >= 5 and "/" in line}
    return [one for one in found if one == full or one.startswith(full + "/")]


def refusing(name):
    def call(path, *more, **named):
        open_ones = held(path) or (held(more[0]) if more and name in ("rename", "replace") else [])
        if open_ones:
            raise PermissionError(13, f"{name}: open here: {open_ones}", os.fspath(path))
        return real[name](path, *more, **named)
    return call


def opened(path, flags, *more, **named):
    if os.path.isdir(path):
        raise PermissionError(13, "a folder cannot be opened", os.fspath(path))
    return real["open"](path, flags, *more, **named)


for name in ("unlink", "remove", "rename", "replace", "rmdir"):
    setattr(os, name, refusing(name))
os.open = opened
'''
USE = """
import warnings
from pathlib import Path

from oddhop import runs
from oddhop.casebook import open_book
from oddhop.datasets import load_payments, write_example
from oddhop.review import Session

write_example("payments", Path())
quick = {"odd": {"simulate": False, "n_resamples": 2}}
run = runs.detect("payments.csv", "accounts.csv", out="run", top=3, explain=10, settings=quick, cases="cases.db")
assert run.figures["flagged"]
run = runs.detect("payments.csv", "accounts.csv", out="run", top=3, explain=10, settings=quick, overwrite=True)
node = run.result["id"][0].as_py()
cases, why = runs.explain("run", node)
assert cases.cases and why.sentences
assert runs.report("run", explain=5).exists()
opened = runs.reopen("run")
with open_book("cases.db") as book:
    session = Session(opened, book, folder=Path("run"), who="ann")
    session.refresh()
    asked = session.question()
    session.answer(asked.case, "cleared")
    session.refresh()
assert runs.learn("run", {node: 0}, out="learned").questions
later = "payments-june.csv", "accounts-june.csv"
june = runs.score("run/model.oddhop", *later, out="june", top=3, explain=5, since="last")
assert june.changes is not None
assert runs.compare("run", "june").sentences
assert list(runs.verify("run"))
runs.fit("payments.csv", "accounts.csv", model="model.oddhop", settings=quick)
runs.ingest("payments.csv", "accounts.csv", out="graph")
assert runs.detect("graph", out="stored", top=3, explain=5, settings=quick).result.num_rows == 600
runs.fit("graph", model="model.oddhop", settings=quick)
print("done")
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="asks Linux what is open")
def test_the_whole_way_needs_nothing_that_other_systems_lack(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SYSTEM + USE], cwd=tmp_path, capture_output=True, text=True, env=os.environ
    )
    assert done.stdout.strip() == "done", done.stderr[-3000:]
