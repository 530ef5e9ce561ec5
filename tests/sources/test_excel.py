"""Sheets of Excel, written here by hand: a workbook is a zip of XML."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from oddhop.errors import TableError
from oddhop.tables.read import read_tables

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TYPES = "http://schemas.openxmlformats.org/package/2006"
Rows = list[list[str | float | None]]


def workbook(path: Path, **sheets: Rows) -> Path:
    """Write a workbook of numbers and texts."""
    names = list(sheets)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("[Content_Types].xml", f'<Types xmlns="{TYPES}/content-types"/>')
        file.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{TYPES}/relationships"><Relationship Id="r" Type="{REL}/officeDocument" '
            'Target="xl/workbook.xml"/></Relationships>',
        )
        listed = "".join(f'<sheet name="{name}" sheetId="{k + 1}" r:id="r{k}"/>' for k, name in enumerate(names))
        file.writestr(
            "xl/workbook.xml", f'<workbook xmlns="{MAIN}" xmlns:r="{REL}"><sheets>{listed}</sheets></workbook>'
        )
        targets = "".join(
            f'<Relationship Id="r{k}" Type="{REL}/worksheet" Target="worksheets/s{k}.xml"/>' for k in range(len(names))
        )
        file.writestr(
            "xl/_rels/workbook.xml.rels", f'<Relationships xmlns="{TYPES}/relationships">{targets}</Relationships>'
        )
        for k, rows in enumerate(sheets.values()):
            body = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
            file.writestr(
                f"xl/worksheets/s{k}.xml", f'<worksheet xmlns="{MAIN}"><sheetData>{body}</sheetData></worksheet>'
            )
    return path


def cell(value: str | float | None) -> str:
    if isinstance(value, str):
        return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
    return "<c/>" if value is None else f"<c><v>{value}</v></c>"


EDGES: Rows = [["payer", "payee", "euros"], [7, "A1", 12.5], ["A1", 7, 3], ["A2", "A1", None]]
NODES: Rows = [["account", "age", "note"], [7, 31, "x"], ["A1", 25, None], ["A2", 40, "y"]]


def test_a_sheet_is_a_table(tmp_path: Path) -> None:
    pytest.importorskip("python_calamine")
    found = read_tables(
        workbook(tmp_path / "e.xlsx", edges=EDGES), workbook(tmp_path / "n.xlsx", nodes=NODES, empty=[])
    )
    assert sorted(map(str, found.ids.to_pylist())) == ["7", "A1", "A2"]
    assert sorted(found.columns["age"].to_pylist()) == [25, 31, 40]
    assert found.counts.edge_rows == 3


def test_of_several_sheets_one_is_named(tmp_path: Path) -> None:
    pytest.importorskip("python_calamine")
    book = workbook(tmp_path / "book.xlsx", edges=EDGES, nodes=NODES)
    with pytest.raises(TableError, match=r"edges, nodes.*book\.xlsx#SHEET"):
        read_tables(book, book)
    assert read_tables(f"{book}#edges", f"{book}#nodes").counts.node_rows == 3


def test_columns_without_a_name_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("python_calamine")
    book = workbook(tmp_path / "e.xlsx", edges=[["payer", "payer"], ["a", "b"]])
    with pytest.raises(TableError, match="name of its own"):
        read_tables(book, book)
