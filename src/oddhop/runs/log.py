"""The receiver of the messages of a run."""

from __future__ import annotations

import logging
from typing import Any, Protocol

LOGGER = logging.getLogger("oddhop")


class Log(Protocol):
    """Receives the messages of a run: sentences with figures, and the progress of its stages."""

    def say(self, event: str, text: str, **figures: Any) -> None:
        """Receive one message: a sentence for people, figures for programs."""

    def progress(self, stage: str, done: int, total: int) -> None:
        """Receive the progress of a stage; called from several threads."""


class Logged:
    """Tells Python's ``logging``, under the name ``oddhop``; nobody, unless that was configured."""

    def say(self, event: str, text: str, **figures: Any) -> None:
        """Log it, with the figures as attributes of the record."""
        LOGGER.info(text.strip(), extra={"event": event, "figures": figures})

    def progress(self, stage: str, done: int, total: int) -> None:
        """Log it, where that much is asked for."""
        LOGGER.debug("%s: %d of %d", stage, done, total)


LOGGED = Logged()
