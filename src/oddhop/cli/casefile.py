"""The case report of a run, and a complete run opened again to ask it more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from oddhop.cli import outcome
from oddhop.cli.console import Console
from oddhop.cli.reading import said_network
from oddhop.detector.reasons import AnyModel
from oddhop.detector.registry import load_detector
from oddhop.errors import RunFolderError
from oddhop.settings import checked_run_settings
from oddhop.tables.network import Network


@dataclass(frozen=True)
class OpenedRun:
    """A complete run: its network read again, its model, and its result by node number."""

    network: Network
    model: AnyModel
    result: pa.Table
    audit: Mapping[str, int]


def reopened(folder: Path, edges: str | None, nodes: str | None, database: str | None, console: Console) -> OpenedRun:
    """Read the tables of a run again, as it read them, and refuse others."""
    manifest = outcome.read_manifest(folder)
    if manifest is None or not manifest.get("tables", {}).get("edges"):
        raise RunFolderError(f"{folder} holds no complete run of oddhop detect; give the folder that --out named")
    tables = manifest["tables"]
    model = load_detector(folder / outcome.MODEL).model_
    settings = checked_run_settings(manifest["settings"])
    network = said_network(
        console, settings, edges or tables["edges"], nodes or tables.get("nodes"), database, model.encoding
    )
    if network.graph.fingerprint != manifest["data"].get("fingerprint"):
        raise RunFolderError(
            f"the tables are not those of the run in {folder}; give the ones it read with --edges and --nodes, "
            "or run oddhop detect on these"
        )
    result = outcome.read_results(folder, manifest)
    numbers = pc.index_in(result["id"].combine_chunks(), value_set=network.ids)
    return OpenedRun(network, model, result.set_column(0, "id", numbers), manifest.get("audit", {}))


def write_case_report(
    folder: Path,
    network: Network,
    model: AnyModel,
    result: pa.Table,
    cases: int,
    audit: Mapping[str, int],
    console: Console,
) -> Path:
    """Write the report into the folder of a run."""
    from oddhop.base.parallel import available_workers
    from oddhop.reports import case_report, write_report

    report = case_report(
        model,
        network.graph,
        result,
        title=f"A network of {network.graph.node_count:,} nodes",
        cases=cases,
        ids=network.ids,
        encoding=network.encoding,
        originals=network.originals,
        counts=network.counts,
        dropped=audit.get("dropped"),
        tied=audit.get("tied"),
        workers=model.settings.workers or available_workers(),
        progress=console.progress,
    )
    for one in report.findings:
        if one.level == "warning":
            console.say("audit", f"  audit: {one.sentence}", check=one.check, figure=one.figure)
    write_report(report, folder / outcome.REPORT)
    return folder / outcome.REPORT
