"""Whether explanations name the columns that were changed, when only a few of a node's were.

    ODDHOP_DATA=... python -m benchmarks.columns cora citeseer amazon_computers hcm_amazon --detector odd

150 nodes with neighbours, or a tenth of the network where that is less. Each takes a share of its columns from the
farthest of 50 drawn nodes: so many of those in which the two differ, drawn at random, and at least three. Detected are
those among the first so many nodes as were changed that were not among them in the network as it was: who was odd
before is odd for other columns. Of a detected one we look whether a changed column is among the first three that the
explanation names. Chance is the same for three drawn from the columns that differ from what is typical of its
neighbours. *Could* is the share of which a changed column is among these at all.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import scipy.sparse as sp

from benchmarks.networks import load_network
from benchmarks.reasons import NAMED, chance
from oddhop import HCM, Graph, Network, Odd
from oddhop.explain.columns import Columns

CHANGED, CANDIDATES, FEWEST = 150, 50, 3


def row(x: np.ndarray | sp.csr_array, node: int) -> np.ndarray:
    return np.asarray(x[[node]].toarray().ravel() if isinstance(x, sp.csr_array) else x[node])


def change_columns(graph: Graph, share: float, seed: int) -> tuple[Graph, dict[int, set[int]]]:
    """Return the network with a few columns of some nodes changed, and which columns of which."""
    rng = np.random.default_rng(seed)
    x = graph.attributes
    linked = np.flatnonzero(graph.degrees > 0)
    nodes = rng.choice(linked, min(CHANGED, linked.size // 10), replace=False)
    out = sp.lil_array(x, dtype=np.float64) if sp.issparse(x) else np.array(x, dtype=np.float64)
    # Far in units of the columns, or the largest column alone would say who is far.
    spread = 1.0 if sp.issparse(x) else np.maximum(x.std(axis=0), 1e-12)
    told: dict[int, set[int]] = {}
    for node in nodes.tolist():
        own = row(x, node)
        others = [row(x, other) for other in rng.choice(graph.node_count, CANDIDATES, replace=False)]
        far = max(others, key=lambda other: float((((other - own) / spread) ** 2).sum()))
        differing = np.flatnonzero(far != own)
        few = rng.choice(differing, min(max(FEWEST, round(share * differing.size)), differing.size), replace=False)
        out[node, few] = far[few]
        told[node] = set(few.tolist())
    return graph.with_attributes(sp.csr_array(out) if sp.issparse(x) else out), told


def fitted(detector: str, graph: Graph, top: int, seed: int, burn_in: int) -> HCM | Odd:
    if detector == "odd":
        return Odd(random_state=seed, top_k=top, workers=1, n_resamples=2).fit(graph)
    return HCM(random_state=seed, burn_in=burn_in, top_k=top, workers=1).fit(graph)


def first(model: HCM | Odd, count: int) -> set[int]:
    return set(model.result_["id"].to_pylist()[:count])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="+")
    parser.add_argument("--share", type=float, default=0.1, help="of the columns that differ")
    parser.add_argument("--injections", type=int, default=5, help="each with a seed of its own")
    parser.add_argument("--first-seed", type=int, default=100)
    parser.add_argument("--detector", choices=["hcm", "odd"], default="odd")
    parser.add_argument("--burn-in", type=int, default=1_000)
    args = parser.parse_args()
    heads = ("network", "columns", "changed", "detected", "one of the first 3", "by chance", "could", "seconds a node")
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for name in args.networks:
        clean = load_network(name).graph
        found: list[tuple[float, float, float]] = []
        changed, few = 0, list[int]()
        began = spent = 0.0
        for seed in range(args.first_seed, args.first_seed + args.injections):
            graph, told = change_columns(clean, args.share, seed)
            if seed == args.first_seed:
                before = first(fitted(args.detector, clean, len(told), 0, args.burn_in), len(told))
            model = fitted(args.detector, graph, len(told), seed, args.burn_in)
            nodes = sorted((first(model, len(told)) - before) & set(told))
            changed, few = changed + len(told), [*few, *(len(one) for one in told.values())]
            network = Network.of(graph)
            began = time.perf_counter()
            reasons = list(model.explain_nodes(network, model.result_, np.array(nodes, dtype=np.int64)))
            spent += time.perf_counter() - began
            columns = Columns(network)
            for node, why in zip(nodes, reasons, strict=True):
                neighbours = graph.indices[graph.indptr[node] : graph.indptr[node + 1]]
                differing = set(np.flatnonzero(row(graph.attributes, node) != columns.typical(neighbours)).tolist())
                right = told[node] & differing
                named = {int(one.column.split()[-1]) for one in why.columns[:NAMED]}
                found.append((bool(right & named), chance(len(differing), len(right)), bool(right)))
        shares = " | ".join(f"{100 * share:.0f} %" for share in np.mean(found or [(0, 0, 0)], axis=0))
        size = f"{clean.attribute_count:,} | {np.median(few):.0f}"
        print(
            f"| {name} | {size} | {len(found)} of {changed} | {shares} | {spent / max(len(found), 1):.2f} |", flush=True
        )


if __name__ == "__main__":
    main()
