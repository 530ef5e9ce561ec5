"""``oddhop ingest``: tables to a network on disk, for those that do not fit into memory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oddhop.base.sizes import sized
from oddhop.cli import options as o
from oddhop.cli.console import Console

if TYPE_CHECKING:
    from oddhop.runs.settings import RunSettings
    from oddhop.tables.encode import Encoding
    from oddhop.tables.settings import ReadSettings


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
    resume: o.Resume = False,  # noqa: ARG001 - ingest always resumes, and every command takes the option
    console: Console,
) -> None:
    """Convert an edge table and a node table to a network on disk.

    The commands detect, fit and score can read the network on disk instead of the tables. To continue after an
    interruption, run the same command again.

    Example:

        oddhop ingest edges.csv --nodes nodes.csv --out graph
    """
    from oddhop.cli.settings import gathered, named_nodes
    from oddhop.errors import TableError
    from oddhop.runs.read import tell_network
    from oddhop.tables.ingest import ingest as make
    from oddhop.tables.network import open_network
    from oddhop.tables.read.joins import NO_ATTRIBUTES

    tables = named_nodes(nodes)
    if tables is None:
        raise TableError("there is no node table", NO_ATTRIBUTES)
    chosen = gathered(settings, assignments or [], read=read)
    encoding, reading = (None, chosen.read) if like is None else _alike(like, chosen)
    with console.working():
        stored = make(
            edges,
            tables,
            out,
            reading,
            chosen.encode,
            encoding=encoding,
            max_memory=max_memory,
            progress=console.progress,
        )
        tell_network(console, open_network(out), learned=like is None)
    size = sum(entry.bytes for entry in stored.manifest.files.values())
    console.say(
        "done",
        f"network: {out}, {sized(size)} in {stored.partitions:,} partitions\n"
        f"to find its anomalous nodes: oddhop detect {out} --out run",
        folder=str(out),
        bytes=size,
        partitions=stored.partitions,
    )


def _alike(path: Path, chosen: RunSettings) -> tuple[Encoding, ReadSettings]:
    """Return the encoding of a model or a network on disk, and the settings of reading with what it keeps of them."""
    from oddhop.detector.registry import load
    from oddhop.errors import ModelFileError, SettingsError
    from oddhop.graph.disk import is_stored
    from oddhop.tables.network import open_network
    from oddhop.tables.settings import EncodeSettings

    known = open_network(path) if is_stored(path) else load(path).model_
    encoding = known.encoding
    if chosen.encode != EncodeSettings():
        raise SettingsError("--like takes the encoding of another network", "leave out the settings of encode")
    if encoding is None:
        raise ModelFileError(
            f"{path} was fitted on arrays and has no encoding of columns", "fit a model with oddhop fit"
        )
    return encoding, chosen.read.like(known.read)
