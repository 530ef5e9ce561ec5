"""Whether explanations name what was planted, and whether their counterfactuals hold.

    ODDHOP_DATA=... python -m benchmarks.reasons cora citeseer
    ODDHOP_DATA=... python -m benchmarks.reasons cora citeseer blogcatalog_raw --detector odd
    ODDHOP_DATA=... python -m benchmarks.reasons blogcatalog_raw --fitted FOLDER   # of gallery.py fit injected

Injected as in finds.py: members of cliques of 15, and as many nodes with the attributes of the farthest of 50.
Detected are those among the first so many nodes as were injected. Of a detected member of a clique we look whether
an injected edge is among the first three neighbours that the explanation names; of a node with replaced attributes,
whether an attribute that was replaced is among the first three columns. Chance is the same for three neighbours
drawn from all, and for three columns drawn from those that differ from the neighbours. Counterfactuals are checked
by scoring the whole changed network again. Odd also names a kind: right is clique for a member of one, stranger for
a node with replaced attributes, or outlier where they are rare. What it holds still (the eigenvectors) makes its claim
differ from the score of the changed network: off by is the largest difference.
"""

from __future__ import annotations

import argparse
from collections import Counter
from math import comb
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import scipy.sparse as sp

from benchmarks.inject import inject
from benchmarks.networks import load_network
from oddhop import HCM, Graph, Network, Odd
from oddhop.explain.columns import Columns
from oddhop.explain.explanation import Explanation, alert_line

NAMED = 3


def chance(total: int, right: int, named: int = NAMED) -> float:
    """Return the chance that at least one of some drawn ones is right."""
    drawn = min(named, total)
    return 0.0 if not total else 1 - comb(total - right, drawn) / comb(total, drawn)


def changed(graph: Graph, node: int, why: Explanation) -> Graph:
    """Make the changes of a counterfactual in the whole network."""
    assert why.counterfactual is not None
    ends = np.stack([np.repeat(np.arange(graph.node_count), graph.degrees), graph.indices])
    ends = ends[:, ends[0] < ends[1]]
    neighbours = graph.indices[graph.indptr[node] : graph.indptr[node + 1]]
    typical = Columns(Network.of(graph)).typical(neighbours)
    x = sp.lil_array(graph.attributes)
    for change in why.counterfactual.changes:
        if change.kind == "edge":
            ends = ends[:, ~((ends == node) | (ends == change.name)).all(axis=0)]
        else:
            column = int(str(change.name).split()[1])
            x[node, column] = typical[column]
    return Graph.from_arrays(ends, x.tocsr())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="+")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--verify", type=int, default=20, help="counterfactuals to check on the whole network")
    parser.add_argument("--fitted", type=Path, help="a folder with a fitted model, instead of fitting")
    parser.add_argument("--burn-in", type=int, default=1_000)
    parser.add_argument("--detector", choices=["hcm", "odd"], default="hcm")
    args = parser.parse_args()
    heads = ("network", "kind", "detected", "one of the first 3", "by chance", "of the first 3", "by chance")
    heads += ("counterfactuals", "lower", "under the line", "checked", "lower", "off by", "kinds")
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for name in args.networks:
        before = load_network(name).graph
        made = inject(before, random_state=args.seed, cliques=10 if before.node_count > 4_000 else 5)
        graph, labels = made.graph, made.structural + 2 * made.contextual
        top = int((labels > 0).sum())
        if args.fitted:
            fitted, result = HCM.load(args.fitted / "injected.oddhop"), pq.read_table(args.fitted / "injected.parquet")
        elif args.detector == "odd":
            fitted = Odd(random_state=args.seed, top_k=top, workers=1).fit(graph)
            result = fitted.result_
        else:
            fitted = HCM(random_state=args.seed, burn_in=args.burn_in, top_k=top, workers=1).fit(graph)
            result = fitted.result_
        # The line is the score of the last node that is looked at, whatever budget the detector was fitted with.
        fitted.threshold_ = alert_line(result.filter(result["judged"])["score"].to_numpy(), np.inf, top)
        network = Network.of(graph)
        flagged = result["id"].to_numpy()[:top]
        for kind, told in ((1, "cliques"), (2, "attributes")):
            nodes = flagged[labels[flagged] == kind]
            named, luck, right_ones, base, shown, under, lower, checked = 0, [], [], [], 0, 0, 0, 0
            claimed, off, kinds = 0, 0.0, []
            for node, why in zip(nodes, fitted.explain_nodes(network, result, nodes), strict=True):
                if kind == 1:
                    now, then = (set(one.indices[one.indptr[node] : one.indptr[node + 1]]) for one in (graph, before))
                    right, reasons, total = now - then, [one.id for one in why.neighbours], len(now)
                else:
                    neighbours = graph.indices[graph.indptr[node] : graph.indptr[node + 1]]
                    own, old = (one.attributes[[node]].toarray().ravel() for one in (graph, before))
                    differing = np.flatnonzero(own != Columns(network).typical(neighbours))
                    right = set(np.flatnonzero(own != old)) & set(differing)
                    reasons, total = [int(one.column.split()[1]) for one in why.columns], len(differing)
                named += bool(right & set(reasons[:NAMED]))
                luck.append(chance(total, len(right)))
                right_ones.append(np.mean([one in right for one in reasons[:NAMED]]) if reasons else 0.0)
                base.append(len(right) / max(total, 1))
                kinds.append(why.kind)
                if why.counterfactual is not None:
                    shown += 1
                    claimed += why.counterfactual.after < why.score
                    under += why.counterfactual.enough
                    if checked < args.verify:
                        checked += 1
                        after = -fitted.score_samples(changed(graph, int(node), why))[node]
                        lower += after < why.score
                        off = max(off, abs(after - why.counterfactual.after))
            found = f"{nodes.size} of {(labels == kind).sum()}"
            share = f"{100 * named / max(nodes.size, 1):.0f} %"
            print(
                f"| {name} | {told} | {found} | {share} | {100 * np.mean(luck or [0]):.0f} % "
                f"| {100 * np.mean(right_ones or [0]):.0f} % | {100 * np.mean(base or [0]):.0f} % "
                f"| {shown} | {claimed} | {under} | {checked} | {lower} | {off:.2g} "
                f"| {', '.join(f'{name} {count}' for name, count in Counter(kinds).most_common() if name)} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
