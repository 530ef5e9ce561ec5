"""What the case report of a run costs: time and memory of ``oddhop report``, all of it.

    python -m benchmarks.tables npm_2016 TABLES
    oddhop detect TABLES/edges.parquet --nodes TABLES/nodes.parquet --out RUN --top 50 --seed 0 --no-report
    python -m benchmarks.report RUN --cases 1000

Each command is a process of its own, so that its peak is what the kernel says of it: imports, the model, reading the
tables again, explaining, and writing the page. The imports alone stand beside it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

IMPORTS = (
    "import oddhop.runs.reopen, oddhop.reports; "
    "from oddhop.detector.registry import detector_named; detector_named('{}')"
)
COMMAND = "import sys; from oddhop.cli import app; sys.argv[0] = 'oddhop'; app()"


def cost(*arguments: str) -> tuple[float, float, float]:
    """Run Python with some arguments; give seconds, seconds of a processor, and GiB at the peak."""
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"a command failed: {arguments}")
    return time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--cases", type=int, default=1_000)
    args = parser.parse_args()
    heads = ("run", "cases", "seconds", "of a processor", "peak, GiB", "imports alone, GiB", "page, MB")
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for run in args.runs:
        detector = "odd" if b'"detector": "odd"' in (run / "manifest.json").read_bytes() else "hcm"
        bare = cost(IMPORTS.format(detector))
        whole = cost(COMMAND, "report", str(run), "--explain", str(args.cases))
        size = (run / "report.html").stat().st_size / 1e6
        figures = f"{whole[0]:.0f} | {whole[1]:.0f} | {whole[2]:.2f} | {bare[2]:.2f} | {size:.1f}"
        print(f"| {run.name}, {detector} | {args.cases:,} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
