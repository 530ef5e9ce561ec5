"""BlogCatalog with injected anomalies: ROC-AUC and average precision of HCM with the default settings.

    ODDHOP_DATA=... python -m benchmarks.finds            # five injections, about ten minutes

Per injection: 150 members of cliques (10 of 15) and 150 nodes with the attributes of a far one (the farthest
of 50). The 95 % interval is Student's t over the injections. Trivial scores stand beside.
"""

from __future__ import annotations

import argparse

import numpy as np
import scipy.sparse as sp
from scipy import stats
from sklearn.metrics import average_precision_score, roc_auc_score

from benchmarks.inject import inject
from benchmarks.networks import load_network
from oddhop import HCM, Graph


def trivial(graph: Graph) -> dict[str, np.ndarray]:
    x = sp.csr_array(graph.attributes)
    norm = np.sqrt(np.asarray(x.multiply(x).sum(axis=1)).ravel())
    return {"degree": graph.degrees.astype(float), "attribute norm": norm}


def interval(values: list[float]) -> str:
    mean = np.mean(values)
    half = stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{mean:.3f} [{mean - half:.3f}, {mean + half:.3f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--injections", type=int, default=5)
    args = parser.parse_args()
    clean = load_network("blogcatalog_raw").graph
    figures: dict[str, list[tuple[float, float, float, float]]] = {}
    for seed in range(args.injections):
        made = inject(clean, random_state=seed)
        graph, labels = made.graph, made.structural + 2 * made.contextual
        detector = HCM(random_state=seed).fit(graph)
        table = detector.result_.sort_by("id")
        scores = {name: table[name].to_numpy() for name in ("ahp", "iv", "hav")} | trivial(graph)
        for name, score in scores.items():
            kinds = [roc_auc_score(labels[labels != 3 - kind] > 0, score[labels != 3 - kind]) for kind in (1, 2)]
            row = (roc_auc_score(labels > 0, score), average_precision_score(labels > 0, score), *kinds)
            figures.setdefault(name, []).append(row)
        losses = detector.diagnostics_.losses.round(3).tolist()
        print(
            f"injection {seed}: AHP {figures['ahp'][-1][0]:.3f}, HAV {figures['hav'][-1][0]:.3f}, losses {losses}",
            flush=True,
        )
    print("| score | ROC-AUC | AP | cliques | attributes |\n|---|---|---|---|---|")
    for name, rows in figures.items():
        print(f"| {name} | " + " | ".join(interval(list(column)) for column in zip(*rows, strict=True)) + " |")


if __name__ == "__main__":
    main()
