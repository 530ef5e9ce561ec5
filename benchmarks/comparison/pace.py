"""What a cell of a suite took."""

from __future__ import annotations

from benchmarks.comparison.runner import Line


def core_seconds(line: Line) -> float:
    """Return the seconds of a core that a cell took, its start and its network included.

    What a detector waited for what ran beside it is taken off; what its start waited is not known.

    Examples
    --------
    >>> from benchmarks.comparison.pace import core_seconds
    >>> core_seconds({"wall": 30.0, "wall_seconds": 24.0, "seconds": 20.0})
    26.0
    """
    if "seconds" in line:
        return float(line["wall"] - line["wall_seconds"] + line["seconds"])
    return float(line.get("spent", {}).get("seconds", line["wall"]))
