"""``oddhop detect``: from two tables to a ranked one, in one command."""

from __future__ import annotations

from oddhop.cli import options as o
from oddhop.cli.console import Console


@o.command()
def detect(
    edges: o.Edges,
    nodes: o.Nodes = None,
    out: o.Out = ...,  # type: ignore[assignment]
    detector: o.DetectorName = "odd",
    *,
    read: o.Chosen,
    learn: o.Chosen,
    output: o.Chosen,
    console: Console,
    settings: o.SettingsFile = None,
    assignments: o.Assignments = None,
    cluster: o.Chosen,
) -> None:
    """Find the anomalous nodes of a network and write a ranked table and a report.

    Example:

        oddhop detect edges.csv --nodes nodes.csv --out run --top 20
    """
    from oddhop import runs
    from oddhop.cli.settings import gathered, named_nodes
    from oddhop.cli.summary import tell

    chosen = gathered(settings, assignments or [], read=read, detector=detector, learn=learn)
    with console.working():
        run = runs.detect(
            edges,
            named_nodes(nodes),
            out=out,
            detector=detector,
            settings=chosen,
            log=console,
            **output,
            **cluster,
        )
    listed = output.get("write_to") != "-"
    tell(console, run, chosen.of(detector).top_k, budgeted=chosen.of(detector).flags, listed=listed)
