"""What the texts of a CSV are: a rule over all values of a column, so that no order of rows changes it."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

from oddhop.tables.read.database import fetch_row

# A code such as 007 is no number: its zeros would be lost.
NUMBER = r"[+-]?(0|[1-9][0-9]*)?(\.[0-9]*)?([eE][+-]?[0-9]+)?|[+-]?(?i:nan|inf|infinity)"
DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
MOMENT = DAY + r"[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?"
ZONED = MOMENT + r"(Z|[+-][0-9]{2}(:?[0-9]{2})?)"

RULES = (
    ("BIGINT", "CAST(TRY_CAST({c} AS BIGINT) AS VARCHAR) = {c}"),
    ("DOUBLE", f"regexp_full_match({{c}}, '{NUMBER}') AND TRY_CAST({{c}} AS DOUBLE) IS NOT NULL"),
    ("BOOLEAN", "lower({c}) IN ('true', 'false')"),
    ("DATE", f"regexp_full_match({{c}}, '{DAY}') AND TRY_CAST({{c}} AS DATE) IS NOT NULL"),
    ("TIMESTAMP", f"regexp_full_match({{c}}, '{MOMENT}') AND TRY_CAST({{c}} AS TIMESTAMP) IS NOT NULL"),
    ("TIMESTAMPTZ", f"regexp_full_match({{c}}, '{ZONED}') AND TRY_CAST({{c}} AS TIMESTAMPTZ) IS NOT NULL"),
)


def text_kinds(connection: duckdb.DuckDBPyConnection, table: str, columns: Sequence[str]) -> dict[str, str]:
    """Return the first type that keeps every value of a column; a column of nothing is of numbers."""
    kinds = {}
    for column in columns:
        # The patterns have braces of their own, which str.format would take for its.
        tests = ", ".join(f"bool_and(coalesce({rule.replace('{c}', column)}, false))" for _, rule in RULES)
        row = fetch_row(connection, f"SELECT {tests} FROM {table} WHERE {column} IS NOT NULL")  # noqa: S608 - our own names
        fitting = [kind for (kind, _), fits in zip(RULES, row, strict=True) if fits]
        kinds[column] = "DOUBLE" if row[0] is None else (fitting or ["VARCHAR"])[0]
    return kinds
