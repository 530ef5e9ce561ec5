"""The steps from two tables to a network on disk; each is recorded when it is done, and not done again.

All of it is made in a folder of its own inside the one asked for, to be moved out when it is whole. A run that was
killed goes on after the last step on record, to the same bytes.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from oddhop.base.checkpoints import RunFolder
from oddhop.base.files import write_atomically
from oddhop.base.parallel import Progress
from oddhop.graph.adjacency import Repairs, index_dtype
from oddhop.graph.disk import (
    ENCODING,
    FORMAT,
    IDS,
    KIND,
    ORIGINALS,
    ArrayEntry,
    Manifest,
    file_entry,
)
from oddhop.graph.events import EventColumns, event_columns_from
from oddhop.tables.encode import Encoding, Learning
from oddhop.tables.encode.columns import Column
from oddhop.tables.encode.kinds import known_of, learn_kinds, node_kinds
from oddhop.tables.flows import check_names, flow_columns
from oddhop.tables.ingest.blocks import NodeTable, bring_edges, keep_nodes, write_nodes, write_pairs
from oddhop.tables.ingest.events import FLOWS, FlowFile, open_flows, write_events
from oddhop.tables.ingest.growing_files import growing_array
from oddhop.tables.ingest.sorted_rows import SORTING, Buckets, fill_buckets, sorted_rows
from oddhop.tables.kinds import Known, kinds_read_from
from oddhop.tables.read import Counts
from oddhop.tables.read.database import database, fetch_row, fetch_table, reading
from oddhop.tables.read.edge_roles import edge_roles_from
from oddhop.tables.read.events import find_events
from oddhop.tables.read.files import Form
from oddhop.tables.read.ids import IdColumn
from oddhop.tables.read.joins import TableColumns, find_columns, place_edges, refuse, refuse_unjoined
from oddhop.tables.read.kinds import EndKind
from oddhop.tables.read.numbering import Ends
from oddhop.tables.settings import EncodeSettings, ReadSettings
from oddhop.version import __version__

DATABASE, PAIRS, BUCKETS, SEAL = "tables.duckdb", "pairs.bin", "buckets.bin", "seal.json"


@dataclass(frozen=True)
class Job:
    """What was asked for."""

    tables: dict[str, str]
    edge_form: Form
    node_forms: dict[str, Form]
    read: ReadSettings
    encode: EncodeSettings
    encoding: Encoding | None
    settings: dict[str, Any]
    progress: Progress

    @property
    def known(self) -> Known | None:
        """What the encoding that is used again says about the tables."""
        return known_of(self.encoding)

    @property
    def known_events(self) -> EventColumns | None:
        """The columns of events of the encoding that is used again."""
        return None if self.encoding is None else self.encoding.events

    @property
    def files(self) -> list[str]:
        """The files of all tables."""
        return [name for form in (self.edge_form, *self.node_forms.values()) for name in form.files]

    @property
    def identity(self) -> dict[str, Any]:
        """What must not differ where a run goes on."""
        files = [Path(name) for name in self.files]
        stamps = [[file.name, file.stat().st_size, file.stat().st_mtime_ns] for file in files]
        return {"tables": self.tables, "files": stamps, "settings": self.settings, "oddhop": __version__}


def sweep(folder: Path) -> None:
    """Take away what a killed run was just writing."""
    for debris in folder.glob(".*.tmp"):
        debris.unlink()


def _step(work: Path, name: str, do: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
    """Do a step and record what it gave, or give what is on record."""
    record = work / f"{name}.json"
    if not record.exists():
        write_atomically(record, json.dumps(do(), sort_keys=True, allow_nan=False).encode())
    return dict(json.loads(record.read_bytes()))


def make(job: Job, run: RunFolder) -> None:
    """Make all files and the manifest, in the folder of the run."""
    work = run.path
    sweep(work)
    if (work / SEAL).exists():
        return
    if not (work / "pairs.json").exists():
        _read_wiring(job, work)
    nodes, pairs = (_step(work, name, dict) for name in ("nodes", "pairs"))
    where = work / PAIRS, nodes["nodes"], job.settings["partition_entries"], work / BUCKETS
    made = _step(work, "buckets", lambda: asdict(fill_buckets(*where, progress=job.progress)))
    (work / PAIRS).unlink(missing_ok=True)
    rows = _step(work, "rows", lambda: _write_rows(run, Buckets(**made), job.progress))
    counts = Counts(
        **pairs,
        **nodes["counts"],
        duplicate_edges=rows["repairs"]["duplicates"],
        lone_nodes=rows["lone"],
        ignored_columns=tuple(name for name, _ in nodes["edges"]["unread"]),
    )
    if not (work / "events.json").exists():
        _read_events(job, work, nodes["nodes"], counts)
    events = _step(work, "events", dict)
    if job.read.strict:
        _refuse(job, work, counts, rows["first_lone"], events=events["columns"] is not None)
    if not (work / "attributes.json").exists():
        _read_attributes(job, work)
    (work / FLOWS).unlink(missing_ok=True)  # not before it is closed: Windows removes no open file
    attributes = _step(work, "attributes", dict)
    arrays = attributes["arrays"] | rows["arrays"] | events["arrays"]
    files = [f"{name}.npy" for name in arrays]
    files += [name for name in (IDS, ORIGINALS, ENCODING) if (work / name).exists()]
    manifest = Manifest(
        kind=KIND,
        format=FORMAT,
        oddhop=__version__,
        nodes=nodes["nodes"],
        edges=rows["entries"][-1] // 2,
        bounds=made["bounds"],
        entries=rows["entries"],
        attribute_names=attributes["names"],
        arrays={name: ArrayEntry(**entry) for name, entry in arrays.items()},
        files={name: file_entry(work / name) for name in sorted(files)},
        # The readers have left out the duplicates: those of the tables are among the counts.
        repairs=asdict(Repairs(one_way=rows["repairs"]["one_way"])),
        events=events["columns"],
        flow_count=attributes["flow_count"],
        kinds=attributes["kinds"],
        roles=events["roles"],
        counts=json.loads(json.dumps(asdict(counts))),
        differences=attributes["differences"],
        tables=job.tables,
        settings=job.settings,
    )
    document = json.dumps(manifest.model_dump(mode="json"), indent=1, sort_keys=True, allow_nan=False)
    write_atomically(work / SEAL, document.encode())


@contextmanager
def _opened_tables(job: Job, work: Path) -> Iterator[tuple[duckdb.DuckDBPyConnection, TableColumns]]:
    spill = work / "spill"
    shutil.rmtree(spill, ignore_errors=True)
    spill.mkdir()
    if not (work / "nodes.json").exists():  # a database that a kill left half made, with nothing in it that counts
        for left_over in work.glob(f"{DATABASE}*"):
            left_over.unlink()
    with database(job.files, job.read.model_copy(update={"temp_folder": str(spill)}), work / DATABASE) as connection:
        chosen = find_columns(connection, job.edge_form, job.node_forms, job.read)
        if (work / "nodes.json").exists():
            chosen = replace(chosen, end_kinds=_recorded_ends(_step(work, "nodes", dict)))
        yield connection, chosen


def _recorded_ends(nodes: dict[str, Any]) -> tuple[EndKind, EndKind]:
    source, target = (EndKind(**one) for one in nodes["end_kinds"])
    return source, target


def _read_wiring(job: Job, work: Path) -> None:
    """Assign numbers to the nodes and the ends of the edges."""
    with _opened_tables(job, work) as (connection, chosen):
        job.progress("numbering nodes", 0, 1)
        with reading(chosen.edge_form.label):
            bring_edges(connection, chosen, job.read, where_they_lie=True)
        nodes = _step(work, "nodes", lambda: _number(job, connection, chosen))
        job.progress("numbering nodes", 1, 1)
        chosen = replace(chosen, end_kinds=_recorded_ends(nodes))
        people = NodeTable(connection, kinds_read_from(nodes["kinds"]), chosen.node_label)
        _step(work, "pairs", lambda: _place(job, people, chosen, nodes, work))


def _read_events(job: Job, work: Path, nodes: int, counts: Counts) -> None:
    """Write the events, where they say more than the wiring does."""
    with _opened_tables(job, work) as (connection, chosen):
        _step(work, "events", lambda: _write_events(job, connection, chosen, nodes, counts, work))
        connection.execute("DROP TABLE IF EXISTS placed")


def _write_events(
    job: Job, connection: duckdb.DuckDBPyConnection, chosen: TableColumns, nodes: int, counts: Counts, work: Path
) -> dict[str, Any]:
    recorded = _step(work, "nodes", dict)
    roles, kinds = edge_roles_from(recorded["edges"]), kinds_read_from(recorded["kinds"])
    kept = counts.edge_rows - counts.outside_window - counts.null_ends - counts.unknown_edges - counts.loops
    sizes, entries = (kept, kept - counts.duplicate_edges), {}
    with reading("the edges"):
        found = find_events(connection, roles, job.read, chosen.end_names, kinds.bounds, sizes, job.known_events)
    columns = found.columns
    chosen.check_profile(columns is not None)
    if columns is not None and found.direction is not None:
        entries = write_events(connection, columns, found.direction.both_ways, nodes, work, job.progress)
    return {
        "columns": None if columns is None else asdict(columns),
        "roles": asdict(chosen.roles(kinds, roles, found)),
        "arrays": {name: entry.model_dump(mode="json") for name, entry in entries.items()},
    }


def _read_attributes(job: Job, work: Path) -> None:
    """Learn the encoding and encode."""
    nodes, columns = _step(work, "nodes", dict), _step(work, "events", dict)["columns"]
    kinds, edge_forms = kinds_read_from(nodes["kinds"]), edge_roles_from(nodes["edges"]).forms
    several = kinds.names if kinds.several else ()
    flows = open_flows(None if columns is None else event_columns_from(columns), work, several)
    with _opened_tables(job, work) as (connection, chosen):
        people = NodeTable(connection, kinds, chosen.node_label)
        document = _step(work, Path(ENCODING).stem, lambda: _encoding(job, people, flows, edge_forms).to_json())
        encoding = Encoding.from_json(document)
        _step(work, "attributes", lambda: _write_attributes(job, people, flows, encoding, work))


def _number(job: Job, connection: duckdb.DuckDBPyConnection, chosen: TableColumns) -> dict[str, Any]:
    people = keep_nodes(connection, chosen, job.read, job.known)
    return {
        "id": asdict(people.node_id),
        "nodes": people.kinds.bounds[-1],
        "kinds": asdict(people.kinds),
        "end_kinds": [asdict(one) for one in people.chosen.end_kinds],
        "counts": asdict(people.counts),
        "edges": asdict(people.roles),
    }


def _encoding(job: Job, people: NodeTable, flows: FlowFile | None, edge_forms: tuple[tuple[str, str], ...]) -> Encoding:
    if job.encoding is not None:
        return job.encoding
    kinds = people.kinds
    made = {} if flows is None else flows.names
    if flows is not None:
        check_names([name for _, name, _ in kinds.columns], [one.name for one in flow_columns(flows.columns)])

    def column(name: str) -> Column:
        return flows.column(name) if flows is not None and name in made else people.column(name)

    events = None if flows is None else flows.columns
    learning = Learning(job.encode, job.read, people.row_name)
    names = [*kinds.full_names, *made]
    learned = learn_kinds(kinds, names, column, learning, events=events, progress=job.progress)
    return replace(learned, edge_forms=edge_forms)


def _write_attributes(
    job: Job, people: NodeTable, flows: FlowFile | None, encoding: Encoding, work: Path
) -> dict[str, Any]:
    learned = job.encoding is None
    arrays, differences = write_nodes(
        people, flows, encoding, work, kept=job.read.keep_columns, learned=learned, progress=job.progress
    )
    kinds = node_kinds(encoding, people.kinds)
    return {
        "flow_count": encoding.flow_count,
        "kinds": None if kinds is None else asdict(kinds),
        "arrays": {name: entry.model_dump(mode="json") for name, entry in arrays.items()},
        "names": encoding.names,
        "differences": [asdict(one) for one in differences],
    }


def _place(job: Job, people: NodeTable, chosen: TableColumns, known: dict[str, Any], work: Path) -> dict[str, int]:
    connection, node_id = people.connection, IdColumn(**known["id"])
    roles, label = edge_roles_from(known["edges"]), chosen.edge_form.label
    ends = Ends(chosen.end_ids(connection), chosen.end_kinds, roles.inside)
    tally = write_pairs(people, ends, node_id, roles, label, work / PAIRS, progress=job.progress)
    rows, null_ends = tally["edge_rows"], tally["null_ends"]
    if rows > null_ends and tally["unknown_edges"] == rows - null_ends:
        with reading("the network"):
            ids = _placed_again(job, connection, chosen, known)
            refuse_unjoined(connection, ids, rows, chosen.end_names)
    outside = 0
    if roles.inside is not None:
        with reading(label):
            outside = fetch_row(connection, "SELECT count(*) FROM edges")[0] - rows
    return tally | {"edge_rows": rows + outside, "outside_window": outside}


def _placed_again(
    job: Job, connection: duckdb.DuckDBPyConnection, chosen: TableColumns, known: dict[str, Any]
) -> tuple[IdColumn, IdColumn]:
    """Load and place the edges with the number of their row, to give an example."""
    ids = bring_edges(connection, chosen, job.read, where_they_lie=False)
    connection.execute("DROP TABLE IF EXISTS placed")
    ends = Ends(ids, chosen.end_kinds, known["edges"]["inside"])
    place_edges(connection, ends, IdColumn(**known["id"]), known["kinds"]["names"])
    return ids


def _write_rows(run: RunFolder, where: Buckets, progress: Progress) -> dict[str, Any]:
    """Sort every partition, then put them one after the other."""
    work, parts = run.path, len(where.bounds) - 1
    repairs = {"duplicates": 0, "one_way": 0}
    entries, degrees = [0], []
    for k in range(parts):
        progress(SORTING, k, parts)
        if run.load(f"part-{k}") is None:
            rows = sorted_rows(work / BUCKETS, where, k)
            found = {"duplicates": rows.duplicates, "one_way": rows.one_way}
            run.save(f"part-{k}", {"indices": rows.indices, "degrees": rows.degrees}, found)
    progress(SORTING, parts, parts)
    with growing_array(work / "indices.npy", index_dtype(where.bounds[-1])) as indices:
        for k in range(parts):
            arrays, found = run.load(f"part-{k}") or ({}, {})
            indices.append(arrays["indices"])
            degrees.append(arrays["degrees"])
            entries.append(indices.rows)
            repairs = {name: repairs[name] + found[name] for name in repairs}
    every = np.concatenate(degrees)
    with growing_array(work / "indptr.npy", np.int64) as indptr:
        indptr.append(np.concatenate([[0], np.cumsum(every)]))
    return {
        "arrays": {"indptr": indptr.entry.model_dump(mode="json"), "indices": indices.entry.model_dump(mode="json")},
        "entries": entries,
        "repairs": repairs,
        "lone": int(np.count_nonzero(every == 0)),
        "first_lone": int(np.argmin(every)),
    }


def _refuse(job: Job, work: Path, counts: Counts, first_lone: int, *, events: bool) -> None:
    """Raise for what was left out, as the reader of tables does; the edges are read again, for an example."""
    if not any(value for name, value in asdict(counts).items() if name not in ("edge_rows", "node_rows")):
        return
    with _opened_tables(job, work) as (connection, chosen), reading("the network"):
        known = _step(work, "nodes", dict)
        ends = _placed_again(job, connection, chosen, known)
        lone = fetch_table(connection, f"SELECT id FROM people WHERE position = {first_lone}").column(0)  # noqa: S608
        refuse(connection, ends, counts, repr(lone[0].as_py()), events=events)
