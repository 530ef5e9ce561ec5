"""The end of a run, however its ranking was made: report, results, model and manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from oddhop.base.files import file_digest
from oddhop.casebook import open_book
from oddhop.cases import store
from oddhop.cases.case import Cases
from oddhop.detector.base import GraphDetector
from oddhop.errors import MemoryBudgetError
from oddhop.feedback import Answers
from oddhop.runs import folder as files
from oddhop.runs.answers import learned_from, write_learned
from oddhop.runs.cases import RunCases, cases_of_run
from oddhop.runs.compare import Comparison, Side, check_alike, compare_sides
from oddhop.runs.log import Log
from oddhop.runs.reopen import write_report
from oddhop.runs.settings import RunSettings
from oddhop.runs.state import read_state, write_state
from oddhop.runs.targets import Target
from oddhop.tables.network import Network
from oddhop.tables.results import write_parquet


@dataclass(frozen=True, eq=False)
class Run:
    """A complete run.

    Attributes
    ----------
    folder : where its files are.
    result : the ranked table, by the ids of the node table.
    figures : how many nodes were ranked, judged and flagged, the threshold, and how many cases are new or hidden.
    made_now : False where the run was complete before, and nothing was left to do.
    changes : what changed since another run, where that was asked for.
    cases : what happened around the first nodes; None where no nodes were explained.
    """

    folder: Path
    result: pa.Table
    figures: dict[str, Any]
    made_now: bool = True
    changes: Comparison | None = None
    cases: Cases | None = None


@dataclass(frozen=True)
class Destination:
    """Where a run goes: its folder, what else takes the results, a book of cases.

    ``explain`` is how many nodes are explained and grouped into cases, ``report`` whether the report is written,
    ``top`` how many cases are flagged, None by the threshold of the detector, and ``answers`` what is learned from
    afterwards.
    """

    folder: Path
    target: Target | None = None
    explain: int = 0
    report: bool = True
    top: int | None = None
    book: str | Path | None = None
    answers: Answers | None = None


def finish_run(
    command: str,
    detector: GraphDetector,
    result: pa.Table,
    network: Network | None,
    destination: Destination,
    settings: RunSettings,
    parts: Mapping[str, Any],
    log: Log,
    since: Side | None = None,
) -> Run:
    """Write the files of a run, and the manifest last.

    ``network`` is None on a cluster, where no process holds it: there is no report then, and results are in shards.
    ``parts`` is what else the manifest tells, and ``since`` the run to compare with.
    """
    folder = destination.folder
    cases = RunCases()
    own = {"detector": detector.name, "settings": settings.model_dump(mode="json"), "seed": detector.seed_}
    told: dict[str, Any] = {**own, **parts}
    if network is not None and destination.explain:
        cases, result = _cases(detector, network, result, destination, told, log)
    else:
        result = cases.added_to(result)
    if network is not None:
        result = network.with_kept(result)
        write_state(folder, network)
    (folder / store.FILE).unlink(missing_ok=True)  # of a run that was killed
    if cases.found is not None:
        store.write_cases(cases.found, folder)
    detector.save(folder / files.MODEL)
    (folder / files.CHANGES).unlink(missing_ok=True)  # of a run that was killed
    told["cases"] = cases.told()
    changes = None
    if since is not None:
        changes = _changes(since, command, told, folder, result, network)
        told["changes"] = {"since": since.folder.name, "sentences": list(changes.sentences)}
    if network is not None and destination.explain and destination.report:
        table = None if changes is None else changes.table
        write_report(folder, detector, network, result, cases.found or Cases(()), told, table, log)
    if network is not None and destination.answers is not None:
        found = learned_from(detector, network, result, destination.answers, log)
        write_learned(folder, found)
    figures = files.write_results(folder, result, in_shards=network is None) | files.ending_part(detector, result)
    figures |= cases.counts()
    if destination.target is not None:
        destination.target.put(result)
    files.write_manifest(folder, command, {**told, "results": figures})
    return Run(folder, result, figures, changes=changes, cases=cases.found)


def _cases(
    detector: GraphDetector,
    network: Network,
    result: pa.Table,
    destination: Destination,
    told: Mapping[str, Any],
    log: Log,
) -> tuple[RunCases, pa.Table]:
    ask = partial(
        cases_of_run,
        detector,
        network,
        result,
        explain=destination.explain,
        top=destination.top,
        progress=log.progress,
        tables=told.get("tables"),
    )
    try:
        if destination.book is None:
            return ask()
        run = files.run_name(destination.folder, told)
        with open_book(destination.book) as book:
            return ask(book=book, run=run)
    except MemoryBudgetError as error:  # a network on disk may be fitted in less memory than nodes are explained in
        raise MemoryBudgetError(
            f"nodes cannot be explained and grouped into cases: {error.problem}",
            "raise max_memory, or continue with resume=True and explain=0, so that top counts nodes",
            command="raise --max-memory, or continue with --resume --explain 0, so that --top counts nodes",
        ) from None


def _changes(
    since: Side, command: str, told: Mapping[str, Any], folder: Path, result: pa.Table, network: Network | None
) -> Comparison:
    """Compare with the earlier run, and write the nodes that changed."""
    model = {} if "model" in told else {files.MODEL: file_digest(folder / files.MODEL)}
    manifest = {**told, "command": command, "results": {"rows": result.num_rows}, "files": model}
    new = Side(folder, manifest, result, None if network is None else read_state(folder))
    check_alike(since, manifest, new.judged)
    changes = compare_sides(since, new)
    write_parquet(changes.table, folder / files.CHANGES)
    return changes


def named_tables(edges: Any, nodes: Any) -> dict[str, Any]:
    """Return what the tables are called, so that the run can be opened again; a frame is called nothing."""
    return {"edges": _named(edges), "nodes": _named(nodes)}


def _named(table: Any) -> str | dict[str, str] | None:
    if isinstance(table, Mapping):
        named = {kind: str(one) for kind, one in table.items() if isinstance(one, str | Path)}
        return named if len(named) == len(table) else None
    return str(table) if isinstance(table, str | Path) else None
