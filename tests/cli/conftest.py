from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

QUICK = ["hcm.burn_in=12", "hcm.samples=2", "hcm.thin=2", "hcm.chains=2", "hcm.hidden=8"]
FAST = ["--detector", "hcm", *(word for one in QUICK for word in ("--set", one))]


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
