"""What a user may name as a table: a file, a pattern, a folder, a frame, a query."""

from __future__ import annotations

import glob
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

import duckdb

from oddhop.errors import TableError
from oddhop.tables.read.delimited import Delimited
from oddhop.tables.read.frames import Frame
from oddhop.tables.read.ndjson import NDJSON
from oddhop.tables.read.parquet import Parquet
from oddhop.tables.read.sql import answer

SUFFIXES = {
    ".csv": "CSV",
    ".tsv": "TSV",
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".ndjson": "NDJSON",
    ".jsonl": "NDJSON",
}
PACKED = (".gz", ".zst")
WANTED = "CSV, TSV, Parquet or NDJSON (.csv, .tsv, .parquet, .pq, .ndjson, .jsonl; text also as .gz or .zst)"


class Form(Protocol):
    """What every form of a table can do."""

    @property
    def label(self) -> str:
        """What an error calls it."""

    @property
    def files(self) -> tuple[str, ...]:
        """The files that it must be allowed to read."""

    @property
    def textual(self) -> bool:
        """Whether its values are text without a type, as in a CSV."""

    def names(self, connection: duckdb.DuckDBPyConnection) -> tuple[str, ...]:
        """Give the names of the columns."""

    def load(
        self, connection: duckdb.DuckDBPyConnection, table: str, picks: Mapping[int, str], ids: Collection[int]
    ) -> None:
        """Make a table of the picked columns, number and name, and call them c and their number."""

    def scan(self, picks: Mapping[int, str]) -> str | None:
        """Write a query that reads the picked columns where they are; None where they must be loaded first."""


@dataclass(frozen=True)
class Query:
    """A query to a PostgreSQL database; needs ``pip install oddhop[sql]``.

    Attributes
    ----------
    uri : the address, ``postgresql://user@host/database``; not shown, for it may hold a password.
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
def opened(named: Any, what: str) -> Iterator[Form]:
    """Find out what was named; ``what`` is what an error calls it, such as "the edge table"."""
    if isinstance(named, Query):
        if not _is_postgres(named.uri):
            raise TableError(
                f"{what} must have an address that begins with postgresql://", "other databases are not read"
            )
        host = urlsplit(named.uri).hostname or "this machine"
        with answer(named.uri, named.sql, f"{what}, a query on {host},") as frame:
            yield frame
    elif isinstance(named, str | os.PathLike):
        yield _named_files(os.fspath(named), what)
    else:
        kind = type(named)
        frame_or_none = Frame.of(named, f"{what}, a {kind.__module__.split('.')[0]} {kind.__name__},")
        if frame_or_none is None:
            raise TableError(
                f"{what} must be a path, a pattern, a folder, a Query, or a frame that gives Arrow "
                f"(pandas, Polars, pyarrow), got {kind.__module__}.{kind.__name__}"
            )
        yield frame_or_none


def _is_postgres(text: str) -> bool:
    return text.lower().startswith(("postgresql://", "postgres://"))


def _named_files(name: str | bytes, what: str) -> Form:
    name = os.fsdecode(name)
    if _is_postgres(name):
        raise TableError(f"{what} is an address without a query", "say oddhop.tables.read.Query(address, 'select ...')")
    if "://" in name:
        raise TableError(f"{what} must be on this machine, got {name!r}", "fetch the file and name its path")
    if not name or "\0" in name:
        raise TableError(f"{what} must be the path of a file, got {name!r}")
    path = Path(name)
    if path.is_dir():
        if (path / "_delta_log").is_dir():
            # Its log says which of the files still belong to the table.
            raise TableError(
                f"{what} is the Delta table {name!r}, of whose files some may have been removed",
                "read it with the deltalake package and give the frame",
            )
        found = sorted(str(file) for file in path.iterdir() if file.is_file() and file.name[0] not in "._")
        files = [file for file in found if _form(file)]
        if not files:
            raise TableError(
                f"{what} is the folder {name!r}, which holds no table",
                f"it must hold files of {WANTED}, not in subfolders",
            )
    elif path.is_file():
        files = [name]
    elif glob.has_magic(name):
        files = sorted(file for file in glob.glob(name, recursive=True) if Path(file).is_file())  # noqa: PTH207 - any pattern
        if not files:
            raise TableError(
                f"{what} is the pattern {name!r}, which no file matches", f"mind where it starts: {Path.cwd()}"
            )
    else:
        raise _missing(path, what, str(name))
    return _one_form(files, name, what)


def _one_form(files: Sequence[str], name: str, what: str) -> Form:
    forms = {file: _form(file) for file in files}
    unknown = [file for file, form in forms.items() if form is None]
    if unknown:
        raise TableError(f"{what} must be {WANTED}, got {unknown[0]!r}", "name the file by what it holds")
    if len(set(forms.values())) > 1:
        raise TableError(
            f"{what} must be of one form, got {', '.join(sorted(map(str, set(forms.values()))))} in {name!r}",
            "name them by a pattern such as '*.csv'",
        )
    label = f"{what} {name!r}"
    paths = tuple(str(Path(file).absolute()) for file in files)
    form = forms[files[0]]
    if form == "Parquet":
        return Parquet(label, paths)
    return NDJSON(label, paths) if form == "NDJSON" else Delimited(label, paths, tabs=form == "TSV")


def _form(file: str) -> str | None:
    path = Path(file.lower())
    packed = path.suffix in PACKED
    form = SUFFIXES.get(path.with_suffix("").suffix if packed else path.suffix)
    return None if packed and form == "Parquet" else form


def _missing(path: Path, what: str, name: str) -> TableError:
    if path.exists():
        return TableError(f"{what} is {name!r}, which is neither a file nor a folder", "name a file or a folder")
    near = (
        get_close_matches(path.name, [file.name for file in path.parent.iterdir()], 1) if path.parent.is_dir() else []
    )
    remedy = f"did you mean {near[0]!r}?" if near else f"check the working folder: {Path.cwd()}"
    return TableError(f"{what} is {name!r}, which does not exist", remedy)
