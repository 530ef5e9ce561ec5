"""Ids: one rule for which are equal and in which order they stand, whatever type they came in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import duckdb

from oddhop.errors import TableError
from oddhop.tables.read.database import fetch_row

INTEGERS = {
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"),
}
FLOATS = {"FLOAT", "DOUBLE"}
FIT_BIGINT = INTEGERS - {"HUGEINT", "UHUGEINT", "UBIGINT"}
EXACT = 2**53


@dataclass(frozen=True)
class IdColumn:
    """A column of ids in a loaded table.

    Attributes
    ----------
    sql : how its values are written in SQL.
    kind : their type in DuckDB.
    textual : whether they are text without a type, as in a CSV.
    label : what an error calls the column.
    """

    sql: str
    kind: str
    textual: bool
    label: str

    @property
    def whole(self) -> bool:
        """Whether the ids are integers."""
        return self.kind in INTEGERS

    @property
    def key(self) -> str:
        """How nodes are joined and sorted: integers as numbers, everything else by its text."""
        return self.sql if self.whole else f"CAST({self.sql} AS VARCHAR)"

    def written_as(self, other: IdColumn) -> IdColumn:
        """Return the same ids in the type of another column."""
        sql = self.sql if self.kind == other.kind else f"CAST({self.sql} AS {other.kind})"
        return replace(self, sql=sql, kind=other.kind)


def agreed(columns: Sequence[IdColumn]) -> IdColumn:
    """Return the one type that the ids of several tables have in a network: their own, or integers, or else text."""
    kinds, first = {one.kind for one in columns}, columns[0]
    textual = any(one.textual for one in columns)
    if len(kinds) == 1:
        return replace(first, textual=textual)
    if kinds <= FIT_BIGINT:
        return replace(first, kind="BIGINT", textual=textual)
    return replace(first, kind="VARCHAR", textual=True)  # an id of any type is then found by its text


def id_column(
    connection: duckdb.DuckDBPyConnection, table: str, column: str, textual: bool, label: str, *, decide: bool
) -> IdColumn:
    """Look at a column of ids; with ``decide`` text without a type becomes integers where all of it can."""
    described = f"SELECT any_value(column_type) FROM (DESCRIBE {table}) WHERE column_name = $1"  # noqa: S608
    kind = str(fetch_row(connection, described, [column])[0])
    sql = column
    if kind.startswith("ENUM"):
        kind, sql = "VARCHAR", f"CAST({column} AS VARCHAR)"
    if kind in FLOATS:
        # What pandas makes of integers with a gap.
        odd = fetch_row(
            connection,
            f"SELECT min({column}) FROM {table} "  # noqa: S608 - our own names
            f"WHERE NOT isnan({column}) "
            f"AND (isinf({column}) OR {column} <> trunc({column}) OR abs({column}) > {EXACT})",
        )[0]
        if odd is not None:
            raise TableError(f"{label} must hold exact ids, got the number {odd!r}", "make them integers or text")
        kind, sql = "BIGINT", f"TRY_CAST({column} AS BIGINT)"
    if kind.endswith("]") or kind.startswith(("STRUCT", "MAP", "UNION", "VARIANT")):
        raise TableError(f"{label} must hold single values, got {kind}", "give every node one id")
    if decide and textual:
        others, rows = fetch_row(
            connection,
            f"SELECT count(*) FILTER (CAST(TRY_CAST({column} AS BIGINT) AS VARCHAR) IS DISTINCT FROM {column}), "  # noqa: S608
            f"count(*) FROM {table} WHERE {column} IS NOT NULL",
        )
        if rows and not others:
            kind, sql = "BIGINT", f"CAST({column} AS BIGINT)"
    return IdColumn(sql, kind, textual, label)


def end_key(end: IdColumn, node: IdColumn) -> str:
    """Write an end of an edge as the key of the node that it names; null where it can name none."""
    by_text = end.textual or node.textual
    if node.whole and end.whole:
        return f"TRY_CAST({end.sql} AS {node.kind})"
    if node.whole and by_text:
        # 007 is not 7: what does not come back as it was names no node.
        number = f"TRY_CAST(CAST({end.sql} AS VARCHAR) AS {node.kind})"
        return f"CASE WHEN CAST({number} AS VARCHAR) = CAST({end.sql} AS VARCHAR) THEN {number} END"
    if by_text or end.kind == node.kind:
        return f"CAST({end.sql} AS VARCHAR)"
    raise TableError(
        f"{end.label} holds {end.kind} and {node.label} holds {node.kind}, so that it is open which ids are the same",
        "bring both tables to one type",
    )
