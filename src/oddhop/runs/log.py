"""Whom a run tells what it does."""

from __future__ import annotations

from typing import Any, Protocol


class Log(Protocol):
    """Takes what a run has to say: sentences with figures, and how far a stage is."""

    def say(self, event: str, text: str, **figures: Any) -> None:
        """Take one thing: a sentence for people, figures for programs."""

    def progress(self, stage: str, done: int, total: int) -> None:
        """Take how much of a stage is done; called from several threads."""


class Quiet:
    """Tells nobody."""

    def say(self, event: str, text: str, **figures: Any) -> None:
        """Drop it."""

    def progress(self, stage: str, done: int, total: int) -> None:
        """Drop it."""


QUIET = Quiet()
