"""A command that was killed and is said again ends with the bytes of one that was not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.soak.short import soaked

pytestmark = pytest.mark.slow


def test_killed_at_random_instants(tmp_path: Path) -> None:
    [outcome] = soaked(tmp_path, "kills", "--count", "5")
    assert outcome["the same bytes"] == 5
    assert outcome["killed"] >= 2


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
def test_killed_at_calls_that_change_the_disk(tmp_path: Path) -> None:
    [outcome] = soaked(tmp_path, "calls", "--only", "fit HCM", "--every", "6")
    assert outcome["killed"] == outcome["the same bytes"] > 5
