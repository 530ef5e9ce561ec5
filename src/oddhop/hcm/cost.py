"""What a fit of HCM takes: the memory of every stage, estimated before it is taken."""

from __future__ import annotations

import numpy as np

from oddhop.detector.cost import BASE, Cost, Size
from oddhop.hcm.hop_pairs import POOL_PAIRS
from oddhop.hcm.model import HEAD_UNITS, Shape
from oddhop.hcm.settings import HCMSettings, replicate_count

ARROW_ROWS = 64  # bytes of an edge while its arrows are put in rows both ways
LISTED, KEPT = 64, 40  # bytes of a pair while pairs are listed and sorted, and afterwards
# Bytes of a node when all are ranked: 195 for the table of results and what it is made of (benchmarks/ranking.py), and
# 24 for its degree and how well the chains agree on it.
RANKED = 220


def memory(size: Size, settings: HCMSettings, workers: int, *, in_folder: bool = False) -> Cost:
    """Estimate the peak memory of every stage; ``in_folder`` the figures of the edges lie on disk."""
    nodes, edges = size.nodes, size.edges
    item, width = np.dtype(settings.dtype).itemsize, _width(size.attributes, settings)
    wiring, prepared = 8 * nodes + 2 * 4 * edges, item * nodes * width
    held = BASE + size.reading + 8 * nodes + prepared
    if not size.mapped:
        held += wiring + 8 * nodes * min(size.attributes, settings.pca_above)
    pairs = nodes * (nodes - 1) // (1 if settings.directed else 2)
    if settings.pair_labels == "sampled":
        pairs = min(nodes * (nodes - 1), settings.hop_classes * POOL_PAIRS)
    # The class of the neighbours is the smallest, but in networks where hardly any pair is far apart.
    chains = settings.rounds((1 - settings.drop_ratio) * edges, settings.hop_classes)[-1]
    replicates = replicate_count(chains, settings.samples)
    snapshots = chains * settings.samples * Shape.of(settings, width).size * item
    embeddings = 0 if in_folder else min(settings.layers, 2) * settings.hidden * item * nodes
    moments = (replicates + 1) * edges * item
    training = _training_memory(nodes, edges, width, settings, min(workers, chains))
    of_chains = 8 * replicates * nodes  # of one figure of the nodes, and there are five
    scored = max(embeddings, RANKED * nodes + 5 * of_chains)  # embeddings are gone by the time of the ranking
    rows = 2 if settings.directed else 1  # along the arrows and against them
    pairs_leaner = "pair_labels='sampled'" if settings.pair_labels == "exhaustive" else "workers=1, or a graph on disk"
    return Cost(
        memory={
            "purify": held + prepared + wiring + 3 * 4 * edges + (ARROW_ROWS * edges if settings.directed else 0),
            "hop pairs": held + prepared + rows * wiring + LISTED * pairs + workers * 8 * nodes,
            "training": held + KEPT * pairs + training + snapshots,
            "scoring": held + KEPT * pairs + scored + (0 if in_folder else moments) + snapshots,
        },
        leaner={
            "purify": pairs_leaner,
            "hop pairs": pairs_leaner,
            "training": "fewer neighbours, workers=1 or a smaller hidden",
            "scoring": "a smaller hidden" + ("" if in_folder else ", a run folder"),
        },
    )


def _width(attributes: int, settings: HCMSettings) -> int:
    """Return how many attributes the model sees."""
    return min(attributes, settings.pca_components or attributes) if attributes > settings.pca_above else attributes


def _training_memory(nodes: int, edges: int, width: int, settings: HCMSettings, workers: int) -> int:
    # A step sees the drawn nodes and their neighbours, layer by layer, before and after relu and with the
    # gradient. Drawn nodes have more neighbours than most, as friends do.
    item = np.dtype(settings.dtype).itemsize
    most = settings.most_neighbours(nodes)
    spread = min(2 * (2 * edges / max(nodes, 1) + 1), nodes if most is None else most + 1)
    by_rule = settings.hop_classes * (int(settings.sampling_ratio * edges) + 1)  # no class is asked for more than edges
    pairs = by_rule if settings.pairs_per_step is None else min(settings.pairs_per_step, by_rule)
    rows = min(nodes, 2 * pairs)
    chain = 5 * pairs * (HEAD_UNITS + settings.hidden) * item
    for _ in range(settings.layers - 1):
        entries = min(rows * spread, 2 * edges + nodes)
        rows = int(min(nodes, rows * spread))
        chain += int(2 * (item + 4) * entries + 4 * settings.hidden * rows * item + 12 * nodes)
    chain += rows * width * item + 10 * Shape.of(settings, width).size * item
    return workers * chain
