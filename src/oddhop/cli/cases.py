"""``oddhop cases``: look into a book of cases, write verdicts into it, take it out as a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from oddhop.cli import options as o
from oddhop.cli.console import LogFormat, echo

app = typer.Typer(no_args_is_help=True, help="Look into a book of cases, and write verdicts into it.")

BookName = Annotated[
    str, typer.Argument(metavar="BOOK", help="An SQLite file, or postgresql://...", show_default=False)
]
Who = Annotated[str | None, typer.Option("--who", help="Who says so.", show_default="the user's name")]


@app.command("list")
@o.guarded
def list_cases(
    book: BookName,
    verdict: Annotated[
        str | None,
        typer.Option("--verdict", help="Only cases that are open, confirmed, cleared or watch.", show_default=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Give one JSON object a line, with all there is.")] = False,
    log_format: o.Log = LogFormat.auto,  # noqa: ARG001 - read by the guard
    debug: o.Debug = False,  # noqa: ARG001 - read by the guard
) -> None:
    """List the cases with their last verdict.

    Example:

        oddhop cases list cases.db --verdict cleared
    """
    from oddhop.casebook import open_book
    from oddhop.casebook.tables import exported

    with open_book(book, create=False) as opened:
        for entry in opened.latest(verdict):
            if as_json:
                row = exported(entry)
                judged = row["fingerprint"]
                echo(json.dumps({**row, "fingerprint": None if judged is None else json.loads(judged)}))
                continue
            shown = ", ".join(entry.members[:3]) + (f" and {len(entry.members) - 3:,} more" * (len(entry.members) > 3))
            said = [entry.case_id, entry.verdict, entry.at[:16].replace("T", " "), entry.who, entry.reason, shown]
            echo("  ".join(" ".join(one.split()) for one in [*said, entry.note] if one))


@app.command("set")
@o.guarded
def set_verdict(
    book: BookName,
    case: Annotated[str | None, typer.Argument(help="The id of the case.", show_default=False)] = None,
    verdict: Annotated[
        str | None, typer.Argument(help="open, confirmed, cleared or watch.", show_default=False)
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="A table of verdicts in place of one: case, verdict, and reason, note and who where it has them.",
            show_default=False,
        ),
    ] = None,
    reason: Annotated[str, typer.Option("--reason", help="A code, such as family.", show_default=False)] = "",
    note: Annotated[str, typer.Option("--note", help="A text.", show_default=False)] = "",
    who: Who = None,
    log_format: o.Log = LogFormat.auto,  # noqa: ARG001 - read by the guard
    debug: o.Debug = False,  # noqa: ARG001 - read by the guard
) -> None:
    """Write a verdict on a case, or those of a table, all or none. Saying the same again adds nothing.

    Example:

        oddhop cases set cases.db c1 cleared --reason family
    """
    from oddhop.casebook import NewVerdict, open_book
    from oddhop.casebook.tables import read_verdicts
    from oddhop.errors import SettingsError

    if table is not None:
        if case is not None or reason or note:
            raise SettingsError("--from takes case, verdict, reason and note from the table", "leave these out")
        verdicts = read_verdicts(table, o.user_name(who))
    elif case is None or verdict is None:
        raise SettingsError("a case and a verdict are needed, or a table of them", "say CASE VERDICT, or --from TABLE")
    else:
        verdicts = [NewVerdict(case, verdict, reason, note, o.user_name(who))]
    with open_book(book, create=False) as opened:
        written = opened.judge(verdicts)
    for entry in written:
        echo(f"{entry.case_id}: {entry.verdict}")
    if len(written) < len(verdicts):
        echo(f"{len(verdicts) - len(written):,} were in the book already")


@app.command()
@o.guarded
def export(
    book: BookName,
    out: Annotated[Path, typer.Argument(help="A .parquet or .csv file.", show_default=False)],
    log_format: o.Log = LogFormat.auto,  # noqa: ARG001 - read by the guard
    debug: o.Debug = False,  # noqa: ARG001 - read by the guard
) -> None:
    """Write all entries of the book as a table.

    Example:

        oddhop cases export cases.db cases.parquet
    """
    from oddhop.casebook import open_book
    from oddhop.casebook.tables import export_entries

    with open_book(book, create=False) as opened:
        count = export_entries(opened, out)
    echo(f"{out}: {count:,} entries")


@app.command()
@o.guarded
def erase(
    book: BookName,
    node: Annotated[str, typer.Argument(help="The id of the node.", show_default=False)],
    reason: Annotated[str, typer.Option("--reason", help="Why, such as a request by number.", show_default=False)],
    who: Annotated[str, typer.Option("--who", help="Who says so.", show_default=False)],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    log_format: o.Log = LogFormat.auto,  # noqa: ARG001 - read by the guard
    debug: o.Debug = False,  # noqa: ARG001 - read by the guard
) -> None:
    """Remove all that the book has of a node, and leave an entry that says when, who and why.

    Example:

        oddhop cases erase cases.db p17 --who ann --reason "request 12" --yes
    """
    from oddhop.casebook import open_book

    with open_book(book, create=False) as opened:
        if not yes and not _agreed():
            echo("nothing was erased")
            raise typer.Exit(1)
        erased = opened.erase(node, who, reason)
    if erased.cases or erased.mentions:
        echo(f"erased from {erased.cases:,} cases and {erased.mentions:,} other places")
    else:
        echo("the book has nothing of it")


def _agreed() -> bool:
    try:
        return typer.confirm("This cannot be undone, and removes the notes on its cases. Erase it?", err=True)
    except typer.Abort:
        return False
