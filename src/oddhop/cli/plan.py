"""``oddhop plan``: what would be read, and what a run would take. Nothing is learned."""

from __future__ import annotations

import typer

from oddhop.cli import options as o
from oddhop.cli.console import Console, LogFormat, sized, spoken


@o.guarded
def plan(
    edges: o.Edges,
    nodes: o.Nodes = None,
    detector: o.DetectorName = o.Detector.odd,
    source: o.Source = None,
    target: o.Target = None,
    id: o.Id = None,  # noqa: A002 - the name of the option
    strict: o.Strict = False,
    database: o.Database = None,
    settings: o.SettingsFile = None,
    assignments: o.Assignments = None,
    workers: o.Workers = None,
    max_memory: o.MaxMemory = None,
    log_format: o.Log = LogFormat.auto,
    debug: o.Debug = False,  # noqa: ARG001 - read by the guard
) -> None:
    """Read the tables and tell what a run would take, in memory and time; nothing is learned.

    Example:

        oddhop plan edges.csv --nodes nodes.csv
    """
    from oddhop.base.parallel import available_workers
    from oddhop.cli.choices import gathered, in_bytes
    from oddhop.cli.reading import said_network
    from oddhop.detector.duration import estimate_odd_seconds, estimate_seconds
    from oddhop.detector.memory import (
        available_memory,
        check_memory,
        check_odd_memory,
        estimate_memory,
        estimate_odd_memory,
    )

    read = {"source": source, "target": target, "id": id, "strict": strict or None}
    learn = {"workers": workers, "max_memory": in_bytes(max_memory)}
    chosen = gathered(settings, assignments or [], read=read, detector=detector.value, learn=learn)
    console = Console(log_format)
    with console.working():
        network = said_network(console, chosen, edges, nodes, database)
    graph = network.graph
    mine = chosen.hcm if detector is o.Detector.hcm else chosen.odd
    threads = mine.workers or available_workers()
    sizes = (graph.node_count, graph.edge_count, graph.attribute_count)
    values = None if graph.mapped else graph.value_count  # a network on disk is not read from tables again
    if detector is o.Detector.hcm:
        memory = estimate_memory(*sizes, chosen.hcm, workers=threads, values=values, mapped=graph.mapped)
        seconds = estimate_seconds(*sizes, chosen.hcm, workers=threads)
    else:
        memory = {"views": estimate_odd_memory(*sizes, values=values)}
        seconds = {"views": estimate_odd_seconds(*sizes, chosen.odd)}
    typer.echo("A run would take about")
    for stage, need in memory.items():
        time = f", {spoken(seconds[stage])}" if stage in seconds else ""
        typer.echo(f"  {stage:<10} {sized(need):>9}{time}")
    free = mine.max_memory or available_memory()
    room = "" if free is None else f" of {sized(free)} that may be used"
    whole = f"in all {spoken(sum(seconds.values()))} on {threads} threads"
    typer.echo(f"{whole}, and {sized(max(memory.values()))} at most{room}")
    if detector is o.Detector.hcm:
        check_memory(graph, chosen.hcm, workers=threads)
    else:
        check_odd_memory(graph, chosen.odd.max_memory)
