"""Errors of commands: three lines for people and an exit code for scripts."""

from __future__ import annotations

import json
import os
import select
import sys
import traceback
from datetime import UTC, datetime

from oddhop.cli.console import Console, fitting
from oddhop.cli.stopping import Stopped
from oddhop.errors import (
    AnswersError,
    CaseBookError,
    ClusterError,
    EncodingError,
    GraphError,
    MemoryBudgetError,
    MissingExtraError,
    ModelFileError,
    OddhopError,
    RunFolderError,
    SettingsError,
    TableError,
    TrainingDivergedError,
)

# In the order in which they are asked; docs/commands.md has the same table.
CODES: tuple[tuple[type[BaseException], int, str], ...] = (
    (SettingsError, 2, "a setting or an option"),
    (TableError, 3, "the input"),
    (AnswersError, 3, "the input"),
    (EncodingError, 3, "the input"),
    (GraphError, 3, "the input"),
    (MemoryBudgetError, 4, "memory"),
    (RunFolderError, 5, "the run folder"),
    (ModelFileError, 6, "a model file or a checkpoint"),
    (TrainingDivergedError, 7, "training"),
    (MissingExtraError, 2, "a package that is not installed"),
    (ClusterError, 9, "the cluster"),
    (CaseBookError, 10, "the book of cases"),
    (OddhopError, 1, "a defect in oddhop, or another error"),
    (OSError, 8, "the disk"),
    (KeyboardInterrupt, 130, "interrupted"),
    (Stopped, 143, "terminated"),
)
UNKNOWN = (1, "a defect in oddhop; please report it with the output of --debug")


def fail(error: BaseException, *, debug: bool, as_json: bool) -> int:
    """Write what went wrong to the error stream; give the exit code."""
    code, kind = next(((code, kind) for family, code, kind in CODES if isinstance(error, family)), UNKNOWN)
    if isinstance(error, Stopped):
        code, kind = error.code, str(error)
    if debug:
        traceback.print_exception(error)
    what, to_do = _halves(error)
    if as_json:
        told = {
            "error": what,
            "to_do": to_do,
            "code": code,
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
        }
        line = {**told, "level": "error", "run": Console.last_run, "event": "error"}
        print(json.dumps(line), file=sys.stderr)  # noqa: T201
        return code
    more = "" if debug else "; --debug shows the traceback"
    lines = f"oddhop: {what}\n  to do: {to_do}\n  exit code {code}: {kind}{more}"
    print(fitting(lines, sys.stderr), file=sys.stderr)  # noqa: T201
    return code


def reader_left() -> bool:
    """Return whether the reader of our output, such as head, has left; the rest of the output is then dropped."""
    try:
        output = sys.stdout.fileno()
    except OSError:  # no file, as in a notebook
        return False
    if not hasattr(select, "poll"):  # Windows, where the error is another one
        return True
    watch = select.poll()
    watch.register(output, 0)
    left = any(event & select.POLLERR for _, event in watch.poll(0))
    if left:
        os.dup2(os.open(os.devnull, os.O_WRONLY), output)
    return left


def _halves(error: BaseException) -> tuple[str, str]:
    """Return what was wrong and what to do."""
    if isinstance(error, KeyboardInterrupt):
        return str(error) or "interrupted", "run the same command with --resume to continue"
    if isinstance(error, OSError) and not isinstance(error, OddhopError):
        named = f" {error.filename!r}" if error.filename else ""
        return f"the file{named}: {error.strerror or error}", "correct this, then run the same command with --resume"
    if isinstance(error, OddhopError):
        problem, remedy = (" ".join(part.split()) for part in (error.problem, error.command))
        return problem or type(error).__name__, remedy or "read oddhop COMMAND --help"
    text = " ".join(str(error).split()) or type(error).__name__
    return f"{type(error).__name__}: {text}", "run the same command with --debug"
