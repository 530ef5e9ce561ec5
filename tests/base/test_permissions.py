"""What is written is for its owner alone, whatever the umask, and for the group where that was said."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from oddhop.base.checkpoints import locked
from oddhop.base.files import write_atomically
from oddhop.base.permissions import share_with_group
from oddhop.casebook import open_book
from oddhop.tables.read.addresses import put_table


@pytest.fixture(params=[0o000, 0o022, 0o027])
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)
    share_with_group(False)


def made(folder: Path) -> dict[str, int]:
    with locked(folder / "run") as run:
        write_atomically(run / "results.csv", b"id")
    open_book(folder / "cases.db").close()
    for kind in ("sqlite", "duckdb"):
        put_table(pa.table({"id": ["a"]}), f"{kind}:///{folder}/{kind}", "scores", mode="replace")
    names = ("run", "run/results.csv", "cases.db", "sqlite", "duckdb")
    return {name: (folder / name).stat().st_mode & 0o777 for name in names}


@pytest.mark.usefixtures("umask")
def test_what_is_new_is_for_its_owner_alone_or_for_the_group(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
        folder.chmod(0o755)
    assert made(one) == {"run": 0o700} | dict.fromkeys(("run/results.csv", "cases.db", "sqlite", "duckdb"), 0o600)
    share_with_group(True)
    assert made(other) == {"run": 0o770} | dict.fromkeys(("run/results.csv", "cases.db", "sqlite", "duckdb"), 0o660)
    assert made(one)["run"] == 0o700  # what exists stays as it is


def test_what_is_replaced_keeps_its_permissions(tmp_path: Path) -> None:
    model = tmp_path / "model.oddhop"
    write_atomically(model, b"old")
    model.chmod(0o644)
    write_atomically(model, b"new")
    assert (model.read_bytes(), model.stat().st_mode & 0o777) == (b"new", 0o644)
