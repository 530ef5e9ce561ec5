"""Who may read what oddhop writes: its owner, and the group where that was said."""

from __future__ import annotations

import stat
from contextlib import suppress
from pathlib import Path

_shared = [False]  # said once, for all of a process


def share_with_group(shared: bool) -> None:
    """Say whether files and folders that are made from now on are for the group of their owner as well."""
    _shared[0] = shared


def for_owner(made: Path, *, instead_of: Path | None = None) -> None:
    """Let nobody but its owner use a new file or folder, whatever the umask; what it replaces keeps its permissions."""
    mode = 0o770 if _shared[0] else 0o700
    with suppress(OSError):  # not every file system has permissions
        if instead_of is not None and instead_of.exists():
            made.chmod(stat.S_IMODE(instead_of.stat().st_mode))
        else:
            made.chmod(mode if made.is_dir() else mode & 0o660)
