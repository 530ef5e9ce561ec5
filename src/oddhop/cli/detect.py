"""``oddhop detect``: from two tables to a ranked one, in one command."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from oddhop.cli import options as o
from oddhop.cli.console import Console, LogFormat

CHECKPOINTS = "checkpoints"


@o.guarded
def detect(
    edges: o.Edges,
    nodes: o.Nodes = None,
    out: Annotated[Path, typer.Option("--out", help="The folder of the run.", show_default=False)] = ...,  # type: ignore[assignment]
    top: o.Top = None,
    detector: o.DetectorName = o.Detector.odd,
    source: o.Source = None,
    target: o.Target = None,
    id: o.Id = None,  # noqa: A002 - the name of the option
    strict: o.Strict = False,
    database: o.Database = None,
    write_to: o.WriteTo = None,
    write_mode: o.Mode = o.WriteMode.create,
    settings: o.SettingsFile = None,
    assignments: o.Assignments = None,
    seed: o.Seed = None,
    workers: o.Workers = None,
    max_memory: o.MaxMemory = None,
    engine: o.EngineName = o.Engine.local,
    address: o.Address = None,
    resume: o.Resume = False,
    report: o.WithReport = True,
    cases: o.Cases = o.CASES,
    log_format: o.Log = LogFormat.auto,
    debug: o.Debug = False,  # noqa: ARG001 - read by the guard
) -> None:
    """Find the odd nodes of a network: read, learn, score, and write a ranked table.

    Example:

        oddhop detect edges.csv --nodes nodes.csv --out run --top 20
    """
    from oddhop.base.checkpoints import locked
    from oddhop.cli import outcome
    from oddhop.cli.choices import gathered, in_bytes
    from oddhop.cli.finding import find_here, find_on_cluster
    from oddhop.errors import RunFolderError, SettingsError
    from oddhop.tables.network import with_ids

    read = {"source": source, "target": target, "id": id, "strict": strict or None}
    learn = {"top_k": top, "random_state": seed, "workers": workers, "max_memory": in_bytes(max_memory)}
    chosen = gathered(settings, assignments or [], read=read, detector=detector.value, learn=learn)
    o.check_database(write_to, database)
    mine = getattr(chosen, detector.value)
    on_cluster = engine is o.Engine.ray
    if on_cluster and (detector is not o.Detector.hcm or nodes is not None):
        raise SettingsError(
            f"--engine ray runs hcm on a folder made by oddhop ingest; got --detector {detector.value}"
            + ("" if nodes is None else " and a node table")
            + "; say --detector hcm and the folder alone, or leave --engine out"
        )
    console = Console(log_format)
    with locked(out) as folder:
        begun = (folder / CHECKPOINTS).exists()
        if outcome.read_manifest(folder) is not None:
            if resume:
                shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)  # it may have been killed at its last step
                console.say("complete", f"the run in {folder} is complete; nothing to do")
                return
            raise RunFolderError(f"{folder} already holds a complete run; choose another folder")
        if begun and not resume:
            raise RunFolderError(f"{folder} holds a run that did not end; go on with --resume or choose another folder")
        with console.working():
            checkpoints = folder / CHECKPOINTS
            if on_cluster:
                found = find_on_cluster(console, chosen.hcm, edges, address, checkpoints, resume=resume)
            else:
                tables, shown = (edges, nodes, database), cases if report else 0
                found = find_here(
                    console, chosen, detector.value, tables, folder, checkpoints, resume=resume, cases=shown
                )
        fitted, result = found.fitted, with_ids(found.fitted.result_, found.ids)
        figures = outcome.write_results(folder, result, in_shards=on_cluster)
        fitted.save(folder / outcome.MODEL, encoding=found.encoding)
        o.put_back(result, write_to, write_mode, database)
        figures["threshold"] = None if fitted.threshold_ == float("inf") else fitted.threshold_
        parts = {
            "detector": detector.value,
            "settings": chosen.model_dump(mode="json"),
            "seed": fitted.seed_,
            "tables": {"edges": edges, "nodes": nodes},
            "data": found.data,
            "audit": found.audit,
            "results": figures,
        }
        outcome.write_manifest(folder, "detect", parts)
        shutil.rmtree(folder / CHECKPOINTS)
    outcome.show_top(result, mine.top_k)
    outcome.say_where(console, folder, figures, fitted.threshold_)
