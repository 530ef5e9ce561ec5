"""CSV and TSV: a header line, then text."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass

import duckdb
import pyarrow as pa

from oddhop.errors import TableError
from oddhop.tables.read.database import compression, literal, literals, reading, unglobbed
from oddhop.tables.read.hive import ScannedFiles

LONGEST_HEADER = 1 << 24


@dataclass(frozen=True)
class Delimited(ScannedFiles):
    """Files with one header, which all of them begin with; all of it is text."""

    tabs: bool = False
    textual = True

    def own_names(self, connection: duckdb.DuckDBPyConnection) -> tuple[str, ...]:  # noqa: ARG002 - as of Parquet
        """Return the names of the columns, from the header."""
        return self._header().used

    def scan(self, picks: Mapping[int, str]) -> str:
        """Write a query that reads the picked columns where they are, all of them text."""
        header = self._header()
        count = len(header.names)
        columns = ", ".join(f"'c{k}': 'VARCHAR'" for k in range(count))
        read = (
            f"read_csv({literals(unglobbed(self.files))}, columns = {{{columns}}}, "
            f"delim = {literal(header.delimiter)}, skip = {int(header.declared)}, header = true, "
            "auto_detect = false, quote = '\"', escape = '\"', hive_partitioning = false) AS own"
        )
        if self.partitions is not None:
            read = self.partitions.joined(read, self.files)
        used = len(header.used)
        picked = ", ".join(f"own.c{k}" if k < used else f"folders.k{k - used} AS c{k}" for k in picks)
        if used == count:
            return f"SELECT {picked} FROM {read}"  # noqa: S608
        beyond = ", ".join(f"own.c{k}" for k in range(used, count))
        fault = literal(f"there are values to the right of {header.used[-1]!r}, the last column that the header names")
        return f"SELECT {picked} FROM {read} WHERE coalesce({beyond}) IS NULL OR error({fault})"  # noqa: S608

    def _header(self) -> Header:
        headers = []
        for file in self.files:
            with reading(f"{self.label}, file {file}"):
                headers.append(_header_of(file, "\t" if self.tabs else None))
            if headers[-1] != headers[0]:
                raise TableError(
                    f"{self.label} must have one header, got {list(headers[0].names)} in {self.files[0]} and "
                    f"{list(headers[-1].names)} in {file}",
                    "write the files with the same columns in the same order",
                )
        return headers[0]


@dataclass(frozen=True)
class Header:
    """The names of the columns, what stands between them, and whether a line such as sep=; of Excel declares that."""

    names: tuple[str, ...]
    delimiter: str
    declared: bool = False

    @property
    def used(self) -> tuple[str, ...]:
        """The names without the nameless columns that delimiters at the end of the line make."""
        return self.names[: max((k for k, name in enumerate(self.names, start=1) if name.strip()), default=None)]


def _header_of(file: str, delimiter: str | None) -> Header:
    with pa.input_stream(file, compression=compression(file)) as stream:
        text = io.TextIOWrapper(io.BufferedReader(stream), "utf-8-sig")
        first, second = (text.readline(LONGEST_HEADER).rstrip("\n") for _ in range(2))
    declared = re.fullmatch(r'"?sep=([,;\t|])"?', first)
    line = second if declared else first
    if not line.strip():
        raise TableError(f"{file} is empty", "its first line must name the columns")
    # By the header alone, for that is the same whatever order the rows are in.
    bare = "".join(line.split('"')[::2])
    delimiter = declared[1] if declared else delimiter or max(",;\t|", key=bare.count)
    try:
        return Header(tuple(next(csv.reader([line], delimiter=delimiter, strict=True))), delimiter, bool(declared))
    except csv.Error as error:
        raise TableError(
            f"{file} has a first line that cannot be split into column names: {error}",
            "a name may not hold a line break",
        ) from None
