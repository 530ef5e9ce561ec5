"""The messages of a command while it works: bars with the time left on a terminal, plain lines or JSON elsewhere.

Everything goes to the error stream, so that the output stream has the results alone.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import textwrap
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from enum import StrEnum
from threading import Lock
from typing import Any, ClassVar, TextIO
from uuid import uuid4

from oddhop.base.compiling import told_of_compiling
from oddhop.base.durations import spoken_time
from oddhop.base.printable import spelled

LABELS = {"read": "Read", "left_out": "Note", "unused": "Note", "warning": "Note", "difference": "Note"}
LABELS |= {"unjudged": "Note", "quoted": "Note", "audit": "Check", "ending": "Check", "changed": "Changed"}
DETAILS = ("column", "edges", "flows")  # of how tables were read, which the manifest has, too
LABEL = 9  # letters
LABELLED = re.compile(rf"[A-Z]\w+ +(?<=^.{{{LABEL}}})| *")
WARNINGS = ("audit", "difference", "left_out", "unjudged")
PLAIN_EVERY = 10.0  # seconds between plain lines
WORTH_TELLING = 2.0


class LogFormat(StrEnum):
    """How progress and messages are written."""

    auto = "auto"
    plain = "plain"
    json = "json"


class Console:
    """Says what happens. ``progress`` is handed to the stages as it is; ``last_run`` is the id for an error's line.

    ``verbose`` says also how every column was read.
    """

    last_run: ClassVar[str] = ""

    def __init__(self, log_format: LogFormat, *, verbose: bool = False) -> None:
        self.verbose = verbose
        self.as_json = log_format is LogFormat.json
        self.run = Console.last_run = uuid4().hex  # lines of several runs may end in one file
        self._bars: Any = None
        self._later: list[str] = []
        self._tasks: dict[str, Any] = {}
        self._lock = Lock()
        self._stage, self._first, self._last = "", 0, 0
        self._began = self._told = time.monotonic()
        self._terminal = log_format is LogFormat.auto and sys.stderr.isatty()

    @contextmanager
    def working(self) -> Iterator[None]:
        """Show progress bars on a terminal; write a message when kernels are compiled."""
        compiling = "compiling kernels: the first run on a machine takes 10 to 30 s longer"
        with told_of_compiling(lambda: self.say("compiling", compiling)), self._shown():
            yield

    @contextmanager
    def _shown(self) -> Iterator[None]:
        if not self._terminal:
            yield
            return
        from rich import progress as bars
        from rich.console import Console as Terminal

        columns = (
            bars.TextColumn("{task.description:>10}"),
            bars.BarColumn(),
            bars.TaskProgressColumn(),
            bars.TimeElapsedColumn(),
            bars.TextColumn("left"),
            bars.TimeRemainingColumn(elapsed_when_finished=False),
        )
        with bars.Progress(*columns, console=Terminal(stderr=True)) as self._bars:
            try:
                yield
            finally:
                self._tasks.clear()
        self._bars = None

    def progress(self, stage: str, done: int, total: int) -> None:
        """Take a stage's report; called from several threads."""
        with self._lock:
            if self._bars is not None:
                if stage not in self._tasks:
                    self._tasks[stage] = self._bars.add_task(stage, total=total)
                if stage == self._stage and done < self._last:  # a stage may begin again
                    self._bars.reset(self._tasks[stage], total=total)
                self._stage, self._last = stage, done
                self._bars.update(self._tasks[stage], completed=done, total=total)
            elif not self._terminal:
                self._line(stage, done, total)

    def say(self, event: str, text: str, **figures: Any) -> None:
        """Write one message: a sentence for people, figures for programs."""
        if self.as_json:
            self._write_json(event, figures)
            return
        if event in DETAILS and not self.verbose:
            return
        text = labelled(LABELS.get(event, ""), text)
        if event == "audit":  # the reader wants the list first
            self._later.append(text)
            return
        if event == "done":
            later, self._later = self._later, []
            text = "\n".join([*later, text])
        if self._bars is not None:
            self._bars.console.print(fitting(text, sys.stderr), markup=False, highlight=False, soft_wrap=True)
        else:
            self._write(text)

    def _line(self, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if stage != self._stage or done < self._last:
            self._stage, self._began, self._told = stage, now, now
            self._first = done
        self._last = done
        ended = done >= total and now - self._began > WORTH_TELLING
        if not ended and (done >= total or now - self._told < PLAIN_EVERY):
            return
        self._told = now
        spent = now - self._began
        left = spent / max(done - self._first, 1) * (total - done)
        if self.as_json:
            figures = {"stage": stage, "done": done, "total": total, "seconds": round(spent, 1), "left": round(left, 1)}
            self._write_json("progress", figures)
        else:
            rest = f", about {spoken_time(left)} left" if not ended else ""
            self._write(f"{stage}: {done:,} of {total:,} after {spoken_time(spent)}{rest}")

    def _write_json(self, event: str, figures: Mapping[str, Any]) -> None:
        """Write one line: when, how grave, of which run of the command, what, and its figures."""
        level = "warning" if event in WARNINGS else "info"
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._write_raw(json.dumps({**figures, "time": now, "level": level, "run": self.run, "event": event}))

    def _write(self, text: str) -> None:
        self._write_raw(fitting(text, sys.stderr))

    @staticmethod
    def _write_raw(line: str) -> None:
        print(spelled(line), file=sys.stderr, flush=True)  # noqa: T201


def labelled(label: str, text: str) -> str:
    """Return lines below each other, behind a label in a column of its own; without one as they are."""
    if not label:
        return text
    return "\n".join(f"{label if k == 0 else '':<{LABEL}}{line}" for k, line in enumerate(text.split("\n")))


def echo(text: str) -> None:
    """Write a line to the output as it is; names from files cannot control the terminal."""
    print(spelled(text))  # noqa: T201


def tell_sentence(text: str) -> None:
    """Write a sentence to the output, folded in a terminal."""
    print(fitting(text, sys.stdout))  # noqa: T201


def fitting(text: str, stream: TextIO) -> str:
    """Spell out a text, and in a terminal wrap its lines between words; elsewhere a line stays a line."""
    told = spelled(text)
    if not stream.isatty():
        return told
    try:
        own = os.get_terminal_size(stream.fileno()).columns
    except OSError:
        own = 0
    width = shutil.get_terminal_size((own or 80, 24)).columns  # COLUMNS first; a terminal may not know its size
    return "\n".join(_folded(line, width) for line in told.splitlines())


def _folded(line: str, width: int) -> str:
    """Fold a line between words; a command is to be copied whole, and the terminal folds that."""
    if "oddhop " in line:
        return line
    begin = LABELLED.match(line)
    indent = " " * (LABEL if begin and begin[0].strip() else len(line) - len(line.lstrip()) + 2)
    return textwrap.fill(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
