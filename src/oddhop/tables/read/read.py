"""The steps from tables to numbered nodes, edges and events: once for memory, and for a folder that survives a kill.

DuckDB reads, maps the ids, joins and sorts, on disk where memory ends; what comes out of it is taken in batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import duckdb
import numpy as np
import numpy.typing as npt

from oddhop.base.parallel import Progress, silent
from oddhop.graph.adjacency import index_dtype
from oddhop.graph.disk import EVENTS
from oddhop.graph.events import EventColumns
from oddhop.tables.kinds import Known
from oddhop.tables.read.database import fetch_batches, fetch_row, fetch_table, reading
from oddhop.tables.read.events import event_batches, find_events
from oddhop.tables.read.files import Form
from oddhop.tables.read.joins import (
    NO_END,
    Counts,
    Roles,
    TableColumns,
    place_rows,
    placing,
    refuse,
    refuse_unjoined,
)
from oddhop.tables.read.numbering import People
from oddhop.tables.read.people import as_fitted, make_people, opened_nodes
from oddhop.tables.read.sources import opened
from oddhop.tables.read.stdin import check_one_stdin
from oddhop.tables.settings import ReadSettings

Record = TypeVar("Record")
Append = Callable[[npt.NDArray[Any]], object]
NUMBERING, PLACING, SORTING = "numbering nodes", "placing edges", "sorting events"
# What Python, its libraries and the blocks under way take beside DuckDB, what is enough for it, and what it needs.
OURS, ENOUGH, LEAST = 1 << 30, 256 << 20, 64 << 20


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
        share = max(max_memory - OURS, min(ENOUGH, max_memory // 2), LEAST)
        settings = settings.model_copy(update={"memory_limit": f"{share >> 20}MiB"})
    with opened(edges, "the edge table", settings) as edge_form, opened_nodes(nodes, settings) as node_forms:
        yield Job(edge_form, node_forms, as_fitted(settings, known, edge_form.label), known, progress, max_memory)
