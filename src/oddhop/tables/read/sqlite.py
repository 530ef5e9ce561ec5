"""SQLite files, by Python's own module: the answer to a query, typed by all its values, and a table put back."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from oddhop.errors import TableError
from oddhop.tables.read.database import identifier
from oddhop.tables.read.frames import Frame
from oddhop.tables.read.sql import WriteMode
from oddhop.tables.results import as_text

ROWS_AT_ONCE = 1 << 14
PATIENCE = 30.0  # seconds to wait for another that writes
STEPS = 1 << 20  # of SQLite, some hundredths of a second
# A column of nothing is of numbers, as in a CSV.
TYPES = {"integer": pa.int64(), "real": pa.float64(), "": pa.float64(), "text": pa.string(), "blob": pa.binary()}


@contextmanager
def answer(file: Path, sql: str, label: str) -> Iterator[Frame]:
    """Send a query to a file that is opened for reading alone, and hand out its answer batch by batch."""
    query = sql.strip().rstrip(";")
    with talking(label, "read"):
        connection = connected(file, "ro")
    with closing(connection):
        with talking(label, "read"):
            connection.execute("BEGIN")  # so that types and values are found in the same rows
            described = connection.execute(query).description
            if described is None:
                raise TableError(f"{label} gives no table", "say a query such as 'select * from accounts'")
            schema = _schema(connection, query, [column[0] for column in described], label)
        yield Frame(label, pa.RecordBatchReader.from_batches(schema, _batches(connection, query, schema)))


def put_table(table: pa.Table, file: Path, name: str, mode: WriteMode, label: str) -> None:
    """Write a table in one transaction; truth values are 1 and 0, and what SQLite has no type for is text."""
    with _writing(file, name, mode, label) as connection:
        columns = ", ".join(f"{identifier(field.name)} {_declared(field.type)}" for field in table.schema)
        if mode != "append":
            connection.execute(f"CREATE TABLE {identifier(name)} ({columns})")
        names = ", ".join(identifier(field.name) for field in table.schema)
        marks = ", ".join("?" * table.num_columns)
        for start in range(0, table.num_rows, ROWS_AT_ONCE):
            rows = table.slice(start, ROWS_AT_ONCE)
            values = [_values(rows.column(k)) for k in range(rows.num_columns)]
            insert = f"INSERT INTO {identifier(name)} ({names}) VALUES ({marks})"  # noqa: S608 - quoted
            connection.executemany(insert, zip(*values, strict=True))


def check_put(file: Path, name: str, mode: WriteMode, label: str) -> None:
    """Refuse a table that could not be made: it is made, and the transaction taken back."""
    if "." in name:
        raise TableError(f"{label} has a schema before its name, which SQLite has not", "leave the dot out")
    if file.exists():
        with _writing(file, name, mode, label, keep=False) as connection:
            probe = "SELECT 1 FROM {} LIMIT 0" if mode == "append" else "CREATE TABLE {} (x)"
            connection.execute(probe.format(identifier(name)))


@contextmanager
def _writing(file: Path, name: str, mode: WriteMode, label: str, *, keep: bool = True) -> Iterator[sqlite3.Connection]:
    with talking(label, "written"), closing(connected(file, "rwc")) as connection:
        connection.execute("BEGIN IMMEDIATE")
        if mode == "replace":
            connection.execute(f"DROP TABLE IF EXISTS {identifier(name)}")
        yield connection
        # What was not committed is undone when the connection closes.
        connection.execute("COMMIT" if keep else "ROLLBACK")


def _declared(kind: pa.DataType) -> str:
    types = pa.types
    if types.is_integer(kind) or types.is_boolean(kind):
        return "INTEGER"
    if types.is_floating(kind):
        return "REAL"
    return "BLOB" if types.is_binary(kind) or types.is_large_binary(kind) else "TEXT"


def _values(column: pa.ChunkedArray) -> list[Any]:
    declared = _declared(column.type)
    if declared == "INTEGER":
        column = column.cast(pa.int64())
    elif declared == "TEXT":
        column = column.cast(pa.string()) if pa.types.is_temporal(column.type) else as_text(column)
    return list(column.to_pylist())


def connected(file: Path, mode: str) -> sqlite3.Connection:
    """Open a file; its views may run no function with side effects, and it may open no other file."""
    address = f"file:{quote(str(file.absolute()))}?mode={mode}"
    # DuckDB asks for the batches from a thread of its own.
    connection = sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
    try:
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        # Python sees an interrupt only when it has its turn, and a query may never end.
        connection.set_progress_handler(lambda: 0, STEPS)
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchall()  # only now it is read
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def talking(label: str, done: str) -> Iterator[None]:
    """Turn the errors of SQLite into ours."""
    try:
        yield
    except (sqlite3.Error, sqlite3.Warning, pa.ArrowException) as error:
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT:  # what SQLite makes of Ctrl-C
            raise KeyboardInterrupt from None
        raise TableError(f"{label} cannot be {done}: SQLite says: {error}") from None


def _schema(connection: sqlite3.Connection, query: str, names: list[str], label: str) -> pa.Schema:
    """Return the type of every column: SQLite has one a value, and a column must have one."""
    columns = [f"c{k}" for k in range(len(names))]
    kinds = ", ".join(f"group_concat(DISTINCT typeof({column}))" for column in columns)
    # A comment at its end must not reach the bracket.
    typed = f"WITH answer({', '.join(columns)}) AS ({query}\n) SELECT {kinds} FROM answer"  # noqa: S608 - the user's own
    found = connection.execute(typed).fetchone()
    fields = []
    for name, types in zip(names, found, strict=True):
        kind = set((types or "").split(",")) - {"null"} or {""}
        if kind == {"integer", "real"}:
            kind = {"real"}
        elif "blob" not in kind and "text" in kind:
            kind = {"text"}  # what the texts are is decided later, as for any source
        if len(kind) > 1:
            raise TableError(
                f"{label} gives values of several types in column {name!r}: {' and '.join(sorted(kind))}",
                "say one in the query, such as cast(x as text)",
            )
        fields.append(pa.field(name, TYPES[kind.pop()]))
    return pa.schema(fields)


def _batches(connection: sqlite3.Connection, query: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    cursor = connection.execute(query)
    while rows := cursor.fetchmany(ROWS_AT_ONCE):
        columns = zip(*rows, strict=True)
        arrays = [
            pa.array(_alike(column, field.type), field.type) for column, field in zip(columns, schema, strict=True)
        ]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _alike(column: Sequence[Any], kind: pa.DataType) -> Sequence[Any]:
    """Return numbers among texts as texts."""
    return [str(one) if isinstance(one, int | float) else one for one in column] if kind == pa.string() else column
