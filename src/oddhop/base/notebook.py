"""Progress in a notebook: a bar that is updated in place, with the time left.

Nothing of IPython is imported here: where a notebook runs, it is loaded already.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Lock, Thread
from typing import Any

from markupsafe import Markup

from oddhop.base.compiling import told_of_compiling
from oddhop.base.durations import spoken_time
from oddhop.base.html import shown
from oddhop.base.parallel import Progress, silent

WAIT, EVERY = 2.0, 0.5  # seconds before the first bar, and between two looks of it


@dataclass(frozen=True)
class Bar:
    """How far a stage is.

    Attributes
    ----------
    stage, done, total : as a stage reports them.
    seconds : since the stage began.
    first : what was done already when it began, as in a run that goes on after it was stopped.
    note : what else is to be said.
    """

    stage: str
    done: int
    total: int
    seconds: float
    first: int = 0
    note: str = ""

    def __repr__(self) -> str:
        said = f"{self.stage}: {self.done:,} of {self.total:,} after {spoken_time(self.seconds)}"
        if self.first < self.done < self.total:
            left = self.seconds / (self.done - self.first) * (self.total - self.done)
            said += f", about {spoken_time(left)} left"
        return f"{said}; {self.note}" if self.note else said

    def _repr_html_(self) -> str:
        form = Markup('<progress value="{}" max="{}" style="width:16em;vertical-align:middle"></progress> {}')
        return str(form.format(self.done, max(self.total, 1), shown(repr(self), 240)))


class NotebookProgress:
    """Take the reports of the stages, from several threads, and show the last one twice a second."""

    def __init__(self, display: Any) -> None:
        self._display, self._handle = display, None
        self._lock, self._over = Lock(), Event()
        self._began = self._stage_began = time.monotonic()
        self._report, self._first, self._note = ("", 0, 0), 0, ""
        self._thread = Thread(target=self._show_until_over, daemon=True)

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Take a stage's report."""
        with self._lock:
            if stage != self._report[0]:
                self._stage_began, self._first = time.monotonic(), done
            self._report = stage, done, total

    def compiling(self) -> None:
        """Take note that kernels are compiled."""
        self._note = "compiling kernels, which are kept: the first run on a machine takes 10 to 30 s longer"

    def begin(self) -> None:
        """Begin to show the bar, two seconds from now."""
        self._thread.start()

    def end(self, word: str) -> None:
        """Put one line in the place of the bar, if there is one."""
        self._over.set()
        self._thread.join()
        if self._handle is not None:
            said = f"{word} {spoken_time(time.monotonic() - self._began)}."
            self._handle.update({"text/plain": said, "text/html": f"<div>{said}</div>"}, raw=True)

    def _show_until_over(self) -> None:
        pause = WAIT
        while not self._over.wait(pause):
            pause = EVERY
            with self._lock:
                (stage, done, total), began, first = self._report, self._stage_began, self._first
            if not stage:
                continue
            bar = Bar(stage, done, total, time.monotonic() - began, first, self._note)
            if self._handle is None:
                self._handle = self._display(bar, display_id=True)
            else:
                self._handle.update(bar)


@contextmanager
def shown_progress(progress: Progress | None) -> Iterator[Progress]:
    """Return whom to tell of progress: ``progress``, or else a bar in a notebook, and nobody elsewhere."""
    display = None if progress is not None else _display_of_kernel()
    if display is None:
        yield progress or silent
        return
    bar = NotebookProgress(display)
    bar.begin()
    word = "Stopped after"
    try:
        with told_of_compiling(bar.compiling):
            yield bar
        word = "Finished in"
    finally:
        bar.end(word)


def _display_of_kernel() -> Any:
    """Return IPython's function that displays, where code runs in the kernel of a notebook; else None."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if ipython is None or getattr(shell, "kernel", None) is None:  # a terminal has a shell, and no kernel
        return None
    return ipython.display.display
