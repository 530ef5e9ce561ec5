"""Which columns are read, and the joins in SQL: edges placed, faults shown by an example."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import duckdb

from oddhop.errors import TableError
from oddhop.graph.events import Events
from oddhop.tables.kinds import KindsRead
from oddhop.tables.read.database import fetch_row
from oddhop.tables.read.events import FoundEvents
from oddhop.tables.read.files import Form
from oddhop.tables.read.ids import FIT_BIGINT, IdColumn, id_column
from oddhop.tables.read.kinds import EndKind, NodeSource, find_end_kinds
from oddhop.tables.read.numbering import Ends, People
from oddhop.tables.read.roles import column_number, find_ends, find_id
from oddhop.tables.settings import ReadSettings

NO_ATTRIBUTES = (
    "nodes are judged by their attributes, so give a node table with an id and at least one more column for every "
    "node, for example its degree or its age; the events of an edge table that has a direction would do, too"
)

MOST_COLUMNS = 5_000  # reading takes longer than in proportion to their number
NO_END, NO_NODE = -2, -1


@dataclass(frozen=True)
class Roles:
    """Which columns were read as what, by name.

    ``unread`` has the other columns of the edge table, and why they were not read; ``missing`` counts the events
    without a usable value, by column. ``direction`` says how it was found out whether edges have one, ``kinds`` which
    kinds of nodes there are, where there are several, and ``readings`` what was guessed of files and
    decided about the texts of the edge table.
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
    kinds: str = ""
    readings: tuple[str, ...] = ()

    def named_in(self, settings: ReadSettings) -> ReadSettings:
        """Return the settings by which tables were read, with the columns that were found for ends and ids."""
        ids = settings.id if self.kinds else self.id
        return settings.model_copy(update={"source": self.source, "target": self.target, "id": ids})

    def sentences(self, events: Events | None) -> tuple[str, ...]:
        """Say which kinds of nodes there are, and what was read of the edge table besides its ends, a sentence each."""
        found = [one for one in (self.kinds, self.direction) if one]
        if events is not None:
            columns = (("amount", self.amount), ("kind", self.edge_kind), ("time", (self.time,) if self.time else ()))
            read = [f"{what} {name!r}" for what, names in columns for name in names]
            found.append(f"{events.event_count:,} events" + (f" with {', '.join(read)}" if read else ""))
        found += [
            f"{count:,} events have no usable value in {name!r}: missing, not finite, or an unknown kind"
            for name, count in self.missing
        ]
        found += self.readings
        return (*found, *(f"column of the edge table that is not used: {name!r} ({why})" for name, why in self.unread))


@dataclass(frozen=True)
class Counts:
    """What the tables held and what was left out.

    Every edge row is counted once: ``edge_rows = outside_window + null_ends + unknown_edges + loops +
    duplicate_edges`` and the edges kept.

    Attributes
    ----------
    edge_rows, node_rows : the rows read.
    null_ends : edge rows that lack an end, or the kind of one; left out.
    unknown_edges : edge rows to a node that the node table does not name; left out.
    loops : edge rows from a node to itself; left out.
    duplicate_edges : edge rows between two nodes that another row joins in the same direction. Where events are
        read, each is one more event; otherwise they are left out.
    outside_window : edge rows before ``since``, not before ``until``, or without a time; left out.
    unknown_nodes : nodes that only edges name; kept, without a profile.
    null_ids : node rows without an id, or without a kind where a column has it; left out.
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

    @property
    def faults(self) -> bool:
        """Whether anything was left out, or is not as it should be."""
        return any(value for name, value in vars(self).items() if name not in ("edge_rows", "node_rows"))


@dataclass(frozen=True)
class TableColumns:
    """A table of edges and those of nodes, and which of their columns are read as what, by number."""

    edge_form: Form
    edge_names: tuple[str, ...]
    ends: tuple[int, int]
    nodes: tuple[NodeSource, ...]
    end_kinds: tuple[EndKind, EndKind] = (EndKind(), EndKind())

    @property
    def end_names(self) -> tuple[str, str]:
        """The names of the columns that an edge comes from and goes to."""
        source, target = (self.edge_names[k] for k in self.ends)
        return source, target

    @property
    def node_label(self) -> str:
        """What an error calls the node tables."""
        return self.nodes[0].form.label if len(self.nodes) == 1 else "the node tables"

    def roles(self, people: People, found: FoundEvents) -> Roles:
        """Return the roles by name; without a direction edges are pairs, and not events."""
        edge_roles, columns = people.roles, people.roles.columns
        ids = ", ".join(dict.fromkeys(one.names[one.id] for one in self.nodes))
        kinds = people.kinds.sentence
        by = [self.edge_names[end.column] for end in people.ends.kinds if end.column is not None]
        if kinds and by:
            kinds += f"; kinds read from the edge table: {' and '.join(map(repr, by))}"
        notes = tuple(note for form in (self.edge_form, *(one.form for one in self.nodes)) for note in form.notes)
        direction = found.direction
        if direction is None:
            return Roles(*self.end_names, ids, unread=edge_roles.unread, kinds=kinds, readings=notes)
        return Roles(
            *self.end_names,
            ids,
            columns.amounts,
            columns.time,
            columns.kinds,
            direction.directed,
            direction.sentence,
            edge_roles.unread,
            found.missing,
            kinds,
            (*notes, *edge_roles.readings, *found.infinite),
        )

    @property
    def taken(self) -> tuple[int, ...]:
        """The columns of the edge table that say which nodes an edge joins."""
        return (*self.ends, *(end.column for end in self.end_kinds if end.column is not None))

    def edge_picks(self, settings: ReadSettings) -> dict[int, str]:
        """Return the columns of the edge table that are looked at: all of them, or those of the ends alone."""
        every = settings.flows or settings.since is not None or settings.until is not None
        return {k: name for k, name in enumerate(self.edge_names) if every or k in self.taken}

    def check_profile(self, has_events: bool) -> None:
        """Refuse node tables of ids alone, where the edges tell nothing about nodes either."""
        if not has_events and not any(one.others for one in self.nodes):
            names = " and ".join(dict.fromkeys(repr(one.names[k]) for one in self.nodes for k in one.labels))
            raise TableError(f"{self.node_label} has no column besides {names}", f"{NO_ATTRIBUTES}")

    def node_ids(self, connection: duckdb.DuckDBPyConnection) -> tuple[IdColumn, ...]:
        """Look at the ids of the node tables, which are loaded."""
        return tuple(
            _role(connection, one.form, one.table, one.id, one.names[one.id], decide=True) for one in self.nodes
        )

    def end_ids(self, connection: duckdb.DuckDBPyConnection) -> tuple[IdColumn, IdColumn]:
        """Look at the ends in ``edges``, a loaded table."""
        s, t = (_role(connection, self.edge_form, "edges", k, self.edge_names[k], decide=False) for k in self.ends)
        return s, t


def find_columns(
    connection: duckdb.DuckDBPyConnection, edge_form: Form, node_forms: Mapping[str, Form], settings: ReadSettings
) -> TableColumns:
    """Find out which column is what, by name; a node table whose kind nobody named stands under an empty one."""
    edge_names = _names(connection, edge_form)
    ends = find_ends(edge_names, settings, edge_form.label)
    sources: list[NodeSource] = []
    for kind, form in node_forms.items():
        names = _names(connection, form)
        # With several tables each is asked for the id by that name, and those that lack it are guessed.
        asked = settings.id if len(node_forms) == 1 or settings.id in names else None
        found = find_id(names, asked, form.label, kind)
        column = None
        if settings.node_kind is not None:
            column = column_number(names, settings.node_kind, "node_kind", form.label)
        first = sum(len(one.names) for one in sources)
        sources.append(NodeSource(form, names, found, kind, column, first))
    if settings.id is not None and not any(settings.id in one.names for one in sources):
        raise TableError(f"no node table has a column {settings.id!r} for id=", "leave it out, or name one of theirs")
    _check_kept(sources, settings)
    named = settings.source_kind, settings.target_kind
    if "" in node_forms and settings.node_kind is None and any(one is not None for one in (*named, settings.judge)):
        raise TableError(
            f"{sources[0].form.label} does not say of which kind its nodes are",
            "name it, nodes={'account': ...}, or the column that has it, node_kind=",
            command="name it, --nodes account=PATH, or the column that has it, --node-kind",
        )
    several = len(sources) > 1 or settings.node_kind is not None
    end_kinds = find_end_kinds(edge_names, ends, named, guess=several)
    return TableColumns(edge_form, edge_names, ends, tuple(sources), end_kinds)


def _names(connection: duckdb.DuckDBPyConnection, form: Form) -> tuple[str, ...]:
    names = form.names(connection)
    if len(names) > MOST_COLUMNS:
        raise TableError(
            f"{form.label} has {len(names):,} columns, and at most {MOST_COLUMNS:,} are read",
            "leave out columns; give attributes that are numbers as an array to Graph.from_arrays",
        )
    return names


def _check_kept(sources: Sequence[NodeSource], settings: ReadSettings) -> None:
    """Refuse to keep what the table of the nodes that are judged does not have, or has as the id."""
    kept, judge = settings.keep_columns, settings.judge
    source = next((one for one in sources if one.kind == judge), None) if len(sources) > 1 else sources[0]
    for name in kept:
        if source is None:
            raise TableError(
                f"{name!r} cannot be kept: it is open who is judged, or edges alone name them", "name them"
            )
        label = source.form.label
        if column_number(source.names, name, "keep_columns", label) in source.labels or list(kept).count(name) > 1:
            raise TableError(f"{label}: {name!r} cannot be kept: it is the id, or named twice", "leave it out")


def _role(
    connection: duckdb.DuckDBPyConnection, form: Form, table: str, k: int, name: str, *, decide: bool
) -> IdColumn:
    return id_column(connection, table, f"c{k}", form.textual, f"column {name!r} of {form.label}", decide=decide)


def placing(
    connection: duckdb.DuckDBPyConnection, ends: Ends, node_id: IdColumn, kinds: KindsRead, columns: Mapping[str, str]
) -> str:
    """Write the query that gives both ends of every edge row by number; below 0 are those that have none.

    ``columns`` is SQL for further columns, by name.
    """
    low, high = fetch_row(connection, "SELECT min(key), max(key) FROM people")
    if node_id.kind in FIT_BIGINT and high - low + 1 == kinds.bounds[-1] and not kinds.several:
        # Ids without a gap need no join: the number of a node is its distance from the first.
        first, second = ends.keys(node_id)
        values = "".join(f", {sql} AS {name}" for name, sql in columns.items())
        joined = (
            f"(SELECT {first} AS key_s, {second} AS key_t, {ends.missing} AS missing{values} FROM edges{ends.where})"  # noqa: S608
        )
        s, t = (
            f"CASE WHEN {key} BETWEEN {low} AND {high} THEN CAST({key} AS BIGINT) - ({low}) END"
            for key in ("key_s", "key_t")
        )
    else:
        joined, s, t = joined_ends(ends, node_id, kinds.names, columns), "a.position", "b.position"
    more = "".join(f", {name}" for name in columns)
    return (
        f"SELECT CASE WHEN missing THEN {NO_END} ELSE coalesce({s}, {NO_NODE}) END AS s, "  # noqa: S608
        f"coalesce({t}, {NO_NODE}) AS t{more} FROM {joined}"
    )


def place_rows(connection: duckdb.DuckDBPyConnection, ends: Ends, node_id: IdColumn, names: Sequence[str]) -> None:
    """Make ``placed`` anew: the number of every edge row and the positions of its ends, null without a node."""
    connection.execute("DROP TABLE IF EXISTS placed")
    # The rows keep their number and not their texts, which would be carried through both joins.
    connection.execute(
        "CREATE TEMP TABLE placed AS SELECT a.position AS s, b.position AS t, row, missing "  # noqa: S608
        f"FROM {joined_ends(ends, node_id, names, {'row': 'rowid'})}"
    )


def joined_ends(ends: Ends, node_id: IdColumn, names: Sequence[str], columns: Mapping[str, str]) -> str:
    """Write the join of every edge row with the nodes at its ends, ``a`` and ``b``; ``columns`` as they are named."""
    values = [f"{key} AS {name}" for key, name in zip(ends.keys(node_id), ("key_s", "key_t"), strict=True)]
    values += [f"{ends.missing} AS missing", *(f"{sql} AS {name}" for name, sql in columns.items())]
    joins = []
    for kind, side, who in zip(ends.kinds_sql(names), "st", "ab", strict=True):
        known = kind is not None and len(names) > 1
        values += [f"{kind} AS kind_{side}"] * known
        same = f" AND kind_{side} = {who}.kind" if known else ""
        joins.append(f"LEFT JOIN people {who} ON key_{side} = {who}.key{same}")
    return f"(SELECT {', '.join(values)} FROM edges{ends.where}) {' '.join(joins)}"  # noqa: S608


def first_edge(connection: duckdb.DuckDBPyConnection, ends: Sequence[IdColumn], which: str) -> str:
    """Return the first of some placed edges, as a person would write it."""
    picked = ", ".join(f"CAST({end.sql} AS VARCHAR)" for end in ends)
    rows = f"SELECT row FROM placed WHERE {which}"  # noqa: S608
    row = fetch_row(connection, f"SELECT {picked} FROM edges WHERE rowid IN ({rows}) ORDER BY ALL LIMIT 1")  # noqa: S608
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
