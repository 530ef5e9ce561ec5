"""Changed files are read or refused with an error of ours; changed models are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.soak.short import soaked

pytestmark = pytest.mark.slow


def test_changed_files(tmp_path: Path) -> None:
    outcomes = soaked(tmp_path, "fuzz", "--count", "25", "--seed", "1")
    assert len(outcomes) == 15
    for outcome in outcomes:
        assert outcome["accepted"] + outcome["refused"] == outcome["files"] == 25
