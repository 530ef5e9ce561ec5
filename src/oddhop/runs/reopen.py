"""A complete run opened again, to ask it more; and its report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from oddhop.base.checkpoints import locked
from oddhop.cases import store
from oddhop.cases.case import Cases, Technical
from oddhop.cases.nouns import nouns_of
from oddhop.cases.technical import technical
from oddhop.detector.base import GraphDetector
from oddhop.detector.registry import load
from oddhop.errors import RunFolderError
from oddhop.explain.explanation import Explanation
from oddhop.reports.build import report_of
from oddhop.reports.page import ChangesSince
from oddhop.runs import folder as files
from oddhop.runs.log import LOGGED, Log
from oddhop.runs.options import CASES
from oddhop.runs.read import read_for_run
from oddhop.runs.settings import checked_run_settings
from oddhop.tables.network import Network

MOST_CHANGES = 200


@dataclass(frozen=True, eq=False)
class OpenedRun:
    """A complete run: its network read again, its detector, its result and its cases."""

    network: Network
    detector: GraphDetector
    result: pa.Table
    manifest: Mapping[str, Any]
    cases: Cases

    def found(self, explanations: Sequence[Explanation]) -> Cases:
        """Return the cases of nodes that were explained, in the words of the run and as its book has them."""
        found = self.detector.case_finder(self.network, self.result, self.cases.nouns).find(explanations)
        known = {node.id: case for case in self.cases.cases for node in case.members if node.flagged}
        pairs = [(one, next((known[node.id] for node in one.members if node.id in known), one)) for one in found.cases]
        return replace(
            found, cases=tuple(replace(one, id=old.id, status=old.status, book=old.book) for one, old in pairs)
        )

    def of(self, why: Explanation) -> Cases:
        """Return the cases of the run that a node belongs to, or else one of its own, which has no number."""
        known = self.cases.of(why.id)
        if known.cases:
            return known
        found = self.found([why])
        return replace(found, cases=tuple(replace(one, number=0) for one in found.cases))


def reopen(
    folder: str | Path, *, edges: Any = None, nodes: Any = None, database: str | None = None, log: Log = LOGGED
) -> OpenedRun:
    """Read the tables of a run again; other tables are an error. Give ``edges`` and ``nodes`` if the files moved."""
    folder = Path(folder)
    manifest = files.read_run(folder)
    tables = manifest.get("tables", {})
    if not tables.get("edges"):
        raise RunFolderError(f"the run in {folder} does not name its tables", "run oddhop detect on files")
    detector = load(folder / files.MODEL)
    settings = checked_run_settings(manifest["settings"])
    network = read_for_run(
        log, settings, edges or tables["edges"], nodes or tables.get("nodes"), database, detector.model_.encoding
    )
    if network.graph.fingerprint != manifest["data"].get("fingerprint"):
        raise RunFolderError(
            f"the tables are not those of the run in {folder}",
            "give the tables of the run with --edges and --nodes, or run oddhop detect on these tables",
        )
    known = (folder / store.FILE).exists()  # not with explain=0
    nouns = nouns_of(network, tables.get("edges"), tables.get("nodes"))
    cases = store.read_cases(folder) if known else Cases((), nouns)
    return OpenedRun(network, detector, files.read_results(folder, manifest), manifest, cases)


def explain(
    run: str | Path,
    node: str | int,
    *,
    edges: Any = None,
    nodes: Any = None,
    database: str | None = None,
    log: Log = LOGGED,
) -> tuple[Cases, Technical]:
    """Return the cases of one node of a complete run, and the figures behind its score.

    If the run explained the node, both are as its cases have them. Otherwise the tables are read again.
    """
    kept = _kept(Path(run), str(node))
    if kept is not None:
        return kept
    opened = reopen(run, edges=edges, nodes=nodes, database=database, log=log)
    why = opened.detector.explain(node, opened.network, result=opened.result, progress=log.progress)
    return opened.of(why), technical(opened.cases.nouns, why)


def _kept(folder: Path, node: str) -> tuple[Cases, Technical] | None:
    """Return what a run kept of a node that it explained, without its tables; None where it did not."""
    manifest = files.read_run(folder)
    if store.FILE not in manifest["files"]:  # with explain=0
        return None
    files.check_file(folder, manifest, store.FILE)
    cases = store.read_cases(folder)
    figures = (one for case in cases.cases for one in case.technical if str(one.id) == node)
    return next(((cases.of(one.id), one) for one in figures), None)


def write_report(
    folder: Path,
    detector: GraphDetector,
    network: Network,
    result: pa.Table,
    cases: Cases,
    manifest: Mapping[str, Any],
    changed: pa.Table | None,
    log: Log,
) -> None:
    """Write the report into the folder of a run, and tell the warnings of its audit.

    What changed is in the manifest; ``changed`` is the table of the nodes that did.
    """
    changes = None
    if changed is not None:
        rows = changed.slice(0, MOST_CHANGES).select(["what", "id", "rank_then", "rank_now", "why"]).to_pylist()
        said = manifest["changes"]
        changes = ChangesSince(said["since"], tuple(said["sentences"]), tuple(tuple(row.values()) for row in rows))
    page = report_of(detector, network, result, cases, changes=changes)
    for one in page.findings:
        if one.level == "warning" or one.always:
            log.say("audit", one.sentence, check=one.check, figure=one.figure)
    page.write(folder / files.REPORT)


def report(
    run: str | Path,
    *,
    explain: int | None = None,
    edges: Any = None,
    nodes: Any = None,
    database: str | None = None,
    log: Log = LOGGED,
) -> Path:
    """Write the report of a complete run again, and seal the folder with it.

    It shows the cases of the run, or those of the first ``explain`` nodes.
    """
    with locked(run) as folder:
        opened = reopen(folder, edges=edges, nodes=nodes, database=database, log=log)
        result, network = opened.result, opened.network
        cases = opened.cases
        if explain is not None or not cases.cases:
            first = network.numbers(
                result.filter(result["judged"])["id"].slice(0, CASES if explain is None else explain)
            )
            explained = list(opened.detector.explain_nodes(network, result, first, progress=log.progress))
            cases = opened.found(explained)
        changed = None
        if files.CHANGES in opened.manifest["files"]:
            files.check_file(folder, opened.manifest, files.CHANGES)
            changed = pq.read_table(folder / files.CHANGES)
        write_report(folder, opened.detector, network, result, cases, opened.manifest, changed, log)
        files.sealed_again(folder, files.REPORT)
        return folder / files.REPORT
