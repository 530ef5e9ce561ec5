"""The end of a run, however its ranking was made: report, results, model and manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from oddhop.detector.base import GraphDetector
from oddhop.graph.disk import file_entry
from oddhop.runs import folder as files
from oddhop.runs.compare import Comparison, Side, check_alike, compare_sides
from oddhop.runs.log import Log
from oddhop.runs.reopen import write_report
from oddhop.runs.settings import RunSettings
from oddhop.runs.state import read_state, write_state
from oddhop.tables.network import Network
from oddhop.tables.read.sql import put_table
from oddhop.tables.results import write_parquet

WriteMode = Literal["create", "replace", "append"]


@dataclass(frozen=True)
class Destination:
    """Where the results of a run go besides its folder: a table of a database; and how many cases are explained."""

    database: str | None = None
    write_to: str | None = None
    write_mode: WriteMode = "create"
    cases: int = 0


def finish_run(
    folder: Path,
    command: str,
    detector: GraphDetector,
    result: pa.Table,
    network: Network | None,
    destination: Destination,
    settings: RunSettings,
    parts: Mapping[str, Any],
    log: Log,
    since: Side | None = None,
) -> tuple[pa.Table, dict[str, Any], Comparison | None]:
    """Write the files of a run, and the manifest last; return the table as it was written, figures, and what changed.

    ``network`` is None on a cluster, where no process holds it: there is no report then, and results are in shards.
    ``parts`` is what else the manifest tells, and ``since`` the run to compare with.
    """
    numbers: list[int] = []
    if network is not None:
        if destination.cases:
            page = write_report(folder, detector, network, result, cases=destination.cases, log=log)
            numbers = [one.case for one in page.cases]
        result = network.with_kept(result)
        write_state(folder, network)
    result = _with_cases(result, numbers)
    figures = files.write_results(folder, result, in_shards=network is None)
    figures |= files.ending_part(detector, result)
    detector.save(folder / files.MODEL)
    if destination.write_to is not None and destination.database is not None:
        put_table(result, destination.database, destination.write_to, mode=destination.write_mode)
    own = {"detector": detector.name, "settings": settings.model_dump(mode="json"), "seed": detector.seed_}
    (folder / files.CHANGES).unlink(missing_ok=True)  # of a run that was killed
    manifest = files.manifest_of(folder, command, {**own, **parts, "results": figures})
    changes = None
    if since is not None:
        state = None if network is None else read_state(folder)
        new = Side(folder, manifest, result, state)
        check_alike(since, manifest, new.judged)
        changes = compare_sides(since, new)
        write_parquet(changes.table, folder / files.CHANGES)
        manifest["files"][files.CHANGES] = file_entry(folder / files.CHANGES).sha256
    files.put_manifest(folder, manifest)
    return result, figures, changes


def _with_cases(result: pa.Table, numbers: list[int]) -> pa.Table:
    """Add the number of its case to every node that was explained, the first of those that were judged."""
    values, unknown = np.zeros(result.num_rows, dtype=np.int64), np.ones(result.num_rows, dtype=bool)
    explained = np.flatnonzero(result["judged"].to_numpy())[: len(numbers)]
    values[explained], unknown[explained] = numbers, False
    return result.add_column(result.column_names.index("rank_low"), "case", pa.array(values, mask=unknown))


def named_tables(edges: Any, nodes: Any) -> dict[str, Any]:
    """Return what the tables are called, so that the run can be opened again; a frame is called nothing."""
    return {"edges": _named(edges), "nodes": _named(nodes)}


def _named(table: Any) -> str | dict[str, str] | None:
    if isinstance(table, Mapping):
        named = {kind: str(one) for kind, one in table.items() if isinstance(one, str | Path)}
        return named if len(named) == len(table) else None
    return str(table) if isinstance(table, str | Path) else None
