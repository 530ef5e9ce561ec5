"""Awkward columns of text become the same attributes from every source, and those that are written down here."""

from __future__ import annotations

import csv
import json
import math
import os
import re
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from oddhop import read_network
from oddhop.tables.network import Network
from oddhop.tables.read import Query
from oddhop.tables.read.database import identifier

ROWS = 40
INF = math.inf
IDS = [f"n{k:02d}" for k in range(ROWS)]
EDGES = pa.table({"source": IDS, "target": [*IDS[1:], IDS[0]]})


@dataclass(frozen=True)
class Awkward:
    """A column: its cells and what they must become, row by row.

    ``kind`` is empty where the column must give no attributes.
    """

    cells: tuple[str | None, ...]
    kind: str = ""
    values: tuple[Any, ...] = ()


def of(kind: str, pairs: Sequence[tuple[str | None, Any]]) -> Awkward:
    """Repeat pairs of a cell and its value until there are enough rows."""
    cells, values = zip(*islice(cycle(pairs), ROWS), strict=True)
    return Awkward(cells, kind, values)


def same(*cells: str | None) -> Awkward:
    """Categories that are their own text; None is missing."""
    return of("category", [(cell, cell) for cell in cells])


def rare(kind: str, usual: Sequence[tuple[str, Any]], *last: tuple[str, Any]) -> Awkward:
    """Put other cells behind the usual ones."""
    whole = of(kind, usual)
    kept = ROWS - len(last)
    others, values = zip(*last, strict=True)
    return Awkward((*whole.cells[:kept], *others), kind, (*whole.values[:kept], *values))


def day(year: int, month: int, one: int, hour: int = 0, minute: int = 0, second: int = 0) -> datetime:
    return datetime(year, month, one, hour, minute, second)


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type,misc]


SMALL = [("3", 3.0), ("-1", -1.0), ("12", 12.0), ("7", 7.0)]
TWO_DAYS = [("2024-01-02", day(2024, 1, 2)), ("2023-12-31", day(2023, 12, 31))]
FIRST = ["Anna", "Bert", "Cleo", "Dora", "Emil", "Fritz", "Gerda", "Hans"]
LAST = ["Abel", "Beck", "Conrad", "Dietz", "Engel"]

COLUMNS: dict[str, Awkward] = {
    # Numbers.
    "whole": of("number", SMALL),
    "signs": of("number", [("+2", 2.0), ("+2.5", 2.5), ("-3", -3.0)]),
    "bare points": of("number", [(".5", 0.5), ("5.", 5.0), ("1.25", 1.25)]),
    "exponents": of("number", [("1e5", 1e5), ("1.5E-3", 1.5e-3), ("2e0", 2.0)]),
    "blanks around": of("number", [(" 3 ", 3.0), ("4 ", 4.0), ("  ", None), ("9", 9.0)]),
    "gaps": of("number", [("1", 1.0), (None, None), ("", None), ("6", 6.0)]),
    "nan": of("number", [("1", 1.0), ("nan", None), ("NaN", None), ("3.5", 3.5)]),
    "na": of("number", [("1", 1.0), ("NA", None), ("n/a", None), ("2", 2.0), ("8", 8.0)]),
    "null and none": of("number", [("1", 1.0), ("null", None), ("None", None), ("NULL", None), ("5", 5.0)]),
    "inf": rare("number", SMALL, ("inf", INF), ("-inf", -INF), ("Infinity", INF), ("+inf", INF)),
    "1e400": rare("number", [*SMALL, ("0.5", 0.5)], ("1e400", INF), ("-1e400", -INF)),
    "decimal comma": of("number", [("3,50", 3.5), ("-1,25", -1.25), ("0,5", 0.5), ("12", 12.0)]),
    "German": of("number", [("1.234,56", 1234.56), ("999,90", 999.9), ("1.234.567,89", 1234567.89), ("-3,00", -3.0)]),
    "English": of("number", [("1,234.56", 1234.56), ("999.90", 999.9), ("1,234,567.89", 1234567.89)]),
    "blank thousands": of("number", [("1 234,56", 1234.56), ("12 345,00", 12345.0), ("7,5", 7.5)]),
    "narrow thousands": of("number", [("1\u202f234,56", 1234.56), ("12\u00a0345,5", 12345.5), ("7,25", 7.25)]),
    "Swiss": of("number", [("1'234.50", 1234.5), ("12'345'678.00", 12345678.0), ("7.50", 7.5)]),
    "open comma": of("number", [("1,234", 1234.0), ("2,345", 2345.0), ("7", 7.0)]),
    "open point": of("number", [("1.234", 1.234), ("2.345", 2.345), ("7", 7.0)]),
    "two groups": of("number", [("1.234.567", 1234567.0), ("1.234", 1234.0), ("2.000", 2000.0)]),
    "one proof": of("number", [("1.234", 1234.0), ("2,50", 2.5), ("5.678", 5678.0)]),
    "euros before": of("number", [("€ 3,50", 3.5), ("€12,00", 12.0), ("€ 1.234,50", 1234.5)]),
    "euros after": of("number", [("3,50 €", 3.5), ("12,00€", 12.0), ("1.234,75 €", 1234.75)]),
    "currencies": of("number", [("EUR 3.50", 3.5), ("12.00 USD", 12.0), ("CHF 7.25", 7.25), ("9.10 GBP", 9.1)]),
    "dollars": of("number", [("$3.50", 3.5), ("£12.00", 12.0), ("$ 1,250.25", 1250.25)]),
    "percent": of("number", [("12 %", 12.0), ("7%", 7.0), ("0.5 %", 0.5)]),
    "fifteen digits": of("number", [("123456789012345", 123456789012345.0), ("234567890123456", 234567890123456.0)]),
    "plus seven digits": of("number", [("+1234567", 1234567.0), ("+2345678", 2345678.0), ("5", 5.0)]),
    "one x": rare("number", SMALL, ("x", None)),
    # What looks like numbers and is none.
    "two marks": same("1,5", "1.5", "2,5", "2.5"),
    "codes": same("007", "012", "099"),
    "postal codes": same("01067", "10115", "80331", "99084"),
    "sixteen digits": same("1234567890123456", "6543210987654321", "1111222233334444"),
    "telephones": same("+4917012345", "+493012345678", "+4989123456"),
    "three x": rare("category", [(cell, cell) for cell, _ in SMALL], ("x", "x"), ("x", "x"), ("x", "x")),
    "few and x": Awkward(
        (*["4", "5"] * 6, "x", "x", *[None] * 26), "category", (*["4", "5"] * 6, "x", "x", *[None] * 26)
    ),
    "underscores": same("1_000", "2_000"),
    "other digits": same("١٢", "٣٤"),
    "hexadecimal": same("0x1A", "0x2B"),
    "addresses": same("10.0.0.1", "10.0.0.2", "192.168.1.7"),
    "Indian groups": same("1,23,456", "2,34,567"),
    "signs behind": same("5-", "--5", "7-"),
    # Truth values.
    "truth": of("boolean", [("true", True), ("FALSE", False), ("True", True)]),
    "truth with gaps": of("boolean", [("true", True), ("NA", None), ("false", False), (None, None), ("true", True)]),
    "yes and no": same("yes", "no", "yes"),
    # Dates and times.
    "ISO days": of("date", [*TWO_DAYS, ("2024-02-29", day(2024, 2, 29))]),
    "ISO with slashes": of("date", [("2024/01/02", day(2024, 1, 2)), ("2023/12/30", day(2023, 12, 30))]),
    "German days": of("date", [("02.01.2024", day(2024, 1, 2)), ("5.7.2023", day(2023, 7, 5))]),
    "days first": of("date", [("31/12/2023", day(2023, 12, 31)), ("02/01/2024", day(2024, 1, 2))]),
    "months first": of("date", [("12/31/2023", day(2023, 12, 31)), ("02/01/2024", day(2024, 2, 1))]),
    "open days": of("date", [("02/01/2024", day(2024, 1, 2)), ("03/04/2024", day(2024, 4, 3))]),
    "moments": of(
        "date", [("2024-01-02 03:04:05", day(2024, 1, 2, 3, 4, 5)), ("2024-01-03T13:04", day(2024, 1, 3, 13, 4))]
    ),
    "fractions": of(
        "date",
        [
            ("2024-01-02 03:04:05.25", day(2024, 1, 2, 3, 4, 5).replace(microsecond=250_000)),
            ("2024-01-05 23:59:59.123456", day(2024, 1, 5, 23, 59, 59).replace(microsecond=123_456)),
        ],
    ),
    "zones": of(
        "date",
        [
            ("2024-01-02T03:04:05Z", utc(2024, 1, 2, 3, 4, 5)),
            ("2024-01-03 03:04:05+02:00", utc(2024, 1, 3, 1, 4, 5)),
            ("2024-01-04T03:04+0200", utc(2024, 1, 4, 1, 4)),
            ("2024-01-05 03:04-05", utc(2024, 1, 5, 8, 4)),
        ],
    ),
    "German moments": of(
        "date", [("22.03.2026 17:46", day(2026, 3, 22, 17, 46)), ("01.04.2026 08:00:30", day(2026, 4, 1, 8, 0, 30))]
    ),
    "days with gaps": of("date", [*TWO_DAYS, ("null", None), ("none", None), ("2023-05-05", day(2023, 5, 5))]),
    "one bad day": rare("date", TWO_DAYS, ("2024-02-30", None)),
    "both orders": same("31/12/2023", "12/31/2023", "30/12/2023"),
    "short years": same("02.01.24", "03.01.24"),
    # Words.
    "none is a word": same("none", "gold", "silver"),
    "words with gaps": of(
        "category", [("gold", "gold"), ("NA", None), ("nan", None), ("silver", "silver"), ("", None)]
    ),
    # What gives no attributes.
    "names": Awkward(tuple(f"{first} {last}" for first in FIRST for last in LAST)),
    "labels": Awkward(tuple(f"A-{k:03d}" for k in range(ROWS))),
    "nothing": Awkward((None,) * ROWS),
}


def shuffled(column: Awkward, seed: int) -> Awkward:
    """Bring the rows into another order, so that no two columns have the same pattern."""
    order = np.random.default_rng(seed).permutation(ROWS)
    values = tuple(column.values[k] for k in order) if column.values else ()
    return Awkward(tuple(column.cells[k] for k in order), column.kind, values)


COLUMNS = {name: shuffled(column, seed) for seed, (name, column) in enumerate(COLUMNS.items())}
TEXTS = pa.table({"id": IDS} | {name: pa.array(one.cells, pa.string()) for name, one in COLUMNS.items()})


def typed(column: Awkward) -> pa.Array:
    """Return the values in the type that leaves nothing to find out."""
    zoned = any(isinstance(one, datetime) and one.tzinfo is not None for one in column.values)
    types = {
        "number": pa.float64(),
        "boolean": pa.bool_(),
        "date": pa.timestamp("us", "UTC" if zoned else None),
        "category": pa.dictionary(pa.int32(), pa.string()),
    }
    array = pa.array(column.values, pa.string() if column.kind == "category" else types[column.kind])
    return array.dictionary_encode() if column.kind == "category" else array


EXPECTED = pa.table({"id": IDS} | {name: typed(one) for name, one in COLUMNS.items() if one.kind})


def as_csv(folder: Path) -> Any:
    with (folder / "nodes.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(TEXTS.column_names)
        writer.writerows(zip(*TEXTS.to_pydict().values(), strict=True))
    return folder / "nodes.csv"


def as_parquet(folder: Path) -> Any:
    pq.write_table(TEXTS, folder / "nodes.parquet")
    return folder / "nodes.parquet"


def as_ndjson(folder: Path) -> Any:
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in TEXTS.to_pylist())
    (folder / "nodes.ndjson").write_text(lines, encoding="utf-8")
    return folder / "nodes.ndjson"


def as_sqlite(folder: Path) -> Any:
    with sqlite3.connect(folder / "nodes.db") as connection:
        connection.execute(f"CREATE TABLE nodes ({', '.join(map(identifier, TEXTS.column_names))})")
        marks = ", ".join("?" * TEXTS.num_columns)
        connection.executemany(
            f"INSERT INTO nodes VALUES ({marks})",  # noqa: S608
            list(zip(*TEXTS.to_pydict().values(), strict=True)),
        )
    connection.close()
    return Query(f"sqlite:///{folder / 'nodes.db'}", "select * from nodes")


def as_postgres(folder: Path) -> Any:
    if "ODDHOP_POSTGRES" not in os.environ:
        pytest.skip("ODDHOP_POSTGRES names no database; .ci/postgres starts one")
    quoted = [
        ["null" if cell is None else "'" + cell.replace("'", "''") + "'" for cell in row.values()]
        for row in TEXTS.to_pylist()
    ]
    rows = ", ".join(f"({', '.join(row)})" for row in quoted)
    names = ", ".join(f'"{name}"' for name in TEXTS.column_names)
    texts = ", ".join(f'"{name}"::text as "{name}"' for name in TEXTS.column_names)
    return Query(os.environ["ODDHOP_POSTGRES"], f"select {texts} from (values {rows}) as t({names})")  # noqa: S608


SOURCES: dict[str, Callable[[Path], Any]] = {
    "csv": as_csv,
    "parquet": as_parquet,
    "pandas": lambda _: TEXTS.to_pandas(),
    "polars": lambda _: pl.from_arrow(TEXTS),
    "ndjson": as_ndjson,
    "sqlite": as_sqlite,
    "postgresql": as_postgres,
}


def own(network: Network, column: str) -> dict[str, list[float]]:
    """Return the attributes of a column by name."""
    names = network.graph.attribute_names
    assert names is not None
    mine = {one for one in names if one == column or one.startswith((f"{column}=", f"{column} is missing"))}
    mine |= {one for one in names if one.startswith((f"{column} hour", f"{column} weekday"))}
    matrix = np.asarray(
        network.graph.attributes.todense() if hasattr(network.graph.attributes, "todense") else network.graph.attributes
    )
    return {one: matrix[:, names.index(one)].tolist() for one in names if one in mine}


@pytest.fixture(scope="module")
def expected() -> Network:
    return read_network(EDGES, EXPECTED, flows=False)


@pytest.fixture(scope="module", params=list(SOURCES))
def network(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Network:
    nodes = SOURCES[request.param](tmp_path_factory.mktemp(request.param))
    return read_network(EDGES, nodes, flows=False)


def test_what_is_expected_differs_from_column_to_column(expected):
    assert {one.column for one in expected.encoding.report if not one.attributes} == set()
    assert {one.column: one.kind for one in expected.encoding.report} == {
        name: one.kind for name, one in COLUMNS.items() if one.kind
    }


@pytest.mark.parametrize("name", list(COLUMNS))
def test_a_column_becomes_what_is_written_down(network, expected, name):
    column = COLUMNS[name]
    entry = next(one for one in network.encoding.report if one.column == name)
    if not column.kind:
        assert (entry.attributes, own(network, name)) == (0, {})
        return
    assert (entry.kind, entry.missing) == (column.kind, sum(value is None for value in column.values))
    assert own(network, name) == own(expected, name)


def test_every_source_gives_the_same_attributes_in_the_same_order(network, expected):
    assert network.graph.attribute_names == expected.graph.attribute_names
    ours, theirs = (one.graph.attributes for one in (network, expected))
    assert (ours != theirs).sum() == 0


@pytest.mark.parametrize("name", ["inf", "1e400"])
def test_infinity_is_at_least_the_largest_finite_value(network, name):
    cells, values = COLUMNS[name].values, own(network, name)[name]
    finite = [one for one, cell in zip(values, cells, strict=True) if math.isfinite(cell)]
    assert all(one >= max(finite) for one, cell in zip(values, cells, strict=True) if cell == INF)
    assert all(one <= min(finite) for one, cell in zip(values, cells, strict=True) if cell == -INF)


OPEN = {
    "open comma": ({"decimal": ","}, of("number", [("1,234", 1.234), ("2,345", 2.345), ("7", 7.0)])),
    "open point": ({"decimal": ","}, of("number", [("1.234", 1234.0), ("2.345", 2345.0), ("7", 7.0)])),
    "open days": (
        {"dates": "mdy"},
        of("date", [("02/01/2024", day(2024, 2, 1)), ("03/04/2024", day(2024, 3, 4))]),
    ),
}


@pytest.mark.parametrize("name", list(OPEN))
def test_what_no_cell_decides_is_settable(name):
    options, column = OPEN[name]
    column = shuffled(column, 7)
    texts = pa.table({"id": IDS, "value": pa.array(column.cells)})
    wanted = read_network(EDGES, pa.table({"id": IDS, "value": typed(column)}), flows=False)
    network = read_network(EDGES, texts, flows=False, **options)
    assert network.encoding.report[0].kind == column.kind
    assert own(network, "value") == own(wanted, "value")
    assert own(network, "value") != own(read_network(EDGES, texts, flows=False), "value")


@pytest.mark.parametrize("source", ["csv", "pandas", "ndjson"])
def test_amounts_and_times_of_edges_are_read_as_columns_of_nodes_are(tmp_path, source):
    amounts = rare("number", [("1.234,56", 1234.56), ("999,90", 999.9), ("12,5", 12.5)], ("inf", INF), ("n/a", None))
    times = of("date", [("02.01.2024 10:00", day(2024, 1, 2, 10)), ("31.12.2023 23:59", day(2023, 12, 31, 23, 59))])
    nodes = pa.table({"id": IDS, "size": [float(k % 7) for k in range(ROWS)]})
    texts = EDGES.append_column("Betrag", pa.array(amounts.cells)).append_column("Buchungstag", pa.array(times.cells))
    wanted = EDGES.append_column("Betrag", typed(amounts)).append_column("Buchungstag", typed(times))
    if source == "csv":
        edges: Any = tmp_path / "edges.csv"
        with edges.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, delimiter=";").writerows(
                [texts.column_names, *zip(*texts.to_pydict().values(), strict=True)]
            )
    elif source == "ndjson":
        edges = tmp_path / "edges.ndjson"
        edges.write_text("".join(json.dumps(row) + "\n" for row in texts.to_pylist()))
    else:
        edges = texts.to_pandas()
    network, reference = read_network(edges, nodes), read_network(wanted, nodes)
    assert network.roles is not None
    assert (network.roles.amount, network.roles.time) == (("Betrag",), "Buchungstag")
    assert network.graph.attribute_names == reference.graph.attribute_names
    assert np.array_equal(network.graph.attributes, reference.graph.attributes)


@pytest.mark.parametrize("cell", ["inf", "1e400"])
def test_an_infinite_amount_is_a_large_one_and_not_missing(cell):
    nodes = pa.table({"id": IDS, "size": [float(k % 7) for k in range(ROWS)]})
    plain = [float(k % 9 + 1) for k in range(ROWS)]
    plain[3] = 50.0
    usual = read_network(EDGES.append_column("amount", pa.array(plain)), nodes)
    texts = [str(one) for one in plain]
    texts[3] = cell
    infinite = [*plain[:3], INF, *plain[4:]]
    for amounts in (pa.array(texts), pa.array(infinite)):
        network = read_network(EDGES.append_column("amount", amounts), nodes)
        assert network.roles is not None
        assert (network.roles.amount, network.roles.missing) == (("amount",), ())
        names = [name for name in network.graph.attribute_names if "amount" in name and "out" in name]
        assert names
        largest = network.graph.attribute_names.index(names[0])
        assert network.graph.attributes[3, largest] >= network.graph.attributes[:, largest].max()
        assert usual.graph.attribute_names == network.graph.attribute_names


WARNED = ["one x", "two marks", "three x", "few and x", "signs behind", "one bad day", "both orders", "short years"]


def test_what_is_not_read_as_it_looks_is_a_warning_and_every_option_that_it_names_helps(network):
    doubts = {one.column: one.warning for one in network.encoding.report if one.warning}
    assert sorted(doubts) == sorted(WARNED)
    for column, doubt in doubts.items():
        for kind in re.findall(rf"encode\.kinds\.{re.escape(column)}=(\w+)", doubt):
            forced = TEXTS.select(["id", column])
            again = read_network(EDGES, forced, flows=False, kinds={column: kind})
            assert again.encoding.report[0].kind == kind
