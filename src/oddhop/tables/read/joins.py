"""Which columns are read, and the joins in SQL: nodes numbered by their ids, edges placed, faults told by example."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from oddhop.errors import TableError
from oddhop.graph.events import Events
from oddhop.tables.read.database import fetch_row
from oddhop.tables.read.edge_roles import EdgeRoles
from oddhop.tables.read.events import Direction
from oddhop.tables.read.ids import IdColumn, end_key, id_column
from oddhop.tables.read.roles import find_ends, find_id, said
from oddhop.tables.read.sources import Form
from oddhop.tables.settings import ReadSettings

NO_ATTRIBUTES = (
    "nodes are judged by their attributes, so give a node table with an id and at least one more column for every "
    "node, for example its degree or its age; the events of an edge table that has a direction would do, too"
)


@dataclass(frozen=True)
class Roles:
    """Which columns were read as what, by name.

    ``unread`` has the other columns of the edge table, and why they were not read; ``missing`` counts the events
    without a usable value, by column. ``direction`` says how it was found out whether edges have one.
    """

    source: str
    target: str
    id: str
    amount: tuple[str, ...] = ()
    time: str | None = None
    edge_kind: tuple[str, ...] = ()
    directed: bool | None = None
    direction: str = ""
    unread: tuple[tuple[str, str], ...] = ()
    missing: tuple[tuple[str, int], ...] = ()

    def told(self, events: Events | None) -> tuple[str, ...]:
        """Say what was read of the edge table besides its ends, and what was not, a sentence each."""
        said = [self.direction] if self.direction else []
        if events is not None:
            columns = (("amount", self.amount), ("kind", self.edge_kind), ("time", (self.time,) if self.time else ()))
            read = [f"{what} {name!r}" for what, names in columns for name in names]
            said.append(f"{events.event_count:,} events" + (f" with {', '.join(read)}" if read else ""))
        said += [
            f"{count:,} events have no usable value in {name!r}: missing, not finite, or an unknown kind"
            for name, count in self.missing
        ]
        return (*said, *(f"not read of the edge table: {name!r} ({why})" for name, why in self.unread))


def roles_from(document: Mapping[str, Any]) -> Roles:
    """Read what ``dataclasses.asdict`` gave, after JSON."""
    lists = {name: tuple(document.get(name, ())) for name in ("amount", "edge_kind")}
    pairs = {name: tuple((one, told) for one, told in document.get(name, ())) for name in ("unread", "missing")}
    return Roles(**{**document, **lists, **pairs})


@dataclass(frozen=True)
class Counts:
    """What the tables held and what was left out.

    Every edge row is counted once: ``edge_rows = outside_window + null_ends + unknown_edges + loops +
    duplicate_edges`` and the edges kept.

    Attributes
    ----------
    edge_rows, node_rows : the rows read.
    null_ends : edge rows that lack an end; left out.
    unknown_edges : edge rows to a node that the node table does not name; left out.
    loops : edge rows from a node to itself; left out.
    duplicate_edges : edge rows between two nodes that another row joins in the same direction. Where events are
        read, each is one more event; otherwise they are left out.
    outside_window : edge rows before ``since``, not before ``until``, or without a time; left out.
    unknown_nodes : nodes that only edges name; kept, without a profile.
    null_ids : node rows without an id; left out.
    repeated_ids : node rows that repeat another, value for value; left out.
    lone_nodes : nodes without an edge; kept.
    ignored_columns : the columns of the edge table that were not read.
    """

    edge_rows: int
    node_rows: int
    null_ends: int
    unknown_edges: int
    loops: int
    duplicate_edges: int
    null_ids: int
    repeated_ids: int
    lone_nodes: int
    ignored_columns: tuple[str, ...]
    outside_window: int = 0
    unknown_nodes: int = 0


@dataclass(frozen=True)
class TableColumns:
    """Two tables, and which of their columns are read as what, by number."""

    edge_form: Form
    node_form: Form
    edge_names: tuple[str, ...]
    node_names: tuple[str, ...]
    ends: tuple[int, int]
    id: int

    @property
    def others(self) -> tuple[int, ...]:
        """The columns of the node table besides the id."""
        return tuple(k for k in range(len(self.node_names)) if k != self.id)

    @property
    def end_names(self) -> tuple[str, str]:
        """The names of the columns that an edge comes from and goes to."""
        source, target = (self.edge_names[k] for k in self.ends)
        return source, target

    def roles(
        self, edge_roles: EdgeRoles, direction: Direction | None, missing: tuple[tuple[str, int], ...] = ()
    ) -> Roles:
        """Give the roles by name; without a direction edges are pairs, and not events."""
        columns = edge_roles.columns
        if direction is None:
            return Roles(*self.end_names, self.node_names[self.id], unread=edge_roles.unread)
        return Roles(
            *self.end_names,
            self.node_names[self.id],
            columns.amounts,
            columns.time,
            columns.kinds,
            direction.directed,
            direction.told,
            edge_roles.unread,
            missing,
        )

    def edge_picks(self, settings: ReadSettings) -> dict[int, str]:
        """Give the columns of the edge table that are looked at: all of them, or the ends alone."""
        every = settings.flows or settings.since is not None or settings.until is not None
        return {k: name for k, name in enumerate(self.edge_names) if every or k in self.ends}

    def check_profile(self, has_events: bool) -> None:
        """Refuse a node table of ids alone, where the edges tell nothing about nodes either."""
        if not self.others and not has_events:
            label, name = self.node_form.label, self.node_names[self.id]
            raise TableError(f"{label} has no column besides {name!r}", f"{NO_ATTRIBUTES}")

    def node_role(self, connection: duckdb.DuckDBPyConnection) -> IdColumn:
        """Look at the ids of ``nodes``, a loaded table."""
        return _role(connection, self.node_form, "nodes", self.id, self.node_names[self.id], decide=True)

    def end_roles(self, connection: duckdb.DuckDBPyConnection) -> tuple[IdColumn, IdColumn]:
        """Look at the ends in ``edges``, a loaded table."""
        s, t = (_role(connection, self.edge_form, "edges", k, self.edge_names[k], decide=False) for k in self.ends)
        return s, t


def find_columns(
    connection: duckdb.DuckDBPyConnection,
    edge_form: Form,
    node_form: Form,
    source: str | None,
    target: str | None,
    id_name: str | None,
    kept: Sequence[str] = (),
) -> TableColumns:
    """Find out which column is what, by name."""
    edge_names, node_names = edge_form.names(connection), node_form.names(connection)
    ends = find_ends(edge_names, source, target, edge_form.label)
    i = find_id(node_names, id_name, node_form.label)
    for name in kept:
        if said(node_names, name, "keep_columns", node_form.label) == i or list(kept).count(name) > 1:
            raise TableError(
                f"{node_form.label}: {name!r} cannot be kept: it is the id, or named twice", "leave it out"
            )
    return TableColumns(edge_form, node_form, edge_names, node_names, ends, i)


def _role(
    connection: duckdb.DuckDBPyConnection, form: Form, table: str, k: int, name: str, *, decide: bool
) -> IdColumn:
    return id_column(connection, table, f"c{k}", form.textual, f"column {name!r} of {form.label}", decide=decide)


def number_nodes(
    connection: duckdb.DuckDBPyConnection,
    node_id: IdColumn,
    others: Sequence[int],
    names: Sequence[str],
    *,
    kept: bool = False,
    named_by_edges: str | None = None,
) -> tuple[int, int, int, int]:
    """Make ``people`` of ``nodes``: one row a node, numbered by the order of the ids.

    With ``kept`` it outlives the connection, if the database is a file. ``named_by_edges`` is a query for keys, which
    become nodes without a profile where ``nodes`` lacks them. Gives the rows, those without an id, those that repeat
    another, and the nodes that edges alone name.
    """
    columns = "".join(f", c{k}" for k in others)
    rows, with_id, distinct = fetch_row(
        connection,
        f"SELECT count(*), count({node_id.sql}), count(DISTINCT {node_id.key}) FROM nodes",  # noqa: S608 - our own names
    )
    if not with_id:
        raise TableError(f"{node_id.label}: there is no node with an id among {rows} rows", "give at least one")
    # To compare whole rows is dear, and where every id stands once there is nothing to compare.
    repeats = distinct < with_id
    connection.execute(
        f"CREATE TEMP {'TABLE' if repeats else 'VIEW'} single AS "  # noqa: S608 - our own names
        f"SELECT {'DISTINCT' if repeats else ''} {node_id.sql} AS id, {node_id.key} AS key{columns} "
        f"FROM nodes WHERE {node_id.sql} IS NOT NULL"
    )
    again = "SELECT key FROM single GROUP BY key HAVING count(*) > 1 ORDER BY key LIMIT 1"
    clash = connection.execute(again).fetchall() if repeats else []
    if clash:
        differing = [
            names[k]
            for k in others
            if fetch_row(
                connection,
                f"SELECT count(*) FROM (SELECT DISTINCT c{k} FROM single WHERE key = $1)",  # noqa: S608
                [clash[0][0]],
            )[0]
            > 1
        ]
        raise TableError(
            f"{node_id.label}: the id {clash[0][0]!r} stands in rows that differ in {differing}",
            "which of them holds is for you to say: keep one row a node",
        )
    connection.execute(
        f"CREATE {'' if kept else 'TEMP'} TABLE people AS "  # noqa: S608
        f"SELECT row_number() OVER (ORDER BY key) - 1 AS position, id, key{columns} "
        f"FROM (SELECT id, key{columns} FROM single{_unknown(named_by_edges, node_id)})"
    )
    single = fetch_row(connection, "SELECT count(*) FROM single")[0]
    connection.execute(f"DROP {'TABLE' if repeats else 'VIEW'} single")
    unknown = fetch_row(connection, "SELECT count(*) FROM people")[0] - single
    return rows, rows - with_id, with_id - single, unknown


def _unknown(named_by_edges: str | None, node_id: IdColumn) -> str:
    if named_by_edges is None:
        return ""
    return (
        f" UNION ALL BY NAME SELECT id, key FROM (SELECT DISTINCT TRY_CAST(key AS {node_id.kind}) AS id, key "  # noqa: S608
        f"FROM ({named_by_edges}) WHERE key NOT IN (SELECT key FROM single)) WHERE id IS NOT NULL"
    )


def keys_of_ends(ends: Sequence[IdColumn], node_id: IdColumn, where: str | None) -> str:
    """Write the query for the keys that the ends of ``edges`` name."""
    inside = "" if where is None else f" WHERE {where}"
    first, second = (f"SELECT {end_key(end, node_id)} AS key FROM edges{inside}" for end in ends)  # noqa: S608
    return f"{first} UNION ALL {second}"


def place_edges(
    connection: duckdb.DuckDBPyConnection,
    ends: Sequence[IdColumn],
    node_id: IdColumn,
    columns: Mapping[str, str] | None = None,
    where: str | None = None,
) -> tuple[int, ...]:
    """Make ``placed``: every edge row by the positions of its ends, null where no node has that id.

    ``columns`` is SQL for further columns, by name, and ``where`` a condition on the rows.
    """
    first, second = ends
    names = "".join(f", {name}" for name in columns or {})
    values = "".join(f", {sql} AS {name}" for name, sql in (columns or {}).items())
    inside = "" if where is None else f" WHERE {where}"
    # The rows keep their number and not their texts, which would be carried through both joins.
    connection.execute(
        f"CREATE TEMP TABLE placed AS SELECT a.position AS s, b.position AS t, row, missing{names} FROM ("  # noqa: S608
        f"SELECT rowid AS row, {end_key(first, node_id)} AS key_s, {end_key(second, node_id)} AS key_t, "
        f"{first.sql} IS NULL OR {second.sql} IS NULL AS missing{values} FROM edges{inside}"
        ") LEFT JOIN people a ON key_s = a.key LEFT JOIN people b ON key_t = b.key"
    )
    tally = fetch_row(
        connection,
        "SELECT count(*), count(*) FILTER (missing), count(*) FILTER (NOT missing AND (s IS NULL OR t IS NULL)), "
        "count(*) FILTER (s = t), count(*) FILTER (s <> t) FROM placed",
    )
    connection.execute("CREATE TEMP TABLE joined AS SELECT DISTINCT s, t FROM placed WHERE s <> t")
    return (*tally, fetch_row(connection, "SELECT count(*) FROM joined")[0])


def first_edge(connection: duckdb.DuckDBPyConnection, ends: Sequence[IdColumn], which: str) -> str:
    """Give the first of some placed edges, as a person would write it."""
    said = ", ".join(f"CAST({end.sql} AS VARCHAR)" for end in ends)
    rows = f"SELECT row FROM placed WHERE {which}"  # noqa: S608
    row = fetch_row(connection, f"SELECT {said} FROM edges WHERE rowid IN ({rows}) ORDER BY ALL LIMIT 1")  # noqa: S608
    return " -> ".join("nothing" if end is None else repr(end) for end in row)


def refuse_unjoined(
    connection: duckdb.DuckDBPyConnection, ends: Sequence[IdColumn], rows: int, names: Sequence[str]
) -> None:
    """Raise because no edge joins two nodes of the node table."""
    raise TableError(
        f"not one of {rows} edges joins two nodes of the node table",
        f"the columns read are {names[0]!r} and {names[1]!r}: "
        f"are they the right ones? The first edge is {first_edge(connection, ends, 'NOT missing')}",
    )


def refuse(
    connection: duckdb.DuckDBPyConnection, ends: Sequence[IdColumn], counts: Counts, lone: str, *, events: bool
) -> None:
    """Raise for the first thing that was left out, with the first example in the order of the ids.

    With ``events`` a row that joins the same two nodes as another is one more event, and no fault.
    """
    edge_faults = (
        (counts.null_ends, "edge row(s) lack an end", "missing"),
        (
            counts.unknown_edges,
            "edge row(s) name a node that the node table lacks",
            "NOT missing AND (s IS NULL OR t IS NULL)",
        ),
        (counts.loops, "edge row(s) join a node to itself", "s = t"),
        (
            0 if events else counts.duplicate_edges,
            "edge row(s) repeat another",
            "(s, t) IN (SELECT (s, t) FROM placed WHERE s <> t GROUP BY s, t HAVING count(*) > 1)",
        ),
    )
    faults = [
        (count, fault, f", first {first_edge(connection, ends, which)}") for count, fault, which in edge_faults if count
    ]
    faults += [
        (counts.null_ids, "node row(s) have no id", ""),
        (counts.repeated_ids, "node row(s) repeat another", ""),
        (counts.lone_nodes, "node(s) have no edge", f", first {lone}"),
        (len(counts.ignored_columns), "column(s) of the edge table are not read", f": {list(counts.ignored_columns)}"),
    ]
    for count, fault, example in faults:
        if count:
            raise TableError(
                f"{count} {fault}{example}",
                "correct the tables, or read them with strict=False",
                command="correct the tables, or leave out --strict",
            )
