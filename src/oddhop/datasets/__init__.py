"""Small made-up tables that ship with oddhop, to try it on. ``oddhop example`` writes them as CSV files.

Every case hides a few schemes, which its ``planted`` table lists, beside look-alikes that are innocent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

from oddhop.errors import SettingsError

NEXT = "-june"
COMMANDS = {
    "payments": ("oddhop detect payments.csv --nodes accounts.csv --out run --top 8",),
    "reviews": (
        "oddhop detect reviews.csv --nodes reader=readers.csv --nodes book=books.csv --source reader --target book",
        "  --source-kind reader --target-kind book --judge reader --out run --top 5",
    ),
    "citations": ("oddhop detect citations.csv --nodes papers.csv --out run --detector hcm --top 10",),
}
"""What to type next, by case."""


@dataclass(frozen=True, eq=False)
class Example:
    """The tables of one case, as Arrow tables; ``to_pandas()`` makes a pandas frame of each.

    Attributes
    ----------
    edges, nodes : the two tables. Where there are several kinds of nodes, ``nodes`` is a dictionary by kind.
    next_edges, next_nodes : the same a month later, for a model that was fitted before; None where there is no later
        month.
    planted : what was hidden on purpose, one row per node, and which look-alikes are innocent.
    """

    edges: pa.Table
    nodes: pa.Table | Mapping[str, pa.Table]
    planted: pa.Table
    next_edges: pa.Table | None = None
    next_nodes: pa.Table | Mapping[str, pa.Table] | None = None


def load_payments() -> Example:
    """Return payments of May between 600 accounts, and those of June.

    In May a takeover at night, a chain of firms, a ring, a mule, a clique and a florist are hidden. A treasurer, an
    employer, a bakery that pays at night and a family only look unusual. In June they are all there is.

    Examples
    --------
    >>> from oddhop.datasets import load_payments
    >>> example = load_payments()
    >>> example.edges.column_names, example.nodes.num_rows
    (['payer', 'payee', 'euros', 'booked'], 600)
    """
    tables = _tables("payments")
    return Example(
        tables["payments"], tables["accounts"], tables["planted"], tables["payments-june"], tables["accounts-june"]
    )


def load_reviews() -> Example:
    """Return reviews of 240 books by 500 readers in spring, and those of summer. Readers and books are two kinds.

    In spring eight readers are paid for praise, and a machine reviews 45 books in half an hour. A book club only
    looks unusual.

    Examples
    --------
    >>> from oddhop.datasets import load_reviews
    >>> example = load_reviews()
    >>> {kind: table.num_rows for kind, table in example.nodes.items()}
    {'reader': 500, 'book': 240}
    """
    tables = _tables("reviews")
    now, later = ({"reader": tables[f"readers{one}"], "book": tables[f"books{one}"]} for one in ("", NEXT))
    return Example(tables["reviews"], now, tables["planted"], tables[f"reviews{NEXT}"], later)


def load_citations() -> Example:
    """Return citations between 500 papers of five fields; ten papers cite all fields at random.

    There are no amounts and no times, as in the paper on HCM.

    Examples
    --------
    >>> from oddhop.datasets import load_citations
    >>> example = load_citations()
    >>> example.edges.num_rows, example.planted.num_rows
    (2080, 10)
    """
    tables = _tables("citations")
    return Example(tables["citations"], tables["papers"], tables["planted"])


def write_example(case: str, folder: Path) -> list[Path]:
    """Write the tables of a case as CSV files, and return their paths; a file that exists is left as it is."""
    tables = {folder / f"{name}.csv": table for name, table in _tables(case).items()}
    there = [path for path in tables if path.exists()]
    if there:
        raise SettingsError(f"{there[0]} already exists", "choose another folder, or remove the file")
    folder.mkdir(parents=True, exist_ok=True)
    for path, table in tables.items():
        csv.write_csv(table, path, csv.WriteOptions(quoting_style="needed", quoting_header="needed"))
    return list(tables)


def _tables(case: str) -> dict[str, pa.Table]:
    found = sorted((Path(__file__).parent / case).glob("*.parquet"))
    return {file.stem: _in_seconds(pq.read_table(file)) for file in found}


def _in_seconds(table: pa.Table) -> pa.Table:
    """Return a table whose times are whole seconds, which Parquet does not know."""
    types = [pa.timestamp("s") if pa.types.is_timestamp(field.type) else field.type for field in table.schema]
    return table.cast(pa.schema(list(zip(table.column_names, types, strict=True))))
