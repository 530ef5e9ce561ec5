"""``oddhop learn``: a run ranked again by answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from oddhop.cli import options as o
from oddhop.cli.console import Console, LogFormat, echo


@o.guarded
def learn(
    run: o.RunFolderPath,
    answers: o.Answers = ...,  # type: ignore[assignment]
    out: Annotated[Path, typer.Option("--out", help="Write the results to this folder.", show_default=False)] = ...,  # type: ignore[assignment]
    questions: Annotated[int, typer.Option("--questions", min=1, help="Suggest this many nodes to answer next.")] = 20,
    edges: o.EdgesNow = None,
    nodes: o.NodesNow = None,
    database: o.Database = None,
    log_format: o.Log = LogFormat.auto,
    debug: o.Debug = False,  # noqa: ARG001 - read by the guard
) -> None:
    """Re-rank the nodes of a run by your answers, and suggest the nodes to answer next.

    Example:

        oddhop learn run --answers answers.csv --out learned
    """
    from oddhop.cli.settings import named_nodes
    from oddhop.runs import learn as learn_run

    console = Console(log_format)
    with console.working():
        where = named_nodes(nodes)
        found = learn_run(
            run, answers, out=out, questions=questions, edges=edges, nodes=where, database=database, log=console
        )
    for one in found.questions[:10]:
        echo(f"{one.id}: rank {one.rank:,}, label-free rank {one.rank_label_free:,}. {one.why}")
    console.say("done", f"learned ranking and next questions: {found.folder}", folder=str(found.folder))
