"""How long a suite takes: what its cells have taken, and what the others would at the pace of their like."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.comparison.cells import Cell
from benchmarks.comparison.runner import Line
from benchmarks.comparison.summary import Lines

CORES = 2  # of the machine that the page speaks of


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


def hours_of(cells: Sequence[Cell], lines: Lines) -> tuple[float, float]:
    """Return the hours of a core that the cells with a line took, and those that the others would.

    A cell is taken to need the mean of the cells with its detector, network and settings; where there is none, of those
    with its detector and network; then the longest of its detector, which may be too much; then all its budget.
    """
    taken = sum(core_seconds(lines[cell.key]) for cell in cells if cell.key in lines)
    expected = sum(_expected(cell, lines.values()) for cell in cells if cell.key not in lines)
    return taken / 3600, expected / 3600


def _expected(cell: Cell, lines: Iterable[Line]) -> float:
    own = [line for line in lines if line["detector"] == cell.detector]
    there = [line for line in own if line["network"] == cell.network]
    alike = [line for line in there if line["settings"] == cell.settings]
    if closest := alike or there:
        return sum(map(core_seconds, closest)) / len(closest)
    return max(map(core_seconds, own), default=cell.seconds)
