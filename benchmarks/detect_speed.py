"""Processor seconds of ``oddhop detect`` with the defaults on made-up payments, for one source tree or several.

    python -m benchmarks.detect_speed 100000 1000000 [--src OLD/src --src src]

With several trees they take turns, so that figures in one row compare. Kernels are compiled before, in a run that does
not count. The sha256 of results.parquet and report.html say whether the trees give the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

DETECT = "from oddhop.cli import app; app()"


def write_payments(folder: Path, count: int) -> None:
    """Write payments with amount and time among count / 8 accounts of 8 columns."""
    rng = np.random.default_rng(0)
    nodes = count // 8
    payments = {
        "payer": rng.integers(0, nodes, count),
        "payee": rng.integers(0, nodes, count),
        "time": np.datetime64("2026-01-01", "s") + rng.integers(0, 7 * 86_400, count).astype("timedelta64[s]"),
        "amount": np.round(rng.lognormal(4, 0.5, count), 2),
    }
    pq.write_table(pa.table(payments), folder / "payments.parquet")
    accounts = {f"x{k}": rng.normal(size=nodes) + rng.integers(0, 3, nodes) for k in range(8)}
    pq.write_table(pa.table({"id": np.arange(nodes), **accounts}), folder / "accounts.parquet")


def detect(tree: Path, folder: Path) -> tuple[float, str]:
    """Return the processor seconds of a run by a source tree, and the sha256 of its results and report."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory(dir=folder) as home:
        order = [sys.executable, "-c", DETECT, "detect", "payments.parquet", "--nodes", "accounts.parquet"]
        order += ["--out", f"{home}/run", "--seed", "0", "--workers", "1"]
        environment = {**os.environ, "PYTHONPATH": str(tree.absolute())}
        subprocess.run(order, cwd=folder, env=environment, check=True, capture_output=True)
        digests = [hashlib.sha256(Path(home, "run", name).read_bytes()).hexdigest()[:12] for name in RESULTS]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, " ".join(digests)


RESULTS = ("results.parquet", "report.html")


def main() -> None:
    """Write the payments, and time every tree."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("counts", nargs="+", type=int)
    parser.add_argument("--src", action="append", type=Path, help="a folder that holds oddhop")
    parser.add_argument("--repeats", type=int, default=2)
    args = parser.parse_args()
    for count in args.counts:
        with tempfile.TemporaryDirectory() as home:
            write_payments(Path(home), 1_000)
            for tree in args.src or [Path("src")]:
                detect(tree, Path(home))
            write_payments(Path(home), count)
            for turn in range(args.repeats):
                for tree in args.src or [Path("src")]:
                    seconds, digests = detect(tree, Path(home))
                    print(f"{count:,} payments, turn {turn}, {tree}: {seconds:.1f} s, {digests}", flush=True)


if __name__ == "__main__":
    main()
