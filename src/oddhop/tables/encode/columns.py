"""Columns of an Arrow table as NumPy arrays: what a type can be read as, and the reading."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from oddhop.base.arrays import Bools, Floats, Ints

Kind: TypeAlias = Literal["number", "boolean", "category", "date", "time", "text"]
Column: TypeAlias = Any  # pyarrow has no types: a pa.ChunkedArray
KINDS: tuple[Kind, ...] = get_args(Kind)
ROWS_AT_ONCE = 65_536
BETWEEN_WORDS = r"[^\pL\pN]+"
# What a text of each kind does not have: letters and digits other than the two words, a leading zero, nothing.
FORMS: dict[Kind, str] = {"boolean": r"[^aeflrstu]", "number": r"^[+-]?0[0-9]|[a-df-z_]", "date": r"^[^0-9]"}
TYPES: dict[Kind, tuple[Any, ...]] = {
    "boolean": (pa.bool_(),),
    "number": (pa.float64(),),
    "date": (pa.timestamp("us"), pa.timestamp("us", "UTC")),
}
TICKS_A_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}


def readable_as(column: Column) -> tuple[Kind, ...]:
    """Return the kinds that a column can be read as, the natural one first; none for lists, structs and the like.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from oddhop.tables.encode.columns import readable_as
    >>> readable_as(pa.chunked_array([[1, 2]])), readable_as(pa.chunked_array([["a"]]))
    (('number', 'category'), ('category', 'text'))
    """
    kind = column.type
    if pt.is_dictionary(kind):
        # Whoever coded numbers in a dictionary meant a category.
        return tuple(sorted(_readable(kind.value_type), key=lambda one: one != "category"))
    return _readable(kind)


def _readable(kind: Any) -> tuple[Kind, ...]:
    if pt.is_null(kind):
        return KINDS
    if pt.is_boolean(kind):
        return ("boolean", "category", "number")
    if pt.is_integer(kind) or pt.is_floating(kind) or pt.is_decimal(kind):
        return ("number", "category")
    if pt.is_duration(kind):
        return ("number",)
    if pt.is_date(kind) or pt.is_timestamp(kind):
        return ("date",)
    if pt.is_time(kind):
        return ("time",)
    if pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind):
        return ("category", "text")
    return ()


def understood(column: Column) -> Column:
    """Return strings that are all numbers, dates or truth values as what they are; any other column as it is.

    Numbers with a leading zero are codes and stay strings, and so does what is coded in a dictionary.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from oddhop.tables.encode.columns import understood
    >>> texts = (["1.5", None], ["2026-11-16", "2026-11-17 08:30"], ["True", "false"], ["007", "12"])
    >>> [str(understood(pa.chunked_array([one])).type) for one in texts]
    ['double', 'timestamp[us]', 'bool', 'string']
    """
    if not _is_text(column.type):
        return column
    present = pc.unique(pc.drop_null(_trimmed(column)))
    found = next((kind for kind in FORMS if len(present) and _cast(present, kind) is not None), None)
    return column if found is None else _cast(_trimmed(column), found)


def read_as(column: Column, kind: Kind) -> Column:
    """Return a column in a type that can be read as this kind, or as it is where there is none."""
    if kind in readable_as(column) or not _is_text(column.type) or kind not in FORMS:
        return column
    cast = _cast(_trimmed(column), kind)
    return column if cast is None else cast


def _is_text(kind: Any) -> bool:
    return bool(pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind))


def _trimmed(column: Column) -> Column:
    return pc.utf8_trim_whitespace(_plain(column))


def _cast(texts: Any, kind: Kind) -> Any:
    """Return texts as another type, or None where one of them is something else."""
    if pc.any(pc.match_substring_regex(texts, FORMS[kind], ignore_case=True)).as_py():
        return None
    for form in TYPES[kind]:
        try:
            return pc.cast(pc.utf8_lower(texts) if kind == "boolean" else texts, form)
        except pa.ArrowInvalid:
            continue
    return None


def type_name(column: Column) -> str:
    """Return the type of a column as Arrow writes it, cut where it is long."""
    text = str(column.type)
    return text if len(text) <= 40 else f"{text[:37]}..."


def numbers_of(column: Column) -> Floats:
    """Return float64 with NaN for what is missing: nulls, NaN and infinite values. Durations and times are in days."""
    column = _plain(column)
    if pt.is_duration(column.type) or pt.is_time(column.type):
        days, missing = ticks_of(column)
        values = np.where(missing, np.nan, days / TICKS_A_DAY[column.type.unit])
    else:
        # safe=False lets integers beyond 2**53 round.
        values = _joined(pc.cast(column, pa.float64(), safe=False))
    return np.where(
        np.isfinite(values), values + 0.0, np.nan
    )  # + 0.0: minus zero is zero, and must not differ from it by a bit


def ticks_of(column: Column) -> tuple[Ints, Bools]:
    """Return dates, times and durations as int64 in their own unit since the epoch, and which are missing."""
    column = _plain(column)
    missing = missing_of(column)
    if pt.is_date32(column.type) or pt.is_time32(column.type):
        column = pc.cast(column, pa.int32())
    whole = pc.cast(column, pa.int64())
    return _joined(pc.fill_null(whole, 0)), missing


def ticks_a_day(column: Column) -> int:
    """Return how many of a column's units make a day."""
    kind = _plain(column).type
    if pt.is_date32(kind) or pt.is_null(kind):
        return 1
    return TICKS_A_DAY["ms" if pt.is_date64(kind) else kind.unit]


def missing_of(column: Column) -> Bools:
    """Tell which values are null or, among floats, NaN or infinite."""
    column = _plain(column)
    if pt.is_floating(column.type):
        return np.isnan(numbers_of(column))
    return np.asarray(_joined(pc.is_null(column)), dtype=bool)


def texts_of(column: Column) -> Column:
    """Return the values as strings, whole numbers without a point, missing ones as null."""
    column = _plain(column)
    if pt.is_floating(column.type):
        column = pc.add(
            pc.if_else(pc.is_finite(column), column, pa.scalar(None, column.type)), pa.scalar(0, column.type)
        )
    return pc.cast(column, pa.large_string())


def is_wordy(column: Column) -> bool:
    """Return whether the distinct values of a text column have more than one word, more often than not."""
    spaces = pc.count_substring_regex(pc.utf8_trim_whitespace(pc.unique(pc.drop_null(texts_of(column)))), r"\s+")
    return bool((pc.mean(spaces).as_py() or 0.0) >= 0.5)


def distinct_values(column: Column) -> int:
    """Count the distinct values that are not missing; large integers are compared to the last digit."""
    column = _plain(column)
    if pt.is_null(column.type) or pt.is_floating(column.type):
        values = numbers_of(column)
        return int(np.unique(values[np.isfinite(values)]).size)
    return int(pc.count_distinct(column, mode="only_valid").as_py())


def words_of(column: Column) -> Iterator[tuple[int, Ints, list[str], Ints]]:
    """Return the words of a text column in blocks of rows.

    Each block is its first row, the number of words in every row, the distinct words, and for every
    word of every row in turn its place among them. A word is a run of letters and digits in lower case.
    """
    column = _plain(column)
    for start in range(0, len(column), ROWS_AT_ONCE):
        block = column.slice(start, ROWS_AT_ONCE)
        texts = pc.fill_null(pc.cast(pa.chunked_array(block.chunks, block.type), pa.large_string()), "")
        plain = pc.utf8_lower(pc.utf8_normalize(texts, form="NFKC"))
        split = pc.split_pattern_regex(pc.utf8_trim_whitespace(plain), BETWEEN_WORDS)
        sizes = _joined(pc.list_value_length(split))
        coded = pc.list_flatten(split).combine_chunks().dictionary_encode()
        coded = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
        yield start, sizes, coded.dictionary.to_pylist(), coded.indices.to_numpy(zero_copy_only=False)


def _plain(column: Column) -> Column:
    """Return a type that Arrow's functions know: no dictionary, no view, no half float."""
    if pt.is_dictionary(column.type):
        values = [_widened(chunk.dictionary).take(chunk.indices) for chunk in column.chunks]
        return pa.chunked_array(values, None if values else column.type.value_type)
    return _widened(column)


def _widened(values: Any) -> Any:
    if pt.is_string_view(values.type):
        return pc.cast(values, pa.large_string())
    return pc.cast(values, pa.float32()) if pt.is_float16(values.type) else values


def _joined(column: Column) -> Any:
    return column.to_numpy(zero_copy_only=False)
