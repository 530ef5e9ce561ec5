"""The options that commands share."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum, StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer

from oddhop.base.permissions import share_with_group
from oddhop.base.temporary import sweep_temporary
from oddhop.cli.console import Console, LogFormat
from oddhop.cli.helping import EVERYDAY, HelpAll
from oddhop.cli.stopping import stoppable
from oddhop.detector.registry import DETECTORS, settings_named

if TYPE_CHECKING:
    from oddhop.base.settings import Option

INPUT, LEARNING, TELLING = "Input", "Detection", "Output"
# Options whose default is that they are not given, by their place in the help.
of_input, of_learning, of_output = (
    functools.partial(typer.Option, show_default=False, rich_help_panel=panel) for panel in (INPUT, LEARNING, TELLING)
)


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
    of_input(
        "--nodes",
        help="Node table: a file, a glob pattern, a folder, a query (with --database), or the character - for "
        "standard input. If the network has several kinds of nodes, give --nodes KIND=TABLE once for each kind.",
    ),
]
Database = Annotated[
    str | None,
    of_input(
        "--database",
        envvar="ODDHOP_DATABASE",
        help="Address of the database for queries: postgresql://..., sqlite:///FILE or duckdb:///FILE. If the address "
        "contains a password, set the environment variable ODDHOP_DATABASE instead of this option. Other users of the "
        "machine can see a password on the command line.",
        show_envvar=True,
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
    of_learning(
        "--settings",
        help="TOML file with settings, in the sections [read], [encode], [odd] and [hcm].",
    ),
]
Assignments = Annotated[
    list[str] | None,
    of_learning(
        "--set",
        help="Change one setting, for example hcm.burn_in=200 or encode.kinds.zip=category (repeatable).",
    ),
]
EXPLAINED = 100
InReport = Annotated[
    int | None,
    typer.Option(
        "--explain",
        min=1,
        help="Show the cases of this many top-ranked nodes.",
        show_default="the cases of the run",
        rich_help_panel=TELLING,
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
Answers = Annotated[
    str | None,
    of_output(
        "--answers",
        help="Table, query or book of cases with your answers about nodes. From the answers, oddhop learns a second "
        "ranking of the nodes. A table of answers needs the columns id and answer. An answer is 1 (worth your time), 0 "
        "(harmless) or empty (unsure).",
    ),
]
RunFolderPath = Annotated[
    Path, typer.Argument(help="Output folder of oddhop detect or oddhop score.", show_default=False)
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
    of_learning(
        "--address",
        help="Address of the head node of the Ray cluster, as HOST:PORT.",
        envvar="RAY_ADDRESS",
    ),
]
Resume = Annotated[bool, typer.Option("--resume", help="Continue an interrupted run.", rich_help_panel=LEARNING)]
Overwrite = Annotated[
    bool,
    typer.Option(
        "--overwrite",
        help="Replace an earlier run in the output folder. A folder that has anything else is left as it is.",
        rich_help_panel=TELLING,
    ),
]
Since = Annotated[
    str | None,
    of_output(
        "--since",
        help="Folder of an earlier run to compare the results with, or last: the latest complete run beside the output "
        "folder, if there is one. The command prints the changes and writes them to changes.parquet.",
    ),
]


@dataclass(frozen=True)
class TablesNow:
    """Where the tables of a run are now."""

    edges: Annotated[
        str | None,
        typer.Option(
            "--edges",
            help="New location of the edge table, if the table was moved after the run.",
            show_default="as in the run",
        ),
    ] = None
    nodes: Annotated[
        list[str] | None,
        typer.Option(
            "--nodes",
            help="New location of the node table, if the table was moved after the run. If the network has several "
            "kinds of nodes, give --nodes KIND=TABLE once for each kind.",
            show_default="as in the run",
        ),
    ] = None
    database: Database = None

    def named(self) -> dict[str, Any]:
        """Return them as functions of a run take them."""
        from oddhop.cli.settings import named_nodes

        return {"edges": self.edges, "nodes": named_nodes(self.nodes), "database": self.database}


@dataclass(frozen=True)
class Output:
    """What a run writes besides the ranking, and where."""

    write_to: Annotated[
        str | None,
        typer.Option(
            "--write-to",
            help="Also write the results to this target: a table of the --database, an S3 object "
            "(s3://bucket/key.parquet or .csv), or the character - for CSV on standard output.",
            show_default=False,
        ),
    ] = None
    write_mode: Annotated[
        WriteMode,
        typer.Option(
            "--write-mode",
            help="What to do if the target of --write-to exists: stop with an error (create), overwrite the target "
            "(replace) or add rows to the target (append). Only database tables support append.",
        ),
    ] = WriteMode.create
    resume: Resume = False
    overwrite: Overwrite = False
    report: Annotated[
        bool,
        typer.Option(
            "--report/--no-report",
            help="Whether to write the case report to report.html. The same nodes are flagged with and "
            "without a report.",
            rich_help_panel=TELLING,
        ),
    ] = True
    explain: Annotated[
        int,
        typer.Option(
            "--explain",
            min=0,
            help="Number of top-ranked nodes to explain and to group into cases. With --explain 0, oddhop "
            "makes no cases and writes no report. With --explain 0, --top sets a number of nodes instead of cases.",
            rich_help_panel=TELLING,
        ),
    ] = EXPLAINED
    cases: Annotated[
        str | None,
        of_output(
            "--cases",
            metavar="BOOK",
            help="Book of cases: an SQLite file or PostgreSQL database (postgresql://...) that stores cases and "
            "verdicts. The command adds the flagged cases to the book of cases. A case that a reviewer has cleared as "
            "harmless stays hidden until the case changes.",
        ),
    ] = None
    answers: Answers = None

    def named(self) -> dict[str, Any]:
        """Return them as functions of a run take them."""
        return {**vars(self), "write_mode": self.write_mode.value}


@dataclass(frozen=True)
class Messages:
    """What every command writes while it works."""

    log_format: Annotated[
        LogFormat,
        typer.Option(
            "--log-format",
            help="Format of progress messages: auto, plain (lines of text) or json (lines of JSON). The format auto "
            "shows progress bars in a terminal and lines of text elsewhere.",
            rich_help_panel=TELLING,
        ),
    ] = LogFormat.auto
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Say also how each column was read.", rich_help_panel=TELLING)
    ] = False
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the Python traceback if an error occurs.", rich_help_panel=TELLING)
    ] = False
    share_with_group: Annotated[
        bool,
        typer.Option(
            "--share-with-group",
            help="Let your group read and write new output. Otherwise only you can.",
            rich_help_panel=TELLING,
        ),
    ] = False


Chosen = dict[str, Any]
"""The settings of a section that were given as options."""
Command = TypeVar("Command", bound=Callable[..., None])


def command(*learn: str) -> Callable[[Command], Command]:
    """Make a function a command, whose errors are three lines and an exit code.

    A parameter that is a group of options, such as :class:`Output`, becomes these options. Every command has those of
    :class:`Messages`, of which ``console`` is made. It takes the settings of reading tables as ``read``, and as
    ``learn`` those of the detector: the fields of these names, or all that have an option. The options of settings are
    added by :func:`with_settings`, when the command is asked for: the list of the commands need not wait.
    """

    def made(function: Command) -> Command:
        own = list(inspect.signature(function, eval_str=True).parameters.values())
        sections = {one.name: SECTIONS[one.name] for one in own if one.name in SECTIONS}

        @functools.wraps(function)
        def run(**given: Any) -> None:
            messages = _grouped(Messages, given)
            given.pop("help_all", None)
            try:
                with stoppable():
                    sweep_temporary()
                    share_with_group(messages.share_with_group)
                    for one in own:
                        if one.name in sections:
                            parts = sections[one.name](learn)
                            chosen = {part.name: _chosen(part, given.pop(part.name)) for part in parts}
                            given[one.name] = {name: value for name, value in chosen.items() if value is not None}
                        elif is_dataclass(one.annotation):
                            given[one.name] = _grouped(one.annotation, given)
                        elif one.annotation is Console:
                            given[one.name] = Console(messages.log_format, verbose=messages.verbose)
                    function(**given)
            except typer.Exit:
                raise
            except (Exception, KeyboardInterrupt) as error:
                from oddhop.cli.failures import fail, reader_left

                if isinstance(error, BrokenPipeError) and reader_left():
                    raise typer.Exit(0) from None
                as_json = messages.log_format is LogFormat.json
                raise typer.Exit(fail(error, debug=messages.debug, as_json=as_json)) from None

        def signature(*, whole: bool) -> inspect.Signature:
            parameters: list[inspect.Parameter] = []
            for one in own:
                if one.name in sections:
                    panel = INPUT if one.name == "read" else LEARNING
                    parameters += [_parameter(part, panel) for part in sections[one.name](learn)] if whole else []
                elif is_dataclass(one.annotation):
                    parameters += _parameters(one.annotation)
                elif one.annotation is not Console:
                    parameters.append(one.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            many = whole and function.__name__ in EVERYDAY
            of_help = inspect.Parameter("help_all", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=HelpAll)
            return inspect.Signature([*parameters, *_parameters(Messages), *([of_help] if many else [])])

        run.whole_signature = functools.partial(signature, whole=True)  # type: ignore[attr-defined]
        return _signed(run, signature(whole=False))  # type: ignore[return-value]

    return made


def _grouped(group: Any, given: dict[str, Any]) -> Any:
    """Take the options of a group out of those that were given."""
    return group(**{one.name: given.pop(one.name) for one in fields(group)})


def _parameters(group: Any) -> list[inspect.Parameter]:
    """Return the options of a group as parameters of a command."""
    types, kind = get_type_hints(group, include_extras=True), inspect.Parameter.KEYWORD_ONLY
    return [inspect.Parameter(one.name, kind, default=one.default, annotation=types[one.name]) for one in fields(group)]


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with the options of its settings."""
    return _signed(command, command.whole_signature())  # type: ignore[attr-defined]


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


def user_name(who: str | None) -> str:
    """Return the name that was given, or that of the user of this machine."""
    import getpass

    from oddhop.errors import SettingsError

    try:
        return who or getpass.getuser()
    except (KeyError, OSError, ImportError):
        raise SettingsError("the user of this machine has no name", "give --who NAME") from None
