"""``oddhop plan``: what would be read, and what a run would take. Nothing is learned."""

from __future__ import annotations

import typer

from oddhop.cli import options as o
from oddhop.cli.console import Console, LogFormat, sized, spoken


@o.guarded
def plan(
    edges: o.Edges,
    nodes: o.Nodes = None,
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
    from oddhop.cli.choices import gathered, in_bytes
    from oddhop.cli.reading import said_network
    from oddhop.duration import estimate_seconds
    from oddhop.engine.local import available_workers
    from oddhop.memory import available_memory, check_memory, estimate_memory

    read = {"source": source, "target": target, "id": id, "strict": strict or None}
    chosen = gathered(
        settings, assignments or [], read=read, hcm={"workers": workers, "max_memory": in_bytes(max_memory)}
    )
    console = Console(log_format)
    with console.working():
        network = said_network(console, chosen, edges, nodes, database)
    graph, hcm = network.graph, chosen.hcm
    threads = hcm.workers or available_workers()
    sizes = (graph.node_count, graph.edge_count, graph.attribute_count)
    memory = estimate_memory(*sizes, hcm, workers=threads, values=graph.value_count)
    seconds = estimate_seconds(*sizes, hcm, workers=threads)
    typer.echo("A run would take about")
    for stage, need in memory.items():
        time = f", {spoken(seconds[stage])}" if stage in seconds else ""
        typer.echo(f"  {stage:<10} {sized(need):>9}{time}")
    free = hcm.max_memory or available_memory()
    room = "" if free is None else f" of {sized(free)} that may be used"
    typer.echo(
        f"in all {spoken(sum(seconds.values()))} on {threads} threads, and {sized(max(memory.values()))} at most{room}"
    )
    check_memory(graph, hcm, workers=threads)
