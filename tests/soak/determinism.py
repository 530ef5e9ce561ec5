"""The same bits at any number of threads and after any resume; and a run that would not fit is refused at once."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

THREADS = (1, 2, 4)
# Enough edges that scoring has several blocks for the workers; a stop in the middle for the resume.
SCRIPT = """
import hashlib, sys, tempfile
import numpy as np
from oddhop import HCM, Graph, Odd
threads, seeds = int(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(0)
graph = Graph.from_arrays(rng.integers(0, 3000, (2, 9000)), rng.normal(size=(3000, 6)))

class Stopped(Exception): pass

def stop(stage, done, total):
    if (stage, done * 2 >= total) == ("training", True):
        raise Stopped

for seed in range(seeds):
    settings = dict(burn_in=6, samples=2, thin=2, chains=2, hidden=8, random_state=seed, workers=threads)
    straight = HCM(**settings).fit(graph)
    odd = Odd(random_state=seed, workers=threads, n_resamples=2).fit(graph)
    with tempfile.TemporaryDirectory() as folder:
        try:
            HCM(**settings).fit(graph, run_folder=folder + "/run", progress=stop)
        except Stopped:
            pass
        resumed = HCM(**settings).fit(graph, run_folder=folder + "/run", resume=True)
    tables = [one.result_.to_pydict() for one in (straight, resumed, odd)]
    print(seed, *[hashlib.sha256(repr(table).encode()).hexdigest() for table in tables], flush=True)
"""


def compare_threads(seeds: int) -> dict[str, Any]:
    """Fit with every number of threads, straight and resumed; count the seeds that gave more than one sha256."""
    lines = []
    for threads in THREADS:
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "NUMBA_NUM_THREADS": str(threads)}
        command = [sys.executable, "-W", "ignore", "-c", SCRIPT, str(threads), str(seeds)]
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        lines += [line.split() for line in ended.stdout.splitlines()]
    hcm = {
        seed: {sha for line in lines if line[0] == seed for sha in line[1:3]} for seed in {line[0] for line in lines}
    }
    odd = {seed: {line[3] for line in lines if line[0] == seed} for seed in hcm}
    differ = [f"seed {seed}" for seed in hcm if len(hcm[seed]) + len(odd[seed]) != 2]
    counts = {"threads": list(THREADS), "seeds": len(hcm), "fits": 3 * len(lines)}
    return {"test": "determinism", **counts, "wrong": len(differ), "errors": differ}


def refuse_in_time(nodes: int = 1_000_000) -> dict[str, Any]:
    """Ask for more memory than there may be: by the command from its start, and by fit on a large network.

    Seconds are those of the processor, as others may use the machine; those by the clock are told beside them.
    """
    import numpy as np

    from oddhop import HCM, Graph, Odd
    from oddhop.errors import MemoryBudgetError
    from tests.soak.warm import write_tables

    seconds, wall, errors = {}, {}, []
    with tempfile.TemporaryDirectory() as home:
        write_tables(Path(home))
        for detector in ("hcm", "odd"):
            begin = [sys.executable, "-c", "from oddhop.cli import app; app()"]
            command = [*begin, "detect", "edges.csv", "--nodes", "nodes.csv", "--out", "run"]
            began, spent = time.monotonic(), _of_children()
            more = ["--detector", detector, "--max-memory", "100M"]
            code = subprocess.run([*command, *more], cwd=home, capture_output=True, check=False).returncode
            seconds[f"oddhop detect --detector {detector}"] = _of_children() - spent
            wall[f"oddhop detect --detector {detector}"] = round(time.monotonic() - began, 2)
            errors += [] if code == 4 else [f"{detector}: exit {code}"]
    rng = np.random.default_rng(0)
    graph = Graph.from_arrays(rng.integers(0, nodes, (2, 5 * nodes)), rng.normal(size=(nodes, 4)))
    for detector in (HCM(max_memory=2**29), Odd(max_memory=2**29)):
        began = time.monotonic()
        try:
            detector.fit(graph)
            errors.append(f"{type(detector).__name__} was not refused")
        except MemoryBudgetError:
            pass
        seconds[f"{type(detector).__name__}.fit, {nodes:,} nodes"] = time.monotonic() - began
    # The refusal itself is quick; a command has to start an interpreter, import torch and read the tables before.
    late = {name for name, spent in seconds.items() if spent > (15 if name.startswith("oddhop") else 5)}
    errors += [f"{name} took {seconds[name]:.1f} s" for name in sorted(late)]
    return {
        "test": "memory refused",
        "seconds": {name: round(spent, 2) for name, spent in seconds.items()},
        "by the clock": wall,
        "errors": errors,
    }


def _of_children() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime
