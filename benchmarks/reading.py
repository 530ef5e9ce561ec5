"""Reading and encoding tables against bare DuckDB: ``python -m benchmarks.reading FOLDER``.

FOLDER has the edges.parquet and nodes.parquet that benchmarks/tables.py writes for npm_2016.

Bare DuckDB does the same joins and sorts with two queries: it numbers the nodes by the order of their ids, puts the
numbers in the place of both ends of every edge, drops repeated edges and loops, and hands out both tables sorted.
Interleaved, the best of several runs each, and their ratio.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import duckdb
import numpy as np

from oddhop.tables.network import read_network
from oddhop.tables.read import read_tables


def bare(folder: Path) -> None:
    connection = duckdb.connect()
    connection.execute(
        f"create temp table people as select row_number() over (order by package) - 1 as position, * "
        f"from '{folder}/nodes.parquet'"
    )
    connection.sql("select * from people order by position").to_arrow_table()
    connection.sql(
        f"select distinct a.position as s, b.position as t from '{folder}/edges.parquet' e "
        'join people a on e."from" = a.package join people b on e."to" = b.package '
        "where a.position <> b.position order by s, t"
    ).to_arrow_table()
    connection.close()


def main() -> None:
    folder = Path(sys.argv[1])
    edges, nodes = str(folder / "edges.parquet"), str(folder / "nodes.parquet")
    ways = {
        "bare DuckDB": lambda: bare(folder),
        "read_tables": lambda: read_tables(edges, nodes),
        "read_network": lambda: read_network(edges, nodes),
    }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 5):
        for name, way in ways.items():
            began = time.perf_counter()
            way()
            seconds[name].append(time.perf_counter() - began)
    reference = np.array(seconds["bare DuckDB"])
    for name, took in seconds.items():
        ratios = np.sort(np.array(took) / reference)
        print(f"{name}: best {min(took):.2f} s, ratio {np.median(ratios):.2f} [{ratios[0]:.2f}, {ratios[-1]:.2f}]")


if __name__ == "__main__":
    main()
