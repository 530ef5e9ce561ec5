from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from oddhop.cli import app
from oddhop.errors import TableError
from oddhop.tables.read.addresses import put_table
from tests.cli.conftest import FAST, digests, refused, run

pytestmark = pytest.mark.skipif(
    "ODDHOP_POSTGRES" not in os.environ, reason="ODDHOP_POSTGRES names no database; .ci/postgres starts one"
)
TABLES = ("ties", "people", "scores", "half")


@pytest.fixture
def database(tables: dict[str, pa.Table]) -> Iterator[str]:
    """A real PostgreSQL with both tables, their rows shuffled."""
    from adbc_driver_postgresql import dbapi

    uri = os.environ["ODDHOP_POSTGRES"]
    rng = np.random.default_rng(1)

    def drop() -> None:
        with dbapi.connect(uri) as connection, connection.cursor() as cursor:
            for name in TABLES:
                cursor.execute(f"drop table if exists {name}")
            connection.commit()

    drop()
    for name, label in (("ties", "edges"), ("people", "nodes")):
        put_table(tables[label].take(rng.permutation(tables[label].num_rows)), uri, name)
    yield uri
    drop()


def test_shuffled_rows_give_the_bytes_of_parquet_and_go_back(folder: Path, database: str) -> None:
    run("detect", "edges.parquet", "--nodes", "nodes.parquet", "--out", "files", "--seed", "0", "--top", "5", *FAST)
    queries = ["select * from ties", "--nodes", "select * from people", "--database", database]
    run("detect", *queries, "--out", "sql", "--seed", "0", "--top", "5", *FAST, "--write-to", "scores")
    files, queried = digests(folder / "files"), digests(folder / "sql")
    assert files.pop("manifest.json") != queried.pop("manifest.json")  # it names the tables
    assert files == queried

    from adbc_driver_postgresql import dbapi

    with dbapi.connect(database) as connection, connection.cursor() as cursor:
        cursor.execute("select * from scores order by rank")
        back = cursor.fetch_arrow_table()
    assert back.cast(pq.read_schema("files/results.parquet")).equals(pq.read_table("files/results.parquet"))


def test_a_table_that_exists_is_not_touched_unless_told(folder: Path, database: str) -> None:
    detect = ["detect", "edges.csv", "--nodes", "nodes.csv", "--seed", "0", *FAST, "--database", database]
    run(*detect, "--out", "one", "--write-to", "scores")
    assert "scores" in refused(3, *detect, "--out", "two", "--write-to", "scores")[0]
    run(*detect, "--out", "two", "--write-to", "scores", "--write-mode", "append", "--resume")
    run(*detect, "--out", "three", "--write-to", "public.scores", "--write-mode", "replace")


def test_all_of_a_table_is_written_or_nothing(database: str) -> None:
    whole = pa.table({"id": ["a"] * 1000})

    def batches() -> Iterator[pa.RecordBatch]:
        yield whole.to_batches()[0]
        raise ValueError("the pipe broke")

    broken = pa.RecordBatchReader.from_batches(whole.schema, batches())
    with pytest.raises(TableError, match="half"):
        put_table(broken, database, "half")
    done = CliRunner().invoke(
        app,
        ["plan", "select * from half", "--nodes", "select * from people", "--database", database],
    )
    assert done.exit_code == 3
    assert "half" in done.stderr


def test_the_address_may_stand_in_the_environment(folder: Path, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODDHOP_DATABASE", database)
    assert "total:" in run("plan", "select * from ties", "--nodes", "select * from people")
