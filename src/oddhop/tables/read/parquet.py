"""Parquet: typed columns; only those asked for are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import duckdb

from oddhop.tables.read.database import identifier, literals, reading, unglobbed
from oddhop.tables.read.hive import ScannedFiles

READ = "read_parquet($1, hive_partitioning = false) AS own"


@dataclass(frozen=True)
class Parquet(ScannedFiles):
    """Files with the columns of the first."""

    textual = False

    def own_names(self, connection: duckdb.DuckDBPyConnection) -> tuple[str, ...]:
        """Return the names of the columns; of names that differ in case alone the later gets a number."""
        with reading(self.label):
            described = connection.execute(f"DESCRIBE SELECT * FROM {READ}", [unglobbed(self.files)])  # noqa: S608
            return tuple(row[0] for row in described.fetchall())

    def scan(self, picks: Mapping[int, str]) -> str:
        """Write a query that reads the picked columns where they are."""
        read, folders = READ.replace("$1", literals(unglobbed(self.files))), {}
        if self.partitions is not None:
            read, folders = self.partitions.joined(read, self.files), self.partitions.sql
        picked = ", ".join(f"{folders.get(name, f'own.{identifier(name)}')} AS c{k}" for k, name in picks.items())
        return f"SELECT {picked} FROM {read}"  # noqa: S608
