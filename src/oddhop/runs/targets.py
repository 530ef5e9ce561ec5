"""Where else the results of a run go: a table of a database, an object in a store, or standard output."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

import pyarrow as pa

from oddhop.base.address import scheme_of
from oddhop.errors import SettingsError, TableError
from oddhop.tables.read.addresses import check_put, database_kind, put_table
from oddhop.tables.read.database import temporary_folder
from oddhop.tables.read.s3 import is_s3, place_named
from oddhop.tables.read.stdin import is_stdin
from oddhop.tables.results import csv_into, write_csv, write_parquet
from oddhop.tables.settings import PLAIN

WriteMode = Literal["create", "replace", "append"]
WHAT = "the results table"


class Target(Protocol):
    """Takes the results."""

    def check(self) -> None:
        """Refuse what would fail at the end of a run, before it begins."""

    def put(self, result: pa.Table) -> None:
        """Write the results, all of them or none."""


@dataclass(frozen=True)
class StandardOutput:
    """Takes the results as CSV, as in ``results.csv``."""

    def check(self) -> None:
        """Refuse nothing."""

    def put(self, result: pa.Table) -> None:
        """Write the rows; a reader that has enough of them, such as head, may leave."""
        try:
            sys.stdout.flush()
            csv_into(result, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            # What is left in the buffer must not fail when Python ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@dataclass(frozen=True)
class StoredObject:
    """Takes the results as an object in an S3-compatible store, CSV or Parquet by its name."""

    address: str
    mode: WriteMode

    def check(self) -> None:
        """Refuse a bucket that cannot be reached, and an object that exists; to replace one, nothing is looked up."""
        place = place_named(self.address, WHAT)
        if self.mode == "create":
            place.check_bucket()
            if place.is_object():
                raise TableError(
                    f"{place.label} already exists",
                    "name another, or say write_mode='replace'",
                    command="name another, or say --write-mode replace",
                )

    def put(self, result: pa.Table) -> None:
        """Write a temporary file and send it."""
        with temporary_folder(PLAIN) as folder:
            file = folder / "results"
            (write_csv if _is_csv(self.address) else write_parquet)(result, file)
            place_named(self.address, WHAT).put(file)


@dataclass(frozen=True)
class DatabaseTable:
    """Takes the results as a table of a database."""

    uri: str = field(repr=False)
    name: str
    mode: WriteMode

    def check(self) -> None:
        """Refuse a table that could not be made; of PostgreSQL the driver alone is looked for."""
        check_put(self.uri, self.name, mode=self.mode)

    def put(self, result: pa.Table) -> None:
        """Write the table in one transaction."""
        put_table(result, self.uri, self.name, mode=self.mode)


def target_named(write_to: str | None, write_mode: WriteMode, database: str | None) -> Target | None:
    """Return where the results go besides the folder; None where nowhere."""
    if write_to is None:
        return None
    if is_stdin(write_to) or is_s3(write_to):
        if write_mode == "append" or (is_stdin(write_to) and write_mode != "create"):
            raise SettingsError(
                f"results are not written to {'standard output' if is_stdin(write_to) else 'an object'} with "
                f"--write-mode {write_mode}",
                "leave --write-mode out" if is_stdin(write_to) else "say --write-mode replace",
            )
        if is_stdin(write_to):
            return StandardOutput()
        if not write_to.lower().endswith((".csv", ".parquet")):
            raise SettingsError(
                "results are written to a store as .csv or .parquet, and --write-to ends otherwise",
                "say for example --write-to s3://bucket/scores.parquet",
            )
        return StoredObject(write_to, write_mode)
    if "://" in write_to:
        raise SettingsError(
            f"results are not written to {scheme_of(write_to)}://",
            "say a table of --database, s3://bucket/key.parquet, or - for standard output",
        )
    if database is None:
        raise SettingsError(
            "--write-to names a table, and no database was named",
            "say --database postgresql://..., sqlite:///FILE or duckdb:///FILE",
        )
    database_kind(database, WHAT)
    return DatabaseTable(database, write_to, write_mode)


def _is_csv(address: str) -> bool:
    return Path(address.lower()).suffix == ".csv"
