"""``plan``: what would be read, and what a run would take. Nothing is learned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from oddhop.detector.cost import Cost, Size, available_memory, check_memory
from oddhop.detector.registry import detector_named, registered
from oddhop.runs.log import LOGGED, Log
from oddhop.runs.read import read_for_run
from oddhop.runs.settings import RunSettings, run_settings
from oddhop.tables.network import Network


@dataclass(frozen=True, eq=False)
class Plan:
    """What a run would read and need.

    Attributes
    ----------
    network : the network that the tables make.
    cost : what its stages need.
    limit : the memory that the run may take, in bytes; None where no limit was set.
    """

    network: Network
    cost: Cost
    limit: int | None

    @property
    def memory(self) -> Mapping[str, int]:
        """The bytes that every stage needs."""
        return self.cost.memory

    @property
    def available(self) -> int | None:
        """The limit that was set, or the memory that is free now; None where the system does not tell."""
        return self.limit or available_memory()

    def check(self) -> None:
        """Raise an error if the run needs more memory than there is."""
        check_memory(self.cost, self.limit, f"a run on {self.network.graph!r}")


def plan(
    edges: Any,
    nodes: Any = None,
    *,
    detector: str = "odd",
    workers: int | None = None,
    max_memory: int | str | None = None,
    settings: RunSettings | Mapping[str, Any] | None = None,
    database: str | None = None,
    log: Log = LOGGED,
) -> Plan:
    """Read the tables as :func:`~oddhop.runs.detect` would, and estimate the memory of the run.

    Examples
    --------
    >>> from oddhop.datasets import load_payments
    >>> from oddhop.runs import plan
    >>> example = load_payments()
    >>> plan(example.edges, example.nodes).network.graph.node_count
    600
    """
    detector = registered(detector)
    chosen = run_settings(settings, detector, {"workers": workers, "max_memory": max_memory})
    network = read_for_run(log, chosen, edges, nodes, database)
    mine = chosen.of(detector)
    return Plan(network, detector_named(detector).of(mine).cost(Size.of(network.graph, from_tables=True)), mine.memory)
