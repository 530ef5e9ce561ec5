"""``oddhop report``: the case report of a run, again or with more cases."""

from __future__ import annotations

from oddhop.cli import options as o
from oddhop.cli.console import Console, LogFormat


@o.guarded
def report(
    run: o.RunFolderPath,
    cases: o.Cases = o.CASES,
    edges: o.EdgesNow = None,
    nodes: o.NodesNow = None,
    database: o.Database = None,
    log_format: o.Log = LogFormat.auto,
    debug: o.Debug = False,  # noqa: ARG001 - read by the guard
) -> None:
    """Write the case report of a run: one HTML file with the oddest nodes and why they are odd.

    Example:

        oddhop report run --cases 1000
    """
    from oddhop.base.checkpoints import locked
    from oddhop.cli.casefile import reopened, write_case_report
    from oddhop.cli.outcome import REPORT, sealed_again

    console = Console(log_format)
    with locked(run) as folder:
        with console.working():
            opened = reopened(folder, edges, nodes, database, console)
            path = write_case_report(folder, opened.network, opened.model, opened.result, cases, opened.audit, console)
        sealed_again(folder, REPORT)
    console.say("done", f"the report is in {path}", file=str(path))
