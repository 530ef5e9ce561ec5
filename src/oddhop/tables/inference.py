"""What the texts of a column are: numbers, dates, times or truth values, by one list of forms and all the values.

Every source comes here: a column of a table of DuckDB is SQL, and a column of Arrow is put before DuckDB.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from oddhop.tables.settings import ReadSettings

if TYPE_CHECKING:
    import duckdb

Column: TypeAlias = Any  # pyarrow has no types: a pa.ChunkedArray
RowName: TypeAlias = Callable[[int], str]
NEARLY_ALL, HALF = 0.95, 0.5
FEWEST = 20  # of fewer values all must fit
LARGEST = 1e300  # what an infinite amount counts as: sums of it stay finite

# The patterns are those of RE2.
SPACE = r"\s\x{A0}\x{202F}\x{2009}\x{FEFF}"
BLANK = r"[ \x{A0}\x{202F}\x{2009}]"
CURRENCY = r"(?:\p{Sc}|(?i:EUR|USD|GBP|CHF))"
PLAIN = r"-?(?:0|[1-9][0-9]{0,14})|\+[1-9][0-9]{0,6}"
POINTED = r"-?(?:0?\.[0-9]+|[1-9][0-9]*\.(?:[0-9]{0,2}|[0-9]{4,}))"
INFINITE = r"(?i:[+-]?inf(?:inity)?)"
# A leading zero, 16 digits, or a telephone number: a number would lose what they say.
CODE = rf"[+-]?0[0-9][0-9 ]*|[+-]?[0-9]{{16,}}|\+(?:{BLANK}?[0-9]){{8,}}"
CLOCK = r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?"
MOMENT = r"(?:[ T][0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:Z|[+-][0-9]{2}(?::?[0-9]{2})?)?)?"
ISO = rf"[0-9]{{4}}(?:-[0-9]{{1,2}}-|/[0-9]{{1,2}}/)[0-9]{{1,2}}{MOMENT}"
DOTTED = rf"[0-9]{{1,2}}\.[0-9]{{1,2}}\.[0-9]{{4}}{MOMENT}"
SLASHED = rf"[0-9]{{1,2}}(?:/[0-9]{{1,2}}/|-[0-9]{{1,2}}-)[0-9]{{4}}{MOMENT}"
# Years of two digits, amounts in brackets or with the minus behind.
UNREAD = r"[0-9]{1,2}([./-])[0-9]{1,2}[./-][0-9]{2}|\([^\pL]*[0-9][^\pL]*\)|[^\pL]*[0-9]-"
GAPS, MORE_GAPS = ("", "na", "nan"), ("n/a", "null", "none")


def _numbers(mark: str, separator: str) -> str:
    groups = "|".join(f"(?:{one}[0-9]{{3}})+" for one in (separator, BLANK, r"['\x{2019}]"))
    whole = rf"(?:0|[1-9][0-9]*|[1-9][0-9]{{0,2}}(?:{groups}))"
    number = rf"(?:{whole}(?:{mark}[0-9]*)?|{mark}[0-9]+)(?:[eE][+-]?[0-9]+)?"
    return rf"(?:[+-]?(?:{CURRENCY}{BLANK}?)?|{CURRENCY}{BLANK}?[+-]){number}(?:{BLANK}?(?:%|{CURRENCY}))?"


POINT, COMMA = _numbers(r"\.", ","), _numbers(",", r"\.")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _is(pattern: str) -> str:
    return f"regexp_full_match($t, {_quoted(pattern)})"


def _listed(words: Sequence[str]) -> str:
    return f"({', '.join(map(_quoted, words))})"


def _moment(order: str) -> str:
    """Write the moment in UTC of a text whose day, month and year stand in this order."""
    parts = r"^([0-9]{1,2})[./-]([0-9]{1,2})[./-]([0-9]{4})"
    text = "$t" if not order else f"regexp_replace($t, {_quoted(parts)}, {_quoted(order)})"
    return f"CAST(TRY_CAST({text} AS TIMESTAMPTZ) AS TIMESTAMP)"


DAY_FIRST, MONTH_FIRST = _moment(r"\3-\2-\1"), _moment(r"\3-\1-\2")


def _number(pattern: str, dropped: str, mark: str) -> str:
    no_digits = _quoted(rf"[{SPACE}{dropped}\x{{2019}}%]|{CURRENCY}")
    bare = f"regexp_replace($t, {no_digits}, '', 'g')"
    point = f"replace({bare}, ',', '.')" if mark == "," else bare
    plain = _is(f"{PLAIN}|{INFINITE}" + (f"|{POINTED}" if mark == "." else ""))
    return (
        f"CASE WHEN {plain} THEN TRY_CAST($t AS DOUBLE) "
        f"WHEN {_is(pattern)} AND NOT {_is(CODE)} THEN TRY_CAST({point} AS DOUBLE) END"
    )


def _date(*ways: tuple[str, str]) -> str:
    tests = "".join(f"WHEN {_is(pattern)} THEN {moment} " for pattern, moment in ((ISO, _moment("")), *ways))
    return f"CASE {tests}END"


@dataclass(frozen=True)
class Form:
    """A way of writing values.

    Attributes
    ----------
    name : how a value is written, as in 1.234,56.
    kind : what the values are.
    value : SQL for the value of the trimmed text $t, null where it is not of this form.
    fits : the classes of texts that have a value.
    proof : the class that no other form of the kind can read.
    """

    name: str
    kind: str
    value: str
    fits: tuple[str, ...]
    proof: str = ""


# Of forms that fit as many texts the first is taken.
FORMS = (
    Form("1,234.56", "number", _number(POINT, ",'", "."), ("whole", "point?", "comma?", "point"), "point"),
    Form("1.234,56", "number", _number(COMMA, ".'", ","), ("whole", "point?", "comma?", "comma"), "comma"),
    Form("true", "boolean", "CASE lower($t) WHEN 'true' THEN true WHEN 'false' THEN false END", ("truth",)),
    Form("yyyy-mm-dd", "date", _date(), ("iso",)),
    Form("dd.mm.yyyy", "date", _date((DOTTED, DAY_FIRST)), ("iso", "dotted")),
    Form("dd/mm/yyyy", "date", _date((f"{DOTTED}|{SLASHED}", DAY_FIRST)), ("iso", "dotted", "day?", "day"), "day"),
    Form(
        "mm/dd/yyyy",
        "date",
        _date((DOTTED, DAY_FIRST), (SLASHED, MONTH_FIRST)),
        ("iso", "dotted", "day?", "month"),
        "month",
    ),
    Form("hh:mm", "time", f"CASE WHEN {_is(CLOCK)} THEN TRY_CAST($t AS TIME) END", ("clock",)),
    Form("", "text", f"CASE WHEN lower($t) NOT IN {_listed(GAPS)} THEN $c END", ()),
)
NAMED = {one.name: one for one in FORMS}
DEFAULTS = {one.kind: one.name for one in reversed(FORMS)}
CLASS = f"""CASE WHEN $t IS NULL OR $t = '' THEN 'gap' WHEN {_is(PLAIN)} THEN 'whole' WHEN {_is(POINTED)} THEN 'point'
WHEN NOT regexp_matches($t, '[0-9]') THEN CASE WHEN lower($t) IN {_listed(GAPS)} THEN 'gap'
WHEN lower($t) IN {_listed(MORE_GAPS)} THEN 'gap?' WHEN lower($t) IN ('true', 'false') THEN 'truth'
WHEN {_is(INFINITE)} THEN 'whole' ELSE 'word' END
WHEN {_is(CODE)} THEN 'code' WHEN {_is(ISO)} THEN CASE WHEN {_moment("")} IS NULL THEN 'word' ELSE 'iso' END
WHEN {_is(DOTTED)} THEN CASE WHEN {DAY_FIRST} IS NULL THEN 'word' ELSE 'dotted' END
WHEN {_is(SLASHED)} THEN CASE
WHEN {DAY_FIRST} IS NOT NULL THEN CASE WHEN {MONTH_FIRST} IS NULL THEN 'day' ELSE 'day?' END
WHEN {MONTH_FIRST} IS NULL THEN 'word' ELSE 'month' END
WHEN {_is(CLOCK)} THEN CASE WHEN TRY_CAST($t AS TIME) IS NULL THEN 'word' ELSE 'clock' END
WHEN {_is(POINT)} THEN CASE WHEN NOT {_is(COMMA)} THEN 'point' WHEN contains($t, ',') THEN 'comma?'
WHEN contains($t, '.') THEN 'point?' ELSE 'whole' END
WHEN {_is(COMMA)} THEN 'comma' WHEN {_is(UNREAD)} THEN 'unread' ELSE 'word' END"""


def sql_of(template: str, column: str) -> str:
    """Write the SQL of a form or the class for a column."""
    edges = f"regexp_matches({column}, {_quoted(f'^[{SPACE}]|[{SPACE}]$')})"
    spaces = " \t\n\r\x0b\x0c\xa0\u2009\u202f\ufeff"
    trimmed = f"(CASE WHEN {edges} THEN trim({column}, {_quoted(spaces)}) ELSE {column} END)"
    return template.replace("$t", trimmed).replace("$c", column)


@dataclass(frozen=True)
class Reading:
    """What a column of texts was decided to be.

    Attributes
    ----------
    form : the name of the form; empty where the column stays text.
    present : the values that are not missing.
    unread : those of them that are not of the form, and count as missing.
    decided : a sentence about what was decided, or nothing where nothing is worth a word.
    doubt : a sentence for a column that looks like numbers or dates and is not read as such; nothing otherwise.
    """

    form: str
    present: int = 0
    unread: int = 0
    decided: str = ""
    doubt: str = ""

    @property
    def kind(self) -> str:
        """What the values are."""
        return NAMED[self.form].kind


def decide(
    counts: Mapping[str, int],
    settings: ReadSettings,
    ways_out: Mapping[str, str],
    *,
    wanted: str | None = None,
    form: str | None = None,
) -> Reading:
    """Decide from the number of texts of every class what a column is.

    ``wanted`` is the kind that was asked for, ``form`` that of a fitted model, and ``ways_out`` what reads a column in
    doubt as numbers or dates.
    """
    words, looks = counts.get("gap?", 0), ""
    present = sum(counts.values()) - counts.get("gap", 0) - words
    barred = {",": "1,234.56", ".": "1.234,56", "mdy": "dd/mm/yyyy", "dmy": "mm/dd/yyyy"}
    unwanted = [barred[one] for one in (settings.decimal, settings.dates) if one is not None and form is None]
    fits = {
        one: sum(counts.get(name, 0) for name in one.fits)
        for one in FORMS[:-1]
        if (one.name == form if form is not None else wanted in (None, one.kind)) and one.name not in unwanted
    }
    best = max(fits, key=lambda one: fits[one], default=NAMED[""])
    if best.kind == "text" or (words and not (present or wanted or form)):
        return Reading("", present + words)
    fit = fits[best]
    if form is not None or (wanted is not None and (fit or not present)):
        return Reading(best.name, present, present - fit, _decided(best, counts))
    proofs = [counts.get(one.proof, 0) for one in fits if one.kind == best.kind and one.proof]
    contrary = sum(proofs) - max(proofs, default=0)
    if 3 * contrary > max(proofs, default=0) and fit + contrary > HALF * present:
        marks = " and ".join(one.name for one in fits if one.kind == best.kind and one.proof)
        looks = f"its values are written both as {marks}"
    elif fit == present or (present >= FEWEST and fit >= NEARLY_ALL * present):
        return Reading(best.name, present, present - fit, _decided(best, counts))
    elif best.kind == "number" and fit + counts.get("code", 0) >= NEARLY_ALL * present:
        return Reading("", present + words, decided="digits that are codes and not numbers")
    elif best.kind in ("number", "date") and fit > HALF * present:
        looks = f"{present - fit:,} of {present:,} values are not {best.kind}s"
    elif counts.get("unread", 0) > HALF * present:
        looks = "it looks like amounts or dates in a form that is not read, such as (3.50) or 02.01.24"
        return Reading("", present + words, doubt=f"{looks}: read as text; write -3.50 or 2024-01-02")
    way_out = ways_out.get(best.kind, "")
    doubt = f"{looks}: read as text{f'; {way_out} reads it as {best.kind}s' if way_out else ''}" if looks else ""
    return Reading("", present + words, doubt=doubt)


def _decided(form: Form, counts: Mapping[str, int]) -> str:
    """Say how a column is read, where it is not as usual or not sure."""
    if not counts.get(form.proof, 0) and counts.get("day?", 0) and form.kind == "date":
        order, other = ("day", "mdy") if form.proof == "day" else ("month", "dmy")
        return f"read with the {order} first, which no value proves: --dates {other} reads it the other way"
    open_marks = [mark for mark, name in ((",", "comma?"), (".", "point?")) if counts.get(name, 0)]
    if form.kind == "number" and open_marks and not counts.get(form.proof, 0):
        other = "," if form.proof == "point" else "."
        marks = " and ".join(map(repr, open_marks))
        return f"{marks} read as in {form.name}, which no value proves: --decimal {other} reads it the other way"
    return "" if form.name in DEFAULTS.values() else f"read as in {form.name}"


def readings(connection: duckdb.DuckDBPyConnection, table: str, columns: Sequence[str]) -> dict[str, dict[str, int]]:
    """Count the texts of every class in columns of a table, all of them in one scan."""
    if not columns:
        return {}
    picked = ", ".join(f"histogram({sql_of(CLASS, column)})" for column in columns)
    row = connection.execute(f"SELECT {picked} FROM {table}").fetchall()[0]  # noqa: S608 - our own names
    return {column: dict(counts or {}) for column, counts in zip(columns, row, strict=True)}


def first_unread(
    connection: duckdb.DuckDBPyConnection, table: str, column: str, form: str, beside: Sequence[str]
) -> tuple[Any, ...]:
    """Return the first text in the order of letters that has no value in a form, and what stands beside it."""
    gaps = sql_of(f"coalesce(lower($t), '') IN {_listed([*GAPS, *MORE_GAPS])}", column)
    rows = connection.execute(
        f"SELECT {', '.join([column, *beside])} FROM {table} WHERE {sql_of(NAMED[form].value, column)} IS NULL "  # noqa: S608
        f"AND NOT {gaps} ORDER BY ALL LIMIT 1"
    )
    return tuple(rows.fetchall()[0])


def unread_sentence(kind: str, unread: int, present: int, example: str) -> str:
    """Say how many values are not of the kind of their column, and which is the first."""
    are = f"is not a {kind}" if unread == 1 else f"are not {kind}s"
    doubt = "" if unread <= (1 - NEARLY_ALL) * present else "; its type is in doubt"
    return f"{unread:,} of {present:,} values {are} ({example}): taken as missing{doubt}"


def count_classes(column: Column) -> dict[str, int]:
    """Count the texts of every class in a column of Arrow."""
    return dict(_asked(column, lambda cursor: readings(cursor, "given", ["c"])["c"]))


def converted(column: Column, form: str) -> Column:
    """Return texts as the values that they have in a form, null where they have none."""
    if pa.types.is_string_view(column.type):
        column = column.cast(pa.large_string())  # few functions know views
    if not form and not pc.any(pc.match_substring_regex(column, rf"^[{SPACE}]*(?i:na|nan)?[{SPACE}]*$")).as_py():
        return column
    query = f"SELECT {sql_of(NAMED[form].value, 'c')} AS c FROM given"  # noqa: S608 - our own names
    return _asked(column, lambda cursor: cursor.sql(query).to_arrow_table().column(0))


def unread_in(column: Column, values: Column) -> tuple[int, int]:
    """Count the texts that are no gap and have no value, and return the row of the first, -1 where there is none."""
    rows = np.flatnonzero(pc.and_(pc.is_null(values), pc.is_valid(column)).to_numpy())
    texts = pc.utf8_lower(pc.utf8_trim_whitespace(column.take(pa.array(rows))))
    rows = rows[~np.asarray(pc.is_in(texts, value_set=pa.array([*GAPS, *MORE_GAPS], texts.type)), dtype=bool)]
    return rows.size, int(rows[0]) if rows.size else -1


def _asked(column: Column, ask: Callable[[duckdb.DuckDBPyConnection], Any]) -> Any:
    cursor = _database(os.getpid()).cursor()
    try:
        cursor.register("given", pa.table({"c": column}))
        return ask(cursor)
    finally:
        cursor.close()


@cache
def _database(process: int) -> duckdb.DuckDBPyConnection:  # noqa: ARG001 - a forked process has none of its threads
    import duckdb  # who has no texts needs none

    connection = duckdb.connect(config={"enable_external_access": False})
    connection.execute("SET TimeZone = 'UTC'")
    return connection
