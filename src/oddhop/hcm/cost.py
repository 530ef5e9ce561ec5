"""What a fit of HCM takes: the memory of every stage, estimated before it is taken."""

from __future__ import annotations

from oddhop.detector.cost import BASE, Cost, Size
from oddhop.hcm.hop_pairs import pool_pairs
from oddhop.hcm.model import HEAD_UNITS, LEAN_ABOVE, PAIRS_AT_ONCE, Shape
from oddhop.hcm.settings import HCMSettings
from oddhop.hcm.subgraph import FEWEST, MOST_ENTRIES, MOST_SEEN

ARROW_ROWS = 64  # bytes of an edge while its arrows are put in rows both ways
LISTED, KEPT = 64, 40  # bytes of a pair while pairs are listed and sorted, and afterwards
# Bytes of a node when all are ranked: 195 for the table of results and what it is made of (benchmarks/ranking.py), and
# 24 for its degree and how well the chains agree on it.
RANKED = 220


def memory(size: Size, settings: HCMSettings, *, workers: int, in_folder: bool = False) -> Cost:
    """Estimate the peak memory of every stage; ``in_folder`` the figures of the edges lie on disk.

    Examples
    --------
    >>> from oddhop.detector.cost import Size
    >>> from oddhop.hcm.cost import memory
    >>> from oddhop.hcm.settings import HCMSettings
    >>> max(memory(Size(1_000_000, 10_000_000, 20), HCMSettings(), workers=2).memory.values()) < 6 * 2**30
    True
    """
    nodes, edges = size.nodes, size.edges
    item, width = _item(settings), _width(size.attributes, settings)
    wiring, prepared = 8 * nodes + 2 * 4 * edges, item * nodes * width
    held = BASE + size.reading + 8 * nodes + prepared
    if not size.mapped:
        held += wiring + 8 * nodes * min(size.attributes, settings.pca_above)
    pairs = nodes * (nodes - 1) // (1 if settings.directed else 2)
    if settings.pair_labels == "sampled":
        pairs = min(nodes * (nodes - 1), settings.hop_classes * pool_pairs(settings, nodes))
    snapshots = settings.chains * settings.samples * _shape(width, settings).size * item
    embeddings = settings.hidden * item * nodes
    if nodes * settings.hidden <= LEAN_ABOVE or settings.layers > 2:
        embeddings += settings.hidden * item * nodes
    moments = (settings.replicates + 1) * edges * item + settings.chains * settings.samples * item * nodes
    training = _training_memory(nodes, edges, width, pairs, settings, workers)
    chains = (
        8 * settings.replicates * nodes
    )  # of one figure of the nodes; two are kept, and a third while they are made
    scored = max(embeddings, RANKED * nodes + 2 * chains, 3 * chains)  # embeddings are gone by the time of the ranking
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
            "training": "training='sampled', workers=1 or a smaller hidden",
            "scoring": "a smaller hidden" + ("" if in_folder else ", a run folder"),
        },
    )


def _item(settings: HCMSettings) -> int:
    return 8 if settings.precision == "float64" else 4


def _width(attributes: int, settings: HCMSettings) -> int:
    """Return how many attributes the model sees."""
    return min(attributes, settings.pca_components or attributes) if attributes > settings.pca_above else attributes


def _shape(width: int, settings: HCMSettings) -> Shape:
    return Shape(width, settings.hidden, settings.layers, settings.hop_classes)


def _training_memory(nodes: int, edges: int, width: int, pairs: int, settings: HCMSettings, workers: int) -> int:
    # A step sees the drawn nodes and their neighbours, layer by layer, before and after relu and with the
    # gradient. Drawn nodes have more neighbours than most, as friends do.
    item = _item(settings)
    spread = 2 * (2 * edges / max(nodes, 1) + 1)
    subgraph, reach, seen = 0.0, nodes, nodes
    if settings.samples_neighbours(nodes):
        chosen = settings.neighbours is None and settings.layers == 2  # as many as keep to a bound, or 64, which do
        spread = min(spread, (nodes if chosen else settings.neighbours or FEWEST) + 1)
        rows = min(nodes, min(nodes, 2 * pairs) * spread ** max(settings.layers - 2, 0))
        entries = rows * (spread if settings.layers > 1 else 1)
        if chosen:
            entries, seen = min(entries, MOST_ENTRIES), MOST_SEEN
        reach = int(min(nodes, entries))
        subgraph = reach * (width * item + 24) + 24 * entries
    field = min(reach, seen, 2 * settings.pairs_per_step * spread ** (settings.layers - 1))
    activations = (3 * settings.hidden + width) * max(settings.layers - 1, 1) * field * item + 12 * reach
    chain = activations + 5 * PAIRS_AT_ONCE * HEAD_UNITS * item + 8 * _shape(width, settings).size * item
    return int(subgraph + min(workers, settings.chains) * chain)
