"""What an ingest takes does not grow with the edges."""

from __future__ import annotations

import subprocess
import sys

import pytest

CHILD = """
import sys
from pathlib import Path
from benchmarks.large import Large, write_large
from oddhop.tables.ingest import ingest

def peak():
    return next(int(line.split()[1]) // 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))

home, edges = Path(sys.argv[1]), int(sys.argv[2])
what = Large(50_000, edges, attributes=4, community=100)
import benchmarks.large as large
large.BLOCK = 1 << 16
write_large(what, home)
before = peak()
ingest(home / "edges", home / "nodes", home / "graph", max_memory=1 << 30, partition_entries=1 << 18)
print(before, peak())
"""


@pytest.mark.slow
def test_memory_is_bounded(tmp_path):
    edges = 16_000_000
    run = subprocess.run([sys.executable, "-c", CHILD, str(tmp_path), str(edges)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    before, after = map(int, run.stdout.split())
    # DuckDB has 256 MiB, and our blocks stay. In memory the pairs, the adjacency and the events would be 900 MB.
    assert after - before < 512
