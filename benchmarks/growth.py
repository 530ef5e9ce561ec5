"""How time and memory of a detector grow with the network: networks on disk in, a table, exponents and a plot out.

    python -m benchmarks.growth GRAPH... --lines hcm.jsonl --plot docs/_static/growth.svg
    python -m benchmarks.growth GRAPH... --lines odd.jsonl --detector odd
    python -m benchmarks.growth GRAPH... --lines simulated.jsonl --detector simulated

Each GRAPH is a folder of ``oddhop ingest`` (``benchmarks/ingest.py`` makes them). ``oddhop detect`` runs on each in a
process of its own; HCM makes few steps and samples. "simulated" is Odd with simulated networks: it flags the nodes that
stand out, and the table has their number and how many of them were planted. The peak of memory is of what the process
itself has taken: pages of the mapped files, which the system takes back when it wants, are counted apart. The exponents
are those of the last three sizes and of all: below a million edges what does not grow (imports, steps of training) has
the upper hand.
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
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
from sklearn.metrics import average_precision_score, roc_auc_score

from oddhop.graph.disk import open_stored

SETTINGS: dict[str, dict[str, Any]] = {
    "hcm": {"burn_in": 200, "chains": 2, "samples": 2, "thin": 5},
    "odd": {"simulate": "false"},
    "simulated": {},
}
FLAGGED = {"hcm": ["--top", "1000"], "odd": ["--top", "1000"], "simulated": ["--max-chance", "0.1"]}


def run(graph: Path, detector: str, workers: int) -> dict[str, Any]:
    """Judge a network in a process of its own; watch what it takes."""
    manifest = open_stored(graph).manifest
    with tempfile.TemporaryDirectory(dir=graph.parent) as home:
        command = [sys.executable, "-c", "from oddhop.cli import app; app()", "detect", str(graph)]
        command += ["--detector", "hcm" if detector == "hcm" else "odd", *FLAGGED[detector], "--out", f"{home}/run"]
        command += ["--seed", "0", "--explain", "0", "--workers", str(workers)]
        command += [
            part for name, value in SETTINGS[detector].items() for part in ("--set", f"{detector}.{name}={value}")
        ]
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
        found = found_by_kind(Path(home, "run"), graph.parent / "labels.parquet")
        flagged = flagged_and_planted(Path(home, "run"), graph.parent / "labels.parquet")
        shutil.rmtree(home, ignore_errors=True)
    return {
        "edges": manifest.edges,
        "nodes": manifest.nodes,
        "seconds": round(ticks, 1),
        "wall": round(time.monotonic() - begun, 1),
        "own": peak["RssAnon"],
        "mapped": peak["RssFile"],
        "found": found,
        "flagged": flagged,
    }


def found_by_kind(run: Path, labels: Path) -> dict[str, list[float]]:
    """Return ROC-AUC and AP of every kind of planted anomalies, the others left out; nothing where there are none."""
    if not labels.exists():
        return {}
    result, planted = pq.read_table(run / "results.parquet", columns=["id", "score"]), pq.read_table(labels)
    ids, score, found = result["id"].to_numpy(), result["score"].to_numpy(), {}
    ordinary = ~np.isin(ids, planted["id"].to_numpy())
    for kind in planted["kind"].unique().to_pylist():
        odd = np.isin(ids, planted.filter(pc.equal(planted["kind"], kind))["id"].to_numpy())
        some = odd | ordinary
        figures = roc_auc_score(odd[some], score[some]), average_precision_score(odd[some], score[some])
        found[kind] = [round(float(figure), 4) for figure in figures]
    return found


def flagged_and_planted(run: Path, labels: Path) -> list[int]:
    """Return how many nodes are flagged, and how many of these were planted; nothing where there are no labels."""
    if not labels.exists():
        return []
    result, planted = pq.read_table(run / "results.parquet", columns=["id", "flagged"]), pq.read_table(labels)
    flagged = result.filter(result["flagged"])["id"].to_numpy()
    return [flagged.size, int(np.isin(flagged, planted["id"].to_numpy()).sum())]


def _waited(process: subprocess.Popen[bytes]) -> float:
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"oddhop detect ended with {process.returncode}")
    return used.ru_utime + used.ru_stime


def exponent(lines: list[dict[str, Any]], name: str) -> float:
    """Fit a power of the edges."""
    return float(np.polyfit(np.log([line["edges"] for line in lines]), np.log([line[name] for line in lines]), 1)[0])


def plot(lines: list[dict[str, Any]], file: Path) -> None:
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
    parser.add_argument("--detector", choices=SETTINGS, default="hcm")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--plot", type=Path)
    asked = parser.parse_args()
    known = [json.loads(line) for line in asked.lines.read_text().splitlines()] if asked.lines.exists() else []
    for graph in asked.graphs:
        if open_stored(graph).manifest.edges not in {line["edges"] for line in known}:
            known.append(run(graph, asked.detector, asked.workers))
            asked.lines.write_text("".join(json.dumps(line) + "\n" for line in known))
    known.sort(key=lambda line: line["edges"])
    print("| edges | nodes | processor s | elapsed | own memory | mapped pages | ROC-AUC / AP | flagged | planted |")
    print("|---|---|---|---|---|---|---|---|---|")
    for line in known:
        sizes = " | ".join(f"{line[name] / 2**30:.2f} GiB" for name in ("own", "mapped"))
        counts = f"{line['edges']:,} | {line['nodes']:,}"
        kinds = ", ".join(f"{kind} {area:.4f} / {ap:.3f}" for kind, (area, ap) in line.get("found", {}).items())
        flagged = " | ".join(map(str, line.get("flagged") or ["", ""]))
        print(f"| {counts} | {line['seconds']:,.0f} | {line['wall']:,.0f} s | {sizes} | {kinds} | {flagged} |")
    for name in ("seconds", "own"):
        print(
            f"exponent of {name}: {exponent(known, name):.2f}, of the last three sizes {exponent(known[-3:], name):.2f}"
        )
    if asked.plot:
        plot(known, asked.plot)


if __name__ == "__main__":
    main()
