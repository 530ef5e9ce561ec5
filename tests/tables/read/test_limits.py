"""Reading keeps to a limit of memory, and ends when it is interrupted."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from oddhop import Odd
from oddhop.errors import MemoryBudgetError
from oddhop.tables.read import Query, read_tables
from oddhop.tables.settings import ReadSettings

ENDS = ReadSettings(source="id", target="target")

CHILD = """
import sys
from oddhop.errors import MemoryBudgetError
from oddhop.runs import detect

def peak():
    return next(int(line.split()[1]) // 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))

try:
    edges, nodes, out = (f"{sys.argv[1]}/{name}" for name in ("edges.parquet", "nodes.parquet", "run"))
    detect(edges, nodes, out=out, max_memory="512MiB")
except MemoryBudgetError as error:
    print(peak(), error)
"""


def write_payments(folder: Path, nodes: int, rows: int) -> tuple[str, str]:
    rng = np.random.default_rng(0)
    ends = {name: rng.integers(0, nodes, rows) for name in ("payer", "payee")}
    moments = np.datetime64("2026-01-01", "us") + rng.integers(0, 10**13, rows).astype("timedelta64[us]")
    pq.write_table(pa.table({**ends, "amount": rng.lognormal(3, 1, rows), "time": moments}), folder / "edges.parquet")
    pq.write_table(pa.table({"id": np.arange(nodes), "age": rng.integers(18, 90, nodes)}), folder / "nodes.parquet")
    return str(folder / "edges.parquet"), str(folder / "nodes.parquet")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs the peak of a process")
def test_what_does_not_fit_is_refused_before_it_is_taken(tmp_path: Path) -> None:
    write_payments(tmp_path, 300_000, 3_000_000)
    run = subprocess.run([sys.executable, "-c", CHILD, str(tmp_path)], capture_output=True, text=True, check=True)
    peak, _, said = run.stdout.partition(" ")
    assert "3,000,000 edge rows" in said
    assert int(peak) < 512


def test_a_limit_refuses_by_the_rows_and_changes_nothing_else(tmp_path: Path) -> None:
    tables = write_payments(tmp_path, 1_000, 200_000)
    with pytest.raises(MemoryBudgetError, match="200,000 edge rows and 1,000 nodes"):
        read_tables(*tables, max_memory=210 << 20)
    with pytest.raises(MemoryBudgetError, match="the limit is 1 MiB"):
        read_tables(*tables, max_memory=1 << 20)
    with pytest.raises(MemoryBudgetError, match="200,000 edge rows"):
        Odd(max_memory="210MiB").fit(tables[0], nodes=tables[1])
    kept, free = read_tables(*tables, max_memory=400 << 20), read_tables(*tables)
    np.testing.assert_array_equal(kept.edge_index, free.edge_index)
    assert kept.counts == free.counts


@pytest.mark.parametrize("endless", ["edges", "nodes"])
def test_an_endless_view_of_sqlite_is_interrupted(tmp_path: Path, endless: str) -> None:
    shop = sqlite3.connect(tmp_path / "shop.db")
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id, i + 1 AS target FROM n"
    for name in ("edges", "nodes"):
        shop.execute(f"CREATE VIEW {name} AS {numbers}{'' if name == endless else ' LIMIT 10'}")
    shop.close()
    address = f"sqlite:///{tmp_path}/shop.db"
    # A process in the background ignores an interrupt, and would wait for ever.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    sender = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    sender.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            read_tables(*(Query(address, query) for query in ("select * from edges", "select * from nodes")), ENDS)
    finally:
        sender.join()
        signal.signal(signal.SIGINT, before)
