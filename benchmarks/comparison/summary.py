"""What the lines of a benchmark say about a group of cells: a mean with its interval, or why there is none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.comparison.cells import Cell
from benchmarks.comparison.runner import Line

Lines = Mapping[str, Line]
"""The last line of every cell, by its key."""
NOT_RUN = "not run"


@dataclass(frozen=True)
class Summary:
    """A figure over several runs, with its 95 % interval over nodes and runs.

    Attributes
    ----------
    mean, low, high : None where no run has ended well.
    runs, asked : the runs that ended well, and all that belong to the group.
    note : what came of the runs that have no figure: "not run", "over time", "over memory", "failed".
    """

    mean: float | None
    low: float | None
    high: float | None
    runs: int
    asked: int
    note: str = ""

    @property
    def half(self) -> float:
        """Half the width of the interval, on its lower side; 0 where there is none."""
        return (self.mean or 0.0) - (self.low or 0.0)

    @property
    def figure(self) -> str:
        """The mean without its interval, or why there is none."""
        return self.note if self.mean is None else digits(self.mean)

    def __str__(self) -> str:
        if self.mean is None or self.low is None or self.high is None:
            return self.note
        rest = f", {self.note}" if self.note else ""
        some = "" if self.runs == self.asked else f" ({self.runs} of {self.asked} runs{rest})"
        return f"{digits(self.mean)} [{digits(self.low)}, {digits(self.high)}]{some}"


def done_lines(lines: Lines, cells: Sequence[Cell]) -> list[Line]:
    """Return the lines of those cells that ended well."""
    return [lines[cell.key] for cell in cells if lines.get(cell.key, {}).get("status") == "done"]


def summarise(lines: Lines, cells: Sequence[Cell], score: str, figure: str = "roc_auc", kind: str = "") -> Summary:
    """Return the mean of a figure over a group of cells.

    Nodes: the standard error of each run. Runs: their spread. Where runs share their anomalies, the error over the
    nodes does not shrink with more runs, and both add up. Where every injection draws new anomalies, their spread
    holds both; of that interval (Student's) and the one over the nodes alone the wider is given.

    Examples
    --------
    >>> from benchmarks.comparison.cells import Cell
    >>> from benchmarks.comparison.summary import summarise
    >>> cell = Cell("cora", "HCM")
    >>> line = {"status": "done", "figures": {"ahp": {"roc_auc": 0.8, "roc_auc_error": 0.02}}}
    >>> print(summarise({cell.key: line}, [cell], "ahp"))
    .800 [.761, .839]
    >>> print(summarise({}, [cell], "ahp"))
    not run
    >>> longer = Cell("cora", "HCM", seed=1)
    >>> print(summarise({cell.key: line, longer.key: {"status": "over time"}}, [cell, longer], "ahp"))
    .800 [.761, .839] (1 of 2 runs, 1 over time)
    """
    found = [(cell, lines[cell.key]) for cell in cells if cell.key in lines]
    values, errors, groups = [], [], []
    for cell, line in found:
        parts: dict[str, Any] = line.get("figures", {}).get(score, {}) if line["status"] == "done" else {}
        parts = parts.get(kind, {}) if kind else parts
        if figure in parts:
            values.append(parts[figure])
            errors.append(parts.get(f"{figure}_error", 0.0))
            groups.append(cell.injection.seed if cell.injection else -1)
    ended = Counter(line["status"] for _, line in found if line["status"] != "done")
    if not values:
        note = ", ".join(sorted(ended)) if ended else ("" if found else NOT_RUN)
        return Summary(None, None, None, 0, len(cells), note)
    note = ", ".join(f"{count} {status}" for status, count in sorted(ended.items()))
    half = _half_width(np.array(values), np.array(errors), np.array(groups))
    mean = float(np.mean(values))
    return Summary(mean, max(mean - half, 0.0), min(mean + half, 1.0), len(values), len(cells), note)


def difference(
    lines: Lines, some: Sequence[Cell], others: Sequence[Cell], score: str, other: str = ""
) -> tuple[float, float] | None:
    """Return the mean difference of ROC-AUC and the half width of its 95 % interval; None where there is none.

    Runs on the same two or more injections are paired. Otherwise both intervals are joined as if they had nothing in
    common, which is too wide for scores that are alike.
    """
    other = other or score
    same: dict[object, Cell] = {(cell.injection, cell.seed): cell for cell in others if cell.injection}
    both = [(cell, same[cell.injection, cell.seed]) for cell in some if (cell.injection, cell.seed) in same]
    figures = [(summarise(lines, [a], score).mean, summarise(lines, [b], other).mean) for a, b in both]
    apart = [a - b for a, b in figures if a is not None and b is not None]
    if len(apart) > 1:
        half = stats.t.ppf(0.975, len(apart) - 1) * np.std(apart, ddof=1) / np.sqrt(len(apart))
        return float(np.mean(apart)), float(half)
    one, two = summarise(lines, some, score), summarise(lines, others, other)
    if one.mean is None or two.mean is None:
        return None
    return one.mean - two.mean, float(np.hypot(one.half, two.half))


def _half_width(values: np.ndarray, errors: np.ndarray, groups: np.ndarray) -> float:
    drawn = np.unique(groups)
    over_nodes = np.mean(errors**2) / drawn.size
    if drawn.size == 1:
        over_runs = values.var(ddof=1) / values.size if values.size > 1 else 0.0
        return float(stats.norm.ppf(0.975) * np.sqrt(over_nodes + over_runs))
    means = np.array([values[groups == group].mean() for group in drawn])
    spread = stats.t.ppf(0.975, drawn.size - 1) * np.sqrt(means.var(ddof=1) / drawn.size)
    return float(max(spread, stats.norm.ppf(0.975) * np.sqrt(over_nodes)))


def best(summaries: Mapping[str, Summary]) -> str:
    """Name the highest of several figures."""
    known = {name: summary for name, summary in summaries.items() if summary.mean is not None}
    if not known:
        return NOT_RUN
    name = max(known, key=lambda key: known[key].mean or 0.0)
    return f"{name} {digits(known[name].mean or 0.0)}"


def widest(rows: Sequence[Sequence[Summary]]) -> list[str]:
    """Return half of the widest interval of every column."""
    return [digits(max(one.half for one in column)) for column in zip(*rows, strict=True)]


def digits(value: float) -> str:
    """Write a figure between 0 and 1 with three digits and no leading zero.

    Examples
    --------
    >>> from benchmarks.comparison.summary import digits
    >>> digits(0.7915), digits(1.0), digits(-0.012)
    ('.791', '1.000', '-.012')
    """
    return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.3f}"


def signed(value: float) -> str:
    """Write a difference with its sign."""
    return f"{'+' if value >= 0 else ''}{digits(value)}"


def slope(sizes: Sequence[float], values: Sequence[float]) -> float | None:
    """Return the exponent of growth: the slope of a straight line through the logarithms of the larger half.

    Examples
    --------
    >>> from benchmarks.comparison.summary import slope
    >>> round(slope([10, 100, 1000], [1, 100, 10000]), 3)
    2.0
    """
    kept = [(size, value) for size, value in zip(sizes, values, strict=True) if value > 0]
    # Small networks tell of what is constant; growth shows at the large end.
    kept = kept[-max(3, (len(kept) + 1) // 2) :]
    if len(kept) < 2:
        return None
    x, y = np.log(np.array(kept)).T
    return float(np.polyfit(x, y, 1)[0])


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Write a Markdown table."""
    lines = ["| " + " | ".join(str(entry) for entry in line) + " |" for line in (header, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(header), *lines[1:]])
