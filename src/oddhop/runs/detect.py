"""``detect``: from two tables to a folder with a ranked one, resumable."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from oddhop.base.checkpoints import has_checkpoints, locked
from oddhop.detector.base import GraphDetector
from oddhop.detector.registry import detector_named
from oddhop.errors import RunFolderError, SettingsError
from oddhop.graph.disk import is_stored, open_stored
from oddhop.reports.build import CASES
from oddhop.runs import folder as files
from oddhop.runs.answers import read_answers
from oddhop.runs.cases import BOOK_COLUMNS
from oddhop.runs.compare import Side, check_alike
from oddhop.runs.earlier import CHECKPOINTS, earlier_run, remove_run
from oddhop.runs.finish import Destination, Run, finish_run, named_tables
from oddhop.runs.log import LOGGED, Log
from oddhop.runs.read import left_out, read_for_run
from oddhop.runs.settings import RunSettings, run_settings
from oddhop.runs.targets import WriteMode, target_named
from oddhop.tables.network import Network, describe


def detect(
    edges: Any,
    nodes: Any = None,
    *,
    out: str | Path,
    detector: str = "odd",
    top: int | None = None,
    max_chance: float | None = None,
    seed: int | None = None,
    workers: int | None = None,
    max_memory: int | str | None = None,
    settings: RunSettings | Mapping[str, Any] | None = None,
    database: str | None = None,
    write_to: str | None = None,
    write_mode: WriteMode = "create",
    engine: Literal["local", "ray"] = "local",
    address: str | None = None,
    resume: bool = False,
    overwrite: bool = False,
    explain: int = CASES,
    report: bool = True,
    cases: str | Path | None = None,
    since: str | Path | None = None,
    answers: Any = None,
    log: Log = LOGGED,
) -> Run:
    r"""Find the anomalous nodes of a network, and write the results, the report and a manifest to a folder.

    Parameters
    ----------
    edges, nodes : tables, see :func:`oddhop.read_network`; or a folder made by ``oddhop ingest`` as ``edges``. With
        ``database`` a text that begins with SELECT is a query.
    out : the folder of the run. A killed run goes on with ``resume=True`` to the same bytes; ``overwrite=True`` removes
        an earlier run of oddhop first, and nothing else.
    detector : its name in the registry.
    top, max_chance, seed, workers, max_memory : the options ``--top``, ``--max-chance``, ``--seed``, ``--workers`` and
        ``--max-memory`` of the command.
    settings : all others, by section, such as ``{"read": {"source": "payer"}, "odd": {"n_resamples": 50}}``; see
        :func:`~oddhop.runs.settings.checked_run_settings`.
    write_to, write_mode : what takes the results as well: a table of the database, ``s3://bucket/key.parquet`` or
        ``.csv``, or ``-``, standard output as CSV. The mode says what becomes of one that exists.
    engine, address : "ray" runs on a cluster, for detectors that run over partitions.
    explain : how many nodes are explained and grouped into cases. With 0 there is no report, and ``top`` counts
        nodes, not cases.
    report : whether to write the report. The same nodes are flagged without it.
    cases : a book of cases, see :func:`~oddhop.casebook.open_book`: flagged cases are opened in it, and those that were
        cleared and have not changed are hidden.
    since : the folder of an earlier run to compare with, see :func:`~oddhop.runs.compare`; what changed is written
        as ``changes.parquet``. With "last" it is the latest complete run beside ``out``, if there is one.
    answers : what was answered so far, see :func:`~oddhop.runs.answers.read_answers`; the learned ranking is written as
        ``learned.parquet`` and ``.csv`` beside the original one, and the next questions as ``questions.csv``.
    log : whom to tell, see :class:`~oddhop.runs.log.Log`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from oddhop.runs import detect
    >>> with tempfile.TemporaryDirectory() as home:
    ...     edges, nodes = Path(home, "edges.csv"), Path(home, "nodes.csv")
    ...     _ = edges.write_text("from,to\na,b\nb,c\nc,d\na,d\na,c\n")
    ...     _ = nodes.write_text("name,age\na,31\nb,25\nc,40\nd,33\n")
    ...     run = detect(str(edges), str(nodes), out=Path(home, "run"))
    ...     sorted(file.name for file in run.folder.glob("*.*"))
    ['.lock', 'cases.json', 'manifest.json', 'model.oddhop', 'report.html', 'results.csv', 'results.parquet',
     'state.parquet']
    """
    words = {"top": top, "max_chance": max_chance, "seed": seed, "workers": workers, "max_memory": max_memory}
    settings = run_settings(settings, detector, words)
    on_cluster = engine == "ray"
    if on_cluster and not (detector_named(detector).runs_on_partitions and nodes is None):
        raise SettingsError(
            f"--engine ray needs the detector odd or hcm and a folder made by oddhop ingest, got --detector {detector}"
            + ("" if nodes is None else " and a node table"),
            "give only the folder and one of these detectors, or leave out --engine",
        )
    check_book(cases, explain, flags=settings.of(detector).flags, kept=settings.read.keep_columns)
    if cases is not None and on_cluster:
        raise SettingsError("a run on a cluster does not write a book of cases", "leave out --cases")
    target = target_named(write_to, write_mode, database)
    told = None if answers is None else read_answers(answers, database)
    earlier = earlier_run(since, out, log)
    with locked(out) as folder:
        if overwrite:
            remove_run(folder)
        checkpoints = folder / CHECKPOINTS
        done = complete_run(folder, log, named_tables(edges, nodes), resume=resume)
        if done is not None:
            shutil.rmtree(checkpoints, ignore_errors=True)  # it may have been killed at its last step
            return done
        if checkpoints.exists() and not resume:
            raise RunFolderError(
                f"{folder} has a run that did not end",
                "continue it with resume=True, start again with overwrite=True, or choose another folder",
                command="continue it with --resume, start again with --overwrite, or choose another folder",
            )
        if resume:
            tell_resumed(log, checkpoints)
        if target is not None:
            target.check()
        fitter = detector_named(detector).of(settings.of(detector))
        network = None
        if on_cluster:
            data = _fit_on_cluster(fitter, str(edges), address, checkpoints, resume=resume, log=log)
        else:
            network = read_for_run(log, settings, edges, nodes, database)
            check_kept(cases, network.kept)
            data = files.data_part(network)
            if earlier is not None:
                check_early(earlier, detector, data, network)
            fitter.fit(network, run_folder=checkpoints, resume=resume, progress=log.progress)
        settings = settings.with_random_state(detector, fitter.model_.settings.random_state)
        run = finish_run(
            "detect",
            fitter,
            fitter.result_,
            network,
            Destination(folder, target, explain, report, settings.of(detector).top_k, cases, told),
            settings,
            {"tables": named_tables(edges, nodes), "data": data},
            log,
            earlier,
        )
        shutil.rmtree(checkpoints)
    return run


def complete_run(folder: Path, log: Log, tables: Mapping[str, Any], *, resume: bool) -> Run | None:
    """Return the run of a folder that is complete; None where it is not.

    It is an error without ``resume``, and if the run was made from other tables.
    """
    manifest = files.read_manifest(folder)
    if manifest is None:
        return None
    if not resume:
        raise RunFolderError(
            f"{folder} already has a complete run",
            "choose another folder, or replace the run with overwrite=True",
            command="choose another folder, or replace the run with --overwrite",
        )
    known = manifest.get("tables", {})
    if known != tables:
        made, given = (", ".join(str(name) for name in one.values() if name) for one in (known, tables))
        raise RunFolderError(
            f"{folder} has a complete run of other tables: {made or 'tables in memory'}, "
            f"and this command has {given or 'tables in memory'}",
            "choose another folder",
        )
    log.say("complete", f"the run in {folder} is complete; nothing to do")
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


def check_book(cases: str | Path | None, explain: int, *, flags: bool, kept: Sequence[str]) -> None:
    """Refuse a book of cases where nothing could be written into it, before anything is done."""
    if cases is None:
        return
    check_kept(cases, kept)
    if not explain:
        raise SettingsError(
            "a book of cases needs explained nodes, got explain=0",
            "leave out explain=0",
            command="leave out --explain 0",
        )
    if not flags:
        raise SettingsError(
            "a book of cases takes flagged cases, and no cases are to be flagged",
            "give top or max_chance",
            command="give --top K or --max-chance 0.1",
        )


def check_kept(cases: str | Path | None, kept: Sequence[str]) -> None:
    """Raise an error if a kept column has the name of a column of the book of cases."""
    taken = [name for name in kept if name in BOOK_COLUMNS]
    if cases is not None and taken:
        raise SettingsError(
            f"with a book of cases the results have a column {taken[0]!r}, and the node table has one too",
            "remove it from keep_columns, or rename it",
        )


def check_early(since: Side, detector: str, data: dict[str, Any], network: Network) -> None:
    """Refuse to compare with a run that is not alike, before anything is learned."""
    kinds = network.graph.kinds
    judged = "" if kinds is None else kinds.names[kinds.judged]
    check_alike(since, {"detector": detector, "data": data}, judged)


def _fit_on_cluster(
    detector: GraphDetector, graph: str, address: str | None, checkpoints: Path, *, resume: bool, log: Log
) -> dict[str, Any]:
    """Fit on the partitions of a network on disk; of it this process reads ids and degrees."""
    from oddhop.base.ray import cluster

    if not is_stored(graph):
        raise SettingsError(
            f"a cluster needs a network in partitions, and {graph} is not one",
            "make one: oddhop ingest EDGES ... --out",
        )
    stored = open_stored(graph)
    manifest, known = stored.manifest, describe(stored, texts=False)
    log.say(
        "read",
        f"{manifest.nodes:,} nodes, {manifest.edges:,} edges, {len(manifest.attribute_names):,} attributes in "
        f"{stored.partitions:,} partitions",
        nodes=manifest.nodes,
        edges=manifest.edges,
        partitions=stored.partitions,
    )
    both_ways = manifest.edges - manifest.repairs["one_way"]
    left = left_out(known.counts, events=manifest.events is not None, both_ways=both_ways)
    for text in (*known.roles.told(stored.events()), *(text for _, text in left)):
        log.say("left_out", f"  {text}", what=text)
    if manifest.settings["read"].get("keep_columns"):
        log.say("kept", "  a run on a cluster does not copy the columns of --keep-columns")
    with cluster(address) as mapper:
        detector.fit_partitions(graph, mapper=mapper, run_folder=checkpoints, resume=resume, progress=log.progress)
    return files.stored_part(stored, known, detector.model_.fingerprint)
