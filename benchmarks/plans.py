"""What ``oddhop plan`` foresees against the peak of ``oddhop detect``: ``python benchmarks/plans.py FOLDER NAME...``.

FOLDER/NAME has the tables of benchmarks/tables.py. Few steps are made: steps cost time, not memory. All samples are
kept, for those do.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

FEW = ["--detector", "hcm", "--set", "hcm.burn_in=10", "--set", "hcm.thin=1", "--seed", "0"]
COMMAND = """
import resource, sys
from oddhop.cli import app
try:
    app()
finally:
    peak = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")][0]
    print("PEAK", peak, file=sys.stderr)
"""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", COMMAND, *arguments], capture_output=True, text=True, check=True)


def in_mib(text: str) -> float:
    number, unit = text.split()
    return float(number) * (1024 if unit == "GiB" else 1)


def main() -> None:
    folder, names = Path(sys.argv[1]), sys.argv[2:]
    print("| network | planned | measured | ratio |\n|---|---|---|---|")
    for name in names:
        tables = [str(folder / name / "edges.parquet"), "--nodes", str(folder / name / "nodes.parquet")]
        planned = in_mib(re.search(r"and ([\d.]+ \w+) at most", run("plan", *tables, *FEW[:6]).stdout)[1])  # type: ignore[index]
        with tempfile.TemporaryDirectory() as out:
            done = run("detect", *tables, "--out", f"{out}/run", *FEW)
        peak = int(re.search(r"PEAK (\d+)", done.stderr)[1]) / 1024  # type: ignore[index]
        print(f"| {name} | {planned:,.0f} MiB | {peak:,.0f} MiB | {planned / peak:.2f} |", flush=True)


if __name__ == "__main__":
    main()
