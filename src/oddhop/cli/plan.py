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
    database: o.Database = None,
    settings: o.SettingsFile = None,
    assignments: o.Assignments = None,
    console: Console,
) -> None:
    """Estimate the memory that a run needs.

    The command reads the tables but does not fit a detector.

    Example:

        oddhop plan edges.csv --nodes nodes.csv
    """
    from oddhop.cli.settings import gathered, named_nodes
    from oddhop.detector.cost import Size, available_memory, check_memory
    from oddhop.detector.registry import detector_named
    from oddhop.runs.read import read_for_run

    chosen = gathered(settings, assignments or [], read=read, detector=detector, learn=learn)
    with console.working():
        network = read_for_run(console, chosen, edges, named_nodes(nodes), database)
    mine = chosen.of(detector)
    size = Size.of(network.graph, from_tables=True)
    cost = detector_named(detector).of(mine).cost(size)
    typer.echo("Estimated memory of a run:")
    for stage, need in cost.memory.items():
        typer.echo(f"  {stage:<12} {sized(need):>9}")
    free = mine.memory or available_memory()
    room = "" if free is None else f" of {sized(free)} available"
    typer.echo(f"total: at most {sized(max(cost.memory.values()))}{room}")
    check_memory(cost, mine.memory, f"{detector} on {network.graph!r}")
