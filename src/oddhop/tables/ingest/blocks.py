"""Tables -> files: attributes and ids in the order of the nodes, and edges as pairs of node numbers.

DuckDB reads, sorts and joins on disk; what comes out of it is taken in blocks and never whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from oddhop.base.arrays import Ints
from oddhop.base.files import atomic_file
from oddhop.base.kernels import compiled
from oddhop.base.parallel import Progress, silent
from oddhop.graph.adjacency import index_dtype
from oddhop.graph.checks import checked_attributes
from oddhop.graph.disk import IDS, ORIGINALS, ArrayEntry
from oddhop.tables.encode import Difference, Encoding
from oddhop.tables.encode.columns import Column
from oddhop.tables.ingest.events import FlowFile
from oddhop.tables.ingest.growing_files import growing_table, write_dense, write_sparse
from oddhop.tables.read.database import fetch_batches, fetch_row, fetch_table, reading
from oddhop.tables.read.edge_roles import EdgeRoles
from oddhop.tables.read.ids import IdColumn, end_key
from oddhop.tables.read.joins import TableColumns, keys_of_ends, number_nodes
from oddhop.tables.read.sources import Form
from oddhop.tables.settings import ReadSettings

ROWS_AT_ONCE = 1 << 17
NARROW = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}
NO_END, NO_NODE = -2, -1
PLACING = "placing edges"


@dataclass(frozen=True)
class NodeTable:
    """The table ``people`` of a database: one row a node, numbered by the order of the ids."""

    connection: duckdb.DuckDBPyConnection
    chosen: TableColumns
    nodes: int

    def blocks(self, columns: Sequence[int], *, with_ids: bool = False) -> Iterator[pa.Table]:
        """Give some columns, by their names, in the order of the nodes; the ids come first, without a name."""
        picked = ", ".join(["id"] * with_ids + [f"c{k}" for k in columns])
        names = [""] * with_ids + [self.chosen.node_names[k] for k in columns]
        for start in range(0, self.nodes, ROWS_AT_ONCE):
            block = (
                f"SELECT {picked} FROM people WHERE position >= {start} AND position < {start + ROWS_AT_ONCE} "  # noqa: S608
                "ORDER BY position"
            )
            with reading(self.chosen.node_form.label):
                table = fetch_table(self.connection, block).rename_columns(names)
            yield table

    def column(self, name: str) -> Column:
        """Give one column whole."""
        return pa.concat_tables(self.blocks([self.chosen.node_names.index(name)])).column(0)


def keep_nodes(
    connection: duckdb.DuckDBPyConnection, chosen: TableColumns, inside: str | None, *, keep_unknown: bool
) -> tuple[IdColumn, tuple[int, int, int, int]]:
    """Make ``people``, which outlives the connection; give its ids, and the counts of :func:`number_nodes`.

    With ``keep_unknown`` what ``edges`` names besides is a node, too; ``inside`` is a condition on its rows.
    """
    connection.execute("DROP TABLE IF EXISTS people")
    names = {k: chosen.node_names[k] for k in (chosen.id, *chosen.others)}
    is_view = _bring(
        connection, chosen.node_form, "nodes", names, {chosen.id}, where_it_lies=not chosen.node_form.textual
    )
    node_id = chosen.node_role(connection)
    more = keys_of_ends(chosen.end_roles(connection), node_id, inside) if keep_unknown else None
    counts = number_nodes(connection, node_id, chosen.others, chosen.node_names, kept=True, named_by_edges=more)
    connection.execute(f"DROP {'VIEW' if is_view else 'TABLE'} nodes")
    return node_id, counts


def _bring(
    connection: duckdb.DuckDBPyConnection,
    form: Form,
    table: str,
    picks: dict[int, str],
    ids: set[int],
    *,
    where_it_lies: bool,
) -> bool:
    """Make a view of a table where it lies, or load it; tell whether it is a view."""
    scan = form.scan(picks) if where_it_lies else None
    if scan is None:
        form.load(connection, table, picks, ids)
        return False
    with reading(form.label):
        connection.execute(f"CREATE TEMP VIEW {table} AS {scan}")
    return True


def write_nodes(
    people: NodeTable,
    flows: FlowFile | None,
    encoding: Encoding,
    folder: Path,
    *,
    kept: Sequence[str],
    learned: bool,
    progress: Progress = silent,
) -> tuple[dict[str, ArrayEntry], tuple[Difference, ...]]:
    """Write attributes and ids, and the columns to quote from; tell where the table is not as that of the encoding.

    ``learned`` says that the encoding was learned from this very table, which then differs nowhere.
    """
    chosen, needed = people.chosen, {one.name for one in encoding.columns} | set(kept)
    columns = [k for k in chosen.others if not learned or chosen.node_names[k] in needed]
    quoted = encoding.quoted([chosen.node_names[k] for k in chosen.others], kept)
    differences: Counter[tuple[str, str]] = Counter()
    with ExitStack() as stack:
        ids = stack.enter_context(growing_table(folder / IDS))
        originals = stack.enter_context(growing_table(folder / ORIGINALS)) if quoted else None

        def attributes() -> Iterator[Any]:
            for k, block in enumerate(people.blocks(columns, with_ids=True)):
                progress("attributes", k * ROWS_AT_ONCE, people.nodes)
                table = block.drop_columns([""])
                ids(block.select([""]).rename_columns(["id"]))
                if originals is not None:
                    originals(table.select(quoted))
                if flows is not None:
                    table = flows.beside(table, k * ROWS_AT_ONCE, block.num_rows)
                for one in () if learned else encoding.differences(table):
                    differences[one.column, one.what] += one.count
                yield checked_attributes(encoding.apply(table)[0])

        write = write_sparse if encoding.sparse else write_dense
        entries = write(folder, attributes(), len(encoding.names))
    progress("attributes", people.nodes, people.nodes)
    return entries, tuple(Difference(*what, count) for what, count in differences.items())


def bring_edges(
    connection: duckdb.DuckDBPyConnection, chosen: TableColumns, read: ReadSettings, *, where_they_lie: bool
) -> tuple[IdColumn, IdColumn]:
    """Make ``edges``, where they lie if that can be; give both ends."""
    for kind in ("VIEW", "TABLE"):
        with suppress(duckdb.CatalogException):  # it is the other
            connection.execute(f"DROP {kind} IF EXISTS edges")
    picks = chosen.edge_picks(read)
    _bring(connection, chosen.edge_form, "edges", picks, set(picks), where_it_lies=where_they_lie)
    return chosen.end_roles(connection)


def write_pairs(
    connection: duckdb.DuckDBPyConnection,
    chosen: TableColumns,
    node_id: IdColumn,
    nodes: int,
    roles: EdgeRoles,
    file: Path,
    progress: Progress = silent,
) -> dict[str, int]:
    """Write every edge that joins two nodes as their numbers; count the rows and what was left out.

    Where there are columns of events, ``placed`` keeps every row with them.
    """
    query = _placing(connection, chosen.end_roles(connection), node_id, nodes, roles)
    connection.execute("DROP TABLE IF EXISTS placed")
    with reading(chosen.edge_form.label):
        connection.execute(f"CREATE TABLE placed AS {query}")
    tally = np.zeros(4, dtype=np.int64)
    with atomic_file(file) as out:
        for s, t in _placed(connection, progress):
            pairs = np.empty((s.size, 2), dtype=index_dtype(nodes))
            out.write(pairs[: _keep(s, t, pairs, tally)].data)
    return dict(zip(("edge_rows", "null_ends", "unknown_edges", "loops"), tally.tolist(), strict=True))


def _placed(connection: duckdb.DuckDBPyConnection, progress: Progress) -> Iterator[tuple[Ints, Ints]]:
    with reading("the edges"):
        rows = fetch_row(connection, "SELECT count(*) FROM placed")[0]
        done = 0
        for batch in fetch_batches(connection, "SELECT s, t FROM placed"):
            progress(PLACING, done, rows)
            yield batch.column(0).to_numpy(), batch.column(1).to_numpy()
            done += batch.num_rows
        progress(PLACING, rows, rows)


def _placing(
    connection: duckdb.DuckDBPyConnection,
    ends: Sequence[IdColumn],
    node_id: IdColumn,
    nodes: int,
    roles: EdgeRoles,
) -> str:
    """Write the query that gives both ends of every edge row by number; below 0 are those that have none."""
    keys = [end_key(end, node_id) for end in ends]
    missing = " OR ".join(f"{end.sql} IS NULL" for end in ends)
    values = "".join(f", {sql} AS {name}" for name, sql in roles.named.items())
    where = "" if roles.inside is None else f" WHERE {roles.inside}"
    edges = f"(SELECT {keys[0]} AS key_s, {keys[1]} AS key_t, {missing} AS missing{values} FROM edges{where})"  # noqa: S608
    low, high = fetch_row(connection, "SELECT min(key), max(key) FROM people")
    if node_id.kind in NARROW and high - low + 1 == nodes:
        # Ids without a gap need no join: the number of a node is its distance from the first.
        joined = edges
        s, t = (
            f"CASE WHEN {key} BETWEEN {low} AND {high} THEN CAST({key} AS BIGINT) - ({low}) END"
            for key in ("key_s", "key_t")
        )
    else:
        joined = f"{edges} LEFT JOIN people a ON key_s = a.key LEFT JOIN people b ON key_t = b.key"
        s, t = "a.position", "b.position"
    names = "".join(f", {name}" for name in roles.named)
    return (
        f"SELECT CASE WHEN missing THEN {NO_END} ELSE coalesce({s}, {NO_NODE}) END AS s, "  # noqa: S608
        f"coalesce({t}, {NO_NODE}) AS t{names} FROM {joined}"
    )


@compiled
def _keep(s: Ints, t: Ints, pairs: Ints, tally: Ints) -> int:
    kept = 0
    for e in range(s.size):
        if s[e] == NO_END:
            tally[1] += 1
        elif s[e] == NO_NODE or t[e] == NO_NODE:
            tally[2] += 1
        elif s[e] == t[e]:
            tally[3] += 1
        else:
            pairs[kept, 0] = s[e]
            pairs[kept, 1] = t[e]
            kept += 1
    tally[0] += s.size
    return kept
