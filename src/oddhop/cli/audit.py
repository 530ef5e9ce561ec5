"""``oddhop audit``: how many of the first cases of a run are worth the time, by answers drawn at random."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from oddhop.cli import options as o
from oddhop.cli.console import Console, echo


class Ranking(StrEnum):
    """The list that is audited."""

    original = "original"
    learned = "learned"


@o.command()
def audit(
    run: o.RunFolderPath,
    cases: o.AnswerBook,
    first: Annotated[
        int, typer.Option("--first", min=1, help="Number of cases to audit, from the top of the list.")
    ] = 100,
    ranking: Annotated[
        Ranking,
        typer.Option(
            "--list",
            help="List to audit: the ranking of the detector (original) or the ranking learned from answers (learned).",
        ),
    ] = Ranking.original,
    size: Annotated[int, typer.Option("--size", min=1, help="Number of cases that you plan to answer.")] = 30,
    end: Annotated[bool, typer.Option("--end", help="End the open audit and print its result.")] = False,
    who: Annotated[
        str | None,
        typer.Option("--who", help="Your name, which is stored with the audit.", show_default="the user's name"),
    ] = None,
    *,
    where: o.TablesNow,
    source: o.Chosen,
    console: Console,
) -> None:
    """Estimate from a random sample of cases how many cases of a run are worth your time.

    The first call starts an audit. The command draws cases at random, prints their ids and opens them in the book of
    cases. The command also prints the estimate so far. Answer the cases with `oddhop cases set` or `oddhop review`.
    To continue the audit, run the same command again. The audited list does not change after the start.

    Example:

        oddhop audit run --cases cases.db --first 100
    """
    from dataclasses import asdict

    from oddhop.casebook import open_book
    from oddhop.errors import SettingsError
    from oddhop.review import Session
    from oddhop.runs import reopen

    name = o.user_name(who)
    with open_book(cases) as book:
        with console.working():
            opened = reopen(run, log=console, **where.named(), **source)
            session = Session(opened, book, folder=run, who=name)
            told = session.audit() if end else session.start_audit(ranking.value, first, size)
        if told is None:
            raise SettingsError("this book has no open audit of this run", "leave out --end to start one")
        if end:
            session.put_audit("ended")
        else:
            session.desk.open(told.left, reason="audit")
            for one in told.left:
                echo(one)
        console.say("audited", f"{told.sentence}\n{told.about}", **asdict(told))
