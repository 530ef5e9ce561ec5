"""Results out: the ranked table as Parquet, as a CSV that no spreadsheet runs, and into a database."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from oddhop.base.files import atomic_file
from oddhop.base.printable import spelled

# A spreadsheet runs what begins with one of these, after blanks as well; a plain number such as -5 is none. In full
# width, they run where the language of the spreadsheet is Japanese or Chinese.
RUNS = r"^\s*[=+\-@\t\r\n\x{ff1d}\x{ff0b}\x{ff0d}\x{ff20}]"
# What is spelled out, as RE2 writes it.
CONTROLS = r"[\x00-\x08\x0b-\x1f\x7f-\x{9f}\x{202a}-\x{202e}\x{2066}-\x{2069}]"
NUMBER = r"^[+-]?\d+([.,]\d+)?([eE][+-]?\d+)?$"
ROWS_AT_ONCE = 65_536
SHARD_ROWS = 2**20


def write_parquet(table: pa.Table, path: Path) -> None:
    """Write a table as Parquet, whole or not at all; the same table gives the same bytes."""
    with atomic_file(path) as file:
        pq.write_table(table, file, compression="zstd", row_group_size=1 << 20, version="2.6")


def read_parquet(path: Path, columns: list[str] | None = None) -> pa.Table:
    """Read one Parquet file. What reads folders of them too takes as long to import as to compare two runs."""
    with pq.ParquetFile(path) as file:
        return file.read(columns)


def write_shards(table: pa.Table, folder: Path) -> None:
    """Write a table as a folder of Parquet files of a million rows each, in order; what reads one reads the other."""
    folder.mkdir(exist_ok=True)
    for number, start in enumerate(range(0, table.num_rows, SHARD_ROWS)):
        write_parquet(table.slice(start, SHARD_ROWS), folder / f"part-{number:05d}.parquet")


def write_csv(table: pa.Table, path: Path) -> int:
    """Write a table as CSV, whole or not at all; give how many cells were kept from running.

    A text that a spreadsheet would run gets a single quote before it, and control characters are spelled out. The
    Parquet file has it as it was.
    """
    with atomic_file(path) as file:
        return csv_into(table, file)


def csv_into(table: pa.Table, file: BinaryIO) -> int:
    """Write a table as CSV into an open file, as :func:`write_csv` does."""
    changed = 0
    names, _ = _harmless(pa.chunked_array([pa.array(table.column_names, pa.large_string())]))
    table = table.rename_columns(names.to_pylist())
    with pa_csv.CSVWriter(file, _harmless_rows(table.slice(0, 0))[0].schema) as writer:
        for start in range(0, table.num_rows, ROWS_AT_ONCE):
            rows, more = _harmless_rows(table.slice(start, ROWS_AT_ONCE))
            writer.write_table(rows)
            changed += more
    return changed


def _harmless_rows(table: pa.Table) -> tuple[pa.Table, int]:
    changed = 0
    for k, field in enumerate(table.schema):
        kind, types = field.type, pa.types
        if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_temporal(kind):
            continue
        safe, more = _harmless(as_text(table.column(k)))
        table = table.set_column(k, field.name, safe)
        changed += more
    return table, changed


def _harmless(text: pa.ChunkedArray) -> tuple[pa.ChunkedArray, int]:
    """Quote what a spreadsheet would run, and spell out what a terminal would obey; count both."""
    runs = pc.and_(pc.match_substring_regex(text, RUNS), pc.invert(pc.match_substring_regex(text, NUMBER)))
    safe = pc.if_else(
        runs, pc.binary_join_element_wise(pa.scalar("'", text.type), text, pa.scalar("", text.type)), text
    )
    obeyed = pc.match_substring_regex(text, CONTROLS)
    if pc.any(obeyed).as_py():  # which is rare
        spelt = [one if one is None else spelled(one) for one in safe.to_pylist()]
        safe = pa.chunked_array([pa.array(spelt, text.type)])
    return safe, pc.sum(pc.or_(runs, obeyed)).as_py() or 0


def as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the text of values of any type that an id may have."""
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_decimal(kind):
        return column.cast(pa.large_string())
    # UUIDs and bytes: few, and no kernel of Arrow writes them.
    return pa.chunked_array([pa.array([_text_of(value) for value in column.to_pylist()], pa.large_string())])


def _text_of(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return value.hex() if isinstance(value, bytes) else str(value)
