r"""A network larger than the memory of each machine: a cluster must judge it, and as one machine does.

    python -m tests.cluster.larger WORK --nodes 5e6 --edges 1e7 --attributes 64 --memory 1.1

makes the network in WORK, ingests it, runs ``oddhop detect`` on three machines on which Ray and its tasks have MEMORY
GiB each, what is cached of files among them, and then on this machine without that limit. What was made stays in WORK.
The exit code is 1 if the network is not larger than the limit, if a task was killed for memory, or if scores differ.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from sklearn.metrics import roc_auc_score

from oddhop.bench.large import Large, write_large
from oddhop.ingest import ingest
from oddhop.stored import open_stored
from tests.cluster.campaign import compare, scores
from tests.cluster.machines import ADDRESS, HEAD, WORKERS, Machines, brought_up

FEW = {"burn_in": 200, "chains": 2, "samples": 2, "thin": 5, "training": '"sampled"'}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("--nodes", type=float, default=5e6)
    parser.add_argument("--edges", type=float, default=1e7)
    parser.add_argument("--attributes", type=int, default=64)
    parser.add_argument("--partitions", type=int, default=24)
    parser.add_argument("--memory", type=float, default=1.1, help="GiB")
    asked = parser.parse_args()
    network = made(asked)
    size = sum(file.stat().st_size for file in network.rglob("*") if file.is_file())
    limit = int(asked.memory * 2**30)
    os.environ["ODDHOP_NODE_MEMORY"] = str(limit)
    with brought_up() as machines:
        seconds = run(network, asked.work / "three", machines)
        peaks = {f"machine {machine}": memory_of(machines, machine) for machine in (HEAD, *WORKERS)}
    alone = run(network, asked.work / "one", None)
    here = scores(asked.work / "three")
    difference, same_top = compare(scores(asked.work / "one"), here)
    planted = np.isin(here[0], pq.read_table(asked.work / "labels.parquet")["id"].to_numpy())
    told = {
        "bytes": size, "limit": limit, "partitions": open_stored(network).partitions, "seconds": round(seconds),
        "seconds_on_one": round(alone), "largest_difference": difference, "same_top": same_top,
        "roc_auc": round(float(roc_auc_score(planted, here[1])), 3), **peaks,
    }  # fmt: skip
    print(json.dumps(told))
    killed = sum(peak["killed"] for peak in peaks.values())
    return int(size <= limit or killed > 0 or difference is None or difference > 1e-5 or not same_top)


def made(asked: argparse.Namespace) -> Path:
    """Make the network, or take the one that is there."""
    network = asked.work / "graph"
    if not network.exists():
        write_large(Large(int(asked.nodes), int(asked.edges), attributes=asked.attributes), asked.work)
        entries = int(2 * asked.edges / asked.partitions)
        ingest(asked.work / "edges", asked.work / "nodes", network, partition_entries=entries)
    return network


def run(network: Path, out: Path, machines: Machines | None) -> float:
    """Judge the network on the machines, or on this one; give the seconds."""
    shutil.rmtree(out, ignore_errors=True)
    command = [sys.executable, "-c", "from oddhop.cli import app; app()", "detect", str(network), "--out", str(out)]
    command += ["--detector", "hcm", "--seed", "0", "--no-report", "--log-format", "plain"]
    command += [part for name, value in FEW.items() for part in ("--set", f"hcm.{name}={value}")]
    begun = time.monotonic()
    if machines is None:
        subprocess.run(command, check=True)
    else:
        command += ["--engine", "ray", "--address", ADDRESS]
        subprocess.run(machines.on(HEAD, command), check=True, env=machines.environment())
    return time.monotonic() - begun


def memory_of(machines: Machines, machine: int) -> dict[str, int]:
    """Give the peak of a machine, and how many processes were killed for it."""
    group = Path("/sys/fs/cgroup/memory", machines.namespace(machine))
    if group.exists():
        peak, events = "memory.max_usage_in_bytes", "memory.oom_control"
    else:
        group, peak, events = Path("/sys/fs/cgroup", machines.namespace(machine)), "memory.peak", "memory.events"
    counts = dict(line.split() for line in (group / events).read_text().splitlines())
    return {"peak": int((group / peak).read_text()), "killed": int(counts["oom_kill"])}


if __name__ == "__main__":
    sys.exit(main())
