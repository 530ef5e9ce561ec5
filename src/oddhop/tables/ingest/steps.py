"""A network made in a folder: every step is recorded when it is done, and not done again.

All of it is made in a folder of its own inside the one asked for, to be moved out when it is whole. A run that was
killed goes on after the last step on record, to the same bytes.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from pydantic import TypeAdapter

from oddhop.base.checkpoints import RunFolder
from oddhop.base.files import atomic_file, write_atomically
from oddhop.graph.adjacency import Repairs, index_dtype
from oddhop.graph.checks import checked_attributes
from oddhop.graph.disk import (
    ENCODING,
    EVENTS,
    FORMAT,
    HEADER,
    IDS,
    KIND,
    ORIGINALS,
    ArrayEntry,
    Manifest,
    file_entry,
)
from oddhop.graph.events import ARRAYS, Events
from oddhop.tables.encode import Difference, Encoding
from oddhop.tables.encode.columns import Column
from oddhop.tables.encode.kinds import node_kinds
from oddhop.tables.encoded import added, encoded_blocks, flows_of, learn
from oddhop.tables.flows import Flows, flow_columns, flow_values
from oddhop.tables.ingest.growing_files import growing_array, growing_table, write_dense, write_sparse
from oddhop.tables.ingest.sorted_rows import SORTING, Buckets, fill_buckets, sorted_rows
from oddhop.tables.kinds import KindsRead
from oddhop.tables.read.database import database, fetch_row, fetch_table, reading
from oddhop.tables.read.joins import TableColumns, find_columns
from oddhop.tables.read.numbering import People
from oddhop.tables.read.read import Append, Found, Job, Read, Record, Wiring, read
from oddhop.tables.settings import EncodeSettings
from oddhop.version import __version__

DATABASE, PAIRS, BUCKETS, SEAL, FLOWS = "tables.duckdb", "pairs.bin", "buckets.bin", "seal.json", "flows.npy"
NODES_AT_ONCE = 1 << 17


@dataclass(frozen=True)
class Order:
    """What was asked for besides the tables."""

    tables: dict[str, str]
    encode: EncodeSettings
    encoding: Encoding | None
    settings: dict[str, Any]

    def identity(self, job: Job) -> dict[str, Any]:
        """Return what must not differ where a run goes on."""
        files = [Path(name) for name in job.files]
        stamps = [[file.name, file.stat().st_size, file.stat().st_mtime_ns] for file in files]
        return {"tables": self.tables, "files": stamps, "settings": self.settings, "oddhop": __version__}


@dataclass(frozen=True)
class Rows:
    """The sorted rows of all partitions: where each ends, the repairs, and the nodes without an edge."""

    bounds: tuple[int, ...]
    entries: tuple[int, ...]
    one_way: int
    wiring: Wiring


@dataclass(frozen=True)
class Written:
    """Where the nodes are not as those that their encoding was learned from."""

    differences: tuple[Difference, ...]


@dataclass(eq=False)
class Place:
    """The folder of an unfinished run; the tables are opened where a step needs them."""

    job: Job
    run: RunFolder
    partition_entries: int
    opened: ExitStack = field(default_factory=ExitStack)
    found: tuple[duckdb.DuckDBPyConnection, TableColumns] | None = None
    lasting = True

    def step(self, name: str, kind: type[Record], do: Callable[[], Record]) -> Record:
        """Do a step and record what it gave, or give what is on record."""
        record, form = self.run.path / f"{name}.json", TypeAdapter(kind)
        if not record.exists():
            write_atomically(record, form.dump_json(do()))
        return form.validate_json(record.read_bytes())

    def tables(self) -> tuple[duckdb.DuckDBPyConnection, TableColumns]:
        """Open the tables, unless they are open."""
        if self.found is None:
            work, spill = self.run.path, self.run.path / "spill"
            shutil.rmtree(spill, ignore_errors=True)
            spill.mkdir()
            if not (work / "nodes.json").exists():  # a database that a kill left half made counts for nothing
                for left_over in work.glob(f"{DATABASE}*"):
                    left_over.unlink()
            settings = self.job.settings.model_copy(update={"temp_folder": str(spill)})
            connection = self.opened.enter_context(database(self.job.files, settings, work / DATABASE))
            self.found = connection, find_columns(connection, self.job.edges, self.job.nodes, settings)
        return self.found

    def close(self) -> None:
        """Close the tables, so that their memory is free."""
        self.found = None
        self.opened.close()

    @contextmanager
    def array(self, name: str, dtype: Any, tail: tuple[int, ...] = ()) -> Iterator[Append]:
        """Open an array file, to which rows are appended."""
        with growing_array(self.run.path / f"{name}.npy", dtype, tail) as array:
            yield array.append

    def pairs(self, people: People, rows: int) -> AbstractContextManager[Append]:  # noqa: ARG002 - as in memory
        """Open the file that edges are appended to, both ends of each by number."""
        return _raw(self.run.path / PAIRS)

    def wiring(self, nodes: int) -> Wiring:
        """Sort the edges, partition by partition."""
        return self.rows(nodes).wiring

    def rows(self, nodes: int) -> Rows:
        """Sort the edges, or give what is on record."""
        self.close()
        work = self.run.path
        pairs, buckets, progress = work / PAIRS, work / BUCKETS, self.job.progress
        most = self.partition_entries
        made = self.step("buckets", Buckets, lambda: fill_buckets(pairs, nodes, most, buckets, progress))
        pairs.unlink(missing_ok=True)
        return self.step("rows", Rows, lambda: self._sort(made))

    def _sort(self, where: Buckets) -> Rows:
        """Sort every partition, then put them one after the other."""
        run, parts = self.run, len(where.bounds) - 1
        for k in range(parts):
            self.job.progress(SORTING, k, parts)
            if run.load(f"part-{k}") is None:
                rows = sorted_rows(run.path / BUCKETS, where, k)
                found = {"duplicates": rows.duplicates, "one_way": rows.one_way}
                run.save(f"part-{k}", {"indices": rows.indices, "degrees": rows.degrees}, found)
        self.job.progress(SORTING, parts, parts)
        entries, degrees, repairs = [0], [], np.zeros(2, dtype=np.int64)
        with growing_array(run.path / "indices.npy", index_dtype(where.bounds[-1])) as indices:
            for k in range(parts):
                arrays, found = run.load(f"part-{k}") or ({}, {})
                indices.append(arrays["indices"])
                degrees.append(arrays["degrees"])
                entries.append(indices.rows)
                repairs += [found["duplicates"], found["one_way"]]
        every = np.concatenate(degrees)
        with growing_array(run.path / "indptr.npy", np.int64) as indptr:
            indptr.append(np.concatenate([[0], np.cumsum(every)]))
        duplicates, one_way = repairs.tolist()
        wiring = Wiring(duplicates, int(np.count_nonzero(every == 0)), int(np.argmin(every)))
        return Rows(where.bounds, tuple(entries), one_way, wiring)


@contextmanager
def _raw(file: Path) -> Iterator[Append]:
    with atomic_file(file) as content:
        yield lambda rows: content.write(np.ascontiguousarray(rows).data)


def make(job: Job, order: Order, run: RunFolder) -> None:
    """Make all files and the manifest, in the folder of the run."""
    work = run.path
    sweep(work)
    if (work / SEAL).exists():
        return
    place = Place(job, run, order.settings["partition_entries"])
    with place.opened:
        made = read(job, place)
        encoding, differences = _encode(job, order, place, made)
    (work / FLOWS).unlink(missing_ok=True)  # not before it is closed: Windows removes no open file
    kinds, rows = made.people.kinds, place.rows(made.people.kinds.bounds[-1])
    arrays = {file.stem: _entry(file) for file in sorted(work.glob("*.npy"))}
    files = [f"{name}.npy" for name in arrays]
    files += [name for name in (IDS, ORIGINALS, ENCODING) if (work / name).exists()]
    manifest = Manifest(
        kind=KIND,
        format=FORMAT,
        oddhop=__version__,
        nodes=kinds.bounds[-1],
        edges=rows.entries[-1] // 2,
        bounds=rows.bounds,
        entries=rows.entries,
        attribute_names=encoding.names,
        arrays=arrays,
        files={name: file_entry(work / name) for name in sorted(files)},
        # The readers have left out the duplicates: those of the tables are among the counts.
        repairs=asdict(Repairs(one_way=rows.one_way)),
        events=made.found.columns,
        flow_count=encoding.flow_count,
        kinds=node_kinds(encoding, kinds),
        roles=asdict(made.found.roles),
        counts=json.loads(json.dumps(asdict(made.counts))),
        differences=[asdict(one) for one in differences],
        tables=order.tables,
        settings=order.settings,
    )
    document = json.dumps(manifest.model_dump(mode="json"), indent=1, sort_keys=True, allow_nan=False)
    write_atomically(work / SEAL, document.encode())


def sweep(folder: Path) -> None:
    """Take away what a killed run was just writing."""
    for debris in folder.glob(".*.tmp"):
        debris.unlink()


def _entry(file: Path) -> ArrayEntry:
    array = _mapped(file)
    return ArrayEntry(dtype=array.dtype.str, shape=array.shape)


def _mapped(file: Path) -> Any:
    # NumPy maps no file without values.
    array = np.load(file, mmap_mode="r") if file.stat().st_size > HEADER else np.load(file)
    return np.asarray(array)


def _encode(job: Job, order: Order, place: Place, made: Read) -> tuple[Encoding, tuple[Difference, ...]]:
    """Learn the encoding, if none was given, and write attributes, ids and the columns to quote from."""
    work, kinds, record = place.run.path, made.people.kinds, place.run.path / ENCODING
    flows = None if (work / "attributes.json").exists() else _flows(job, place, made.found, kinds)
    nodes = NodeTable(place, kinds)
    if not record.exists():
        forms = made.people.roles.forms
        encoding = order.encoding or learn(nodes, flows, forms, job.settings, order.encode, job.progress)
        write_atomically(record, json.dumps(encoding.to_json(), sort_keys=True, allow_nan=False).encode())
    encoding = Encoding.from_json(json.loads(record.read_bytes()))

    def write() -> Written:
        found: list[Difference] = []
        kept, learned = job.settings.keep_columns, order.encoding is None
        quoted = encoding.quoted(kinds.full_names, kinds.kept(kept))
        with ExitStack() as stack:
            ids = stack.enter_context(growing_table(work / IDS))
            originals = stack.enter_context(growing_table(work / ORIGINALS)) if quoted else None

            def attributes() -> Iterator[Any]:
                for block in encoded_blocks(nodes, flows, encoding, kept, learned=learned, progress=job.progress):
                    ids(pa.table({"id": block.ids}))
                    if originals is not None:
                        originals(block.originals)
                    found.extend(block.differences)
                    yield checked_attributes(block.attributes)

            (write_sparse if encoding.sparse else write_dense)(work, attributes(), len(encoding.names))
        return Written(added(found))

    return encoding, place.step("attributes", Written, write).differences


def _flows(job: Job, place: Place, found: Found, kinds: KindsRead) -> Flows | None:
    """Write the flow columns, unless that was done, and map them."""
    if found.columns is None:
        return None
    file, nodes = place.run.path / FLOWS, kinds.bounds[-1]
    if not file.exists():
        arrays = {name: _mapped(place.run.path / f"{EVENTS[name]}.npy") for name in ARRAYS}
        events = Events(found.columns, **arrays)
        with growing_array(file, np.float64, (len(flow_columns(found.columns)),)) as flows:
            for start in range(0, nodes, NODES_AT_ONCE):
                job.progress("flows", start, nodes)
                flows.append(flow_values(events.of_nodes(start, min(start + NODES_AT_ONCE, nodes))))
        job.progress("flows", nodes, nodes)
    return flows_of(found.columns, _mapped(file), kinds)


@dataclass(frozen=True)
class NodeTable:
    """The table ``people`` of a database: one row a node, numbered by kind and by the order of the ids."""

    place: Place
    kinds: KindsRead

    def blocks(self, names: Sequence[str]) -> Iterator[tuple[pa.Array, pa.Table]]:
        """Return the ids and some columns, by their full names, in the order of the nodes."""
        sql = self.kinds.sql
        picked = ", ".join(["id", *(sql[name] for name in names)])
        connection, chosen = self.place.tables()
        for start in range(0, self.kinds.bounds[-1], NODES_AT_ONCE):
            query = (
                f"SELECT {picked} FROM people WHERE position >= {start} AND position < {start + NODES_AT_ONCE} "  # noqa: S608
                "ORDER BY position"
            )
            with reading(chosen.node_label):
                table = fetch_table(connection, query)
            own = table.select(list(range(1, table.num_columns)))
            yield table.column(0), own.rename_columns(list(names))

    def row_name(self, row: int) -> str:
        """Name a node for a message."""
        connection, chosen = self.place.tables()
        with reading(chosen.node_label):
            found = fetch_row(connection, f"SELECT id FROM people WHERE position = {row}")[0]  # noqa: S608
        return f"the row of {found!r}"

    def column(self, name: str) -> Column:
        """Return one column whole."""
        return pa.concat_tables(table for _, table in self.blocks([name])).column(0)
