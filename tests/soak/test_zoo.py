"""Degenerate networks get finite scores or an error that says what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.soak.short import soaked

pytestmark = pytest.mark.slow


def test_degenerate_networks(tmp_path: Path) -> None:
    outcomes = soaked(tmp_path, "zoo", "--only", "HCM", "--only", "Odd", "--every", "14")
    for outcome in outcomes:
        assert outcome["finite scores"] + outcome["refused"] == outcome["cells"] == 29
