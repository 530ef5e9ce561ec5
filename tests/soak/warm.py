"""Commands as children of one warm process: to start an interpreter takes seconds, to fork one takes none."""

from __future__ import annotations

import hashlib
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

OUTPUT = "output.txt"
QUICK = [f"hcm.{one}" for one in ("burn_in=12", "samples=2", "thin=2", "chains=2", "hidden=8")]
TABLES = ["../edges.csv", "--nodes", "../nodes.csv"]
ALIKE = ["--seed", "1", "--workers", "1", "--log-format", "plain"]
HCM = ["--detector", "hcm", *(word for one in QUICK for word in ("--set", one))]
# Every command can be said again as it stands: it goes on where it was.
COMMANDS = {
    "detect by HCM": ["detect", *TABLES, "--out", "run", *HCM, *ALIKE, "--explain", "0", "--resume"],
    "detect by Odd": ["detect", *TABLES, "--out", "run", *ALIKE, "--explain", "2", "--resume"],
    "fit HCM": ["fit", *TABLES, "--model", "model.oddhop", *HCM, *ALIKE, "--resume"],
    "fit Odd": ["fit", *TABLES, "--model", "model.oddhop", *ALIKE, "--resume"],
    "ingest": ["ingest", *TABLES, "--out", "graph", "--log-format", "plain"],
}


def write_tables(home: Path, nodes: int = 40, edges: int = 90) -> None:
    """Write a small network as two tables; their times are fixed, for they belong to an ingest."""
    rng = np.random.default_rng(0)
    ends = rng.integers(0, nodes, (edges, 2))
    (home / "edges.csv").write_text("from,to\n" + "".join(f"{u},{v}\n" for u, v in ends))
    rows = (f"{k},{rng.normal():.4f},{rng.normal():.4f},{'ab'[k % 2]}\n" for k in range(nodes))
    (home / "nodes.csv").write_text("name,age,size,town\n" + "".join(rows))


@dataclass
class Tally:
    """What came of many tries: how often what, and what was wrong."""

    right: tuple[str, ...]
    counts: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)

    def add(self, outcome: str, where: str) -> None:
        """Count an outcome; of a wrong one, keep where it was."""
        self.counts[outcome if outcome in self.right else "wrong"] += 1
        if outcome not in self.right:
            self.errors.append(f"{where}: {outcome}")

    def told(self, test: str, **figures: Any) -> dict[str, Any]:
        """Return the line of it."""
        return {"test": test, **figures, **self.counts, "errors": self.errors}


@contextmanager
def warm_home() -> Iterator[Path]:
    """Return a folder of its own, with the tables, once all is imported and compiled."""
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        warm_up(Path(name))
        yield Path(name)


def warm_up(home: Path) -> None:
    """Import all that the commands need, and have every kernel compiled, before anything is forked."""
    write_tables(home)
    if "oddhop.tables.ingest" in sys.modules:
        return
    (home / "warm").mkdir()
    for command in COMMANDS.values():
        code = ended(begun(command, home / "warm"), 300)
        assert code == 0, (command, code, (home / OUTPUT).read_text())
    import pyarrow.acero  # noqa: F401
    import scipy.cluster.vq
    import scipy.linalg
    import scipy.sparse.csgraph
    import scipy.sparse.linalg  # noqa: F401 - these are looked up in a fit: no file of ours to fail on

    import oddhop.cli.settings
    import oddhop.cli.summary
    import oddhop.hcm.detector
    import oddhop.odd.detector
    import oddhop.odd.explain_kinds
    import oddhop.odd.features
    import oddhop.runs
    import oddhop.tables.encoded
    import oddhop.tables.ingest  # noqa: F401


def begun(
    command: Sequence[str], folder: Path, *, stopped: bool = False, before: Callable[[], None] | None = None
) -> int:
    """Start ``oddhop command`` in that folder; with ``stopped`` it waits for a signal first. Give its process id."""
    return child(lambda: _say(command), folder, stopped=stopped, before=before)


def child(
    task: Callable[[], int], folder: Path, *, stopped: bool = False, before: Callable[[], None] | None = None
) -> int:
    """Fork a process for a task whose result is the exit code; what it says goes to a file beside the folder."""
    sys.stdout.flush()
    process = os.fork()
    if process:
        return process
    code = 99
    try:
        os.chdir(folder)
        output = os.open(folder.parent / OUTPUT, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        os.dup2(output, 1)
        os.dup2(output, 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if before is not None:
            before()
        if stopped:
            os.kill(os.getpid(), signal.SIGSTOP)
        code = task()
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(code)


def _say(command: Sequence[str]) -> int:
    if command[0] == "inject":  # of the benchmarks, and the only command that reads .mat files
        from benchmarks.__main__ import app
    else:
        from oddhop.cli import app

    try:
        app(list(command))
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        try:
            sys.stdout.flush()
        except OSError:
            return code or 120  # as the interpreter does
        return code
    return 0


def ended(process: int, seconds: float = 60) -> int:
    """Wait for a child: its exit code, minus the signal that ended it, or -1000 where it had to be ended here."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return -1000


def traced(command: Sequence[str], folder: Path, strace: Sequence[str], *, seconds: float = 60) -> int:
    """Run a command under strace, which is to make a call fail or kill the process; give the exit code."""
    process = begun(command, folder, stopped=True)
    os.waitpid(process, os.WUNTRACED)
    log = folder.parent / "strace.txt"
    tracing = ["strace", "-f", "-q", "-y", "-o", log, *strace, "-p", str(process)]
    tracer = subprocess.Popen(tracing, stderr=subprocess.DEVNULL)
    status = Path(f"/proc/{process}/status")
    while "TracerPid:\t0" in status.read_text() and tracer.poll() is None:
        time.sleep(0.001)
    os.kill(process, signal.SIGCONT)
    code = ended(process, seconds)
    tracer.wait()
    return code


def digest(folder: Path) -> dict[str, str]:
    """Return the sha256 of every file in a folder, by name; a lock is nothing but a name."""
    files = sorted(file for file in folder.rglob("*") if file.is_file() and file.name != ".lock")
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
