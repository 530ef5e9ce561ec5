"""``oddhop verify``: check a file, a run or a network on disk against its checksums."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from oddhop.cli import options as o
from oddhop.cli.console import echo


@o.command()
def verify(
    path: Annotated[
        Path,
        typer.Argument(help="Model file, output folder of a run, or folder made by oddhop ingest.", show_default=False),
    ],
) -> None:
    """Verify the checksums of a model file, a run or an ingested network.

    The command compares every part of the file or folder with its SHA-256 checksum, and prints a summary of the
    contents.

    Example:

        oddhop verify model.oddhop
    """
    from oddhop import runs

    for line in runs.verify(path):
        echo(line)
