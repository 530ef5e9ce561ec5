"""The tables that ship: their script makes them, they are small, and what is hidden in them is found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import oddhop.datasets
from benchmarks import examples
from oddhop import Odd
from oddhop.datasets import COMMANDS, load_payments
from oddhop.runs import detect
from tests.cli.conftest import refused, run

SHIPPED = Path(oddhop.datasets.__file__).parent


@pytest.mark.parametrize("case", COMMANDS)
def test_the_script_makes_what_ships(case: str) -> None:
    made = getattr(examples, case)(np.random.default_rng(examples.SEED))
    assert sorted(made) == sorted(file.stem for file in (SHIPPED / case).glob("*.parquet"))
    for name, table in made.items():
        assert pq.read_table(SHIPPED / case / f"{name}.parquet").equals(
            table.cast(pq.read_schema(SHIPPED / case / f"{name}.parquet"))
        )


def test_they_are_small() -> None:
    assert sum(file.stat().st_size for file in SHIPPED.rglob("*.parquet")) < 300_000


@pytest.mark.parametrize("case", COMMANDS)
def test_the_command_writes_tables_and_names_the_next_command(case: str, folder: Path) -> None:
    printed = run("example", "tables", "--case", case)
    written = {file.name for file in (folder / "tables").iterdir()}
    assert "planted.csv" in written
    last = printed[printed.index("oddhop detect") :].replace("\\\n", " ").split()
    assert {one.rpartition("=")[2] for one in last if one.endswith(".csv")} <= written
    before = {file: file.read_bytes() for file in (folder / "tables").iterdir()}
    assert "already exists" in refused(2, "example", "tables", "--case", case)[0]
    assert {file: file.read_bytes() for file in (folder / "tables").iterdir()} == before


def test_what_is_hidden_among_payments_comes_first() -> None:
    example = load_payments()
    result = Odd(random_state=0, simulate=False, n_resamples=2).fit(example.edges, nodes=example.nodes).result_
    rank = dict(zip(result["id"].to_pylist(), result["rank"].to_pylist(), strict=True))
    hidden = example.planted.filter(pa.compute.invert(pa.compute.starts_with(example.planted["what"], "innocent")))
    assert hidden.num_rows == 24
    assert sum(rank[one] <= 40 for one in hidden["id"].to_pylist()) >= 22


def test_options_of_the_command_are_words_of_the_function(tmp_path: Path) -> None:
    example = load_payments()
    quick = {"odd": {"simulate": False, "n_resamples": 2}}
    found = detect(example.edges, example.nodes, out=tmp_path / "run", top=3, seed=5, explain=0, settings=quick)
    assert (found.figures["flagged"], found.result.num_rows) == (3, 600)
