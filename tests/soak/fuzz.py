"""Fuzz the readers: a child with little memory reads changed files; all that may come out of it are our own errors."""

from __future__ import annotations

import json
import mmap
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from oddhop.errors import OddhopError
from tests.soak.hostile import narrow
from tests.soak.targets import Target, target

DONE, ACCEPTED, REFUSED, UNTYPED, STARTED = range(5)
HANGS_AFTER = 30.0  # seconds


def fuzz(name: str, *, count: int | None = None, minutes: float | None = None, seed: int = 0) -> dict[str, Any]:
    """Read so many changed files, or for so long, and count what came of them."""
    until = time.monotonic() + 60 * (minutes if minutes is not None else 1e6)
    began, computed = time.monotonic(), _computed()
    counts: Counter[str] = Counter()
    errors: list[str] = []
    with tempfile.TemporaryDirectory(prefix="soak-") as folder_name:
        home = Path(folder_name)
        work = home / "work"
        work.mkdir()
        one = target(name, home)
        for content in one.seeds if one.seeds != [b""] else []:
            one.read(content, work)  # they are good, and what they need is loaded before the fork
        board = mmap.mmap(-1, 8 * 8)
        tally = np.frombuffer(board, np.int64)
        while (count is None or tally[DONE] < count) and time.monotonic() < until:
            process = os.fork()
            if process == 0:
                _read_on(one, home, tally, count, until, seed)
            code = _watched(process, tally)
            if code == 0:
                continue
            counts["hung" if code == -1000 else "crashed"] += 1
            errors.append(f"exit {code} on file {int(tally[DONE])} of seed {seed}")
            tally[DONE] += 1
        kinds = sorted({file.read_text() for file in home.glob("untyped-*")})
        places = {"files": DONE, "accepted": ACCEPTED, "refused": REFUSED, "untyped": UNTYPED}
        figures = {what: int(tally[place]) for what, place in places.items()}
        del tally
    minutes = round((time.monotonic() - began) / 60, 1)
    fixed = {"crashed": 0, "hung": 0}
    return {
        "test": "fuzz",
        "reader": name,
        "minutes": minutes,
        "processor_minutes": round((_computed() - computed) / 60, 1),
        "seed": seed,
        **fixed,
        **counts,
        **figures,
        "errors": errors + kinds,
    }


def _computed() -> float:
    """Return the processor's seconds of the children so far: on a busy machine fewer than the clock's."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _read_on(one: Target, home: Path, tally: Any, count: int | None, until: float, seed: int) -> None:
    try:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        narrow()
        while (count is None or tally[DONE] < count) and time.monotonic() < until:
            number = int(tally[DONE])
            rng = np.random.default_rng([seed, number])  # any file can be made again by its number
            content = one.mutate(one.seeds[number % len(one.seeds)], rng)
            tally[STARTED] = time.monotonic_ns()
            tally[_outcome(one, content, home)] += 1
            tally[DONE] += 1
        os._exit(0)
    except BaseException:
        (home / f"untyped-harness-{os.getpid()}").write_text(traceback.format_exc())
        os._exit(98)


def _outcome(one: Target, content: bytes, home: Path) -> int:
    try:
        one.read(content, home / "work")
    except OddhopError:
        return REFUSED
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        ours = [frame for frame in traceback.extract_tb(error.__traceback__) if "/oddhop/" in frame.filename]
        where = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else "the harness"
        kind = f"{type(error).__name__} in {where} ({Path(last.filename).name}): {str(error)[:200]}"
        name = f"untyped-{type(error).__name__}-{where.replace(':', '-')}"
        if not (home / name).exists():
            (home / name).write_text(kind)
        return UNTYPED
    return ACCEPTED


def _watched(process: int, tally: Any) -> int:
    tally[STARTED] = time.monotonic_ns()
    while True:
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic_ns() - tally[STARTED] > HANGS_AFTER * 1e9:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            return -1000
        time.sleep(0.02)


if __name__ == "__main__":
    print(json.dumps(fuzz(sys.argv[1], minutes=float(sys.argv[2])), indent=1))
