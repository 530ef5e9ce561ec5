"""A network on which HCM finds what was planted: accounts that deal across communities, and noisy attributes.

    python -m benchmarks.planted            # ROC-AUC of HCM, Odd and trivial scores over ten seeds

The attributes of one account say little about its community; the mean over its neighbours, which a convolution takes,
says much. The network was made for HCM: it shows what the method is for, and not how good it is elsewhere.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass

import numpy as np

from benchmarks.baselines import TRIVIAL
from benchmarks.metrics import roc_auc
from oddhop import HCM, Graph, Odd
from oddhop.base.arrays import Bools

COMMUNITIES, MEMBERS, STRAYS, COLUMNS, DEGREE, NOISE = 6, 50, 15, 8, 10, 1.5


@dataclass(frozen=True, eq=False)
class Planted:
    """A network and the nodes that were planted in it."""

    graph: Graph
    stray: Bools


def planted(seed: int) -> Planted:
    """Make 300 accounts in six communities; half of the neighbours of a stray are in other communities.

    Examples
    --------
    >>> from benchmarks.planted import planted
    >>> made = planted(0)
    >>> made.graph.node_count, int(made.stray.sum())
    (300, 15)
    """
    rng = np.random.default_rng(seed)
    nodes = COMMUNITIES * MEMBERS
    community = np.arange(nodes) % COMMUNITIES
    stray = np.zeros(nodes, dtype=bool)
    stray[rng.choice(nodes, STRAYS, replace=False)] = True
    left = np.repeat(np.arange(nodes), DEGREE // 2)
    away = np.where(stray[left] & (rng.random(left.size) < 0.8), rng.integers(1, COMMUNITIES, left.size), 0)
    right = (community[left] + away) % COMMUNITIES + COMMUNITIES * rng.integers(0, MEMBERS, left.size)
    x = rng.normal(size=(COMMUNITIES, COLUMNS))[community] + NOISE * rng.normal(size=(nodes, COLUMNS))
    return Planted(Graph.from_arrays([left, right], x), stray)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    figures: dict[str, list[float]] = {}
    begun = time.process_time()
    for seed in range(parser.parse_args().seeds):
        made = planted(seed)
        table = HCM(random_state=seed, workers=1).fit(made.graph).result_.sort_by("id")
        scores = {f"HCM, {name}": table[name].to_numpy() for name in ("ahp", "hav")}
        scores["Odd"] = Odd(random_state=seed, workers=1, simulate=False).fit(made.graph).anomaly_scores_
        scores |= {name: score(made.graph) for name, score in TRIVIAL.items()}
        for name, values in scores.items():
            figures.setdefault(name, []).append(roc_auc(made.stray, values)[0])
    print("| score | ROC-AUC, mean | lowest | highest |\n|---|---|---|---|")
    for name, areas in figures.items():
        print(f"| {name} | {np.mean(areas):.3f} | {min(areas):.3f} | {max(areas):.3f} |")
    print(f"{time.process_time() - begun:.0f} processor seconds")


if __name__ == "__main__":
    main()
