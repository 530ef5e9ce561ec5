"""Attributes from the columns of a table: what each column is, decided without labels, and what is dropped and why."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any, Unpack

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from oddhop.base.parallel import Progress, silent
from oddhop.base.settings import checked, takes
from oddhop.errors import EncodingError
from oddhop.graph.events import EventColumns
from oddhop.tables.encode.columns import (
    KINDS,
    Column,
    Kind,
    distinct_values,
    infinite_in,
    is_names,
    is_text,
    is_wordy,
    missing_of,
    numbers_of,
    readable_as,
    type_name,
    type_read,
)
from oddhop.tables.encode.encoders import (
    CategoryColumn,
    DateColumn,
    Encoder,
    NumberColumn,
    TextColumn,
    calendar,
    learn_flow,
    learn_levels,
    learn_scale,
)
from oddhop.tables.encode.encoding import SHOWN, ColumnReport, Encoding, KindNames, check_table, row_number
from oddhop.tables.flows import FlowColumn, flow_columns
from oddhop.tables.inference import (
    DEFAULTS,
    NAMED,
    Reading,
    RowName,
    converted,
    count_classes,
    decide,
    unread_in,
    unread_sentence,
)
from oddhop.tables.settings import NAMED_LIKE_AN_ID, PLAIN, EncodeOptions, EncodeSettings, ReadSettings

NEARLY_ALL = 0.95
FEWEST_IN_A_ROW = 20
FEW_GAPS, FEW_GAPS_SHARE = 10, 0.01
IGNORE = "ignore"
FORM_KINDS = {one.kind for one in NAMED.values()} - {"text"}


@dataclass(frozen=True)
class Learning:
    """How columns are learned: the settings, and how a message names a row."""

    encode: EncodeSettings = field(default_factory=EncodeSettings)
    read: ReadSettings = PLAIN
    row_name: RowName = row_number


@takes(EncodeSettings)
def learn_encoding(
    table: pa.Table,
    *,
    events: EventColumns | None = None,
    read: ReadSettings = PLAIN,
    progress: Progress = silent,
    **options: Unpack[EncodeOptions],
) -> Encoding:
    """Learn how the columns of a table become attributes, without labels, and report on every column.

    Parameters
    ----------
    table : one row a node.
    {settings}
    events : the columns of events that the last columns of the table were made of, by
        :func:`oddhop.tables.flows.flow_columns`.
    read : how numbers and dates are written, where texts leave that open.
    progress : called with ("encoding", columns done, columns).

    Examples
    --------
    >>> import pyarrow as pa
    >>> from oddhop.tables.encode import learn_encoding
    >>> table = pa.table({"age": [31, 25, None, 40], "pays": ["card", "cash", "card", "cash"], "on": [True] * 4})
    >>> encoding = learn_encoding(table)
    >>> attributes, names = encoding.apply(table)
    >>> names
    ('age', 'age is missing', 'pays=card', 'pays=cash', 'pays=other')
    >>> attributes[2].tolist()
    [0.0, 1.0, 1.0, 0.0, 0.0]
    >>> encoding.report[2].done
    'dropped: constant'
    """
    check_table(table)
    if not table.num_rows:
        raise EncodingError("the table has no rows", "give one row for each node")
    learning = Learning(checked(EncodeSettings, options), read)
    flows = {} if events is None else {one.name: one for one in flow_columns(events)}
    names = table.column_names
    forced = checked_kinds(learning.encode.kinds, names)
    made = {name: flows[name] for name in names if name in flows}
    group = Group("", tuple(name for name in names if name not in flows), made, slice(0, table.num_rows))
    return learn_columns([group], table.column, forced, learning, events=events, progress=progress)


@dataclass(frozen=True)
class Group:
    """The columns of one kind of node: their names, those that were made from events, and the rows of its nodes."""

    kind: str
    own: tuple[str, ...]
    made: Mapping[str, FlowColumn]
    rows: slice


def learn_columns(
    groups: Sequence[Group],
    column_of: Callable[[str], Column],
    forced: Mapping[str, str],
    learning: Learning,
    *,
    events: EventColumns | None = None,
    kinds: KindNames | None = None,
    progress: Progress = silent,
) -> Encoding:
    """Return the encoding of a table of which one column at a time is in memory, kind by kind; flows come last.

    ``column_of`` gives a column by its name, one row a node of any kind. ``forced`` says what columns are, and
    ``kinds`` which kinds there are, if there are several.
    """
    learned: list[Any] = []
    having: list[str] = []
    report: list[ColumnReport] = []
    seen: dict[str, dict[bytes, str]] = {group.kind: {} for group in groups}
    count = sum(len(group.own) + len(group.made) for group in groups)
    for learn in (_learn_own, _learn_made):
        for group in groups:
            columns = _Columns(group, column_of, learning, progress, len(report), count)
            found, entries = learn(columns, forced, seen[group.kind])
            learned += found
            having += [group.kind] * len(found)
            report += entries
    check_any(learned, report)
    return Encoding(tuple(learned), tuple(report), events, () if kinds is None else tuple(having), kinds)


@dataclass
class _Columns:
    """The columns of a kind of node, each brought to memory when it is asked for."""

    group: Group
    column_of: Callable[[str], Column]
    learning: Learning
    progress: Progress
    done: int
    count: int

    def __getitem__(self, name: str) -> Column:
        self.progress("encoding", min(self.done, self.count), self.count)
        self.done += 1
        rows = self.group.rows
        return self.column_of(name).slice(rows.start, rows.stop - rows.start)

    def row_name(self, row: int) -> str:
        return self.learning.row_name(self.group.rows.start + row)


def _learn_own(
    columns: _Columns, forced: Mapping[str, str], seen: dict[bytes, str]
) -> tuple[list[Any], list[ColumnReport]]:
    """Return the encoders of the columns of a node table and the report.

    Names, addresses and free texts are compared only where nothing else can be. ``seen`` has the columns before by what
    they hold.
    """
    learned, report = [], []
    learning = replace(columns.learning, row_name=columns.row_name)
    for name in columns.group.own:
        entry, one = _unless_repeated(_learn(name, columns[name], forced.get(name), learning), seen)
        learned += one
        report.append(entry)
    shown = {entry.column: "text" for entry in report if entry.kind == SHOWN}
    if shown and not learned:
        return _learn_own(columns, {**forced, **shown}, seen)
    return learned, report


def _learn_made(
    columns: _Columns, forced: Mapping[str, str], seen: dict[bytes, str]
) -> tuple[list[Any], list[ColumnReport]]:
    """Return the same of columns that were made from events."""
    learned, report = [], []
    for name, flow in columns.group.made.items():
        if forced.get(name) not in (None, IGNORE):
            raise EncodingError(
                f"{name!r} is made from events and cannot be {forced[name]}",
                "set it to ignore, or remove it from kinds",
            )
        column = columns[name]
        found = _learn(name, column, IGNORE, Learning()) if name in forced else _learn_flow(flow, column)
        entry, one = _unless_repeated(found, seen)
        learned += one
        report.append(entry)
    return learned, report


def _unless_repeated(found: tuple[Any, Any, ColumnReport], seen: dict[bytes, str]) -> tuple[ColumnReport, list[Any]]:
    """Drop a column if one before it has the same attributes."""
    encoder, block, entry = found
    if encoder is None:
        return entry, []
    first = seen.setdefault(_fingerprint(block), entry.column)
    return (entry, [encoder]) if first == entry.column else (_dropped(entry, f"the same as {first!r}"), [])


def check_any(learned: Sequence[Any], report: Sequence[ColumnReport]) -> None:
    """Refuse a table of which no column can be used."""
    if learned:
        return
    reasons = [f"{entry.column!r} ({entry.done})" for entry in report[:10]]
    more = f" and {len(report) - 10} more" if len(report) > 10 else ""
    raise EncodingError(
        f"no column can be used: {', '.join(reasons) or 'there is none'}{more}",
        "add a column that varies, such as a number or a category, or set a type: kinds={'name': 'category'}",
        command="add a column that varies, or set a type: --set encode.kinds.NAME=category",
    )


def checked_kinds(kinds: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    """Refuse a column or a kind that there is not."""
    for name, kind in kinds.items():
        for what, got, allowed in (("column", name, list(names)), ("kind", kind, [*KINDS, IGNORE])):
            if got not in allowed:
                near = get_close_matches(str(got), allowed, n=1, cutoff=0.0)
                hint = f"did you mean {near[0]!r}?" if near else "the table has no columns"
                raise EncodingError(f"kinds has the {what} {got!r}, which does not exist", f"{hint}")
    return dict(kinds)


def _learn(name: str, column: Column, forced: str | None, learning: Learning) -> tuple[Any, Any, ColumnReport]:
    """Return the encoder of a column and its attributes, or None, and what to report."""
    settings = learning.encode
    entry = ColumnReport(name, type_name(column), forced or "", "")
    if forced == IGNORE:
        missing = int(missing_of(column).sum())
        return None, None, replace(entry, kind="", done="ignored, as set", missing=missing)
    decided = ""
    if is_text(column.type):
        column, reading, entry = _read(column, entry, forced, learning)
        decided = reading.decided
    entry = replace(entry, missing=int(missing_of(column).sum()))
    readable = readable_as(column)
    if forced and forced not in readable:
        instead = f"only as {' or '.join(readable)}" if readable else "nor as anything else"
        raise EncodingError(
            f"the column {name!r} is {entry.type} and cannot be read as {forced}, {instead}",
            "cast it in the table first, or remove it from kinds",
        )
    if not readable:
        return None, None, _dropped(entry, f"the type {entry.type} cannot be encoded")
    if entry.missing == len(column):
        return None, None, _dropped(entry, "every value is missing")
    kind = forced or _natural_kind(column, readable, settings)
    entry = replace(entry, kind=kind)
    present = len(column) - entry.missing
    if not forced and (reason := _like_an_id(name, column, kind, present)):
        return None, None, _dropped(entry, reason)
    if not forced and kind == "text" and is_names(column):
        done = "shown, not compared: looks like names or free text; --set encode.kinds.{}=text compares its words"
        return None, None, replace(entry, kind=SHOWN, done=done.format(name))
    encoder, entry = _learn_as(kind, column, entry, settings)
    block = encoder.encode(column) if encoder.names else None
    if block is None or _constant(block):
        pooled = "no value is frequent enough for an attribute"
        return None, None, _dropped(entry, pooled if entry.pooled > 1 else "constant")
    infinite = infinite_in(column) if kind not in ("category", "text") else 0
    more = [f"{infinite:,} infinite, taken for the largest number"] * (infinite > 0)
    done = "; ".join([*([decided] if decided else []), entry.done, *more])
    return encoder, block, replace(entry, attributes=len(encoder.names), done=done)


def _read(
    column: Column, entry: ColumnReport, forced: str | None, learning: Learning
) -> tuple[Column, Reading, ColumnReport]:
    """Return texts as what they are, or as what they are forced to be; what cannot be read is a warning."""
    if forced not in (None, *FORM_KINDS):
        return converted(column, ""), Reading(""), entry
    ways_out = {kind: f"--set encode.kinds.{entry.column}={kind}" for kind in ("number", "date")}
    reading = decide(count_classes(column), learning.read, ways_out, wanted=forced)
    values = converted(column, reading.form)
    warning = reading.doubt
    if reading.unread:
        count, row = unread_in(column, values)
        example = f"{column[row].as_py()!r} in {learning.row_name(row)}"
        warning = unread_sentence(reading.kind, count, reading.present, example)
    # The usual forms go without saying, so that a column of texts and one of numbers or dates are learned as the same.
    form = "" if reading.form in DEFAULTS.values() else reading.form
    return values, reading, replace(entry, type=type_read(values), form=form, warning=warning)


def _learn_flow(flow: FlowColumn, column: Column) -> tuple[Any, Any, ColumnReport]:
    """Return the encoder of a flow column and its attribute, or None, and what to report."""
    values = numbers_of(column)
    silent_rows = int(np.isnan(values).sum())
    entry = ColumnReport(flow.name, type_name(column), "flow", "", missing=silent_rows)
    encoder = learn_flow(flow.name, values, skewed=flow.skewed)
    block = encoder.encode(column)
    if _constant(block):
        return None, None, _dropped(entry, "constant")
    filled = f"; {silent_rows} without such events, filled with the median" if silent_rows else ""
    return encoder, block, replace(entry, done=f"from events: {flow.meaning}{filled}", attributes=1)


def _natural_kind(column: Column, readable: Sequence[Kind], settings: EncodeSettings) -> Kind:
    if readable[0] != "category":
        return readable[0]
    distinct = distinct_values(column)
    repeats = 2 * distinct <= len(column)
    # Sentences that hardly ever repeat tell more by their words, even where they are few.
    if distinct <= settings.max_levels and (repeats or "text" not in readable or not is_wordy(column)):
        return "category"
    # Codes of which a few dozen name nearly every row: the rest is pooled.
    if (
        repeats
        and not is_wordy(column)
        and learn_levels(column, settings.max_levels, settings.rare)[1] <= 0.1 * len(column)
    ):
        return "category"
    return readable[1]


def _like_an_id(name: str, column: Column, kind: Kind, present: int) -> str:
    """Return why a column looks like an id, which names a row and says nothing about it; empty if it does not."""
    if kind in ("category", "text"):
        distinct = distinct_values(column)
        if distinct > 1 and distinct > NEARLY_ALL * present and not is_wordy(column):
            return f"like an id: {distinct} distinct values in {present} rows"
    if kind == "number":
        values = numbers_of(column)
        values = values[~np.isnan(values)]
        if values.size < 2 or (values != np.floor(values)).any() or distinct_values(column) < values.size:
            return ""
        low, high = float(values.min()), float(values.max())
        if NAMED_LIKE_AN_ID.search(name):
            return "like an id: its name, and whole numbers without repeats"
        if values.size == len(column) >= FEWEST_IN_A_ROW and high - low == values.size - 1:
            return f"like an id: every whole number from {low:.0f} to {high:.0f} once"
    return ""


def _learn_as(kind: str, column: Column, entry: ColumnReport, settings: EncodeSettings) -> tuple[Encoder, ColumnReport]:
    name, mark = entry.column, entry.missing > 0
    marked = f"; {entry.missing} missing, marked" if mark else ""
    if kind == "category":
        levels, pooled = learn_levels(column, settings.max_levels, settings.rare)
        done = f"one 0/1 attribute for each of {len(levels)} level(s); {pooled} row(s) encoded as other{marked}"
        return CategoryColumn("category", name, levels, mark), replace(entry, done=done, pooled=pooled)
    if kind == "text":
        done = f"words hashed into {settings.text_columns} attributes of 0 and 1{marked}"
        return TextColumn("text", name, settings.text_columns, mark), replace(entry, done=done)
    days, hours, weekdays = calendar(column) if kind == "date" else (numbers_of(column), None, None)
    present = ~np.isnan(days)
    scale = learn_scale(days)
    varies = np.ptp(scale.apply(days)[present]) > 0
    # A mark that few nodes have would set them apart from all others: one empty cell would lead the list.
    mark = mark and not (varies and entry.missing < min(FEW_GAPS, FEW_GAPS_SHARE * len(column)))
    filled = f"; {entry.missing} missing, filled with the median{' and marked' * mark}" if entry.missing else ""
    tamed = scale.tamed(days)
    done = f"{scale.description}{filled}" if varies else f"only one value{marked}"
    entry = replace(entry, done=done, tamed=tamed)
    if hours is None or weekdays is None:
        return NumberColumn(kind, name, scale, bool(varies), mark), entry  # type: ignore[arg-type]
    by_hour, by_weekday = (bool(np.ptp(part[present]) > 0) for part in (hours, weekdays))
    parts = [*["days since 1970"] * bool(varies), *["hour of day"] * by_hour, *["day of week"] * by_weekday]
    entry = replace(entry, done="; ".join([", ".join(parts), done] if parts else [done]))
    return DateColumn("date", name, scale, bool(varies), by_hour, by_weekday, mark), entry


def _dropped(entry: ColumnReport, reason: str) -> ColumnReport:
    return replace(entry, done=f"dropped: {reason}", attributes=0, pooled=0, tamed=0)


def _constant(block: Any) -> bool:
    if not sp.issparse(block):
        return bool((block == block[0]).all())
    rows_with = np.bincount(block.indices, minlength=block.shape[1])
    return bool(((rows_with == 0) | (rows_with == block.shape[0])).all())


def _fingerprint(block: Any) -> bytes:
    """Return the same for blocks of the same attributes, in whatever order they stand."""
    columns: Any = sp.csc_array(block) if sp.issparse(block) else np.asfortranarray(block)
    digests = []
    for i in range(block.shape[1]):
        if sp.issparse(block):
            column = columns.indices[columns.indptr[i] : columns.indptr[i + 1]].astype(np.int64)  # all ones
            column.sort()
        else:
            column = columns[:, i]
        digests.append(hashlib.blake2b(np.ascontiguousarray(column).tobytes(), digest_size=16).digest())
    return b"".join(sorted(digests))
