"""``oddhop ingest``: tables to a network on disk, for those that do not fit into memory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from oddhop.base.sizes import sized
from oddhop.cli import options as o
from oddhop.cli.console import Console


@o.command()
def ingest(
    edges: Annotated[
        str,
        typer.Argument(
            help="Edge table: a file, a glob pattern or a folder. The format is CSV, TSV, Parquet or NDJSON.",
            show_default=False,
        ),
    ],
    nodes: o.Nodes = None,
    out: Annotated[Path, typer.Option("--out", help="Write the network to this folder.", show_default=False)] = ...,  # type: ignore[assignment]
    *,
    read: o.Chosen,
    like: Annotated[
        Path | None,
        typer.Option(
            "--like",
            help="Reuse the column encoding of this model file or of this folder made by oddhop ingest.",
            show_default="learn the encoding",
            rich_help_panel=o.INPUT,
        ),
    ] = None,
    settings: o.SettingsFile = None,
    assignments: o.Assignments = None,
    max_memory: Annotated[
        str,
        typer.Option("--max-memory", help="Approximate memory limit of the command.", rich_help_panel=o.INPUT),
    ] = "4GiB",
    resuming: o.Chosen,  # noqa: ARG001 - ingest always resumes, and every command takes the option
    console: Console,
) -> None:
    """Convert an edge table and a node table to a network on disk.

    The commands detect, fit and score can read the network on disk instead of the tables. To continue after an
    interruption, run the same command again.

    Example:

        oddhop ingest edges.csv --nodes nodes.csv --out graph
    """
    from oddhop import runs
    from oddhop.cli.settings import gathered, named_nodes

    chosen = gathered(settings, assignments or [], read=read)
    console.verbose = True  # how the columns are read is what is asked for
    with console.working():
        stored = runs.ingest(
            edges, named_nodes(nodes), out=out, like=like, settings=chosen, max_memory=max_memory, log=console
        )
    size = sum(entry.bytes for entry in stored.manifest.files.values())
    console.say(
        "done",
        f"network: {out}, {sized(size)} in {stored.partitions:,} partitions\n"
        f"to find its anomalous nodes: oddhop detect {out} --out run",
        folder=str(out),
        bytes=size,
        partitions=stored.partitions,
    )
