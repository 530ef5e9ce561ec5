"""Do 90 % rank intervals hold the rank that a run with fresh seeds gives? They should for 85-95 % of the nodes.

ODDHOP_DATA=... python benchmarks/uncertainty.py      # three networks, four runs each, about ten minutes
"""

from __future__ import annotations

import argparse
from itertools import permutations

import numpy as np

from oddhop import HCM
from oddhop.bench.networks import load_network

NETWORKS = ("hcm_amazon", "cora_cola_injected", "facebook_tam")
RUNS = 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--score", choices=["hav", "ahp"], default="hav")
    score = parser.parse_args().score
    print("| network | score | coverage of 90 % intervals | over pairs of runs | mean width, share of nodes |")
    print("|---|---|---|---|---|")
    for name in NETWORKS:
        graph = load_network(name).graph
        tables = [HCM(random_state=seed, score=score).fit(graph).result_.sort_by("id") for seed in range(RUNS)]
        rank, low, high = (
            np.stack([table[column].to_numpy() for table in tables]) for column in ("rank", "rank_low", "rank_high")
        )
        held = [np.mean((rank[b] >= low[a]) & (rank[b] <= high[a])) for a, b in permutations(range(RUNS), 2)]
        width = np.mean(high - low) / graph.node_count
        print(
            f"| {name} | {score} | {np.mean(held):.3f} | {min(held):.3f}-{max(held):.3f} | {width:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
