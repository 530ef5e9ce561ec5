"""A complete run opened again, to ask it more; and its report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from oddhop.base.checkpoints import locked
from oddhop.detector.base import GraphDetector
from oddhop.detector.registry import load
from oddhop.errors import RunFolderError
from oddhop.reports import CaseReport, report
from oddhop.reports.build import CASES
from oddhop.runs import folder as files
from oddhop.runs.log import QUIET, Log
from oddhop.runs.read import read_for_run
from oddhop.runs.settings import checked_run_settings
from oddhop.tables.network import Network


@dataclass(frozen=True, eq=False)
class OpenedRun:
    """A complete run: its network read again, its detector, and its result."""

    network: Network
    detector: GraphDetector
    result: pa.Table


def reopen(
    folder: str | Path, *, edges: Any = None, nodes: Any = None, database: str | None = None, log: Log = QUIET
) -> OpenedRun:
    """Read the tables of a run again, as it read them, and refuse others; ``edges`` and ``nodes`` where they moved."""
    folder = Path(folder)
    manifest = files.read_manifest(folder)
    if manifest is None or not manifest.get("tables", {}).get("edges"):
        raise RunFolderError(f"{folder} holds no complete run of oddhop detect", "give the folder that --out named")
    tables = manifest["tables"]
    detector = load(folder / files.MODEL)
    settings = checked_run_settings(manifest["settings"])
    network = read_for_run(
        log, settings, edges or tables["edges"], nodes or tables.get("nodes"), database, detector.model_.encoding
    )
    if network.graph.fingerprint != manifest["data"].get("fingerprint"):
        raise RunFolderError(
            f"the tables are not those of the run in {folder}",
            "give the ones it read with --edges and --nodes, or run oddhop detect on these",
        )
    return OpenedRun(network, detector, files.read_results(folder, manifest))


def write_report(
    folder: Path, detector: GraphDetector, network: Network, result: pa.Table, *, cases: int, log: Log
) -> CaseReport:
    """Write the report into the folder of a run, tell the warnings of its audit, and return it."""
    page = report(detector, network, result, cases=cases, progress=log.progress)
    for one in page.findings:
        if one.level == "warning":
            log.say("audit", f"  audit: {one.sentence}", check=one.check, figure=one.figure)
    page.write(folder / files.REPORT)
    return page


def report_again(
    run: str | Path,
    *,
    cases: int = CASES,
    edges: Any = None,
    nodes: Any = None,
    database: str | None = None,
    log: Log = QUIET,
) -> Path:
    """Write the report of a complete run again, with more or fewer cases, and seal the folder with it."""
    with locked(run) as folder:
        opened = reopen(folder, edges=edges, nodes=nodes, database=database, log=log)
        write_report(folder, opened.detector, opened.network, opened.result, cases=cases, log=log)
        files.sealed_again(folder, files.REPORT)
        return folder / files.REPORT
