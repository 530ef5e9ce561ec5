from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from oddhop.errors import RunFolderError
from oddhop.runs import RunFolder, atomic_file, locked, recorded, write_atomically


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


def test_two_writers_of_one_file_do_not_meet(tmp_path: Path) -> None:
    with atomic_file(tmp_path / "file") as first, atomic_file(tmp_path / "file") as second:
        first.write(b"whole")
        second.write(b"of the other")
    assert (tmp_path / "file").read_bytes() == b"whole"


def test_what_a_manifest_records_is_given_or_none(tmp_path: Path) -> None:
    assert recorded(tmp_path, "seed") is None
    (tmp_path / "manifest.json").write_text('{"seed": 3}')
    assert recorded(tmp_path, "seed") == 3
    (tmp_path / "manifest.json").write_text("[1]")
    assert recorded(tmp_path, "seed") is None


def test_what_a_killed_writer_left_is_swept_when_the_folder_is_held_again(tmp_path: Path) -> None:
    (tmp_path / ".manifest.json.4711.tmp").write_bytes(b"half")
    (tmp_path / "notes.tmp").write_bytes(b"the user's")
    with locked(tmp_path):
        assert sorted(file.name for file in tmp_path.iterdir()) == [".lock", "notes.tmp"]


def test_an_array_of_a_run_lives_in_its_folder_and_must_have_its_size(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    kept = folder.array("mean", (2, 3), np.float32, fresh=True)
    kept[1, 2] = 5.0
    del kept
    assert folder.array("mean", (2, 3), np.float32, fresh=False)[1].tolist() == [0.0, 0.0, 5.0]
    assert folder.array("none", (2, 0), np.float32, fresh=True).shape == (2, 0)
    with pytest.raises(RunFolderError, match="another size"):
        folder.array("mean", (2, 4), np.float32, fresh=False)
