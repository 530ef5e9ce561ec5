"""Locks of open files. They end with their process, so that a killed one leaves none behind."""

from __future__ import annotations

import os
import sys
import time

if sys.platform == "win32":
    import msvcrt

    fcntl = None
else:
    try:
        import fcntl
    except ImportError:
        fcntl = None  # type: ignore[assignment]

SWEEPS = fcntl is not None
"""Whether what killed processes left may be taken away: by its lock, and while it is open, which Windows refuses."""
FAR, PAUSE = 1 << 40, 0.05  # Windows locks bytes: one far behind the end of every file


def lock(file: int, *, shared: bool = False, wait: bool = True) -> None:
    """Lock an open file until it is closed.

    ``BlockingIOError`` says that another process holds it, where ``wait`` is False, and another ``OSError`` that its
    file system has no locks. A system without any locks nothing.
    """
    if sys.platform == "win32":
        while True:
            place = os.lseek(file, 0, os.SEEK_CUR)
            os.lseek(file, FAR, os.SEEK_SET)
            try:
                msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
                return
            except OSError as error:
                if not wait:
                    raise BlockingIOError(*error.args) from None
            finally:
                os.lseek(file, place, os.SEEK_SET)
            time.sleep(PAUSE)
    elif fcntl is not None:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))
