"""Chains and scoring as tasks elsewhere: the bits of one machine, whatever dies, and nothing large travels."""

from __future__ import annotations

import pickle  # noqa: TID251 - as Ray sends tasks
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("torch")

from oddhop import HCM, Graph
from oddhop.base.parallel import single_threaded, threads
from oddhop.errors import ModelFileError, NothingToLearnError, RunFolderError
from oddhop.hcm import material
from oddhop.tables.ingest import ingest
from oddhop.tables.settings import ReadSettings

QUICK = {"burn_in": 15, "samples": 3, "thin": 2, "chains": 2, "random_state": 3}
MOST_SENT = 20_000  # bytes of a task or of a result; the network of these tests takes more


def stored_network(home: Path, nodes: int = 400, edges: int = 1_500, directed: bool = False) -> Path:
    """Write and ingest a network with a hub and nodes without edges."""
    rng = np.random.default_rng(7)
    ends = rng.integers(0, nodes - 5, (2, edges))
    ends[0, :40] = 11
    pq.write_table(pa.table({"source": ends[0], "target": ends[1]}), home / "edges.parquet")
    columns = {f"c{k}": rng.normal(size=nodes) for k in range(12)}
    pq.write_table(pa.table({"id": np.arange(nodes), **columns}), home / "nodes.parquet")
    settings = ReadSettings(flows=directed, directed=directed)
    ingest(home / "edges.parquet", home / "nodes.parquet", home / "graph", settings, partition_entries=500)
    return home / "graph"


def elsewhere(function: Callable, blocks, report) -> list:
    """Run tasks as another machine would: on copies that came over a wire, the last one first, and twice."""
    material.opened.cache_clear()
    results = {}
    for block in [*reversed(blocks), *blocks]:
        sent = pickle.dumps((function, block))
        assert len(sent) < MOST_SENT
        there, its_block = pickle.loads(sent)  # noqa: S301 - our own
        with single_threaded():  # as on a machine of the cluster
            result = pickle.dumps(there(its_block))
        results[block] = pickle.loads(result)  # noqa: S301 - our own
    report(len(blocks))
    return [results[block] for block in blocks]


@pytest.mark.parametrize(
    "settings",
    [{}, {"layers": 1}, {"neighbours": 3}, {"layers": 3, "precision": "float64"}],
    ids=str,
)
def test_tasks_elsewhere_give_the_bits_of_one_machine(tmp_path: Path, settings: dict[str, object]) -> None:
    folder = stored_network(tmp_path)
    alone = HCM(**QUICK, **settings, hidden=8).fit(Graph.open(folder))
    got = HCM(**QUICK, **settings, hidden=8)
    got.fit_partitions(folder, mapper=elsewhere, run_folder=tmp_path / "run")
    assert got.anomaly_scores_.tobytes() == alone.anomaly_scores_.tobytes()
    assert got.anomaly_std_.tobytes() == alone.anomaly_std_.tobytes()
    assert got.result_["id"].to_pylist() == alone.result_["id"].to_pylist()
    assert got.model_.learned.posterior.weights.tobytes() == alone.model_.learned.posterior.weights.tobytes()
    assert got.model_.fingerprint == alone.model_.fingerprint


def test_a_network_with_a_direction_runs_elsewhere_too(tmp_path: Path) -> None:
    folder = stored_network(tmp_path, directed=True)
    alone = HCM(**QUICK, hidden=8, directed=True).fit(Graph.open(folder))
    got = HCM(**QUICK, hidden=8, directed=True)
    got.fit_partitions(folder, mapper=elsewhere, run_folder=tmp_path / "run")
    assert got.anomaly_scores_.tobytes() == alone.anomaly_scores_.tobytes()


class KilledError(Exception):
    """What ends a run in the middle."""


@pytest.mark.parametrize("call", [1])
def test_a_run_that_was_ended_in_a_task_goes_on_to_the_same_bits(tmp_path: Path, call: int) -> None:
    folder = stored_network(tmp_path)
    straight = HCM(**QUICK, hidden=8).fit_partitions(folder, mapper=threads(1), run_folder=tmp_path / "straight")
    calls = 0

    def failing(function, blocks, report):
        nonlocal calls
        calls += 1
        if calls < call:
            return elsewhere(function, blocks, report)
        elsewhere(function, blocks[: len(blocks) // 2], report)
        raise KilledError

    run = {"mapper": failing, "run_folder": tmp_path / "run"}
    with pytest.raises(KilledError):
        HCM(**QUICK, hidden=8).fit_partitions(folder, **run)
    run["mapper"] = elsewhere
    with pytest.raises(RunFolderError, match="already has a run"):
        HCM(**QUICK, hidden=8).fit_partitions(folder, **run)
    resumed = HCM(**QUICK, hidden=8).fit_partitions(folder, **run, resume=True)
    assert resumed.anomaly_scores_.tobytes() == straight.anomaly_scores_.tobytes()
    assert resumed.result_.equals(straight.result_)


def test_a_network_without_edges_teaches_nothing(tmp_path: Path) -> None:
    pq.write_table(pa.table({"source": [1], "target": [1]}), tmp_path / "edges.parquet")
    pq.write_table(pa.table({"id": [1, 2], "a": [1.0, 2.0]}), tmp_path / "nodes.parquet")
    folder = ingest(tmp_path / "edges.parquet", tmp_path / "nodes.parquet", tmp_path / "graph").folder
    with pytest.raises(NothingToLearnError, match="no edges"):
        HCM().fit_partitions(folder, mapper=threads(1), run_folder=tmp_path / "run")


def test_a_task_that_finds_nothing_to_learn_from_says_so(tmp_path: Path) -> None:
    folder = stored_network(tmp_path)
    with pytest.raises(ModelFileError, match="no pairs to learn from"):
        material.opened(folder, material.RunFolder(tmp_path))
