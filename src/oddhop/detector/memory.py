"""Memory, estimated before it is taken."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from oddhop.errors import MemoryBudgetError
from oddhop.graph.graph import Graph
from oddhop.hcm.hop_pairs import pool_pairs
from oddhop.odd.coordinates import COMPONENTS, WIDE
from oddhop.odd.ring import EIGENVECTORS
from oddhop.settings import HCMSettings

STAGES = ("purify", "hop pairs", "training", "scoring")
BASE = 490 * 2**20  # the interpreter with torch, numba, SciPy and scikit-learn, compiled kernels and all
# Reading tables: DuckDB, and what the texts of a column cost while their words are sorted out. The allocator keeps it.
TABLES_BASE, TABLES_VALUE = 60 * 2**20, 150
LISTED, KEPT = 64, 40  # bytes of a pair while pairs are listed and sorted, and afterwards


def estimate_memory(
    nodes: int,
    edges: int,
    attributes: int,
    settings: HCMSettings,
    *,
    workers: int,
    values: int | None = None,
    mapped: bool = False,
    in_folder: bool = False,
) -> dict[str, int]:
    """Estimate the peak of every stage in bytes, the imports and the network itself included.

    ``values``, where the network comes from tables, is how many values of its attributes are stored. A ``mapped``
    network lies on the disk, and ``in_folder`` the figures of the edges do.

    Examples
    --------
    >>> from oddhop.detector.memory import estimate_memory
    >>> from oddhop.settings import HCMSettings
    >>> stages = estimate_memory(1_000_000, 10_000_000, 20, HCMSettings(), workers=2)
    >>> max(stages.values()) < 6 * 2**30
    True
    """
    from oddhop.hcm.model import LEAN_ABOVE, Shape  # with torch, which Odd does without

    item = 8 if settings.precision == "float64" else 4
    width = _width(attributes, settings)
    wiring, prepared = 8 * nodes + 2 * 4 * edges, item * nodes * width
    held = BASE + (0 if values is None else TABLES_BASE + TABLES_VALUE * values) + 8 * nodes + prepared
    if not mapped:
        held += wiring + 8 * nodes * min(attributes, settings.pca_above)
    shape = Shape(width, settings.hidden, settings.layers, settings.hops)
    pairs = nodes * (nodes - 1) // 2
    if settings.labels == "sampled":
        pairs = min(2 * pairs, settings.hops * pool_pairs(settings, nodes))
    snapshots = settings.chains * settings.samples * shape.size * item
    training = _training_memory(nodes, edges, width, pairs, settings, workers)
    embeddings = settings.hidden * (2 if settings.coarse else item) * nodes
    if nodes * settings.hidden <= LEAN_ABOVE or settings.layers > 2:
        embeddings += settings.hidden * item * nodes
    moments = (settings.chains + 1) * edges * item + settings.chains * settings.samples * item * nodes
    ranking = _ranking_memory(nodes, settings)  # embeddings are gone by then
    return {
        "purify": held + prepared + wiring + 3 * 4 * edges,
        "hop pairs": held + prepared + wiring + LISTED * pairs + workers * 8 * nodes,
        "training": held + KEPT * pairs + training + snapshots,
        "scoring": held + KEPT * pairs + max(embeddings, ranking) + (0 if in_folder else moments) + snapshots,
    }


def _width(attributes: int, settings: HCMSettings) -> int:
    """Give how many attributes the model sees."""
    return min(attributes, settings.pca_components or attributes) if attributes > settings.pca_above else attributes


def _ranking_memory(nodes: int, settings: HCMSettings) -> int:
    return (8 * 5 * settings.chains + 200) * nodes


def _training_memory(nodes: int, edges: int, width: int, pairs: int, settings: HCMSettings, workers: int) -> int:
    from oddhop.hcm.model import HEAD_UNITS, PAIRS_AT_ONCE, Shape
    from oddhop.hcm.subgraph import FEWEST, MOST_ENTRIES, MOST_SEEN

    # A step sees the drawn nodes and their neighbours, layer by layer, before and after relu and with the
    # gradient. Drawn nodes have more neighbours than most, as friends do.
    item = 8 if settings.precision == "float64" else 4
    spread = 2 * (2 * edges / max(nodes, 1) + 1)
    excerpt, reach, seen = 0.0, nodes, nodes
    if settings.samples_neighbours(nodes):
        chosen = settings.neighbours is None and settings.layers == 2  # as many as keep to a bound, or 64, which do
        spread = min(spread, (nodes if chosen else settings.neighbours or FEWEST) + 1)
        rows = min(nodes, min(nodes, 2 * pairs) * spread ** max(settings.layers - 2, 0))
        entries = rows * (spread if settings.layers > 1 else 1)
        if chosen:
            entries, seen = min(entries, MOST_ENTRIES), MOST_SEEN
        reach = int(min(nodes, entries))
        excerpt = reach * (width * item + 24) + 24 * entries
    field = min(reach, seen, 2 * settings.pairs_per_step * spread ** (settings.layers - 1))
    activations = (3 * settings.hidden + width) * max(settings.layers - 1, 1) * field * item + 12 * reach
    chain = (
        activations
        + 5 * PAIRS_AT_ONCE * HEAD_UNITS * item
        + 8 * Shape(width, settings.hidden, settings.layers, settings.hops).size * item
    )
    return int(excerpt + min(workers, settings.chains) * chain)


def check_memory(
    graph: Graph, settings: HCMSettings, *, workers: int, in_folder: bool = False, stages: Sequence[str] = STAGES
) -> None:
    """Refuse a run that would not fit, before it begins."""
    budget = settings.max_memory or available_memory()
    sizes = (graph.node_count, graph.edge_count, graph.attribute_count)
    needs = estimate_memory(*sizes, settings, workers=workers, mapped=graph.mapped, in_folder=in_folder)
    stage = max(stages, key=lambda name: needs[name])
    if budget is None or needs[stage] <= budget:
        return
    leaner = {
        "training": "training='sampled', workers=1 or a smaller hidden",
        "scoring": "precision='bfloat16', a smaller hidden" + ("" if in_folder else ", or a run folder"),
    }.get(stage, "labels='sampled'" if settings.labels == "exhaustive" else "workers=1, or a graph on disk")
    raise MemoryBudgetError(
        f"the {stage} stage of {graph!r} would take about {needs[stage] / 2**30:.1f} GiB and "
        f"{budget / 2**30:.1f} GiB may be used; try {leaner}, or raise max_memory"
    )


def check_partitioned_memory(nodes: int, edges: int, attributes: int, settings: HCMSettings) -> None:
    """Refuse a run over partitions if a machine like this one could not hold a chain, or the ranking of all nodes."""
    budget = settings.max_memory or available_memory()
    width = _width(attributes, settings)
    pairs = min(nodes * (nodes - 1), settings.hops * pool_pairs(settings, nodes))
    needs = {
        "a chain": BASE + KEPT * pairs + _training_memory(nodes, edges, width, pairs, settings, 1),
        f"ranking {nodes:,} nodes": BASE + _ranking_memory(nodes, settings),
    }
    what = max(needs, key=lambda name: needs[name])
    if budget is not None and needs[what] > budget:
        raise MemoryBudgetError(
            f"{what} would take about {needs[what] / 2**30:.1f} GiB of one machine and {budget / 2**30:.1f} GiB may be "
            "used; try fewer chains, neighbours or layers, or raise max_memory"
        )


def estimate_odd_memory(nodes: int, edges: int, attributes: int, *, values: int | None = None) -> int:
    """Estimate the peak of Odd in bytes, the imports and the network itself included.

    ``values``, where the network comes from tables, is how many values of its attributes are stored.

    Examples
    --------
    >>> from oddhop.detector.memory import estimate_odd_memory
    >>> estimate_odd_memory(1_000_000, 10_000_000, 20) < 6 * 2**30
    True
    """
    width = min(attributes, max(COMPONENTS, WIDE))
    coordinates = 2 * 8 * nodes * width
    eigenvectors = 8 * nodes * 4 * EIGENVECTORS  # those wanted, and the basis that they are searched in
    per_edge = 2 * edges * (8 + 8 + 8 + 4)
    tables = 0 if values is None else TABLES_BASE + TABLES_VALUE * values
    return BASE + tables + 2 * (8 * nodes + 2 * 4 * edges) + coordinates + eigenvectors + per_edge


def check_odd_memory(graph: Graph, max_memory: int | None) -> None:
    """Refuse a run of Odd that would not fit, before it begins."""
    budget = max_memory or available_memory()
    need = estimate_odd_memory(graph.node_count, graph.edge_count, graph.attribute_count)
    if budget is not None and need > budget:
        raise MemoryBudgetError(
            f"Odd would take about {need / 2**30:.1f} GiB on {graph!r} and {budget / 2**30:.1f} GiB may be used; "
            "raise max_memory, or judge a part of the network"
        )


def available_memory() -> int | None:
    """Give the bytes that may still be taken, as the kernel and the control group tell; None if they do not."""
    limits = []
    try:
        lines = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        limits.append(int(lines["MemAvailable"].split()[0]) * 1024)
        group = Path("/sys/fs/cgroup")
        limits.append(int((group / "memory.max").read_text()) - int((group / "memory.current").read_text()))
    except (OSError, ValueError, KeyError):  # not Linux, or "max"
        pass
    return min(limits) if limits else None
