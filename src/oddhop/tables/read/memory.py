"""A network that is read into memory: its arrays, and the tables of its nodes as they were read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from oddhop.base.arrays import Ints, frozen
from oddhop.base.parallel import Progress, silent
from oddhop.base.sizes import sized
from oddhop.errors import MemoryBudgetError
from oddhop.graph.adjacency import index_dtype
from oddhop.graph.disk import EVENTS
from oddhop.graph.events import ARRAYS, Events
from oddhop.tables.kinds import KindsRead, Known
from oddhop.tables.read.database import database, fetch_row, fetch_table, reading
from oddhop.tables.read.joins import Counts, Roles, TableColumns, find_columns
from oddhop.tables.read.numbering import People
from oddhop.tables.read.read import Append, Record, Wiring, opened_job, read
from oddhop.tables.settings import PLAIN, ReadSettings

# Bytes of the process before it reads, of an edge until all are sorted, and of a value of a node.
IMPORTS, EDGE, VALUE = 200 << 20, 48, 24


@dataclass(eq=False)
class Memory:
    """A network that is made in memory: nothing is on record, and the tables are read once."""

    connection: duckdb.DuckDBPyConnection
    chosen: TableColumns
    max_memory: int | None = None
    arrays: dict[str, Any] = field(default_factory=dict)
    lasting = False

    def step(self, name: str, kind: type[Record], do: Callable[[], Record]) -> Record:  # noqa: ARG002 - as on disk
        """Do a step."""
        return do()

    def tables(self) -> tuple[duckdb.DuckDBPyConnection, TableColumns]:
        """Return the tables, which are open."""
        return self.connection, self.chosen

    @contextmanager
    def array(self, name: str, dtype: Any, tail: tuple[int, ...] = ()) -> Iterator[Append]:
        """Open an array, to which rows are appended."""
        parts = [np.empty((0, *tail), dtype)]
        yield lambda rows: parts.append(np.asarray(rows, dtype))
        self.arrays[name] = frozen(np.concatenate(parts))

    def pairs(self, people: People, rows: int) -> AbstractContextManager[Append]:
        """Open what edges are appended to, both ends of each by number, if all arrays will fit."""
        nodes, columns = people.kinds.bounds[-1], people.roles.columns
        event = 4 + 8 * (columns.time is not None) + 8 * len(columns.amounts) + 2 * len(columns.kinds)
        need = IMPORTS + rows * (EDGE + 4 * event) + nodes * VALUE * (1 + len(people.kinds.columns))
        if self.max_memory is not None:
            # What DuckDB holds by now, it will hold; of an event there are two entries, and of these two copies.
            need += int(
                fetch_row(self.connection, "SELECT coalesce(sum(memory_usage_bytes), 0) FROM duckdb_memory()")[0]
            )
            if need > self.max_memory:
                raise MemoryBudgetError(
                    f"to read {rows:,} edge rows and {nodes:,} nodes takes about {sized(need)}, and the limit is "
                    f"{sized(self.max_memory)}",
                    "raise max_memory, or write the network to a folder with oddhop ingest and give the folder",
                    command="raise --max-memory, or write the network to a folder with oddhop ingest and give that",
                )
        return self.array("pairs", index_dtype(nodes), (2,))

    def wiring(self, nodes: int) -> Wiring:
        """Sort the edges, each direction of one once."""
        pairs = self.arrays.pop("pairs")
        codes = pairs[:, 0] * np.int64(nodes) + pairs[:, 1]
        codes.sort()  # np.unique makes a table of them, which takes ten times as long
        codes = codes[np.diff(codes, prepend=-1) > 0]
        edges = self.arrays["edges"] = frozen(np.stack(np.divmod(codes, nodes)))
        seen = np.zeros(nodes, dtype=bool)
        seen[edges] = True
        return Wiring(len(pairs) - codes.size, int(np.count_nonzero(~seen)), int(np.argmin(seen)))


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

    def column(self, name: str) -> pa.ChunkedArray:
        """Return one column, by its full name."""
        return self.columns.column(name)

    def blocks(self, names: Sequence[str]) -> Iterator[tuple[pa.Array, pa.Table]]:
        """Return the ids and some columns: all nodes are one block."""
        yield self.ids, self.columns.select(names)

    def row_name(self, row: int) -> str:
        """Name a node for a message."""
        return f"the row of {self.ids[row].as_py()!r}"


def read_tables(
    edges: Any,
    nodes: Any = None,
    settings: ReadSettings = PLAIN,
    *,
    known: Known | None = None,
    max_memory: int | None = None,
    progress: Progress = silent,
) -> NetworkTables:
    """Read a table of edges and a table of nodes, or one for every kind of node.

    Parameters
    ----------
    edges, nodes : a path, a pattern or a folder of CSV, TSV, Parquet or NDJSON, here or in ``s3://``; a pandas, Polars
        or Arrow frame; or a :class:`oddhop.tables.read.Query`; ``nodes`` may be a mapping of such by kind.
    settings : which column is what, and what is read.
    known : what a model was fitted with; that is read and nothing else.
    max_memory : bytes; tables that need more are refused before their arrays are made. DuckDB works on disk beyond
        its share.
    progress : called with the step, what is done, and what there is to do.

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
    with ExitStack() as stack:
        job = stack.enter_context(opened_job(edges, nodes, settings, known, progress, max_memory))
        connection = stack.enter_context(database(job.files, job.settings))
        with reading("the network"):
            chosen = find_columns(connection, job.edges, job.nodes, job.settings)
        place = Memory(connection, chosen, max_memory)
        made, arrays = read(job, place), place.arrays
        kinds, columns = made.people.kinds, made.found.columns
        events = None if columns is None else Events(columns, **{name: arrays[EVENTS[name]] for name in ARRAYS})
        with reading("the network"):
            picked = "".join(f", {sql}" for sql in kinds.sql.values())
            table = fetch_table(connection, f"SELECT id{picked} FROM people ORDER BY position").combine_chunks()  # noqa: S608
    ids, own = table.column(0).combine_chunks(), table.select(list(range(1, table.num_columns)))
    own = own.rename_columns(list(kinds.sql))
    roles, forms = made.found.roles, made.people.roles.forms
    return NetworkTables(arrays["edges"], ids, own, roles, made.counts, kinds, events, forms)
