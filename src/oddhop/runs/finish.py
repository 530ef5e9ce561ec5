"""The end of a run, however its ranking was made: report, results, model and manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from oddhop.detector.base import GraphDetector
from oddhop.runs import folder as files
from oddhop.runs.log import Log
from oddhop.runs.reopen import write_report
from oddhop.runs.settings import RunSettings
from oddhop.tables.network import Network
from oddhop.tables.read.sql import put_table

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
) -> tuple[pa.Table, dict[str, Any]]:
    """Write the files of a run, and the manifest last; return the table as it was written, and its figures.

    ``network`` is None on a cluster, where no process holds it: there is no report then, and results are in shards.
    ``parts`` is what else the manifest tells.
    """
    numbers: list[int] = []
    if network is not None:
        if destination.cases:
            page = write_report(folder, detector, network, result, cases=destination.cases, log=log)
            numbers = [one.case for one in page.cases]
        result = network.with_kept(result)
    result = _with_cases(result, numbers)
    figures = files.write_results(folder, result, in_shards=network is None)
    figures |= files.ending_part(detector, result)
    detector.save(folder / files.MODEL)
    if destination.write_to is not None and destination.database is not None:
        put_table(result, destination.database, destination.write_to, mode=destination.write_mode)
    own = {"detector": detector.name, "settings": settings.model_dump(mode="json"), "seed": detector.seed_}
    files.write_manifest(folder, command, {**own, **parts, "results": figures})
    return result, figures


def _with_cases(result: pa.Table, numbers: list[int]) -> pa.Table:
    """Add the number of its case to every node that was explained; the members of a clique or a cycle share one.

    The judged nodes come first in a result, in the order that they were explained in.
    """
    known = pa.array([*numbers, *[None] * (result.num_rows - len(numbers))], pa.int64())
    place = result.column_names.index("rank_low")
    return result.add_column(place, "case", known)


def named_tables(edges: Any, nodes: Any) -> dict[str, Any]:
    """Return what the tables are called, so that the run can be opened again; a frame is called nothing."""
    return {"edges": _named(edges), "nodes": _named(nodes)}


def _named(table: Any) -> str | dict[str, str] | None:
    if isinstance(table, Mapping):
        named = {kind: str(one) for kind, one in table.items() if isinstance(one, str | Path)}
        return named if len(named) == len(table) else None
    return str(table) if isinstance(table, str | Path) else None
