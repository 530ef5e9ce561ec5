"""A disk that fails is told, and leaves the old file whole."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.soak.short import soaked

pytestmark = pytest.mark.slow


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
def test_calls_that_fail_and_two_runs_in_one_folder(tmp_path: Path) -> None:
    outcomes = soaked(tmp_path, "faults", "--only", "fit Odd", "--every", "8", "--count", "2")
    assert sum(outcome.get("refused, and gone on with", 0) for outcome in outcomes) >= 5


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")
def test_a_full_disk_and_one_that_cannot_be_written(tmp_path: Path) -> None:
    closed, full = soaked(tmp_path, "disks", "--only", "detect by HCM", "--count", "4")
    assert closed["exit"] > 1
    assert full["refused, and gone on with"] > 0
