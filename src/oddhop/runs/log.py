"""The receiver of the messages of a run."""

from __future__ import annotations

from typing import Any, Protocol


class Log(Protocol):
    """Receives the messages of a run: sentences with figures, and the progress of its stages."""

    def say(self, event: str, text: str, **figures: Any) -> None:
        """Receive one message: a sentence for people, figures for programs."""

    def progress(self, stage: str, done: int, total: int) -> None:
        """Receive the progress of a stage; called from several threads."""


class Quiet:
    """Tells nobody."""

    def say(self, event: str, text: str, **figures: Any) -> None:
        """Drop it."""

    def progress(self, stage: str, done: int, total: int) -> None:
        """Drop it."""


QUIET = Quiet()
