r"""One network on three machines, two and one, and without a cluster: the scores must be the same.

    python -m tests.cluster.alike GRAPH --machines 3 2 1
    python -m tests.cluster.alike WORK/graph --make 5e6 1e7 64 --memory 1.25 --set hop_classes=2 neighbours=1

The first takes a network that ``oddhop ingest`` made. The second makes one of so many nodes, edges and attributes where
there is none, and gives Ray and its tasks no more than MEMORY GiB on each machine, what is cached of files among it;
the network must be larger than that. What a chain learns from takes the same at any size of the network: these settings
make it small enough. The exit code is 1 if scores differ, or if a task was killed for memory.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from sklearn.metrics import roc_auc_score

from benchmarks.large import Large, write_large
from oddhop.graph.disk import open_stored
from oddhop.tables.ingest import ingest
from tests.cluster.campaign import compare, scores
from tests.cluster.faults import kill_node
from tests.cluster.machines import ADDRESS, HEAD, Machines, brought_up

FEW = {"burn_in": 200, "chains": 2, "samples": 2, "thin": 5}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", type=Path)
    parser.add_argument("--machines", type=int, nargs="+", choices=(1, 2, 3), default=[3])
    parser.add_argument("--make", type=float, nargs=3, metavar=("NODES", "EDGES", "ATTRIBUTES"))
    parser.add_argument("--memory", type=float, help="GiB on each machine")
    parser.add_argument("--set", nargs="+", default=[], help="settings of HCM")
    asked = parser.parse_args()
    settings = {**FEW, **dict(setting.split("=", 1) for setting in asked.set)}
    if asked.make and not asked.graph.exists():
        make(asked.graph, *map(int, asked.make))
    size = sum(file.stat().st_size for file in asked.graph.iterdir())
    told = {"bytes": size, "partitions": open_stored(asked.graph).partitions, "errors": []}
    if asked.memory:
        told["limit"] = int(asked.memory * 2**30)
        os.environ["ODDHOP_NODE_MEMORY"] = str(told["limit"])
        told["errors"] += ["the network is no larger than the limit"] if size <= told["limit"] else []
    with tempfile.TemporaryDirectory(dir=asked.graph.parent) as home:
        out = Path(home, "run")
        told["without a cluster"] = {"seconds": run(asked.graph, out, settings, None)}
        expected = scores(out)
        with brought_up() as machines:
            for count in sorted(asked.machines, reverse=True):
                for machine in range(count + 1, 4):
                    kill_node(machines, machine)
                seconds = run(asked.graph, out, settings, machines)
                difference, same_top = compare(expected, scores(out))
                memory = {f"machine {one}": memory_of(machines, one) for one in range(1, count + 1) if asked.memory}
                told[f"machines: {count}"] = {
                    "seconds": seconds, "largest_difference": difference, "same_top": same_top, **memory,
                }  # fmt: skip
                if difference is None or difference > 1e-5 or not same_top:
                    told["errors"].append(f"other scores on {count} machines")
                told["errors"] += [f"{name} was short of memory" for name, used in memory.items() if used["killed"]]
    labels = asked.graph.parent / "labels.parquet"
    if labels.exists():
        planted = np.isin(expected[0], pq.read_table(labels)["id"].to_numpy())
        told["roc_auc"] = round(float(roc_auc_score(planted, expected[1])), 3)
    print(json.dumps(told))
    return int(bool(told["errors"]))


def make(graph: Path, nodes: int, edges: int, attributes: int) -> None:
    """Make a network, in 24 partitions or so."""
    write_large(Large(nodes, edges, attributes=attributes), graph.parent)
    ingest(graph.parent / "edges", graph.parent / "nodes", graph, partition_entries=2 * edges // 24)


def run(network: Path, out: Path, settings: dict[str, object], machines: Machines | None) -> int:
    """Judge the network on the machines, or on this one; give the seconds."""
    shutil.rmtree(out, ignore_errors=True)
    command = [sys.executable, "-c", "from oddhop.cli import app; app()", "detect", str(network), "--out", str(out)]
    command += ["--detector", "hcm", "--seed", "0", "--explain", "0", "--log-format", "plain"]
    command += [part for name, value in settings.items() for part in ("--set", f"hcm.{name}={value}")]
    begun = time.monotonic()
    if machines is None:
        subprocess.run(command, check=True)
    else:
        command += ["--engine", "ray", "--address", ADDRESS]
        subprocess.run(machines.on(HEAD, command), check=True, env=machines.environment())
    return round(time.monotonic() - begun)


def memory_of(machines: Machines, machine: int) -> dict[str, int]:
    """Return the peak of a machine, and how many processes were killed for it."""
    group = Path("/sys/fs/cgroup/memory", machines.namespace(machine))
    if group.exists():
        peak, events = "memory.max_usage_in_bytes", "memory.oom_control"
    else:
        group, peak, events = Path("/sys/fs/cgroup", machines.namespace(machine)), "memory.peak", "memory.events"
    counts = dict(line.split() for line in (group / events).read_text().splitlines())
    return {"peak": int((group / peak).read_text()), "killed": int(counts["oom_kill"])}


if __name__ == "__main__":
    sys.exit(main())
