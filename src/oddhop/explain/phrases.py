"""Numbers and lists, as a person says them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

LONGEST = 1e15  # a number that is said with all its digits


def spoken(parts: Sequence[str]) -> str:
    """Join phrases as one says them."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)


def counted(count: int, what: str) -> str:
    """Say how many there are."""
    return f"{count:,} {what}{'s' * (count != 1)}"


def one_in(part: float, among: int) -> str:
    """Say a small share of so many nodes as one in so many, with two digits; never as rarer than one of them."""
    if part > 2 / 3:
        return "most"
    if part * among < 1:
        return f"fewer than 1 in {among:,}"
    times = 1 / part
    digits = max(int(np.floor(np.log10(times))) - 1, 0)
    return f"1 in {round(times / 10**digits) * 10**digits:,}"


def share(part: float) -> str:
    """Say a share of the network."""
    percent = 100 * float(part)
    if percent == 0:
        return "none"
    if 0 < percent < 0.1:
        return "under 0.1 %"
    if 99.9 < percent < 100:
        return "over 99.9 %"
    return f"{percent:.2g} %" if percent < 99 else f"{percent:.3g} %"


def said_number(value: float) -> str:
    """Say a number with as many digits as help."""
    if abs(value) >= LONGEST:
        return f"{value:.3g}"
    return f"{round(value):,}" if abs(value) >= 1_000 or value == round(value) else f"{value:.3g}"
