"""A run over a network whose ids would do harm if they could, to be reviewed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from oddhop.casebook import open_book
from oddhop.review import Session
from oddhop.runs import checked_run_settings, detect, reopen
from oddhop.runs.reopen import OpenedRun

HARMFUL = (
    "<img src=x onerror=\"document.title='harm'\">",
    '"><script>document.title="harm"</script>',
    "\u202egnissim",
    "two\nlines & 'quotes'",
)
NODES = 160


CLIQUE = tuple(range(20, 27))


def make_run(folder: Path, clique: tuple[int, ...] = ()) -> Path:
    """Make two tables and a run on them; the harmful ids are the oddest. All pairs in ``clique`` are connected."""
    rng = np.random.default_rng(0)
    side = rng.integers(0, 3, NODES)
    ends = [(a, b) for a in range(NODES) for b in rng.integers(0, NODES, 9) if side[a] == side[b] and a != b]
    ends += [(a, b) for a in clique for b in clique if a < b]
    names = np.array([*HARMFUL, *(f"p{k}" for k in range(len(HARMFUL), NODES))])
    x = 2.0 * np.eye(3)[side] + rng.normal(0, 0.4, (NODES, 3))
    x[: len(HARMFUL)] += 6.0
    left, right = np.array(ends).T
    pq.write_table(pa.table({"from": names[left], "to": names[right]}), folder / "edges.parquet")
    columns = {name: x[:, k] for k, name in enumerate(("<b>age</b>", "{{ 7 * 7 }}", "town"))}
    pq.write_table(pa.table({"name": names, **columns}), folder / "nodes.parquet")
    settings = checked_run_settings({"odd": {"simulate": False, "n_resamples": 2, "random_state": 0, "workers": 1}})
    tables = folder / "edges.parquet", folder / "nodes.parquet"
    detect(tables[0], tables[1], out=folder / "run", settings=settings, explain=10)
    return folder / "run"


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("reviewed"))


@pytest.fixture(scope="session")
def grouped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which several nodes are one case."""
    return make_run(tmp_path_factory.mktemp("grouped"), CLIQUE)


@pytest.fixture(scope="session")
def opened(run: Path) -> OpenedRun:
    return reopen(run)


@pytest.fixture
def sit(opened: OpenedRun, run: Path, tmp_path: Path) -> Iterator[Callable[..., Session]]:
    """Start a session on the book of this test, as often as it is called."""
    with ExitStack() as stack:

        def start(who: str = "ann") -> Session:
            return Session(opened, stack.enter_context(open_book(tmp_path / "cases.db")), folder=run, who=who)

        yield start
