from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from oddhop import HCM, Graph
from oddhop.detector.cost import Cost, Size, available_memory, check_memory
from oddhop.errors import MemoryBudgetError
from oddhop.hcm.cost import memory
from oddhop.hcm.settings import HCMSettings


def test_the_estimate_grows_with_everything_that_takes_memory() -> None:
    def peak(nodes: int = 10**6, edges: int = 10**7, columns: int = 20, workers: int = 2, **settings: object) -> int:
        chosen = HCMSettings(**settings)
        return max(memory(Size(nodes, edges, columns), chosen, workers=workers).memory.values())

    assert peak() < peak(nodes=2 * 10**6, edges=2 * 10**7)
    assert peak() < peak(edges=10**8)
    assert peak() < peak(precision="float64")
    assert peak() < peak(hidden=256)
    assert peak(workers=1, pairs_per_step=8_192) < peak(pairs_per_step=8_192)
    assert peak(nodes=10_000, edges=10_000) < peak(nodes=10_000, edges=10_000, pair_labels="exhaustive")


def test_what_is_sampled_or_on_the_disk_takes_less() -> None:
    def stages(*, mapped: bool = False, in_folder: bool = False) -> dict[str, int]:
        size = Size(10**7, 10**8, 20, mapped=mapped)
        return dict(memory(size, HCMSettings(), workers=2, in_folder=in_folder).memory)

    dense = {
        most: memory(Size(10**7, 10**10, 20), HCMSettings(neighbours=most), workers=2).memory["training"]
        for most in (64, 10**6)
    }
    assert dense[64] < dense[10**6]
    assert stages(mapped=True)["purify"] < stages()["purify"]
    assert stages(in_folder=True)["scoring"] < stages()["scoring"]


def test_exhaustive_labels_are_refused_with_the_way_out() -> None:
    graph = Graph.from_arrays([[0], [1]], np.zeros((200_000, 1)))
    with pytest.raises(MemoryBudgetError, match="try pair_labels='sampled'"):
        HCM(pair_labels="exhaustive", max_memory=2**33, workers=1).fit(graph)


def test_what_is_free_is_read_where_the_system_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    free = available_memory()
    assert free is None or free > 2**20

    def absent(self: Path) -> str:
        raise OSError

    monkeypatch.setattr(Path, "read_text", absent)
    assert available_memory() is None
    check_memory(Cost({"all": 2**60}), None, "a fit")
