"""``oddhop example``: small made-up tables to try oddhop on."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from oddhop.cli import options as o
from oddhop.cli.console import echo


class Case(StrEnum):
    """What the tables are about."""

    payments = "payments"
    reviews = "reviews"
    citations = "citations"


@o.command()
def example(
    folder: Annotated[Path, typer.Argument(help="Folder for the tables.")] = Path(),
    case: Annotated[Case, typer.Option("--case", help="Example to write.")] = Case.payments,
) -> None:
    """Write small made-up tables to try oddhop on, and print the next command.

    The tables have anomalies, which planted.csv lists. For payments and reviews there are also the tables of a later
    month, for oddhop score.

    Example:

        oddhop example tables --case reviews
    """
    from oddhop.datasets import COMMANDS, write_example

    written = write_example(case.value, folder)
    echo(f"wrote {', '.join(path.name for path in written)} to {folder.absolute()}")
    echo("next:")
    if folder != Path():
        echo(f"  cd {folder}")
    for line in COMMANDS[case.value]:
        echo(f"  {line}" + (" \\" if line != COMMANDS[case.value][-1] else ""))
