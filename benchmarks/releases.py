"""A fit of Odd in memory by this version and by an earlier one, in turns on the same network.

    git worktree add ../before f25321d                        # an earlier version
    python -m benchmarks.releases ../before 1e6 --rounds 3    # edges of a made-up network; a few minutes

Every fit runs in a process of its own, after one on a small network that compiles. Both versions run with their
defaults (all cores), and with one thread; simulated networks, which earlier versions did not have, are off.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

FIT = """
import inspect, json, sys, time
import numpy as np
import oddhop
from oddhop import Graph, Odd
assert oddhop.__file__.startswith(sys.argv[3]), oddhop.__file__
workers = int(sys.argv[2]) or None
settings = {"simulate": False} if "simulate" in inspect.signature(Odd).parameters else {}
def fit(edges, attributes):
    graph = Graph.from_arrays(edges, attributes)
    clock, busy = time.perf_counter(), time.process_time()
    Odd(random_state=0, workers=workers, **settings).fit(graph)
    return time.perf_counter() - clock, time.process_time() - busy
rng, network = np.random.default_rng(0), np.load(sys.argv[1])
fit(rng.integers(0, 1_000, (2, 10_000)), rng.normal(size=(1_000, 20)).astype(np.float32))
print(json.dumps(fit(network["edges"], network["attributes"])))
"""


def seconds(checkout: Path, network: Path, workers: int) -> list[float]:
    given = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    command = [sys.executable, "-W", "ignore", "-c", FIT, str(network), str(workers), str(checkout)]
    printed = subprocess.run(command, env=given, check=True, stdout=subprocess.PIPE, cwd=network.parent).stdout
    return list(json.loads(printed.splitlines()[-1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="a checkout of an earlier version")
    parser.add_argument("edges", type=float)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    from benchmarks.synthetic import synthetic

    graph, here = synthetic(int(asked.edges) // 10, int(asked.edges), 20), Path(__file__).parents[1]
    print(f"{graph!r}, seed 0, {os.cpu_count()} cores\n")
    heads = "threads | before, s (processor) | now, s (processor) | before / now | of processor time"
    print(f"| {heads} |\n|{'---|' * 5}", flush=True)
    with tempfile.TemporaryDirectory() as home:
        network = Path(home, "network.npz")
        np.savez(network, edges=np.stack(graph.ends(0, graph.edge_count)), attributes=graph.attributes)
        for workers in (0, 1):
            both = []
            for turn in range(asked.rounds):  # either is first as often
                order = (0, 1) if turn % 2 == 0 else (1, 0)
                pair = {k: seconds((asked.before.resolve(), here)[k], network, workers) for k in order}
                both.append([pair[0], pair[1]])
            ratios = [np.divide(before, now) for before, now in both]
            before, now = (f"{wall:.1f} ({busy:.1f})" for wall, busy in np.median(both, axis=0))
            spans = (f"{np.median(one):.2f} [{min(one):.2f}, {max(one):.2f}]" for one in np.transpose(ratios))
            print(f"| {workers or 'all'} | {before} | {now} | {' | '.join(spans)} |", flush=True)


if __name__ == "__main__":
    main()
