"""What of a ranking survives a harmless change of its input.

    ODDHOP_DATA=... python -m benchmarks.steady                      # every network and change; about ten minutes
    ODDHOP_DATA=... python -m benchmarks.steady cora bank --draws 1  # some of them

Every cell says how many of the first 50 nodes are still among the first 50, and the rank correlation of all scores;
the least of the draws. Where edges are added, only nodes that no added edge touches are counted, before and after: a
random edge makes a stranger. steady.md has the table.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import scipy.sparse as sp
from scipy.stats import spearmanr

from benchmarks.bank import bank
from benchmarks.networks import data_folder, load_network
from oddhop import Graph
from oddhop.odd.null import simulate_chance
from oddhop.odd.views import fit_views
from oddhop.tables.network import as_network

TOP = 50
GRAPHS = ("cora", "citeseer", "facebook_tam", "blogcatalog_raw", "amazon_fraud_tam", "bond_reddit")
TABLES = ("bank", "sichuan_telecom")


@dataclass(frozen=True, eq=False)
class Tables:
    """An edge table, whose first two columns are the ends, and a node table, whose first column is the id."""

    edges: pa.Table
    nodes: pa.Table

    @property
    def numbers(self) -> list[str]:
        """The names of the columns that hold numbers."""
        measured = (pa.types.is_integer, pa.types.is_floating)
        return [one.name for one in self.nodes.schema if any(test(one.type) for test in measured)]


Input = Graph | Tables
Change = Callable[[Input, np.random.Generator], tuple[Input, Input] | None]
"""What is compared, from an input and a draw; None where there is nothing to change."""


def scores(given: Input) -> np.ndarray:
    """Return the scores of Odd, one a node, in the order of the ids."""
    graph = given if isinstance(given, Graph) else as_network(given.edges, given.nodes).graph
    return np.where(graph.degrees > 0, fit_views(graph, workers=2)[1].score, -np.inf)


def beside(x: Any, more: np.ndarray) -> Any:
    """Append columns to the attributes of a graph."""
    return sp.hstack([x, sp.csr_array(more)], "csr") if sp.issparse(x) else np.hstack([x, more])


def with_column(given: Input, values: np.ndarray) -> Input:
    """Append a column; a category to a graph by its indicators, as encoding would."""
    if isinstance(given, Tables):
        return Tables(given.edges, given.nodes.append_column("noise", pa.array(values)))
    more = values[:, None] if values.dtype.kind == "f" else (values[:, None] == np.unique(values)).astype(np.float64)
    return given.with_attributes(beside(given.attributes, more))


def size(given: Input) -> int:
    """Count the nodes."""
    return given.node_count if isinstance(given, Graph) else given.nodes.num_rows


def noise_number(given: Input, rng: np.random.Generator) -> tuple[Input, Input]:
    """Append a column of normal numbers."""
    return given, with_column(given, rng.normal(size=size(given)))


def noise_category(given: Input, rng: np.random.Generator) -> tuple[Input, Input]:
    """Append a column of one of three colours, evenly drawn."""
    return given, with_column(given, rng.choice(["blue", "green", "red"], size(given)))


def duplicate(given: Input, rng: np.random.Generator) -> tuple[Input, Input]:
    """Return one column twice."""
    if isinstance(given, Tables):
        name = str(rng.choice(given.nodes.column_names[1:]))
        return given, Tables(given.edges, given.nodes.append_column("again", given.nodes[name]))
    x, one = given.attributes, [int(rng.integers(given.attribute_count))]
    again = x[:, one].toarray() if isinstance(x, sp.csr_array) else x[:, one]
    return given, given.with_attributes(beside(x, again))


def unit(given: Input, rng: np.random.Generator) -> tuple[Input, Input] | None:
    """Measure a column of numbers on another scale: Fahrenheit for Celsius."""
    if isinstance(given, Tables):
        name = str(rng.choice(given.numbers))
        other = pc.add(pc.multiply(pc.cast(given.nodes[name], pa.float64()), 1.8), 32.0)
        place = given.nodes.column_names.index(name)
        return given, Tables(given.edges, given.nodes.set_column(place, name, other))
    x = given.attributes
    if sp.issparse(x):
        return None
    measured = np.flatnonzero((x.min(axis=0) < 0) | (np.count_nonzero(x, axis=0) > len(x) / 2))
    if not measured.size:
        return None
    other = x.copy()
    other[:, rng.choice(measured)] *= 1.8
    return given, given.with_attributes(other)


def order(given: Input, rng: np.random.Generator) -> tuple[Input, Input]:
    """Return the columns in another order."""
    if isinstance(given, Tables):
        names = given.nodes.column_names
        return given, Tables(given.edges, given.nodes.select([names[0], *rng.permutation(names[1:]).tolist()]))
    return given, given.with_attributes(given.attributes[:, rng.permutation(given.attribute_count)])


def filled(given: Input, rng: np.random.Generator) -> tuple[Input, Input] | None:
    """Fill the gaps of a column of numbers, one value in twenty, by its median."""
    if isinstance(given, Graph):
        return None
    name = str(rng.choice(given.numbers))
    place, values = given.nodes.column_names.index(name), pc.cast(given.nodes[name], pa.float64())
    gaps = pc.if_else(pa.array(rng.random(len(values)) < 0.05), None, values)
    full = pc.fill_null(gaps, float(np.nanmedian(gaps.to_numpy())))
    return tuple(Tables(given.edges, given.nodes.set_column(place, name, one)) for one in (gaps, full))  # type: ignore[return-value]


def dropped(given: Input, rng: np.random.Generator) -> tuple[Input, Input]:
    """Leave out one edge in a hundred."""
    if isinstance(given, Tables):
        return given, Tables(given.edges.filter(pa.array(rng.random(given.edges.num_rows) >= 0.01)), given.nodes)
    ends = np.stack(given.ends(0, given.edge_count))
    return given, Graph.from_arrays(ends[:, rng.random(given.edge_count) >= 0.01], given.attributes)


def added(given: Input, rng: np.random.Generator) -> tuple[Input, Input]:
    """Add one random edge for every hundred."""
    if isinstance(given, Tables):
        count = given.edges.num_rows // 100
        rows = rng.integers(0, given.nodes.num_rows, (2, count))
        if pc.all(pc.less_equal(given.edges.column(0), given.edges.column(1))).as_py():
            rows.sort(axis=0)  # a list of undirected edges stays one
        ends = [given.nodes.column(0).take(pa.array(some)) for some in rows]
        # All else of an added row is that of some other row.
        more = given.edges.take(pa.array(rng.integers(0, given.edges.num_rows, count)))
        for place, end in enumerate(ends):
            more = more.set_column(place, given.edges.column_names[place], end)
        return given, Tables(pa.concat_tables([given.edges, more.cast(given.edges.schema)]), given.nodes)
    drawn = rng.integers(0, given.node_count, (2, given.edge_count // 100))
    joined = np.concatenate([np.stack(given.ends(0, given.edge_count)), drawn], axis=1)
    return given, Graph.from_arrays(joined, given.attributes)


CHANGES: dict[str, Change] = {
    "a noise number": noise_number,
    "a noise category": noise_category,
    "a column twice": duplicate,
    "another unit": unit,
    "another column order": order,
    "gaps filled": filled,
    "1 % of edges dropped": dropped,
    "1 % of edges added": added,
}


def kept(before: np.ndarray, after: np.ndarray, counted: np.ndarray) -> tuple[int, float]:
    """Count how many of the first stay among the first, and correlate the order of all that are judged in both."""
    counted = counted & np.isfinite(before) & np.isfinite(after)
    first, then = (set(np.argsort(-one[counted], kind="stable")[:TOP].tolist()) for one in (before, after))
    return len(first & then), float(spearmanr(before[counted], after[counted]).statistic)


def untouched(before: Input, after: Input) -> np.ndarray:
    """Tell which nodes have no edge that was added."""
    one, two = (g if isinstance(g, Graph) else as_network(g.edges, g.nodes).graph for g in (before, after))
    new = np.setdiff1d(*(np.array([g.node_count, 1]) @ np.stack(g.ends(0, g.edge_count)) for g in (two, one)))
    free = np.ones(two.node_count, dtype=bool)
    free[new // two.node_count] = free[new % two.node_count] = False
    return free


def opened(name: str) -> Input:
    """Open a network by its name."""
    if name == "bank":
        made = bank()
        return Tables(made.payments, made.accounts)
    if name in TABLES:
        folder: Path = data_folder() / name
        nodes = pq.read_table(folder / "nodes.parquet")
        return Tables(pq.read_table(folder / "edges.parquet"), nodes.drop_columns(["label"]))
    return load_network(name).graph


def window(moves: int) -> str:
    """Move the window of the bank by a day, some times; say who stays among the first, and who still stands out."""
    made = bank(days=29 + moves)
    found, clear, likely = [], [], []
    for day in range(moves + 1):
        graph = as_network(made.window(day), made.accounts).graph
        fitted, evidence, data = fit_views(graph, workers=2)
        found.append(np.where(graph.degrees > 0, evidence.score, -np.inf))
        chance = simulate_chance(fitted, data, evidence.score, 0)
        order = np.argsort(-found[-1], kind="stable")
        judged = evidence.score[graph.degrees > 0]
        clear.append(set(order[: chance.standing_out(judged, 0.1)].tolist()))
        likely.append(set(order[: chance.standing_out(judged, 0.2)].tolist()))
        print(f"day {day}: {len(clear[-1])} stand out at .1, {len(likely[-1])} at .2", flush=True)
    everyone = np.ones(found[0].size, dtype=bool)
    cells = [kept(one, two, everyone) for one, two in pairwise(found)]
    still = [len(before & after) / len(before) for before, after in zip(clear, likely[1:], strict=False) if before]
    return (
        f"{np.mean([top for top, _ in cells]):.1f} of 50 stay among the first, correlation "
        f"{np.mean([order for _, order in cells]):.3f}; {np.mean([len(one) for one in clear]):.1f} nodes stand out at "
        f".1 (at least {min(len(one) for one in clear)}), of which {np.mean(still):.0%} still stand out at .2"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", default=(*GRAPHS, *TABLES))
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--moves", type=int, default=10, help="how often the bank's window is moved by a day")
    asked = parser.parse_args()
    rows: dict[str, list[str]] = {name: [] for name in CHANGES}
    for name in asked.networks:
        given = opened(name)
        base = scores(given)
        for label, change in CHANGES.items():
            cells = []
            for draw in range(asked.draws):
                pair = change(given, np.random.default_rng([draw, len(label)]))
                if pair is None:
                    continue
                before = base if pair[0] is given else scores(pair[0])
                counted = untouched(*pair) if change is added else np.ones(before.size, dtype=bool)
                cells.append(kept(before, scores(pair[1]), counted))
            low = f"{min(top for top, _ in cells)} / {min(order for _, order in cells):.3f}" if cells else ""
            rows[label].append(low)
            print(f"{name}, {label}: {rows[label][-1]}", flush=True)
    print("\n| change | " + " | ".join(asked.networks) + " |\n" + "|---" * (len(asked.networks) + 1) + "|")
    for label, found in rows.items():
        print(f"| {label} | " + " | ".join(found) + " |")
    if "bank" in asked.networks and asked.moves:
        print(f"\nThe bank's window moved by a day, the mean of {asked.moves} moves: {window(asked.moves)}.")


if __name__ == "__main__":
    main()
