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

from oddhop.base.arrays import Ints, frozen
from oddhop.base.parallel import Progress, silent
from oddhop.errors import TableError
from oddhop.graph.events import EventColumns, Events
from oddhop.graph.graph import Graph
from oddhop.tables.read.database import database, fetch_row, fetch_table, reading
from oddhop.tables.read.edge_roles import find_edge_roles
from oddhop.tables.read.events import columns_of, fetch_events, find_direction, missing_values
from oddhop.tables.read.joins import (
    NO_ATTRIBUTES,
    Counts,
    Roles,
    TableColumns,
    find_columns,
    keys_of_ends,
    number_nodes,
    place_edges,
    refuse,
    refuse_unjoined,
)
from oddhop.tables.read.sources import opened
from oddhop.tables.settings import ReadSettings

READING, STEPS = "reading", 5


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
    events : the edge rows one by one; None where they say no more than ``edge_index``.
    """

    edge_index: Ints
    ids: pa.Array
    columns: pa.Table
    roles: Roles
    counts: Counts
    events: Events | None = None


def read_tables(
    edges: Any,
    nodes: Any = None,
    settings: ReadSettings | None = None,
    *,
    known: EventColumns | None = None,
    temp_folder: str | Path | None = None,
    progress: Progress = silent,
) -> NetworkTables:
    """Read a table of edges and a table of nodes.

    Parameters
    ----------
    edges, nodes : a path, a pattern or a folder of CSV, TSV, Parquet or NDJSON, a pandas, Polars or
        Arrow frame, or a :class:`oddhop.tables.read.Query`.
    settings : which column is what, and what is read; see :func:`oddhop.read_network`.
    known : the columns of events that a model was fitted with; those are read and no others.
    temp_folder : where DuckDB may work beyond its memory; the system's temporary folder by default.
    progress : called with ("reading", done, total) after every step.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from oddhop.tables.read import read_tables
    >>> payments = pa.table({"payer": ["bo", "al", "bo"], "payee": ["al", "cy", "al"], "euros": [5.0, 7.5, 2.0]})
    >>> people = pa.table({"name": ["cy", "bo", "al"], "age": [31, 52, 47]})
    >>> network = read_tables(payments, people)
    >>> network.ids.to_pylist(), network.edge_index.tolist(), network.counts.duplicate_edges
    (['al', 'bo', 'cy'], [[0, 1], [2, 0]], 1)
    >>> network.events.event_count, network.roles.amount
    (3, ('euros',))
    """
    settings = settings or ReadSettings()
    if nodes is None:
        raise TableError("there is no node table", f"{NO_ATTRIBUTES}")
    with ExitStack() as stack:
        edge_form = stack.enter_context(opened(edges, "the edge table"))
        node_form = stack.enter_context(opened(nodes, "the node table"))
        files = [*edge_form.files, *node_form.files]
        connection = stack.enter_context(database(files, settings.memory_limit, temp_folder))
        with reading("the network"):
            asked = settings.source, settings.target, settings.id, settings.keep_columns
            columns = find_columns(connection, edge_form, node_form, *asked)
            return _read(connection, columns, settings, known, progress)


def _read(
    connection: duckdb.DuckDBPyConnection,
    chosen: TableColumns,
    settings: ReadSettings,
    known: EventColumns | None,
    progress: Progress,
) -> NetworkTables:
    names, i = chosen.node_names, chosen.id
    progress(READING, 0, STEPS)
    chosen.node_form.load(connection, "nodes", {k: names[k] for k in (i, *chosen.others)}, {i})
    node_id = chosen.node_role(connection)
    progress(READING, 1, STEPS)
    picks = chosen.edge_picks(settings)
    chosen.edge_form.load(connection, "edges", picks, set(picks))
    ends = chosen.end_roles(connection)
    roles = find_edge_roles(connection, chosen.edge_names, chosen.ends, settings, chosen.edge_form.label, known)
    progress(READING, 2, STEPS)
    more = keys_of_ends(ends, node_id, roles.inside) if settings.keep_unknown else None
    node_rows, null_ids, repeated, added = number_nodes(connection, node_id, chosen.others, names, named_by_edges=more)
    connection.execute("DROP TABLE nodes")

    progress(READING, 3, STEPS)
    rows, null_ends, unknown, loops, kept, distinct = place_edges(connection, ends, node_id, roles.named, roles.inside)
    all_rows = fetch_row(connection, "SELECT count(*) FROM edges")[0]
    if rows > null_ends and unknown == rows - null_ends:
        refuse_unjoined(connection, ends, rows, chosen.end_names)

    progress(READING, 4, STEPS)
    ids, columns = _fetch_nodes(connection, chosen.others, names)
    edge_index = _fetch_edges(connection)
    asked = settings.directed if known is None else known.directed
    direction = find_direction(connection, roles, asked, chosen.end_names) if settings.flows else None
    told = None if direction is None else columns_of(roles, direction, kept, distinct, known)
    events = None
    if told is not None and direction is not None:
        events = fetch_events(connection, told, direction.both_ways, len(ids))
    missing = () if events is None else missing_values(connection, roles)
    chosen.check_profile(events is not None)
    progress(READING, 5, STEPS)
    seen = np.zeros(len(ids), dtype=bool)
    seen[edge_index] = True
    counts = Counts(
        edge_rows=all_rows,
        node_rows=node_rows,
        null_ends=null_ends,
        unknown_edges=unknown,
        loops=loops,
        duplicate_edges=kept - distinct,
        null_ids=null_ids,
        repeated_ids=repeated,
        lone_nodes=int(np.count_nonzero(~seen)),
        ignored_columns=tuple(name for name, _ in roles.unread),
        outside_window=all_rows - rows,
        unknown_nodes=added,
    )
    if settings.strict:
        lone = repr(ids[int(np.argmin(seen))].as_py()) if counts.lone_nodes else ""
        refuse(connection, ends, counts, lone, events=events is not None)
    return NetworkTables(frozen(edge_index), ids, columns, chosen.roles(roles, direction, missing), counts, events)


def _fetch_nodes(
    connection: duckdb.DuckDBPyConnection, others: Sequence[int], names: Sequence[str]
) -> tuple[pa.Array, pa.Table]:
    picked = "".join(f", c{k}" for k in others)
    table = fetch_table(connection, f"SELECT id{picked} FROM people ORDER BY position").combine_chunks()  # noqa: S608
    ids = table.column(0).combine_chunks()
    return ids, table.drop_columns(["id"]).rename_columns([names[k] for k in others])


def _fetch_edges(connection: duckdb.DuckDBPyConnection) -> npt.NDArray[np.int64]:
    table = fetch_table(connection, "SELECT s, t FROM joined ORDER BY s, t")
    edge_index = np.empty((2, table.num_rows), dtype=np.int64)
    edge_index[0], edge_index[1] = table.column(0).to_numpy(), table.column(1).to_numpy()
    return edge_index


def network_graph(tables: NetworkTables, attributes: Any, names: Sequence[str] | None = None) -> Graph:
    """Join the edges that were read and the attributes that were made of the columns.

    Ids that are integers or text become the ids of the graph. Others stay in ``tables.ids``, and the
    graph numbers its nodes by their position there.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from oddhop.tables.read import network_graph, read_tables
    >>> people = pa.table({"name": ["cy", "bo", "al"], "age": [31, 52, 47]})
    >>> tables = read_tables(pa.table({"u": ["bo", "al"], "v": ["al", "cy"]}), people)
    >>> network_graph(tables, tables.columns.column("age").to_numpy().reshape(-1, 1), ["age"])
    Graph(3 nodes, 2 edges, 1 attribute)
    """
    kind = tables.ids.type
    usable = pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind)
    ids = tables.ids.to_numpy(zero_copy_only=False) if usable else None
    return Graph.from_arrays(tables.edge_index, attributes, ids, attribute_names=names)
