"""``oddhop cases``: list a book of cases, write verdicts, export it as a table."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from oddhop.cli import options as o
from oddhop.cli.console import echo
from oddhop.cli.helping import Commands

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Manage a book of cases, which is a database of cases and verdicts.",
)

BookName = Annotated[
    str, typer.Argument(metavar="BOOK", help="Book of cases: an SQLite file or postgresql://...", show_default=False)
]
Who = Annotated[
    str | None, typer.Option("--who", help="Your name, which is stored in the book.", show_default="the user's name")
]


@app.command("list")
@o.command()
def list_cases(
    book: BookName,
    verdict: Annotated[
        str | None,
        typer.Option(
            "--verdict",
            help="List only cases with this verdict: open, confirmed, cleared or watch.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON per case, with all fields.")] = False,
) -> None:
    """List the cases in a book of cases, with the latest verdict of each case, or the cases in the folder of a run.

    Example:

        oddhop cases list cases.db --verdict cleared
    """
    if Path(book).is_dir() and _lists_run(Path(book), as_json=as_json):
        return
    from oddhop.casebook import open_book
    from oddhop.casebook.book import exported

    with open_book(book, create=False) as opened:
        for entry in opened.latest(verdict):
            if as_json:
                row = exported(entry)
                judged = row["fingerprint"]
                echo(json.dumps({**row, "fingerprint": None if judged is None else json.loads(judged)}))
                continue
            shown = ", ".join(entry.members[:3]) + (f" and {len(entry.members) - 3:,} more" * (len(entry.members) > 3))
            said = [entry.verdict, entry.at[:16].replace("T", " "), entry.who, entry.reason, shown]
            echo("  ".join([_listed(entry.case_id), *(" ".join(one.split()) for one in [*said, entry.note] if one)]))


@app.command("set")
@o.command()
def set_verdict(
    book: BookName,
    case: Annotated[str | None, typer.Argument(help="Id of the case.", show_default=False)] = None,
    verdict: Annotated[
        str | None, typer.Argument(help="New verdict: open, confirmed, cleared or watch.", show_default=False)
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="Read verdicts from this table. The columns are case and verdict, and optionally reason, note and "
            "who.",
            show_default=False,
        ),
    ] = None,
    reason: Annotated[
        str, typer.Option("--reason", help="Short reason for the verdict, for example family.", show_default=False)
    ] = "",
    note: Annotated[str, typer.Option("--note", help="Note on the verdict, as free text.", show_default=False)] = "",
    who: Who = None,
) -> None:
    """Set the verdict of one case, or of all cases in a table. Setting the same verdict again adds no entry.

    Example:

        oddhop cases set cases.db c1 cleared --reason family
    """
    from oddhop.casebook import NewVerdict, open_book
    from oddhop.casebook.tables import read_verdicts
    from oddhop.errors import SettingsError

    if table is not None:
        if case is not None or reason or note:
            raise SettingsError(
                "--from reads case, verdict, reason and note from the table", "leave out CASE, --reason and --note"
            )
        verdicts = read_verdicts(table, o.user_name(who))
    elif case is None or verdict is None:
        raise SettingsError("the case or the verdict is missing", "give CASE and VERDICT, or --from TABLE")
    else:
        verdicts = [NewVerdict(_named(case), verdict, reason, note, o.user_name(who))]
    with open_book(book, create=False) as opened:
        written = opened.judge(verdicts)
    for entry in written:
        echo(f"{entry.case_id}: {entry.verdict}")
    if len(written) < len(verdicts):
        echo(f"{len(verdicts) - len(written):,} verdicts were already in the book")


@app.command()
@o.command()
def export(
    book: BookName,
    out: Annotated[Path, typer.Argument(help="File to write, .parquet or .csv.", show_default=False)],
) -> None:
    """Write all entries of a book of cases to a table.

    Example:

        oddhop cases export cases.db cases.parquet
    """
    from oddhop.casebook import open_book
    from oddhop.casebook.tables import export_entries

    with open_book(book, create=False) as opened:
        count = export_entries(opened, out)
    echo(f"{out}: {count:,} entries")


@app.command()
@o.command()
def erase(
    book: BookName,
    node: Annotated[str, typer.Argument(help="Id of the node to erase.", show_default=False)],
    reason: Annotated[
        str,
        typer.Option("--reason", help="Reason for erasing, for example the number of a request.", show_default=False),
    ],
    who: Annotated[str, typer.Option("--who", help="Your name, which is stored in the book.", show_default=False)],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Erase all data about a node from a book of cases. A new entry records the time, your name and the reason.

    Only this spelling of the id is found in notes and reasons: to erase another, such as capitals, erase it as well.

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
        echo("the book has nothing about this node")


def _lists_run(folder: Path, *, as_json: bool) -> bool:
    """List the cases of a run; return whether a folder has some."""
    from oddhop.cases.store import FILE, read_cases
    from oddhop.cli.summary import show_cases

    if not (folder / FILE).is_file():
        return False
    cases = read_cases(folder)
    if not as_json:
        show_cases(cases, len(cases.cases))
    for case in cases.cases if as_json else ():
        echo(json.dumps(asdict(case)))
    return True


def _listed(case: str) -> str:
    """Write an id on one line, in quotes and as JSON has it where that needs more than its letters."""
    return json.dumps(case, ensure_ascii=False) if case[:1] == '"' or case != " ".join(case.split()) else case


def _named(case: str) -> str:
    """Read an id as it was listed."""
    try:
        return str(json.loads(case)) if case[:1] == '"' else case
    except ValueError:
        return case


def _agreed() -> bool:
    try:
        return typer.confirm(
            "Erasing cannot be undone. It also removes the notes on the cases of this node. Erase the node?", err=True
        )
    except typer.Abort:
        return False
