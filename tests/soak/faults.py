"""A disk that fails at every n-th call or is full, a folder that cannot be written, another run in the folder."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.soak.kills import CHANGES, calls_of, gone_on, last_call, log_of, straight_run
from tests.soak.warm import COMMANDS, OUTPUT, Tally, begun, digest, ended, traced, warm_home

READS = "read,pread64,?readv,?preadv"
OLD = b"the model of last week"
NOT_OURS = "a file of the system's"
RIGHT = ("refused, and gone on with", "no harm done", NOT_OURS)
REFUSED = range(2, 9)  # the codes of docs/commands.md but 1, which is a defect


def fail_calls(label: str, error: str = "ENOSPC", every: int = 1, calls: str = CHANGES) -> dict[str, Any]:
    """Let every n-th call of a command fail once; it must say so, leave the old file, and go on afterwards."""
    tally = Tally(RIGHT)
    with warm_home() as home:
        expected, _ = straight_run(home, label)
        for call, when in calls_of(home, label, calls)[::every]:
            folder = _with_an_old_file(home / "failed", label)
            code = traced(COMMANDS[label], folder, ["-e", f"inject={call}:error={error}:when={when}"])
            failed = failed_call(home)
            # DuckDB and torch ask the system for its processors and limits, and abort or go other ways when it fails.
            ours = not any(f"<{place}/" in failed for place in ("/sys", "/proc"))
            tally.add(judged(label, folder, code, expected) if ours else NOT_OURS, f"{call} {when}: {failed}")
            shutil.rmtree(folder)
    return tally.told(f"{error} at calls", command=label)


def judged(label: str, folder: Path, code: int, expected: dict[str, str]) -> str:
    """Say what came of a command whose disk failed."""
    said = (folder.parent / OUTPUT).read_text(errors="replace")[-300:]
    found = digest(folder)
    if code != 0 and code not in REFUSED:
        return f"exit {code}: {said}"
    if code == 0:
        return "no harm done" if found == expected else f"exit 0 with {sorted(found)}"
    debris = [file for file in found if file.endswith(".tmp")]
    if debris:
        return f"debris {debris}"
    model = folder / "model.oddhop"
    if model.exists() and model.read_bytes() != OLD and found["model.oddhop"] != expected["model.oddhop"]:
        return "the old file is gone and the new one is not whole"
    again = gone_on(label, folder, expected)
    return "refused, and gone on with" if again == "the same bytes" else again


def failed_call(home: Path) -> str:
    """Return the line of the call that was made to fail."""
    lines = [line for line in log_of(home).splitlines() if "INJECTED" in line]
    return lines[-1][:150] if lines else last_call(home)


def _with_an_old_file(folder: Path, label: str) -> Path:
    folder.mkdir()
    if label.startswith("fit"):
        (folder / "model.oddhop").write_bytes(OLD)
    return folder


def fill_disk(label: str, rounds: int) -> dict[str, Any]:
    """Run on a file system of 4 MB with less and less room on it; root alone may mount one."""
    tally = Tally(RIGHT)
    with warm_home() as home:
        disk = home / "disk"
        disk.mkdir()
        with mounted(disk):
            for file in ("edges.csv", "nodes.csv"):
                shutil.copy2(home / file, disk / file)
            (disk / OUTPUT).symlink_to(home / OUTPUT)
            expected, _ = straight_run(disk, label)
            for turn in range(rounds):
                folder = _with_an_old_file(disk / "full", label)
                left = (512 << 10) * (turn + 1) // (rounds + 1)  # the commands write some hundred kB
                _fill(disk / "filler", left)
                code = ended(begun(COMMANDS[label], folder))
                (disk / "filler").unlink()
                tally.add(judged(label, folder, code, expected), f"{left} bytes left")
                shutil.rmtree(folder)
    return tally.told("a file system of 4 MB", command=label, rounds=rounds)


def _fill(file: Path, left: int) -> None:
    free = os.statvfs(file.parent)
    file.write_bytes(bytes(max(0, free.f_bavail * free.f_frsize - left)))


def forbid_writing(label: str) -> dict[str, Any]:
    """Run in a folder that cannot be written: of a file system that is mounted so, for root may write to any other."""
    with warm_home() as home:
        folder = home / "closed"
        folder.mkdir()
        with mounted(folder):
            if label.startswith("fit"):
                (folder / "model.oddhop").write_bytes(OLD)
            before = digest(folder)
            subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
            code = ended(begun(COMMANDS[label], folder))
            said = (home / OUTPUT).read_text()
            right = code in REFUSED and digest(folder) == before
    return {
        "test": "a folder that cannot be written",
        "command": label,
        "exit": code,
        "errors": [] if right else [said],
    }


@contextmanager
def mounted(folder: Path) -> Iterator[None]:
    """Put a file system of 4 MB in memory there; root alone may."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", folder], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def run_twice(label: str, rounds: int) -> dict[str, Any]:
    """Begin a command again in the folder of one under way, at several moments: only one may write."""
    counts: Counter[str] = Counter()
    wrong = []
    with warm_home() as home:
        expected, seconds = straight_run(home, label)
        for turn in range(rounds):
            folder = home / "shared"
            folder.mkdir()
            first = begun(COMMANDS[label], folder)
            time.sleep(seconds * (turn + 1) / (rounds + 1))
            os.kill(first, signal.SIGSTOP)
            second = ended(begun(COMMANDS[label], folder))
            os.kill(first, signal.SIGCONT)
            codes = (ended(first), second)
            # The first may not have begun to write, or may be done: then both end well, one after the other.
            right = codes in ((0, 5), (5, 0), (0, 0)) and digest(folder) == expected
            counts[f"exits {codes}"] += 1
            if not right:
                wrong.append(
                    f"turn {turn}: exits {codes}, {gone_on(label, folder, expected)}: {(home / OUTPUT).read_text()}"
                )
            shutil.rmtree(folder)
    return {"test": "two runs into one folder", "command": label, "rounds": rounds, **counts, "errors": wrong}
