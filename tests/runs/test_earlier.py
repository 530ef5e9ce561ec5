"""Runs that replace others, and runs that are compared with the last one."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from oddhop.errors import RunFolderError
from oddhop.runs import Run, detect

SETTINGS = {"odd": {"simulate": False, "n_resamples": 2}}


@pytest.fixture
def tables() -> tuple[pa.Table, pa.Table]:
    rng = np.random.default_rng(0)
    edges = pa.table({"from": rng.integers(0, 60, 200), "to": rng.integers(0, 60, 200)})
    return edges, pa.table({"id": np.arange(60), "age": rng.integers(18, 80, 60)})


def ranked(tables: tuple[pa.Table, pa.Table], out: Path, **more: object) -> Run:
    return detect(*tables, out=out, seed=0, settings=SETTINGS, explain=0, **more)  # type: ignore[arg-type]


def test_a_run_is_replaced_only_where_that_is_asked_for(tables: tuple[pa.Table, pa.Table], tmp_path: Path) -> None:
    ranked(tables, tmp_path / "run")
    with pytest.raises(RunFolderError, match="overwrite=True"):
        ranked(tables, tmp_path / "run")
    assert ranked(tables, tmp_path / "run", top=2, overwrite=True).figures["flagged"] == 2


def test_a_run_that_did_not_end_is_replaced(
    tables: tuple[pa.Table, pa.Table], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("oddhop.odd.detector.Odd.save", None)
        with pytest.raises(TypeError):
            ranked(tables, tmp_path / "run")
    with pytest.raises(RunFolderError, match="did not end"):
        ranked(tables, tmp_path / "run")
    assert ranked(tables, tmp_path / "run", overwrite=True).made_now


@pytest.mark.parametrize("complete", [True, False])
def test_what_is_not_of_the_run_is_never_removed(
    complete: bool, tables: tuple[pa.Table, pa.Table], tmp_path: Path
) -> None:
    (tmp_path / "run").mkdir()
    if complete:
        ranked(tables, tmp_path / "run")
    (tmp_path / "run" / "audits.json").write_text("mine")
    before = sorted(file.name for file in (tmp_path / "run").iterdir() if file.name != ".lock")
    with pytest.raises(RunFolderError, match="not overwritten"):
        ranked(tables, tmp_path / "run", overwrite=True)
    assert sorted(file.name for file in (tmp_path / "run").iterdir() if file.name != ".lock") == before


def test_the_last_night_is_the_latest_complete_run(tables: tuple[pa.Table, pa.Table], tmp_path: Path) -> None:
    assert ranked(tables, tmp_path / "runs" / "1", since="last").changes is None  # the first night
    ranked(tables, tmp_path / "runs" / "2")
    (tmp_path / "runs" / "3" / "checkpoints").mkdir(parents=True)  # a night that was killed
    (tmp_path / "runs" / "1" / "manifest.json").touch()  # as after its report was written again
    changes = ranked(tables, tmp_path / "runs" / "4", since="last").changes
    assert changes is not None
    assert '"since": "2"' in (tmp_path / "runs" / "4" / "manifest.json").read_text()


def test_runs_are_logged_under_the_name_of_the_package(
    tables: tuple[pa.Table, pa.Table], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        ranked(tables, tmp_path / "run")
    assert any(one.name == "oddhop" and one.levelno == logging.INFO for one in caplog.records)
    assert not [one for one in caplog.records if one.name.startswith(("numba", "llvmlite"))]
