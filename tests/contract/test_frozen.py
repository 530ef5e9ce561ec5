"""What passes between the stages cannot be changed on the way."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import is_dataclass
from typing import Any

import pytest

import oddhop

# These are work under way inside one stage, and never handed on.
UNDER_WAY = {"oddhop.base.ray": ["_Work"],
             "oddhop.arrays.handles": ["Recipe"],
             "oddhop.arrays.run": ["Runner"],
             "oddhop.arrays.stores": ["Holders", "MemoryStore", "FolderStore"],
             "oddhop.tables.encode.learn": ["_Columns"],
             "oddhop.tables.ingest.growing_files": ["GrowingArray"],
             "oddhop.tables.ingest.steps": ["Place"],
             "oddhop.tables.read.memory": ["Memory"]}  # fmt: skip
MODULES = [module.name for module in pkgutil.walk_packages(oddhop.__path__, "oddhop.")]


def test_there_are_dataclasses_to_look_at() -> None:
    assert len(MODULES) > 120
    assert is_dataclass(oddhop.Graph)


@pytest.mark.parametrize("name", MODULES)
def test_every_dataclass_is_frozen(name: str) -> None:
    module = importlib.import_module(name)
    found: list[Any] = [one for one in vars(module).values() if is_dataclass(one) and one.__module__ == name]
    assert [one.__name__ for one in found if not one.__dataclass_params__.frozen] == UNDER_WAY.get(name, [])
