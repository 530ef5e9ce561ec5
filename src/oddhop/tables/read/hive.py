"""Hive-partitioned folders: what subfolders are called, key=value, are columns of the table."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

import duckdb

from oddhop.errors import TableError
from oddhop.tables.read.database import identifier, literal, reading

MISSING = "__HIVE_DEFAULT_PARTITION__"
FILE = "oddhop file"  # the column of DuckDB that says which file a row is of
Entries = Callable[[str], Sequence[tuple[str, bool]]]
"""Gives the names in a folder, by its path below the table, and whether each is a folder."""


@dataclass(frozen=True)
class Partitions:
    """What the folders say of the files of a table.

    Attributes
    ----------
    keys : the names of the columns.
    values : the texts of every file, in the order of the files; None where one is missing.
    """

    keys: tuple[str, ...]
    values: tuple[tuple[str | None, ...], ...]

    def check(self, names: Sequence[str], label: str) -> None:
        """Refuse a key that the files have as a column, too: the two may differ."""
        own = {name.lower() for name in names}
        twice = [key for key in self.keys if key.lower() in own]
        if twice:
            raise TableError(
                f"{label} has {twice[0]!r} in the names of its folders and as a column of its files",
                "leave one of the two out",
            )

    @property
    def sql(self) -> dict[str, str]:
        """SQL for the text of every key."""
        return {key: f"folders.k{k}" for k, key in enumerate(self.keys)}

    def joined(self, read: str, files: Sequence[str]) -> str:
        """Write a join of what DuckDB reads, ``read_x(...) AS own``, with the texts of the folders, k and a number."""
        with_file = read.removesuffix(") AS own") + f", filename = {literal(FILE)}) AS own"
        rows = ", ".join(
            f"({', '.join([literal(file), *map(_text, texts)])})"
            for file, texts in zip(files, self.values, strict=True)
        )
        columns = ", ".join(f"k{k}" for k in range(len(self.keys)))
        return f"{with_file} JOIN (VALUES {rows}) AS folders(file, {columns}) ON own.{identifier(FILE)} = folders.file"


@dataclass(frozen=True)
class ScannedFiles:
    """Files that DuckDB reads where they are, with the columns that the names of their folders make."""

    label: str
    files: tuple[str, ...]
    partitions: Partitions | None = None
    notes: tuple[str, ...] = ()

    def own_names(self, connection: duckdb.DuckDBPyConnection) -> tuple[str, ...]:
        """Return the names of the columns in the files."""
        raise NotImplementedError

    def scan(self, picks: Mapping[int, str]) -> str:
        """Write a query that reads the picked columns, number and name, and calls them c and their number."""
        raise NotImplementedError

    def names(self, connection: duckdb.DuckDBPyConnection) -> tuple[str, ...]:
        """Return the names of the columns, those of the folders last."""
        own = self.own_names(connection)
        if self.partitions is None:
            return own
        self.partitions.check(own, self.label)
        return (*own, *self.partitions.keys)

    def load(
        self,
        connection: duckdb.DuckDBPyConnection,
        table: str,
        picks: Mapping[int, str],
        ids: Collection[int],  # noqa: ARG002 - as the other forms
        *,
        as_view: bool = False,
    ) -> bool:
        """Make a table or a view of the picked columns, named c and their number."""
        with reading(self.label):
            kind = "VIEW" if as_view else "TABLE"
            connection.execute(f"CREATE TEMP {kind} {table} AS {self.scan(picks)}")
        return as_view


def _text(value: str | None) -> str:
    return "CAST(NULL AS VARCHAR)" if value is None else literal(value)


def is_partitioned(entries: Sequence[tuple[str, bool]]) -> bool:
    """Return whether a folder has subfolders that are called key=value."""
    return any(is_folder and "=" in name and not _is_hidden(name) for name, is_folder in entries)


def partitions_of(files: Mapping[str, Mapping[str, str | None]], label: str) -> Partitions:
    """Return the columns that the folders make, the same for all files."""
    first, *others = files
    keys = tuple(files[first])
    for other in others:
        if tuple(files[other]) != keys:
            raise TableError(
                f"{label} must have one order of folders, got {_levels(keys)} for {first!r} and "
                f"{_levels(tuple(files[other]))} for {other!r}",
                "name a part of it, or move the files",
            )
    values = tuple(tuple(found.values()) for found in files.values())
    return Partitions(keys, values)


def partitioned_files(
    entries: Entries, label: str, path: str = "", above: Mapping[str, str | None] | None = None
) -> Iterator[tuple[str, dict[str, str | None]]]:
    """Return the files below a table, each with the keys and values of its folders."""
    above = above or {}
    for name, is_folder in sorted(entries(path)):
        if _is_hidden(name):
            continue
        place = f"{path}/{name}" if path else name
        if not is_folder:
            yield place, dict(above)
            continue
        key, value = _key_and_value(name, place, label)
        if key.lower() in (known.lower() for known in above):
            raise TableError(f"{label} has the key {key!r} twice in the folder {place!r}", "rename one")
        yield from partitioned_files(entries, label, place, {**above, key: value})


def _key_and_value(name: str, place: str, label: str) -> tuple[str, str | None]:
    key, equals, value = name.partition("=")
    try:
        # Hive and Spark write what a path cannot hold as %2F.
        key, value = unquote(key, errors="strict"), unquote(value, errors="strict")
    except UnicodeDecodeError:
        key = ""
    if not equals or not key.strip() or "\0" in key + value:
        raise TableError(
            f"{label} has the subfolder {place!r}, whose name is not key=value",
            "name the files by a pattern, or move them",
        )
    # As in a CSV, nothing is a missing value.
    return key, None if value in (MISSING, "") else value


def _is_hidden(name: str) -> bool:
    return name[0] in "._"


def _levels(keys: tuple[str, ...]) -> str:
    return "/".join(f"{key}=" for key in keys) or "no folder"
