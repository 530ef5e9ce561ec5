"""Sheets of Excel, which the extra ``oddhop[excel]`` reads. A sheet has a million rows at most."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pyarrow as pa

from oddhop.errors import TableError
from oddhop.tables.read.frames import Frame
from oddhop.tables.read.refused import EXCEL

SUFFIX = ".xlsx"
PLAIN = (bool, str, dt.date, dt.datetime)


def is_excel(name: str) -> bool:
    """Return whether a name is that of a workbook, or of one of its sheets as ``book.xlsx#sheet``."""
    return name.partition("#")[0].lower().endswith(SUFFIX)


def sheet(name: str, what: str) -> Frame:
    """Read a sheet: that which is named, or the only one that has anything."""
    file, _, wanted = name.partition("#")
    label = f"{what}, {file},"
    try:
        import python_calamine as calamine
    except ImportError:
        remedy = f'{EXCEL}, or pip install "oddhop[excel]"'
        raise TableError(f"{label} is an Excel file, which needs python-calamine", remedy) from None
    if not Path(file).is_file():
        raise TableError(f"{label} does not exist", "check the name")
    try:
        book = calamine.CalamineWorkbook.from_path(file)
        sheets = {one: book.get_sheet_by_name(one).to_python() for one in book.sheet_names}
    except (calamine.CalamineError, OSError, ValueError) as error:
        raise TableError(f"{label} cannot be read: {error}", f"{EXCEL} with Excel") from None
    full = {one: rows for one, rows in sheets.items() if rows}
    chosen = wanted or (next(iter(full)) if len(full) == 1 else "")
    if chosen not in full:
        found = ", ".join(full) or "none"
        raise TableError(f"{label} has these sheets with rows: {found}", f"name one, as in '{Path(file).name}#SHEET'")
    header, *rows = full[chosen]
    names = [str(one).strip() for one in header]
    if not all(names) or len(set(names)) < len(names):
        raise TableError(f"{label} must have a name of its own above every column", "name the columns in the first row")
    columns = [_column([row[k] for row in rows]) for k in range(len(names))]
    return Frame(label, pa.table(columns, names).to_reader(), (file,))


def _column(cells: list[Any]) -> pa.Array:
    """Return the cells of a column as what all of them are, and as text where they differ."""
    values = [None if one == "" else one for one in cells]
    kinds = {type(one) for one in values if one is not None}
    if kinds <= {int, float}:
        whole = all(one is None or float(one).is_integer() for one in values)
        return pa.array([None if one is None else int(one) if whole else float(one) for one in values])
    if len(kinds) == 1 and kinds <= set(PLAIN):
        return pa.array(values)
    if kinds == {dt.date, dt.datetime}:
        days = [dt.datetime.combine(one, dt.time()) if type(one) is dt.date else one for one in values]
        return pa.array(days)
    return pa.array([None if one is None else _text(one) for one in values])


def _text(cell: Any) -> str:
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
