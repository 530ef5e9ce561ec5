"""Ctrl-C, SIGTERM and kill -9 while tables are read that never end: the exit code, and what stays of the input."""

from __future__ import annotations

import importlib
import os
import signal
import sqlite3
import tempfile
import threading
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from tests.soak.warm import OUTPUT, Tally, begun, ended

ENDLESS = "CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS a FROM n"
LONG = "select range as a, range + 1 as b from range(1000000000000) where hash(range) = 7"
WORK = {
    "standard input": ["plan", "-"],
    "DuckDB": ["plan", LONG, "--database", "duckdb:///../shop.duckdb"],
    "SQLite": ["plan", "select a, a as b from endless", "--database", "sqlite:///../shop.db"],
}
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -9}
CLEAN = "nothing stays"


def send_signals(count: int, seed: int = 0) -> dict[str, Any]:
    """Send every signal so often, to one kind of work after the other; kills are followed by another start."""
    for name in ("oddhop.cli.settings", "oddhop.runs", "oddhop.tables.network", "oddhop.casebook"):
        importlib.import_module(name)
    rng, tally = np.random.default_rng(seed), Tally((CLEAN,))
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        home = Path(name)
        with closing(sqlite3.connect(home / "shop.db")) as shop:
            shop.execute(ENDLESS)
        duckdb.connect(home / "shop.duckdb").close()
        for number in CODES:
            for turn in range(count):
                work = list(WORK)[turn % len(WORK)]
                folder = home / f"{number}-{turn}"
                folder.mkdir()
                tally.add(_sent(number, work, folder, float(rng.uniform(0, 0.5))), f"{number.name} {turn}, {work}")
                tally.counts[f"exit {CODES[number]}"] += 1
    return tally.told("signals", times=count * len(CODES))


def _sent(number: signal.Signals, work: str, folder: Path, after: float) -> str:
    source, sink = os.pipe()

    def elsewhere() -> None:
        os.environ["TMPDIR"], tempfile.tempdir = str(folder), None

    def before() -> None:
        elsewhere()
        os.dup2(source, 0)
        os.close(sink)

    def feed() -> None:  # a table that is open as long as the command runs
        try:
            os.write(sink, b"from,to\n")
            while True:
                os.write(sink, b"a,b\n" * 10_000)
        except OSError:
            pass

    process = begun(WORK[work], folder, before=before)
    os.close(source)
    feeder = threading.Thread(target=feed)
    if work == "standard input":
        feeder.start()
    until = time.monotonic() + 20
    while time.monotonic() < until and not _reads(process):
        time.sleep(0.02)
    time.sleep(after)
    os.kill(process, number)
    code = ended(process, 20)
    if feeder.is_alive():
        feeder.join()
    os.close(sink)
    said = (folder.parent / OUTPUT).read_text()
    if code != CODES[number] or (number != signal.SIGKILL and f"exit code {code}" not in said):
        return f"exit {code}: {said[-200:]}"
    if number == signal.SIGKILL:
        ended(begun(["cases", "list", "none.db"], folder, before=elsewhere))
    left = [str(file) for file in folder.rglob("*")]
    return CLEAN if not left else f"left {left}"


def _reads(process: int) -> bool:
    """Return whether a process has opened its table; before that, Python itself has the signals."""
    files = []
    for file in Path(f"/proc/{process}/fd").iterdir():
        with suppress(OSError):  # closed meanwhile
            files.append(file.readlink())
    return any(file.name in ("standard-input", "shop.db", "shop.duckdb") for file in files)
