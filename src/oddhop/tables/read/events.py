"""Events in SQL: direction found out, rows sorted by node and time, and handed out in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from oddhop.base.arrays import Floats, Ints
from oddhop.graph.events import NO_KIND, NO_TIME, EventColumns
from oddhop.tables.inference import LARGEST
from oddhop.tables.read.database import fetch_batches, fetch_row
from oddhop.tables.read.edge_roles import EdgeRoles
from oddhop.tables.settings import ReadSettings

FEWEST_IN_ORDER = 20
REPEATED = 0.9  # different pairs for a row: a list of edges in which a few stand twice is no list of events


@dataclass(frozen=True)
class Direction:
    """Whether edges have a direction, how that was found out, and whether every event stands there both ways."""

    directed: bool
    sentence: str
    both_ways: bool = False


@dataclass(frozen=True, eq=False)
class EventBatch:
    """Events in the order of :class:`~oddhop.graph.events.Events`; ``rows`` are the numbers of their rows there."""

    rows: Ints
    partners: Ints
    times: Ints
    amounts: Floats
    kinds: Ints

    def count_into(self, counts: Ints) -> None:
        """Add the events of every row to its count; the rows are sorted, so only those that occur are touched."""
        first = np.flatnonzero(np.diff(self.rows, prepend=-1))
        counts[self.rows[first]] += np.diff(first, append=self.rows.size)


def find_direction(
    connection: duckdb.DuckDBPyConnection,
    roles: EdgeRoles,
    settings: ReadSettings,
    ends: tuple[str, str],
    bounds: Sequence[int],
) -> Direction:
    """Find out from ``placed`` whether edges have a direction: not where all of them stand both ways, or in order.

    ``bounds`` are the nodes where kinds begin, and the number of nodes. Between kinds every edge stands in order.
    """
    columns = "".join(f", {name}" for name in roles.named)
    inner = bounds[1:-1]
    alike = " AND ".join(f"(s < {bound}) = (t < {bound})" for bound in inner) if inner else "true"
    all_rows, rows, ascending, forth, back = fetch_row(
        connection,
        f"SELECT count(*), count(*) FILTER ({alike}), count(*) FILTER (s < t AND {alike}), "  # noqa: S608
        f"sum(hash(s, t{columns})), sum(hash(t, s{columns})) "
        "FROM placed WHERE s >= 0 AND t >= 0 AND s <> t",
    )
    both_ways = all_rows > 0 and forth == back
    there = f"from {ends[0]!r} to {ends[1]!r}"
    if settings.directed is not None:
        how = f"a direction, as set: {there}" if settings.directed else "no direction, as set"
        return Direction(settings.directed, f"edges have {how}", both_ways and not settings.directed)
    if both_ways:
        return Direction(False, "edges have no direction: every row is in the table in both directions", True)
    if rows >= FEWEST_IN_ORDER and ascending in (0, rows):
        low, high = ends if ascending else ends[::-1]
        return Direction(False, f"edges have no direction: the id in {low!r} always comes before that in {high!r}")
    return Direction(True, f"edges have a direction: {there}")


def missing_values(connection: duckdb.DuckDBPyConnection, roles: EdgeRoles) -> tuple[tuple[str, int], ...]:
    """Count the events of ``placed`` without a value that can be used, by column."""
    columns = roles.columns
    names = dict(
        zip(roles.named, [*([columns.time] if columns.time else []), *columns.amounts, *columns.kinds], strict=True)
    )
    if not names:
        return ()
    counts = ", ".join(f"count(*) FILTER ({name} IS NULL)" for name in names)
    row = fetch_row(connection, f"SELECT {counts} FROM placed WHERE s >= 0 AND t >= 0 AND s <> t")  # noqa: S608
    return tuple((str(name), count) for name, count in zip(names.values(), row, strict=True) if count)


def infinite_values(connection: duckdb.DuckDBPyConnection, roles: EdgeRoles) -> tuple[str, ...]:
    """Say how many events of ``placed`` have an infinite amount, a sentence for every column that has any."""
    amounts = roles.columns.amounts
    if not amounts:
        return ()
    counts = ", ".join(f"count(*) FILTER (abs(a{k}) >= {LARGEST})" for k in range(len(amounts)))
    row = fetch_row(connection, f"SELECT {counts} FROM placed WHERE s >= 0 AND t >= 0 AND s <> t")  # noqa: S608
    return tuple(
        f"{count:,} events have an infinite {name!r}: taken for the largest number"
        for name, count in zip(amounts, row, strict=True)
        if count
    )


@dataclass(frozen=True)
class FoundEvents:
    """What is known of the events of ``placed``; without columns they say no more than the wiring does."""

    direction: Direction | None = None
    columns: EventColumns | None = None
    missing: tuple[tuple[str, int], ...] = ()
    infinite: tuple[str, ...] = ()


def find_events(
    connection: duckdb.DuckDBPyConnection,
    roles: EdgeRoles,
    settings: ReadSettings,
    ends: tuple[str, str],
    bounds: Sequence[int],
    sizes: tuple[int, int],
    known: EventColumns | None,
) -> FoundEvents:
    """Find out what the events of ``placed`` say; ``sizes`` are its rows and its pairs, ``known`` those of a model."""
    if not settings.flows:
        return FoundEvents()
    direction = find_direction(connection, roles, settings, ends, bounds)
    columns, (rows, pairs) = replace(roles.columns, directed=direction.directed), sizes
    says_more = columns.directed or columns.time is not None or columns.amounts or columns.kinds
    if known is None and not says_more and pairs >= REPEATED * rows:
        return FoundEvents(direction)
    return FoundEvents(direction, columns, missing_values(connection, roles), infinite_values(connection, roles))


def event_batches(
    connection: duckdb.DuckDBPyConnection, columns: EventColumns, both_ways: bool
) -> Iterator[EventBatch]:
    """Return the events of ``placed`` in the order of nodes and time; DuckDB sorts them, on disk where memory ends."""
    amounts = [f"a{k}" for k in range(len(columns.amounts))]
    kinds = [f"k{k}" for k in range(len(columns.kinds))]
    times = ["w"] * (columns.time is not None)
    picked = [f"coalesce({name}, {NO_TIME}) AS {name}" for name in times]
    picked += [f"coalesce({name}, CAST('nan' AS DOUBLE)) AS {name}" for name in amounts]
    picked += [f"coalesce({name}, CAST({NO_KIND} AS SMALLINT)) AS {name}" for name in kinds]
    more = "".join(f", {one}" for one in picked)
    once = f"s >= 0 AND t >= 0 AND {'s < t' if both_ways else 's <> t'}"
    order = ", ".join(["row", *times, "partner", *amounts, *kinds])
    query = (
        f"SELECT * FROM (SELECT 2 * s AS row, t AS partner{more} FROM placed WHERE {once} "  # noqa: S608
        f"UNION ALL SELECT 2 * t + {int(columns.directed)}, s{more} FROM placed WHERE {once}) ORDER BY {order}"
    )
    for batch in fetch_batches(connection, query):
        yield EventBatch(
            rows=batch.column("row").to_numpy(),
            partners=batch.column("partner").to_numpy(),
            times=batch.column("w").to_numpy() if times else np.empty(0, dtype=np.int64),
            amounts=_beside(batch, amounts, np.float64),
            kinds=_beside(batch, kinds, np.int16),
        )


def _beside(batch: pa.RecordBatch, names: Sequence[str], dtype: Any) -> Any:
    out = np.empty((batch.num_rows, len(names)), dtype=dtype)
    for k, name in enumerate(names):
        out[:, k] = batch.column(name).to_numpy()
    return out
