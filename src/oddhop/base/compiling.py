"""Whom to tell that kernels are being compiled. Apart from the kernels, so that a command can ask without numba."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

_waiting: list[Callable[[], None]] = []
_lock = Lock()


@contextmanager
def told_of_compiling(tell: Callable[[], None]) -> Iterator[None]:
    """Call ``tell`` when the first kernel is compiled meanwhile, and not again; not at all where all were kept."""
    with _lock:
        _waiting.append(tell)
    try:
        yield
    finally:
        with _lock:
            if tell in _waiting:
                _waiting.remove(tell)


def compiling() -> None:
    """Say that a kernel is about to be compiled; called from several threads."""
    with _lock:
        tells = tuple(_waiting)
        _waiting.clear()
    for tell in tells:
        tell()
