"""The help of a command: the options that everybody needs, and with ``--help-all`` every one, in plain text.

A frame around them would be drawn by rich, whose import takes as long as the rest of the command.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperCommand

EVERYDAY = {
    "detect": ("nodes", "out", "source", "target", "id", "amount", "time", "top_k", "random_state", "overwrite"),
    "score": ("nodes", "out", "top_k", "max_chance", "since", "cases", "answers", "overwrite", "resume"),
    "fit": ("nodes", "model", "detector", "source", "target", "id", "amount", "time", "top_k", "random_state"),
    "plan": ("nodes", "detector", "source", "target", "id", "amount", "time", "max_memory"),
    "ingest": ("nodes", "out", "source", "target", "id", "amount", "time", "like", "max_memory"),
}
"""By command, what ``--help`` shows; of the others it shows everything."""
ALWAYS = ("help", "help_all")


def _whole(ctx: typer.Context, asked: bool) -> None:
    if asked:
        ctx.meta["whole"] = True
        print(ctx.get_help())  # noqa: T201
        raise typer.Exit


HelpAll = Annotated[
    bool, typer.Option("--help-all", is_eager=True, callback=_whole, help="Show every option and exit.")
]


class PlainCommand(TyperCommand):
    """A command whose help is plain text, and short where it has many options."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **{**more, "rich_markup_mode": None})

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, and the options by their group."""
        shown = None if ctx.meta.get("whole") else EVERYDAY.get(str(self.name))
        groups: dict[str, list[tuple[str, str]]] = {}
        for one in self.get_params(ctx):
            record = one.get_help_record(ctx)
            argument = one.param_type_name == "argument"
            if record is not None and (argument or shown is None or one.name in (*shown, *ALWAYS)):
                panel = None if shown else getattr(one, "rich_help_panel", None)
                groups.setdefault("Arguments" if argument else panel or "Options", []).append(record)
        for title, records in sorted(groups.items(), key=lambda group: group[0] not in ("Arguments", "Options")):
            with formatter.section(title):
                formatter.write_dl(records)
