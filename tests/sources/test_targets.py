"""Results go back to the kinds of places that tables come from; what cannot be done is refused before a run."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from oddhop.cli import app
from oddhop.errors import TableError
from oddhop.runs.targets import target_named
from oddhop.tables.read import read_tables
from oddhop.tables.read.addresses import put_table
from tests.cli.conftest import DETECT
from tests.sources.conftest import SECRET

WORDS = [*DETECT, "--no-report"]
both = pytest.mark.parametrize("kind", ["sqlite", "duckdb"])


def run(*words: str) -> str:
    done = CliRunner().invoke(app, [*WORDS, *words])
    assert done.exit_code == 0, done.output
    return done.stdout


def refused(*words: str) -> str:
    """Refuse before anything is read: not even the tables have to be there."""
    done = CliRunner().invoke(app, ["detect", "none.csv", "--nodes", "none.csv", "--out", "refused", *words])
    assert done.exit_code in (2, 3), done.output
    assert "none.csv" not in done.stderr, done.stderr
    assert SECRET not in done.output
    return done.stderr


def rows(kind: str, table: str = "scores") -> list[dict]:
    connection = sqlite3.connect("out.db") if kind == "sqlite" else duckdb.connect("out.db")
    cursor = connection.execute(f"SELECT * FROM {table} ORDER BY rank")  # noqa: S608
    found = [dict(zip([one[0] for one in cursor.description], row, strict=True)) for row in cursor.fetchall()]
    connection.close()
    return found


def alike(found: list[dict], table: pa.Table) -> bool:
    wanted = table.to_pylist()
    for row in (*found, *wanted):  # SQLite has no NaN
        row.update({name: None for name, value in row.items() if value != value})
    return found == wanted


@both
def test_results_become_a_table_of_a_file(folder, kind):
    words = ["--database", f"{kind}:///out.db", "--write-to", "scores"]
    run("--out", "one", *words)
    result = pq.read_table("one/results.parquet")
    assert alike(rows(kind), result)
    assert "--write-mode replace or append" in refused(*words)
    run("--out", "two", *words, "--write-mode", "replace")
    assert alike(rows(kind), result)
    run("--out", "three", *words, "--write-mode", "append")
    assert len(rows(kind)) == 2 * result.num_rows
    run("--out", "one", *words, "--resume")  # it is complete, and nothing is written
    assert len(rows(kind)) == 2 * result.num_rows


@both
def test_tables_are_read_from_the_file_that_takes_the_results(folder, kind, tables, detect, from_csv):
    for name, table in tables.items():
        put_table(table, f"{kind}:///out.db", name)
    queries = ["select * from edges", "select * from nodes"]
    found = detect(*queries, "--database", f"{kind}:///out.db", "--write-to", "scores")
    assert found == from_csv
    assert alike(rows(kind), pq.read_table("other/results.parquet"))


@both
def test_all_of_a_table_is_written_or_nothing(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    put_table(pa.table({"rank": [1]}), f"{kind}:///out.db", "scores")
    broken = pa.table({"rank": [*range(40_000), None], "x": pa.array([*range(40_000), 2**63], pa.uint64())})
    with pytest.raises(TableError, match="'scores' cannot be written"):
        put_table(broken, f"{kind}:///out.db", "scores", mode="append")
    if kind == "sqlite":
        with pytest.raises(TableError, match="'scores' cannot be written"):
            put_table(broken, f"{kind}:///out.db", "scores", mode="replace")
    assert rows(kind) == [{"rank": 1}]


@both
def test_any_type_of_id_is_written(tmp_path, monkeypatch, kind):
    import datetime
    import uuid
    from decimal import Decimal

    monkeypatch.chdir(tmp_path)
    values = {
        "uuid": pa.array([uuid.UUID(int=7).bytes], pa.uuid()) if hasattr(pa, "uuid") else pa.array(["7"]),
        "day": pa.array([datetime.date(2026, 5, 1)]),
        "dec": pa.array([Decimal("1.50")]),
        "bytes": pa.array([b"\x00\xff"]),
        'say "hi"; --': pa.array(["'; DROP TABLE scores"]),
        "yes": pa.array([True]),
        "none": pa.array([None], pa.float64()),
        "nan": pa.array([np.nan]),
        "rank": pa.array([2**62], pa.uint64()),
    }
    put_table(pa.table(values), f"{kind}:///out.db", 'it\'s "odd"')
    found = rows(kind, '"it\'s ""odd"""')[0]
    assert (str(found["uuid"]), str(found["day"])) == (str(uuid.UUID(int=7)), "2026-05-01")
    assert (str(found["dec"]), found["bytes"], found["yes"]) == ("1.50", b"\x00\xff", True)
    assert (found['say "hi"; --'], found["none"], found["rank"]) == ("'; DROP TABLE scores", None, 2**62)


def test_a_schema_of_duckdb_may_be_named(folder):
    with duckdb.connect("out.db") as connection:
        connection.execute("CREATE SCHEMA fraud")
    run("--out", "one", "--database", "duckdb:///out.db", "--write-to", "fraud.scores")
    assert len(rows("duckdb", "fraud.scores")) == 80
    assert "nowhere" in refused("--database", "duckdb:///out.db", "--write-to", "nowhere.scores")


def test_results_become_an_object(folder, bucket, moto):
    import boto3

    client = boto3.client("s3", endpoint_url=moto, region_name="us-east-1")
    for suffix in ("csv", "parquet"):
        address = f"s3://shop/out/it's scores.{suffix}"
        run("--out", suffix, "--write-to", address)
        sent = client.get_object(Bucket="shop", Key=f"out/it's scores.{suffix}")["Body"].read()
        assert sent == Path(suffix, f"results.{suffix}").read_bytes()
        assert "already exists" in refused("--write-to", address)
        run("--out", f"{suffix} again", "--write-to", address, "--write-mode", "replace")
    found = read_tables("edges.csv", "s3://shop/out/it's scores.parquet")
    assert found.counts.node_rows == 80


def test_what_a_store_does_not_take_is_refused_before_the_run(folder, bucket, monkeypatch):
    assert "--write-mode append" in refused("--write-to", "s3://shop/x.csv", "--write-mode", "append")
    assert ".csv or .parquet" in refused("--write-to", "s3://shop/x.xlsx")
    assert ".csv or .parquet" in refused("--write-to", "s3://shop/folder/")
    assert "'nobucket', which does not exist" in refused("--write-to", "s3://nobucket/x.csv")
    assert "s3://bucket/key" in refused("--write-to", f"s3://AKIA:{SECRET}@shop/x.csv")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    assert "NETWORK_CONNECTION" in refused("--write-to", "s3://shop/x.csv")


def test_other_places_are_refused_before_the_run(folder):
    for address in ("http://example.org/x.csv", "gs://shop/x.csv", "sqlite:///out.db", "postgresql://ann:s3cret@db/x"):
        told = refused("--write-to", address)
        assert f"not written to {address.partition('://')[0]}://" in told
        assert "s3cret" not in told
    assert "no database" in refused("--write-to", "scores")
    assert "sqlite:///shop.db" in refused("--write-to", "scores", "--database", "mysql://db/x")
    assert "leave --write-mode out" in refused("--write-to", "-", "--write-mode", "append")


@both
def test_a_file_that_cannot_take_the_table_is_refused_before_the_run(folder, kind):
    def told(path: str, name: str = "scores", *words: str) -> str:
        return refused("--database", f"{kind}:///{path}", "--write-to", name, *words)

    Path("text.db").write_text("no database " * 500)
    Path("folder.db").mkdir()
    assert "not a database" in told("text.db") if kind == "sqlite" else "not a valid DuckDB" in told("text.db")
    assert "cannot be written" in told("folder.db")
    assert "cannot be written" in told("none/out.db")
    assert "one that exists" in told("none.db", "scores", "--write-mode", "append")
    put_table(pa.table({"x": [1]}), f"{kind}:///out.db", "other")
    before = Path("out.db").read_bytes()
    assert "cannot be written" in told("out.db", "scores", "--write-mode", "append")
    if kind == "sqlite":
        assert "leave the dot out" in told("out.db", "fraud.scores")
        assert "reserved" in told("out.db", "sqlite_scores")
    assert Path("out.db").read_bytes() == before
    assert not Path("none.db").exists()


def test_standard_output_has_the_csv_alone(folder):
    oddhop = str(Path(sys.executable).parent / "oddhop")
    done = subprocess.run([oddhop, *WORDS, "--out", "run", "--write-to", "-"], capture_output=True, check=True)
    assert done.stdout == Path("run/results.csv").read_bytes()
    assert pa_csv.read_csv(pa.BufferReader(done.stdout)).num_rows == 80
    assert b"run/results.parquet" in done.stderr


def test_a_reader_that_leaves_early_does_not_spoil_the_run(folder):
    oddhop = str(Path(sys.executable).parent / "oddhop")
    # A pipe that nobody reads, and more rows than its buffer takes.
    command = [oddhop, *WORDS, "--out", "run", "--write-to", "-"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as started:
        started.stdout.close()
        told = started.stderr.read()
    assert (started.returncode, b"Traceback" in told, b"Exception" in told) == (0, False, False)
    assert json.loads(Path("run/manifest.json").read_bytes())["results"]["rows"] == 80


def test_a_reader_of_an_explanation_may_leave_early(folder):
    oddhop = str(Path(sys.executable).parent / "oddhop")
    subprocess.run([oddhop, *WORDS, "--out", "run"], check=True, capture_output=True)
    first = str(pq.read_table("run/results.parquet")["id"][0])
    with subprocess.Popen([oddhop, "explain", "run", first], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as started:
        started.stdout.close()
        told = started.stderr.read()
    assert (started.returncode, b"Broken" in told, b"Exception" in told) == (0, False, False), told


def test_an_address_is_not_shown_with_its_password():
    assert "s3cret" not in repr(target_named("scores", "create", "postgresql://ann:s3cret@db/shop"))
