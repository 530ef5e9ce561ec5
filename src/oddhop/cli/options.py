"""The options that commands share."""

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
        help="Edge table: a file, a pattern or a folder of CSV, TSV, Parquet or NDJSON, local or s3://...; - for "
        "standard input; a query with --database; or a folder made by oddhop ingest.",
        show_default=False,
    ),
]
Nodes = Annotated[
    list[str] | None,
    typer.Option(
        "--nodes",
        help="Node table, in the same forms as the edge table. For several kinds of nodes, give KIND=TABLE once for "
        "each kind.",
        show_default=False,
        rich_help_panel=INPUT,
    ),
]
Database = Annotated[
    str | None,
    typer.Option(
        "--database",
        envvar="ODDHOP_DATABASE",
        help="Database for queries: postgresql://..., sqlite:///FILE or duckdb:///FILE. Prefer the variable: other "
        "users can see a command line.",
        show_default=False,
        show_envvar=True,
        rich_help_panel=INPUT,
    ),
]
DetectorName = Annotated[
    str,
    typer.Option(
        "--detector",
        help=f"Detector: {'; '.join(f'{name} ({entry.summary})' for name, entry in DETECTORS.items())}.",
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
        help="Alert budget: flag at most this many cases. The nodes of one clique or cycle are one case.",
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
        help="Flag the first nodes, of which at most this share is expected by chance, such as 0.1. Odd only.",
        show_default="flag none",
        rich_help_panel=LEARNING,
    ),
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", min=0, help="Random seed.", show_default="drawn and recorded", rich_help_panel=LEARNING),
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", min=1, help="Number of threads.", show_default="all cores", rich_help_panel=LEARNING),
]
MaxMemory = Annotated[
    str | None,
    typer.Option(
        "--max-memory",
        help="Fail if the run would need more memory, such as 4GiB.",
        show_default="available memory",
        rich_help_panel=LEARNING,
    ),
]
SettingsFile = Annotated[
    Path | None,
    typer.Option(
        "--settings",
        help="TOML file with the sections [read], [encode], [odd] and [hcm].",
        show_default=False,
        rich_help_panel=LEARNING,
    ),
]
Assignments = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="One setting, such as hcm.burn_in=200 or encode.kinds.zip=category. Repeatable.",
        show_default=False,
        rich_help_panel=LEARNING,
    ),
]
EXPLAINED = 100
WithReport = Annotated[
    bool,
    typer.Option(
        "--report/--no-report",
        help="Write the case report, report.html. The same nodes are flagged without it.",
        rich_help_panel=TELLING,
    ),
]
Explain = Annotated[
    int,
    typer.Option(
        "--explain",
        min=0,
        help="Number of nodes to explain and to group into cases. With 0, no report is written and --top counts nodes.",
        rich_help_panel=TELLING,
    ),
]
InReport = Annotated[
    int, typer.Option("--explain", min=1, help="Number of nodes that the report explains.", rich_help_panel=TELLING)
]
AnswerBook = Annotated[
    str,
    typer.Option(
        "--cases",
        metavar="BOOK",
        help="Book of cases for the answers: an SQLite file or postgresql://... Created if it does not exist.",
        show_default=False,
    ),
]
Book = Annotated[
    str | None,
    typer.Option(
        "--cases",
        metavar="BOOK",
        help="Book of cases: an SQLite file or postgresql://... Open the flagged cases in it, and hide cleared cases "
        "that have not changed.",
        show_default=False,
        rich_help_panel=TELLING,
    ),
]
Answers = Annotated[
    str | None,
    typer.Option(
        "--answers",
        help="Answers so far: a table with the columns id and answer (1, 0 or empty), a query, or a book of cases. "
        "A ranking learned from them is written.",
        show_default=False,
        rich_help_panel=TELLING,
    ),
]
RunFolderPath = Annotated[Path, typer.Argument(help="Output folder of oddhop detect.", show_default=False)]
EdgesNow = Annotated[
    str | None, typer.Option("--edges", help="Edge table, if it was moved.", show_default="as in the run")
]
NodesNow = Annotated[
    list[str] | None,
    typer.Option(
        "--nodes", help="Node table, if it was moved, or KIND=TABLE for each kind.", show_default="as in the run"
    ),
]
EngineName = Annotated[
    Engine,
    typer.Option(
        "--engine",
        help="Where to run: on this machine, or on a Ray cluster (needs a folder made by oddhop ingest).",
        rich_help_panel=LEARNING,
    ),
]
Address = Annotated[
    str | None,
    typer.Option(
        "--address",
        help="Head node of the Ray cluster, HOST:PORT.",
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
        help="Also write the results to this table of the database, to s3://bucket/key.parquet or .csv, or to - "
        "(standard output, as CSV).",
        show_default=False,
    ),
]
Mode = Annotated[
    WriteMode,
    typer.Option("--write-mode", help="If that table or object exists: refuse, replace it, or append (tables alone)."),
]
Since = Annotated[
    Path | None,
    typer.Option(
        "--since",
        help="Folder of an earlier run: print what changed since then, and write changes.parquet.",
        show_default=False,
        rich_help_panel=TELLING,
    ),
]
Log = Annotated[
    LogFormat,
    typer.Option(
        "--log-format",
        help="Progress as bars on a terminal and lines elsewhere (auto), as lines (plain), or as JSON.",
        rich_help_panel=TELLING,
    ),
]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.", rich_help_panel=TELLING)]

Reading = dict[str, Any]
"""The settings of the section read, from the options that :func:`reads_tables` adds."""
Command = TypeVar("Command", bound=Callable[..., None])


def _option(flag: str, help_text: str, default: str | bool = "detected") -> Any:
    return typer.Option(flag, help=help_text, show_default=default, rich_help_panel=INPUT)


def _reading(
    source: Annotated[str | None, _option("--source", "Column of the source of an edge.")] = None,
    target: Annotated[str | None, _option("--target", "Column of the target of an edge.")] = None,
    id: Annotated[str | None, _option("--id", "Column of the node ids.")] = None,  # noqa: A002 - the option's name
    judge: Annotated[
        str | None, _option("--judge", "Kind of node to score, if there are several kinds.", False)
    ] = None,
    node_kind: Annotated[
        str | None, _option("--node-kind", "Column of the node kind, if one node table has several kinds.", False)
    ] = None,
    source_kind: Annotated[
        str | None,
        _option("--source-kind", "Column of the kind of the source, or the kind of all sources."),
    ] = None,
    target_kind: Annotated[
        str | None, _option("--target-kind", "Column of the kind of the target, or the kind of all targets.")
    ] = None,
    amount: Annotated[
        list[str] | None, _option("--amount", "Column of the edge table with amounts. Repeatable.")
    ] = None,
    time: Annotated[str | None, _option("--time", "Column of the edge table with dates or times.")] = None,
    edge_kind: Annotated[
        list[str] | None, _option("--edge-kind", "Column of the edge table with categories of events. Repeatable.")
    ] = None,
    directed: Annotated[
        bool | None, _option("--directed/--undirected", "Whether edges have a direction, from source to target.")
    ] = None,
    since: Annotated[str | None, _option("--from", "Read only events at or after this date or time.", False)] = None,
    until: Annotated[str | None, _option("--until", "Read only events before this date or time.", False)] = None,
    keep_unknown: Annotated[
        bool, _option("--keep-unknown", "Keep nodes that are only in the edge table, with unknown columns.", False)
    ] = False,
    no_flows: Annotated[
        bool,
        _option("--no-flows", "Make no attributes from direction, amounts, times and categories of events.", False),
    ] = False,
    keep_columns: Annotated[
        list[str] | None,
        _option("--keep-columns", "Column of the node table to copy to the results. Repeatable.", False),
    ] = None,
    strict: Annotated[bool, _option("--strict", "Fail if any row would be skipped.", False)] = False,
) -> dict[str, Any]:
    """Return the settings of the section read, None for what was not given."""
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
    """Return the command with the options of reading tables; it gets them as ``read``, the settings of that section."""
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


def user_name(who: str | None) -> str:
    """Return the name that was given, or that of the user of this machine."""
    import getpass

    from oddhop.errors import SettingsError

    try:
        return who or getpass.getuser()
    except (KeyError, OSError, ImportError):
        raise SettingsError("the user of this machine has no name", "give --who NAME") from None
