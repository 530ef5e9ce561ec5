"""The options that commands share: those of settings, made from their classes, and the few that are no settings."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import StrEnum
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import typer

from oddhop.base.permissions import share_with_group
from oddhop.base.temporary import sweep_temporary
from oddhop.cli.console import Console, LogFormat
from oddhop.cli.helping import EVERYDAY, HelpAll
from oddhop.cli.stopping import stoppable
from oddhop.detector.registry import DETECTORS, registered, settings_named

if TYPE_CHECKING:
    from oddhop.base.settings import Option

INPUT, LEARNING, TELLING = "Input", "Detection", "Output"
SETTINGS = {
    "read": "oddhop.tables.settings:ReadSettings",
    "source": "oddhop.runs.options:Source",
    "resuming": "oddhop.runs.options:Resuming",
    "output": "oddhop.runs.options:Output",
    "answering": "oddhop.runs.options:Answering",
    "cluster": "oddhop.runs.options:Cluster",
}
"""The classes of settings whose options a command takes as a parameter of this name."""

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
        rich_help_panel=INPUT,
        show_default=False,
        help="Node table: a file, a glob pattern, a folder, a query (with --database), or the character - for "
        "standard input. If the network has several kinds of nodes, give --nodes KIND=TABLE once for each kind.",
    ),
]
DetectorName = Annotated[
    str,
    typer.Option(
        "--detector",
        help=f"Detector to use: {' or '.join(f'{name} ({entry.summary})' for name, entry in DETECTORS.items())}; "
        "or a class of your own, package.module:Class.",
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
        rich_help_panel=LEARNING,
        show_default=False,
    ),
]
Assignments = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Change one setting, for example hcm.burn_in=200 or encode.kinds.zip=category (repeatable).",
        rich_help_panel=LEARNING,
        show_default=False,
    ),
]
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
Out = Annotated[Path, typer.Option("--out", help="Write the results to this folder.", show_default=False)]
RunFolderPath = Annotated[
    Path, typer.Argument(help="Output folder of oddhop detect or oddhop score.", show_default=False)
]
OwnDetector = Annotated[
    str | None,
    typer.Option(
        "--detector",
        help="Class of the detector, package.module:Class, if the model is of a class of your own.",
        show_default=False,
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

    detector: OwnDetector = None

    def named(self) -> dict[str, Any]:
        """Return them as functions of a run take them; a detector is known by its name from then on."""
        from oddhop.cli.settings import named_nodes

        if self.detector is not None:
            registered(self.detector)
        return {"edges": self.edges, "nodes": named_nodes(self.nodes)}


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
"""The settings of a class that were given as options."""
Command = TypeVar("Command", bound=Callable[..., None])


def command(*learn: str) -> Callable[[Command], Command]:
    """Make a function a command, whose errors are three lines and an exit code.

    A parameter of the type :data:`Chosen` takes the settings of a class, which :data:`SETTINGS` names; ``learn`` takes
    those of the detectors, all that have an option or the fields of these names. A parameter that is a group of
    options, such as :class:`TablesNow`, becomes these options. Every command has those of :class:`Messages`, of which
    ``console`` is made. The options are made when the command is asked for: the list of the commands need not wait.
    """

    def made(function: Command) -> Command:
        own = list(inspect.signature(function, eval_str=True).parameters.values())

        @functools.wraps(function)
        def run(**given: Any) -> None:
            messages = _grouped(Messages, given)
            given.pop("help_all", None)
            try:
                with stoppable():
                    sweep_temporary()
                    share_with_group(messages.share_with_group)
                    for one in own:
                        if one.annotation == Chosen:
                            given[one.name] = _settings(one.name, learn, given)
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

        def parameters() -> list[inspect.Parameter]:
            found: list[inspect.Parameter] = []
            for one in own:
                if one.annotation == Chosen:
                    found += [_parameter(part, one.name) for part in _parts(one.name, learn)]
                elif is_dataclass(one.annotation):
                    found += _of_group(one.annotation)
                elif one.annotation is not Console:
                    found.append(one.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            return [*found, *_of_group(Messages), *(_of_group(HelpAll) if function.__name__ in EVERYDAY else [])]

        run.with_options = lambda: _signed(run, parameters())  # type: ignore[attr-defined]
        return _signed(run, [])  # type: ignore[return-value]

    return made


def _signed(command: Callable[..., None], parameters: Sequence[inspect.Parameter]) -> Callable[..., None]:
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    return command


def _grouped(group: Any, given: dict[str, Any]) -> Any:
    """Take the options of a group out of those that were given."""
    return group(**{one.name: given.pop(one.name) for one in fields(group)})


def _settings(section: str, learn: Sequence[str], given: dict[str, Any]) -> Chosen:
    """Take the settings of a class out of the options that were given, without those that were not."""
    chosen = {one.name: _chosen(one, given.pop(f"{section}_{one.name}")) for one in _parts(section, learn)}
    return {name: value for name, value in chosen.items() if value is not None}


def _of_group(group: Any) -> list[inspect.Parameter]:
    """Return the options of a group as parameters of a command."""
    types, kind = get_type_hints(group, include_extras=True), inspect.Parameter.KEYWORD_ONLY
    return [inspect.Parameter(one.name, kind, default=one.default, annotation=types[one.name]) for one in fields(group)]


def _parts(name: str, learn: Sequence[str]) -> list[Option]:
    """Return the options of the settings that a command takes by this name."""
    from oddhop.base.settings import options_of

    if name != "learn":
        return [one for one in options_of(resolve_name(SETTINGS[name])) if one.flag]
    known = {name: {one.name: one for one in options_of(settings_named(name)) if one.flag} for name in DETECTORS}
    found: dict[str, Option] = {}
    for one in (one for options in known.values() for one in options.values() if not learn or one.name in learn):
        having = [name for name, options in known.items() if one.name in options]
        needs = "" if len(having) == len(known) else f" The option {one.flag} needs the detector {' or '.join(having)}."
        found.setdefault(one.name, replace(one, sentence=one.sentence + needs))
    return list(found.values())


def _parameter(option: Option, section: str) -> inspect.Parameter:
    """Return a field of the settings as a parameter of a command. A default in words is that of a value not given."""
    name = f"{section}_{option.name}"  # two classes may have fields of the same name
    kinds = {str, bool, int, float}.intersection(option.types)
    kind: Any = str if option.repeatable or str in kinds else next(iter(kinds), str)
    text, default = option.sentence, None if option.shown else option.default
    if option.repeatable:
        kind, text, default = list[str], f"{text.removesuffix('.')} (repeatable).", None
    if _is_switch(option):
        default, text = False, f"Do not {text[0].lower()}{text[1:]}" if option.default else text
    elif default is not None and get_origin(option.annotation) is Literal:
        words = get_args(option.annotation)
        kind = StrEnum(name, [(word, word) for word in words])  # type: ignore[misc,no-redef]
    info = typer.Option(
        option.flag or "",
        help=text,
        show_default=option.shown or (default not in (None, ...) and not _is_switch(option)),
        min=option.least,
        max=option.most,
        metavar=option.metavar,
        envvar=option.variable,
        rich_help_panel=option.panel,
    )
    wanted: Any = kind | None if default is None else kind
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[wanted, info])


def _is_switch(option: Option) -> bool:
    """Return whether an option alone turns something on or off."""
    return isinstance(option.default, bool) and "/" not in (option.flag or "")


def _chosen(option: Option, value: Any) -> Any:
    """Return the value of a setting, None if it was not given."""
    if option.repeatable:
        return tuple(value) if value else None
    if _is_switch(option):
        return not option.default if value else None
    return str(value) if isinstance(value, StrEnum) else value


def user_name(who: str | None) -> str:
    """Return the name that was given, or that of the user of this machine."""
    import getpass

    from oddhop.errors import SettingsError

    try:
        return who or getpass.getuser()
    except (KeyError, OSError, ImportError):
        raise SettingsError("the user of this machine has no name", "give --who NAME") from None
