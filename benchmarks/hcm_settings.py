"""HCM with other settings on one network: ROC-AUC, processor seconds and ranking of every run, each kept in a file.

    ODDHOP_DATA=... python -m benchmarks.hcm_settings runs.jsonl --networks blogcatalog_raw flickr_raw --ways published
    ODDHOP_DATA=... python -m benchmarks.hcm_settings runs.jsonl --networks cora bond_inj_cora --ways default published

What is in the file is not run again. Clean networks of the paper get its injections, ``cora`` gets as many cliques as
citeseer has in the papers, ``accounts`` is the network of the README, and elsewhere runs differ in the seed alone.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from benchmarks.comparison.cells import HCM_NAME, Cell, Injection, load_problem
from benchmarks.comparison.suites import INJECTED, LABELLED, injected
from benchmarks.metrics import roc_auc
from oddhop import HCM, Graph
from oddhop.base.arrays import Bools

PRINTED = {"blogcatalog_raw": "BlogCatalog", "flickr_raw": "Flickr", "coauthor_cs": "ACM", "acmv9": "ACM"}
PRINTED |= {"hcm_amazon": "Amazon", "hcm_enron": "Enron"}


def problem(name: str, run: int) -> tuple[Graph, Bools]:
    """Return a network and its anomalies; injections differ from run to run."""
    if name in INJECTED:
        cell = injected(name, run, HCM_NAME)
    elif name == "cora":
        cell = Cell(name, HCM_NAME, injection=Injection(5, run))
    else:
        cell = Cell(name, HCM_NAME, run)
    found = load_problem(cell, None)
    if found.anomalous is None:
        raise SystemExit(f"{name} has no anomalies")
    return found.graph, found.anomalous


def ways(network: str) -> dict[str, dict[str, Any]]:
    """Return the settings by name."""
    deep = {"layers": 4} if network in LABELLED else {}
    fixed = {"burn_in": 1_000, **deep}
    return {"default": deep, "fixed": fixed, "published": HCM.as_published(PRINTED.get(network, "ACM")).get_params()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--networks", nargs="+", required=True)
    parser.add_argument("--ways", nargs="+", default=["default"])
    parser.add_argument("--runs", type=int, default=5)
    asked = parser.parse_args()
    done = [json.loads(line) for line in asked.file.read_text().splitlines()] if asked.file.exists() else []
    known = {(one["network"], one["run"], one["way"]) for one in done}
    for run in range(asked.runs):
        for network in asked.networks:
            todo = [way for way in asked.ways if (network, run, way) not in known]
            if not todo:
                continue
            graph, anomalous = problem(network, run)
            for way in todo:
                settings = {**ways(network)[way], "random_state": run, "workers": 1}
                begun = time.process_time()
                table = HCM(**settings).fit(graph).result_.sort_by("id")
                seconds = time.process_time() - begun
                areas = {name: roc_auc(anomalous, table[name].to_numpy())[0] for name in ("ahp", "iv", "hav")}
                line = {"network": network, "run": run, "way": way, "seconds": round(seconds, 1), **areas}
                with asked.file.open("a") as out:
                    out.write(json.dumps(line) + "\n")
                print(line, flush=True)


if __name__ == "__main__":
    main()
