"""``oddhop explain``: why one node of a run has its score."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from oddhop.cli import options as o
from oddhop.cli.console import Console, echo, tell_sentence


@o.command()
def explain(
    run: o.RunFolderPath,
    node: Annotated[str, typer.Argument(help="Id of the node to explain.", show_default=False)],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the full explanation as JSON.", rich_help_panel=o.TELLING)
    ] = False,
    *,
    where: o.TablesNow,
    source: o.Chosen,
    console: Console,
) -> None:
    """Show the cases of a node, and explain its score.

    The command prints what happened, who belongs to the case and what is usual, and then why the node has its score.

    Example:

        oddhop explain run p17
    """
    from dataclasses import asdict

    from oddhop import runs
    from oddhop.cli.summary import lines_of

    with console.working():
        cases, why = runs.explain(run, node, log=console, **where.named(), **source)
    if as_json:
        told = {**asdict(why), "sentences": why.sentences, "cases": [asdict(one) for one in cases.cases]}
        echo(json.dumps(told, indent=1))
        return
    for case in cases.cases:
        for line in lines_of(case, cases.nouns):
            tell_sentence(line)
    kind = f"{why.kind}, " if why.kind else ""
    echo(f"{why.id}: {kind}score {why.score:.3f}, alert threshold {why.baseline.threshold:.3f}")
    for sentence in why.sentences:
        tell_sentence(f"  {sentence}")
    for one in why.columns:
        tell_sentence(f"  {one.effect:+.2f}  {one.sentence}")
