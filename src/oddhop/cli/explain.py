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
    console: Console,
) -> None:
    """Explain why a node has a high or a low score.

    The command prints the neighbours and columns that make the node unusual, and changes that would lower its score.

    Example:

        oddhop explain run p17
    """
    from dataclasses import asdict

    from oddhop import runs

    with console.working():
        why = runs.explain(run, node, **where.named(), log=console)
    if as_json:
        echo(json.dumps({**asdict(why), "sentences": why.sentences}, indent=1))
        return
    kind = f"{why.kind}, " if why.kind else ""
    echo(f"{why.id}: {kind}score {why.score:.3f}, alert threshold {why.baseline.threshold:.3f}")
    for sentence in why.sentences:
        tell_sentence(f"  {sentence}")
    for one in why.columns:
        tell_sentence(f"  {one.effect:+.2f}  {one.sentence}")
