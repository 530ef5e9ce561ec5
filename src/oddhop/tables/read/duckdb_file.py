"""DuckDB files: the answer to a query, and a table put back, by a DuckDB that may touch that file and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa

from oddhop.errors import TableError
from oddhop.tables.read.database import database, identifier, reading
from oddhop.tables.read.frames import Frame
from oddhop.tables.read.sql import WriteMode

SENT = "oddhop results"
HUGE = ("HUGEINT", "UHUGEINT")


@contextmanager
def answer(file: Path, sql: str, label: str) -> Iterator[Frame]:
    """Send a query to a file that is opened for reading alone, and hand out its answer batch by batch.

    The connection is its own: a view of the file must not reach the other tables that were named.
    """
    with ExitStack() as stack:
        with reading(label):
            connection = stack.enter_context(database([], attached=file))
            found = connection.sql(sql)
            if found is None:
                raise TableError(f"{label} gives no table", "say a query such as 'select * from accounts'")
            stream = pa.RecordBatchReader.from_stream(found.project(_readable(found)))
        yield Frame(label, stream)


def put_table(table: pa.Table, file: Path, name: str, mode: WriteMode, label: str) -> None:
    """Write a table in one transaction."""
    with _writing(file, name, mode, label) as (connection, quoted):
        connection.register(SENT, table)
        if mode == "append":
            connection.execute(f"INSERT INTO {quoted} BY NAME FROM temp.{identifier(SENT)}")
        else:
            connection.execute(f"CREATE TABLE {quoted} AS FROM temp.{identifier(SENT)}")
        connection.unregister(SENT)


def check_put(file: Path, name: str, mode: WriteMode, label: str) -> None:
    """Refuse a table that could not be made: it is made, and the transaction taken back."""
    if file.exists():
        with _writing(file, name, mode, label, keep=False) as (connection, quoted):
            connection.execute(f"FROM {quoted} LIMIT 0" if mode == "append" else f"CREATE TABLE {quoted} (x INTEGER)")


@contextmanager
def _writing(
    file: Path, name: str, mode: WriteMode, label: str, *, keep: bool = True
) -> Iterator[tuple[duckdb.DuckDBPyConnection, str]]:
    schema, _, bare = name.rpartition(".")
    quoted = ".".join(map(identifier, filter(None, (schema, bare))))
    with reading(label, "written"), database([], file=file) as connection:
        connection.execute("BEGIN")
        if mode == "replace":
            connection.execute(f"DROP TABLE IF EXISTS {quoted}")
        yield connection, quoted
        connection.execute("COMMIT" if keep else "ROLLBACK")


def _readable(found: duckdb.DuckDBPyRelation) -> str:
    """Write a projection to types that Arrow has; a sum of whole numbers has 128 bits, which Arrow has not."""
    columns = enumerate(zip(found.columns, found.types, strict=True), start=1)
    return ", ".join(
        f"CAST(#{k} AS BIGINT) AS {identifier(name)}" if str(kind) in HUGE else f"#{k}" for k, (name, kind) in columns
    )
