"""What a user may name as a table: a file, a pattern, a folder, standard input, a frame, a query."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from oddhop.errors import TableError
from oddhop.tables.read.addresses import answer, is_database
from oddhop.tables.read.excel import is_excel, sheet
from oddhop.tables.read.files import Form, named_files
from oddhop.tables.read.frames import Frame
from oddhop.tables.read.stdin import is_stdin, standard_input
from oddhop.tables.settings import PLAIN, ReadSettings


@dataclass(frozen=True)
class Query:
    """A query to a PostgreSQL database, which needs ``pip install oddhop[sql]``, or to an SQLite or DuckDB file.

    Attributes
    ----------
    uri : the address, ``postgresql://user@host/database``, ``sqlite:///shop.db`` or ``duckdb:///shop.duckdb``; an
        absolute path has four slashes. It is not shown, for it may hold a password.
    sql : the query; its answer is the table.

    Examples
    --------
    >>> from oddhop.tables.read import Query
    >>> Query("postgresql://reader:secret@db.example/shop", "select payer, payee from payments")
    Query(sql='select payer, payee from payments')
    """

    uri: str = field(repr=False)
    sql: str


@contextmanager
def opened(named: Any, what: str, settings: ReadSettings = PLAIN) -> Iterator[Form]:
    """Find out what was named; ``what`` is what an error calls it, such as "the edge table".

    What is not on this machine is copied to a temporary folder meanwhile.
    """
    if isinstance(named, Query):
        with answer(named.uri, named.sql, what) as frame:
            yield frame
    elif isinstance(named, str | os.PathLike):
        name = os.fsdecode(named)
        if is_database(name):
            raise TableError(
                f"{what} is an address without a query",
                "say oddhop.tables.read.Query(address, 'select ...')",
                command="say --database ADDRESS, and a query such as 'select * from accounts' for the table",
            )
        if is_excel(name):
            yield sheet(name, what)
            return
        source = standard_input(what, settings) if is_stdin(name) else named_files(name, what, settings)
        with source as form:
            yield form
    else:
        kind = type(named)
        frame_or_none = Frame.of(named, f"{what}, a {kind.__module__.split('.')[0]} {kind.__name__},")
        if frame_or_none is None:
            raise TableError(
                f"{what} must be a path, a pattern, a folder, a Query, or a frame that gives Arrow "
                f"(pandas, Polars, pyarrow), got {kind.__module__}.{kind.__name__}"
            )
        yield frame_or_none
