"""Killed at any rename and run again, an ingest ends with the same bytes; what was done is not done again."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

# One process forks all of them, for to start a process takes seconds: each run is a child that kills itself.
DRIVER = """
import hashlib, os, signal, sys
from pathlib import Path
import numpy as np
import pyarrow as pa, pyarrow.parquet as pq
from oddhop.tables.ingest import ingest
from oddhop.tables.settings import EncodeSettings

home = Path(sys.argv[1])
rng = np.random.default_rng(0)
pq.write_table(pa.table({"u": rng.integers(0, 40, 300), "v": rng.integers(0, 44, 300)}), home / "edges.parquet")
notes = [f"word{k} and word{k % 7} or word{k % 5}" for k in range(40)]
pq.write_table(pa.table({"id": rng.permutation(40), "x": rng.normal(size=40), "note": notes}), home / "nodes.parquet")

def run(folder, kill_at, after):
    calls = 0
    rename = Path.replace
    def counted(self, target):
        nonlocal calls
        calls += 1
        if calls == kill_at and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        rename(self, target)
        if calls == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
    Path.replace = counted
    texts = EncodeSettings(kinds={"note": "text"})
    ingest(home / "edges.parquet", home / "nodes.parquet", folder, encode=texts, partition_entries=200)
    print("renames", calls, flush=True)

def child(*arguments):
    sys.stdout.flush()
    process = os.fork()
    if process == 0:
        code = 1
        try:
            run(*arguments)
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])

def digest(folder):
    files = sorted(file for file in folder.rglob("*") if file.is_file() and file.name != ".lock")
    return [(str(file.relative_to(folder)), hashlib.sha256(file.read_bytes()).hexdigest()) for file in files]

assert child(home / "straight", 0, False) == 0
expected = digest(home / "straight")
assert len(expected) == 14, expected
for after in (False, True):
    kills, kill_at = 0, 1
    while True:
        folder = home / f"{after}-{kill_at}"
        ended = child(folder, kill_at, after)
        if ended == 0:
            break
        assert ended == -signal.SIGKILL, ended
        kills += 1
        assert child(folder, 0, False) == 0
        assert digest(folder) == expected, folder
        kill_at += int(sys.argv[2])
    print("kills", kills, flush=True)
# Killed again and again: it must come to an end all the same, if it lives long enough for one step.
folder, kills = home / "stubborn", 0
while child(folder, 8, True) != 0:
    kills += 1
    assert kills < 100
assert digest(folder) == expected
print("stubborn", kills, flush=True)
"""


EVERY = 9  # at each rename it takes minutes


@pytest.mark.slow
def test_killed_at_renames(tmp_path):
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", DRIVER, str(tmp_path), str(EVERY)],
        capture_output=True,
        text=True,
        timeout=1_000,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    figures = {name: [] for name in ("renames", "kills", "stubborn")}
    for name, number in re.findall(r"^(\w+) (\d+)$", run.stdout, re.MULTILINE):
        figures[name].append(int(number))
    # The straight run first, then those that went on: they had fewer files left to write.
    straight, *others = figures["renames"]
    kills = -(-straight // EVERY)
    assert figures["kills"] == [kills, kills]
    resumed = others[:kills]
    assert resumed == sorted(resumed, reverse=True)
    assert resumed[-1] < straight // 2
    assert figures["stubborn"][0] > 2
