"""Simulated analysts: what answers are worth, beside reading down the list and other learners.

    ODDHOP_DATA=... python -m benchmarks.feedback run CELLS.jsonl [--seeds 10] [--methods "learner;list"] [--real]
    python -m benchmarks.feedback page CELLS.jsonl     # the tables behind feedback-figures.md

One line a network, method and seed goes to CELLS.jsonl; those that are there are skipped. A random tenth of nodes is
barred from questions and judged; nodes of unknown label are never asked. The question is always the node at the top.
Every method learns anew after each of the first 20 answers, and then after every fifth. AADForest needs coniferest.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.flows import LEAKS, labelled
from benchmarks.networks import load_network
from oddhop import Network, Odd, read_network
from oddhop.feedback.learner import BACKGROUND, Rows, learn, places
from oddhop.tables.flows import flow_columns

REAL = {
    "amazon_fraud_tam": 0, "tolokers": 0, "bond_reddit": 0, "ctu13_botnet_20110815": 0, "hcm_amazon": 0,
    "sichuan_telecom": 1, "bitcoin_otc": 1, "fdcompcn": 1,
}  # fmt: skip
INJECTED = (
    "cora_cola_injected", "citeseer_cola_injected", "blogcatalog_dominant", "dblp_injected", "bond_inj_cora",
    "citation_injected",
)  # fmt: skip
METHODS = ("list", "learner", "learner, 10 % wrong", "random", "extra trees", "random forest", "AADForest")
COUNTS, JUDGED, QUESTIONS, FEW = (10, 20, 50, 100, 200), (20, 100, 200), 200, 50
Score = Callable[[np.ndarray, np.ndarray], np.ndarray]


def network_named(name: str) -> tuple[Network, np.ndarray]:
    """Return a network and its labels, NaN where unknown; columns that give the label away are left out."""
    if not REAL.get(name):
        found = load_network(name)
        assert found.anomalous is not None
        return Network.of(found.graph), found.anomalous.astype(float)
    edges, nodes, labels = labelled(name)
    events = read_network(edges, nodes).graph.events
    leaks = LEAKS.get(name, ("\0",))
    made = () if events is None else flow_columns(events.columns)
    network = read_network(edges, nodes, kinds={one.name: "ignore" for one in made if one.name.startswith(leaks)})
    out = np.empty(labels.size)
    out[network.numbers(nodes["id"])] = labels
    return network, out


def prepared(name: str, cache: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return features and labels; the last feature is the place in the label-free order."""
    file = cache / f"{name}.npz"
    if not file.exists():
        network, labels = network_named(name)
        detector = Odd(random_state=0, simulate=False, n_resamples=2).fit(network)
        table = detector.features()
        columns = [table[one].to_numpy() for one in table.column_names[1:]]
        x = np.column_stack([*columns, places(detector.anomaly_scores_)]).astype(np.float32)
        cache.mkdir(parents=True, exist_ok=True)
        np.savez(file, x=x, y=labels)
    with np.load(file) as kept:
        return kept["x"], kept["y"]


def method_named(method: str, x: np.ndarray, seed: int) -> Score | None:
    """Return what scores all nodes after some answers; None where answers change nothing."""
    background = np.random.default_rng(5).permutation(x.shape[0])[:BACKGROUND]

    def ours(asked: np.ndarray, hits: np.ndarray) -> np.ndarray:
        order = np.argsort(asked)
        others = np.setdiff1d(background, asked)
        learned = learn(Rows(x[asked[order]], hits[order], x[others], x.shape[0]), seed=seed)
        return x[:, -1].astype(float) if learned is None else learned.score(x)

    def forest(asked: np.ndarray, hits: np.ndarray) -> np.ndarray:
        from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

        if hits.min() == hits.max():
            return x[:, -1].astype(float)
        kind = ExtraTreesClassifier if method == "extra trees" else RandomForestClassifier
        return np.asarray(kind(100, random_state=seed).fit(x[asked], hits).predict_proba(x)[:, 1])

    def aad(asked: np.ndarray, hits: np.ndarray) -> np.ndarray:
        from coniferest.aadforest import AADForest

        data = x.astype(np.float64)
        model = AADForest(n_trees=100, random_seed=seed)
        if asked.size:
            model.fit_known(data, data[asked], np.where(hits == 1, -1, 1))
        else:
            model.fit(data)
        return -np.asarray(model.score_samples(data))

    if method.startswith("learner"):
        return ours
    return {"extra trees": forest, "random forest": forest, "AADForest": aad}.get(method)


def simulate(name: str, method: str, seed: int, cache: Path) -> dict[str, Any]:
    """Ask 200 questions, and give what was found and how the barred nodes are ranked."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    x, y = prepared(name, cache)
    nodes, known = y.size, ~np.isnan(y)
    barred = np.random.default_rng([seed, 77]).permutation(nodes) < nodes // 10
    judged, left = np.flatnonzero(known & barred), known & ~barred
    wrong = np.random.default_rng([seed, 78]).random(nodes) < (0.1 if "wrong" in method else 0.0)
    told = ((y == 1) ^ wrong).astype(float)
    learner = method_named(method, x, seed)
    score = np.random.default_rng([seed, 79]).random(nodes) if method == "random" else x[:, -1].astype(float)
    if method == "AADForest" and learner is not None:
        score = learner(np.empty(0, dtype=np.int64), np.empty(0))
    asked: list[int] = []
    areas, precisions, began = {}, {}, time.perf_counter()
    for turn in range(1, QUESTIONS + 1):
        if left.any():
            node = int(np.argmax(np.where(left, score, -np.inf)))
            asked.append(node)
            left[node] = False
        if learner is not None and (turn <= 20 or turn % 5 == 0):
            those = np.array(asked)
            score = learner(those, told[those])
        if turn in JUDGED and 0 < y[judged].sum() < judged.size:
            areas[turn] = roc_auc_score(y[judged], score[judged])
            precisions[turn] = average_precision_score(y[judged], score[judged])
    found = np.cumsum(y[asked] == 1)
    return {
        "network": name,
        "method": method,
        "seed": seed,
        "found": [int(found[min(count, found.size) - 1]) for count in COUNTS],
        "roc_auc": areas,
        "average_precision": precisions,
        "barred_anomalies": int(y[judged].sum()),
        "seconds": round(time.perf_counter() - began, 2),
    }


def run(file: Path, seeds: int, methods: Iterable[str], cache: Path, names: Iterable[str]) -> None:
    done = {(one["network"], one["method"], one["seed"]) for one in read(file)}
    for method in methods:
        for seed in range(seeds):
            for name in names:
                if (name, method, seed) not in done:
                    cell = simulate(name, method, seed, cache)
                    with file.open("a") as out:
                        out.write(json.dumps(cell) + "\n")


def read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def mean(cells: list[dict[str, Any]], name: str, method: str, what: str, at: int) -> float:
    own = [one for one in cells if one["network"] == name and one["method"] == method]
    if what == "found":
        return float(np.mean([one["found"][COUNTS.index(at)] for one in own])) if own else np.nan
    values = [one[what][str(at)] for one in own if str(at) in one[what]]
    return float(np.mean(values)) if values else np.nan


def page(cells: list[dict[str, Any]]) -> None:
    methods = [one for one in METHODS if any(cell["method"] == one for cell in cells)]
    counts = {one: len({cell["seed"] for cell in cells if cell["method"] == one}) for one in methods}
    print("Seeds: " + ", ".join(f"{one} {count}" for one, count in counts.items()) + ".")
    heads = " | ".join(f"found at {one}" for one in COUNTS)
    for group, names in (("Real networks", tuple(REAL)), ("Injected anomalies", INJECTED)):
        print(f"\n## {group}\n\n| network | method | {heads} | ROC-AUC, barred, 20 / 100 / 200 | AP, barred, 200 |")
        print("|" + "---|" * (len(COUNTS) + 4))
        for name in names:
            for method in methods:
                if not any((cell["network"], cell["method"]) == (name, method) for cell in cells):
                    continue
                found = " | ".join(f"{mean(cells, name, method, 'found', at):.1f}" for at in COUNTS)
                areas = " / ".join(f"{mean(cells, name, method, 'roc_auc', at):.3f}" for at in JUDGED)
                last = mean(cells, name, method, "average_precision", 200)
                print(f"| {name} | {method} | {found} | {areas} | {last:.3f} |")
        for method in methods:
            sums = [np.nansum([mean(cells, name, method, "found", at) for name in names]) for at in COUNTS]
            if all((name, method) in {(cell["network"], cell["method"]) for cell in cells} for name in names):
                print(f"| **sum** | {method} | " + " | ".join(f"{one:.1f}" for one in sums) + " | | |")
    print("\n## Barred nodes: learner minus list, paired\n")
    print("| network | barred anomalies | at 20 | at 100 | at 200 | counted |")
    print("|---|---|---|---|---|---|")
    by = {(one["network"], one["method"], one["seed"]): one for one in cells}
    counted: dict[str, list[list[float]]] = {}
    for name in (*REAL, *INJECTED):
        pairs = [
            (by[name, "learner", s], by[name, "list", s])
            for s in range(99)
            if (name, "learner", s) in by and (name, "list", s) in by
        ]
        if not pairs:
            continue
        few = float(np.mean([one["barred_anomalies"] for one, _ in pairs]))
        counts_here, cells_of = few >= FEW and name in REAL, []
        for at in ("20", "100", "200"):
            gaps = [one["roc_auc"][at] - two["roc_auc"][at] for one, two in pairs if at in one["roc_auc"]]
            cells_of.append(f"{np.mean(gaps):+.3f} ± {half(gaps):.3f}")
            if counts_here:
                counted.setdefault(at, []).append(gaps)
        print(f"| {name} | {few:.0f} | {' | '.join(cells_of)} | {'yes' if counts_here else 'no'} |")
    print("\n| mean of the counted networks | at 20 | at 100 | at 200 |\n|---|---|---|---|")
    draws = {at: [float(np.mean(one)) for one in zip(*gaps, strict=False)] for at, gaps in counted.items()}
    networks = {at: [float(np.mean(one)) for one in gaps] for at, gaps in counted.items()}
    for words, means in (("over draws of barred nodes", draws), ("over networks", networks)):
        print(
            f"| interval {words} | " + " | ".join(f"{np.mean(m):+.3f} ± {half(m):.3f}" for m in means.values()) + " |"
        )


def half(values: Sequence[float] | np.ndarray) -> float:
    """Half of Student's 95 % interval of a mean."""
    from scipy.stats import t

    count = len(values)
    return float(t.ppf(0.975, count - 1) * np.std(values, ddof=1) / np.sqrt(count)) if count > 1 else np.nan


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "page"))
    parser.add_argument("cells", type=Path)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--methods", default=";".join(METHODS), help="separated by ;")
    parser.add_argument("--real", action="store_true", help="without injected anomalies")
    parser.add_argument("--cache", type=Path, default=Path(".feedback-features"), help="folder for features")
    asked = parser.parse_args()
    if asked.what == "run":
        run(
            asked.cells,
            asked.seeds,
            asked.methods.split(";"),
            asked.cache,
            tuple(REAL) if asked.real else (*REAL, *INJECTED),
        )
    else:
        page(read(asked.cells))


if __name__ == "__main__":
    main()
