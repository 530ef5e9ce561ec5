"""Parquet: typed columns; only those asked for are read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import duckdb

from oddhop.tables.read.database import identifier, literals, reading, unglobbed

READ = "read_parquet($1, hive_partitioning = false)"


@dataclass(frozen=True)
class Parquet:
    """Files with the columns of the first."""

    label: str
    files: tuple[str, ...]
    textual = False

    def names(self, connection: duckdb.DuckDBPyConnection) -> tuple[str, ...]:
        """Give the names of the columns; of names that differ in case alone the later gets a number."""
        with reading(self.label):
            described = connection.execute(f"DESCRIBE SELECT * FROM {READ}", [unglobbed(self.files)])  # noqa: S608
            return tuple(row[0] for row in described.fetchall())

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
        picked = ", ".join(f"{identifier(name)} AS c{k}" for k, name in picks.items())
        return f"SELECT {picked} FROM {READ.replace('$1', literals(unglobbed(self.files)))}"  # noqa: S608
