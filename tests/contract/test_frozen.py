"""What passes between the stages cannot be changed on the way."""

from __future__ import annotations

import importlib
from dataclasses import is_dataclass

import pytest

STAGES = ("graph", "attributes", "purify", "hops", "excerpt", "convolution", "model", "sampler", "chains", "scoring",
          "ranks", "runs", "modelfile", "detectors.lesson", "detectors.learned")  # fmt: skip


@pytest.mark.parametrize("stage", STAGES)
def test_every_dataclass_of_a_stage_is_frozen(stage: str) -> None:
    module = importlib.import_module(f"oddhop.{stage}")
    found = [one for one in vars(module).values() if is_dataclass(one) and one.__module__ == module.__name__]
    assert found
    assert [one.__name__ for one in found if not one.__dataclass_params__.frozen] == []
