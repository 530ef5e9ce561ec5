"""Whether training on sampled neighbours ranks as full training does.

    ODDHOP_DATA=... python -m benchmarks.sampled blogcatalog_raw debian_bookworm npm_2016 --seeds 3

Rank correlations over the judged nodes, between runs of different seeds only: the mean over all pairs of full runs,
which is what to equal, and the mean over all pairs of a full and a sampled run, each with its range.
"""

from __future__ import annotations

import argparse
import time
from itertools import combinations, permutations
from typing import Literal

import numpy as np
from scipy.stats import spearmanr

from benchmarks.networks import load_network
from oddhop import HCM

TRAININGS: tuple[Literal["full", "sampled"], ...] = ("full", "sampled")


def told(values: list[float]) -> str:
    return f"{np.mean(values):.3f} ({min(values):.3f} to {max(values):.3f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="+")
    parser.add_argument("--neighbours", type=int, default=256)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--chains", type=int, default=2)
    parser.add_argument("--burn-in", type=int, default=300)
    parser.add_argument("--samples", type=int, default=5)
    asked = parser.parse_args()
    few = {"chains": asked.chains, "burn_in": asked.burn_in, "samples": asked.samples, "workers": 1}
    print("| network | full with full | sampled with full | seconds, full | seconds, sampled |\n|---|---|---|---|---|")
    for name in asked.networks:
        graph = load_network(name).graph
        judged = graph.degrees > 0
        scores: dict[str, list[np.ndarray]] = {training: [] for training in TRAININGS}
        seconds: dict[str, list[float]] = {"full": [], "sampled": []}
        for seed in range(asked.seeds):
            for training in TRAININGS:
                begun = time.process_time()
                seen = None if training == "full" else asked.neighbours
                detector = HCM(neighbours=seen, random_state=seed, **few)
                scores[training].append(detector.fit(graph).anomaly_scores_[judged])
                seconds[training].append(time.process_time() - begun)
        full, drawn = scores["full"], scores["sampled"]
        alike = [spearmanr(*pair).statistic for pair in combinations(full, 2)]
        across = [spearmanr(full[a], drawn[b]).statistic for a, b in permutations(range(asked.seeds), 2)]
        times = " | ".join(f"{np.mean(values):.0f}" for values in seconds.values())
        print(f"| {name} | {told(alike)} | {told(across)} | {times} |", flush=True)


if __name__ == "__main__":
    main()
