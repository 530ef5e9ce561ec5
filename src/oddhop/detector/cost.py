"""Memory, estimated before it is taken: what is common to all detectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from oddhop.base.sizes import sized
from oddhop.errors import MemoryBudgetError
from oddhop.graph.graph import Graph

BASE = 490 * 2**20  # the interpreter with torch, numba, SciPy and scikit-learn, compiled kernels and all
# Reading tables: DuckDB, and what the texts of a column cost while their words are sorted out; a number costs less.
TABLES_BASE, TABLES_WORD, TABLES_NUMBER = 60 * 2**20, 150, 24
TABLES_EVENT = 300  # placed and sorted by DuckDB, and held once more while the arrays are joined


@dataclass(frozen=True)
class Size:
    """The size of a network.

    Attributes
    ----------
    nodes, edges, attributes : the counts.
    values : how many attribute values are stored, where the network is read from tables first; else None.
    mapped : whether the network lies on disk and may stay there.
    events : how many events it has.
    kinds : whether it has several kinds of nodes.
    """

    nodes: int
    edges: int
    attributes: int
    values: int | None = None
    mapped: bool = False
    events: int = 0
    kinds: bool = False

    @classmethod
    def of(cls, graph: Graph, *, from_tables: bool = False) -> Size:
        """Return the size of a graph; ``from_tables`` counts what reading its tables takes as well."""
        values = graph.value_count if from_tables and not graph.mapped else None
        events = 0 if graph.events is None else graph.events.event_count
        counts = graph.node_count, graph.edge_count, graph.attribute_count
        return cls(*counts, values, graph.mapped, events, kinds=graph.kinds is not None)

    @property
    def reading(self) -> int:
        """The memory for reading the tables, in bytes."""
        if self.values is None:
            return 0
        value = TABLES_NUMBER if self.values == self.nodes * self.attributes else TABLES_WORD  # dense or sparse
        return TABLES_BASE + value * self.values + TABLES_EVENT * self.events


@dataclass(frozen=True)
class Cost:
    """The memory of a fit.

    Attributes
    ----------
    memory : the peak of every stage in bytes, imports and the network included.
    leaner : by stage, the settings that take less memory.
    """

    memory: Mapping[str, int]
    leaner: Mapping[str, str] = field(default_factory=dict)


def check_memory(cost: Cost, max_memory: int | None, what: str) -> None:
    """Raise an error if a fit needs more memory than is available."""
    limit = max_memory or available_memory()
    stage = max(cost.memory, key=lambda name: cost.memory[name])
    need = cost.memory[stage]
    if limit is None or need <= limit:
        return
    leaner = f"try {cost.leaner[stage]}, or " if stage in cost.leaner else ""
    as_options = leaner.replace("workers=1", "--workers 1").replace("simulate=False", "--set odd.simulate=false")
    raise MemoryBudgetError(
        f"{what} needs about {sized(need)} for {stage}, and the limit is {sized(limit)}",
        f"{leaner}raise max_memory",
        command=f"{as_options}raise --max-memory",
    )


def available_memory() -> int | None:
    """Return the bytes that may still be taken, by the kernel and the control group; None if neither is known."""
    limits = []
    try:
        lines = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        limits.append(int(lines["MemAvailable"].split()[0]) * 1024)
        group = Path("/sys/fs/cgroup")
        limits.append(int((group / "memory.max").read_text()) - int((group / "memory.current").read_text()))
    except (OSError, ValueError, KeyError):  # not Linux, or "max"
        pass
    return min(limits) if limits else None
