"""``oddhop learn``: a run ranked again by answers."""

from __future__ import annotations

from typing import Annotated

import typer

from oddhop.cli import options as o
from oddhop.cli.console import Console, echo, tell_sentence

SHOWN = 10


@o.command()
def learn(
    run: o.RunFolderPath,
    out: o.Out = ...,  # type: ignore[assignment]
    questions: Annotated[
        int, typer.Option("--questions", min=1, help="Number of nodes to suggest for the next review.")
    ] = 20,
    *,
    answering: o.Chosen,
    where: o.TablesNow,
    source: o.Chosen,
    console: Console,
) -> None:
    """Re-rank the nodes of a run according to your answers, and suggest nodes to review.

    The command prints the first ten nodes of the new ranking, with the reason for each that you should review next.

    Example:

        oddhop learn run --answers answers.csv --out learned
    """
    from oddhop import runs

    with console.working():
        found = runs.learn(run, out=out, questions=questions, log=console, **answering, **where.named(), **source)
    first = found.result.filter(found.result["judged"]).slice(0, SHOWN).to_pylist()
    reasons = {one.id: f". {one.why}" for one in found.questions}
    echo(f"First {len(first)} nodes of the new ranking:")
    for row in first:
        place = f"rank {row['rank']:,}, before {row['rank_label_free']:,}"
        tell_sentence(f"  {row['id']}: {place}{reasons.get(row['id'], '')}")
    count = f"{len(found.questions):,} nodes to answer next, questions.csv"
    console.say("done", f"learned ranking, and {count}: {found.folder}", folder=str(found.folder))
