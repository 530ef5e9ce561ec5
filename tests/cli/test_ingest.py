"""A folder made by ingest in place of tables."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
from typer.testing import CliRunner

from oddhop.cli import app
from tests.cli.conftest import DETECT, FAST, FEW, digests, refused, run

INGEST = ["ingest", "edges.csv", "--nodes", "nodes.csv", "--out", "graph"]


def test_a_network_on_disk_gives_the_results_of_its_tables(folder: Path) -> None:
    told = CliRunner().invoke(app, INGEST)
    assert told.exit_code == 0, told.output
    assert "80 nodes" in told.stderr
    assert "column 'town'" in told.stderr
    run("detect", "graph", "--out", "by-disk", "--top", "5", "--seed", "0", *FEW)
    run(*DETECT, "--out", "by-tables", "--top", "5")
    one, other = digests(folder / "by-disk"), digests(folder / "by-tables")
    assert one.pop("manifest.json") != other.pop("manifest.json")  # the names of the tables
    assert one == other
    assert "p7: " in run("explain", "by-disk", "p7")
    run("score", "by-disk/model.oddhop", "graph", "--out", "again")
    assert digests(folder / "again")["results.parquet"]
    assert "Estimated memory of a run" in run("plan", "graph")


def test_verify_looks_at_every_byte(folder: Path) -> None:
    run(*INGEST)
    assert "80 nodes" in run("verify", "graph")
    content = bytearray((folder / "graph/indices.npy").read_bytes())
    content[200] ^= 1
    (folder / "graph/indices.npy").write_bytes(content)
    assert "indices.npy was changed" in refused(3, "verify", "graph")[0]


def test_other_tables_are_encoded_like_a_model(folder: Path, tables: dict[str, pa.Table]) -> None:
    run("fit", "edges.csv", "--nodes", "nodes.csv", "--model", "model.oddhop", "--seed", "0", *FAST)
    older = tables["nodes"].set_column(1, "age", pa.array(range(40, 120)))
    pa.csv.write_csv(older, folder / "older.csv")
    run("ingest", "edges.csv", "--nodes", "older.csv", "--out", "own")
    lines = refused(3, "score", "model.oddhop", "own", "--out", "scores")
    assert "have different encodings" in lines[0]
    assert "--like MODEL" in lines[1]
    run("ingest", "edges.csv", "--nodes", "older.csv", "--out", "like", "--like", "model.oddhop")
    run("score", "model.oddhop", "like", "--out", "scores")
    run("score", "model.oddhop", "edges.csv", "--nodes", "older.csv", "--out", "by-tables")
    assert digests(folder / "scores")["results.parquet"] == digests(folder / "by-tables")["results.parquet"]
    run("ingest", "edges.csv", "--nodes", "nodes.csv", "--out", "third", "--like", "like")
    settings = [json.loads((folder / name / "manifest.json").read_bytes())["settings"] for name in ("like", "third")]
    assert settings[0] == settings[1]
    assert settings[0]["read"]["source"] is not None
    kinds = ["--set", "encode.kinds.age=ignore"]
    lines = refused(2, "ingest", "edges.csv", "--nodes", "nodes.csv", "--out", "fourth", "--like", "like", *kinds)
    assert "--like takes the encoding of another network" in lines[0]


def test_what_contradicts_a_network_on_disk_is_refused(folder: Path) -> None:
    run(*INGEST)
    assert "was made by oddhop ingest" in refused(2, "detect", "graph", "--nodes", "nodes.csv", "--out", "run")[0]
    assert "leave out --nodes" in refused(2, "detect", "graph", "--id", "name", "--out", "run")[1]
    assert "no node table" in refused(3, "ingest", "edges.csv", "--out", "other")[0]
    assert "already has a network" in refused(5, *INGEST, "--strict")[0]
    (folder / "graph/manifest.json").unlink()
    (folder / "graph/unfinished").mkdir()
    (folder / "graph/unfinished/manifest.json").write_text("{}")
    assert "did not end" in refused(3, "detect", "graph", "--out", "run")[0]
