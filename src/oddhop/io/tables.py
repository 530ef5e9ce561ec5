"""Two tables, one network: DuckDB reads, maps the ids, joins and counts, on disk where memory ends."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from oddhop.arrays import Ints, frozen
from oddhop.engine.local import Progress, silent
from oddhop.errors import TableError
from oddhop.graph import Graph
from oddhop.io.database import database, fetch_row, fetch_table, reading
from oddhop.io.ids import IdColumn, end_key, id_column
from oddhop.io.roles import find_ends, find_id
from oddhop.io.sources import Form, opened

NO_ATTRIBUTES = (
    "hop counts are predicted from attributes, so give a node table with an id and at least one more column for every "
    "node, for example its degree or its age"
)
READING, STEPS = "reading", 5


@dataclass(frozen=True)
class Roles:
    """Which columns were read as what, by name."""

    source: str
    target: str
    id: str


@dataclass(frozen=True)
class Counts:
    """What the tables held and what was left out.

    Every edge row is counted once: ``edge_rows = null_ends + unknown_edges + loops + duplicate_edges``
    and the edges kept.

    Attributes
    ----------
    edge_rows, node_rows : the rows read.
    null_ends : edge rows that lack an end; left out.
    unknown_edges : edge rows to a node that the node table does not name; left out.
    loops : edge rows from a node to itself; left out.
    duplicate_edges : edge rows that repeat another in the same direction; left out.
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


@dataclass(frozen=True, eq=False)
class NetworkTables:
    """A network as it was read from tables, nodes in the order of their ids.

    Attributes
    ----------
    edge_index : both ends of every edge as positions in ``ids``, shape (2, edges), sorted.
    ids : the ids in the type they came in; integers in their order, all others in that of their text.
    columns : the other columns of the node table, one row a node.
    roles : which columns were read as what.
    counts : what was read and what was left out.
    """

    edge_index: Ints
    ids: pa.Array
    columns: pa.Table
    roles: Roles
    counts: Counts


def read_network(
    edges: Any,
    nodes: Any = None,
    *,
    source: str | None = None,
    target: str | None = None,
    id: str | None = None,  # noqa: A002 - what a node table calls it
    strict: bool = False,
    memory_limit: str | None = None,
    temp_folder: str | Path | None = None,
    progress: Progress = silent,
) -> NetworkTables:
    """Read a table of edges and a table of nodes.

    Parameters
    ----------
    edges, nodes : a path, a pattern or a folder of CSV, TSV, Parquet or NDJSON, a pandas, Polars or
        Arrow frame, or a :class:`oddhop.io.Query`.
    source, target, id : the columns that hold the ends of an edge and the id of a node; left out,
        they are guessed from the names. What was taken is in ``roles``.
    strict : refuse tables of which anything would be left out, instead of counting it.
    memory_limit : what DuckDB may take, such as ``"4GB"``; beyond it works on disk.
    temp_folder : where it may do so; the system's temporary folder by default.
    progress : called with ("reading", done, total) after every step.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from oddhop.io import read_network
    >>> payments = pa.table({"payer": ["bo", "al", "bo"], "payee": ["al", "cy", "al"]})
    >>> people = pa.table({"name": ["cy", "bo", "al"], "age": [31, 52, 47]})
    >>> network = read_network(payments, people)
    >>> network.ids.to_pylist(), network.edge_index.tolist(), network.counts.duplicate_edges
    (['al', 'bo', 'cy'], [[0, 1], [2, 0]], 1)
    """
    if nodes is None:
        raise TableError(f"there is no node table; {NO_ATTRIBUTES}")
    with ExitStack() as stack:
        edge_form = stack.enter_context(opened(edges, "the edge table"))
        node_form = stack.enter_context(opened(nodes, "the node table"))
        connection = stack.enter_context(database([*edge_form.files, *node_form.files], memory_limit, temp_folder))
        with reading("the network"):
            return _read(connection, edge_form, node_form, source, target, id, strict, progress)


def _read(
    connection: duckdb.DuckDBPyConnection,
    edge_form: Form,
    node_form: Form,
    source: str | None,
    target: str | None,
    id_name: str | None,
    strict: bool,
    progress: Progress,
) -> NetworkTables:
    edge_names, node_names = edge_form.names(connection), node_form.names(connection)
    s, t = find_ends(edge_names, source, target, edge_form.label)
    i = find_id(node_names, id_name, node_form.label)
    others = [k for k in range(len(node_names)) if k != i]
    if not others:
        raise TableError(f"{node_form.label} has no column besides {node_names[i]!r}; {NO_ATTRIBUTES}")
    roles = Roles(edge_names[s], edge_names[t], node_names[i])

    progress(READING, 0, STEPS)
    node_form.load(connection, "nodes", {k: node_names[k] for k in (i, *others)}, {i})
    node_id = _role(connection, node_form, "nodes", i, node_names[i], decide=True)
    progress(READING, 1, STEPS)
    node_rows, null_ids, repeated = _number_nodes(connection, node_id, others, node_names)

    progress(READING, 2, STEPS)
    edge_form.load(connection, "edges", {k: edge_names[k] for k in (s, t)}, {s, t})
    ends = [_role(connection, edge_form, "edges", k, edge_names[k], decide=False) for k in (s, t)]
    progress(READING, 3, STEPS)
    tally = _place_edges(connection, ends, node_id)
    edge_rows, null_ends, unknown, loops, kept, distinct = tally
    if edge_rows > null_ends and unknown == edge_rows - null_ends:
        raise TableError(
            f"not one of {edge_rows} edges joins two nodes of the node table; the columns read are {roles}: "
            f"are they the right ones? The first edge is {_first_edge(connection, ends, 'NOT missing')}"
        )

    progress(READING, 4, STEPS)
    ids, columns = _fetch_nodes(connection, others, node_names)
    edge_index = _fetch_edges(connection)
    progress(READING, 5, STEPS)
    seen = np.zeros(len(ids), dtype=bool)
    seen[edge_index] = True
    counts = Counts(
        edge_rows=edge_rows,
        node_rows=node_rows,
        null_ends=null_ends,
        unknown_edges=unknown,
        loops=loops,
        duplicate_edges=kept - distinct,
        null_ids=null_ids,
        repeated_ids=repeated,
        lone_nodes=int(np.count_nonzero(~seen)),
        ignored_columns=tuple(name for k, name in enumerate(edge_names) if k not in (s, t)),
    )
    if strict:
        lone = repr(ids[int(np.argmin(seen))].as_py()) if counts.lone_nodes else ""
        _refuse(connection, ends, counts, lone)
    return NetworkTables(frozen(edge_index), ids, columns, roles, counts)


def _role(
    connection: duckdb.DuckDBPyConnection, form: Form, table: str, k: int, name: str, *, decide: bool
) -> IdColumn:
    return id_column(connection, table, f"c{k}", form.textual, f"column {name!r} of {form.label}", decide=decide)


def _number_nodes(
    connection: duckdb.DuckDBPyConnection, node_id: IdColumn, others: Sequence[int], names: Sequence[str]
) -> tuple[int, int, int]:
    """Make ``people``: one row a node, numbered by the order of the ids."""
    columns = ", ".join(f"c{k}" for k in others)
    rows, with_id, distinct = fetch_row(
        connection,
        f"SELECT count(*), count({node_id.sql}), count(DISTINCT {node_id.key}) FROM nodes",  # noqa: S608 - our own names
    )
    if not with_id:
        raise TableError(f"{node_id.label}: there is no node with an id among {rows} rows; give at least one")
    # To compare whole rows is dear, and where every id stands once there is nothing to compare.
    repeats = "DISTINCT" if distinct < with_id else ""
    connection.execute(
        f"CREATE TEMP TABLE single AS SELECT {repeats} {node_id.sql} AS id, {node_id.key} AS key, {columns} "  # noqa: S608
        f"FROM nodes WHERE {node_id.sql} IS NOT NULL"
    )
    connection.execute("DROP TABLE nodes")
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
            f"{node_id.label}: the id {clash[0][0]!r} stands in rows that differ in {differing}; "
            "which of them holds is for you to say: keep one row a node"
        )
    connection.execute(
        f"CREATE TEMP TABLE people AS SELECT row_number() OVER (ORDER BY key) - 1 AS position, id, key, {columns} "  # noqa: S608
        "FROM single"
    )
    connection.execute("DROP TABLE single")
    single = fetch_row(connection, "SELECT count(*) FROM people")[0]
    return rows, rows - with_id, with_id - single


def _place_edges(connection: duckdb.DuckDBPyConnection, ends: Sequence[IdColumn], node_id: IdColumn) -> tuple[int, ...]:
    """Make ``placed``: every edge row by the positions of its ends, null where no node has that id."""
    first, second = ends
    # The rows keep their number and not their texts, which would be carried through both joins.
    connection.execute(
        "CREATE TEMP TABLE placed AS SELECT a.position AS s, b.position AS t, row, missing FROM ("  # noqa: S608
        f"SELECT rowid AS row, {end_key(first, node_id)} AS key_s, {end_key(second, node_id)} AS key_t, "
        f"{first.sql} IS NULL OR {second.sql} IS NULL AS missing FROM edges"
        ") LEFT JOIN people a ON key_s = a.key LEFT JOIN people b ON key_t = b.key"
    )
    tally = fetch_row(
        connection,
        "SELECT count(*), count(*) FILTER (missing), count(*) FILTER (NOT missing AND (s IS NULL OR t IS NULL)), "
        "count(*) FILTER (s = t), count(*) FILTER (s <> t) FROM placed",
    )
    connection.execute("CREATE TEMP TABLE joined AS SELECT DISTINCT s, t FROM placed WHERE s <> t")
    return (*tally, fetch_row(connection, "SELECT count(*) FROM joined")[0])


def _first_edge(connection: duckdb.DuckDBPyConnection, ends: Sequence[IdColumn], which: str) -> str:
    said = ", ".join(f"CAST({end.sql} AS VARCHAR)" for end in ends)
    rows = f"SELECT row FROM placed WHERE {which}"  # noqa: S608
    row = fetch_row(connection, f"SELECT {said} FROM edges WHERE rowid IN ({rows}) ORDER BY ALL LIMIT 1")  # noqa: S608
    return " -> ".join("nothing" if end is None else repr(end) for end in row)


def _fetch_nodes(
    connection: duckdb.DuckDBPyConnection, others: Sequence[int], names: Sequence[str]
) -> tuple[pa.Array, pa.Table]:
    picked = ", ".join(f"c{k}" for k in others)
    table = fetch_table(connection, f"SELECT id, {picked} FROM people ORDER BY position").combine_chunks()  # noqa: S608
    ids = table.column(0).combine_chunks()
    return ids, table.drop_columns(["id"]).rename_columns([names[k] for k in others])


def _fetch_edges(connection: duckdb.DuckDBPyConnection) -> npt.NDArray[np.int64]:
    table = fetch_table(connection, "SELECT s, t FROM joined ORDER BY s, t")
    edge_index = np.empty((2, table.num_rows), dtype=np.int64)
    edge_index[0], edge_index[1] = table.column(0).to_numpy(), table.column(1).to_numpy()
    return edge_index


def _refuse(connection: duckdb.DuckDBPyConnection, ends: Sequence[IdColumn], counts: Counts, lone: str) -> None:
    """Raise for the first thing that was left out, with the first example in the order of the ids."""
    edge_faults = (
        (counts.null_ends, "edge row(s) lack an end", "missing"),
        (
            counts.unknown_edges,
            "edge row(s) name a node that the node table lacks",
            "NOT missing AND (s IS NULL OR t IS NULL)",
        ),
        (counts.loops, "edge row(s) join a node to itself", "s = t"),
        (
            counts.duplicate_edges,
            "edge row(s) repeat another",
            "(s, t) IN (SELECT (s, t) FROM placed WHERE s <> t GROUP BY s, t HAVING count(*) > 1)",
        ),
    )
    faults = [
        (count, fault, f", first {_first_edge(connection, ends, which)}")
        for count, fault, which in edge_faults
        if count
    ]
    faults += [
        (counts.null_ids, "node row(s) have no id", ""),
        (counts.repeated_ids, "node row(s) repeat another", ""),
        (counts.lone_nodes, "node(s) have no edge", f", first {lone}"),
        (len(counts.ignored_columns), "column(s) of the edge table are not read", f": {list(counts.ignored_columns)}"),
    ]
    for count, fault, example in faults:
        if count:
            raise TableError(f"{count} {fault}{example}; mend the tables, or read them with strict=False")


def network_graph(tables: NetworkTables, attributes: Any, names: Sequence[str] | None = None) -> Graph:
    """Join the edges that were read and the attributes that were made of the columns.

    Ids that are integers or text become the ids of the graph. Others stay in ``tables.ids``, and the
    graph numbers its nodes by their position there.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from oddhop.io import network_graph, read_network
    >>> people = pa.table({"name": ["cy", "bo", "al"], "age": [31, 52, 47]})
    >>> tables = read_network(pa.table({"u": ["bo", "al"], "v": ["al", "cy"]}), people)
    >>> network_graph(tables, tables.columns.column("age").to_numpy().reshape(-1, 1), ["age"])
    Graph(3 nodes, 2 edges, 1 attribute)
    """
    kind = tables.ids.type
    usable = pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind)
    ids = tables.ids.to_numpy(zero_copy_only=False) if usable else None
    return Graph.from_arrays(tables.edge_index, attributes, ids, attribute_names=names)
