"""One cell changed: no column is lost, nothing fails, and a value further out is no less unusual.

    python -m benchmarks.one_cell                       # 2,000 pairs, minutes
    python -m benchmarks.one_cell --pairs 200 --page    # writes benchmarks/one-cell.md

A pair is a small network, and the same with one cell of a table of text changed. Both are read and fitted, without
simulated networks, and the model of the first scores the second. Every tenth pair goes through ``detect`` as well. Of a
cell that moves outward, beyond the 99th percentile of its column, the p-value of its node in the view of outliers is
compared: with one column it may not rise. With several it may, for the width of every column changes with its values.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from oddhop import Odd, read_network
from oddhop.odd.combine import KINDS
from oddhop.odd.views import fit_views
from oddhop.runs import checked_run_settings, detect
from oddhop.tables.network import Network

PAGE = Path(__file__).with_name("one-cell.md")
NODES, EDGES, NETWORKS = 90, 270, 10
QUICK: dict[str, Any] = {"simulate": False, "n_resamples": 2, "random_state": 0}
NUMBERS = ("age", "turnover", "balance")
CHANGES = ("x", "inf", "1e400", "empty", "word", "far number", "outward")
OUTLIER = KINDS.index("outlier")


@dataclass(frozen=True)
class Tables:
    """A network as two tables of text."""

    edges: dict[str, list[str]]
    nodes: dict[str, list[str]]

    def read(self, **options: Any) -> Network:
        """Read both tables."""
        return read_network(pa.table(self.edges), pa.table(self.nodes), **options)

    def with_cell(self, table: str, column: str, row: int, cell: str) -> Tables:
        """Return the same with another cell."""
        rows = getattr(self, table)
        return replace(self, **{table: rows | {column: [*rows[column][:row], cell, *rows[column][row + 1 :]]}})


@dataclass(frozen=True)
class Pair:
    """What was changed in which network."""

    network: int
    wide: bool
    table: str
    column: str
    row: int
    change: str
    before: str
    after: str


@dataclass(frozen=True)
class Outcome:
    """What came of a pair.

    Attributes
    ----------
    faults : what must not be: a failure, a lost column, a cell that cannot be read and is not counted.
    rise : by how much the logarithm of the p-value of the node rose, where the cell moved outward; else 0.
    """

    pair: Pair
    faults: tuple[str, ...]
    rise: float = 0.0


def made_up(seed: int, *, wide: bool) -> Tables:
    """Make a network of text tables, with one column of numbers or with many columns and events.

    Examples
    --------
    >>> from benchmarks.one_cell import made_up
    >>> list(made_up(0, wide=False).nodes), len(made_up(0, wide=True).nodes)
    (['id', 'age'], 7)
    """
    rng = np.random.default_rng(seed)
    ids = [f"a{k:02d}" for k in range(NODES)]
    ends = rng.integers(0, NODES, (2, EDGES))
    edges = {"source": [ids[k] for k in ends[0]], "target": [ids[k] for k in ends[1]]}
    nodes = {"id": ids, "age": [str(one) for one in rng.integers(18, 90, NODES)]}
    if not wide:
        return Tables(edges, nodes)
    first = datetime(2026, 1, 1)
    days = [first + timedelta(minutes=int(one)) for one in rng.integers(0, 500_000, EDGES)]
    edges |= {
        "amount": [f"{one:.2f}" for one in rng.lognormal(4, 1, EDGES)],
        "time": [f"{one:%Y-%m-%d %H:%M}" for one in days],
    }
    nodes |= {
        "turnover": [f"{one:.2f} €".replace(".", ",") for one in rng.lognormal(7, 1, NODES)],
        "balance": [f"{one:.3f}" for one in rng.normal(0, 50, NODES)],
        "opened": [f"{first - timedelta(days=int(one)):%d.%m.%Y}" for one in rng.integers(0, 4000, NODES)],
        "business": [("true", "false")[one] for one in rng.integers(0, 2, NODES)],
        "trade": [("bakery", "garage", "florist")[one] for one in rng.integers(0, 3, NODES)],
    }
    return Tables(edges, nodes)


def pairs(count: int, seed: int = 0) -> Iterator[Pair]:
    """Draw pairs: every change as often, in every column that it applies to."""
    rng = np.random.default_rng(seed)
    for k in range(count):
        network, change = int(rng.integers(NETWORKS)), CHANGES[k % len(CHANGES)]
        # One column and many take turns, whatever the change.
        wide = bool(k // len(CHANGES) % 2)
        tables = made_up(network, wide=wide)
        table = "edges" if wide and change != "outward" and rng.random() < 0.25 else "nodes"
        columns = [name for name in getattr(tables, table) if name not in ("id", "source", "target")]
        columns = [name for name in columns if change != "outward" or name in NUMBERS]
        column = str(rng.choice(columns))
        cells = getattr(tables, table)[column]
        row = int(rng.integers(len(cells)))
        after = {"empty": "", "word": "unknown", "far number": "1e12"}.get(change, change)
        if change == "outward":
            after = _outward(column, cells, row, float(rng.uniform(0.01, 3)))
        yield Pair(network, wide, table, column, row, change, cells[row], after)


def _outward(column: str, cells: list[str], row: int, far: float) -> str:
    """Write a value on the same side of the median, beyond the 99th percentile, and further out than it was."""
    values = np.array([float(one.removesuffix(" €").replace(",", ".")) for one in cells])
    low, middle, high = np.percentile(values, [1, 50, 99])
    step = far * (high - low)
    value = max(high, values[row]) + step if values[row] >= middle else min(low, values[row]) - step
    return f"{value:.2f} €".replace(".", ",") if column == "turnover" else f"{value:.3f}"


class Originals:
    """The networks before the change, each read and fitted once."""

    def __init__(self) -> None:
        self.known: dict[tuple[int, bool], tuple[Tables, Network, Any, np.ndarray]] = {}

    def get(self, network: int, *, wide: bool) -> tuple[Tables, Network, Any, np.ndarray]:
        """Return its tables, the network, a fitted detector and the logarithms of its p-values of outliers."""
        if (network, wide) not in self.known:
            tables = made_up(network, wide=wide)
            read = tables.read(flows=wide)
            self.known[network, wide] = tables, read, Odd(**QUICK).fit(read), log_p(read)
        return self.known[network, wide]


def log_p(network: Network) -> np.ndarray:
    """Return the logarithms of the p-values of the view of outliers."""
    return np.asarray(fit_views(network.graph)[1].log_p[OUTLIER])


def outcome(pair: Pair, originals: Originals, *, through_detect: bool = False) -> Outcome:
    """Run both networks of a pair, and say what is wrong.

    Examples
    --------
    >>> from benchmarks.one_cell import Originals, outcome, pairs
    >>> outcome(next(pairs(1)), Originals()).faults
    ()
    """
    tables, before, fitted, p_before = originals.get(pair.network, wide=pair.wide)
    changed = tables.with_cell(pair.table, pair.column, pair.row, pair.after)
    try:
        after = changed.read(flows=pair.wide)
        Odd(**QUICK).fit(after)
        scored = changed.read(flows=pair.wide, encoding=before.encoding)
        fitted.rank(scored)
        if through_detect:
            _detect(changed, flows=pair.wide)
    except Exception as error:
        return Outcome(pair, (f"fails: {type(error).__name__}: {error}",))
    faults = [f"{name} is lost" for name in sorted(_used(before) - _used(after))]
    faults += [f"{name} of the edges is lost" for name in sorted(_roles(before) - _roles(after))]
    unread = pair.change in ("x", "empty", "word") and pair.column != "trade" and pair.table == "nodes"
    if unread and pair.column not in {one.column for one in scored.differences}:
        faults.append("score does not count the cell")
    rise = 0.0
    if pair.change == "outward":
        node = before.ids.to_pylist().index(tables.nodes["id"][pair.row])
        rise = float(log_p(after)[node] - p_before[node])
        if rise > 0 and not pair.wide:
            faults.append("the p-value rises")
    return Outcome(pair, tuple(faults), rise)


def _used(network: Network) -> set[str]:
    assert network.encoding is not None
    return {one.column for one in network.encoding.report if one.attributes and one.kind != "flow"}


def _roles(network: Network) -> set[str]:
    assert network.roles is not None
    return {name for name in (*network.roles.amount, network.roles.time) if name is not None}


def _detect(tables: Tables, *, flows: bool) -> None:
    with tempfile.TemporaryDirectory() as home:
        files = [Path(home, f"{name}.csv") for name in ("edges", "nodes")]
        for file, rows in zip(files, (tables.edges, tables.nodes), strict=True):
            pyarrow.csv.write_csv(pa.table(rows), file)
        settings = checked_run_settings({"read": {"flows": flows}, "odd": QUICK})
        detect(files[0], files[1], out=Path(home, "run"), settings=settings, explain=3, report=False)


def page(outcomes: list[Outcome], seconds: float) -> str:
    """Write the page: counts by change and column, faults, and the rises with several columns."""
    lines = [
        "# One cell changed",
        "",
        f"{len(outcomes):,} pairs of runs on small networks: a network, and the same with one cell changed. "
        "`python -m benchmarks.one_cell --page` writes this page "
        f"({seconds / 60:.0f} minutes of processor here); its docstring says what is done.",
        "",
        f"| change | {' | '.join(('pairs', 'faults', 'p-value rises, one column', 'p-value rises, several'))} |",
        "|---|---|---|---|---|",
    ]
    for change in CHANGES:
        mine = [one for one in outcomes if one.pair.change == change]
        faults, rises = sum(bool(one.faults) for one in mine), ["", ""]
        if change == "outward":
            sides = ([one.rise for one in mine if one.pair.wide == wide] for wide in (False, True))
            rises = [f"{sum(rise > 0 for rise in side)} of {len(side)}" for side in sides]
        lines.append(f"| {change} | {len(mine)} | {faults} | {' | '.join(rises)} |")
    faulty = Counter(f"{one.pair.change} in {one.pair.column}: {fault}" for one in outcomes for fault in one.faults)
    lines += ["", "Faults: " + ("none." if not faulty else "")]
    lines += [f"- {count} x {what}" for what, count in faulty.items()]
    exceptions = sorted((one for one in outcomes if one.rise > 0 and one.pair.wide), key=lambda one: -one.rise)
    lines += ["", f"Rises of the p-value with several columns: {len(exceptions) or 'none'}."]
    for one in exceptions:
        pair = one.pair
        where = f"network {pair.network}, {pair.column} of row {pair.row}"
        lines.append(f"- {where}, {pair.before} to {pair.after}: times {np.exp(one.rise):.3g}")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=2_000)
    parser.add_argument("--page", action="store_true", help="write the page")
    asked = parser.parse_args()
    begun, originals = time.process_time(), Originals()
    outcomes = [outcome(one, originals, through_detect=k % 10 == 0) for k, one in enumerate(pairs(asked.pairs))]
    text = page(outcomes, time.process_time() - begun)
    print(text)
    if asked.page:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
