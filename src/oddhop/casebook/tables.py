"""Verdicts from a table, and the book as a table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from oddhop.casebook.book import Book, exported
from oddhop.casebook.entry import NewVerdict
from oddhop.casebook.stores import COLUMNS
from oddhop.errors import SettingsError, TableError
from oddhop.tables.read.texts import read_texts
from oddhop.tables.results import write_csv, write_parquet

AT_ONCE = 1_000
TYPES = {"rank": pa.int64(), "score": pa.float64(), "tombstone": pa.bool_(), "members": pa.list_(pa.string())}
WRITTEN = pa.schema([(name, TYPES.get(name, pa.string())) for name in (*COLUMNS, "members")])


def read_verdicts(table: Any, who: str) -> list[NewVerdict]:
    """Read verdicts from a table with the columns case and verdict, and reason, note and who where it has them.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from oddhop.casebook.tables import read_verdicts
    >>> read_verdicts(pa.table({"case": ["c1"], "verdict": ["cleared"], "reason": ["family"]}), who="ann")
    [NewVerdict(case_id='c1', verdict='cleared', reason='family', note='', who='ann')]
    """
    what = "the table of verdicts"
    found = read_texts(table, what, ("case", "verdict"), ("reason", "note", "who"))
    out: dict[str, NewVerdict] = {}
    for row in found:
        said = {name: (row.get(name) or "").strip() for name in ("verdict", "reason", "note", "who")}
        case = (row["case"] or "").strip()
        if not case or case in out:
            problem = "has a row without a case" if not case else f"has the case {case!r} twice"
            raise TableError(f"{what} {problem}", "give every case one row")
        out[case] = NewVerdict(case, said["verdict"], said["reason"], said["note"], said["who"] or who)
    return [out[case] for case in sorted(out)]


def export_entries(book: Book, out: Path) -> int:
    """Write all entries of a book as Parquet or CSV, by the end of the name; return how many there are.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pyarrow.parquet as pq
    >>> from oddhop.casebook import Entry, open_book
    >>> from oddhop.casebook.tables import export_entries
    >>> with tempfile.TemporaryDirectory() as folder, open_book(f"{folder}/cases.db") as book:
    ...     book.append([Entry("c1", "open", members=("a", "b"))])
    ...     _ = export_entries(book, Path(folder, "cases.parquet"))
    ...     pq.read_table(Path(folder, "cases.parquet"))["members"].to_pylist()
    [['a', 'b']]
    """
    form = out.suffix.lower()
    if form not in (".csv", ".parquet", ".pq"):
        raise SettingsError(
            f"the file of an export must be .parquet or .csv, got {out.name!r}", "change the name of the file"
        )
    table = pa.Table.from_batches(_batches(book), WRITTEN)
    if form == ".csv":
        texts = pa.array([json.dumps(some, ensure_ascii=False) for some in table["members"].to_pylist()], pa.string())
        write_csv(table.set_column(table.num_columns - 1, "members", texts), out)
    else:
        write_parquet(table, out)
    return int(table.num_rows)


def _batches(book: Book) -> Iterator[pa.RecordBatch]:
    left = book.entries()
    while some := list(islice(left, AT_ONCE)):
        yield pa.RecordBatch.from_pylist([exported(entry) for entry in some], WRITTEN)
