"""A manifest is looked at before anything is taken from it."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from oddhop.cli import app
from oddhop.errors import RunFolderError
from oddhop.graph.disk import file_entry
from oddhop.runs.folder import read_manifest, read_results, write_manifest, write_results
from oddhop.tables import results

GOOD = {
    "command": "detect",
    "oddhop": "0.1.0",
    "data": {"nodes": 3, "edges": 2},
    "files": {"results.csv": "0" * 64},
    "settings": {},
    "tables": {"edges": "edges.csv", "nodes": None},
}


def test_a_manifest_is_read_and_none_is_none(tmp_path: Path) -> None:
    assert read_manifest(tmp_path) is None
    (tmp_path / "manifest.json").write_text(json.dumps(GOOD))
    assert read_manifest(tmp_path) == GOOD


@pytest.mark.parametrize(
    "change",
    [
        {"command": 3},
        {"oddhop": None},
        {"data": {"nodes": "3", "edges": 2}},
        {"data": []},
        {"files": {"../../secret": "0" * 64}},
        {"files": {"..": "0" * 64}},
        {"files": {"results.parquet/../../secret": "0" * 64}},
        {"files": {"results.csv": 7}},
        {"files": {"é" * 200: "0" * 64}},  # longer than a name may be
        {"files": [1]},
        {"settings": 1},
        {"tables": {"edges": 3}},
        {"tables": None},
    ],
)
def test_a_manifest_that_makes_no_sense_is_refused(tmp_path: Path, change: dict) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps({**GOOD, **change}))
    with pytest.raises(RunFolderError, match="is not a manifest of oddhop"):
        read_manifest(tmp_path)


@pytest.mark.parametrize("text", ["[" * 100_000, "3", "[]", "{}", "{"])
def test_a_manifest_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(RunFolderError, match="is not a manifest of oddhop"):
        read_manifest(tmp_path)


def test_results_that_were_changed_are_not_reported_on(folder: Path) -> None:
    run = CliRunner().invoke(
        app, ["detect", "edges.csv", "--nodes", "nodes.csv", "--out", "run", "--no-report", "--seed", "1"]
    )
    assert run.exit_code == 0, run.output
    file = folder / "run" / "results.parquet"
    assert read_manifest(folder / "run")["files"]["results.parquet"] == file_entry(file).sha256
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    told = CliRunner().invoke(app, ["report", "run"])
    assert told.exit_code == 5
    assert "was changed after the run" in told.output
    (folder / "run" / "manifest.json").write_text(json.dumps({**GOOD, "tables": {}}))
    assert CliRunner().invoke(app, ["report", "run"]).exit_code == 5


def test_results_in_shards_are_sealed_and_read_like_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "SHARD_ROWS", 2)
    table = pa.table({"id": [4, 2, 9], "judged": [True] * 3, "flagged": [True, False, False]})
    assert write_results(tmp_path, table, in_shards=True)["flagged"] == 1
    write_manifest(tmp_path, "detect", {name: GOOD[name] for name in ("data", "settings", "tables")})
    manifest = read_manifest(tmp_path)
    assert list(manifest["files"]) == [f"results.parquet/part-0000{k}.parquet" for k in (0, 1)]
    assert read_results(tmp_path, manifest).equals(table)
    assert CliRunner().invoke(app, ["verify", str(tmp_path)]).exit_code == 0
    (tmp_path / "results.parquet" / "part-00001.parquet").unlink()
    with pytest.raises(RunFolderError, match="is missing"):
        read_results(tmp_path, manifest)
    with pytest.raises(RunFolderError, match="names no results"):
        read_results(tmp_path, {"files": {}})


def test_a_run_killed_at_its_last_step_is_swept_when_it_is_asked_for_again(folder: Path) -> None:
    line = ["detect", "edges.csv", "--nodes", "nodes.csv", "--out", "run", "--no-report", "--seed", "1", "--resume"]
    assert CliRunner().invoke(app, line).exit_code == 0
    (folder / "run" / "checkpoints").mkdir()
    again = CliRunner().invoke(app, line)
    assert again.exit_code == 0
    assert "nothing to do" in again.output
    assert not (folder / "run" / "checkpoints").exists()
