"""Numbers and lists, as a person says them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

LONGEST = 1e15  # a number that is said with all its digits


def spoken(parts: Sequence[str]) -> str:
    """Join phrases as one says them.

    Examples
    --------
    >>> from oddhop.explain.phrases import spoken
    >>> spoken(["red", "blue", "green"])
    'red, blue and green'
    """
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)


def counted(count: int, what: str) -> str:
    """Say how many there are.

    Examples
    --------
    >>> from oddhop.explain.phrases import counted
    >>> counted(1, "event"), counted(2000, "event")
    ('1 event', '2,000 events')
    """
    return f"{count:,} {what}{'s' * (count != 1)}"


def one_in(part: float) -> str:
    """Say a small share as one in so many, with two digits.

    Examples
    --------
    >>> from oddhop.explain.phrases import one_in
    >>> one_in(0.8), one_in(0.5), one_in(0.0123), one_in(1e-9)
    ('most', '1 in 2', '1 in 81', 'fewer than 1 in a million')
    """
    if part > 2 / 3:
        return "most"
    if part < 1e-6:
        return "fewer than 1 in a million"
    times = 1 / part
    digits = max(int(np.floor(np.log10(times))) - 1, 0)
    return f"1 in {round(times / 10**digits) * 10**digits:,}"


def share(part: float) -> str:
    """Say a share of the network.

    Examples
    --------
    >>> from oddhop.explain.phrases import share
    >>> share(0.5), share(0.00002), share(0.9999), share(0)
    ('50 %', 'under 0.1 %', 'over 99.9 %', 'none')
    """
    percent = 100 * float(part)
    if percent == 0:
        return "none"
    if 0 < percent < 0.1:
        return "under 0.1 %"
    if 99.9 < percent < 100:
        return "over 99.9 %"
    return f"{percent:.2g} %" if percent < 99 else f"{percent:.3g} %"


def said_number(value: float) -> str:
    """Say a number with as many digits as help.

    Examples
    --------
    >>> from oddhop.explain.phrases import said_number
    >>> [said_number(one) for one in (12345.6, 3.0, 0.12345, 1.2e300, float("-inf"))]
    ['12,346', '3', '0.123', '1.2e+300', '-inf']
    """
    if abs(value) >= LONGEST:
        return f"{value:.3g}"
    return f"{round(value):,}" if abs(value) >= 1_000 or value == round(value) else f"{value:.3g}"
