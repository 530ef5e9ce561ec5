"""``oddhop detect``: from two tables to a ranked one, in one command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from oddhop.cli import options as o
from oddhop.cli.console import Console, LogFormat


@o.guarded
@o.takes_settings()
def detect(
    edges: o.Edges,
    nodes: o.Nodes = None,
    out: Annotated[Path, typer.Option("--out", help="Write the results to this folder.", show_default=False)] = ...,  # type: ignore[assignment]
    detector: o.DetectorName = "odd",
    *,
    read: o.Chosen,
    learn: o.Chosen,
    database: o.Database = None,
    write_to: o.WriteTo = None,
    write_mode: o.Mode = o.WriteMode.create,
    settings: o.SettingsFile = None,
    assignments: o.Assignments = None,
    engine: o.EngineName = o.Engine.local,
    address: o.Address = None,
    resume: o.Resume = False,
    report: o.WithReport = True,
    explain: o.Explain = o.EXPLAINED,
    cases: o.Book = None,
    earlier: o.Since = None,
    answers: o.Answers = None,
    log_format: o.Log = LogFormat.auto,
    debug: o.Debug = False,  # noqa: ARG001 - read by the guard
) -> None:
    """Find the anomalous nodes of a network and write a ranked table and a report.

    Example:

        oddhop detect edges.csv --nodes nodes.csv --out run --top 20
    """
    from oddhop import runs
    from oddhop.cli.settings import gathered, named_nodes
    from oddhop.cli.summary import tell

    chosen = gathered(settings, assignments or [], read=read, detector=detector, learn=learn)
    console = Console(log_format)
    with console.working():
        run = runs.detect(
            edges,
            named_nodes(nodes),
            out=out,
            detector=detector,
            settings=chosen,
            database=database,
            write_to=write_to,
            write_mode=write_mode.value,
            engine=engine.value,
            address=address,
            resume=resume,
            explain=explain,
            report=report,
            cases=cases,
            since=earlier,
            answers=answers,
            log=console,
        )
    tell(console, run, chosen.of(detector).top_k, budgeted=chosen.of(detector).flags, listed=write_to != "-")
