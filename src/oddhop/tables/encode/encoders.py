"""One learned column each: how numbers, dates, categories and texts become attributes, fixed once and for all."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from pydantic import ConfigDict, Field

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.tables.encode.columns import (
    LARGEST,
    Column,
    missing_of,
    numbers_of,
    texts_of,
    ticks_a_day,
    ticks_of,
    words_of,
)
from oddhop.tables.settings import WIDEST_TEXT

Number: TypeAlias = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Positive: TypeAlias = Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0)]
Flag: TypeAlias = Annotated[bool, Field(strict=True)]
Text: TypeAlias = Annotated[str, Field(strict=True)]
STRICT = ConfigDict(extra="forbid", defer_build=True)  # many runs read no encoding

KNEE = 10.0
HASH_KEY = b"oddhop words 1"
OTHER = "other"
# sin and cos of the hour and of the weekday, so that 23 h lies beside 0 h and Sunday beside Monday.
HOURS = np.array([(math.sin(math.tau * i / 24), math.cos(math.tau * i / 24)) for i in range(24)], dtype=np.float32)
WEEKDAYS = np.array([(math.sin(math.tau * i / 7), math.cos(math.tau * i / 7)) for i in range(7)], dtype=np.float32)


@dataclass(frozen=True)
class Scale:
    """How a number becomes an attribute: ``z = (x - centre) / range``, and its logarithm beyond ``knee``.

    Attributes
    ----------
    centre : the median.
    half_range : half the interquartile range; halves cannot overflow.
    knee : beyond it ``z`` becomes ``sign(z) * (knee + log1p(|z| - knee))``. It is 0 where the tail is heavy.
    fill : what a missing value is taken for.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    centre: Number
    half_range: Positive
    knee: Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=1e6)]
    fill: Number

    def distances(self, values: Floats) -> Floats:
        """Return how many interquartile ranges every value lies from the median."""
        with np.errstate(over="ignore"):
            z = (values / 2 - self.centre / 2) / self.half_range
        return np.asarray(np.clip(z, -LARGEST, LARGEST))

    def tamed(self, values: Floats) -> int:
        """Count the values more than 10 interquartile ranges from the median."""
        return int((np.abs(self.distances(values[~np.isnan(values)])) > KNEE).sum())

    @property
    def description(self) -> str:
        """What is done, in words."""
        if (self.centre, self.half_range) == (0.0, 0.5):
            return "used unchanged"
        way = "signed logarithm of the distance" if self.knee == 0 else "distance"
        return f"{way} from the median in interquartile ranges"

    def apply(self, values: Floats) -> Floats:
        """Return finite float32, however large the values are."""
        z = self.distances(np.where(np.isnan(values), self.fill, values))
        beyond = np.maximum(np.abs(z) - self.knee, 0.0)
        tamed = np.where(beyond > 0, np.sign(z) * (self.knee + np.log1p(beyond)), z)
        return tamed.astype(np.float32) + np.float32(0)  # no minus zero

    def inverse(self, z: Floats) -> Floats:
        """Return the values that become these numbers, infinite where they are too large to be known."""
        size = np.abs(z)
        with np.errstate(over="ignore"):
            size = np.where(size > self.knee, self.knee + np.expm1(np.maximum(size - self.knee, 0)), size)
            return np.asarray(self.centre + 2 * self.half_range * np.sign(z) * size)


def learn_scale(values: Floats) -> Scale:
    """Learn centre, range and knee from numbers; NaN is left out.

    Only values that occur are taken, never sums or means of them, so that neither the order of the
    rows nor the size of the numbers matters.
    """
    ordered = np.sort(values[~np.isnan(values)])
    last = ordered.size - 1
    median = float(ordered[last // 2])
    if np.isin(ordered, (0.0, 1.0)).all():
        return Scale(centre=0.0, half_range=0.5, knee=KNEE, fill=median)
    half_range = float(ordered[last - last // 4] / 2 - ordered[last // 4] / 2)
    if half_range <= 0:  # more than half of them are the same: how far are the others?
        steps = np.sort(np.abs(ordered / 2 - median / 2))
        steps = steps[steps > 0]
        half_range = float(steps[(steps.size - 1) // 2]) if steps.size else 1.0
    scale = Scale(centre=median, half_range=half_range, knee=KNEE, fill=median)
    if np.abs(scale.distances(ordered)).max() > KNEE:
        return Scale(centre=median, half_range=half_range, knee=0.0, fill=median)
    return scale


@dataclass(frozen=True)
class NumberColumn:
    """Numbers, truth values and times of day: one attribute, and one that marks what is missing.

    ``values`` is False where all that is not missing is the same, and only the mark tells anything.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    kind: Literal["number", "boolean", "time"]
    name: Text
    scale: Scale
    values: Flag
    mark: Flag

    @property
    def names(self) -> list[str]:
        """The names of the attributes."""
        return [self.name] * self.values + [f"{self.name} is missing"] * self.mark

    def encode(self, column: Column) -> Floats:
        """Return the attributes, one row each."""
        numbers = numbers_of(column)
        parts = [self.scale.apply(numbers)] * self.values + [np.isnan(numbers)] * self.mark
        return np.column_stack(parts).astype(np.float32, copy=False)


@dataclass(frozen=True)
class FlowNumber:
    """What the events of a node tell about it: one attribute.

    Attributes
    ----------
    unit : what a value is divided by: the median of those that are not zero, so that neither cents nor euros matter.
    skewed : whether the attribute is the signed logarithm of one more than that.
    fill : what stands for a node whose events do not tell: the median.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    kind: Literal["flow"]
    name: Text
    unit: Positive
    skewed: Flag
    fill: Number
    mark: ClassVar[bool] = False

    @property
    def names(self) -> list[str]:
        """The name of the attribute."""
        return [self.name]

    def encode(self, column: Column) -> Floats:
        """Return the attribute, one row each."""
        numbers = numbers_of(column)
        with np.errstate(over="ignore"):
            z = np.clip(np.where(np.isnan(numbers), self.fill, numbers) / self.unit, -LARGEST, LARGEST)
        out = np.sign(z) * np.log1p(np.abs(z)) if self.skewed else z
        return np.asarray(out[:, None], dtype=np.float32) + np.float32(0)

    def decode(self, attribute: float) -> float:
        """Return the value that belongs to an attribute."""
        size = np.expm1(abs(attribute)) if self.skewed else abs(attribute)
        return float(np.sign(attribute) * size * self.unit)


def learn_flow(name: str, values: Floats, *, skewed: bool) -> FlowNumber:
    """Learn the unit and the median of a flow column."""
    known = np.sort(values[~np.isnan(values)])
    sizes = np.sort(np.abs(known[known != 0]))
    unit = float(sizes[(sizes.size - 1) // 2]) if skewed and sizes.size else 1.0
    return FlowNumber("flow", name, unit, skewed, float(known[(known.size - 1) // 2]) if known.size else 0.0)


@dataclass(frozen=True)
class DateColumn:
    """Dates and timestamps: days since 1970, and hour of day and day of week where they vary. Hours are UTC's."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    kind: Literal["date"]
    name: Text
    scale: Scale
    values: Flag
    hours: Flag
    weekdays: Flag
    mark: Flag

    @property
    def names(self) -> list[str]:
        """The names of the attributes."""
        hours = [f"{self.name} hour sin", f"{self.name} hour cos"] * self.hours
        weekdays = [f"{self.name} weekday sin", f"{self.name} weekday cos"] * self.weekdays
        return [self.name] * self.values + hours + weekdays + [f"{self.name} is missing"] * self.mark

    def encode(self, column: Column) -> Floats:
        """Return the attributes, one row each; hour and weekday of what is missing are 0."""
        days, hours, weekdays = calendar(column)
        missing = np.isnan(days)
        parts: list[Any] = [self.scale.apply(days)] * self.values
        parts += [np.where(missing[:, None], 0, HOURS[hours])] * self.hours
        parts += [np.where(missing[:, None], 0, WEEKDAYS[weekdays])] * self.weekdays
        return np.column_stack(parts + [missing] * self.mark).astype(np.float32, copy=False)


def calendar(column: Column) -> tuple[Floats, Ints, Ints]:
    """Return days since 1970 with NaN for what is missing, the hour, and the day of the week (Monday is 0)."""
    ticks, missing = ticks_of(column)
    day = ticks_a_day(column)
    hours = (ticks % day) * 24 // day
    return np.where(missing, np.nan, ticks / day), hours, (ticks // day + 3) % 7


@dataclass(frozen=True)
class CategoryColumn:
    """Categories: one attribute of 0 and 1 for each level, one for all others, and one for what is missing."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    kind: Literal["category"]
    name: Text
    levels: tuple[Text, ...]
    mark: Flag

    def __post_init__(self) -> None:
        if len(set(self.levels)) != len(self.levels):
            raise ValueError(f"the levels of {self.name!r} are repeated")

    @property
    def names(self) -> list[str]:
        """The names of the attributes; a level that is called other stands in quotes."""
        levels = [f"{self.name}={level!r}" if level == OTHER else f"{self.name}={level}" for level in self.levels]
        return [*levels, f"{self.name}={OTHER}"] + [f"{self.name} is missing"] * self.mark

    def places(self, column: Column) -> tuple[Ints, Bools]:
        """Return every value's place among the levels, and which are missing; the place after the last is other."""
        texts = texts_of(column)
        levels = pa.array(self.levels, texts.type)
        found = pc.fill_null(pc.index_in(texts, value_set=levels, skip_nulls=True), len(self.levels))
        return found.to_numpy(), missing_of(texts)

    def encode(self, column: Column) -> sp.csr_array:
        """Return the attributes, one row each."""
        places, missing = self.places(column)
        if self.mark:
            places = np.where(missing, len(self.levels) + 1, places)
        rows, width = len(column), len(self.names)
        return sp.csr_array((np.ones(rows, np.float32), places, np.arange(rows + 1)), shape=(rows, width))


def learn_levels(column: Column, most: int, rare: float) -> tuple[tuple[str, ...], int]:
    """Return the levels that are frequent enough, sorted, and how many values fall to the others.

    A level needs two rows, and the share ``rare`` of all rows. Of more than ``most`` the most frequent stay.
    """
    texts = pc.drop_null(texts_of(column))
    counted = pa.Table.from_struct_array(pc.value_counts(texts))
    least = max(2, math.ceil(rare * len(column)))
    frequent = counted.filter(pc.field("counts") >= least)
    kept = frequent.sort_by([("counts", "descending"), ("values", "ascending")]).slice(0, most)
    pooled = len(texts) - (pc.sum(kept.column("counts")).as_py() or 0)
    return tuple(sorted(kept.column("values").to_pylist())), pooled


@dataclass(frozen=True)
class TextColumn:
    """Short texts: their words hashed into ``width`` attributes, each 1 where one of its words occurs."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    kind: Literal["text"]
    name: Text
    width: Annotated[int, Field(strict=True, ge=1, le=WIDEST_TEXT)]
    mark: Flag

    @property
    def names(self) -> list[str]:
        """The names of the attributes."""
        return [f"{self.name} #{i}" for i in range(self.width)] + [f"{self.name} is missing"] * self.mark

    def encode(self, column: Column) -> sp.csr_array:
        """Return the attributes, one row each."""
        rows, columns = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        for start, sizes, words, places in words_of(column):
            buckets = np.array([bucket(word, self.width) for word in words], dtype=np.int64)[places]
            used = buckets >= 0
            rows.append(np.repeat(np.arange(start, start + sizes.size), sizes)[used])
            columns.append(buckets[used])
        if self.mark:
            marked = np.flatnonzero(missing_of(column))
            rows.append(marked)
            columns.append(np.full(marked.size, self.width))
        where = np.concatenate(rows), np.concatenate(columns)
        counts = sp.coo_array((np.ones(where[0].size, np.float32), where), shape=(len(column), self.width + self.mark))
        matrix = counts.tocsr()
        matrix.data.fill(1.0)  # once a row, however often the word is said
        return matrix


def bucket(word: str, width: int) -> int:
    """Return the attribute that a word falls into, the same everywhere and always; -1 for no word."""
    if not word:
        return -1
    digest = hashlib.blake2b(word.encode(), digest_size=8, key=HASH_KEY).digest()
    return int.from_bytes(digest, "little") % width


Encoder: TypeAlias = Annotated[
    NumberColumn | FlowNumber | DateColumn | CategoryColumn | TextColumn,
    Field(discriminator="kind"),
]
