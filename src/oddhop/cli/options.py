"""The options that commands share, each said once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from enum import Enum, StrEnum
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from oddhop.cli.console import LogFormat
from oddhop.detector.registry import DETECTORS

INPUT, LEARNING, TELLING = "What is read", "What is learned", "What is told"


class Engine(StrEnum):
    """What runs the work."""

    local = "local"
    ray = "ray"


class WriteMode(Enum):
    """What becomes of a database table of the same name."""

    create = "create"
    replace = "replace"
    append = "append"


Edges = Annotated[
    str,
    typer.Argument(
        help="The edge table: a file, a pattern or a folder of CSV, TSV, Parquet or NDJSON; with --database, a query. "
        "Or a folder made by oddhop ingest.",
        show_default=False,
    ),
]
Nodes = Annotated[
    list[str] | None,
    typer.Option(
        "--nodes",
        help="The node table, named like the edge table. Where there are several kinds of nodes, KIND=TABLE, once a "
        "kind.",
        show_default=False,
        rich_help_panel=INPUT,
    ),
]
Database = Annotated[
    str | None,
    typer.Option(
        "--database",
        envvar="ODDHOP_DATABASE",
        help="postgresql://... to send queries to. Better kept in the variable: a command line is seen by others.",
        show_default=False,
        show_envvar=True,
        rich_help_panel=INPUT,
    ),
]
DetectorName = Annotated[
    str,
    typer.Option(
        "--detector",
        help=f"Which detector: {'; '.join(f'{name} ({entry.summary})' for name, entry in DETECTORS.items())}.",
        metavar="NAME",
        autocompletion=lambda: list(DETECTORS),
        rich_help_panel=LEARNING,
    ),
]
Top = Annotated[
    int | None,
    typer.Option(
        "--top",
        min=1,
        help="The alert budget: flag this many cases at most; nodes of one clique or cycle are one case.",
        show_default="flag none",
        rich_help_panel=LEARNING,
    ),
]
MaxChance = Annotated[
    float | None,
    typer.Option(
        "--max-chance",
        min=0.0,
        max=0.5,
        help="Flag the head of the ranking of which at most this share is expected by chance, such as 0.1. Odd only.",
        show_default="flag none",
        rich_help_panel=LEARNING,
    ),
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", min=0, help="Random seed.", show_default="a fresh one, recorded", rich_help_panel=LEARNING),
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", min=1, help="Threads.", show_default="all cores", rich_help_panel=LEARNING),
]
MaxMemory = Annotated[
    str | None,
    typer.Option(
        "--max-memory",
        help="Refuse a run that would take more, such as 4GiB.",
        show_default="what is free",
        rich_help_panel=LEARNING,
    ),
]
SettingsFile = Annotated[
    Path | None,
    typer.Option(
        "--settings",
        help="A TOML file with [read], [encode], [odd] and [hcm].",
        show_default=False,
        rich_help_panel=LEARNING,
    ),
]
Assignments = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="One setting, such as hcm.burn_in=200 or encode.kinds.zip=category. May be repeated.",
        show_default=False,
        rich_help_panel=LEARNING,
    ),
]
EXPLAINED = 100
WithReport = Annotated[
    bool, typer.Option("--report/--no-report", help="Write the case report, report.html.", rich_help_panel=TELLING)
]
Explain = Annotated[
    int, typer.Option("--explain", min=1, help="How many nodes the report explains.", rich_help_panel=TELLING)
]
AnswerBook = Annotated[
    str,
    typer.Option(
        "--cases",
        metavar="BOOK",
        help="The book of cases that answers go into, an SQLite file or postgresql://...; made if there is none.",
        show_default=False,
    ),
]
Book = Annotated[
    str | None,
    typer.Option(
        "--cases",
        metavar="BOOK",
        help="A book of cases, an SQLite file or postgresql://...: open the flagged cases in it, and hide those that "
        "were cleared and have not changed.",
        show_default=False,
        rich_help_panel=TELLING,
    ),
]
Answers = Annotated[
    str | None,
    typer.Option(
        "--answers",
        help="What was answered so far: a table with the columns id and answer (1, 0 or empty), a query, or a book of "
        "cases; a learned ranking is written.",
        show_default=False,
        rich_help_panel=TELLING,
    ),
]
RunFolderPath = Annotated[Path, typer.Argument(help="The folder of a run of oddhop detect.", show_default=False)]
EdgesNow = Annotated[str | None, typer.Option("--edges", help="Where the edge table is now.", show_default="as then")]
NodesNow = Annotated[
    list[str] | None,
    typer.Option("--nodes", help="Where the node table is now, or KIND=TABLE once a kind.", show_default="as then"),
]
EngineName = Annotated[
    Engine,
    typer.Option(
        "--engine",
        help="Where the work is done: here, or on a Ray cluster (hcm, and a folder made by oddhop ingest).",
        rich_help_panel=LEARNING,
    ),
]
Address = Annotated[
    str | None,
    typer.Option(
        "--address",
        help="The head of the Ray cluster, host:port.",
        envvar="RAY_ADDRESS",
        show_default=False,
        rich_help_panel=LEARNING,
    ),
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with a run that was killed.", rich_help_panel=LEARNING)]
WriteTo = Annotated[
    str | None,
    typer.Option("--write-to", help="Also write the results to this table of the database.", show_default=False),
]
Mode = Annotated[WriteMode, typer.Option("--write-mode", help="If that table exists: refuse, replace it, or append.")]
Since = Annotated[
    Path | None,
    typer.Option(
        "--since",
        help="The folder of an earlier run: tell what changed, and write it as changes.parquet.",
        show_default=False,
        rich_help_panel=TELLING,
    ),
]
Log = Annotated[
    LogFormat,
    typer.Option(
        "--log-format", help="Bars on a terminal and lines elsewhere (auto), lines, or JSON.", rich_help_panel=TELLING
    ),
]
Debug = Annotated[bool, typer.Option("--debug", help="Show where an error was raised.", rich_help_panel=TELLING)]

Reading = dict[str, Any]
"""The settings of the section read, from the options that :func:`reads_tables` adds."""
Command = TypeVar("Command", bound=Callable[..., None])


def _option(flag: str, help_text: str, default: str | bool = "guessed") -> Any:
    return typer.Option(flag, help=help_text, show_default=default, rich_help_panel=INPUT)


def _reading(
    source: Annotated[str | None, _option("--source", "The column that an edge comes from.")] = None,
    target: Annotated[str | None, _option("--target", "The column that it goes to.")] = None,
    id: Annotated[str | None, _option("--id", "The column of the node ids.")] = None,  # noqa: A002 - the option's name
    judge: Annotated[
        str | None, _option("--judge", "The kind of node that the list is about, where there are several.", False)
    ] = None,
    node_kind: Annotated[
        str | None, _option("--node-kind", "The column of the kinds, where one node table holds several.", False)
    ] = None,
    source_kind: Annotated[
        str | None,
        _option("--source-kind", "The column with the kind of node that an edge comes from, or the kind of all."),
    ] = None,
    target_kind: Annotated[str | None, _option("--target-kind", "The same of the node that it goes to.")] = None,
    amount: Annotated[
        list[str] | None, _option("--amount", "A column of the edge table with amounts; may be said several times.")
    ] = None,
    time: Annotated[str | None, _option("--time", "The column of the edge table with dates or times.")] = None,
    edge_kind: Annotated[
        list[str] | None, _option("--edge-kind", "A column of the edge table with kinds; may be said several times.")
    ] = None,
    directed: Annotated[
        bool | None, _option("--directed/--undirected", "Whether an edge goes from its source to its target.")
    ] = None,
    since: Annotated[str | None, _option("--from", "Read the events from this date or time on.", False)] = None,
    until: Annotated[str | None, _option("--until", "Read the events before this date or time.", False)] = None,
    keep_unknown: Annotated[
        bool, _option("--keep-unknown", "Keep ends that the node table lacks as nodes of unknown profile.", False)
    ] = False,
    no_flows: Annotated[
        bool, _option("--no-flows", "Make no attributes of direction, amounts, times and kinds.", False)
    ] = False,
    keep_columns: Annotated[
        list[str] | None,
        _option("--keep-columns", "A column of the node table to take along into the results; several times.", False),
    ] = None,
    strict: Annotated[bool, _option("--strict", "Fail if any row would be skipped.", False)] = False,
) -> dict[str, Any]:
    """Give the settings of the section read, None for what was not said."""
    return {
        "source": source,
        "target": target,
        "id": id,
        "judge": judge,
        "node_kind": node_kind,
        "source_kind": source_kind,
        "target_kind": target_kind,
        "amount": None if amount is None else tuple(amount),
        "time": time,
        "edge_kind": None if edge_kind is None else tuple(edge_kind),
        "directed": directed,
        "since": since,
        "until": until,
        "keep_unknown": keep_unknown or None,
        "flows": False if no_flows else None,
        "keep_columns": tuple(keep_columns) if keep_columns else None,
        "strict": strict or None,
    }


def reads_tables(command: Command) -> Command:
    """Give a command the options of reading tables; they reach it as ``read``, the settings of that section."""
    options = inspect.signature(_reading, eval_str=True).parameters
    own = inspect.signature(command, eval_str=True)
    parameters: list[inspect.Parameter] = []
    for one in own.parameters.values():
        added = options.values() if one.name == "read" else [one]
        parameters += [new.replace(kind=one.kind) for new in added]

    @functools.wraps(command)
    def run(*arguments: Any, **given: Any) -> None:
        read = _reading(**{name: given.pop(name) for name in options if name in given})
        command(*arguments, read=read, **given)

    merged = own.replace(parameters=parameters)
    run.__signature__ = merged  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in merged.parameters.values()}
    return run  # type: ignore[return-value]


def guarded(command: Command) -> Command:
    """Turn every error of a command into three lines and an exit code."""

    @functools.wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
        except typer.Exit:
            raise
        except (Exception, KeyboardInterrupt) as error:
            from oddhop.cli.failures import fail

            as_json = options.get("log_format") is LogFormat.json
            raise typer.Exit(fail(error, debug=bool(options.get("debug")), as_json=as_json)) from None

    return run  # type: ignore[return-value]


def check_database(write_to: str | None, database: str | None) -> None:
    """Refuse a table to write to without a database, before anything is done."""
    if write_to is not None and database is None:
        from oddhop.errors import SettingsError

        raise SettingsError("--write-to names a table, and no database was named", "say --database postgresql://...")


def user_name(who: str | None) -> str:
    """Return who says so: the name that was given, or that of the user."""
    import getpass

    from oddhop.errors import SettingsError

    try:
        return who or getpass.getuser()
    except (KeyError, OSError, ImportError):
        raise SettingsError("who says so is not known: the user has no name here", "say --who NAME") from None
