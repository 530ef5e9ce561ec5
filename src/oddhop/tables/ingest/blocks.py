"""Tables -> files: attributes and ids in the order of the nodes, and edges as pairs of node numbers.

DuckDB reads, sorts and joins on disk; what comes out of it is taken in blocks and never whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
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
from oddhop.tables.kinds import KindsRead, Known
from oddhop.tables.read.database import fetch_batches, fetch_row, fetch_table, reading
from oddhop.tables.read.edge_roles import EdgeRoles
from oddhop.tables.read.ids import IdColumn
from oddhop.tables.read.joins import TableColumns, joined_ends
from oddhop.tables.read.numbering import Ends
from oddhop.tables.read.people import People, make_people
from oddhop.tables.settings import ReadSettings

ROWS_AT_ONCE = 1 << 17
NARROW = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}
NO_END, NO_NODE = -2, -1
PLACING = "placing edges"


@dataclass(frozen=True)
class NodeTable:
    """The table ``people`` of a database: one row a node, numbered by kind and by the order of the ids."""

    connection: duckdb.DuckDBPyConnection
    kinds: KindsRead
    label: str

    @property
    def nodes(self) -> int:
        """How many there are."""
        return self.kinds.bounds[-1]

    def blocks(self, columns: Sequence[str], *, with_ids: bool = False) -> Iterator[pa.Table]:
        """Return some columns, by their full names, in the order of the nodes; the ids come first, without a name."""
        sql = self.kinds.sql
        picked = ", ".join(["id"] * with_ids + [sql[name] for name in columns])
        names = [""] * with_ids + list(columns)
        for start in range(0, self.nodes, ROWS_AT_ONCE):
            block = (
                f"SELECT {picked} FROM people WHERE position >= {start} AND position < {start + ROWS_AT_ONCE} "  # noqa: S608
                "ORDER BY position"
            )
            with reading(self.label):
                table = fetch_table(self.connection, block).rename_columns(names)
            yield table

    def row_name(self, row: int, start: int = 0) -> str:
        """Name a node, so many after the first, for a message."""
        with reading(self.label):
            found = fetch_row(self.connection, f"SELECT id FROM people WHERE position = {start + row}")[0]  # noqa: S608
        return f"the row of {found!r}"

    def column(self, name: str) -> Column:
        """Return one column whole."""
        return pa.concat_tables(self.blocks([name])).column(0)


def keep_nodes(
    connection: duckdb.DuckDBPyConnection, chosen: TableColumns, read: ReadSettings, known: Known | None
) -> People:
    """Make ``people``, which outlives the connection, of the node tables and ``edges``."""
    connection.execute("DROP TABLE IF EXISTS people")
    views = {
        one.table: one.form.load(connection, one.table, one.picks, set(one.labels), as_view=not one.form.textual)
        for one in chosen.nodes
    }
    with reading(chosen.node_label):
        people = make_people(connection, chosen, read, known, kept=True)
    for table, is_view in views.items():
        connection.execute(f"DROP {'VIEW' if is_view else 'TABLE'} {table}")
    return people


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
    kinds = people.kinds
    quoted = encoding.quoted(kinds.full_names, kinds.kept(kept))
    needed = {one.name for one in encoding.columns} | set(quoted)
    columns = [name for name in kinds.full_names if not learned or name in needed]
    differences: dict[tuple[str, str], Difference] = {}
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
                start = k * ROWS_AT_ONCE
                if flows is not None:
                    table = flows.beside(table, start, block.num_rows)
                rows = kinds.rows(start, start + block.num_rows) if kinds.several else None
                if learned:
                    yield checked_attributes(encoding.apply(table, rows)[0])
                    continue
                attributes, found = encoding.apply_and_compare(table, rows, partial(people.row_name, start=start))
                for one in found:
                    before = differences.get((one.column, one.what), replace(one, count=0))
                    differences[one.column, one.what] = replace(before, count=before.count + one.count)
                yield checked_attributes(attributes)

        write = write_sparse if encoding.sparse else write_dense
        entries = write(folder, attributes(), len(encoding.names))
    progress("attributes", people.nodes, people.nodes)
    return entries, tuple(differences.values())


def bring_edges(
    connection: duckdb.DuckDBPyConnection, chosen: TableColumns, read: ReadSettings, *, where_they_lie: bool
) -> tuple[IdColumn, IdColumn]:
    """Make ``edges``, where they lie if that can be; give both ends."""
    for kind in ("VIEW", "TABLE"):
        with suppress(duckdb.CatalogException):  # it is the other
            connection.execute(f"DROP {kind} IF EXISTS edges")
    picks = chosen.edge_picks(read)
    chosen.edge_form.load(connection, "edges", picks, set(picks), as_view=where_they_lie)
    return chosen.end_ids(connection)


def write_pairs(
    people: NodeTable,
    ends: Ends,
    node_id: IdColumn,
    roles: EdgeRoles,
    label: str,
    file: Path,
    progress: Progress = silent,
) -> dict[str, int]:
    """Write every edge that joins two nodes as their numbers; count the rows and what was left out.

    Where there are columns of events, ``placed`` keeps every row with them.
    """
    connection, nodes = people.connection, people.nodes
    query = _placing(people, ends, node_id, roles)
    connection.execute("DROP TABLE IF EXISTS placed")
    with reading(label):
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


def _placing(people: NodeTable, ends: Ends, node_id: IdColumn, roles: EdgeRoles) -> str:
    """Write the query that gives both ends of every edge row by number; below 0 are those that have none."""
    low, high = fetch_row(people.connection, "SELECT min(key), max(key) FROM people")
    if node_id.kind in NARROW and high - low + 1 == people.nodes and not people.kinds.several:
        # Ids without a gap need no join: the number of a node is its distance from the first.
        first, second = ends.keys(node_id)
        values = "".join(f", {sql} AS {name}" for name, sql in roles.named.items())
        joined = (
            f"(SELECT {first} AS key_s, {second} AS key_t, {ends.missing} AS missing{values} FROM edges{ends.where})"  # noqa: S608
        )
        s, t = (
            f"CASE WHEN {key} BETWEEN {low} AND {high} THEN CAST({key} AS BIGINT) - ({low}) END"
            for key in ("key_s", "key_t")
        )
    else:
        joined = joined_ends(ends, node_id, people.kinds.names, roles.named)
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
