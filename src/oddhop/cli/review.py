"""``oddhop review``: answer the cases of a run in a browser, and see the list re-ranked."""

from __future__ import annotations

from typing import Annotated

import typer

from oddhop.cli import options as o
from oddhop.cli.console import Console

SERVING = "Server"


@o.command()
def review(
    run: o.RunFolderPath,
    cases: o.AnswerBook,
    who: Annotated[
        str | None,
        typer.Option(
            "--who", help="Name of the reviewer, which is stored with the answers.", show_default="the user's name"
        ),
    ] = None,
    port: Annotated[
        int,
        typer.Option(
            "--port",
            min=0,
            max=65535,
            help="Port of the web server. With port 0, oddhop chooses a free port.",
            rich_help_panel=SERVING,
        ),
    ] = 0,
    host: Annotated[
        str, typer.Option("--host", help="Host name or IP address of the web server.", rich_help_panel=SERVING)
    ] = "127.0.0.1",
    allow_remote: Annotated[
        bool,
        typer.Option(
            "--allow-remote",
            help="Allow --host to be an address that other machines can reach. The connection is not encrypted.",
            rich_help_panel=SERVING,
        ),
    ] = False,
    *,
    where: o.TablesNow,
    source: o.Chosen,
    console: Console,
) -> None:
    """Review the cases of a run in the browser and save the answers.

    The command starts a web server and saves your answers in a book of cases (a database). Press Ctrl-C to stop the
    server.

    Example:

        oddhop review run --cases cases.db
    """
    from oddhop.casebook import open_book
    from oddhop.feedback import compile_learner
    from oddhop.review.serve import check_host, check_installed, serve
    from oddhop.runs import reopen

    check_installed()
    check_host(host, allow_remote=allow_remote)
    name = o.user_name(who)
    open_book(cases).close()  # before the tables are read, which may take long
    with console.working():
        compile_learner()  # before the first page: an answer must not wait for it
        opened = reopen(run, log=console, **where.named(), **source)
    serve(
        opened,
        run,
        cases,
        who=name,
        host=host,
        port=port,
        allow_remote=allow_remote,
        ready=lambda address: console.say("ready", f"open {address}\npress Ctrl-C to stop", address=address),
    )
