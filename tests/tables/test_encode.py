"""Columns become attributes; the cases are those of docs/tables.md."""

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from oddhop import Graph
from oddhop.errors import EncodingError, ModelFileError, SettingsError
from oddhop.tables.encode import Encoding, learn_encoding

PAGE = Path(__file__).parents[2] / "docs" / "tables.md"
NOON = dt.datetime(2024, 1, 1, 12)  # a Monday
BASE = [1.5, 0.5, 2.5, 3.5] * 6  # a column that is always kept
SIN, COS = ["x hour sin", "x hour cos"], ["x weekday sin", "x weekday cos"]

# what the page calls it, 24 values or fewer to repeat, their Arrow type, kind, names, and how the report begins
CASES = [
    ("numbers", [1, 2, 3, 5], None, "number", ["x"], "distance from the median"),
    ("numbers with gaps", [1.5, None, 3.0, float("nan")], None, "number", ["x", "x is missing"], "distance from the"),
    ("a heavy tail", [0.0, 1.0, 2.0, 3.0, 4.0, 5e11], None, "number", ["x"], "signed logarithm"),
    ("zeros and ones", [0, 1, 1, 0], None, "number", ["x"], "used unchanged"),
    ("decimals", [Decimal("1.50"), Decimal("2.25"), Decimal("7.00")], None, "number", ["x"], "distance"),
    ("durations", [dt.timedelta(hours=i) for i in (1, 2, 7)], None, "number", ["x"], "distance"),
    ("one number and gaps", [7, None], None, "number", ["x is missing"], "only one value; 12 missing, marked"),
    ("truth values", [True, False, None], None, "boolean", ["x", "x is missing"], "used unchanged"),
    (
        "few strings",
        ["a", "b", "a", "b"],
        None,
        "category",
        ["x=a", "x=b", "x=other"],
        "one 0/1 attribute for each of 2 level(s)",
    ),
    (
        "few strings with gaps",
        ["a", None],
        None,
        "category",
        ["x=a", "x=other", "x is missing"],
        "one 0/1 attribute for each of 1 level(s)",
    ),
    (
        "a dictionary",
        [3, 5],
        "dictionary",
        "category",
        ["x=3", "x=5", "x=other"],
        "one 0/1 attribute for each of 2 level(s)",
    ),
    ("dates", [dt.date(2024, 1, 1), dt.date(2024, 1, 3)], None, "date", ["x", *COS], "days since 1970, day of week"),
    ("timestamps", [NOON, NOON + dt.timedelta(hours=3)], None, "date", ["x", *SIN], "days since 1970, hour of day;"),
    ("times of day", [dt.time(1), dt.time(5), dt.time(6)], None, "time", ["x"], "distance"),
    (
        "texts",
        [f"row {i} says hello" for i in range(24)],
        None,
        "text",
        [f"x #{i}" for i in range(256)],
        "words hashed",
    ),
    ("names and notes", [f"row {i} says hello" for i in range(24)], None, "shown", [], "shown, not compared"),
    ("one value only", [4.0], None, "number", [], "dropped: constant"),
    ("no value", [None], None, "", [], "dropped: every value is missing"),
    ("ids", [f"n{i}" for i in range(24)], None, "category", [], "dropped: like an id: 24 distinct values"),
    ("numbered rows", list(range(7, 31)), None, "number", [], "dropped: like an id: every whole number from 7 to 30"),
    ("a copy", BASE, None, "number", [], "dropped: the same as 'base'"),
    ("lists, structs, bytes", [[1, 2], [3]], None, "", [], "dropped: the type list<"),
]


def repeated(values, kind):
    column = pa.array((values * 24)[:24], None if kind == "dictionary" else kind)
    return column.dictionary_encode() if kind == "dictionary" else column


@pytest.mark.parametrize(("title", "values", "arrow", "kind", "names", "done"), CASES, ids=[case[0] for case in CASES])
def test_every_kind_of_column_becomes_what_the_page_says(title, values, arrow, kind, names, done):
    table = pa.table({"base": BASE, "x": repeated(values, arrow)})
    encoding = learn_encoding(table, kinds={"x": "text"} if kind == "text" else {})
    attributes, got = encoding.apply(table)
    entry = encoding.report[1]
    assert (entry.column, entry.kind, list(got[1:]), entry.attributes) == ("x", kind, names, len(names))
    assert entry.done.startswith(done)
    assert sp.issparse(attributes) == (kind == "text")
    assert attributes.dtype == np.float32
    assert attributes.shape == (24, 1 + len(names))
    # The page has the same cases: kind and outcome stand in the row of the title.
    row = next(line for line in PAGE.read_text().splitlines() if line.startswith(f"| {title} |"))
    assert f"| {kind or 'none'} |" in row
    assert ("dropped" in row or "not compared" in row) == (not names)


SELDOM = [
    (pa.array(["a", None, "b", "a"], pa.string_view()), "category"),
    (pa.DictionaryArray.from_arrays(pa.array([0, 1, 1, 0]), pa.array(["u", None], pa.string_view())), "category"),
    (pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 0]), pa.array([Decimal(1), Decimal(2)])), "category"),
    (pa.array(np.array([1, 1, 3, 3], np.float16)), "category"),
    (pa.array(np.array([1, 2, 3, 4], np.float16)), "number"),
    (pa.array([1.0, 1.0, 2.5, float("inf")]), "category"),
    (pa.array([True, False, None, True]), "category"),
    (pa.array(["a b", "b", None, "b"], pa.string_view()), "text"),
    (pa.array([1, 2, 3, 9], pa.decimal256(40, 2)), "number"),
    (pa.array([2**64 - 1, 0, 5, None], pa.uint64()), "number"),
    (pa.array([0, 10**12, 5, None], pa.timestamp("ms", "Europe/Amsterdam")), "date"),
    (pa.array([dt.date(2024, 1, 1), dt.date(2024, 1, 2)] * 2, pa.date64()), "date"),
    (pa.array([1, 2, 5, None], pa.time32("ms")), "time"),
]


@pytest.mark.parametrize(("values", "kind"), SELDOM, ids=[f"{one.type} as {kind}" for one, kind in SELDOM])
def test_types_that_are_seldom_met_are_read_too(values, kind):
    table = pa.table({"base": [1.5, 2.5, 4.0, 0.5], "x": values})
    encoding = learn_encoding(table, kinds={"x": kind})
    assert encoding.report[1].attributes
    assert np.isfinite(dense(encoding.apply(table)[0])).all()
    assert encoding.apply(table.slice(0, 0))[0].shape == (0, len(encoding.names))
    assert Encoding.from_json(encoding.to_json()) == encoding


def number(values, **settings):
    table = pa.table({"x": values})
    return learn_encoding(table, **settings).apply(table)[0][:, 0]


def test_a_heavy_tail_is_tamed_and_a_light_one_is_not():
    light, heavy = number([0.0, 1.0, 2.0, 3.0, 12.0]), number([0.0, 1.0, 2.0, 3.0, 5e11])
    assert light.tolist() == [-1.0, -0.5, 0.0, 0.5, 5.0]
    np.testing.assert_allclose(heavy, [-np.log(2), -np.log(1.5), 0, np.log(1.5), np.log(2.5e11)], rtol=1e-6)
    assert learn_encoding(pa.table({"x": [0.0, 1.0, 2.0, 3.0, 5e11]})).report[0].tamed == 1


def test_numbers_that_are_mostly_the_same_are_measured_by_the_others():
    assert number([0.0] * 10 + [2.0, 4.0, 6.0]).tolist() == [0.0] * 10 + [0.5, 1.0, 1.5]


@pytest.mark.parametrize(
    "values",
    [
        [1e300, -1e300, 1.0],
        [1.7e308, -1.7e308, 1.7e308, -1.7e308],
        [5e-324, 0.0, 1e308],
        [-0.0, 0.0, 1.0, -1e-320],
        [float("nan"), float("inf"), -float("inf"), 1.0, 2.0],
        [2**63 - 1, -(2**63), 0],
    ],
)
def test_extreme_values_stay_finite_and_in_order(values):
    out = number(values)
    assert np.isfinite(out).all()
    good = np.isfinite(np.array(values, dtype=float))
    order = np.argsort(np.array(values, dtype=float)[good], kind="stable")
    assert (np.diff(out[good][order]) >= 0).all()


def test_values_far_beyond_what_was_seen_stay_finite():
    encoding = learn_encoding(pa.table({"x": [1.0, 2.0, 3.0]}))
    new = pa.table({"x": [1e300, -1e300, 2.0, None]})
    out = encoding.apply(new)[0][:, 0]
    assert np.isfinite(out).all()
    assert out[0] == -out[1] > 10
    assert [(one.what.split(":")[0], one.count) for one in encoding.differences(new)] == [
        ("far beyond what was seen before", 2),
        ("missing, where none was missing before", 1),
    ]


def test_rare_levels_are_pooled_and_unseen_ones_join_them():
    table = pa.table({"x": ["a"] * 5 + ["b"] * 4 + ["c", "other", "other"]})
    encoding = learn_encoding(table)
    out, names = encoding.apply(table)
    assert names == ("x=a", "x=b", "x='other'", "x=other")
    assert out.sum(axis=0).tolist() == [5, 4, 2, 1]
    assert encoding.report[0].pooled == 1
    new = pa.table({"x": ["z", None, "a", "other"], "y": [1, 2, 3, 4]})
    assert encoding.apply(new)[0].argmax(axis=1).tolist() == [3, 3, 0, 2]
    assert [(one.column, one.count) for one in encoding.differences(new)] == [("x", 1), ("x", 1), ("y", 4)]


def test_a_table_like_the_one_learned_from_has_no_differences():
    table = pa.table(
        {"x": [1.0, 2.0, None, 3.0], "c": ["a", "b", "b", "a"], "t": ["a b", "c d", "e f", None], "k": [1] * 4}
    )
    assert learn_encoding(table).differences(table) == ()


def test_only_the_most_frequent_levels_are_kept():
    table = pa.table({"x": ["a", "b", "b", "c", "c", "c", "a", "d", "d", "d"]})
    names = learn_encoding(table, kinds={"x": "category"}, max_levels=2).apply(table)[1]
    assert names == ("x=c", "x=d", "x=other")
    assert learn_encoding(table, rare=0.25).names == names
    assert learn_encoding(table, max_levels=2).report[0].kind == "text"


def test_a_level_is_the_same_as_integer_and_as_float():
    encoding = learn_encoding(pa.table({"zip": [10, 20, 10, 20]}), kinds={"zip": "category"})
    out = encoding.apply(pa.table({"zip": [20.0, float("nan"), -0.0]}))[0]
    assert out.argmax(axis=1).tolist() == [1, 2, 2]


def test_words_are_hashed_once_a_row_whatever_their_case_and_form():
    table = pa.table({"x": ["Café au lait", "cafe\u0301, CAFÉ au-lait!", "tea", None, "", "?!"]})
    out, names = learn_encoding(table, kinds={"x": "text"}, text_columns=1000).apply(table)
    rows = out.toarray()
    assert (rows[0] == rows[1]).all()
    assert rows.sum(axis=1).tolist() == [3, 3, 1, 1, 1, 0]  # nothing is missing
    assert names[-1] == "x is missing"
    assert np.flatnonzero(rows[2]).tolist() == [23]  # the same on every machine and in every version


@pytest.mark.parametrize(
    ("rows", "gaps", "marked"), [(600, 1, False), (600, 5, False), (600, 6, True), (50, 1, True), (5_000, 10, True)]
)
def test_a_few_gaps_are_filled_without_a_mark(rows: int, gaps: int, marked: bool) -> None:
    values = [None if row < gaps else float(row) for row in range(rows)]
    encoding = learn_encoding(pa.table({"x": values, "y": np.sin(np.arange(rows))}))
    assert ("x is missing" in encoding.names) == marked
    (report,) = (one for one in encoding.report if one.column == "x")
    assert report.missing == gaps
    assert f"{gaps} missing, filled with the median" in report.done
    assert report.done.endswith("marked") == marked


def test_names_like_those_of_ids_matter_only_for_distinct_whole_numbers():
    table = pa.table({"user_id": [5, 90, 31, 7], "userId": [1, 1, 2, 3], "paid": [4, 90, 31, 7], "key": [0.5, 1, 2, 3]})
    assert learn_encoding(table).names == ("userId", "paid", "key")
    forced = learn_encoding(table, kinds={"user_id": "number", "userId": "ignore"})
    assert forced.names == ("user_id", "paid", "key")
    assert forced.report[1].done == "ignored, as set"


def test_a_code_and_its_label_are_one_column():
    table = pa.table({"code": ["k1", "k2", "k2", "k1"], "label": ["z", "a", "a", "z"]})
    assert learn_encoding(table).report[1].done == "dropped: the same as 'code'"


def test_no_two_attributes_have_the_same_name():
    table = pa.table(
        {"a": ["b=c", "d"] * 4, "a=b": ["c", "c", "d", "e"] * 2, "d is missing": [1, 2] * 4, "d": [None, 3.0] * 4}
    )
    names = learn_encoding(table).names
    assert len(set(names)) == len(names)


def test_numbers_beside_others_reach_a_graph():
    table = pa.table({"age": [31.0, None, 25.0], "note": ["paid in cash", "paid by card", "not paid yet at all"]})
    attributes, names = learn_encoding(table, kinds={"note": "text"}).apply(table)
    graph = Graph.from_arrays([[0, 1], [1, 2]], attributes, attribute_names=names)
    assert graph.attribute_count == len(names) == 258


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        ({"agee": "number"}, "column 'agee', which does not exist; did you mean 'age'"),
        ({"age": "nummer"}, "kind 'nummer', which does not exist; did you mean 'number'"),
        ({"age": "text"}, "'age' is int64 and cannot be read as text, only as number or category"),
        ({"list": "number"}, "cannot be read as number, nor as anything else"),
    ],
)
def test_kinds_that_cannot_be_are_refused(kinds, message):
    table = pa.table({"age": [1, 2, 4], "list": [[1], [2], [3]]})
    with pytest.raises(EncodingError, match=message):
        learn_encoding(table, kinds=kinds)


@pytest.mark.parametrize(
    "bad", [{"max_levels": 0}, {"max_levels": True}, {"rare": 1}, {"rare": "a"}, {"text_columns": 0}]
)
def test_settings_out_of_range_are_refused(bad):
    with pytest.raises(SettingsError, match=next(iter(bad))):
        learn_encoding(pa.table({"x": [1, 2]}), **bad)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"x": [1]}, "got dict; for a data frame pass pyarrow.Table.from_pandas"),
        (pa.table({"x": pa.array([], pa.int64())}), "no rows"),
        (pa.table({}), "no rows"),
        (pa.table({"x": [1.0], "y": ["a"]}), r"'x' \(dropped: constant\), 'y' \(dropped: constant\)"),
        (pa.table({"x": [None, None]}), "every value is missing"),
        (pa.table([[1], [2]], names=["x", "x"]), "more than one column called 'x'"),
    ],
)
def test_a_table_without_a_usable_column_is_refused(table, message):
    with pytest.raises(EncodingError, match=message):
        learn_encoding(table)


def test_columns_that_lack_or_changed_their_type_are_named():
    encoding = learn_encoding(pa.table({"age": [1, 2, 4], "pays": ["a", "a", "b"]}))
    with pytest.raises(EncodingError, match="needs the columns 'pays', got a table with 'age', 'z'"):
        encoding.apply(pa.table({"age": [1], "z": [1]}))
    with pytest.raises(EncodingError, match="'age' was learned as number and is now timestamp"):
        encoding.apply(pa.table({"age": pa.array([1], pa.timestamp("us")), "pays": ["a"]}))
    empty = pa.table({"age": pa.array([], pa.int32()), "pays": pa.array([], pa.large_string())})
    assert encoding.apply(empty)[0].shape == (0, 3)
    unknown = encoding.apply(pa.table({"age": pa.nulls(2), "pays": pa.nulls(2)}))[0]
    assert unknown.tolist() == [[0.0, 0.0, 1.0]] * 2


moments = st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2200, 1, 1))
COLUMNS = {
    "number": (st.floats(), pa.float64()),
    "integer": (st.integers(-(2**63), 2**63 - 1), pa.int64()),
    "small": (st.integers(0, 3), pa.int8()),
    "single": (st.floats(width=32), pa.float32()),
    "truth": (st.booleans(), pa.bool_()),
    "choice": (st.sampled_from(["a", "b", "c", "", "other"]), pa.string()),
    "text": (st.text(max_size=20), pa.large_string()),
    "moment": (moments, pa.timestamp("us")),
    "day": (st.dates(), pa.date32()),
    "time": (st.times(), pa.time64("us")),
}


@st.composite
def tables(draw):
    rows = draw(st.integers(2, 30))
    chosen = draw(st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=5, unique=True))
    columns = {}
    for name in chosen:
        values, kind = COLUMNS[name]
        column = draw(st.lists(st.none() | values, min_size=rows, max_size=rows))
        columns[name] = pa.array(column, kind)
    columns["base"] = pa.array([0.5 + i % 2 for i in range(rows)])
    return pa.table(columns)


def dense(attributes):
    return attributes.toarray() if sp.issparse(attributes) else attributes


@settings(deadline=None, max_examples=150)
@given(tables(), st.randoms(use_true_random=False), st.integers(1, 29))
def test_the_order_of_rows_and_their_chunks_change_nothing(table, random, cut):
    order = list(range(table.num_rows))
    random.shuffle(order)
    shuffled = table.take(order)
    chunked = pa.concat_tables([shuffled.slice(0, cut), shuffled.slice(cut)])
    one, other = learn_encoding(table), learn_encoding(chunked)
    assert one == other
    assert dense(one.apply(table)[0])[order].tobytes() == dense(other.apply(chunked)[0]).tobytes()


@settings(deadline=None, max_examples=150)
@given(tables())
def test_the_output_is_finite_and_as_reported_and_survives_json(table):
    before = table.to_pydict()
    encoding = learn_encoding(table)
    attributes, names = encoding.apply(table)
    assert np.isfinite(dense(attributes)).all()
    assert names == encoding.names
    assert attributes.shape == (table.num_rows, sum(entry.attributes for entry in encoding.report))
    assert [entry.column for entry in encoding.report] == table.column_names
    back = Encoding.from_json(json.loads(json.dumps(encoding.to_json())))
    assert back == encoding
    again = back.apply(table)
    assert dense(again[0]).tobytes() == dense(attributes).tobytes()
    assert again[1] == names
    assert repr(table.to_pydict()) == repr(before)


def changed(change):
    table = pa.table({"x": [1.0, 2.0, 4.0], "c": ["a", "a", "b"], "t": ["a b", "c d", "e f"]})
    document = learn_encoding(table, kinds={"t": "text"}).to_json()
    change(document)
    return document


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(schema=2), "schema 2, expected 1"),
        (lambda d: d.update(schema=True), "schema True"),
        (lambda d: d.pop("columns"), "columns: Field required"),
        (lambda d: d.update(columns=[]), "at least one column"),
        (lambda d: d.update(more=1), "more: "),
        (lambda d: d["columns"].append(d["columns"][0]), "each column once"),
        (lambda d: d["columns"][0].update(kind="eval"), "columns.0"),
        (lambda d: d["columns"][0].update(values=False), "at least one attribute"),
        (lambda d: d["columns"][0].update(more=1), "columns.0.number.more"),
        (lambda d: d["columns"][0]["scale"].update(half_range=0.0), "half_range: Input should be greater than 0"),
        (lambda d: d["columns"][0]["scale"].update(centre="1"), "centre"),
        (lambda d: d["columns"][0]["scale"].update(centre=float("nan")), "not a JSON document"),
        (lambda d: d["columns"][1].update(levels=["a", "a"]), "repeated"),
        (lambda d: d["columns"][1].update(levels=[1]), "levels.0"),
        (lambda d: d["columns"][1].update(levels=["\ud800"]), "not a JSON document"),
        (lambda d: d["columns"][2].update(width=10**9), "width"),
        (lambda d: d["report"][0].update(missing=-1), "missing"),
        (lambda d: d.update(columns={1, 2}), "not a JSON document"),
    ],
)
def test_a_changed_document_is_refused(change, message):
    with pytest.raises(ModelFileError, match=message):
        Encoding.from_json(changed(change))


@pytest.mark.parametrize("document", [None, [], 3, "x"])
def test_what_is_no_document_is_refused(document):
    with pytest.raises(ModelFileError):
        Encoding.from_json(document)


def test_strings_that_are_dates_numbers_or_truth_values_are_those() -> None:
    rows = 60
    days = [f"2026-01-{1 + k % 28:02d}" for k in range(rows)]
    typed = pa.table(
        {
            "when": pa.array(days).cast(pa.timestamp("us")),
            "euros": [k / 7 for k in range(rows)],
            "open": [k % 3 == 0 for k in range(rows)],
        }
    )
    texts = pa.table(
        {
            "when": days,
            "euros": [f" {k / 7!r}" for k in range(rows)],
            "open": ["TRUE" if k % 3 == 0 else "false" for k in range(rows)],
        }
    )
    encoding = learn_encoding(texts)
    assert [one.kind for one in encoding.report] == ["date", "number", "boolean"]
    assert encoding.columns == learn_encoding(typed).columns
    assert [one.type for one in encoding.report] == ["date32[day]", "double", "bool"]
    expected = learn_encoding(typed).apply(typed)[0]
    for table in (texts, typed):  # learned from the one, the other may follow
        np.testing.assert_array_equal(encoding.apply(table)[0], expected)
    lost = encoding.differences(texts.set_column(0, "when", pa.array(["soon"] * rows)))
    assert [(one.column, one.count, one.first) for one in lost] == [("when", rows, "'soon' in row 1")]


def test_codes_of_digits_stay_codes() -> None:
    rows = 60
    table = pa.table(
        {
            "area": [f"{k % 5:03d}" for k in range(rows)],
            "card": [str(7_919 * k + 10**15) for k in range(rows)],
            "born": [str(1950 + k % 20) for k in range(rows)],
        }
    )
    kinds = {one.column: (one.kind, one.attributes) for one in learn_encoding(table).report}
    assert kinds["area"][0] == "category"
    assert kinds["card"][1] == 0  # like an id
    assert kinds["born"] == ("number", 1)
    assert learn_encoding(table, kinds={"born": "category"}).report[2].kind == "category"


def test_attributes_of_one_name_are_numbered_from_two():
    columns = [SimpleNamespace(names=names) for names in (("x", "y"), ("x",), ("x (2)", "x"))]
    assert Encoding.names.fget(SimpleNamespace(columns=columns)) == ("x", "y", "x (2)", "x (2) (2)", "x (3)")
