"""Which columns of an edge table are amounts, times and kinds: guessed by type and name, or as the user says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import duckdb

from oddhop.errors import TableError
from oddhop.graph.events import EventColumns
from oddhop.tables.inference import DEFAULTS, LARGEST, NAMED, decide, first_unread, readings, sql_of, unread_sentence
from oddhop.tables.kinds import Known
from oddhop.tables.read.database import fetch_row, literals
from oddhop.tables.read.ids import FLOATS, INTEGERS
from oddhop.tables.read.roles import column_number
from oddhop.tables.settings import NAMED_LIKE_AN_ID, ReadSettings
from oddhop.tables.words import ACCOUNTS, AMOUNTS, TIMES, plain

MOST_KINDS = 20
SQL_TYPES = {"number": "DOUBLE", "boolean": "BOOLEAN", "date": "TIMESTAMP", "time": "TIME", "text": "VARCHAR"}
FIRST_SECOND, LAST_SECOND = 10**8, 10**11  # 1973, and what would be 1973 in milliseconds
UNITS = (1, 10**3, 10**6, 10**9)  # of a Unix time, in a second


@dataclass(frozen=True)
class EdgeRoles:
    """The columns of ``edges``, a table or a view, that make events.

    Attributes
    ----------
    columns : their names; whether they are directed is found out from the rows.
    time : SQL for microseconds since 1970, or None.
    amounts : SQL for numbers.
    kinds : SQL for codes.
    unread : the columns that are not read, and why.
    inside : the condition that a row lies in the window that was asked for; None without one.
    forms : how texts are read where it is not as usual, by column.
    readings : what was decided about texts, and what to look at, a sentence each.
    """

    columns: EventColumns
    time: str | None = None
    amounts: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    unread: tuple[tuple[str, str], ...] = ()
    inside: str | None = None
    forms: tuple[tuple[str, str], ...] = ()
    readings: tuple[str, ...] = ()

    @property
    def named(self) -> dict[str, str]:
        """SQL for every column of events, by the name that it has from then on."""
        amounts = {f"a{k}": sql for k, sql in enumerate(self.amounts)}
        kinds = {f"k{k}": sql for k, sql in enumerate(self.kinds)}
        return ({} if self.time is None else {"w": self.time}) | amounts | kinds


def find_edge_roles(
    connection: duckdb.DuckDBPyConnection,
    names: Sequence[str],
    ends: Sequence[int],
    settings: ReadSettings,
    label: str,
    model: Known | None = None,
) -> EdgeRoles:
    """Find the roles of the columns of ``edges``, which has column k as c{k}; a model knows some of them."""
    known = None if model is None else model.events
    others = [k for k in range(len(names)) if k not in ends]
    if not settings.flows and settings.since is None and settings.until is None:
        return EdgeRoles(EventColumns(), unread=tuple((names[k], "flows are off") for k in others))
    named = [*(settings.amount or ()), *(settings.edge_kind or ()), *([settings.time] if settings.time else ())]
    for name in named:
        k = column_number(names, name, "an edge column", label)
        if named.count(name) > 1 or k in ends:
            raise TableError(f"{label}: the column {name!r} is given two roles", "give it one")
    texts = _Texts(connection, names, ends, settings, model)
    types = texts.types(others)
    times = _times(connection, names, types, settings, label)
    time = None if known is not None and known.time is None else next(iter(times), None)
    inside = _window(connection, None if time is None else times[time], settings, label)
    numbers = {k: sql for k, (kind, sql) in types.items() if kind in INTEGERS | FLOATS or kind.startswith("DECIMAL")}
    taken = {*ends} | ({time} if time is not None else set())
    amounts, kinds, unread = [], [], []
    for k, (kind, sql) in types.items():
        name = names[k]
        if k in taken:
            continue
        if name in (settings.amount or ()) or (settings.amount is None and name not in named and k in numbers):
            reason = "" if name in named else _like_an_id(connection, name, kind, sql)
            if k not in numbers:
                raise TableError(f"{label}: the amount {name!r} is not made of numbers", "name another, or cast it")
            if not reason:
                amounts.append(k)
                continue
        elif name in (settings.edge_kind or ()) or (settings.edge_kind is None and kind in ("VARCHAR", "BOOLEAN")):
            levels = _levels(connection, _text(kind, sql), inside)
            if name in named or 1 < len(levels) <= MOST_KINDS:
                kinds.append((k, levels[:MOST_KINDS]))
                continue
            reason = f"more than {MOST_KINDS} different values" if levels[1:] else "fewer than two different values"
        else:
            reason = "another column is the time" if k in times else f"its type is {kind}"
        unread.append((name, reason))
    if settings.amount is not None:  # the first is the one that is passed on
        amounts.sort(key=lambda k: list(settings.amount or ()).index(names[k]))
    if known is not None:
        kinds = [(names.index(name), levels) for name, levels in zip(known.kinds, known.levels, strict=True)]
    columns = EventColumns(
        time=None if time is None else names[time],
        amounts=tuple(names[k] for k in amounts),
        kinds=tuple(names[k] for k, _ in kinds),
        levels=tuple(tuple(sorted(levels)) for _, levels in kinds),
    )
    return EdgeRoles(
        columns,
        None if time is None else times[time],
        tuple(_number(types[k][1]) for k in amounts),
        tuple(_code(_text(*types[k], levels), levels) for (k, _), levels in zip(kinds, columns.levels, strict=True)),
        tuple(unread),
        inside,
        tuple(texts.forms.items()),
        tuple(texts.sentences),
    )


def _window(connection: duckdb.DuckDBPyConnection, time: str | None, settings: ReadSettings, label: str) -> str | None:
    """Write the condition that an edge row lies in the window that was asked for; None without one."""
    if settings.since is None and settings.until is None:
        return None
    if time is None:
        raise TableError(
            f"{label} has no column of times for a window",
            "name it with time=, or leave out since= and until=",
            command="name it with --time, or leave out --from and --until",
        )
    parts = []
    for text, comparison in ((settings.since, ">="), (settings.until, "<")):
        if text is None:
            continue
        moment = fetch_row(connection, "SELECT epoch_us(TRY_CAST($1 AS TIMESTAMPTZ))", [text])[0]
        if moment is None:
            raise TableError(f"a window takes dates or times such as 2026-11-16, got {text!r}")
        parts.append(f"{time} {comparison} {moment}")
    return f"coalesce({' AND '.join(parts)}, false)"


@dataclass(frozen=True, eq=False)
class _Texts:
    """The columns of ``edges`` that are text, read as what all of them are.

    Attributes
    ----------
    forms : how they are read where it is not as usual, by name.
    sentences : what was decided, and what to look at, a sentence each.
    """

    connection: duckdb.DuckDBPyConnection
    names: Sequence[str]
    ends: Sequence[int]
    settings: ReadSettings
    model: Known | None
    forms: dict[str, str] = field(default_factory=dict)
    sentences: list[str] = field(default_factory=list)

    def types(self, columns: Sequence[int]) -> dict[int, tuple[str, str]]:
        """Return the type of every column, and SQL that has it."""
        described = self.connection.execute("SELECT column_name, column_type FROM (DESCRIBE edges)").fetchall()
        kinds = {k: str(dict(described)[f"c{k}"]) for k in columns}
        counts = readings(self.connection, "edges", [f"c{k}" for k, kind in kinds.items() if kind == "VARCHAR"])
        out = {}
        for k, kind in kinds.items():
            if kind == "VARCHAR":
                out[k] = self._read(k, counts[f"c{k}"])
            else:
                out[k] = ("VARCHAR", f"CAST(c{k} AS VARCHAR)") if kind.startswith("ENUM") else (kind, f"c{k}")
        return out

    def _read(self, k: int, counts: Mapping[str, int]) -> tuple[str, str]:
        name, column, settings = self.names[k], f"c{k}", self.settings
        is_time = name == settings.time or (settings.time is None and plain(name) in TIMES)
        if is_time and counts.get("code", 0) and set(counts) <= {"code", "gap", "gap?"}:
            return "BIGINT", f"TRY_CAST({column} AS BIGINT)"  # a Unix time in millionths of a second
        wanted = None
        if name in (settings.amount or ()):
            wanted = "number"
        elif name == settings.time and not counts.get("whole"):
            wanted = "date"
        ways_out = {"number": f"--amount {name}", "date": f"--time {name}"}
        reading = decide(counts, settings, ways_out, wanted=wanted, form=self._known_form(name, counts))
        if reading.form not in DEFAULTS.values():
            self.forms[name] = reading.form
        found = [one for one in (reading.decided, reading.doubt) if one]
        if reading.unread:
            value, *row = first_unread(self.connection, "edges", column, reading.form, [f"c{end}" for end in self.ends])
            example = f"{value!r} in the row from {row[0]!r} to {row[1]!r}"
            found.append(unread_sentence(reading.kind, reading.unread, reading.present, example))
        self.sentences.extend(f"column of the edge table {name!r}: {one}" for one in found)
        return SQL_TYPES[reading.kind], sql_of(NAMED[reading.form].value, column)

    def _known_form(self, name: str, counts: Mapping[str, int]) -> str | None:
        """Return the form that a model reads a column in, None where there is no model or any will do."""
        events = None if self.model is None else self.model.events
        if self.model is None or events is None or name in self.model.forms:
            return None if self.model is None else self.model.forms.get(name)
        if name == events.time:  # dates or Unix times
            return DEFAULTS["date" if counts.get("iso", 0) >= counts.get("whole", 0) else "number"]
        return DEFAULTS["number"] if name in events.amounts else None


def _times(
    connection: duckdb.DuckDBPyConnection,
    names: Sequence[str],
    types: dict[int, tuple[str, str]],
    settings: ReadSettings,
    label: str,
) -> dict[int, str]:
    """Return the columns that may be times, the best first, as SQL for microseconds since 1970."""
    found = {}
    for k, (kind, sql) in types.items():
        if kind == "DATE" or kind.startswith("TIMESTAMP"):
            zoned = "TZ" in kind or "TIME ZONE" in kind
            found[k] = f"epoch_us(CAST({sql} AS {'TIMESTAMPTZ' if zoned else 'TIMESTAMP'}))"
        elif kind in INTEGERS | FLOATS and (names[k] == settings.time or plain(names[k]) in TIMES):
            known = f"isfinite(CAST({sql} AS DOUBLE))"
            low, high = fetch_row(connection, f"SELECT min({sql}), max({sql}) FROM edges WHERE {known}")  # noqa: S608
            unit = next((one for one in UNITS if low is not None and _seconds(low, high, one)), None)
            if unit is not None:
                wide = f"CAST({sql} AS {'BIGINT' if kind in INTEGERS else 'DOUBLE'})"
                scaled = f"{wide} * {10**6 // unit}" if unit <= 10**6 else f"{wide} // {unit // 10**6}"
                found[k] = f"CASE WHEN {known} THEN CAST({scaled} AS BIGINT) END"
            elif low is None and names[k] == settings.time:
                found[k] = "CAST(NULL AS BIGINT)"
    if settings.time is not None:
        k = list(names).index(settings.time)
        if k not in found:
            raise TableError(
                f"{label}: the time {settings.time!r} holds neither dates nor Unix times", "cast it to a timestamp"
            )
        return {k: found[k]} | {other: sql for other, sql in found.items() if other != k}
    return dict(sorted(found.items(), key=lambda one: (_place(names[one[0]]), one[0])))


def _seconds(low: float, high: float, per_second: int) -> bool:
    return FIRST_SECOND * per_second <= low <= high < LAST_SECOND * per_second


def _place(name: str) -> int:
    return TIMES.index(plain(name)) if plain(name) in TIMES else len(TIMES)


def _like_an_id(connection: duckdb.DuckDBPyConnection, name: str, kind: str, sql: str) -> str:
    if plain(name) in TIMES:
        return "named like a time, and holds neither dates nor Unix times"
    if NAMED_LIKE_AN_ID.search(name) or plain(name) in ACCOUNTS:
        return "like an id by its name"
    if plain(name) in AMOUNTS:
        return ""
    whole = "true" if kind in INTEGERS else f"bool_and({sql} = trunc({sql}))"
    rows, different, all_whole = fetch_row(
        connection,
        f"SELECT count({sql}), count(DISTINCT {sql}), {whole} FROM edges",  # noqa: S608
    )
    return "like an id: no two the same" if all_whole and rows > MOST_KINDS and rows == different else ""


def _levels(connection: duckdb.DuckDBPyConnection, sql: str, inside: str | None) -> tuple[str, ...]:
    """Return the commonest values of the rows that are read, one more than are used where there are more."""
    rows = connection.execute(
        f"SELECT {sql} AS level, count(*) AS rows FROM edges WHERE {sql} IS NOT NULL "  # noqa: S608
        f"{'' if inside is None else f'AND {inside} '}"
        f"GROUP BY level ORDER BY rows DESC, level LIMIT {MOST_KINDS + 1}"
    ).fetchall()
    return tuple(level for level, _ in rows)


def _number(sql: str) -> str:
    # An infinite value is the largest, so that sums stay finite, and minus zero is zero.
    number = f"CAST({sql} AS DOUBLE)"
    return f"CASE WHEN NOT isnan({number}) THEN least(greatest({number}, -{LARGEST}), {LARGEST}) + 0.0 END"


def _text(kind: str, sql: str, levels: Sequence[str] = ()) -> str:
    """Write a kind as text, the same whatever type it came in: 1 and 1.0 are one, and so are True and true."""
    text = f"CAST({sql} AS VARCHAR)"
    if kind in FLOATS:
        return f"coalesce(CASE WHEN {sql} = trunc({sql}) THEN CAST(TRY_CAST({sql} AS BIGINT) AS VARCHAR) END, {text})"
    return f"lower({text})" if levels and set(levels) <= {"true", "false"} else text


def _code(sql: str, levels: Sequence[str]) -> str:
    return f"CAST(list_position({literals(levels)}, {sql}) - 1 AS SMALLINT)"
