"""Kill a command at a random instant or at any call that changes the disk; said again, it ends with the same bytes."""

from __future__ import annotations

import os
import re
import shutil
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from tests.soak.warm import COMMANDS, OUTPUT, Tally, begun, digest, ended, traced, warm_home

CHANGES = (
    "write,pwrite64,?writev,?pwritev,fsync,fdatasync,?rename,renameat,?renameat2,?unlink,unlinkat,?rmdir,?mkdir,mkdirat,"
    "ftruncate,fallocate"
)


def kill_at_random(kills: int, seed: int = 0) -> dict[str, Any]:
    """Kill every command so often in all, now and then twice in a row; count the outcomes."""
    rng = np.random.default_rng(seed)
    tally = Tally(("the same bytes",))
    with warm_home() as home:
        straight = {label: straight_run(home, label) for label in COMMANDS}
        for number in range(kills):
            label = list(COMMANDS)[number % len(COMMANDS)]
            expected, seconds = straight[label]
            folder = home / "killed"
            folder.mkdir()
            for _ in range(rng.integers(1, 3)):
                process = begun(COMMANDS[label], folder)
                time.sleep(rng.uniform(0, seconds))
                os.kill(process, signal.SIGKILL)
                tally.counts["killed" if ended(process) == -signal.SIGKILL else "was done before"] += 1
            tally.add(gone_on(label, folder, expected), f"run {number}, {label}")
            shutil.rmtree(folder)
    return tally.told("kill -9 at random", runs=kills)


def kill_at_calls(label: str, every: int = 1) -> dict[str, Any]:
    """Kill one command at its every n-th call that changes the disk: before the first write, the second, and so on."""
    tally = Tally(("the same bytes",))
    with warm_home() as home:
        expected, _ = straight_run(home, label)
        for call, when in calls_of(home, label, CHANGES)[::every]:
            folder = home / "killed"
            folder.mkdir()
            code = traced(COMMANDS[label], folder, ["-e", f"inject={call}:signal=KILL:when={when}"])
            tally.counts["killed" if code == -signal.SIGKILL else f"exit {code}"] += 1
            struck = last_call(home)
            tally.add(gone_on(label, folder, expected), f"{call} {when}: {struck}")
            shutil.rmtree(folder)
    return tally.told("kill -9 at calls", command=label)


def straight_run(home: Path, label: str) -> tuple[dict[str, str], float]:
    folder = home / "straight"
    folder.mkdir()
    began = time.monotonic()
    assert ended(begun(COMMANDS[label], folder)) == 0, (home / OUTPUT).read_text()
    seconds = time.monotonic() - began
    expected = digest(folder)
    shutil.rmtree(folder)
    return expected, seconds


def calls_of(home: Path, label: str, calls: str) -> list[tuple[str, int]]:
    """Return the calls of a command, each with its number among those of its name, which is what strace goes by."""
    folder = home / "counted"
    folder.mkdir()
    assert traced(COMMANDS[label], folder, ["-e", f"trace={calls}"]) == 0
    shutil.rmtree(folder)
    most: dict[str, int] = {}
    for (_, call), number in Counter(re.findall(r"^(\d+) +(\w+)\(", log_of(home), re.MULTILINE)).items():
        most[call] = max(number, most.get(call, 0))  # every thread is counted apart
    return [(call, when) for call in sorted(most) for when in range(1, most[call] + 1)]


def gone_on(label: str, folder: Path, expected: dict[str, str]) -> str:
    code = ended(begun(COMMANDS[label], folder))
    if code != 0:
        return f"not gone on with: exit {code}: {(folder.parent / OUTPUT).read_text()[-300:]}"
    found = digest(folder)
    if found == expected:
        return "the same bytes"
    more, less = sorted(found.keys() - expected.keys()), sorted(expected.keys() - found.keys())
    other = sorted(file for file in found.keys() & expected.keys() if found[file] != expected[file])
    return f"debris {more}, missing {less}, other bytes {other}"


def last_call(home: Path) -> str:
    """Return the line of the call that strace meddled with last."""
    lines = [line for line in log_of(home).splitlines() if "(" in line]
    return lines[-1][:150] if lines else ""


def log_of(home: Path) -> str:
    """Return what strace wrote."""
    return (home / "strace.txt").read_text(errors="replace")
