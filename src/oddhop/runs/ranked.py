"""A run that ranks nodes, by a detector that is fitted or by a model: what is checked before, and what is written."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from oddhop.base.checkpoints import has_checkpoints, locked
from oddhop.base.files import file_digest
from oddhop.casebook import open_book
from oddhop.cases import store
from oddhop.cases.case import Cases
from oddhop.detector.base import GraphDetector
from oddhop.errors import MemoryBudgetError, RunFolderError, SettingsError
from oddhop.feedback import Answers
from oddhop.runs import folder as files
from oddhop.runs.answers import learned_from, read_answers, write_learned
from oddhop.runs.cases import BOOK_COLUMNS, RunCases, cases_of_run
from oddhop.runs.compare import Comparison, Side, check_alike, compare_sides
from oddhop.runs.earlier import CHECKPOINTS, check_free, earlier_run, remove_run
from oddhop.runs.log import Log
from oddhop.runs.options import Output
from oddhop.runs.reopen import write_report
from oddhop.runs.settings import RunSettings
from oddhop.runs.state import read_state, write_state
from oddhop.runs.targets import Target, target_named
from oddhop.tables.network import Network
from oddhop.tables.results import write_parquet

CheckNetwork = Callable[[Network], dict[str, Any]]


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


@dataclass(frozen=True, eq=False)
class Asked:
    """What was asked for.

    Attributes
    ----------
    command : "detect" or "score".
    detector : its name.
    tables : what the tables are called, see :func:`named_tables`.
    out : the folder.
    settings : how tables are read, and how the detector works.
    output : what is written.
    flags : whether any node is to be flagged.
    top : how many cases are flagged; None by the threshold of the detector.
    log : what receives the messages.
    """

    command: str
    detector: str
    tables: Mapping[str, Any]
    out: str | Path
    settings: RunSettings
    output: Output
    flags: bool
    top: int | None
    log: Log


@dataclass(frozen=True, eq=False)
class Ranking:
    """Nodes that were ranked.

    Attributes
    ----------
    detector, result : the detector, and its ranked table.
    network : None on a cluster, where no process holds it: there is no report then, and results are in shards.
    settings : those of the run, with the seed that was drawn.
    about : what the manifest says of the data, and of the model that was given.
    """

    detector: GraphDetector
    result: pa.Table
    network: Network | None
    settings: RunSettings
    about: Mapping[str, Any]


def ranked_run(asked: Asked, rank: Callable[[Path, CheckNetwork], Ranking]) -> Run:
    """Check what was asked for, rank the nodes, and write the folder.

    ``rank`` is given the folder of checkpoints, and what checks the network that it has read before anything is learned
    and returns what the manifest says of its data.
    """
    output, log = asked.output, asked.log
    _check_book(asked)
    target = _target(output)
    answers = None if output.answers is None else read_answers(output.answers, output.database)
    since = earlier_run(output.since, asked.out, log)

    def check(network: Network) -> dict[str, Any]:
        _check_kept(output.cases, network.kept)
        data, kinds = files.data_part(network), network.graph.kinds
        if since is not None:
            judged = "" if kinds is None else kinds.names[kinds.judged]
            check_alike(since, {"detector": asked.detector, "data": data}, judged)
        return data

    with locked(asked.out) as folder:
        if output.overwrite:
            remove_run(folder)
        checkpoints = folder / CHECKPOINTS
        done = _complete_run(folder, asked)
        if done is not None:
            shutil.rmtree(checkpoints, ignore_errors=True)  # it may have been killed at its last step
            return done
        if checkpoints.exists() and not output.resume:
            raise RunFolderError(
                f"{folder} has a run that did not end",
                "continue it with resume=True, start again with overwrite=True, or choose another folder",
                command="continue it with --resume, start again with --overwrite, or choose another folder",
            )
        if output.resume:
            tell_resumed(log, checkpoints)
        if target is not None:
            target.check()
        ranking = rank(checkpoints, check)
        run = _written(folder, asked, ranking, answers, since)
        if checkpoints.exists():
            shutil.rmtree(checkpoints)
    return run


def _written(folder: Path, asked: Asked, ranking: Ranking, answers: Answers | None, since: Side | None) -> Run:
    """Write the files of a run, and the manifest last."""
    detector, result, network, output = ranking.detector, ranking.result, ranking.network, asked.output
    cases = RunCases()
    own = {"detector": detector.name, "settings": ranking.settings.model_dump(mode="json"), "seed": detector.seed_}
    manifest: dict[str, Any] = {**own, "tables": asked.tables, **ranking.about}
    if network is not None and output.explain:
        cases, result = _cases(folder, asked, ranking, network, manifest)
    else:
        result = cases.added_to(result)
    for left in (store.FILE, files.CHANGES):  # of a run that was killed
        (folder / left).unlink(missing_ok=True)
    if network is not None:
        result = network.with_kept(result)
        write_state(folder, network)
    if cases.found is not None:
        store.write_cases(cases.found, folder)
    detector.save(folder / files.MODEL)
    manifest["cases"] = cases.told()
    changes = None
    if since is not None:
        changes = _changes(since, {**manifest, "command": asked.command}, folder, result, network)
        manifest["changes"] = {"since": since.folder.name, "sentences": list(changes.sentences)}
    if network is not None and output.explain and output.report:
        table = None if changes is None else changes.table
        write_report(folder, detector, network, result, cases.found or Cases(()), manifest, table, asked.log)
    if network is not None and answers is not None:
        write_learned(folder, learned_from(detector, network, result, answers, asked.log))
    figures = files.write_results(folder, result, in_shards=network is None) | files.ending_part(detector, result)
    figures |= cases.counts()
    target = _target(output)
    if target is not None:
        target.put(result)
    files.write_manifest(folder, asked.command, {**manifest, "results": figures})
    return Run(folder, result, figures, changes=changes, cases=cases.found)


def _cases(
    folder: Path, asked: Asked, ranking: Ranking, network: Network, manifest: Mapping[str, Any]
) -> tuple[RunCases, pa.Table]:
    output = asked.output
    ask = partial(
        cases_of_run,
        ranking.detector,
        network,
        ranking.result,
        explain=output.explain,
        top=asked.top,
        progress=asked.log.progress,
        tables=asked.tables,
    )
    try:
        if output.cases is None:
            return ask()
        with open_book(output.cases) as book:
            return ask(book=book, run=files.run_name(folder, manifest))
    except MemoryBudgetError as error:  # a network on disk may be fitted in less memory than nodes are explained in
        raise MemoryBudgetError(
            f"nodes cannot be explained and grouped into cases: {error.problem}",
            "raise max_memory, or continue with resume=True and explain=0, so that top counts nodes",
            command="raise --max-memory, or continue with --resume --explain 0, so that --top counts nodes",
        ) from None


def _changes(
    since: Side, manifest: Mapping[str, Any], folder: Path, result: pa.Table, network: Network | None
) -> Comparison:
    """Compare with the earlier run, and write the nodes that changed."""
    model = {} if "model" in manifest else {files.MODEL: file_digest(folder / files.MODEL)}
    manifest = {**manifest, "results": {"rows": result.num_rows}, "files": model}
    new = Side(folder, manifest, result, None if network is None else read_state(folder))
    check_alike(since, manifest, new.judged)
    changes = compare_sides(since, new)
    write_parquet(changes.table, folder / files.CHANGES)
    return changes


def _target(output: Output) -> Target | None:
    return target_named(output.write_to, output.write_mode, output.database)


def _complete_run(folder: Path, asked: Asked) -> Run | None:
    """Return the run of a folder that is complete; None where it is not.

    It is an error without ``resume``, and if the run was made from other tables.
    """
    if not asked.output.resume:
        check_free(folder)
    manifest = files.read_manifest(folder)
    if manifest is None:
        return None
    known = manifest.get("tables", {})
    if known != asked.tables:
        made, given = (", ".join(str(name) for name in one.values() if name) for one in (known, asked.tables))
        raise RunFolderError(
            f"{folder} has a complete run of other tables: {made or 'tables in memory'}, "
            f"and this command has {given or 'tables in memory'}",
            "choose another folder",
        )
    asked.log.say("complete", f"the run in {folder} is complete; nothing to do")
    return Run(folder, files.read_results(folder, manifest), manifest["results"], made_now=False)


def tell_resumed(log: Log, checkpoints: Path) -> None:
    """Say whether a run that is to be resumed has checkpoints."""
    if has_checkpoints(checkpoints):
        log.say("resumed", "continuing from the checkpoints of this run", folder=str(checkpoints))
    else:
        log.say(
            "nothing_resumed",
            "there is no checkpoint: nothing can be resumed, and the run starts from the beginning",
            folder=str(checkpoints),
        )


def _check_book(asked: Asked) -> None:
    """Refuse a book of cases where nothing could be written into it, before anything is done."""
    if asked.output.cases is None:
        return
    _check_kept(asked.output.cases, asked.settings.read.keep_columns)
    if not asked.output.explain:
        raise SettingsError(
            "a book of cases needs explained nodes, got explain=0",
            "leave out explain=0",
            command="leave out --explain 0",
        )
    if not asked.flags:
        raise SettingsError(
            "a book of cases takes flagged cases, and no cases are to be flagged",
            "give top or max_chance",
            command="give --top K or --max-chance 0.1",
        )


def _check_kept(cases: str | Path | None, kept: Sequence[str]) -> None:
    """Raise an error if a kept column has the name of a column of the book of cases."""
    taken = [name for name in kept if name in BOOK_COLUMNS]
    if cases is not None and taken:
        raise SettingsError(
            f"with a book of cases the results have a column {taken[0]!r}, and the node table has one too",
            "remove it from keep_columns, or rename it",
        )


def named_tables(edges: Any, nodes: Any) -> dict[str, Any]:
    """Return what the tables are called, so that the run can be opened again; a frame is called nothing."""
    return {"edges": _named(edges), "nodes": _named(nodes)}


def _named(table: Any) -> str | dict[str, str] | None:
    if isinstance(table, Mapping):
        named = {kind: str(one) for kind, one in table.items() if isinstance(one, str | Path)}
        return named if len(named) == len(table) else None
    return str(table) if isinstance(table, str | Path) else None
