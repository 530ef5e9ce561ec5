"""Sizes in bytes: read from text, and said."""

from __future__ import annotations

from typing import Any

from oddhop.errors import SettingsError

UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def in_bytes(size: Any) -> Any:
    """Read a size such as "4GiB", "500M" or "2e9"; anything but text is returned as it is."""
    if not isinstance(size, str):
        return size
    number = size.strip().lower().removesuffix("b").removesuffix("i")
    unit = number[-1:] if number[-1:] in UNITS else ""
    try:
        return int(float(number.removesuffix(unit)) * UNITS[unit])
    except (ValueError, OverflowError):
        raise SettingsError(
            f"a size must be a number with K, M, G or T, got {size!r}", "write for example 4GiB"
        ) from None


def checked_bytes(size: Any) -> int | None:
    """Read a limit as :func:`in_bytes` does, and refuse what is none."""
    limit = in_bytes(size)
    if limit is not None and (type(limit) is not int or limit < 1):
        raise SettingsError(f'max_memory must be a number of bytes or text such as "4GiB", got {size!r}')
    return limit


def sized(count: float) -> str:
    """Return a number of bytes as people say it."""
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{count / 2**20:.0f} MiB"
