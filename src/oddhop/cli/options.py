"""The options that commands share."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import Enum, StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from oddhop.cli.console import LogFormat
from oddhop.detector.registry import DETECTORS, settings_named

if TYPE_CHECKING:
    from oddhop.base.settings import Option

INPUT, LEARNING, TELLING = "Input", "Detection", "Output"


class Engine(StrEnum):
    """What runs the work."""

    local = "local"
    ray = "ray"


class WriteMode(Enum):
    """What happens to a database table of the same name."""

    create = "create"
    replace = "replace"
    append = "append"


Edges = Annotated[
    str,
    typer.Argument(
        help="Edge table: a file, a glob pattern or a folder, local or on S3 (s3://...). The table has the "
        "format CSV, TSV, Parquet or NDJSON. Use - for standard input. Instead of a table, you can give a query (with "
        "--database) or a folder made by oddhop ingest.",
        show_default=False,
    ),
]
Nodes = Annotated[
    list[str] | None,
    typer.Option(
        "--nodes",
        help="Node table: a file, a glob pattern, a folder, a query (with --database), or the character - for "
        "standard input. If the network has several kinds of nodes, give --nodes KIND=TABLE once for each kind.",
        show_default=False,
        rich_help_panel=INPUT,
    ),
]
Database = Annotated[
    str | None,
    typer.Option(
        "--database",
        envvar="ODDHOP_DATABASE",
        help="Address of the database for queries: postgresql://..., sqlite:///FILE or duckdb:///FILE. If the address "
        "contains a password, set the environment variable ODDHOP_DATABASE instead of this option. Other users of the "
        "machine can see a password on the command line.",
        show_default=False,
        show_envvar=True,
        rich_help_panel=INPUT,
    ),
]
DetectorName = Annotated[
    str,
    typer.Option(
        "--detector",
        help=f"Detector to use: {' or '.join(f'{name} ({entry.summary})' for name, entry in DETECTORS.items())}.",
        metavar="NAME",
        autocompletion=lambda: list(DETECTORS),
        rich_help_panel=LEARNING,
    ),
]
SettingsFile = Annotated[
    Path | None,
    typer.Option(
        "--settings",
        help="TOML file with settings, in the sections [read], [encode], [odd] and [hcm].",
        show_default=False,
        rich_help_panel=LEARNING,
    ),
]
Assignments = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Change one setting, for example hcm.burn_in=200 or encode.kinds.zip=category (repeatable).",
        show_default=False,
        rich_help_panel=LEARNING,
    ),
]
EXPLAINED = 100
WithReport = Annotated[
    bool,
    typer.Option(
        "--report/--no-report",
        help="Whether to write the case report to report.html. The same nodes are flagged with and without a report.",
        rich_help_panel=TELLING,
    ),
]
Explain = Annotated[
    int,
    typer.Option(
        "--explain",
        min=0,
        help="Number of top-ranked nodes to explain and to group into cases. With --explain 0, oddhop "
        "makes no cases and writes no report. With --explain 0, --top sets a number of nodes instead of cases.",
        rich_help_panel=TELLING,
    ),
]
InReport = Annotated[
    int,
    typer.Option(
        "--explain", min=1, help="Number of top-ranked nodes to explain in the report.", rich_help_panel=TELLING
    ),
]
AnswerBook = Annotated[
    str,
    typer.Option(
        "--cases",
        metavar="BOOK",
        help="Book of cases: an SQLite file or PostgreSQL database (postgresql://...) that stores your answers. If the "
        "book of cases does not exist, oddhop creates it.",
        show_default=False,
    ),
]
Book = Annotated[
    str | None,
    typer.Option(
        "--cases",
        metavar="BOOK",
        help="Book of cases: an SQLite file or PostgreSQL database (postgresql://...) that stores cases and verdicts. "
        "The command adds the flagged cases to the book of cases. A case that a reviewer has cleared as harmless "
        "stays hidden until the case changes.",
        show_default=False,
        rich_help_panel=TELLING,
    ),
]
Answers = Annotated[
    str | None,
    typer.Option(
        "--answers",
        help="Table, query or book of cases with your answers about nodes. From the answers, oddhop learns a second "
        "ranking of the nodes. A table of answers needs the columns id and answer. An answer is 1 (worth your time), 0 "
        "(harmless) or empty (unsure).",
        show_default=False,
        rich_help_panel=TELLING,
    ),
]
RunFolderPath = Annotated[
    Path, typer.Argument(help="Output folder of oddhop detect or oddhop score.", show_default=False)
]
EdgesNow = Annotated[
    str | None,
    typer.Option(
        "--edges",
        help="New location of the edge table, if the table was moved after the run.",
        show_default="as in the run",
    ),
]
NodesNow = Annotated[
    list[str] | None,
    typer.Option(
        "--nodes",
        help="New location of the node table, if the table was moved after the run. If the network has several kinds "
        "of nodes, give --nodes KIND=TABLE once for each kind.",
        show_default="as in the run",
    ),
]
EngineName = Annotated[
    Engine,
    typer.Option(
        "--engine",
        help="Run on this machine (local) or on a Ray cluster (ray). A run on a Ray cluster needs a folder made by "
        "oddhop ingest as input.",
        rich_help_panel=LEARNING,
    ),
]
Address = Annotated[
    str | None,
    typer.Option(
        "--address",
        help="Address of the head node of the Ray cluster, as HOST:PORT.",
        envvar="RAY_ADDRESS",
        show_default=False,
        rich_help_panel=LEARNING,
    ),
]
Resume = Annotated[bool, typer.Option("--resume", help="Continue an interrupted run.", rich_help_panel=LEARNING)]
WriteTo = Annotated[
    str | None,
    typer.Option(
        "--write-to",
        help="Also write the results to this target: a table of the --database, an S3 object (s3://bucket/key.parquet "
        "or .csv), or the character - for CSV on standard output.",
        show_default=False,
    ),
]
Mode = Annotated[
    WriteMode,
    typer.Option(
        "--write-mode",
        help="What to do if the target of --write-to exists: stop with an error (create), overwrite the target "
        "(replace) or add rows to the target (append). Only database tables support append.",
    ),
]
Since = Annotated[
    Path | None,
    typer.Option(
        "--since",
        help="Folder of an earlier run to compare the results with. The command prints the changes and writes them to "
        "changes.parquet.",
        show_default=False,
        rich_help_panel=TELLING,
    ),
]
Log = Annotated[
    LogFormat,
    typer.Option(
        "--log-format",
        help="Format of progress messages: auto, plain (lines of text) or json (lines of JSON). The format auto shows "
        "progress bars in a terminal and lines of text elsewhere.",
        rich_help_panel=TELLING,
    ),
]
Debug = Annotated[
    bool, typer.Option("--debug", help="Show the Python traceback if an error occurs.", rich_help_panel=TELLING)
]

Chosen = dict[str, Any]
"""The settings of a section that were given as options."""
Command = TypeVar("Command", bound=Callable[..., None])


def takes_settings(*learn: str) -> Callable[[Command], Command]:
    """Give a command the options of its settings: it takes those of reading tables as ``read``.

    As ``learn`` it takes those of the detector: the fields of these names, or all that have an option. The options are
    added by :func:`with_settings`, when the command is asked for: the list of the commands need not wait.
    """

    def with_sections(command: Command) -> Command:
        own = inspect.signature(command, eval_str=True)
        sections = {name: find for name, find in SECTIONS.items() if name in own.parameters}
        plain = own.replace(parameters=[one for one in own.parameters.values() if one.name not in sections])

        @functools.wraps(command)
        def run(*arguments: Any, **given: Any) -> None:
            for section, find in sections.items():
                chosen = {one.name: _chosen(one, given.pop(one.name)) for one in find(learn)}
                given[section] = {name: value for name, value in chosen.items() if value is not None}
            command(*arguments, **given)

        def whole() -> inspect.Signature:
            parameters: list[inspect.Parameter] = []
            for one in own.parameters.values():
                panel = INPUT if one.name == "read" else LEARNING
                found = sections[one.name](learn) if one.name in sections else ()
                parameters += [_parameter(option, panel) for option in found] if one.name in sections else [one]
            return own.replace(parameters=parameters)

        run.whole_signature = whole  # type: ignore[attr-defined]
        return _signed(run, plain)  # type: ignore[return-value]

    return with_sections


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with the options of its settings."""
    whole = getattr(command, "whole_signature", None)
    return command if whole is None else _signed(command, whole())


def _signed(command: Callable[..., None], signature: inspect.Signature) -> Callable[..., None]:
    command.__signature__ = signature  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in signature.parameters.values()}
    return command


def _reading(_: Sequence[str]) -> list[Option]:
    from oddhop.base.settings import options_of
    from oddhop.tables.settings import ReadSettings

    return [one for one in options_of(ReadSettings) if one.flag]


def _learning(names: Sequence[str]) -> list[Option]:
    """Return the options of all detectors; of one that only some have, its sentence says so."""
    from oddhop.base.settings import options_of

    known = {name: {one.name: one for one in options_of(settings_named(name)) if one.flag} for name in DETECTORS}
    found: dict[str, Option] = {}
    for one in (one for options in known.values() for one in options.values() if not names or one.name in names):
        having = [name for name, options in known.items() if one.name in options]
        needs = "" if len(having) == len(known) else f" The option {one.flag} needs the detector {' or '.join(having)}."
        found.setdefault(one.name, replace(one, sentence=one.sentence + needs))
    return list(found.values())


SECTIONS: dict[str, Callable[[Sequence[str]], list[Option]]] = {"read": _reading, "learn": _learning}


def _parameter(option: Option, panel: str) -> inspect.Parameter:
    """Return a field of the settings as a parameter of a command."""
    kinds = {str, bool, int, float}.intersection(option.types)
    kind: Any = str if option.repeatable or str in kinds else next(iter(kinds), str)  # one of several words is text
    text, default = option.sentence, None
    if option.repeatable:
        kind, text = list[str], f"{text.removesuffix('.')} (repeatable)."
    if kind is bool and option.default is not None:  # a flag that turns it on or off
        default = False
        text = f"Do not {text[0].lower()}{text[1:]}" if option.default else text
    shown = typer.Option(
        option.flag or "",
        help=text,
        show_default=option.shown or False,
        min=option.least,
        max=option.most,
        rich_help_panel=panel,
    )
    wanted = kind if default is False else kind | None
    return inspect.Parameter(
        option.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[wanted, shown]
    )


def _chosen(option: Option, value: Any) -> Any:
    """Return the value of a setting, None if it was not given."""
    if option.repeatable:
        return tuple(value) if value else None
    return (not option.default if value else None) if isinstance(option.default, bool) else value


def guarded(command: Command) -> Command:
    """Turn every error of a command into three lines and an exit code."""

    @functools.wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
        except typer.Exit:
            raise
        except (Exception, KeyboardInterrupt) as error:
            from oddhop.cli.failures import fail, reader_left

            if isinstance(error, BrokenPipeError) and reader_left():
                raise typer.Exit(0) from None
            as_json = options.get("log_format") is LogFormat.json
            raise typer.Exit(fail(error, debug=bool(options.get("debug")), as_json=as_json)) from None

    return run  # type: ignore[return-value]


def user_name(who: str | None) -> str:
    """Return the name that was given, or that of the user of this machine."""
    import getpass

    from oddhop.errors import SettingsError

    try:
        return who or getpass.getuser()
    except (KeyError, OSError, ImportError):
        raise SettingsError("the user of this machine has no name", "give --who NAME") from None
