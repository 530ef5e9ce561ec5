"""The process that runs one cell: ``python -m benchmarks.comparison.child CELL [DATA]``; its last line is JSON.

It warms up on a small network first, so that imports, compiled kernels and their memory are not counted as the
detector's. Seconds are those of the one core it has, not those it waited for others. It ends when its standard input
does: no cell outlives the run that started it.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import traceback
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.comparison.cells import (
    HCM_NAME,
    READINGS,
    TRAINING,
    Cell,
    curve_of,
    figures_of,
    load_problem,
    scores_of,
)
from oddhop.errors import MemoryBudgetError

PACKAGES = ("oddhop", "numpy", "scipy", "scikit-learn", "numba", "torch", "torch_geometric", "pyod", "pygod")
STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
QUICK = {"burn_in": 2, "samples": 2, "thin": 1, "chains": 2}


def run(cell: Cell, folder: str | None) -> dict[str, Any]:
    """Run a cell and give its record: status, figures, seconds, memory."""
    record: dict[str, Any] = {"versions": versions()}
    try:
        _warm_up(cell)
        base = _memory("VmRSS")
        if base is not None:
            CLEAR.write_text("5")  # from here on the peak is counted anew
        problem = load_problem(cell, folder)
        graph = problem.graph
        record |= {"nodes": graph.node_count, "edges": graph.edge_count, "attributes": graph.attribute_count}
        if problem.anomalous is not None:
            record["anomalies"] = int(problem.anomalous.sum())
        begin, begin_wall = time.process_time(), time.perf_counter()
        found: Any = curve_of(cell, problem) if cell.detector == TRAINING else scores_of(cell, problem)
        record["seconds"], record["wall_seconds"] = time.process_time() - begin, time.perf_counter() - begin_wall
        peak = _memory("VmHWM")
        record["memory"] = None if peak is None or base is None else max(peak - base, 0)
        told = {"curve": found} if cell.detector == TRAINING else {"figures": figures_of(found, problem)}
        return record | {"status": "done"} | told
    except (MemoryBudgetError, MemoryError) as error:
        return record | {"status": "over memory", "error": str(error)}
    except Exception as error:
        wanting = "can't allocate memory" in str(error)  # torch's word for it
        status = "over memory" if wanting else "failed"
        return record | {"status": status, "error": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}


def versions() -> dict[str, str]:
    """Return the versions of all that a figure may depend on."""
    found = {"python": sys.version.split()[0]}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def _warm_up(cell: Cell) -> None:
    shorter = cell.detector in (HCM_NAME, READINGS, TRAINING)
    settings = {**cell.settings, **QUICK} if shorter else cell.settings
    small = replace(cell, network="synthetic 300", injection=None, settings=settings)
    problem = load_problem(small, None)
    graph = problem.graph
    anomalous, one_way = graph.degrees > graph.degrees.mean(), np.stack(graph.ends(0, graph.edge_count))
    run_detector = curve_of if cell.detector == TRAINING else scores_of
    run_detector(small, replace(problem, anomalous=anomalous, directed_edges=one_way))


def _memory(name: str) -> int | None:
    if not STATUS.exists():
        return None
    lines = dict(line.split(":", 1) for line in STATUS.read_text().splitlines())
    return int(lines[name].split()[0]) * 1024


def _end_with_parent() -> None:
    sys.stdin.read()
    os._exit(1)


def main() -> None:
    """Run the cell that the command line describes."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    cell = Cell.from_dict(json.loads(sys.argv[1]))
    sys.stdout.write("\n" + json.dumps(run(cell, sys.argv[2] if len(sys.argv) > 2 else None)) + "\n")
    sys.stdout.flush()
    os._exit(0)  # the thread above still waits


if __name__ == "__main__":
    main()
