"""Where a book lies: an SQLite file or a PostgreSQL database, with the same tables and the same SQL."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote

from oddhop.base.address import server_of, shown, without_secrets
from oddhop.base.permissions import for_owner
from oddhop.errors import CaseBookError, MissingExtraError

VERSION = 1
SCHEMA = "oddhop_cases"  # of PostgreSQL, where other tables may be called alike
PATIENCE = 30.0  # seconds to wait for another writer
LOCK = 0x0DD0CA5E
Row = tuple[Any, ...]

TABLES = {
    "book": "CREATE TABLE book (version bigint NOT NULL)",
    "entries": "CREATE TABLE entries (entry {text} PRIMARY KEY, case_id {text} NOT NULL, verdict {text} NOT NULL, "
    "reason {text} NOT NULL, note {text} NOT NULL, who {text} NOT NULL, at {text} NOT NULL, run {text}, rank bigint, "
    "score double precision, fingerprint {text}, tombstone boolean NOT NULL)",
    # Deferred, so that members can be written before their entry: see Book.append.
    "members": "CREATE TABLE members (entry {text} NOT NULL REFERENCES entries (entry) DEFERRABLE INITIALLY DEFERRED, "
    "node {text} NOT NULL, PRIMARY KEY (entry, node))",
    "entries_of_case": "CREATE INDEX entries_of_case ON entries (case_id, at, entry)",
    "entries_in_time": "CREATE INDEX entries_in_time ON entries (at, entry)",
    "members_by_node": "CREATE INDEX members_by_node ON members (node)",
}
COLUMNS = tuple(one.split()[0] for one in TABLES["entries"].partition("(")[2].split(", "))


def open_store(where: str | Path, *, create: bool) -> Store:
    """Open the file or the address that is named."""
    if str(where).lower().startswith(("postgresql://", "postgres://")):
        return _Postgres(str(where), create=create)
    if "://" in str(where):
        raise CaseBookError("a book must be a file or an address that starts with postgresql://, got another address")
    return _SQLite(Path(where), create=create)


def _by_number(values: Sequence[Any]) -> dict[str, Any]:
    """Return values by the numbers of their places: $1 is a named parameter of SQLite."""
    return {str(number): value for number, value in enumerate(values, 1)}


class _SQLite:
    """A book in an SQLite file."""

    json_array = "json_group_array"

    def __init__(self, path: Path, *, create: bool) -> None:
        self.label = f"the book {shown(str(path))}"
        if "\0" in str(path) or path.is_dir() or not path.absolute().parent.is_dir():
            raise CaseBookError(f"{self.label} is not a file in an existing folder", "give another file")
        if not create and not path.exists():
            raise CaseBookError(f"{self.label} does not exist", "check the name")
        address = f"file:{quote(str(path.absolute()))}?mode={'rwc' if create else 'rw'}"
        new = not path.exists()
        with self._ours():
            self._connection = sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None)
        if new:
            for_owner(path)
        try:
            self._open(create=create)
        except BaseException:
            self._connection.close()
            raise

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        with self._ours():
            return self._connection.execute(sql, _by_number(values)).fetchall()

    def run(self, sql: str, rows: Sequence[Row]) -> None:
        with self._ours():
            self._connection.executemany(sql, map(_by_number, rows))

    @contextmanager
    def writing(self) -> Iterator[None]:
        self.rows("BEGIN IMMEDIATE")
        try:
            yield
            self.rows("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self.rows("ROLLBACK")
            raise

    def scrub(self) -> None:
        # Pages keep bytes of what was deleted, and the log keeps pages as they were: both are written again.
        self.rows("VACUUM")
        if self.rows("PRAGMA wal_checkpoint(TRUNCATE)")[0][0]:
            raise CaseBookError(
                f"the node was erased from {self.label}, but its log is in use and may still have the erased data",
                "close other programs that read the book, and erase again",
            )

    def close(self) -> None:
        self._connection.close()

    def _open(self, *, create: bool) -> None:
        # Views and triggers of a file from elsewhere must not run functions.
        for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "foreign_keys = ON", "secure_delete = ON"):
            self.rows(f"PRAGMA {pragma}")
        if create and not self._tables():
            self._keep_log()
            with self.writing():
                if not self._tables():  # another may have been first
                    for sql in TABLES.values():
                        self.rows(sql.format(text="text"))
                    self.rows("INSERT INTO book VALUES ($1)", (VERSION,))
        found = self._tables()
        if "book" in found and found["book"] == TABLES["book"]:
            check_version(self.rows("SELECT version FROM book LIMIT 2"), self.label)
        if found != {name: sql.format(text="text") for name, sql in TABLES.items()}:
            raise not_a_book(self.label)
        self._keep_log()
        # A verdict that was taken must outlive a power cut.
        self.rows("PRAGMA synchronous = FULL")

    def _tables(self) -> dict[str, str]:
        return dict(
            self.rows("SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!' LIMIT 99")
        )

    def _keep_log(self) -> None:
        """Switch to a write-ahead log, under which readers and a writer do not wait for each other."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                with self._ours():
                    mode = self._connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
                break
            except CaseBookError as error:  # while another switches, SQLite does not wait by itself
                if "locked" not in str(error) or time.monotonic() > end:
                    raise
                time.sleep(0.05)
        if mode != "wal":
            raise CaseBookError(
                f"{self.label} is on a disk where SQLite cannot share it, got journal mode {mode}", "use a local disk"
            )

    @contextmanager
    def _ours(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            full = isinstance(error, sqlite3.OperationalError)
            remedy = (
                "check the disk, the permissions and other programs that use it" if full else "restore it from a copy"
            )
            raise CaseBookError(f"{self.label} cannot be used. SQLite reports: {error}", remedy) from None


class _Postgres:
    """A book in a schema of a PostgreSQL database."""

    json_array = "json_agg"

    def __init__(self, uri: str, *, create: bool) -> None:
        try:
            import adbc_driver_manager
            from adbc_driver_postgresql import dbapi
        except ImportError:
            raise MissingExtraError(
                "a book in PostgreSQL needs its driver, which is not installed", "pip install oddhop[sql]"
            ) from None
        address = server_of(uri)
        if address is None:
            raise CaseBookError("the address of the book is not valid", "see postgresql.org on URIs")
        self._uri, self._error, self._busy = address.escaped, adbc_driver_manager.Error, False
        self.label = f"the book on {address.hosts or 'this machine'}"
        with self._ours():
            self._connection = dbapi.connect(self._uri)
        try:
            self._open(create=create)
        except BaseException:
            self.close()
            raise

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        with self._ours(), self._connection.cursor() as cursor:
            try:
                cursor.execute(sql, tuple(values) or None)
                found: list[Row] = cursor.fetchall() if cursor.description else []
                return found
            finally:
                if not self._busy:  # no transaction stays open, for it would be in the way of others
                    self._connection.rollback()

    def run(self, sql: str, rows: Sequence[Row]) -> None:
        if rows:
            with self._ours(), self._connection.cursor() as cursor:
                cursor.executemany(sql, rows)

    @contextmanager
    def writing(self, lock: str = "LOCK TABLE entries, members IN SHARE ROW EXCLUSIVE MODE") -> Iterator[None]:
        self._busy = True
        try:
            self.rows(lock)
            yield
            with self._ours():
                self._connection.commit()
        except BaseException:
            with self._ours():
                self._connection.rollback()
            raise
        finally:
            self._busy = False

    def scrub(self) -> None:
        with self._ours():
            self._connection.adbc_connection.set_autocommit(True)  # it runs in no transaction
            try:
                with self._connection.cursor() as cursor:
                    cursor.execute("VACUUM FULL entries")
                    cursor.execute("VACUUM FULL members")
            finally:
                self._connection.adbc_connection.set_autocommit(False)

    def close(self) -> None:
        with self._ours():
            self._connection.close()

    def _open(self, *, create: bool) -> None:
        with self._ours(), self._connection.cursor() as cursor:
            cursor.execute(f"SET search_path TO {SCHEMA}")
            self._connection.commit()
        if create and not self._tables():
            with self.writing(f"SELECT pg_advisory_xact_lock({LOCK})"):
                if not self._tables():
                    for sql in (f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}", *TABLES.values()):
                        self.rows(sql.format(text='text COLLATE "C"'))
                    self.run("INSERT INTO book VALUES ($1)", [(VERSION,)])
        found = self._tables()
        if not found:
            raise CaseBookError(f"{self.label} does not exist: there is no schema {SCHEMA}", "check the address")
        if ("book", "version") in found:
            check_version(self.rows("SELECT version FROM book LIMIT 2"), self.label)
        wanted = {("book", "version"), ("members", "entry"), ("members", "node")}
        if found != wanted | {("entries", name) for name in COLUMNS}:
            raise not_a_book(self.label)

    def _tables(self) -> set[Row]:
        sql = "SELECT table_name::text, column_name::text FROM information_schema.columns WHERE table_schema = $1"
        return set(self.rows(f"{sql} LIMIT 99", (SCHEMA,)))

    @contextmanager
    def _ours(self) -> Iterator[None]:
        try:
            yield
        except self._error as error:
            said = " ".join(without_secrets(str(error), self._uri).split())
            raise CaseBookError(
                f"{self.label if hasattr(self, 'label') else 'the book'} cannot be used: {said}"
            ) from None


Store: TypeAlias = _SQLite | _Postgres
"""What a book needs of a database. In SQL the values are $1, $2, ...; no value is ever part of a statement."""


def check_version(versions: Sequence[Row], label: str) -> None:
    """Refuse a book that another oddhop made."""
    if len(versions) != 1:
        raise not_a_book(label)
    if versions[0][0] != VERSION:
        raise CaseBookError(
            f"{label} has schema {versions[0][0]!r}, and this oddhop reads schema {VERSION}",
            "export its entries with the oddhop that wrote it: oddhop cases export",
        )


def not_a_book(label: str) -> CaseBookError:
    """Return the error of a database that holds something else."""
    return CaseBookError(f"{label} is a database, but not a book of cases", "give another file or database")
