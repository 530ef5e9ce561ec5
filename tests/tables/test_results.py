from __future__ import annotations

import datetime
import uuid
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oddhop.base.printable import spelled
from oddhop.tables.results import ROWS_AT_ONCE, write_csv, write_parquet


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("=cmd()", "'=cmd()"),
        ("+1+2", "'+1+2"),
        ("-2+3", "'-2+3"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("  =1", "'  =1"),
        ("-5", "-5"),
        ("+3.5e2", "+3.5e2"),
        ("plain", "plain"),
        ("a=b", "a=b"),
        ("", ""),
        ("\uff1d1+1", "'\uff1d1+1"),
        (" \uff0b1", "' \uff0b1"),
        ("\n=1", "'\n=1"),
        ("\nplain", "'\nplain"),
        ("a\x1b]0;b\x07", "a\\x1b]0;b\\x07"),
        ("=\x9b", "'=\\x9b"),
        ("\0", "\\x00"),
        ("b\u202ec", "b\\u202ec"),
        ("two\nlines\tä", "two\nlines\tä"),
    ],
)
def test_what_a_spreadsheet_would_run_is_quoted(tmp_path: Path, cell: str, written: str) -> None:
    quoted = write_csv(pa.table({"id": [cell, None, "b"], "n": [1, 2, 3]}), tmp_path / "t.csv")
    options = pa.csv.ParseOptions(newlines_in_values=True)
    read = pa.csv.read_csv(tmp_path / "t.csv", parse_options=options, convert_options=TEXT)["id"]
    assert read.to_pylist() == [written, "", "b"]
    assert quoted == (cell != written)


def test_names_of_columns_are_not_run_either(tmp_path: Path) -> None:
    write_csv(pa.table({"=cmd()": ["a"], "a\x1b": [1]}), tmp_path / "t.csv")
    assert pa.csv.read_csv(tmp_path / "t.csv").column_names == ["'=cmd()", "a\\x1b"]


TEXT = pa.csv.ConvertOptions(column_types={"id": pa.string()}, strings_can_be_null=False)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1))
def test_no_text_is_lost_and_none_begins_like_a_formula(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    file = tmp_path_factory.mktemp("csv") / "t.csv"
    write_csv(pa.table({"id": [text]}), file)
    options = pa.csv.ParseOptions(newlines_in_values=True)
    (back,) = pa.csv.read_csv(file, parse_options=options, convert_options=TEXT)["id"].to_pylist()
    assert back in (spelled(text), "'" + spelled(text))
    start = back.lstrip()[:1]
    assert start not in ("=", "@")


@pytest.mark.parametrize(
    "ids",
    [
        pa.array([1, 2**62], pa.int64()),
        pa.array([Decimal("1.50"), Decimal("-2.25")]),
        pa.array([b"\x00\xff", b"="]),
        pa.array([uuid.UUID(int=1).bytes, uuid.UUID(int=2).bytes], pa.uuid()),
        pa.array([datetime.date(2026, 1, 1), None]),
    ],
    ids=["integers", "decimals", "bytes", "uuids", "dates"],
)
def test_ids_of_every_type_can_be_written(tmp_path: Path, ids: pa.Array) -> None:
    table = pa.table({"id": ids, "rank": [1, 2]})
    write_csv(table, tmp_path / "t.csv")
    write_parquet(table, tmp_path / "t.parquet")
    assert pq.read_table(tmp_path / "t.parquet").equals(table)
    assert pa.csv.read_csv(tmp_path / "t.csv")["rank"].to_pylist() == [1, 2]


def test_many_rows_are_written_in_pieces(tmp_path: Path) -> None:
    rows = 2 * ROWS_AT_ONCE + 5
    assert write_csv(pa.table({"id": ["=1"] * rows}), tmp_path / "t.csv") == rows
    assert pa.csv.read_csv(tmp_path / "t.csv").num_rows == rows
    write_csv(pa.table({"id": pa.array([], pa.string())}), tmp_path / "none.csv")
    assert (tmp_path / "none.csv").read_text() == '"id"\n'


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "t.csv"
    file.write_text("old")
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space"):
        write_csv(pa.table({"id": ["a"]}), file)
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]
    assert file.read_text() == "old"
