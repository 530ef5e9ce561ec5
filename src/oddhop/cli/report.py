"""``oddhop report``: the case report of a run, again or with more cases."""

from __future__ import annotations

from oddhop.cli import options as o
from oddhop.cli.console import Console


@o.command()
def report(
    run: o.RunFolderPath, explain: o.InReport = None, *, where: o.TablesNow, source: o.Chosen, console: Console
) -> None:
    """Write the HTML report of a run again, with its cases or with those of more nodes.

    Example:

        oddhop report run --explain 1000
    """
    from oddhop import runs

    with console.working():
        path = runs.report(run, explain=explain, log=console, **where.named(), **source)
    console.say("done", f"report: {path}", file=str(path))
