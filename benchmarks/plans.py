"""What ``oddhop plan`` foresees against the peak of ``oddhop detect``.

    python -m benchmarks.plans odd FOLDER NAME...      # or hcm

FOLDER/NAME has the tables ``edges.parquet`` and ``nodes.parquet``. HCM makes few steps: steps cost time, not memory.
All samples are kept, for those do.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

FEW = {"hcm": ["--set", "hcm.burn_in=10", "--set", "hcm.thin=1"], "odd": []}
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
    detector, folder, names = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
    chosen = ["--detector", detector, *FEW[detector]]
    print("| network | planned | measured | ratio |\n|---|---|---|---|")
    for name in names:
        tables = [str(folder / name / "edges.parquet"), "--nodes", str(folder / name / "nodes.parquet")]
        planned = in_mib(re.search(r"at most ([\d.]+ \w+)", run("plan", *tables, *chosen).stdout)[1])  # type: ignore[index]
        with tempfile.TemporaryDirectory() as out:
            done = run("detect", *tables, "--out", f"{out}/run", "--seed", "0", *chosen)
        peak = int(re.search(r"PEAK (\d+)", done.stderr)[1]) / 1024  # type: ignore[index]
        print(f"| {name} | {planned:,.0f} MiB | {peak:,.0f} MiB | {planned / peak:.2f} |", flush=True)


if __name__ == "__main__":
    main()
