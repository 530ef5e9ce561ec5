"""How a command is stopped: Ctrl-C and SIGTERM let it take away what is unfinished."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

NAMES = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}


class Stopped(KeyboardInterrupt):
    """A command was stopped by a signal."""

    def __init__(self, number: int) -> None:
        self.code = 128 + number  # as a shell says it
        super().__init__(NAMES[signal.Signals(number)])


@contextmanager
def stoppable() -> Iterator[None]:
    """Raise :class:`Stopped` if a signal ended what is done here, whatever a library made of it.

    DuckDB and SQLite make errors of their own of an interrupt; and what ends well on Ctrl-C, such as a server, has not
    ended well on SIGTERM.
    """
    caught: list[int] = []

    def stop(number: int, _: Any) -> None:
        caught.append(number)
        raise KeyboardInterrupt

    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():  # no other may
        before = {number: signal.signal(number, stop) for number in NAMES}
    try:
        yield
        if caught and caught[-1] != signal.SIGINT:
            raise KeyboardInterrupt
    except BaseException:
        if caught:
            raise Stopped(caught[-1]) from None
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
