from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from oddhop import Graph
from oddhop.detector.memory import available_memory, check_memory, estimate_memory
from oddhop.errors import MemoryBudgetError
from oddhop.settings import HCMSettings


def test_the_estimate_grows_with_everything_that_takes_memory() -> None:
    def peak(nodes: int = 10**6, edges: int = 10**7, columns: int = 20, workers: int = 2, **settings: object) -> int:
        return max(
            estimate_memory(
                nodes, edges, columns, HCMSettings(**{"training": "full", **settings}), workers=workers
            ).values()
        )

    assert peak() < peak(nodes=2 * 10**6, edges=2 * 10**7)
    assert peak() < peak(edges=10**8)
    assert peak() < peak(precision="float64")
    assert peak() < peak(hidden=256)
    assert peak(workers=1) < peak()
    assert peak(nodes=10_000, edges=10_000) < peak(nodes=10_000, edges=10_000, labels="exhaustive")


def test_what_is_sampled_or_on_the_disk_takes_less() -> None:
    def stages(**others: bool) -> dict[str, int]:
        return estimate_memory(10**7, 10**8, 20, HCMSettings(), workers=2, **others)

    dense = {
        way: estimate_memory(10**7, 10**9, 20, HCMSettings(training=way), workers=2)["training"]
        for way in ("sampled", "full")
    }
    assert dense["sampled"] < dense["full"]
    assert stages(mapped=True)["purify"] < stages()["purify"]
    assert stages(in_folder=True)["scoring"] < stages()["scoring"]
    coarse = HCMSettings(precision="bfloat16")
    assert max(estimate_memory(10**7, 10**8, 20, coarse, workers=2, mapped=True, in_folder=True).values()) < 8 * 2**30


def test_exhaustive_labels_are_refused_with_the_way_out() -> None:
    graph = Graph.from_arrays([[0], [1]], np.zeros((200_000, 1)))
    with pytest.raises(MemoryBudgetError, match="try labels='sampled'"):
        check_memory(graph, HCMSettings(labels="exhaustive", max_memory=2**33), workers=1)


def test_what_is_free_is_read_where_the_system_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    free = available_memory()
    assert free is None or free > 2**20

    def absent(self: Path) -> str:
        raise OSError

    monkeypatch.setattr(Path, "read_text", absent)
    assert available_memory() is None
    graph = Graph.from_arrays([[0], [1]], np.zeros((2, 1)))
    assert check_memory(graph, HCMSettings(), workers=1) is None
