"""``oddhop compare``: what changed between two runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from oddhop.cli import options as o
from oddhop.cli.console import echo, tell_sentence

NEW_ANOMALIES = 11  # above the codes of errors


@o.command()
def compare(
    old: Annotated[Path, typer.Argument(help="Folder of the earlier run.", show_default=False)],
    new: Annotated[Path, typer.Argument(help="Folder of the later run.", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Also write the table of changed nodes to this .parquet or .csv file.", show_default=False
        ),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print the whole comparison of the two runs as JSON.", rich_help_panel=o.TELLING),
    ] = False,
    exit_code: Annotated[
        bool,
        typer.Option(
            "--exit-code",
            help=f"End with exit code {NEW_ANOMALIES} if a flagged node is newly odd, or new in the tables.",
            rich_help_panel=o.TELLING,
        ),
    ] = False,
) -> None:
    """List the nodes that changed between two runs, and the reasons for the changes.

    The command lists nodes that are new, missing, newly anomalous or no longer anomalous. A node is newly anomalous
    if it joins the list and it or its neighbours changed. The command also lists
    anomalous nodes whose new rank is outside the rank interval of the earlier run.

    Example:

        oddhop compare run scores
    """
    from dataclasses import asdict

    from oddhop import runs
    from oddhop.cli.summary import show_changes
    from oddhop.errors import SettingsError
    from oddhop.tables.results import write_csv, write_parquet

    if out is not None and out.suffix not in (".parquet", ".csv"):
        raise SettingsError(
            f"--out must be a .parquet or a .csv file, got {out}", "name it changes.parquet or changes.csv"
        )
    found = runs.compare(old, new)
    if out is not None:
        (write_csv if out.suffix == ".csv" else write_parquet)(found.table, out)
    if as_json:
        told = {"counts": dict(found.counts), "drift": asdict(found.drift), "sentences": found.sentences}
        echo(json.dumps({**told, "changes": found.table.to_pylist()}, indent=1, default=str))
    else:
        show_changes(found)
        for sentence in found.sentences:
            tell_sentence(sentence)
    if exit_code and found.has_new_anomalies:
        raise typer.Exit(NEW_ANOMALIES)
