"""One seed of a world: the command a user runs, and how many crimes and twins are in what it prints."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from benchmarks.schemes import bank, hosts, payments
from benchmarks.schemes.questions import arrow, forest_ranks, question_ranks
from benchmarks.schemes.world import BACKGROUND, WHOLE, Layout, Mark, Tables

CASES, NODES, CHANCE, SMALL = 20, 50, 0.1, 0.01
DETECT = "from oddhop.cli import app; app()"
UNEXCUSED = "unexcused"
WITHOUT_EXCUSES = f"from oddhop.odd.facts import excuses; excuses.WEIGHT = 0.0; {DETECT}"


@dataclass(frozen=True)
class Kind:
    """A sort of made-up network: how to make one, and which seeds stay closed until somebody opens them."""

    layout: Layout
    make: Callable[[int, str], Tables]
    closed: tuple[int, ...]
    asks: bool = False  # whether every scheme has a question


KINDS = {
    "payments": Kind(bank.LAYOUT, payments.make, tuple(range(11, 51)), asks=True),
    "hosts": Kind(hosts.LAYOUT, hosts.make, tuple(range(6, 21))),
}


def refused(world: str, seeds: list[int]) -> str | None:
    """Return why seeds may not be measured; None where they may."""
    closed = sorted({*seeds} & {*KINDS[world].closed})
    if not closed:
        return None
    return (
        f"seeds {', '.join(map(str, closed))} of the {world} are closed, to be opened once when everything is frozen; "
        "take seeds 1 to 10 of the payments or 1 to 5 of the hosts, or give --open-held-out"
    )


def detect(tables: Tables, seed: int, *flagging: str, run: str = DETECT) -> pa.Table:
    """Run the command on CSV files, and return its results."""
    with tempfile.TemporaryDirectory() as home:
        for name, columns in (("nodes", tables.nodes), ("events", tables.events)):
            pa_csv.write_csv(arrow(columns), f"{home}/{name}.csv")
        order = [sys.executable, "-c", run, "detect", "events.csv", "--nodes", "nodes.csv", "--out", "run"]
        order += ["--seed", str(seed), *flagging]
        ended = subprocess.run(order, cwd=home, env=os.environ, capture_output=True, text=True, check=False)
        if ended.returncode:
            raise RuntimeError(f"oddhop detect ended with {ended.returncode}: {ended.stderr}")
        return pq.read_table(Path(home, "run", "results.parquet"))


def counted(
    marks: Sequence[Mark], result: pa.Table, others: Mapping[str, Mapping[str, float]] | None = None
) -> list[dict[str, Any]]:
    """Count every crime and every twin in the first cases and the first nodes of a result.

    A case is what the command prints as one: the nodes with its number. ``others`` are ranks to compare with; what is
    asked of one scheme alone is named after it.
    """
    rank = dict(zip(result["id"].to_pylist(), result["rank"].to_pylist(), strict=True))
    case = dict(zip(result["id"].to_pylist(), result["case"].to_pylist(), strict=True))
    flagged = pc.sum(result["flagged"]).as_py()
    groups: dict[tuple[str, bool], set[str]] = {}
    for mark in marks:
        if mark.core and mark.scheme != "oddity":
            groups.setdefault((mark.scheme, mark.innocent), set()).add(mark.node)
    rows = []
    for (scheme, innocent), core in groups.items():
        cases = {case[node] for node in core if case[node] is not None and case[node] <= CASES}
        row: dict[str, Any] = {"scheme": scheme, "innocent": innocent, "accounts": len(core), "cases": len(cases)}
        row |= {"in cases": sum(case[node] in cases for node in core), "Odd": ranked(core, rank, flagged)}
        for name, ranks in (others or {}).items():
            if name in ("forest", scheme):
                row["forest" if name == "forest" else "question"] = ranked(core, ranks, flagged)
        rows.append(row)
    return rows


def ranked(core: set[str], rank: Mapping[str, float], flagged: int) -> dict[str, float]:
    """Return the best rank, and how many accounts are among as many nodes as are flagged and among the first 50."""
    ranks = [rank[node] for node in core if not np.isnan(rank[node])]
    best = min(ranks, default=float("inf"))
    return {"best": best, "flagged": sum(one <= flagged for one in ranks), "nodes": sum(one <= NODES for one in ranks)}


def measured(world: str, seed: int, variant: str) -> dict[str, Any]:
    """Measure one seed."""
    kind = KINDS[world]
    tables = kind.make(seed, WHOLE if variant == UNEXCUSED else variant)
    if variant == BACKGROUND:
        result = detect(tables, seed, "--max-chance", str(CHANCE))
        judged = result.filter(result["judged"])
        views = [name for name in result.column_names if name.startswith("p_")]
        small = {name.removeprefix("p_"): int(np.sum(judged[name].to_numpy() < SMALL)) for name in views}
        return {"judged": judged.num_rows, "flagged": pc.sum(result["flagged"]).as_py(), "small": small}
    result = detect(tables, seed, "--top", str(CASES), run=WITHOUT_EXCUSES if variant == UNEXCUSED else DETECT)
    names = tables.nodes[kind.layout.node]
    judged = np.isin(names, result.filter(result["judged"])["id"].to_numpy(zero_copy_only=False).astype(str))
    ranks = {"forest": forest_ranks(tables, kind.layout, judged, seed)}
    if kind.asks:
        ranks |= question_ranks(tables, kind.layout)
    others = {name: dict(zip(names.tolist(), values.tolist(), strict=True)) for name, values in ranks.items()}
    flagged = pc.sum(result["flagged"]).as_py()
    return {"judged": int(judged.sum()), "flagged": flagged, "schemes": counted(tables.marks, result, others)}
