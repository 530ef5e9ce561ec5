"""Does training on sampled neighbours rank as full training does? Scores of two full runs, and of one with samples.

    ODDHOP_DATA=... python benchmarks/sampled.py blogcatalog_raw debian_bookworm npm_2016

Rank correlations over the judged nodes. Every run has a seed of its own, so the pair of full runs is what to equal.
"""

from __future__ import annotations

import argparse
import time

from scipy.stats import spearmanr

from oddhop import HCM
from oddhop.bench.networks import load_network


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("networks", nargs="+")
    parser.add_argument("--neighbours", type=int, default=32)
    parser.add_argument("--chains", type=int, default=4)
    asked = parser.parse_args()
    print(
        "| network | full, other seed | sampled, other seed | seconds, full | seconds, sampled |\n|---|---|---|---|---|"
    )
    for name in asked.networks:
        graph = load_network(name).graph
        judged = graph.degrees > 0
        scores, seconds = [], []
        for training, seed in (("full", 0), ("full", 1), ("sampled", 2)):
            begun = time.process_time()
            detector = HCM(
                training=training, neighbours=asked.neighbours, chains=asked.chains, random_state=seed, workers=1
            )
            scores.append(detector.fit(graph).anomaly_scores_[judged])
            seconds.append(time.process_time() - begun)
        full, sampled = (spearmanr(scores[0], other).statistic for other in scores[1:])
        print(f"| {name} | {full:.3f} | {sampled:.3f} | {seconds[0]:.0f} | {seconds[2]:.0f} |", flush=True)


if __name__ == "__main__":
    main()
