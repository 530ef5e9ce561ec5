"""Several kinds of nodes at scale: seconds and memory by stage, and how they grow.

    python -m benchmarks.kinds growth 100000 1000000 10000000      # edges; a process each
    ODDHOP_DATA=... python -m benchmarks.kinds reddit               # bond_reddit as users and subreddits

The networks of ``growth`` have a tenth as many accounts as edges and a hundredth as many merchants. One merchant has
all accounts, the others follow a power law. Accounts have eight columns that go with the group of their merchants.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from oddhop.arrays.run import on_threads
from oddhop.graph.graph import Graph
from oddhop.graph.kinds import NodeKinds
from oddhop.odd import kinds, views
from oddhop.odd.communities import residuals
from oddhop.odd.eigenvectors import leading_eigenpairs
from oddhop.odd.fit import node_keys, replicate_scores
from oddhop.odd.homophily import learn_homophily
from oddhop.odd.source import Source

GROUPS = 20


def network(edges: int, seed: int = 0) -> Graph:
    """Make accounts and merchants, one of them a hub of all accounts."""
    rng = np.random.default_rng(seed)
    accounts, merchants = edges // 10, edges // 100
    group = rng.integers(0, GROUPS, accounts)
    columns = rng.normal(size=(GROUPS, 8))[group] + rng.normal(size=(accounts, 8))
    buyer = rng.integers(0, accounts, edges - accounts)
    popular = np.minimum((merchants // GROUPS) * rng.random(buyer.size) ** 2.5, merchants // GROUPS - 1).astype(
        np.int64
    )
    at_home = rng.random(buyer.size) < 0.7
    where = np.where(at_home, group[buyer], rng.integers(0, GROUPS, buyer.size)) + GROUPS * popular
    left = np.concatenate([np.arange(accounts), buyer])
    right = np.concatenate([np.zeros(accounts, dtype=np.int64), np.minimum(where, merchants - 1)]) + accounts
    attributes = np.zeros((accounts + merchants, 8), dtype=np.float32)
    attributes[:accounts] = columns
    graph = Graph.from_arrays(np.stack([left, right]), attributes)
    return replace(graph, kinds=NodeKinds(("account", "merchant"), (0, accounts, accounts + merchants), (0,) * 8, 0))


@contextmanager
def timed(name: str, found: dict[str, float]) -> Iterator[None]:
    start = time.perf_counter()
    yield
    found[name] = time.perf_counter() - start


def stages(edges: int) -> None:
    """Print seconds by stage, and the largest memory of the process."""
    found: dict[str, float] = {}
    workers = len(os.sched_getaffinity(0))
    with timed("network", found):
        graph = network(edges)
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    source = Source.of_graph(graph, on_threads(workers))
    with timed("coordinates", found):
        blocks = {name: table.learn_blocks() for name, table in source.tables.items()}
        coordinates = source.coordinates(blocks)
    with timed("eigenvectors", found):
        pairs = leading_eigenpairs(source.wiring)
    with timed("residuals", found):
        left = residuals(source.wiring, pairs)
    with timed("edges by kind", found):
        split = kinds.split_edges(source.wiring, left, graph.kinds, coordinates)
    with timed("relation", found):
        learned, _ = kinds.learn_others(split, blocks)
    with timed("common neighbours", found):
        ratios = learn_homophily(split.own.wiring, split.own.coordinates)[1]
        views.clique_scores(split, ratios)
    seen = replace(views.see(source, blocks, left=left.read()), pairs=pairs)
    with timed("a fifth of the edges left out", found):
        replicate_scores(seen, blocks, np.zeros(graph.node_count), node_keys(graph), 0, 1)
    hubs, peak = kinds.hub_counts(split), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    cells = " | ".join(f"{found[name]:.1f}" for name in found)
    silent = learned[0].relation.silent
    memory = f"{held / 2**20:.2f} | {peak / 2**20:.2f}"
    print(f"| {graph.edge_count:,} | {cells} | {memory} | {sum(hubs.values())} | {silent} |", flush=True)


def growth(sizes: list[int]) -> None:
    names = "network | coordinates | eigenvectors | residuals | edges by kind | relation | common neighbours | thinned"
    print(
        f"| edges | {names} | GiB of the network | GiB at most | hubs left out | silent |\n|{'---|' * 13}", flush=True
    )
    for size in sizes:
        subprocess.run([sys.executable, "-m", "benchmarks.kinds", "one", str(size)], check=True)


def reddit() -> None:
    """Rank the users of bond_reddit, where nodes from 10,000 on are subreddits: as one kind, and as two."""
    import pyarrow as pa
    from sklearn.metrics import average_precision_score, roc_auc_score

    from benchmarks.networks import load_network
    from oddhop import Odd, read_network

    given = load_network("bond_reddit")
    graph, users = given.graph, 10_000
    x, truth = np.asarray(graph.attributes), np.asarray(given.anomalous, dtype=bool)[:users]
    tables = {
        name: pa.table({"id": np.arange(start, stop), **{f"c{k}": x[start:stop, k] for k in range(x.shape[1])}})
        for name, start, stop in (("user", 0, users), ("subreddit", users, graph.node_count))
    }
    left, right = graph.ends(0, graph.edge_count)
    edges = pa.table({"from": left, "to": right})
    bare = tables | {"subreddit": tables["subreddit"].select(["id"])}
    odd = Odd(random_state=0, simulate=False)
    rows = {"one kind": odd.fit(graph).anomaly_scores_[:users]}
    for name, nodes in (("two kinds", tables), ("two kinds, subreddits without columns", bare)):
        rows[name] = odd.fit(read_network(edges, nodes, judge="user", directed=False)).anomaly_scores_
    rows["degree"] = graph.degrees[:users].astype(float)
    for name, score in rows.items():
        auc = roc_auc_score(truth, score)
        q1, q2, a, b = auc / (2 - auc), 2 * auc**2 / (1 + auc), truth.sum(), (~truth).sum()
        se = np.sqrt((auc * (1 - auc) + (a - 1) * (q1 - auc**2) + (b - 1) * (q2 - auc**2)) / (a * b))
        ap = average_precision_score(truth, score)
        print(f"| {name} | {auc:.3f} [{auc - 1.645 * se:.3f}, {auc + 1.645 * se:.3f}] | {ap:.3f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["growth", "one", "reddit"])
    parser.add_argument("sizes", type=int, nargs="*")
    asked = parser.parse_args()
    if asked.what == "reddit":
        reddit()
    elif asked.what == "one":
        stages(asked.sizes[0])
    else:
        growth(asked.sizes)


if __name__ == "__main__":
    main()
