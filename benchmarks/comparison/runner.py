"""Run cells, each in a process of its own, and keep one JSON line of each.

The file of lines is all there is: a killed run goes on where it stopped, cells that are in the file are not run again,
and a page is written from it alone. A cell that takes too long or too much is ended and its line says so.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, TypeAlias

import oddhop
from benchmarks.comparison.cells import Cell
from oddhop.base.parallel import Progress, silent
from oddhop.errors import RunFolderError

Line: TypeAlias = dict[str, Any]
ROOT = Path(__file__).parents[2]
LOOK_EVERY = 0.1
PATIENCE = 6  # the budget is in seconds of a core; on a busy machine they take longer to come by
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


def run_cells(
    cells: Sequence[Cell],
    file: str | os.PathLike[str],
    *,
    jobs: int = 1,
    folder: str | None = None,
    retry: bool = False,
    here: bool = False,
    progress: Progress = silent,
) -> int:
    """Run the cells that the file does not have yet, ``jobs`` at a time; give how many were run.

    With ``retry`` cells that failed or went over their budget are run again; the later line holds. ``here`` runs them
    in this process, without a budget: for scores of less than a second, for which a new process takes many.
    """
    path = Path(file)
    path.parent.mkdir(parents=True, exist_ok=True)
    with _held(path) as lines:
        settled = {line["key"] for line in read_lines(path) if line["status"] == "done" or not retry}
        waiting = list({cell.key: cell for cell in cells if cell.key not in settled}.values())
        commit = _commit()
        total, done = len({cell.key for cell in cells}), len({cell.key for cell in cells}) - len(waiting)
        progress("cells", done, total)
        stop = threading.Event()
        pool = ThreadPoolExecutor(jobs)
        try:
            run_one = run_here if here else run_cell
            for future in as_completed([pool.submit(run_one, cell, folder, stop) for cell in waiting]):
                lines.write(json.dumps({**future.result(), "commit": commit, "jobs": jobs}) + "\n")
                lines.flush()
                os.fsync(lines.fileno())
                done += 1
                progress("cells", done, total)
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)
    return len(waiting)


def read_lines(file: str | os.PathLike[str]) -> list[Line]:
    """Return the lines of a file, the last of every cell; a torn line at the end is left out.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from benchmarks.comparison.runner import read_lines
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "cells.jsonl"
    ...     _ = file.write_text('{"key": "a", "n": 1}' + chr(10) + '{"key": "a", "n": 2}' + chr(10) + '{"key": "b')
    ...     read_lines(file)
    [{'key': 'a', 'n': 2}]
    """
    path = Path(file)
    last: dict[str, Line] = {}
    for text in path.read_text().splitlines() if path.exists() else ():
        try:
            line = json.loads(text)
        except ValueError:  # a run was killed while it wrote
            continue
        last[line["key"]] = line
    return list(last.values())


def run_here(cell: Cell, folder: str | None, stop: threading.Event) -> Line:
    """Run one cell in this process; give its line."""
    from benchmarks.comparison.child import run

    begin = time.monotonic()
    record = {"status": "stopped"} if stop.is_set() else run(cell, folder)
    return {**_begun(cell), **record, "wall": round(time.monotonic() - begin, 2)}


def run_cell(cell: Cell, folder: str | None = None, stop: threading.Event | None = None) -> Line:
    """Run one cell in a process of its own, within its budget and until ``stop`` is set; give its line."""
    line = _begun(cell)
    command = [
        sys.executable,
        "-m",
        "benchmarks.comparison.child",
        json.dumps(asdict(cell)),
        *([folder] if folder else []),
    ]
    environment = {**os.environ, **dict.fromkeys(THREADS, "1"), "PYTHONPATH": _source()}
    begin = time.monotonic()
    with TemporaryFile("w+") as out, TemporaryFile("w+") as err:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out, stderr=err, env=environment, text=True)
        try:
            over, spent = _watched(process, cell, begin, stop or threading.Event())
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
            if process.stdin:
                process.stdin.close()
        line["wall"] = round(time.monotonic() - begin, 2)
        if over:
            return {**line, "status": over, "budget": {"seconds": cell.seconds, "bytes": cell.bytes}, "spent": spent}
        out.seek(0)
        err.seek(0)
        said, complaint = out.read().strip().splitlines(), err.read()
    try:
        record = json.loads(said[-1])
    except (IndexError, ValueError):
        # The kernel ends a process that takes the last of the memory with signal 9.
        status = "over memory" if process.returncode == -9 else "failed"
        return {**line, "status": status, "error": f"ended with {process.returncode}: {complaint[-500:]}"}
    return {**line, **record}


def _begun(cell: Cell) -> Line:
    return {"key": cell.key, **cell.identity, "when": datetime.now(UTC).isoformat(timespec="seconds")}


def _watched(
    process: subprocess.Popen[str], cell: Cell, begin: float, stop: threading.Event
) -> tuple[str | None, dict[str, float]]:
    """Wait for a process; say what it is over, or None when it ended by itself, and what it has had of a core."""
    most, computed = 0, 0.0
    over = None
    while over is None and process.poll() is None:
        stopped = stop.wait(LOOK_EVERY)
        most, computed = max(most, _resident(process.pid) or 0), max(computed, _computed(process.pid))
        if stopped:
            over = "stopped"
        elif computed > cell.seconds:
            over = "over time"
        elif time.monotonic() - begin > PATIENCE * cell.seconds:
            over = "over time by the clock"
        elif most > cell.bytes:
            over = "over memory"
    return over, {"seconds": round(computed, 1), "bytes": most}


def _resident(pid: int) -> int | None:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):  # not Linux, or it has just ended
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def _computed(pid: int) -> float:
    try:
        parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def _held(path: Path) -> Iterator[Any]:
    """Open the file of lines for this run alone; end a torn last line."""
    with path.open("a+") as lines:
        try:
            fcntl.flock(lines, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise RunFolderError(f"another run is writing to {path}", "wait for it, or name another file") from None
        content = path.read_bytes()
        if content and not content.endswith(b"\n"):
            lines.write("\n")
        yield lines


def _source() -> str:
    """Let the child import the very packages that this process runs."""
    own = [str(ROOT), str(Path(oddhop.__file__).parents[1])]
    return os.pathsep.join([*own, *filter(None, [os.environ.get("PYTHONPATH")])])


def _commit() -> str | None:
    """Return the commit of the checkout, with a + where files differ from it."""
    try:
        named = ["git", "-C", str(ROOT)]
        head = subprocess.run([*named, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=True)
        changed = subprocess.run(
            [*named, "status", "--porcelain", "--untracked-files=no", "--", "src/oddhop", "benchmarks/*.py"],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return head.stdout.strip() + ("+" if changed.stdout.strip() else "")
