"""What a cluster would take, from rates measured here: seconds of a core, bytes on its disks, bytes over its wires.

    python benchmarks/cost_model.py GRAPH --folder /tmp/cost           # for 1e9 nodes and 1e10 edges on 64 machines
    python benchmarks/cost_model.py GRAPH --folder /tmp/cost --nodes 1e8 --edges 1e9 --machines 8

GRAPH is a folder of ``oddhop ingest``, the larger the better. Every task of a run over its partitions is timed on one
thread; its time is divided by what it grows with and multiplied by what the large network has of that. The wire is
counted as if every entry fetched the row of its neighbour. Machines are taken to be busy all the time and to wait for
nothing, so the hours are lower bounds.
"""

from __future__ import annotations

import argparse
import shutil
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oddhop import HCM
from oddhop.base.parallel import threads
from oddhop.graph.disk import open_stored
from oddhop.hcm.cost import RANKED
from oddhop.hcm.hop_pairs import MAX_SOURCES

SAMPLES, CHAINS, STEPS, WIDTH, HIDDEN, CLASSES = 10, 4, 1_100, 20, 128, 4  # as HCM has them
FEW = {"burn_in": 20, "samples": 2, "thin": 1, "chains": 2}  # what is run here
WIRE = 25e9 / 8


@dataclass(frozen=True)
class Task:
    """One kind of task: what its time grows with, here and there, and the bytes that every unit fetches."""

    stage: str
    name: str
    here: float
    there: float
    fetched: float = 0.0


def timed(seconds: Counter[str]) -> Callable[..., list[Any]]:
    """Make a mapper that adds up the processor seconds of every kind of task."""

    def run(function: Any, blocks: Sequence[Any], report: Callable[[int], None]) -> list[Any]:
        begun = time.process_time()
        results = threads(1)(function, blocks, report)
        seconds[getattr(function, "func", function).__name__] += time.process_time() - begun
        return results

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", type=Path)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--nodes", type=float, default=1e9)
    parser.add_argument("--edges", type=float, default=1e10)
    parser.add_argument("--machines", type=int, default=64)
    parser.add_argument("--cores", type=int, default=16)
    asked = parser.parse_args()
    small = open_stored(asked.graph).manifest
    seconds: Counter[str] = Counter()
    for _ in range(2):  # the first run compiles
        seconds.clear()
        shutil.rmtree(asked.folder, ignore_errors=True)
        detector = HCM(**FEW, precision="bfloat16", random_state=0)
        detector.fit_partitions(asked.graph, mapper=timed(seconds), run_folder=asked.folder)
    shutil.rmtree(asked.folder)
    entries = 2 * small.edges, 2 * asked.edges
    nodes = small.nodes, asked.nodes
    few, many = FEW["samples"] * FEW["chains"], SAMPLES * CHAINS
    judged = few * entries[0], many * entries[1]
    sources = min(MAX_SOURCES, small.nodes), MAX_SOURCES
    steps = FEW["chains"] * (FEW["burn_in"] + FEW["samples"]), CHAINS * STEPS
    tasks = [
        Task("prepare", "_learned", *nodes),
        Task("prepare", "_prepared", *nodes),
        Task("prepare", "_convolved", *entries, 4 * WIDTH),
        Task("purify", "_similarity", *entries, 4 * WIDTH),
        Task("purify", "_counts", *entries),
        Task("purify", "_leave_rows", *entries),
        Task("hop pairs", "_reach", *entries, 32 * CLASSES),
        Task("hop pairs", "_draw_block", *sources),
        Task("train", "_run_chain", *steps),
        Task("score", "_embed", *judged, 4 * WIDTH),
        Task("score", "_judge", *judged, 2 * HIDDEN),
        Task("score", "_vary", *entries),
    ]
    alone = {"_learned": 1, "_run_chain": CHAINS}
    cores, wires = asked.machines * asked.cores, asked.machines * WIRE
    print("| stage | task | measured | core-hours there | wall, minutes | fetched, TB | on the wire, minutes |")
    print("|---|---|---|---|---|---|---|")
    total = 0.0
    for task in tasks:
        rate = seconds[task.name] / task.here
        work, moved = rate * task.there, task.fetched * task.there
        wall, wire = work / alone.get(task.name, cores), moved / wires
        total += max(wall, wire)
        figures = (
            f"{rate * 1e9:,.3g} ns | {work / 3600:,.3g} | {wall / 60:,.3g} | {moved / 1e12:,.3g} | {wire / 60:,.3g}"
        )
        print(f"| {task.stage} | `{task.name}` | {figures} |")
    disk = asked.nodes * (2 * 4 * WIDTH + 2 * 32 + SAMPLES * 2 * HIDDEN + 4 * many) + entries[1] * (
        4 + 4 + 4 + 4 * CHAINS
    )
    ranking = asked.nodes * RANKED
    each = disk / asked.machines / 1e9
    print(f"\nall: {total / 3600:.1f} hours; {disk / 1e12:.1f} TB on disks, {each:.0f} GB a machine;")
    print(f"ranking in one process: {ranking / 1e9:.0f} GB")


if __name__ == "__main__":
    main()
