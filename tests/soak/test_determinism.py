"""The same bits at any number of threads; a run that would not fit is refused at once."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.soak.short import soaked

pytestmark = pytest.mark.slow


def test_threads_and_memory(tmp_path: Path) -> None:
    [threads, memory] = soaked(tmp_path, "determinism", "memory", "--count", "1")
    assert threads["fits"] == 9
    assert len(memory["seconds"]) == 4
