"""HCM with other settings on one network: ROC-AUC, processor seconds, and what another seed keeps of the ranking.

    ODDHOP_DATA=... python -m benchmarks.hcm_settings runs --networks blogcatalog_raw flickr_raw --ways fixed default
    ODDHOP_DATA=... python -m benchmarks.hcm_settings runs --networks accounts cora --ways default --seeds
    ODDHOP_DATA=... python -m benchmarks.hcm_settings runs --networks cora --ways chains=4,burn_in=300
    python -m benchmarks.hcm_settings runs --tables fixed default      # the tables of figures.md, from what was run
    python -m benchmarks.hcm_settings runs --cells      # the same losses, from the cells of the benchmark

What is in the folder is not run again. Clean networks of the paper get its injections, one a run, or with ``--seeds``
the first one and a seed a run; ``cora`` gets as many cliques as citeseer has in the papers, ``accounts`` is the network
of the README, and elsewhere runs differ in the seed alone.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from scipy import stats

from benchmarks.comparison.cells import HCM_NAME, REVISIONS, Cell, Injection, load_problem
from benchmarks.comparison.runner import read_lines
from benchmarks.comparison.suites import INJECTED, LABELLED, injected
from benchmarks.flows import LEAKS, labelled
from benchmarks.metrics import roc_auc
from oddhop import HCM, Graph, read_network
from oddhop.base.arrays import Floats
from oddhop.tables.flows import flow_columns

PRINTED = {"blogcatalog_raw": "BlogCatalog", "flickr_raw": "Flickr", "coauthor_cs": "ACM", "acmv9": "ACM"}
PRINTED |= {"hcm_amazon": "Amazon", "hcm_enron": "Enron"}
TABLES = ("bitcoin_otc", "sichuan_telecom", "fdcompcn", "ethereum_phishing")
"""Networks as tables that detectors may be developed on."""
FIXED = {"chains": 4, "burn_in": 1_000, "samples": 10, "thin": 10, "pairs_per_step": 2_048, "score": "hav"}
FIRST = 20
KINDS = ("ahp", "iv", "hav")
LINES = Path("benchmarks/cells.jsonl")
Pairs: TypeAlias = dict[str, list[tuple[dict[str, Any], dict[str, Any]]]]
"""What was run before and now, by network."""


def accounts() -> tuple[Graph, Floats]:
    """Return the 300 accounts of the README, of which one is odd."""
    rng = np.random.default_rng(0)
    trade, payer = np.arange(300) % 3, np.repeat(np.arange(300), 6)
    payments = pa.table({"payer": payer, "payee": 3 * rng.integers(0, 100, 1800) + trade[payer]})
    trade[7] = 0
    columns = {
        "account": np.arange(300),
        "mean_euros": np.array([12, 420, 180])[trade] * rng.lognormal(0, 0.3, 300),
        "payments_a_month": rng.poisson(np.array([300, 40, 120])[trade]),
    }
    return read_network(payments, pa.table(columns)).graph, np.arange(300) == 7.0


def as_tables(name: str) -> tuple[Graph, Floats]:
    """Return a network of tables without the columns that give labels away; labels are NaN where unknown."""
    edges, nodes, labels = labelled(name)
    events = read_network(edges, nodes).graph.events
    made = () if events is None else flow_columns(events.columns)
    leaks = [one.name for one in made if one.name.startswith(LEAKS.get(name, ("\0",)))]
    network = read_network(edges, nodes, kinds=dict.fromkeys(leaks, "ignore"))
    ordered = np.empty_like(labels)
    ordered[network.numbers(nodes["id"])] = labels
    return network.graph, ordered


def problem(name: str, injection: int) -> tuple[Graph, Floats]:
    """Return a network and its labels."""
    if name == "accounts":
        return accounts()
    if name in TABLES:
        return as_tables(name)
    if name in INJECTED:
        cell = injected(name, injection, HCM_NAME)
    else:
        cell = Cell(name, HCM_NAME, injection=Injection(5, injection) if name == "cora" else None)
    found = load_problem(cell, None)
    if found.anomalous is None:
        raise SystemExit(f"{name} has no anomalies")
    return found.graph, found.anomalous.astype(np.float64)


def settings_of(way: str, network: str) -> dict[str, Any]:
    """Return the settings that a way names, or lists as name=value."""
    deep = {"layers": 4} if network in LABELLED else {}
    named: dict[str, dict[str, Any]] = {"fixed": {**FIXED, **deep}}
    if way == "published":
        return HCM.as_published(PRINTED.get(network, "ACM")).get_params()
    given = (one.split("=") for one in way.split(",") if "=" in one)
    return {**named.get(way, deep)} | {key: json.loads(value) for key, value in given}


def run_one(graph: Graph, labels: Floats, settings: dict[str, Any], file: Path) -> dict[str, Any]:
    """Fit; keep the scores in a file, and return the rest."""
    begun = time.process_time()
    detector = HCM(**settings).fit(graph)
    seconds = time.process_time() - begun
    table = detector.result_.sort_by("id")
    scores = {kind: table[kind].to_numpy() for kind in KINDS}
    np.savez(file, **scores, score=detector.anomaly_scores_)
    known = ~np.isnan(labels)
    areas = {kind: roc_auc(labels[known] == 1, scores[kind][known])[0] for kind in KINDS}
    areas["score"] = roc_auc(labels[known] == 1, detector.anomaly_scores_[known])[0]
    seen, agreed = detector.diagnostics_, detector.diagnostics_.agreement
    told = {} if agreed is None else {"kept": agreed.kept, "correlation": agreed.correlation}
    parts = {"within": seen.iv_within.mean(), "between": seen.iv_between.mean()}
    return {"seconds": round(seconds, 1), "chains": seen.chains, "loss": seen.losses.mean(), **told, **parts, **areas}


def run_all(asked: argparse.Namespace, done: list[dict[str, Any]]) -> None:
    known = {(one["network"], one["way"], one["injection"], one["seed"]) for one in done}
    for run in range(asked.runs):
        for network in asked.networks:
            injection = 0 if asked.seeds or network not in (*INJECTED, "cora") else run
            todo = [way for way in asked.ways if (network, way, injection, run) not in known]
            if not todo:
                continue
            graph, labels = problem(network, injection)
            for way in todo:
                what = {"network": network, "way": way, "injection": injection, "seed": run}
                settings = {**settings_of(way, network), "random_state": run, "workers": 1}
                line = what | run_one(
                    graph, labels, settings, asked.folder / f"{'.'.join(map(str, what.values()))}.npz"
                )
                with (asked.folder / "runs.jsonl").open("a") as out:
                    out.write(json.dumps(line) + "\n")
                print(line, flush=True)


def pairs_of_runs(done: list[dict[str, Any]], before: str, after: str) -> Pairs:
    """Return the runs of two ways on the same injection and with the same seed, by network."""
    runs: dict[str, dict[tuple[int, int], dict[str, Any]]] = defaultdict(lambda: defaultdict(dict))
    for one in done:
        runs[one["network"]][one["injection"], one["seed"]][one["way"]] = one
    return {
        name: [(one[before], one[after]) for one in found.values() if before in one and after in one]
        for name, found in runs.items()
    }


def pairs_of_cells(lines: list[dict[str, Any]]) -> Pairs:
    """Return the cells of the default before and of this one, by network."""
    known: dict[str, dict[int, dict[str, Any]]] = defaultdict(dict)
    for line in lines:
        what = json.loads(line["key"])
        if line["detector"] == HCM_NAME and line["status"] == "done" and set(what["settings"]) <= {"layers"}:
            figures = {kind: line["figures"][kind]["roc_auc"] for kind in KINDS if kind in line["figures"]}
            revision = what.pop("revision", 1)
            if figures:
                score = "hav" if revision < REVISIONS[HCM_NAME] else "ahp"
                known[json.dumps(what)][revision] = {**line, **figures, "score": figures[score]}
    pairs: Pairs = defaultdict(list)
    now = REVISIONS[HCM_NAME]
    for of in known.values():
        if now in of and now - 1 in of:
            way = (of[now]["injection"] or {}).get("reading", "dominant")
            name = of[now]["network"] + ("" if way == "dominant" else f", {way}")
            pairs[name].append((of[now - 1], of[now]))
    return pairs


def table_of_losses(found: Pairs) -> Iterable[str]:
    """Compare two ways run by run: the loss of ROC-AUC with its 95 % interval, and the seconds."""
    yield "| network | runs | before: HAV | before: AHP | now | loss, HAV | loss, AHP | s before | s now |"
    yield "|---" * 9 + "|"
    for network, pairs in found.items():
        if not pairs:
            continue
        now = np.array([new["score"] for _, new in pairs])
        was = {kind: np.array([old[kind] for old, _ in pairs]) for kind in ("hav", "ahp")}
        seconds = [np.median([one["seconds"] for one in side]) for side in zip(*pairs, strict=True)]
        means = " | ".join(f"{one.mean():.3f}" for one in (*was.values(), now))
        losses = " | ".join(_loss(one - now) for one in was.values())
        yield f"| {network} | {len(pairs)} | {means} | {losses} | {seconds[0]:.0f} | {seconds[1]:.0f} |"


def _loss(losses: Floats) -> str:
    if losses.size < 2:
        return f"{losses.mean():+.3f}"
    width = float(stats.t.ppf(0.975, losses.size - 1) * stats.sem(losses))
    return f"{losses.mean():+.3f} [{losses.mean() - width:+.3f}, {losses.mean() + width:+.3f}]"


def table_of_seeds(folder: Path, done: list[dict[str, Any]], ways: list[str]) -> Iterable[str]:
    """Say how alike two seeds rank the same network, beside what each promised."""
    yield "| network | way | seeds | correlation | promised | first 20 kept | promised |\n" + "|---" * 7 + "|"
    groups: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for one in done:
        if one["injection"] == 0 and one["way"] in ways:
            groups[one["network"], one["way"]].append(one)
    for (network, way), found in sorted(groups.items()):
        if len(found) < 2:
            continue
        names = [f"{network}.{way}.0.{one['seed']}.npz" for one in found]
        scores = [np.load(folder / name)["score"] for name in names]
        firsts = [set(np.argsort(-one, kind="stable")[:FIRST].tolist()) for one in scores]
        pairs = list(combinations(range(len(found)), 2))
        alike = np.mean([stats.spearmanr(scores[a], scores[b])[0] for a, b in pairs])
        kept = np.mean([len(firsts[a] & firsts[b]) for a, b in pairs])
        said = [np.mean([one.get(what, np.nan) for one in found]) for what in ("correlation", "kept")]
        yield (
            f"| {network} | {way} | {len(found)} | {alike:.3f} | {said[0]:.3f} | {kept:.1f} | {FIRST * said[1]:.1f} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--networks", nargs="+", default=[])
    parser.add_argument("--ways", nargs="+", default=["default"])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seeds", action="store_true")
    parser.add_argument("--tables", nargs=2, metavar=("BEFORE", "AFTER"))
    parser.add_argument("--cells", action="store_true")
    asked = parser.parse_args()
    if asked.cells:
        print(*table_of_losses(pairs_of_cells(read_lines(LINES))), sep="\n")
        return
    asked.folder.mkdir(exist_ok=True)
    file = asked.folder / "runs.jsonl"
    done = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    run_all(asked, done)
    if asked.tables:
        losses = table_of_losses(pairs_of_runs(done, *asked.tables))
        print(*losses, "", *table_of_seeds(asked.folder, done, asked.tables), sep="\n")


if __name__ == "__main__":
    main()
