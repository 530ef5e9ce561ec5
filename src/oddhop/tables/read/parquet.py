"""Parquet: typed columns; only those asked for are read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import duckdb

from oddhop.tables.read.database import identifier, literals, reading, unglobbed
from oddhop.tables.read.hive import Partitions

READ = "read_parquet($1, hive_partitioning = false) AS own"


@dataclass(frozen=True)
class Parquet:
    """Files with the columns of the first."""

    label: str
    files: tuple[str, ...]
    partitions: Partitions | None = None
    notes = ()
    textual = False

    def names(self, connection: duckdb.DuckDBPyConnection) -> tuple[str, ...]:
        """Return the names of the columns; of names that differ in case alone the later gets a number."""
        with reading(self.label):
            described = connection.execute(f"DESCRIBE SELECT * FROM {READ}", [unglobbed(self.files)])  # noqa: S608
            own = tuple(row[0] for row in described.fetchall())
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
    ) -> None:
        """Make a table of the picked columns, named c and their number."""
        with reading(self.label):
            connection.execute(f"CREATE TEMP TABLE {table} AS {self.scan(picks)}")

    def scan(self, picks: Mapping[int, str]) -> str:
        """Write a query that reads the picked columns where they are."""
        read, folders = READ.replace("$1", literals(unglobbed(self.files))), {}
        if self.partitions is not None:
            read, folders = self.partitions.joined(read, self.files), self.partitions.sql
        picked = ", ".join(f"{folders.get(name, f'own.{identifier(name)}')} AS c{k}" for k, name in picks.items())
        return f"SELECT {picked} FROM {read}"  # noqa: S608
