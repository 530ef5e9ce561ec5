"""``oddhop report``: the case report of a run, again or with more cases."""

from __future__ import annotations

from oddhop.cli import options as o
from oddhop.cli.console import Console, LogFormat


@o.guarded
def report(
    run: o.RunFolderPath,
    explain: o.InReport = o.EXPLAINED,
    edges: o.EdgesNow = None,
    nodes: o.NodesNow = None,
    database: o.Database = None,
    log_format: o.Log = LogFormat.auto,
    debug: o.Debug = False,  # noqa: ARG001 - read by the guard
) -> None:
    """Write an HTML report that explains the top-ranked nodes of a run.

    Example:

        oddhop report run --explain 1000
    """
    from oddhop.cli.settings import named_nodes
    from oddhop.runs.reopen import report_again

    console = Console(log_format)
    with console.working():
        where = named_nodes(nodes)
        path = report_again(run, explain=explain, edges=edges, nodes=where, database=database, log=console)
    console.say("done", f"report: {path}", file=str(path))
