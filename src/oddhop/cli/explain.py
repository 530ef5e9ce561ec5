"""``oddhop explain``: the case of one node of a run, and the figures behind its score."""

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
        bool, typer.Option("--json", help="Print the cases and all figures as JSON.", rich_help_panel=o.TELLING)
    ] = False,
    *,
    where: o.TablesNow,
    source: o.Chosen,
    console: Console,
) -> None:
    """Show the cases of a node, and the figures behind its score.

    The command prints what happened, who belongs to the case and what is usual, and then the p-values of the node and
    how it differs from those it is linked to. The tables are read again only if the run did not explain the node.

    Example:

        oddhop explain run p17
    """
    from dataclasses import asdict

    from oddhop import runs
    from oddhop.cli.summary import lines_of, lines_of_figures

    with console.working():
        cases, figures = runs.explain(run, node, log=console, **where.named(), **source)
    if as_json:
        views = [dict(zip(("name", "p", "part"), one, strict=True)) for one in figures.views]
        known = {**asdict(figures), "views": views, "cases": [asdict(one) for one in cases.cases]}
        echo(json.dumps(known, indent=1))
        return
    for case in cases.cases:
        for line in lines_of(case, cases.nouns):
            tell_sentence(line)
    for line in lines_of_figures(figures, cases):
        tell_sentence(line)
