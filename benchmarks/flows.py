"""What edge columns add: labelled networks with and without each group of columns, and what the columns cost.

    ODDHOP_DATA=... python -m benchmarks.flows development         # bitcoin_otc, sichuan_telecom, fdcompcn
    ODDHOP_DATA=... python -m benchmarks.flows confirmation        # ethereum_phishing, label-free and with 100 labels
    python -m benchmarks.flows speed 1000000 10000000              # seconds and memory, beside bare DuckDB

Intervals are 90 %, over the nodes with a label. docs/edges.md has the tables.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.metrics import figures
from benchmarks.networks import data_folder
from oddhop import Odd, read_network
from oddhop.graph.events import EventColumns
from oddhop.tables.flows import flow_columns
from oddhop.tables.network import Network
from oddhop.tables.settings import ReadSettings

Z = 1.645
LEAKS = {"bitcoin_otc": ("rating in", "rating balance")}  # ratings received give the label away
SPLITS, LABELS = 10, 100


def fitted(network: Network) -> Odd:
    return Odd(random_state=0, simulate=False, n_resamples=2).fit(network)


def forest(x: np.ndarray) -> np.ndarray:
    from sklearn.ensemble import IsolationForest

    return np.asarray(-IsolationForest(random_state=0).fit(x).score_samples(x))


def ecod(x: np.ndarray) -> np.ndarray:
    from pyod.models.ecod import ECOD

    return np.asarray(ECOD().fit(x).decision_scores_)


def own_flows(network: Network) -> np.ndarray:
    graph = network.graph
    own = graph.attributes[:, graph.attribute_count - graph.flow_count :]
    return np.asarray(own.toarray() if hasattr(own, "toarray") else own, dtype=np.float64)


def places(score: np.ndarray) -> np.ndarray:
    rank = np.empty(score.size, dtype=np.int64)
    rank[np.argsort(-score, kind="stable")] = np.arange(1, score.size + 1)
    return rank


def groups(columns: EventColumns) -> dict[str, set[str]]:
    """Return the names of the flow columns by group."""

    def names(some: EventColumns) -> set[str]:
        return {one.name for one in flow_columns(some)}

    plain = EventColumns(directed=columns.directed)
    amounts = names(replace(plain, amounts=columns.amounts)) - names(plain)
    kinds = names(replace(plain, kinds=columns.kinds, levels=columns.levels)) - names(plain)
    times = names(columns) - names(plain) - amounts - kinds
    found = {"counts": names(plain), "amounts": amounts, "times": times, "kinds": kinds}
    return {name: some for name, some in found.items() if some}


def labelled(name: str) -> tuple[pa.Table, pa.Table, np.ndarray]:
    folder = data_folder() / name
    nodes = pq.read_table(folder / "nodes.parquet")
    labels = nodes["label"].to_numpy(zero_copy_only=False).astype(np.float64)
    return pq.read_table(folder / "edges.parquet"), nodes.drop_columns(["label"]), labels


def leaking(name: str, network: Network) -> set[str]:
    """Return the flow columns that give the label of a network away."""
    events = network.graph.events
    made = () if events is None else flow_columns(events.columns)
    return {one.name for one in made if one.name.startswith(LEAKS.get(name, ()))}


def told(score: np.ndarray, labels: np.ndarray) -> str:
    known = ~np.isnan(labels)
    one = figures(score[known], labels[known] == 1)
    area, precision = (
        f"{one[what]:.3f} [{one[what] - Z * one[f'{what}_error']:.3f}, {one[what] + Z * one[f'{what}_error']:.3f}]"
        for what in ("roc_auc", "average_precision")
    )
    return f"{area} | {precision}"


def scored(network: Network, ids: pa.ChunkedArray) -> np.ndarray:
    detector = fitted(network)
    return np.asarray(detector.anomaly_scores_[network.numbers(ids)])


def methods(name: str, edges: pa.Table, nodes: pa.Table) -> Iterator[tuple[str, np.ndarray]]:
    """Return the scores of every method, by node in the order of the table."""
    ids = nodes["id"]
    whole = read_network(edges, nodes)
    events = whole.graph.events
    columns = None if events is None else events.columns
    leaks = leaking(name, whole)

    def read(left_out: set[str]) -> Network:
        return read_network(edges, nodes, kinds=dict.fromkeys(sorted(left_out | leaks), "ignore"))

    order = whole.numbers(ids)
    network = read(set())
    every = {} if columns is None else groups(columns)
    names = set().union(*every.values())
    if every:
        yield "Odd, all edge columns", scored(network, ids)
    for group, some in every.items():
        if len(every) > 1:
            yield f"Odd, without {group}", scored(read(some), ids)
    for group, some in every.items():
        if len(every) > 1 and some - leaks:
            yield f"Odd, {group} alone", scored(read(names - some), ids)
    if len(nodes.column_names) > 1:
        yield "Odd, no edge columns", scored(read_network(edges, nodes, flows=False), ids)
    if every:
        yield "isolation forest, flow columns", forest(own_flows(network))[order]
        yield "ECOD, flow columns", ecod(own_flows(network))[order]
    if len(nodes.column_names) > 1:
        yield "isolation forest, all columns", forest(np.asarray(network.graph.attributes))[order]
    yield "degree", network.graph.degrees[order].astype(np.float64)
    yield "minus degree", -network.graph.degrees[order].astype(np.float64)


def show_labelled(*names: str) -> None:
    print("| network | method | ROC-AUC | AP |\n|---|---|---|---|")
    for name in names:
        edges, nodes, labels = labelled(name)
        for method, score in methods(name, edges, nodes):
            print(f"| {name} | {method} | {told(score, labels)} |", flush=True)


def show_supervised(name: str) -> None:
    """Train a forest on our columns with 20 positive and 80 negative labels, judged on the others."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.metrics import roc_auc_score

    edges, nodes, labels = labelled(name)
    network = read_network(edges, nodes)
    x = own_flows(network)[network.numbers(nodes["id"])]
    print("\n| columns | ROC-AUC with 100 labels, mean of ten splits | from | to |\n|---|---|---|---|")
    events = network.graph.events
    assert events is not None
    assert network.encoding is not None
    every, names = groups(events.columns), list(network.encoding.names[-network.graph.flow_count :])
    sets: dict[str, set[str] | None] = {
        "degree": None,
        **{f"{group} alone": some for group, some in every.items()},
        "all": set(names),
    }
    for what, some in sets.items():
        if some is None:
            own = network.graph.degrees[network.numbers(nodes["id"])][:, None]
        else:
            own = x[:, [k for k, one in enumerate(names) if one in some]]
        areas = []
        for split in range(SPLITS):
            rng = np.random.default_rng(split)
            odd, plain = (rng.permutation(np.flatnonzero(labels == one)) for one in (1, 0))
            train = np.concatenate([odd[: LABELS // 5], plain[: LABELS - LABELS // 5]])
            test = np.concatenate([odd[LABELS // 5 :], plain[LABELS - LABELS // 5 :]])
            model = RandomForestClassifier(300, random_state=split).fit(own[train], labels[train])
            areas.append(roc_auc_score(labels[test], model.predict_proba(own[test])[:, 1]))
        print(f"| {what} | {np.mean(areas):.3f} | {min(areas):.3f} | {max(areas):.3f} |", flush=True)


SUMS = """
CREATE TABLE out AS SELECT node, side, count(*), count(DISTINCT partner), max(w) - min(w), sum(a), avg(a),
  quantile_disc(a, 0.5), max(a), avg(CAST(a % 100 = 0 AS INT)), avg(CAST(k = 'x' AS INT)), avg(CAST(k = 'y' AS INT)),
  avg(CAST(k = 'z' AS INT)), avg(CAST(hour(w) < 6 AS INT)), avg(CAST(dayofweek(w) IN (0, 6) AS INT)){more}
FROM (SELECT *{windows} FROM (
  SELECT s AS node, 0 AS side, t AS partner, w, a, k FROM e UNION ALL SELECT t, 1, s, w, a, k FROM e))
GROUP BY node, side
"""
WINDOWS = """, w - lag(w) OVER (PARTITION BY node ORDER BY w) AS gap,
    count(*) OVER (PARTITION BY node ORDER BY w RANGE BETWEEN INTERVAL 1 HOUR PRECEDING AND CURRENT ROW) AS hours,
    count(*) OVER (PARTITION BY node ORDER BY w RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND CURRENT ROW) AS days"""


def speed_child(what: str, folder: str, count: int) -> None:
    """Print the seconds and the peak of one way to the columns; each runs in a process of its own."""
    home = Path(folder)
    start = time.process_time()
    if what == "flows":
        from oddhop.graph.disk import EVENTS
        from oddhop.graph.events import ARRAYS, Events
        from oddhop.tables.flows import flow_values
        from oddhop.tables.read.database import database
        from oddhop.tables.read.edge_roles import EdgeRoles
        from oddhop.tables.read.memory import Memory
        from oddhop.tables.read.read import write_events

        columns = EventColumns(True, "w", ("a",), ("k",), (("x", "y", "z"),))
        roles = EdgeRoles(columns, "epoch_us(w)", ("a",), ("CAST(list_position(['x', 'y', 'z'], k) - 1 AS SMALLINT)",))
        named = ", ".join(f"{sql} AS {name}" for name, sql in roles.named.items())
        with tempfile.TemporaryDirectory(dir=home) as spill:
            room = ReadSettings(memory_limit="2GiB", temp_folder=spill)
            with database([str(home / "e.parquet")], room, Path(spill) / "db") as connection:
                file = str(home / "e.parquet")
                connection.execute(f"CREATE TABLE placed AS SELECT s, t, {named} FROM read_parquet('{file}')")
                place = Memory(connection, None)  # type: ignore[arg-type]  # for its arrays alone
                write_events(connection, columns, False, count // 10, place)
            events = Events(columns, **{name: place.arrays[EVENTS[name]] for name in ARRAYS})
            assert flow_values(events).shape[0] == count // 10
    elif what in ("duckdb", "duckdb with windows"):
        import duckdb

        with tempfile.TemporaryDirectory(dir=home) as spill:
            connection = duckdb.connect(
                str(Path(spill) / "db"), config={"memory_limit": "12GiB", "temp_directory": spill}
            )
            connection.execute("SET enable_progress_bar = false")
            connection.execute(f"CREATE TABLE e AS SELECT * FROM read_parquet('{home / 'e.parquet'}')")
            more = (", quantile_disc(gap, 0.5), max(hours), max(days)", WINDOWS) if "windows" in what else ("", "")
            connection.execute(SUMS.format(more=more[0], windows=more[1]))
    else:
        from oddhop.odd.cycle import find_cycles
        from oddhop.odd.facts.find import find_facts

        table, nodes = pq.read_table(home / "e.parquet"), pa.table({"id": np.arange(count // 10)})
        network = read_network(table, nodes, source="s", target="t")
        none, every = np.empty((count // 10, 0)), slice(0, count // 10)
        start = time.process_time()
        if what == "facts":
            find_facts(network.graph.events, every, none, none)
        else:
            cycles = find_cycles(network.graph.events, count // 10)
            assert cycles is not None
            print(f"{int(cycles.counts.sum())} of events, {cycles.truncated} cut short,", end=" ")
    seconds = time.process_time() - start
    print(f"{seconds:.1f} s {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MiB")


def show_speed(
    counts: list[int], ways: tuple[str, ...] = ("flows", "duckdb", "duckdb with windows", "facts", "cycles")
) -> None:
    for count in counts:
        with tempfile.TemporaryDirectory() as home:
            rng = np.random.default_rng(0)
            table = {
                "s": (rng.random(count) ** 2 * (count // 10)).astype(np.int64),
                "t": rng.integers(0, count // 10, count),
                "w": np.datetime64("2026-01-01", "us")
                + rng.integers(0, 28 * 86_400, count) * np.timedelta64(10**6, "us"),
                "a": np.round(rng.lognormal(4, 1, count), 2),
                "k": np.array(["x", "y", "z"])[rng.integers(0, 3, count)],
            }
            pq.write_table(pa.table(table), Path(home) / "e.parquet")
            for what in ways:
                order = [sys.executable, "-m", "benchmarks.flows", "child", what, home, str(count)]
                out = subprocess.run(order, capture_output=True, text=True, check=True).stdout.strip()
                print(f"{count:,} events, {what}: {out}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("development", "confirmation", "speed", "child"))
    parser.add_argument("more", nargs="*")
    asked = parser.parse_args()
    if asked.what == "development":
        show_labelled("bitcoin_otc", "sichuan_telecom", "fdcompcn")
    elif asked.what == "confirmation":
        show_labelled("ethereum_phishing")
        show_supervised("ethereum_phishing")
    elif asked.what == "speed":
        show_speed([int(one) for one in asked.more])
    else:
        speed_child(asked.more[0], asked.more[1], int(asked.more[2]))


if __name__ == "__main__":
    main()
