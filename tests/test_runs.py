from __future__ import annotations

import os
from pathlib import Path

import pytest

from oddhop.runs import recorded, write_atomically


def test_a_failed_write_leaves_the_old_file_and_no_debris(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "file"
    write_atomically(target, b"old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(target, b"new")
    assert target.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_what_a_manifest_records_is_given_or_none(tmp_path: Path) -> None:
    assert recorded(tmp_path, "seed") is None
    (tmp_path / "manifest.json").write_text('{"seed": 3}')
    assert recorded(tmp_path, "seed") == 3
    (tmp_path / "manifest.json").write_text("[1]")
    assert recorded(tmp_path, "seed") is None
