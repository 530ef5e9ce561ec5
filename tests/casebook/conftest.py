from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from oddhop.casebook import Book, open_book
from oddhop.casebook.stores import SCHEMA


def drop_book(uri: str) -> None:
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(uri) as connection, connection.cursor() as cursor:
        cursor.execute(f"drop schema if exists {SCHEMA} cascade")
        connection.commit()


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Where a new book can be made: a file, and a real PostgreSQL."""
    if request.param == "sqlite":
        yield str(tmp_path / "cases.db")
        return
    if "ODDHOP_POSTGRES" not in os.environ:
        pytest.skip("ODDHOP_POSTGRES names no database; .ci/postgres starts one")
    uri = os.environ["ODDHOP_POSTGRES"]
    with (Path(tempfile.gettempdir()) / "oddhop-test-book.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests of other processes use the same database
        drop_book(uri)
        yield uri
        drop_book(uri)


@pytest.fixture
def book(where: str) -> Iterator[Book]:
    with open_book(where) as opened:
        yield opened
