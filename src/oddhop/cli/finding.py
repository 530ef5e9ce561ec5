"""Where a detector is fitted: in this process, or on a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from oddhop.cli import outcome
from oddhop.cli.casefile import write_case_report
from oddhop.cli.console import Console
from oddhop.cli.reading import left_out, said_network
from oddhop.detector.registry import detector_named
from oddhop.errors import SettingsError
from oddhop.graph.disk import is_stored, open_stored
from oddhop.odd.detector import Odd
from oddhop.settings import HCMSettings, RunSettings
from oddhop.tables.encode import Encoding
from oddhop.tables.network import describe


@dataclass(frozen=True, eq=False)
class Finding:
    """A fitted detector, the ids of the nodes, and what the manifest tells of the data."""

    fitted: Any
    ids: pa.Array
    encoding: Encoding
    data: dict[str, Any]
    audit: dict[str, int]


def find_here(
    console: Console,
    settings: RunSettings,
    name: str,
    tables: tuple[str, str | None, str | None],
    folder: Path,
    checkpoints: Path,
    *,
    resume: bool,
    cases: int,
) -> Finding:
    """Read tables or open a folder, fit the detector, and write the case report where cases are asked for."""
    network = said_network(console, settings, *tables)
    fitted = detector_named(name)(**getattr(settings, name).model_dump()).fit(
        network.graph, run_folder=checkpoints, resume=resume, progress=console.progress
    )
    audit = {}
    if not isinstance(fitted, Odd):
        audit = {"dropped": fitted.diagnostics_.dropped, "tied": fitted.diagnostics_.tied}
    if cases:
        write_case_report(folder, network, fitted.model_, fitted.result_, cases, audit, console)
    return Finding(fitted, network.ids, network.encoding, outcome.data_part(network), audit)


def find_on_cluster(
    console: Console, settings: HCMSettings, graph: str, address: str | None, checkpoints: Path, *, resume: bool
) -> Finding:
    """Fit HCM on the partitions of a network on disk; of it this process reads ids and degrees."""
    from oddhop.base.ray import cluster
    from oddhop.hcm.detector import HCM
    from oddhop.hcm.partitioned.detector import fit_stored

    if not is_stored(graph):
        raise SettingsError(
            f"a cluster works on a network in partitions, and {graph} is none; make one: oddhop ingest EDGES ... --out"
        )
    stored = open_stored(graph)
    manifest, known = stored.manifest, describe(stored, texts=False)
    console.say(
        "read",
        f"{manifest.nodes:,} nodes, {manifest.edges:,} edges, {len(manifest.attribute_names):,} attributes in "
        f"{stored.partitions:,} partitions",
        nodes=manifest.nodes,
        edges=manifest.edges,
        partitions=stored.partitions,
    )
    for text in left_out(known.counts):
        console.say("left_out", f"  {text}", what=text)
    with cluster(address) as mapper:
        detector = HCM(**settings.model_dump())
        fitted = fit_stored(
            detector, graph, mapper=mapper, run_folder=checkpoints, resume=resume, progress=console.progress
        )
    data = outcome.stored_part(stored, known, fitted.model_.fingerprint)
    audit = {"dropped": fitted.diagnostics_.dropped, "tied": fitted.diagnostics_.tied}
    return Finding(fitted, known.ids, known.encoding, data, audit)
