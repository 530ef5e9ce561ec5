"""Hand every hostile file to the commands that would take it: nothing may be run, written elsewhere, or crash."""

from __future__ import annotations

import resource
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.soak import hostile_folders  # noqa: F401 - it adds its own to ALL
from tests.soak.hostile_files import ALL, EDGES, NODES, Hostile
from tests.soak.warm import ALIKE, OUTPUT, begun, digest, ended, warm_home

REFUSED = {2, 3, 4, 5, 6, 7, 8}  # the codes of docs/commands.md but 1, which is a defect
ROOM = 3 << 29  # of addresses: each of two databases of DuckDB reserves half a gibibyte, and uses little of it
SECONDS = 300  # a table of 50,000 columns takes the better part of a minute
# What would be left of an id in a place where it does something.
RUNNING = {"results.csv": (b'\n"=cmd', b"\n=cmd"), "report.html": (b"<script>alert(1)", b"1337", b"<img src=x onerror")}


def hand_over(every: int = 1, only: Sequence[str] | None = None) -> dict[str, Any]:
    """Hand over the files, every n-th, or those named; count what came of the commands."""
    counts: Counter[str] = Counter()
    wrong = []
    with warm_home() as home:
        shutil.rmtree(home / "warm", ignore_errors=True)
        _good_files(home)
        for file in [file for file in ALL if only is None or file.name in only][::every]:
            outcomes = _met(file, home)
            counts["files"] += 1
            counts.update(outcome.split(":")[0] for outcome in outcomes)
            wrong += [
                f"{file.name}: {outcome}"
                for outcome in outcomes
                if outcome.split(":")[0] not in ("refused", "harmless")
            ]
    fixed = {"files": 0, "executed": 0, "written elsewhere": 0, "crashed": 0, "refused": 0, "harmless": 0}
    return {"test": "hostile files", **fixed, **counts, "errors": wrong}


def _good_files(home: Path) -> None:
    (home / "edges.csv").write_text(EDGES)
    (home / "nodes.csv").write_text(NODES)
    work = home / "good"
    work.mkdir()
    tables = ["../edges.csv", "--nodes", "../nodes.csv"]
    for command in (["fit", *tables, "--model", "../model.oddhop", *ALIKE], ["ingest", *tables, "--out", "../graph"]):
        assert ended(begun(command, work)) == 0, (home / OUTPUT).read_text()
    (home / "victim").write_text("untouched")
    work.rmdir()


def _met(file: Hostile, home: Path) -> list[str]:
    outcomes = []
    work = home / "work"
    work.mkdir()
    commands = file.put(work)
    for command in commands:
        (home / OUTPUT).write_bytes(b"")
        before = _elsewhere(home)
        code = ended(begun(command, work, before=narrow), SECONDS)
        said = (home / OUTPUT).read_text(errors="replace")
        outcomes.append(_outcome(home, work, command, code, said, before))
    shutil.rmtree(work)
    return outcomes


def _outcome(home: Path, work: Path, command: list[str], code: int, said: str, before: dict[str, str]) -> str:
    after = _elsewhere(home)
    if (home / "canary").exists() or list(home.glob("*canary*")):
        return f"executed: {command}"
    if after != before:
        return f"written elsewhere: {command}: {sorted(set(after.items()) ^ set(before.items()))}"
    if code in REFUSED:
        return "refused"
    if code != 0:
        return f"crashed: {command}: exit {code}: {said[-300:]}"
    for name, marks in RUNNING.items():
        for found in work.rglob(name):
            content = found.read_bytes()
            if any(mark in content for mark in marks):
                return f"executed: {command}: {name} would run {[mark for mark in marks if mark in content]}"
    if "\x1b]0;" in said:
        return f"executed: {command}: a terminal would obey its output"
    return "harmless"


def _elsewhere(home: Path) -> dict[str, str]:
    return {name: sha for name, sha in digest(home).items() if not name.startswith(("work/", OUTPUT))}


def narrow() -> None:
    """Leave a child a gibibyte and a half more than it has."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
