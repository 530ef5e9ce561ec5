"""Nodes numbered in SQL: by kind, and within a kind by the order of the ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import duckdb

from oddhop.errors import TableError
from oddhop.tables.kinds import KindsRead, KnownKinds
from oddhop.tables.read.database import fetch_row
from oddhop.tables.read.edge_roles import EdgeRoles
from oddhop.tables.read.ids import IdColumn, agreed, end_key, id_column
from oddhop.tables.read.kinds import EndKind, NodeSource, find_judged
from oddhop.tables.settings import ReadSettings


@dataclass(frozen=True)
class Ends:
    """The ends of ``edges``, a table or a view: their ids, how their kinds are known, and which rows are read."""

    ids: tuple[IdColumn, IdColumn]
    kinds: tuple[EndKind, EndKind] = (EndKind(), EndKind())
    inside: str | None = None

    def keys(self, node_id: IdColumn) -> tuple[str, str]:
        """Write the keys of the nodes that they name."""
        keys = [end_key(end, node_id) for end in self.ids]
        # An end whose kind is missing names no node, even where one kind alone has that id.
        first, second = (
            key if kind.column is None else f"CASE WHEN c{kind.column} IS NOT NULL THEN {key} END"
            for key, kind in zip(keys, self.kinds, strict=True)
        )
        return first, second

    def kinds_sql(self, names: Sequence[str]) -> tuple[str | None, str | None]:
        """Write the numbers of their kinds; None where an end may be of any."""
        first, second = (kind.sql(names) for kind in self.kinds)
        return first, second

    @property
    def missing(self) -> str:
        """Write the condition that a row lacks an end, or the kind of one."""
        lacks = [f"{end.sql} IS NULL" for end in self.ids]
        lacks += [f"c{kind.column} IS NULL" for kind in self.kinds if kind.column is not None]
        return " OR ".join(lacks)

    @property
    def where(self) -> str:
        """Write the condition on the rows that are read."""
        return "" if self.inside is None else f" WHERE {self.inside}"


@dataclass(frozen=True)
class NodeCounts:
    """The rows of the node tables, those without an id, those that repeat another, and the nodes of edges alone."""

    node_rows: int
    null_ids: int
    repeated_ids: int
    unknown_nodes: int


@dataclass(frozen=True)
class People:
    """The table ``people``: one row a node, numbered by kind and by the order of the ids.

    Attributes
    ----------
    ends : the ends of ``edges``; which columns of it hold kinds is now sure.
    node_id : the ids in the one type that they have now.
    roles : the other columns of the edge table.
    """

    ends: Ends
    node_id: IdColumn
    kinds: KindsRead
    roles: EdgeRoles
    counts: NodeCounts


def number_nodes(
    connection: duckdb.DuckDBPyConnection,
    sources: Sequence[NodeSource],
    ids: Sequence[IdColumn],
    ends: Ends,
    tables: tuple[str, ...],
    named: tuple[str, ...],
    settings: ReadSettings,
    *,
    known: KnownKinds | None = None,
) -> tuple[IdColumn, KindsRead, NodeCounts]:
    """Make ``people`` of the loaded tables: one row a node, numbered by kind and by the order of the ids.

    ``tables`` are the kinds of the tables and ``named`` those that edges tell.
    """
    alone = tuple(name for name in named if name not in tables)
    names = (*tables, *alone)
    if known is not None:
        known.check(names)
    node_id = agreed([*ids, *_alone_ids(connection, ends, names, len(tables))])
    rows, with_id, distinct = _counts(connection, sources, ids, node_id, names)
    # To compare whole rows is dear, and where every id stands once there is nothing to compare.
    repeats = distinct < with_id
    union = " UNION ALL BY NAME ".join(
        _rows_of(one, own.written_as(node_id), names, distinct=repeats) for one, own in zip(sources, ids, strict=True)
    )
    connection.execute(f"CREATE TEMP {'TABLE' if repeats else 'VIEW'} single AS {union}")
    if repeats:
        _refuse_clash(connection, sources, node_id, names)
    unknown = _unknown(ends, node_id, names, len(tables), settings.keep_unknown)
    if unknown is not None:
        connection.execute(f"CREATE TEMP TABLE named AS {unknown}")
    parts = ["single"] + ["named"] * (unknown is not None)
    everyone = " UNION ALL BY NAME ".join(f"SELECT * FROM {one}" for one in parts)  # noqa: S608 - our own names
    sizes = [fetch_row(connection, f"SELECT count(*) FROM {one}")[0] for one in parts]  # noqa: S608
    kinds, order = _ordered(connection, everyone, sum(sizes), sources, names, alone, known)
    place = "key" if len(names) == 1 else "kind, key"
    rank = "kind" if len(names) == 1 else f"CAST(list_position({order}, kind) - 1 AS INTEGER) AS kind"
    connection.execute(
        "CREATE OR REPLACE TABLE people AS "  # noqa: S608 - our own names
        f"SELECT row_number() OVER (ORDER BY {place}) - 1 AS position, * "
        f"FROM (SELECT {rank}, * EXCLUDE (kind) FROM ({everyone}))"
    )
    connection.execute(f"DROP {'TABLE' if repeats else 'VIEW'} single")
    connection.execute("DROP TABLE IF EXISTS named")
    kinds = replace(kinds, judged=find_judged(kinds, settings.judge, known))
    return node_id, kinds, NodeCounts(rows, rows - with_id, with_id - sizes[0], sum(sizes[1:]))


def _alone_ids(connection: duckdb.DuckDBPyConnection, ends: Ends, names: Sequence[str], tables: int) -> list[IdColumn]:
    """Look at the ids of the kinds that edges alone name."""
    found = []
    for end, kind, column in zip(ends.ids, ends.kinds_sql(names), ("key_s", "key_t"), strict=True):
        if kind is None or tables == len(names):
            continue
        where = f"{kind} >= {tables}{'' if ends.inside is None else f' AND {ends.inside}'}"
        connection.execute(f"CREATE TEMP VIEW alone AS SELECT {end.sql} AS {column} FROM edges WHERE {where}")  # noqa: S608
        if connection.execute(f"SELECT 1 FROM alone WHERE {column} IS NOT NULL LIMIT 1").fetchall():  # noqa: S608
            found.append(id_column(connection, "alone", column, end.textual, end.label, decide=True))
        connection.execute("DROP VIEW alone")
    return found


def _has_id(source: NodeSource, own: IdColumn) -> str:
    return f"{own.sql} IS NOT NULL" + ("" if source.kind_column is None else f" AND c{source.kind_column} IS NOT NULL")


def _rows_of(source: NodeSource, own: IdColumn, names: Sequence[str], *, distinct: bool) -> str:
    columns = "".join(f", c{k} AS c{source.first + k}" for k in source.others)
    return (
        f"SELECT {'DISTINCT' if distinct else ''} {source.kind_sql(names)} AS kind, {own.sql} AS id, "  # noqa: S608
        f"{own.key} AS key{columns} FROM {source.table} WHERE {_has_id(source, own)}"
    )


def _counts(
    connection: duckdb.DuckDBPyConnection,
    sources: Sequence[NodeSource],
    ids: Sequence[IdColumn],
    node_id: IdColumn,
    names: Sequence[str],
) -> tuple[int, int, int]:
    """Return the rows, those with an id, and the different ids, each within its kind."""
    found = []
    for source, own in zip(sources, ids, strict=True):
        key = own.written_as(node_id).key
        if source.kind_column is not None:
            key = f"({source.kind_sql(names)}, {key})"
        has = _has_id(source, own)
        query = f"SELECT count(*), count(*) FILTER ({has}), count(DISTINCT {key}) FILTER ({has}) FROM {source.table}"  # noqa: S608
        found.append(fetch_row(connection, query))
        if not found[-1][1]:
            raise TableError(f"{own.label}: there is no node with an id among {found[-1][0]} rows", "give at least one")
    rows, with_id, distinct = (sum(column) for column in zip(*found, strict=True))
    return rows, with_id, distinct


def _refuse_clash(
    connection: duckdb.DuckDBPyConnection, sources: Sequence[NodeSource], node_id: IdColumn, names: Sequence[str]
) -> None:
    """Raise where an id stands twice within a kind, in rows that differ."""
    again = "SELECT kind, key FROM single GROUP BY kind, key HAVING count(*) > 1 ORDER BY kind, key LIMIT 1"
    for kind, key in connection.execute(again).fetchall():
        differing = []
        for one in sources:
            for k in one.others:
                query = (
                    f"SELECT count(*) FROM (SELECT DISTINCT c{one.first + k} FROM single WHERE kind = $1 AND key = $2)"  # noqa: S608
                )
                if fetch_row(connection, query, [kind, key])[0] > 1:
                    differing.append(one.names[k])
        where = f" of a node of kind {names[kind]!r}" if len(names) > 1 else ""
        raise TableError(
            f"{node_id.label}: the id {key!r}{where} stands in rows that differ in {differing}",
            "which of them holds is for you to say: keep one row a node",
        )


def _unknown(ends: Ends, node_id: IdColumn, names: Sequence[str], tables: int, keep_unknown: bool) -> str | None:
    """Write the query for the nodes that edges alone name; None where there can be none."""
    if tables == len(names) and not keep_unknown:
        return None
    parts = []
    for key, kind in zip(ends.keys(node_id), ends.kinds_sql(names), strict=True):
        # Where there are several kinds and an edge does not say which, nobody knows what the node is.
        number = "0" if len(names) == 1 else kind
        if number is not None:
            parts.append(f"SELECT {number} AS kind, {key} AS key FROM edges{ends.where}")  # noqa: S608
    if not parts:
        return None
    which = "" if keep_unknown else f" AND kind >= {tables}"
    return (
        f"SELECT kind, id, key FROM (SELECT DISTINCT kind, TRY_CAST(key AS {node_id.kind}) AS id, "  # noqa: S608
        f"key FROM ({' UNION ALL '.join(parts)}) AS ends WHERE kind IS NOT NULL{which} AND NOT EXISTS "
        "(SELECT 1 FROM single WHERE single.kind = ends.kind AND single.key = ends.key)) WHERE id IS NOT NULL"
    )


def _ordered(
    connection: duckdb.DuckDBPyConnection,
    everyone: str,
    count: int,
    sources: Sequence[NodeSource],
    names: Sequence[str],
    alone: tuple[str, ...],
    known: KnownKinds | None,
) -> tuple[KindsRead, list[int]]:
    """Put the kinds in an order that depends neither on their names nor on that of the tables; those of a model stay.

    The largest comes first.
    """
    if len(names) == 1:
        columns = tuple((0, name, k) for name, k in _columns_of(connection, sources, names, 0, frozenset()))
        return KindsRead(tuple(names), (0, count), 0, columns), [0]
    text = "CAST(key AS VARCHAR)"
    query = f"SELECT kind, count(*), min({text}), max({text}), sum(length({text})) FROM ({everyone}) GROUP BY kind"  # noqa: S608
    found = connection.execute(query).fetchall()
    sizes = {kind: size for kind, size, *_ in found}
    ties = {kind: values for kind, _, *values in found}
    own = {
        kind: _columns_of(connection, sources, names, kind, known.columns if known is not None else frozenset())
        for kind in sizes
    }
    order = sorted(sizes, key=lambda k: (-sizes[k], ties[k], sorted(name for name, _ in own[k]), names[k]))
    if known is not None and known.names:
        order = [list(names).index(name) for name in known.names]
    bounds = [0]
    for kind in order:
        bounds.append(bounds[-1] + sizes[kind])
    listed = tuple((place, name, k) for place, kind in enumerate(order) for name, k in own[kind])
    return KindsRead(tuple(names[k] for k in order), tuple(bounds), 0, listed, alone), order


def _columns_of(
    connection: duckdb.DuckDBPyConnection,
    sources: Sequence[NodeSource],
    names: Sequence[str],
    kind: int,
    known: frozenset[str],
) -> list[tuple[str, int]]:
    """Return the columns of a kind; of a table that several kinds share, those with a value for one of its nodes."""
    found = []
    for one in sources:
        own = [(one.names[k], one.first + k) for k in one.others]
        if one.kind_column is None:
            found += own if one.kind == names[kind] else []
        elif own:
            counts = ", ".join(f"count(c{k})" for _, k in own)
            row = fetch_row(connection, f"SELECT {counts} FROM single WHERE kind = {kind}")  # noqa: S608
            full = [f"{names[kind]}.{name}" for name, _ in own]
            whole = len(names) == 1
            found += [
                column for column, count, name in zip(own, row, full, strict=True) if count or whole or name in known
            ]
    return found


def refuse_ambiguous(connection: duckdb.DuckDBPyConnection, people: People) -> None:
    """Raise where an edge names an id that two kinds have, and does not say which it means."""
    ends, kinds = people.ends, people.kinds
    sides = zip(ends.ids, ends.keys(people.node_id), ends.kinds, ("source", "target"), strict=True)
    twice = "SELECT key FROM people GROUP BY key HAVING count(*) > 1"
    open_sides = [(end, key, side) for end, key, kind, side in sides if not kind.known] if kinds.several else []
    if not open_sides or not connection.execute(f"{twice} LIMIT 1").fetchall():
        return
    for end, key, side in open_sides:
        query = f"SELECT min(key) FROM (SELECT {key} AS key FROM edges{ends.where}) WHERE key IN ({twice})"  # noqa: S608
        found = fetch_row(connection, query)[0]
        if found is not None:
            rows = connection.execute("SELECT kind FROM people WHERE key = $1 ORDER BY kind", [found]).fetchall()
            which = " and ".join(repr(kinds.names[kind]) for (kind,) in rows)
            raise TableError(
                f"{end.label}: the id {found!r} is that of a node of kind {which}, and the edge does not say which",
                f"say it with {side}_kind=, a column with the kind, or the kind of all",
                command=f"say it with --{side}-kind, a column with the kind, or the kind of all",
            )
