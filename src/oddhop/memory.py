"""Memory, estimated before it is taken."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from oddhop.errors import MemoryBudgetError
from oddhop.graph import Graph
from oddhop.hops import POOL_PAIRS
from oddhop.model import HEAD_UNITS, PAIRS_AT_ONCE, Shape
from oddhop.settings import HCMSettings
from oddhop.views.coordinates import COMPONENTS, WIDE
from oddhop.views.ring import EIGENVECTORS

STAGES = ("purify", "hop pairs", "training", "scoring")
BASE = 490 * 2**20  # the interpreter with torch, numba, SciPy and scikit-learn, compiled kernels and all
# Reading tables: DuckDB, and what the texts of a column cost while their words are sorted out. The allocator keeps it.
TABLES_BASE, TABLES_VALUE = 60 * 2**20, 150
LISTED, KEPT = 64, 40  # bytes of a pair while pairs are listed and sorted, and afterwards


def estimate_memory(
    nodes: int, edges: int, attributes: int, settings: HCMSettings, *, workers: int, values: int | None = None
) -> dict[str, int]:
    """Estimate the peak of every stage in bytes, the imports and the network itself included.

    ``values``, where the network comes from tables, is how many values of its attributes are stored.

    Examples
    --------
    >>> from oddhop.memory import estimate_memory
    >>> from oddhop.settings import HCMSettings
    >>> stages = estimate_memory(1_000_000, 10_000_000, 20, HCMSettings(), workers=2)
    >>> max(stages.values()) < 6 * 2**30
    True
    """
    item = 4 if settings.precision == "float32" else 8
    width = min(attributes, settings.pca_components or attributes) if attributes > settings.pca_above else attributes
    network = 8 * nodes + 2 * 4 * edges
    shape = Shape(width, settings.hidden, settings.layers, settings.hops)
    tables = 0 if values is None else TABLES_BASE + TABLES_VALUE * values
    prepared = BASE + tables + 2 * network + 8 * nodes * min(attributes, settings.pca_above) + 2 * item * nodes * width
    pairs = nodes * (nodes - 1) // 2
    if settings.labels == "sampled":
        pairs = min(2 * pairs, settings.hops * POOL_PAIRS)
    snapshots = settings.chains * settings.samples * shape.size * item
    # A step sees the drawn nodes and their neighbours, layer by layer, before and after relu and with the
    # gradient. Drawn nodes have more neighbours than most, as friends do.
    spread = 2 * (2 * edges / max(nodes, 1) + 1)
    field = min(nodes, 2 * settings.pairs_per_step * spread ** (settings.layers - 1))
    activations = int((3 * settings.hidden + width) * max(settings.layers - 1, 1) * field * item) + 12 * nodes
    chain = activations + 5 * PAIRS_AT_ONCE * HEAD_UNITS * item + 8 * shape.size * item
    moments = (settings.chains + 2) * edges * item + settings.chains * (settings.samples * item + 40) * nodes
    return {
        "purify": prepared + 3 * 4 * edges,
        "hop pairs": prepared + LISTED * pairs + workers * 8 * nodes,
        "training": prepared + KEPT * pairs + min(workers, settings.chains) * chain + snapshots,
        "scoring": prepared + KEPT * pairs + 2 * nodes * settings.hidden * item + moments + snapshots,
    }


def check_memory(graph: Graph, settings: HCMSettings, *, workers: int, stages: Sequence[str] = STAGES) -> None:
    """Refuse a run that would not fit, before it begins."""
    budget = settings.max_memory or available_memory()
    needs = estimate_memory(graph.node_count, graph.edge_count, graph.attribute_count, settings, workers=workers)
    stage = max(stages, key=lambda name: needs[name])
    if budget is None or needs[stage] <= budget:
        return
    leaner = "labels='sampled'" if settings.labels == "exhaustive" else "workers=1, fewer chains, or a smaller hidden"
    raise MemoryBudgetError(
        f"the {stage} stage of {graph!r} would take about {needs[stage] / 2**30:.1f} GiB and "
        f"{budget / 2**30:.1f} GiB may be used; try {leaner}, or raise max_memory"
    )


def estimate_odd_memory(nodes: int, edges: int, attributes: int, *, values: int | None = None) -> int:
    """Estimate the peak of Odd in bytes, the imports and the network itself included.

    ``values``, where the network comes from tables, is how many values of its attributes are stored.

    Examples
    --------
    >>> from oddhop.memory import estimate_odd_memory
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
