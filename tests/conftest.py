"""Networks and settings that many tests share."""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from oddhop import Graph

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason='needs torch: pip install "oddhop[hcm]"')
QUICK: dict[str, Any] = {"burn_in": 12, "samples": 2, "thin": 2, "chains": 2, "hidden": 8, "random_state": 0}


@pytest.fixture(scope="session")
def small() -> Graph:
    """Sixty nodes in two communities, and one without neighbours."""
    rng = np.random.default_rng(0)
    half = rng.integers(0, 30, (2, 120))
    edges = np.concatenate([half, half + 30, [[0], [30]]], axis=1)
    attributes = rng.normal(size=(61, 5)) + np.repeat([[1.0], [-1.0], [0.0]], [30, 30, 1], axis=0)
    return Graph.from_arrays(edges, attributes)


def sha256(scores: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(scores).tobytes()).hexdigest()


@pytest.fixture(scope="session")
def tables() -> dict[str, pa.Table]:
    """Eighty people in two towns, one of them with a name that a spreadsheet would run."""
    rng = np.random.default_rng(0)
    names = np.array(["=1+1", *(f"p{k}" for k in range(1, 80))])
    half = rng.integers(0, 40, (2, 150))
    left, right = np.concatenate([half, half + 40], axis=1)
    return {
        "edges": pa.table({"from": names[left], "to": names[right], "amount": rng.uniform(size=left.size)}),
        "nodes": pa.table(
            {
                "name": names,
                "age": rng.integers(18, 80, 80),
                "town": np.where(np.arange(80) < 40, "Bonn", "Cork"),
                "note": [None, *(["pays late"] * 79)],
            }
        ),
    }


@pytest.fixture
def folder(tables: dict[str, pa.Table], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the tables as CSV and Parquet, which is the current one."""
    for label, table in tables.items():
        pa.csv.write_csv(table, tmp_path / f"{label}.csv")
        pa.parquet.write_table(table, tmp_path / f"{label}.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path
