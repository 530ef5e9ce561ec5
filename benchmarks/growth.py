"""How time and memory of HCM grow with the network: networks on disk in, a table, exponents and a plot out.

    python benchmarks/growth.py GRAPH... --plot docs/_static/growth.svg

Each GRAPH is a folder of ``oddhop ingest`` (``benchmarks/ingest.py`` makes them). ``oddhop detect`` runs on each in a
process of its own, with few steps and samples. The peak of memory is of what the process itself has taken: pages of the
mapped files, which the system takes back when it wants, are counted apart. The exponents are those of the last three
sizes and of all: below a million edges what does not grow (imports, steps of training) has the upper hand.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from oddhop.graph.disk import open_stored

SETTINGS = {"burn_in": 200, "chains": 2, "samples": 2, "thin": 5, "precision": '"bfloat16"', "training": '"sampled"'}


def run(graph: Path) -> dict[str, float]:
    """Judge a network in a process of its own; watch what it takes."""
    manifest = open_stored(graph).manifest
    with tempfile.TemporaryDirectory(dir=graph.parent) as home:
        command = [sys.executable, "-c", "from oddhop.cli import app; app()", "detect", str(graph), "--detector", "hcm"]
        command += ["--out", f"{home}/run", "--seed", "0", "--top", "1000", "--no-report", "--workers", "1"]
        command += [part for name, value in SETTINGS.items() for part in ("--set", f"hcm.{name}={value}")]
        begun = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        peak = {"RssAnon": 0, "RssFile": 0}
        over = threading.Event()

        def watch() -> None:
            while not over.wait(0.05):
                try:
                    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
                except OSError:
                    return
                for line in lines:
                    name = line.split(":")[0]
                    if name in peak:
                        peak[name] = max(peak[name], int(line.split()[1]) * 1024)

        watcher = threading.Thread(target=watch)
        watcher.start()
        ticks = _waited(process)
        over.set()
        watcher.join()
        shutil.rmtree(home, ignore_errors=True)
    return {
        "edges": manifest.edges,
        "nodes": manifest.nodes,
        "seconds": round(ticks, 1),
        "wall": round(time.monotonic() - begun, 1),
        "own": peak["RssAnon"],
        "mapped": peak["RssFile"],
    }


def _waited(process: subprocess.Popen[bytes]) -> float:
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"oddhop detect ended with {process.returncode}")
    return used.ru_utime + used.ru_stime


def exponent(lines: list[dict[str, float]], name: str) -> float:
    """Fit a power of the edges."""
    return float(np.polyfit(np.log([line["edges"] for line in lines]), np.log([line[name] for line in lines]), 1)[0])


def plot(lines: list[dict[str, float]], file: Path) -> None:
    """Draw both against the edges, each over what a straight line of slope 1 through its last point would be."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "oddhop"
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
    edges = np.array([line["edges"] for line in lines])
    for axis, name, unit, label in (
        (axes[0], "seconds", 1.0, "seconds of a processor"),
        (axes[1], "own", 2**30, "memory taken, GiB"),
    ):
        values = np.array([line[name] for line in lines]) / unit
        axis.loglog(edges, values, "o-", color="#1f5fa8")
        axis.loglog(edges, values[-1] * edges / edges[-1], ":", color="#777777", label="in proportion")
        axis.set_xlabel("edges")
        axis.set_title(label, fontsize=10)
        axis.legend(frameon=False, fontsize=9)
    figure.savefig(file, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="+", type=Path)
    parser.add_argument("--lines", type=Path, required=True, help="Kept here; what is there is not run again.")
    parser.add_argument("--plot", type=Path)
    asked = parser.parse_args()
    known = [json.loads(line) for line in asked.lines.read_text().splitlines()] if asked.lines.exists() else []
    for graph in asked.graphs:
        if open_stored(graph).manifest.edges not in {line["edges"] for line in known}:
            known.append(run(graph))
            asked.lines.write_text("".join(json.dumps(line) + "\n" for line in known))
    known.sort(key=lambda line: line["edges"])
    print("| edges | nodes | seconds of a processor | by the clock | own memory | mapped pages |")
    print("|---|---|---|---|---|---|")
    for line in known:
        sizes = " | ".join(f"{line[name] / 2**30:.2f} GiB" for name in ("own", "mapped"))
        counts = f"{line['edges']:,} | {line['nodes']:,}"
        print(f"| {counts} | {line['seconds']:,.0f} | {line['wall']:,.0f} s | {sizes} |")
    for name in ("seconds", "own"):
        print(
            f"exponent of {name}: {exponent(known, name):.2f}, of the last three sizes {exponent(known[-3:], name):.2f}"
        )
    if asked.plot:
        plot(known, asked.plot)


if __name__ == "__main__":
    main()
