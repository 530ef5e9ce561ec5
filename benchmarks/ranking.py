"""What a ranking takes beside the scores it is made from: bytes a node at the peak, and seconds of a processor.

    python -m benchmarks.ranking                 # a million nodes
    python -m benchmarks.ranking --nodes 1e7

Scores are made up: four replicates for Odd, in both precisions; one chain of ten samples and four for HCM. The last two
lines are what a run of HCM does once all nodes are scored, the ranking and the columns, and then the table of results;
ids are in Arrow's memory, which is added. Bytes are counted in a call of their own, for counting takes time.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from oddhop.detector.ranking import rank_scores
from oddhop.detector.result_table import result_table
from oddhop.hcm.detector import judgement
from oddhop.hcm.ranking import rank_nodes
from oddhop.hcm.scoring import Scores
from oddhop.hcm.settings import HCMSettings

TOP = 1_000


def tell(what: str, nodes: int, call: Callable[[], Any]) -> None:
    begun = time.process_time()
    call()
    seconds = time.process_time() - begun
    tracemalloc.start()
    kept = call()
    peak = tracemalloc.get_traced_memory()[1] + pa.total_allocated_bytes()
    tracemalloc.stop()
    del kept
    print(f"| {what} | {peak / nodes:.0f} | {seconds:.1f} |", flush=True)


def made_up(score: np.ndarray, judged: np.ndarray, chains: int) -> Scores:
    rng = np.random.default_rng(chains)
    ahp, iv = np.empty((2, chains, score.size))
    for chain in range(chains):
        ahp[chain] = np.where(judged, 2 + score + rng.normal(0, 0.3, score.size), 0.0)
        iv[chain] = np.where(judged, rng.gamma(2.0, 0.1, score.size), 0.0)
    return Scores(ahp, iv, 0 * iv, iv, judged, (float(ahp.mean(axis=0).max()), float(iv.mean(axis=0).max())))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=float, default=1e6)
    nodes = int(parser.parse_args().nodes)
    rng = np.random.default_rng(0)
    judged = rng.random(nodes) < 0.97
    score = np.where(judged, rng.gamma(2.0, 1.0, nodes), 0.0)
    few = score[:100], np.stack([score[:100]] * 2), judged[:100]
    rank_scores(*few, 1, inflation=8.0)  # compiles
    print("| what | bytes a node | seconds |\n|---|---|---|")
    for kind in (np.float32, np.float64):
        replicates = np.stack([(score + rng.normal(0, 0.3, nodes)).astype(kind) for _ in range(4)])
        what = f"Odd, 4 replicates in {kind.__name__}"
        tell(what, nodes, lambda rows=replicates: rank_scores(score, rows, judged, TOP, inflation=8.0))
    del replicates
    for chains in (1, 4):
        scores = made_up(score, judged, chains)
        what = f"HCM, {chains} chain{'s' * (chains > 1)}"
        tell(what, nodes, lambda given=scores: rank_nodes(given, "hav", TOP))
    settings = HCMSettings(top_k=TOP)
    ids, degrees = pa.array(np.arange(nodes)), judged.astype(np.int64)
    tell("HCM, 4 chains, with all columns", nodes, lambda: judgement(scores, settings))
    tell("and the table of results", nodes, lambda: result_table(ids, degrees, judgement(scores, settings), np.inf))


if __name__ == "__main__":
    main()
