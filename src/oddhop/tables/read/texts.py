"""Small tables that a person keeps, such as verdicts and answers: columns by name, every value as text."""

from __future__ import annotations

from typing import Any

from oddhop.errors import OddhopError, TableError
from oddhop.tables.read.database import database, fetch_table
from oddhop.tables.read.sources import opened


def read_texts(
    table: Any,
    what: str,
    needed: tuple[str, ...],
    allowed: tuple[str, ...] = (),
    *,
    error: type[OddhopError] = TableError,
) -> list[dict[str, str | None]]:
    """Read columns of a table as texts, whatever the case of their names; other columns are left out."""
    with opened(table, what) as form, database(form.files) as connection:
        places = {name.strip().lower(): k for k, name in enumerate(form.names(connection))}
        picks = {places[name]: name for name in (*needed, *allowed) if name in places}
        if not set(needed) <= places.keys():
            got = ", ".join(places) or "none"
            raise error(f"{what} must have the columns {' and '.join(needed)}, got {got}", "rename them")
        form.load(connection, "texts", picks, list(picks))
        columns = ", ".join(f'CAST(c{k} AS VARCHAR) AS "{name}"' for k, name in picks.items())
        return fetch_table(connection, f"SELECT {columns} FROM texts").to_pylist()  # type: ignore[no-any-return]  # noqa: S608
