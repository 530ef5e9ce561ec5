"""The help of a command: the options that everybody needs, and with ``--help-all`` every one, in plain text.

A frame around them would be drawn by rich, whose import takes as long as the rest of the command.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

EVERYDAY = {
    "detect": ("nodes", "out", "source", "target", "id", "amount", "time", "top", "seed", "overwrite"),
    "score": ("nodes", "out", "top", "max-chance", "since", "cases", "answers", "overwrite", "resume"),
    "fit": ("nodes", "model", "detector", "source", "target", "id", "amount", "time", "top", "seed"),
    "plan": ("nodes", "detector", "source", "target", "id", "amount", "time", "max-memory"),
    "ingest": ("nodes", "out", "source", "target", "id", "amount", "time", "like", "max-memory"),
}
"""By command, what ``--help`` shows; of the others it shows everything."""
ALWAYS = ("help", "help-all")


def _whole(ctx: typer.Context, asked: bool) -> None:
    if asked:
        ctx.meta["whole"] = True
        print(ctx.get_help())  # noqa: T201
        raise typer.Exit


@dataclass(frozen=True)
class HelpAll:
    """The option of a command that has many."""

    help_all: Annotated[
        bool, typer.Option("--help-all", is_eager=True, callback=_whole, help="Show every option and exit.")
    ] = False


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
            if record is not None and (
                argument or shown is None or {name.lstrip("-") for name in one.opts} & {*shown, *ALWAYS}
            ):
                panel = None if shown else getattr(one, "rich_help_panel", None)
                groups.setdefault("Arguments" if argument else panel or "Options", []).append(record)
        for title, records in sorted(groups.items(), key=lambda group: group[0] not in ("Arguments", "Options")):
            with formatter.section(title):
                formatter.write_dl(records)


class Commands(TyperGroup):
    """The list of the commands, and errors of usage, as plain text: the import of rich takes as long as the rest."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**{**given, "rich_markup_mode": None})

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command; its options are made only when it is asked for."""
        found = super().get_command(ctx, cmd_name)
        with_options = getattr(getattr(found, "callback", None), "with_options", None)
        if with_options is None:
            return found
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(cmd_name, cls=PlainCommand)(with_options())
        return typer.main.get_command(alone)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - the method of the parent
        """Write the first sentence about every command, whole; the method of the parent cuts it to one line."""
        about = [(name, command.get_short_help_str(limit=1000)) for name, command in self.commands.items()]
        with formatter.section("Commands"):
            formatter.write_dl(about)
