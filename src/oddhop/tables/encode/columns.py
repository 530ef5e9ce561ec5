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
LARGEST = float(np.finfo(np.float64).max)
TICKS_A_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}


def readable_as(column: Column) -> tuple[Kind, ...]:
    """Return the kinds that a column can be read as, the natural one first; none for lists, structs and the like."""
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
    if is_text(kind):
        return ("category", "text")
    return ()


def is_text(kind: Any) -> bool:
    """Return whether a type is that of strings."""
    return bool(pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind))


def type_name(column: Column) -> str:
    """Return the type of a column as Arrow writes it, cut where it is long."""
    text = str(column.type)
    return text if len(text) <= 40 else f"{text[:37]}..."


def type_read(column: Column) -> str:
    """Return the type of what texts were read as: whole numbers and days are such."""
    if pt.is_float64(column.type) and not (numbers_of(column) % 1 > 0).any():
        return str(pa.int64())
    if pt.is_timestamp(column.type) and not (ticks_of(column)[0] % ticks_a_day(column)).any():
        return str(pa.date32())
    return type_name(column)


def numbers_of(column: Column) -> Floats:
    """Return float64 with NaN for what is missing; infinite values are the largest there are.

    Durations and times are in days.
    """
    column = _plain(column)
    if pt.is_duration(column.type) or pt.is_time(column.type):
        days, missing = ticks_of(column)
        values = np.where(missing, np.nan, days / TICKS_A_DAY[column.type.unit])
    else:
        # safe=False lets integers beyond 2**53 round.
        values = _joined(pc.cast(column, pa.float64(), safe=False))
    # + 0.0: minus zero is zero, and must not differ from it by a bit
    return np.asarray(np.clip(values, -LARGEST, LARGEST) + 0.0)


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
    """Tell which values are null or, among floats, NaN."""
    column = _plain(column)
    if pt.is_floating(column.type):
        return np.isnan(numbers_of(column))
    return np.asarray(_joined(pc.is_null(column)), dtype=bool)


def infinite_in(column: Column) -> int:
    """Count the infinite values."""
    column = _plain(column)
    return int(pc.sum(pc.is_inf(column)).as_py() or 0) if pt.is_floating(column.type) else 0


def texts_of(column: Column) -> Column:
    """Return the values as strings, whole numbers without a point, missing ones as null."""
    column = _plain(column)
    if pt.is_floating(column.type):
        column = pc.add(pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column), pa.scalar(0, column.type))
    return pc.cast(column, pa.large_string())


def is_wordy(column: Column) -> bool:
    """Return whether the distinct values of a text column have more than one word, more often than not."""
    spaces = pc.count_substring_regex(pc.utf8_trim_whitespace(pc.unique(pc.drop_null(texts_of(column)))), r"\s+")
    return bool((pc.mean(spaces).as_py() or 0.0) >= 0.5)


def is_names(column: Column) -> bool:
    """Return whether more than half of the values are distinct, and most of these have several words or a capital."""
    texts = pc.drop_null(texts_of(column))
    values = pc.unique(texts)
    named = pc.match_substring_regex(values, r"^\s*\p{Lu}|\S\s+\S")
    return 2 * len(values) > len(texts) and 2 * (pc.sum(named).as_py() or 0) > len(values)


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
