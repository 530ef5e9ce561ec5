"""The steps from tables to numbered nodes, edges and events: once for memory, and for a folder that survives a kill.

DuckDB reads, maps the ids, joins and sorts, on disk where memory ends; what comes out of it is taken in batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from oddhop.base.arrays import Ints, frozen
from oddhop.base.parallel import Progress, silent
from oddhop.base.sizes import sized
from oddhop.errors import MemoryBudgetError
from oddhop.graph.adjacency import index_dtype
from oddhop.graph.disk import EVENTS
from oddhop.graph.events import ARRAYS, EventColumns, Events
from oddhop.graph.graph import Graph
from oddhop.tables.kinds import KindsRead, Known
from oddhop.tables.read.database import database, fetch_batches, fetch_row, fetch_table, reading
from oddhop.tables.read.events import event_batches, find_events
from oddhop.tables.read.files import Form
from oddhop.tables.read.joins import (
    NO_END,
    Counts,
    Roles,
    TableColumns,
    find_columns,
    place_rows,
    placing,
    refuse,
    refuse_unjoined,
)
from oddhop.tables.read.numbering import People
from oddhop.tables.read.people import as_fitted, make_people, opened_nodes
from oddhop.tables.read.sources import opened
from oddhop.tables.read.stdin import check_one_stdin
from oddhop.tables.settings import PLAIN, ReadSettings

Record = TypeVar("Record")
Append = Callable[[npt.NDArray[Any]], object]
NUMBERING, PLACING, SORTING = "numbering nodes", "placing edges", "sorting events"
OURS, LEAST = (
    1 << 30,
    256 << 20,
)  # what Python, its libraries and the blocks under way take beside DuckDB, and its share
# In memory: bytes of the process before it reads, of an edge until all are sorted, and of a value of a node.
IMPORTS, EDGE, VALUE = 200 << 20, 48, 24


@dataclass(frozen=True)
class Job:
    """The tables that were named, and how they are read."""

    edges: Form
    nodes: dict[str, Form]
    settings: ReadSettings
    known: Known | None
    progress: Progress
    max_memory: int | None = None

    @property
    def files(self) -> list[str]:
        """The files of all tables."""
        return [name for form in (self.edges, *self.nodes.values()) for name in form.files]


@dataclass(frozen=True)
class Placed:
    """The rows of the edge table, and how many of them join no two nodes, by reason."""

    edge_rows: int
    outside_window: int
    null_ends: int
    unknown_edges: int
    loops: int

    @property
    def kept(self) -> int:
        """The rows that join two nodes."""
        return self.edge_rows - self.outside_window - self.null_ends - self.unknown_edges - self.loops


@dataclass(frozen=True)
class Wiring:
    """What is known of the edges once they are sorted: repeated rows, nodes without an edge and the first of them."""

    duplicates: int
    lone: int
    first_lone: int


@dataclass(frozen=True)
class Found:
    """The columns of events, None where they say no more than the edges, and what was read as what."""

    columns: EventColumns | None
    roles: Roles


@dataclass(frozen=True)
class Read:
    """What was read of the tables; the arrays are where they were made."""

    people: People
    counts: Counts
    found: Found


class Place(Protocol):
    """Where a network is made.

    Attributes
    ----------
    lasting : whether tables stay where they are and are read again, as they are after a kill.
    """

    lasting: bool

    def step(self, name: str, kind: type[Record], do: Callable[[], Record]) -> Record:
        """Do a step, or give what it gave before."""

    def tables(self) -> tuple[duckdb.DuckDBPyConnection, TableColumns]:
        """Open the tables, unless they are open."""

    def array(self, name: str, dtype: Any, tail: tuple[int, ...] = ()) -> AbstractContextManager[Append]:
        """Open an array, to which rows are appended."""

    def pairs(self, people: People, rows: int) -> AbstractContextManager[Append]:
        """Open what edges are appended to, both ends of each by number; there are at most so many."""

    def wiring(self, nodes: int) -> Wiring:
        """Sort the edges."""


def read(job: Job, place: Place) -> Read:
    """Read tables: number the nodes, place and sort the edges, and sort the events."""
    people = place.step("nodes", People, lambda: _number(job, place))
    placed = place.step("pairs", Placed, lambda: _place(job, place, people))
    wiring = place.wiring(people.kinds.bounds[-1])
    found = place.step("events", Found, lambda: _events(job, place, people, placed, wiring))
    counts = Counts(
        **vars(placed),
        **vars(people.counts),
        duplicate_edges=wiring.duplicates,
        lone_nodes=wiring.lone,
        ignored_columns=tuple(name for name, _ in people.roles.unread),
    )
    if job.settings.strict and counts.faults:
        connection, _ = place.tables()
        with reading("the network"):
            lone = fetch_table(connection, f"SELECT id FROM people WHERE position = {wiring.first_lone}").column(0)  # noqa: S608
            _place_rows(job, place, people)
            refuse(connection, people.ends.ids, counts, repr(lone[0].as_py()), events=found.columns is not None)
    return Read(people, counts, found)


def _number(job: Job, place: Place) -> People:
    connection, chosen = place.tables()
    job.progress(NUMBERING, 0, 1)
    views = {
        one.table: one.form.load(
            connection, one.table, one.picks, set(one.labels), as_view=place.lasting and not one.form.textual
        )
        for one in chosen.nodes
    }
    with reading(chosen.edge_form.label):
        _load_edges(connection, chosen, job.settings, as_view=place.lasting)
    with reading(chosen.node_label):
        people = make_people(connection, chosen, job.settings, job.known)
        for table, is_view in views.items():
            connection.execute(f"DROP {'VIEW' if is_view else 'TABLE'} {table}")
    job.progress(NUMBERING, 1, 1)
    return people


def _load_edges(
    connection: duckdb.DuckDBPyConnection, chosen: TableColumns, settings: ReadSettings, *, as_view: bool
) -> None:
    """Make ``edges`` unless it is there; as a view, the rows stay where they are, if that can be."""
    if not connection.execute("SELECT 1 FROM information_schema.tables WHERE table_name = 'edges'").fetchall():
        picks = chosen.edge_picks(settings)
        chosen.edge_form.load(connection, "edges", picks, set(picks), as_view=as_view)


def _place(job: Job, place: Place, people: People) -> Placed:
    """Write every edge that joins two nodes as their numbers; ``placed`` keeps every row with its columns of events."""
    connection, chosen = place.tables()
    nodes, tally = people.kinds.bounds[-1], np.zeros(4, dtype=np.int64)
    with reading(chosen.edge_form.label):
        _load_edges(connection, chosen, job.settings, as_view=place.lasting)
        query = placing(connection, people.ends, people.node_id, people.kinds, people.roles.named)
        connection.execute("DROP TABLE IF EXISTS placed")
        connection.execute(f"CREATE TABLE placed AS {query}")
        rows = fetch_row(connection, "SELECT count(*) FROM placed")[0]
        with place.pairs(people, rows) as append:
            for batch in fetch_batches(connection, "SELECT s, t FROM placed"):
                job.progress(PLACING, int(tally[0]), rows)
                s, t = (batch.column(k).to_numpy() for k in range(2))
                kept = (s >= 0) & (t >= 0) & (s != t)
                append(np.stack([s[kept], t[kept]], axis=1).astype(index_dtype(nodes)))
                no_end, loops = s == NO_END, (s == t) & (s >= 0)
                tally += [s.size, *map(np.count_nonzero, (no_end, loops, kept))]
        job.progress(PLACING, rows, rows)
        null_ends, loops, kept = (int(one) for one in tally[1:])
        unknown = rows - null_ends - loops - kept
        if rows > null_ends and unknown == rows - null_ends:
            _place_rows(job, place, people)
            refuse_unjoined(connection, people.ends.ids, rows, chosen.end_names)
        every = rows if people.ends.inside is None else fetch_row(connection, "SELECT count(*) FROM edges")[0]
    return Placed(every, every - rows, null_ends, unknown, loops)


def _place_rows(job: Job, place: Place, people: People) -> None:
    """Place the edges with the number of their row, to give an example; a view has no such number."""
    connection, chosen = place.tables()
    if place.lasting:
        for kind in ("VIEW", "TABLE"):
            with suppress(duckdb.CatalogException):  # it is the other
                connection.execute(f"DROP {kind} IF EXISTS edges")
        _load_edges(connection, chosen, job.settings, as_view=False)
    place_rows(connection, people.ends, people.node_id, people.kinds.names)


def _events(job: Job, place: Place, people: People, placed: Placed, wiring: Wiring) -> Found:
    """Write the events, where they say more than the edges do."""
    connection, chosen = place.tables()
    sizes, bounds = (placed.kept, placed.kept - wiring.duplicates), people.kinds.bounds
    known = None if job.known is None else job.known.events
    with reading("the edges"):
        found = find_events(connection, people.roles, job.settings, chosen.end_names, bounds, sizes, known)
    chosen.check_profile(found.columns is not None)
    if found.columns is not None and found.direction is not None:
        write_events(connection, found.columns, found.direction.both_ways, bounds[-1], place, job.progress)
    return Found(found.columns, chosen.roles(people, found))


def write_events(
    connection: duckdb.DuckDBPyConnection,
    columns: EventColumns,
    both_ways: bool,
    nodes: int,
    place: Place,
    progress: Progress = silent,
) -> None:
    """Write the events of ``placed`` as the arrays of :class:`Events`."""
    counts = np.zeros(2 * nodes, dtype=np.int64)
    kinds = {
        "partners": (index_dtype(nodes), ()),
        "times": (np.int64, ()),
        "amounts": (np.float64, (len(columns.amounts),)),
        "kinds": (np.int16, (len(columns.kinds),)),
    }
    with ExitStack() as stack, reading("the edges"):
        arrays = {name: stack.enter_context(place.array(EVENTS[name], *kind)) for name, kind in kinds.items()}
        progress(SORTING, 0, 1)
        for batch in event_batches(connection, columns, both_ways):
            batch.count_into(counts)
            for name, append in arrays.items():
                append(getattr(batch, name))
        progress(SORTING, 1, 1)
    with place.array(EVENTS["indptr"], np.int64) as append:
        append(np.concatenate([[0], np.cumsum(counts)]))


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


@contextmanager
def opened_job(
    edges: Any,
    nodes: Any,
    settings: ReadSettings,
    known: Known | None,
    progress: Progress,
    max_memory: int | None,
) -> Iterator[Job]:
    """Find out which tables were named, what a model fixes of how they are read, and what DuckDB may take."""
    check_one_stdin(edges, nodes)
    if max_memory is not None and settings.memory_limit is None:
        share = max(max_memory - OURS, min(LEAST, max_memory // 2))
        settings = settings.model_copy(update={"memory_limit": f"{share >> 20}MiB"})
    with opened(edges, "the edge table", settings) as edge_form, opened_nodes(nodes, settings) as node_forms:
        yield Job(edge_form, node_forms, as_fitted(settings, known, edge_form.label), known, progress, max_memory)


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
