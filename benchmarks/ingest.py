"""Large networks: made, ingested, opened; seconds, processor seconds and the peak of memory of each.

    python -m benchmarks.ingest FOLDER --nodes 1e6 --edges 1e7          # a minute
    python -m benchmarks.ingest FOLDER --nodes 1e7 --edges 1e8          # ten minutes, 15 GB of disk
    python -m benchmarks.ingest FOLDER --nodes 1e6 --edges 1e7 --text   # ids of text, which must be joined

Each step runs in a process of its own, so that its peak is its own.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

STEPS = ("make", "ingest", "open")


def make(home: Path, nodes: int, edges: int, text: bool) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    from benchmarks.large import Large, write_large

    write_large(Large(nodes, edges, community=min(2_000, nodes // 500)), home)
    for file in sorted(home.glob("*/*.parquet")) if text else ():
        table = pq.read_table(file)
        for name in ("id", "source", "target"):
            if name in table.column_names:
                texts = pc.binary_join_element_wise("customer-", pc.cast(table[name], pa.string()), "")
                table = table.set_column(table.column_names.index(name), name, texts)
        pq.write_table(table, file)


def run(step: str, home: Path, nodes: int, edges: int, text: bool, memory: int) -> None:
    begin, busy = time.perf_counter(), time.process_time()
    stages: dict[str, float] = {}
    if step == "make":
        make(home, nodes, edges, text)
    elif step == "ingest":
        from oddhop.tables.ingest import ingest

        def progress(stage: str, *_: int) -> None:
            stages.setdefault(stage, round(time.perf_counter() - begin, 1))

        ingest(home / "edges", home / "nodes", home / "graph", max_memory=memory, progress=progress)
    else:
        from oddhop import Graph

        stages["fingerprint"] = len(Graph.open(home / "graph").fingerprint)
    figures = {
        "step": step,
        "seconds": round(time.perf_counter() - begin, 1),
        "processor_seconds": round(time.process_time() - busy, 1),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
        "stage_begins": stages,
    }
    print(json.dumps(figures), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nodes", type=float, default=1e6)
    parser.add_argument("--edges", type=float, default=1e7)
    parser.add_argument("--text", action="store_true")
    parser.add_argument("--max-memory", type=float, default=4, help="GiB")
    parser.add_argument("--step", choices=STEPS)
    asked = parser.parse_args()
    if asked.step:
        memory = int(asked.max_memory * 2**30)
        run(asked.step, asked.folder, int(asked.nodes), int(asked.edges), asked.text, memory)
        return
    for step in STEPS:
        subprocess.run([sys.executable, "-m", "benchmarks.ingest", *sys.argv[1:], "--step", step], check=True)


if __name__ == "__main__":
    main()
