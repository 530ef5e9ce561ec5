"""Hostile files run nothing, write nothing elsewhere, and crash nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.soak.short import soaked

pytestmark = pytest.mark.slow


def test_hostile_files(tmp_path: Path) -> None:
    [outcome] = soaked(tmp_path, "hostile", "--every", "5")
    assert outcome["files"] >= 15
    assert outcome["executed"] == outcome["written elsewhere"] == outcome["crashed"] == 0
