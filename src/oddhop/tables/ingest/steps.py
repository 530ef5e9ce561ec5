"""The steps from two tables to a network on disk; each is recorded when it is done, and not done again.

All of it is made in a folder of its own inside the one asked for, to be moved out when it is whole. A run that was
killed goes on after the last step on record, to the same bytes.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
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
from oddhop.tables.encode import Encoding, learn_by_column
from oddhop.tables.ingest.blocks import NodeTable, bring_edges, keep_nodes, write_nodes, write_pairs
from oddhop.tables.ingest.growing_files import growing_array
from oddhop.tables.ingest.sorted_rows import SORTING, Buckets, fill_buckets, sorted_rows
from oddhop.tables.read import Counts
from oddhop.tables.read.database import database, fetch_table, reading
from oddhop.tables.read.ids import IdColumn
from oddhop.tables.read.joins import TableColumns, find_columns, place_edges, refuse, refuse_unjoined
from oddhop.tables.read.sources import Form
from oddhop.tables.settings import EncodeSettings, ReadSettings
from oddhop.version import __version__

DATABASE, PAIRS, BUCKETS, SEAL = "tables.duckdb", "pairs.bin", "buckets.bin", "seal.json"


@dataclass(frozen=True)
class Job:
    """What was asked for."""

    tables: dict[str, str]
    edge_form: Form
    node_form: Form
    read: ReadSettings
    encode: EncodeSettings
    encoding: Encoding | None
    settings: dict[str, Any]
    memory_limit: str
    progress: Progress

    @property
    def identity(self) -> dict[str, Any]:
        """What must not differ where a run goes on."""
        files = [Path(name) for form in (self.edge_form, self.node_form) for name in form.files]
        stamps = [[str(file), file.stat().st_size, file.stat().st_mtime_ns] for file in files]
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
    made = _step(
        work,
        "buckets",
        lambda: asdict(
            fill_buckets(
                work / PAIRS, nodes["nodes"], job.settings["partition_entries"], work / BUCKETS, progress=job.progress
            )
        ),
    )
    (work / PAIRS).unlink(missing_ok=True)
    rows = _step(work, "rows", lambda: _write_rows(run, Buckets(**made), job.progress))
    counts = Counts(
        **pairs,
        **nodes["counts"],
        duplicate_edges=rows["repairs"]["duplicates"],
        lone_nodes=rows["lone"],
        ignored_columns=tuple(nodes["ignored"]),
    )
    if job.read.strict:
        _refuse(job, work, counts, rows["first_lone"])
    if not (work / "attributes.json").exists():
        _read_attributes(job, work, nodes["nodes"])
    attributes = _step(work, "attributes", dict)
    files = [f"{name}.npy" for name in (*attributes["arrays"], *rows["arrays"])]
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
        arrays={name: ArrayEntry(**entry) for name, entry in (attributes["arrays"] | rows["arrays"]).items()},
        files={name: file_entry(work / name) for name in sorted(files)},
        # The readers have left out the duplicates: those of the tables are among the counts.
        repairs=asdict(Repairs(one_way=rows["repairs"]["one_way"])),
        roles=nodes["roles"],
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
    files = [*job.edge_form.files, *job.node_form.files]
    read = job.read
    with database(files, job.memory_limit, spill, work / DATABASE) as connection:
        yield connection, find_columns(connection, job.edge_form, job.node_form, read.source, read.target, read.id)


def _read_wiring(job: Job, work: Path) -> None:
    """Give numbers to the nodes and the ends of the edges."""
    with _opened_tables(job, work) as (connection, chosen):
        job.progress("numbering nodes", 0, 1)
        nodes = _step(work, "nodes", lambda: _number(connection, chosen))
        job.progress("numbering nodes", 1, 1)
        people = NodeTable(connection, chosen, nodes["nodes"])
        _step(work, "pairs", lambda: _place(job, people, IdColumn(**nodes["id"]), work))


def _read_attributes(job: Job, work: Path, nodes: int) -> None:
    """Learn the encoding and encode."""
    with _opened_tables(job, work) as (connection, chosen):
        people = NodeTable(connection, chosen, nodes)
        document = _step(work, Path(ENCODING).stem, lambda: _encoding(job, people).to_json())
        _step(work, "attributes", lambda: _write_attributes(job, people, Encoding.from_json(document), work))


def _number(connection: duckdb.DuckDBPyConnection, chosen: TableColumns) -> dict[str, Any]:
    with reading(chosen.node_form.label):
        node_id, (rows, null_ids, repeated) = keep_nodes(connection, chosen)
    return {
        "id": asdict(node_id),
        "nodes": rows - null_ids - repeated,
        "counts": {"node_rows": rows, "null_ids": null_ids, "repeated_ids": repeated},
        "roles": asdict(chosen.roles),
        "ignored": chosen.ignored,
    }


def _encoding(job: Job, people: NodeTable) -> Encoding:
    names = [people.chosen.node_names[k] for k in people.chosen.others]
    return job.encoding or learn_by_column(names, people.column, **job.encode.model_dump(), progress=job.progress)


def _write_attributes(job: Job, people: NodeTable, encoding: Encoding, work: Path) -> dict[str, Any]:
    learned = job.encoding is None
    arrays, differences = write_nodes(people, encoding, work, learned=learned, progress=job.progress)
    return {
        "arrays": {name: entry.model_dump(mode="json") for name, entry in arrays.items()},
        "names": encoding.names,
        "differences": [asdict(one) for one in differences],
    }


def _place(job: Job, people: NodeTable, node_id: IdColumn, work: Path) -> dict[str, int]:
    connection, chosen = people.connection, people.chosen
    tally = write_pairs(connection, chosen, node_id, people.nodes, work / PAIRS, progress=job.progress)
    rows, null_ends = tally["edge_rows"], tally["null_ends"]
    if rows > null_ends and tally["unknown_edges"] == rows - null_ends:
        with reading("the network"):
            connection.execute("DROP VIEW IF EXISTS edges")
            connection.execute("DROP TABLE IF EXISTS edges")
            ends = bring_edges(connection, chosen, where_they_lie=False)
            place_edges(connection, ends, node_id)
            refuse_unjoined(connection, ends, rows, chosen.roles)
    return tally


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


def _refuse(job: Job, work: Path, counts: Counts, first_lone: int) -> None:
    """Raise for what was left out, as the reader of tables does; the edges are read again, for an example."""
    if not any(value for name, value in asdict(counts).items() if name not in ("edge_rows", "node_rows")):
        return
    with _opened_tables(job, work) as (connection, chosen), reading("the network"):
        node_id = IdColumn(**_step(work, "nodes", dict)["id"])
        ends = bring_edges(connection, chosen, where_they_lie=False)
        place_edges(connection, ends, node_id)
        lone = fetch_table(connection, f"SELECT id FROM people WHERE position = {first_lone}").column(0)  # noqa: S608
        refuse(connection, ends, counts, repr(lone[0].as_py()))
