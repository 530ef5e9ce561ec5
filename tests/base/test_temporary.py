"""Temporary folders: private, gone afterwards, and gone at the next start where their process was killed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from oddhop.base.temporary import sweep_temporary, temporary_folder

HOLD = """
import sys
from oddhop.base.temporary import temporary_folder
with temporary_folder(sys.argv[1]) as folder:
    (folder / "input").write_text("secret")
    print("held", flush=True)
    sys.stdin.read()
"""


def test_it_is_for_its_owner_alone_and_is_taken_away(tmp_path: Path) -> None:
    with temporary_folder(tmp_path) as folder:
        (folder / "input").write_text("secret")
        assert folder.stat().st_mode & 0o777 == 0o700
        sweep_temporary(tmp_path)
        assert (folder / "input").exists()
    assert not list(tmp_path.iterdir())
    with pytest.raises(ZeroDivisionError), temporary_folder(tmp_path):
        _ = 1 / 0
    assert not list(tmp_path.iterdir())


def test_that_of_a_killed_process_goes_at_the_next_start_and_that_of_a_living_one_stays(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    first, second = (subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2))
    for one in (first, second):
        assert one.stdout is not None
        assert one.stdout.readline() == b"held\n"
    first.kill()
    first.communicate()
    foreign = tmp_path / "oddhop-of-another"
    foreign.mkdir()
    (foreign / "file").touch()
    (tmp_path / "oddhop-link").symlink_to(os.path.realpath(tmp_path))
    assert len(list(tmp_path.glob("*/input"))) == 2
    with temporary_folder(tmp_path):
        assert len([file for file in tmp_path.glob("*/input") if file.parent.name != "oddhop-link"]) == 1
    second.communicate()
    assert {file.name for file in tmp_path.iterdir()} == {"oddhop-of-another", "oddhop-link"}
