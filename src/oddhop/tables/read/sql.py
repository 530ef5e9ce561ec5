"""SQL: the answer to a query, and a table put back, over ADBC."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import pyarrow as pa

from oddhop.base.address import Server, without_secrets
from oddhop.errors import TableError
from oddhop.tables.read.frames import Frame

WriteMode = Literal["create", "replace", "append"]


@contextmanager
def answer(address: Server, sql: str, label: str) -> Iterator[Frame]:
    """Send the query and hand out its answer as a stream, batch by batch."""
    with _connected(address, label, "read") as connection, connection.cursor() as cursor:
        # Nothing is committed: what the query changes, if anything, is undone when the connection closes.
        cursor.execute(sql)
        yield Frame(label, cursor.fetch_record_batch())


def put_table(table: pa.Table, address: Server, name: str, *, mode: WriteMode = "create") -> None:
    """Write a table to a PostgreSQL database in one transaction: all of it, or nothing.

    ``mode`` says what becomes of a table of that name: "create" refuses it, "replace" drops it,
    "append" adds to it. The name may have a schema before it, as in ``fraud.scores``.
    """
    schema, _, bare = name.rpartition(".")
    label = f"the results table {name!r}"
    with _connected(address, label, "written") as connection, connection.cursor() as cursor:
        cursor.adbc_ingest(bare, table, mode=mode, db_schema_name=schema or None)
        connection.commit()


def driver(label: str) -> tuple[Any, Any]:
    """Return ADBC's manager and its driver for PostgreSQL."""
    try:
        import adbc_driver_manager
        from adbc_driver_postgresql import dbapi
    except ImportError:
        raise TableError(
            f"{label} needs the PostgreSQL driver, which is not installed", "pip install oddhop[sql]"
        ) from None
    return adbc_driver_manager, dbapi


@contextmanager
def _connected(address: Server, label: str, done: str) -> Iterator[Any]:
    adbc_driver_manager, dbapi = driver(label)
    try:
        with dbapi.connect(address.escaped) as connection:
            yield connection
    except adbc_driver_manager.Error as error:
        raise TableError(f"{label} cannot be {done}: {without_secrets(str(error), address.escaped)}") from None
