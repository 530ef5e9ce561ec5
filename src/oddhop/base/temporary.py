"""Temporary folders that only their owner can read, and that a killed process does not leave for good."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from oddhop.base import locks

PREFIX, LOCK = "oddhop-", ".lock"


@contextmanager
def temporary_folder(parent: str | os.PathLike[str] | None = None) -> Iterator[Path]:
    """Make a temporary folder and take it away afterwards; take away those of killed processes before.

    A lock in the folder says that its process lives, for it ends with the process.
    """
    sweep_temporary(parent)
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        try:
            with (folder / LOCK).open("xb") as lock:
                with suppress(OSError):  # not every file system has locks, and there nothing is swept
                    locks.lock(lock.fileno())
                if not (folder / LOCK).exists():  # swept before it was locked
                    continue
                yield folder
                return
        finally:  # not before the lock is closed: Windows removes no open file
            shutil.rmtree(folder, ignore_errors=True)


def sweep_temporary(parent: str | os.PathLike[str] | None = None) -> None:
    """Take away the temporary folders of processes that were killed."""
    for folder in Path(parent or tempfile.gettempdir()).glob(f"{PREFIX}*") if locks.SWEEPS else ():
        with suppress(OSError), (folder / LOCK).open("r+b") as lock:  # its process lives, or it is not ours
            locks.lock(lock.fileno(), wait=False)
            shutil.rmtree(folder)
