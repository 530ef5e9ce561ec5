"""Tables in an S3-compatible store give the results of local files; what goes wrong is told without a secret."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from oddhop.cli import app
from oddhop.errors import TableError
from oddhop.tables.ingest import ingest
from oddhop.tables.read import read_tables
from oddhop.tables.settings import ReadSettings
from tests.sources.conftest import SECRET, TOKEN

NODES = pa.table({"id": [1, 2, 3], "age": [31, 52, 47]})
HEAD, ROWS = "source,target\n", ["1,2\n", "2,3\n", "3,1\n"]


def pairs(table: str) -> list[list[int]]:
    return read_tables(table, NODES, ReadSettings(flows=False)).edge_index.tolist()


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_objects_give_the_bytes_of_local_files(bucket, folder, detect, from_csv, suffix):
    for name in ("edges", "nodes"):
        bucket(f"in/{name}.{suffix}", Path(f"{name}.{suffix}").read_bytes())
    assert detect(f"s3://shop/in/edges.{suffix}", f"s3://shop/in/nodes.{suffix}") == from_csv


def test_a_folder_and_a_pattern_are_one_table(bucket):
    for number, row in enumerate(ROWS):
        bucket(f"parts/day-{number}.csv", (HEAD + row).encode())
    bucket("parts/_SUCCESS", b"")
    bucket("parts/deeper/day-9.csv", b"not,read\n")
    bucket("other/day-1.csv.gz", gzip.compress((HEAD + ROWS[0]).encode()))
    whole = [[0, 1, 2], [1, 2, 0]]
    assert pairs("s3://shop/parts/") == pairs("s3://shop/parts") == whole
    assert pairs("s3://shop/p*s/day-?.csv") == whole
    assert pairs("s3://shop/parts/day-[01].csv") == [[0, 1], [1, 2]]
    assert pairs("s3://shop/other/*") == [[0], [1]]


@pytest.mark.parametrize("key", ["it's", 'a "b"', "all*", "what?", "[ab]", "a b%20c", "ü ; --", "n" * 300])
def test_a_key_is_that_object_and_no_pattern(bucket, key):
    bucket(f"{key}.csv", (HEAD + "".join(ROWS)).encode())
    bucket("allx.csv", (HEAD + ROWS[0]).encode())
    assert pairs(f"s3://shop/{key}.csv") == [[0, 1, 2], [1, 2, 0]]


def test_copies_are_taken_away(bucket, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    bucket("edges.csv", (HEAD + ROWS[0]).encode())
    pairs("s3://shop/edges.csv")
    bucket("edges.csv", b"source,target\n1,2,3\n")
    with pytest.raises(TableError, match="the line has 3"):
        pairs("s3://shop/edges.csv")
    assert not list(tmp_path.iterdir())


def test_what_is_not_there_is_told(bucket):
    bucket("in/notes.md", b"no table")
    for name, says in [
        ("s3://shop/none.csv", "does not exist; check the bucket, the key and AWS_ENDPOINT_URL"),
        ("s3://nobucket/edges.csv", "does not exist"),
        ("s3://nobucket/*.csv", "NO_SUCH_BUCKET"),
        ("s3://shop/in/*.csv", "does not exist"),
        ("s3://shop/in/", "holds no table"),
        ("s3://shop/in/notes.md", "must be CSV, TSV, Parquet or NDJSON"),
        ("s3://shop/in/**/x.csv", r"\*\*"),
        ("s3://shop", "such as s3://bucket/key"),
        ("s3://shop/../x.csv", "such as s3://bucket/key"),
        ("s3://SH OP/x.csv", "such as s3://bucket/key"),
    ]:
        with pytest.raises(TableError, match=says):
            pairs(name)


def test_a_cut_object_is_refused(bucket, folder):
    whole = Path("edges.parquet").read_bytes()
    bucket("cut.parquet", whole[: len(whole) // 2])
    with pytest.raises(TableError, match=r"s3://shop/cut\.parquet"):
        pairs("s3://shop/cut.parquet")


@pytest.fixture
def strict_server(bucket):
    """The server asks for credentials that it knows, and knows none."""
    from moto import settings
    from moto.core.responses import ActionAuthenticatorMixin

    # Its own patch, for it must be taken back before the bucket is emptied.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(settings, "INITIAL_NO_AUTH_ACTION_COUNT", 0)
        patch.setattr(ActionAuthenticatorMixin, "request_count", 0)
        yield


@pytest.mark.parametrize("name", ["s3://shop/edges.csv", "s3://shop/e*.csv"])
def test_wrong_credentials_are_told_and_not_shown(folder, strict_server, name):
    done = CliRunner().invoke(app, ["detect", name, "--nodes", "nodes.csv", "--out", "run", "--debug"])
    assert done.exit_code == 3
    assert "check AWS_ACCESS_KEY_ID" in done.stderr
    assert SECRET not in done.output
    assert TOKEN not in done.output


def test_a_server_that_is_not_there_is_told_and_no_secret_shown(bucket, folder, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    done = CliRunner().invoke(app, ["detect", "s3://shop/edges.csv", "--nodes", "nodes.csv", "--out", "run"])
    assert done.exit_code == 3
    assert "NETWORK_CONNECTION" in done.stderr
    assert "AWS_ENDPOINT_URL" in done.stderr
    assert SECRET not in done.output


def test_a_secret_in_the_address_is_refused_and_not_shown(folder):
    done = CliRunner().invoke(app, ["plan", f"s3://AKIA:{SECRET}@shop/edges.csv", "--nodes", "nodes.csv"])
    assert done.exit_code == 3
    assert "s3://bucket/key" in done.stderr
    assert SECRET not in done.output


def test_ingest_refuses_a_store_by_name(folder):
    with pytest.raises(TableError, match=r"files of this machine.*s3://shop/e\.csv"):
        ingest("s3://shop/e.csv", "nodes.csv", "graph")
