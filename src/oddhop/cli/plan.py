"""``oddhop plan``: what would be read, and what a run would take. Nothing is learned."""

from __future__ import annotations

import typer

from oddhop.base.sizes import sized
from oddhop.cli import options as o
from oddhop.cli.console import Console


@o.command("workers", "max_memory")
def plan(
    edges: o.Edges,
    nodes: o.Nodes = None,
    detector: o.DetectorName = "odd",
    *,
    read: o.Chosen,
    learn: o.Chosen,
    source: o.Chosen,
    settings: o.SettingsFile = None,
    assignments: o.Assignments = None,
    console: Console,
) -> None:
    """Estimate the memory that a run needs.

    The command reads the tables but does not fit a detector.

    Example:

        oddhop plan edges.csv --nodes nodes.csv
    """
    from oddhop import runs
    from oddhop.cli.settings import gathered, named_nodes

    chosen = gathered(settings, assignments or [], read=read, detector=detector, learn=learn)
    console.verbose = True  # how the columns are read is what is asked for
    with console.working():
        found = runs.plan(edges, named_nodes(nodes), detector=detector, settings=chosen, log=console, **source)
    typer.echo("Estimated memory of a run:")
    for stage, need in found.memory.items():
        typer.echo(f"  {stage:<12} {sized(need):>9}")
    room = "" if found.available is None else f" of {sized(found.available)} available"
    typer.echo(f"total: at most {sized(max(found.memory.values()))}{room}")
    found.check()
