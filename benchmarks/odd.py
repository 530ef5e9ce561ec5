"""Odd beside the trivial scores, network by network, as protocol.md has it.

    ODDHOP_DATA=... python -m benchmarks.odd                      # the development networks, about ten minutes
    ODDHOP_DATA=... python -m benchmarks.odd cora facebook_tam    # these only

A network with 0/1 labels is scored as it is: Odd draws no random number for its scores, so the interval is that of the
anomalies (Hanley and McNeil). A network with other labels gets five plain and five leak-controlled injections, and the
interval is Student's t over them.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import scipy.sparse as sp
from scipy import stats
from sklearn.metrics import average_precision_score, roc_auc_score

from benchmarks.inject import inject
from benchmarks.networks import load_network
from oddhop import Graph, Odd

DEVELOPMENT = [
    *("cora_cola_injected", "citeseer_cola_injected", "bond_inj_cora", "blogcatalog_dominant", "facebook_tam"),
    *("bond_reddit", "amazon_fraud_tam", "hcm_amazon", "hcm_enron", "bond_disney"),
    *("bond_gen_100", "bond_gen_500", "bond_gen_1000", "bond_gen_5000", "bond_gen_10000", "bond_gen_time"),
    *("cora", "citeseer", "acmv9", "blogcatalog_raw", "flickr_raw"),
]


def trivial(graph: Graph) -> dict[str, np.ndarray]:
    x = sp.csr_array(graph.attributes).astype(float)
    squares = x.multiply(x)
    mean = np.asarray(x.mean(axis=0)).ravel()
    variance = np.maximum(np.asarray(squares.mean(axis=0)).ravel() - mean**2, 0.0)
    weight = np.where(variance > 1e-12, 1 / np.maximum(variance, 1e-12), 0.0)
    scored = squares @ weight - 2 * (x @ (mean * weight)) + (mean**2 * weight).sum()
    scores = {
        "degree": graph.degrees.astype(float),
        "norm": np.sqrt(np.asarray(squares.sum(axis=1)).ravel()),
        "z-scored norm": scored,
        "non-zeros": np.diff(x.indptr).astype(float),
    }
    return scores | {f"-{name}": -score for name, score in scores.items()}


def half_width(area: float, labels: np.ndarray) -> float:
    odd, other = int(labels.sum()), int((~labels).sum())
    q1, q2 = area / (2 - area), 2 * area**2 / (1 + area)
    variance = (area * (1 - area) + (odd - 1) * (q1 - area**2) + (other - 1) * (q2 - area**2)) / (odd * other)
    return 1.96 * float(np.sqrt(variance))


def one(graph: Graph, labels: np.ndarray, seed: int) -> dict[str, tuple[float, float]]:
    start = time.perf_counter()
    scores = {"Odd": Odd(random_state=seed, workers=1, simulate=False).fit(graph).anomaly_scores_}
    seconds = time.perf_counter() - start
    figures = {
        name: (roc_auc_score(labels > 0, score), average_precision_score(labels > 0, score))
        for name, score in (scores | trivial(graph)).items()
    }
    kinds = [
        roc_auc_score(labels[labels != 3 - k] > 0, scores["Odd"][labels != 3 - k]) if labels.max() > 1 else np.nan
        for k in (1, 2)
    ]
    return figures | {"kinds": (kinds[0], kinds[1]), "seconds": (seconds, 0.0)}


def runs(name: str) -> list[tuple[str, list[dict[str, tuple[float, float]]], np.ndarray]]:
    network = load_network(name)
    graph = network.graph
    if network.anomalous is not None:
        return [(name, [one(graph, network.anomalous.astype(int), 0)], network.anomalous)]
    cliques = 10 if graph.node_count >= 4_000 else 5
    out = []
    for way, reading in (("plain", "dominant"), ("controlled", "leak-controlled")):
        made = [inject(graph, random_state=seed, cliques=cliques, scheme=reading) for seed in range(5)]  # type: ignore[arg-type]
        figures = [one(put.graph, put.structural + 2 * put.contextual, seed) for seed, put in enumerate(made)]
        out.append((f"{name}, {way}", figures, np.zeros(0, dtype=bool)))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", default=DEVELOPMENT)
    # The best trivial score is chosen by the labels, as nobody could without them.
    print("| network | ROC-AUC | AP | cliques | strangers | best of eight trivial scores | its AP | seconds |")
    print("|---|---|---|---|---|---|---|---|")
    places: dict[str, list[float]] = {}
    for name in parser.parse_args().networks:
        for title, figures, labels in runs(name):
            mean = {key: np.nanmean([f[key] for f in figures], axis=0) for key in figures[0] if key != "kinds"}
            area, precision = mean["Odd"]
            if len(figures) > 1:
                half = stats.t.ppf(0.975, 4) * np.std([f["Odd"][0] for f in figures], ddof=1) / np.sqrt(5)
                kinds = [f"{value:.3f}" for value in np.mean([f["kinds"] for f in figures], axis=0)]
            else:
                half, kinds = half_width(area, labels), ["", ""]
            rivals = {key: value for key, value in mean.items() if key not in ("seconds", "Odd")}
            best = max(rivals, key=lambda key: rivals[key][0])
            for key in [*rivals, "Odd"]:
                place = 1 + sum(mean[other][0] > mean[key][0] for other in [*rivals, "Odd"])
                places.setdefault(key, []).append(place)
            low, high = max(area - half, 0.0), min(area + half, 1.0)
            print(
                f"| {title} | {area:.3f} [{low:.3f}, {high:.3f}] | {precision:.3f} | {kinds[0]} | {kinds[1]} "
                f"| {best} {rivals[best][0]:.3f} | {rivals[best][1]:.3f} | {mean['seconds'][0]:.1f} |",
                flush=True,
            )
    print("\nMean rank:", ", ".join(f"{key} {np.mean(value):.1f}" for key, value in places.items()))


if __name__ == "__main__":
    main()
