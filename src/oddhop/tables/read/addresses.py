"""Which database an address names: PostgreSQL, an SQLite file or a DuckDB file."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from pathlib import Path

import pyarrow as pa

from oddhop.base.address import Server, scheme_of, server_of, shown
from oddhop.base.permissions import for_owner
from oddhop.errors import TableError
from oddhop.tables.read import duckdb_file, sql, sqlite
from oddhop.tables.read.frames import Frame
from oddhop.tables.read.sql import WriteMode

WANTED = "postgresql://user@host/database, sqlite:///shop.db or duckdb:///shop.duckdb"
RESULTS = "the results table"
KINDS = {"postgresql": "PostgreSQL", "postgres": "PostgreSQL", "sqlite": "SQLite", "duckdb": "DuckDB"}


def is_database(name: str) -> bool:
    """Return whether a text is the address of a database."""
    return scheme_of(name) in KINDS


def answer(uri: str, query: str, what: str) -> AbstractContextManager[Frame]:
    """Send a query and hand out its answer as a stream, batch by batch."""
    kind = database_kind(uri, what)
    if kind == "PostgreSQL":
        address = server(uri, what)
        return sql.answer(address, query, f"{what}, a query on {address.hosts or 'this machine'},")
    file = existing_file(uri, what)
    label = f"{what}, a query on {str(file)!r},"
    return sqlite.answer(file, query, label) if kind == "SQLite" else duckdb_file.answer(file, query, label)


def put_table(table: pa.Table, uri: str, name: str, *, mode: WriteMode = "create") -> None:
    """Write a table to a database in one transaction: all of it, or nothing.

    ``mode`` says what becomes of a table of that name: "create" refuses it, "replace" drops it, "append" adds to it.
    The name may have a schema before it, as in ``fraud.scores``, but in SQLite. A file is made where there is none.
    """
    kind, label = database_kind(uri, RESULTS), f"{RESULTS} {name!r}"
    if kind == "PostgreSQL":
        sql.put_table(table, server(uri, label), name, mode=mode)
    else:
        put = sqlite.put_table if kind == "SQLite" else duckdb_file.put_table
        file = database_file(uri, label)
        new = not file.exists()
        put(table, file, name, mode, label)
        if new:
            for_owner(file)


def check_put(uri: str, name: str, *, mode: WriteMode) -> None:
    """Refuse a table that could not be made: a file is written to, and all of it is taken back."""
    kind, label = database_kind(uri, RESULTS), f"{RESULTS} {name!r}"
    if kind == "PostgreSQL":
        sql.driver(label)
        server(uri, label)
        return
    file = database_file(uri, label)
    if file.is_dir() or not os.access(file.absolute().parent, os.W_OK) or (mode == "append" and not file.exists()):
        raise TableError(
            f"{label} cannot be written to the database {str(file)!r}",
            "name a file in a folder that you may write to; to append, one that exists",
        )
    check = sqlite.check_put if kind == "SQLite" else duckdb_file.check_put
    try:
        check(file, name, mode, label)
    except TableError as error:
        if "already exists" not in error.problem:
            raise
        raise TableError(
            error.problem,
            "name another, or say write_mode='replace' or 'append'",
            command="name another, or say --write-mode replace or append",
        ) from None


def database_kind(uri: str, what: str) -> str:
    """Return which database an address names; the address is not shown, for it may hold a password."""
    if not is_database(uri):
        raise TableError(f"{what} must have the address of a database that is read", f"say {WANTED}")
    return KINDS[scheme_of(uri) or ""]


def server(uri: str, what: str) -> Server:
    """Return the parts of the address of a server."""
    address = server_of(uri)
    if address is None:
        raise TableError(
            f"{what} has an address whose parts are not clear",
            "say postgresql://user:password@host:port/database, with %2F for / in a password, %3F for ?, %23 for # "
            "and %40 for @",
        )
    return address


def database_file(uri: str, what: str) -> Path:
    """Return the file of an address; the path begins after three slashes, and an absolute one has four."""
    scheme, _, rest = uri.partition("://")
    if not rest.startswith("/") or not rest.strip("/") or "\0" in rest:
        raise TableError(f"{what} has an address without a path", f"say {scheme}:///shop.db")
    if shown(rest) != repr(rest) and not Path(rest[1:]).exists():
        raise TableError(f"{what} has an address of {shown(rest)}", "name a file, without a user and a password")
    return Path(rest[1:])


def existing_file(uri: str, what: str) -> Path:
    """Return the file of an address, which must be there."""
    file = database_file(uri, what)
    if not file.is_file():
        raise TableError(
            f"{what} is in the database {str(file)!r}, which is no file", f"check the working folder: {Path.cwd()}"
        )
    return file
