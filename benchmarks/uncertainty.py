"""Would a run of HCM with another seed rank the nodes alike, and do 90 % rank intervals say so? No label is used.

ODDHOP_DATA=... python -m benchmarks.uncertainty hcm_amazon cora_cola_injected      # four runs each
ODDHOP_DATA=... python -m benchmarks.uncertainty flickr_raw --pairs-per-step 8192 2048 1024 --runs 3
ODDHOP_DATA=... python -m benchmarks.uncertainty hcm_amazon --sampler sgd           # the same steps without noise

Clean networks of the paper get its injection 0. Rank correlations are Spearman's, the mean over pairs of runs with
different seeds: within a setting, and with the runs of the first setting. Where the second is not below the
first setting's own, nothing tells the settings apart but their seeds.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from scipy.stats import spearmanr

from benchmarks.comparison.cells import HCM_NAME, Cell, load_problem
from benchmarks.comparison.suites import INJECTED, injected
from oddhop import HCM
from oddhop.base.arrays import Floats
from oddhop.graph.graph import Graph

FIRST = 0.01  # the share of the nodes that counts as the head of the list


@dataclass(frozen=True)
class Runs:
    """What runs with different seeds gave, each of shape (runs, nodes), and their means."""

    ahp: Floats
    hav: Floats
    rank: Floats
    low: Floats
    high: Floats
    variance: float
    seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="+")
    parser.add_argument("--pairs-per-step", type=int, nargs="+", default=[HCM().pairs_per_step])
    parser.add_argument("--sampler", choices=["sgld", "sgd"], default="sgld")
    parser.add_argument("--score", choices=["hav", "ahp"], default="ahp")
    parser.add_argument("--chains", type=int)
    parser.add_argument("--runs", type=int, default=4)
    asked = parser.parse_args()
    print(
        "| network | pairs a step | s a fit | rank correlation, AHP | with the first | HAV | with the first |"
        " coverage | in the first 1 % | width, share of nodes | mean IV |"
    )
    print("|---" * 11 + "|")
    for name in asked.networks:
        graph = load_problem(injected(name, 0, HCM_NAME) if name in INJECTED else Cell(name, HCM_NAME), None).graph
        first: Runs | None = None
        for pairs in asked.pairs_per_step:
            detectors = [
                HCM(
                    random_state=seed,
                    pairs_per_step=pairs,
                    score=asked.score,
                    sampler=asked.sampler,
                    chains=asked.chains,
                )
                for seed in range(asked.runs)
            ]
            runs = fitted(detectors, graph)
            first = first or runs
            everywhere, head = coverage(runs, 1.0), coverage(runs, FIRST)
            alike = [correlation(a, b) for a, b in ((runs.ahp, first.ahp), (runs.hav, first.hav))]
            own = [correlation(values, values) for values in (runs.ahp, runs.hav)]
            print(
                f"| {name} | {pairs:,} | {runs.seconds:.0f} | {own[0]:.4f} | {alike[0]:.4f} | {own[1]:.4f} |"
                f" {alike[1]:.4f} | {everywhere:.3f} | {head:.3f} |"
                f" {np.mean(runs.high - runs.low) / graph.node_count:.3f} | {runs.variance:.5f} |",
                flush=True,
            )


def fitted(detectors: list[HCM], graph: Graph) -> Runs:
    begin = time.process_time()
    tables = [detector.fit(graph).result_.sort_by("id") for detector in detectors]
    seconds = (time.process_time() - begin) / len(detectors)

    def stacked(column: str) -> Floats:
        return np.stack([table[column].to_numpy() for table in tables])

    return Runs(
        *(stacked(column) for column in ("ahp", "hav", "rank", "rank_low", "rank_high")),
        variance=float(stacked("iv").mean()),
        seconds=seconds,
    )


def correlation(some: Floats, others: Floats) -> float:
    """Return the mean rank correlation of runs with different seeds."""
    return float(np.mean([spearmanr(some[a], others[b])[0] for a, b in permutations(range(len(some)), 2)]))


def coverage(runs: Runs, share: float) -> float:
    """Return how often the rank in one run lies in the interval of another, of the nodes that the other has first."""
    held = []
    for a, b in permutations(range(len(runs.rank)), 2):
        asked = runs.rank[a] <= max(1, share * runs.rank.shape[1])
        held.append(np.mean((runs.rank[b] >= runs.low[a])[asked] & (runs.rank[b] <= runs.high[a])[asked]))
    return float(np.mean(held))


if __name__ == "__main__":
    main()
