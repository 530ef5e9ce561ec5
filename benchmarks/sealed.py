"""Networks that were not looked at before everything was frozen: label-free Odd, and what answers are worth.

    ODDHOP_DATA=... python -m benchmarks.sealed LOG.jsonl    # writes every cell, prints the figures of sealed.md

wikipedia_bans and berka_loans are sealed; ethereum_phishing is a confirmation, its labels were in sight when the flow
columns were listed. What gives a label away is left out by rules that were written before: of wikipedia_bans the days
from first to last edit (a ban ends them), of berka_loans the columns of loans and cards and the orders that pay
a loan; flow columns hold no absolute times.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sklearn.ensemble import IsolationForest

from benchmarks.feedback import COUNTS, METHODS, simulate
from benchmarks.flows import labelled, leaking, told
from oddhop import Network, Odd, read_network
from oddhop.feedback.learner import places

NAMES, SEEDS = ("wikipedia_bans", "berka_loans", "ethereum_phishing"), 10
FIRST_EDIT = 946_684_800
# Ratings received are the label, and so is when something happened, or that a ban ended it.
FACT_LEAKS = {"bitcoin_otc": ("rating",), "ethereum_phishing": ("time",), "wikipedia_bans": ("time",)}
SLOW, SLOW_SEEDS = ("random forest", "extra trees", "AADForest"), 3


def network_named(name: str, *, for_facts: bool = False) -> tuple[Network, np.ndarray]:
    """Return a network and the labels of its judged nodes, NaN where unknown.

    Facts see the events themselves: what gives a label away there is left out ``for_facts``.
    """
    edges, nodes, labels = labelled(name)
    if for_facts:
        edges = edges.drop_columns([one for one in FACT_LEAKS.get(name, ()) if one in edges.column_names])
    if name in ("bitcoin_otc", "ethereum_phishing"):
        leaks = leaking(name, read_network(edges, nodes, keep_unknown=True))
        network = read_network(edges, nodes, keep_unknown=True, kinds=dict.fromkeys(sorted(leaks), "ignore"))
        rows = np.arange(labels.size)
    else:
        (kind,) = set(nodes["kind"].to_numpy(zero_copy_only=False)[~np.isnan(labels)])
        rows = np.flatnonzero(pc.equal(nodes["kind"], kind).to_numpy(zero_copy_only=False))
        if name == "berka_loans":
            loans = [one for one in nodes.column_names if one.startswith(("loan_", "card"))]
            nodes = nodes.drop_columns(loans)
            edges = edges.filter(pc.not_equal(pc.fill_null(edges["purpose"], ""), "UVER"))
        if name == "wikipedia_bans" and not for_facts:
            # Seconds from the first edit, whose date is not known: any date will do.
            since = pc.cast(pc.add(edges["time"].cast("int64"), FIRST_EDIT), pa.timestamp("s"))
            edges = edges.set_column(edges.column_names.index("time"), "time", since)
            leak = {"days active": "ignore"}
            network = read_network(edges, nodes, node_kind="kind", judge=kind, kinds=leak)
        else:
            network = read_network(edges, nodes, node_kind="kind", judge=kind)
    out = np.full(len(network.judged_ids), np.nan)
    first = network.graph.judged.start
    out[network.numbers(nodes["id"].take(rows)) - first] = labels[rows]
    return network, out


def label_free_scores(network: Network) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Fit Odd once; return its scores with trivial ones beside them, and the features of the nodes."""
    detector = Odd(random_state=0, simulate=False, n_resamples=2).fit(network)
    table = detector.features()
    columns = [table[one].to_numpy() for one in table.column_names[1:]]
    x = np.column_stack([*columns, places(detector.anomaly_scores_)]).astype(np.float32)
    degrees = network.graph.degrees[network.graph.judged].astype(float)
    scores = {
        "Odd": detector.anomaly_scores_,
        "degree": degrees,
        "low degree": -degrees,
        "isolation forest, same features": -IsolationForest(random_state=0).fit(x[:, :-1]).score_samples(x[:, :-1]),
    }
    return scores, x


def label_free(name: str, network: Network, labels: np.ndarray, cache: Path) -> list[str]:
    """Keep the features, and give a row of figures for Odd and for trivial scores."""
    scores, x = label_free_scores(network)
    cache.mkdir(parents=True, exist_ok=True)
    np.savez(cache / f"{name}.npz", x=x, y=labels)
    known = int(np.sum(~np.isnan(labels)))
    head = f"{name} ({int(np.nansum(labels))} of {known} known)"
    return [f"| {head} | {what} | {told(one, labels)} |" for what, one in scores.items()]


def main() -> None:
    log = Path(sys.argv[1])
    asked = ["git", "rev-parse", "HEAD"]
    revision = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    keep = log.open("a")
    keep.write(json.dumps({"revision": revision, "began": time.time(), "command": sys.argv}) + "\n")
    print("| network | score | ROC-AUC | AP |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        for name in NAMES:
            for row in label_free(name, *network_named(name), cache):
                keep.write(json.dumps({"row": row}) + "\n")
                print(row, flush=True)
        heads = " | ".join(f"found at {one}" for one in COUNTS)
        print(f"\n| network | method | seeds | {heads} | ROC-AUC, barred, 20 / 100 / 200 | AP, barred, 200 |")
        print("|" + "---|" * (len(COUNTS) + 5))
        for name in NAMES:
            for method in METHODS:
                seeds = SLOW_SEEDS if method in SLOW else SEEDS
                cells = [simulate(name, method, seed, cache) for seed in range(seeds)]
                for cell in cells:
                    keep.write(json.dumps(cell) + "\n")
                keep.flush()
                found = " | ".join(f"{one:.1f}" for one in np.mean([cell["found"] for cell in cells], axis=0))
                areas = " / ".join(
                    f"{np.mean([c['roc_auc'].get(at, np.nan) for c in cells]):.3f}" for at in (20, 100, 200)
                )
                last = np.mean([cell["average_precision"].get(200, np.nan) for cell in cells])
                print(f"| {name} | {method} | {seeds} | {found} | {areas} | {last:.3f} |", flush=True)
    keep.close()


if __name__ == "__main__":
    main()
