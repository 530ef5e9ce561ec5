"""Two tables, one network: DuckDB reads, maps the ids, joins and counts, on disk where memory ends."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from oddhop.base.arrays import Ints, frozen
from oddhop.base.parallel import Progress, silent
from oddhop.graph.events import Events
from oddhop.graph.graph import Graph
from oddhop.tables.kinds import KindsRead, Known
from oddhop.tables.read.database import database, fetch_row, fetch_table, reading
from oddhop.tables.read.events import fetch_events, find_events
from oddhop.tables.read.joins import Counts, Roles, TableColumns, find_columns, place_edges, refuse, refuse_unjoined
from oddhop.tables.read.people import as_fitted, make_people, opened_nodes
from oddhop.tables.read.sources import opened
from oddhop.tables.read.stdin import check_one_stdin
from oddhop.tables.settings import PLAIN, ReadSettings

READING, STEPS = "reading", 5


@dataclass(frozen=True, eq=False)
class NetworkTables:
    """A network as it was read from tables, nodes by kind and in the order of their ids.

    Attributes
    ----------
    edge_index : both ends of every edge as positions in ``ids``, shape (2, edges), sorted.
    ids : the ids in the type they came in; integers in their order, all others in that of their text.
    columns : the other columns of the node tables, one row a node. Where there are several kinds, the kind stands
        before the name, and nodes of other kinds have nothing there.
    roles : which columns were read as what.
    counts : what was read and what was left out.
    kinds : the kinds of the nodes, which follow each other.
    events : the edge rows one by one; None where they say no more than ``edge_index``.
    edge_forms : how texts of the edge table were read, by column.
    """

    edge_index: Ints
    ids: pa.Array
    columns: pa.Table
    roles: Roles
    counts: Counts
    kinds: KindsRead
    events: Events | None = None
    edge_forms: tuple[tuple[str, str], ...] = ()


def read_tables(
    edges: Any,
    nodes: Any = None,
    settings: ReadSettings = PLAIN,
    *,
    known: Known | None = None,
    progress: Progress = silent,
) -> NetworkTables:
    """Read a table of edges and a table of nodes, or one for every kind of node.

    Parameters
    ----------
    edges, nodes : a path, a pattern or a folder of CSV, TSV, Parquet or NDJSON, here or in ``s3://``; a pandas, Polars
        or Arrow frame; or a :class:`oddhop.tables.read.Query`; ``nodes`` may be a mapping of such by kind.
    settings : which column is what, and what is read.
    known : what a model was fitted with; that is read and nothing else.
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
    check_one_stdin(edges, nodes)
    with ExitStack() as stack:
        edge_form = stack.enter_context(opened(edges, "the edge table", settings))
        node_forms = stack.enter_context(opened_nodes(nodes, settings))
        settings = as_fitted(settings, known, edge_form.label)
        files = [*edge_form.files, *(file for form in node_forms.values() for file in form.files)]
        connection = stack.enter_context(database(files, settings))
        with reading("the network"):
            columns = find_columns(connection, edge_form, node_forms, settings)
            return _read(connection, columns, settings, known, progress)


def _read(
    connection: duckdb.DuckDBPyConnection,
    chosen: TableColumns,
    settings: ReadSettings,
    known: Known | None,
    progress: Progress,
) -> NetworkTables:
    progress(READING, 0, STEPS)
    for one in chosen.nodes:
        one.form.load(connection, one.table, one.picks, set(one.labels))
    progress(READING, 1, STEPS)
    picks = chosen.edge_picks(settings)
    chosen.edge_form.load(connection, "edges", picks, set(picks))
    progress(READING, 2, STEPS)
    people = make_people(connection, chosen, settings, known)
    chosen, kinds, roles, ends = people.chosen, people.kinds, people.roles, people.ends
    for one in chosen.nodes:
        connection.execute(f"DROP TABLE {one.table}")

    progress(READING, 3, STEPS)
    tally = place_edges(connection, ends, people.node_id, kinds.names, roles.named)
    rows, null_ends, unknown, loops, kept, distinct = tally
    all_rows = fetch_row(connection, "SELECT count(*) FROM edges")[0]
    if rows > null_ends and unknown == rows - null_ends:
        refuse_unjoined(connection, ends.ids, rows, chosen.end_names)

    progress(READING, 4, STEPS)
    ids, columns = _fetch_nodes(connection, kinds)
    joined = fetch_table(connection, "SELECT s, t FROM joined ORDER BY s, t")
    edge_index = np.stack([joined[name].to_numpy() for name in ("s", "t")])
    known_events, sizes = None if known is None else known.events, (kept, distinct)
    found = find_events(connection, roles, settings, chosen.end_names, kinds.bounds, sizes, known_events)
    events = None
    if found.columns is not None and found.direction is not None:
        events = fetch_events(connection, found.columns, found.direction.both_ways, len(ids))
    chosen.check_profile(events is not None)
    progress(READING, 5, STEPS)
    seen = np.zeros(len(ids), dtype=bool)
    seen[edge_index] = True
    counts = Counts(
        edge_rows=all_rows,
        node_rows=people.counts.node_rows,
        null_ends=null_ends,
        unknown_edges=unknown,
        loops=loops,
        duplicate_edges=kept - distinct,
        null_ids=people.counts.null_ids,
        repeated_ids=people.counts.repeated_ids,
        lone_nodes=int(np.count_nonzero(~seen)),
        ignored_columns=tuple(name for name, _ in roles.unread),
        outside_window=all_rows - rows,
        unknown_nodes=people.counts.unknown_nodes,
    )
    if settings.strict:
        lone = repr(ids[int(np.argmin(seen))].as_py()) if counts.lone_nodes else ""
        refuse(connection, ends.ids, counts, lone, events=events is not None)
    said = chosen.roles(kinds, roles, found)
    return NetworkTables(frozen(edge_index), ids, columns, said, counts, kinds, events, roles.forms)


def _fetch_nodes(connection: duckdb.DuckDBPyConnection, kinds: KindsRead) -> tuple[pa.Array, pa.Table]:
    picked = "".join(f", {sql}" for sql in kinds.sql.values())
    table = fetch_table(connection, f"SELECT id{picked} FROM people ORDER BY position").combine_chunks()  # noqa: S608
    columns = table.select(list(range(1, table.num_columns)))
    return table.column(0).combine_chunks(), columns.rename_columns(list(kinds.sql))


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
