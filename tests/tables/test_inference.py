"""What texts are: the forms, the decision over a whole column, and later tables read as the first."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from oddhop.tables.encode import ColumnReport, Encoding, learn_encoding
from oddhop.tables.inference import FORMS, NAMED, converted, count_classes
from oddhop.tables.network import read_network
from oddhop.tables.settings import ReadSettings

POINT, COMMA = "1,234.56", "1.234,56"
NUMBERS = [
    ("1", 1, 1),
    ("-1.5", -1.5, None),
    ("+2", 2, 2),
    (".5", 0.5, None),
    ("5.", 5, None),
    ("1e5", 1e5, 1e5),
    ("1.5E-3", 0.0015, None),
    ("3,50", None, 3.5),
    ("0,123", None, 0.123),
    ("1.234,56", None, 1234.56),
    ("1,234.56", 1234.56, None),
    ("1 234,56", None, 1234.56),
    ("1\u202f234\u00a0567", 1234567, 1234567),
    ("1'234.50", 1234.5, None),
    ("1\u2019234", 1234, 1234),
    ("1,234", 1234, 1.234),
    ("1.234", 1.234, 1234),
    ("12.34.567", None, None),
    ("€ 3,50", None, 3.5),
    ("3,50 EUR", None, 3.5),
    ("-€3", -3, -3),
    ("CHF-3", -3, -3),
    ("$1,234,567", 1234567, None),
    ("12 %", 12, 12),
    (" 7\t", 7, 7),
    ("inf", np.inf, np.inf),
    ("-Infinity", -np.inf, -np.inf),
    ("1e400", np.inf, np.inf),
    ("0.30000000000000004", 0.30000000000000004, None),
    *((text, None, None) for text in ("007", "1234567890123456", "+4915112345678", "nan", "x", "1e", "-", "1.2.3", "")),
]


@pytest.mark.parametrize(("text", "point", "comma"), NUMBERS, ids=[repr(one[0]) for one in NUMBERS])
def test_a_number_has_one_value_by_the_decimal_mark(text: str, point: float | None, comma: float | None) -> None:
    column = pa.chunked_array([[text]])
    assert converted(column, POINT).to_pylist() == [point]
    assert converted(column, COMMA).to_pylist() == [comma]


DATES = [
    ("2026-03-22", "yyyy-mm-dd", "2026-03-22T00:00:00"),
    ("2026/03/22 17:46", "yyyy-mm-dd", "2026-03-22T17:46:00"),
    ("2026-03-22T17:46:01.25Z", "yyyy-mm-dd", "2026-03-22T17:46:01.250000"),
    ("2026-03-22 17:46:01+0200", "yyyy-mm-dd", "2026-03-22T15:46:01"),
    ("22.03.2026", "dd.mm.yyyy", "2026-03-22T00:00:00"),
    ("2.3.2026 17:46+02", "dd.mm.yyyy", "2026-03-02T15:46:00"),
    ("03/04/2026", "dd/mm/yyyy", "2026-04-03T00:00:00"),
    ("03/04/2026", "mm/dd/yyyy", "2026-03-04T00:00:00"),
    ("13/04/2026", "mm/dd/yyyy", None),
    ("2026-02-30", "yyyy-mm-dd", None),
    ("20260322", "yyyy-mm-dd", None),
    ("22.03.26", "dd.mm.yyyy", None),
]


@pytest.mark.parametrize(("text", "form", "moment"), DATES)
def test_a_date_is_a_moment_in_utc(text: str, form: str, moment: str | None) -> None:
    found = converted(pa.chunked_array([[text]]), form).to_pylist()[0]
    assert (found if found is None else found.isoformat()) == moment


def test_the_classes_of_texts_and_the_values_of_forms_agree() -> None:
    texts = [text for text, *_ in (*NUMBERS, *DATES)]
    texts += ["true", "FALSE", "08:30", "25:00", "none", "N/A", "13.13.2026", "31-12-2026", "(3.50)"]
    for text in texts:
        column = pa.chunked_array([[text]])
        (name,) = count_classes(column)
        for form in FORMS[:-1]:
            assert (converted(column, form.name)[0].as_py() is not None) == (name in form.fits), (text, form.name)


def learned(values: list[Any], **options: Any) -> ColumnReport:
    base = [k % 7 + 0.5 for k in range(len(values))]
    read = ReadSettings(**{name: options.pop(name) for name in ("decimal", "dates") if name in options})
    return learn_encoding(pa.table({"base": base, "x": values}), read=read, **options).report[1]


def made(count: int, form: str) -> list[str]:
    return [form.format(10 + k % 80, k % 90 + 10) for k in range(count)]


DECIDED = [
    ([*made(599, "{},{}"), "x"], "number", COMMA, 1, "1 of 600 values is not a number ('x' in row 600)"),
    ([*made(560, "{}.{}"), *["x"] * 40], "text", "", 0, "40 of 600 values are not numbers"),
    ([*made(300, "{}.{}"), *made(300, "{},{}")], "text", "", 0, "both as"),
    ([*made(599, "{}.{}"), "7,5"], "number", "", 1, "('7,5' in row 600)"),
    ([*made(59, "{}"), "n/a"], "number", "", 1, ""),
    ([*made(10, "{}"), "x"], "category", "", 0, "1 of 11 values are not numbers"),
    (["1,234", "2,345", "3,456"] * 9, "number", "", 0, ""),
    (["03/04/2026", "05/06/2026"] * 9, "date", "dd/mm/yyyy", 0, ""),
    (["03/14/2026", "05/06/2026"] * 9, "date", "mm/dd/yyyy", 0, ""),
    (["03/14/2026", "15/06/2026"] * 9, "category", "", 0, "both as"),
    (["08:30", "09:15"] * 9, "time", "", 0, ""),
    (["007", "012"] * 9, "category", "", 0, ""),
    (["yes", "no"] * 9, "category", "", 0, ""),
    (["none", "card", "NA"] * 9, "category", "", 9, ""),
    (["22.03.26", "23.03.26"] * 9, "category", "", 0, "not read"),
]


@pytest.mark.parametrize(("values", "kind", "form", "missing", "warning"), DECIDED)
def test_a_column_is_decided_by_all_its_values(
    values: list[str], kind: str, form: str, missing: int, warning: str
) -> None:
    for turned in (values, values[::-1]):
        entry = learned(turned)
        assert (entry.kind, entry.form, entry.missing) == (kind, form, missing)
        assert bool(entry.warning) == bool(warning)
    assert warning in learned(values).warning


def test_what_no_value_proves_is_said_and_can_be_set() -> None:
    prices, days = ["1,234", "2,345"] * 9, ["03/04/2026", "05/06/2026"] * 9
    assert "--decimal ," in learned(prices).done
    assert learned(prices, decimal=",").form == COMMA
    assert "--dates mdy" in learned(days).done
    assert learned(days, dates="mdy").form == "mm/dd/yyyy"


def test_a_kind_that_is_set_holds_and_the_rest_is_counted() -> None:
    entry = learned([*made(20, "{}"), *["x"] * 30], kinds={"x": "number"})
    assert (entry.kind, entry.missing) == ("number", 30)
    assert "30 of 50 values are not numbers" in entry.warning


def test_names_are_compared_only_where_nothing_else_is_there() -> None:
    names = [f"Anna van M{k}" for k in range(60)]
    table = pa.table({"base": [k % 7 for k in range(60)], "name": names})
    encoding = learn_encoding(table)
    assert (encoding.names, encoding.shown) == (("base",), ("name",))
    assert encoding.quoted(table.column_names, ()) == ["name"]
    assert learn_encoding(table, kinds={"name": "text"}).report[1].kind == "text"
    assert learn_encoding(table.select(["name"])).report[0].kind == "text"
    assert learn_encoding(table, kinds={"base": "ignore"}).report[1].kind == "text"


def test_an_infinite_value_is_beyond_all_others() -> None:
    for wide in ([*map(str, range(40)), "inf", "-1e400"], [*map(float, range(40)), np.inf, -np.inf]):
        table = pa.table({"x": wide})
        encoding = learn_encoding(table)
        values = encoding.apply(table)[0][:, 0]
        assert np.isfinite(values).all()
        assert values[:40].max() < values[40]
        assert values[41] < values[:40].min()
        assert "2 infinite" in encoding.report[0].done
        later = encoding.apply(pa.table({"x": wide[30:]}))[0][:, 0]
        assert (later == values[30:]).all()


def test_later_tables_are_read_in_the_form_of_the_first() -> None:
    first = pa.table(
        {"x": made(60, "{},{}"), "when": made(60, "{0}.01.20{1}")[:0] or [f"{k % 9 + 1}.3.2026" for k in range(60)]}
    )
    encoding = learn_encoding(first)
    encoding = Encoding.from_json(json.loads(json.dumps(encoding.to_json())))
    later = pa.table({"x": ["12,50", "1.234", "7.5", None], "when": ["1.4.2026", "2026-04-01", "4/1/2026", "NA"]})
    attributes, _ = encoding.apply(later)
    assert attributes[0, 0] < attributes[1, 0]  # 12.5 and 1234
    lost = {one.column: (one.count, one.first) for one in encoding.differences(later) if "not a" in one.what}
    assert lost == {"x": (1, "'7.5' in row 3"), "when": (1, "'4/1/2026' in row 3")}


@pytest.mark.parametrize("cell", ["x", "1;5", "007", "inf", "1e400", "7,5", "", "nan", "2026-01-01"])
def test_one_cell_neither_hides_a_column_nor_fails_the_night(cell: str) -> None:
    rng = np.random.default_rng(0)
    ids = [f"n{k:03d}" for k in range(60)]
    ends = {"source": rng.choice(ids, 200), "target": rng.choice(ids, 200)}
    euros = [f"{k / 7:.2f}" for k in range(200)]
    income = [f"{k * 37 % 60}.5" for k in range(60)]
    edges, people = pa.table({**ends, "euros": euros}), pa.table({"id": ids, "income": income})
    network = read_network(edges, people)
    changed = pa.table({**ends, "euros": [cell, *euros[1:]]}), pa.table({"id": ids, "income": [cell, *income[1:]]})
    found = read_network(*changed)
    assert [name for name in found.encoding.names if not name.endswith("missing")] == list(network.encoding.names)
    again = read_network(*changed, encoding=network.encoding)
    assert again.graph.attribute_count == network.graph.attribute_count
    if cell not in ("", "nan", "inf", "1e400"):
        assert any(repr(cell) in text and "'n000'" in text for _, text in found.warnings)
        assert any(repr(cell) in one.first and "'n000'" in one.first for one in again.differences)
        assert any(repr(cell) in text for text in again.roles.sentences(None))


def test_every_form_has_a_name_of_its_own() -> None:
    assert len(NAMED) == len(FORMS)
