"""A network in partitions is judged as the same network is on one machine: stage by stage, and in the end."""

import shutil
import socket
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from oddhop import HCM, Graph
from oddhop.base.parallel import Mapper, silent, threads
from oddhop.errors import MemoryBudgetError, NothingToLearnError, RunFolderError, SettingsError
from oddhop.graph.disk import fingerprint, open_stored
from oddhop.graph.preparation import learn_preparation
from oddhop.hcm import hop_pairs as hops
from oddhop.hcm import purify
from oddhop.hcm.model import Inputs
from oddhop.hcm.partitioned import pairs as shard_pairs
from oddhop.hcm.partitioned import purify as similar
from oddhop.hcm.partitioned.pairs import sample_pairs
from oddhop.hcm.partitioned.prepare import prepare
from oddhop.hcm.settings import HCMSettings
from oddhop.hcm.training_pairs import labelled_pairs
from oddhop.partitions.task import Task, TaskRunner
from oddhop.tables.ingest import ingest
from oddhop.tables.settings import ReadSettings

QUICK = {"burn_in": 15, "samples": 3, "thin": 2, "chains": 2, "random_state": 3}


def stored_network(home: Path, *, kind: str = "numbers", nodes: int = 90, edges: int = 300, entries: int = 150) -> Path:
    """Write and ingest a network with a hub, some partitions, and nodes without edges."""
    rng = np.random.default_rng(7)
    ends = rng.integers(0, nodes - 5, (2, edges))
    ends[0, :40] = 11
    if kind == "zeros and ones":
        columns = {f"c{k}": rng.integers(0, 2, nodes) for k in range(6)}
    else:
        columns = {f"c{k}": rng.normal(size=nodes) for k in range(130 if kind == "wide" else 5)}
    pq.write_table(pa.table({"source": ends[0], "target": ends[1]}), home / "edges.parquet")
    pq.write_table(pa.table({"id": np.arange(nodes), **columns}), home / "nodes.parquet")
    tables = home / "edges.parquet", home / "nodes.parquet"
    ingest(*tables, home / "graph", ReadSettings(flows=False), partition_entries=entries)
    return home / "graph"


def work_on(graph: Path, folder: Path, **settings) -> Task:
    folder.mkdir(exist_ok=True)
    return Task(graph, folder, HCMSettings(training="sampled", **settings), seed=3)


CREW = TaskRunner(threads(2), silent)


@pytest.mark.parametrize("kind", ["numbers", "wide", "zeros and ones"])
def test_attributes_are_prepared_and_convolved_to_the_same_bits(tmp_path: Path, kind: str) -> None:
    folder = stored_network(tmp_path, kind=kind)
    work = work_on(folder, tmp_path / "run")
    assert len(work.partitions) > 2
    found = prepare(work, CREW)
    graph = Graph.open(folder)
    assert found.fingerprint == graph.fingerprint
    expected = learn_preparation(graph, scale="standard", pca_components=20, pca_above=100)
    prepared = expected.apply(graph, np.float32)
    for name in ("unit", "centre", "spread"):
        assert getattr(found.preparation, name).tobytes() == getattr(expected, name).tobytes()
    for name, whole in (("prepared", prepared.attributes), ("convolved", Inputs.of(prepared, np.float32).convolved)):
        parts = np.concatenate([work.read(name, number) for number in work.partitions])
        assert parts.tobytes() == np.asarray(whole).tobytes()
    assert found.similarity == ("jaccard" if kind == "zeros and ones" else "cosine")


@pytest.mark.parametrize("hub", [2**17, 30, 1])
@pytest.mark.parametrize("drop_ratio", [0.0, 0.2, 0.9])
@pytest.mark.parametrize("kind", ["numbers", "zeros and ones"])
def test_the_same_edges_are_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, drop_ratio: float, hub: int
) -> None:
    monkeypatch.setattr(purify, "HUB", hub)
    monkeypatch.setattr(similar, "HUB", hub)
    folder = stored_network(tmp_path, kind=kind)
    work = work_on(folder, tmp_path / "run", drop_ratio=drop_ratio)
    prepared = prepare(work, CREW)
    purge = similar.purify(work, prepared.similarity, CREW)
    graph = Graph.open(folder)
    expected = purify.purify(prepared.preparation.apply(graph, np.float32), drop_ratio, seed=3)
    indices = np.concatenate([work.read("left_indices", number) for number in work.partitions])
    assert indices.tolist() == expected.indices.tolist()
    assert (purge.dropped, purge.tied, purge.hubs) == (expected.dropped, expected.tied, expected.hubs)
    degrees = np.diff(expected.indptr)
    assert (purge.entries, purge.squares) == (degrees.sum(), (degrees**2).sum())


@pytest.mark.parametrize("per_class", [20, 100_000], ids=["rim unread", "rim read"])
@pytest.mark.parametrize("classes", [2, 3, 4, 6])
def test_the_same_pairs_are_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, classes: int, per_class: int
) -> None:
    monkeypatch.setattr(hops, "EXCERPT_PAIRS", per_class)
    monkeypatch.setattr(shard_pairs, "ENTRIES_AT_ONCE", 50)  # rows come in many pieces
    folder = stored_network(tmp_path, nodes=200, edges=260, entries=100)
    work = work_on(folder, tmp_path / "run", hop_classes=classes)
    prepared = prepare(work, CREW)
    drawn = sample_pairs(work, similar.purify(work, prepared.similarity, CREW), CREW)
    purified = purify.purify(prepared.preparation.apply(Graph.open(folder), np.float32), 0.2, seed=3)
    expected = labelled_pairs(purified, work.settings, 3, 1, silent)
    for name in ("left", "right", "starts", "class_sizes"):
        assert getattr(drawn, name).tolist() == getattr(expected, name).tolist()
    assert drawn.exact == expected.exact


def test_where_hardly_a_node_has_an_edge_those_are_drawn_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hops, "PILOT_SOURCES", 2)
    folder = stored_network(tmp_path, nodes=3_000, edges=60, entries=50)
    test = pq.read_table(tmp_path / "edges.parquet")
    small = pa.table({name: np.minimum(test[name].to_numpy(), 40) for name in ("source", "target")})
    pq.write_table(small, tmp_path / "edges.parquet")
    folder = ingest(
        tmp_path / "edges.parquet", tmp_path / "nodes.parquet", tmp_path / "few", partition_entries=20
    ).folder
    work = work_on(folder, tmp_path / "run")
    prepared = prepare(work, CREW)
    drawn = sample_pairs(work, similar.purify(work, prepared.similarity, CREW), CREW)
    purified = purify.purify(prepared.preparation.apply(Graph.open(folder), np.float32), 0.2, seed=3)
    expected = labelled_pairs(purified, work.settings, 3, 1, silent)
    assert drawn.left.tolist() == expected.left.tolist()
    assert drawn.right.tolist() == expected.right.tolist()


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"layers": 1},
        {"layers": 3, "hop_classes": 3},
        {"precision": "bfloat16"},
        {"precision": "float64", "neighbours": 2},
    ],
    ids=str,
)
def test_scores_are_those_of_one_machine(tmp_path: Path, settings: dict[str, object], workers: int) -> None:
    folder = stored_network(tmp_path)
    detector = HCM(training="sampled", **QUICK, **settings)
    expected = detector.fit(Graph.open(folder))
    scores, table = expected.anomaly_scores_, expected.result_
    got = HCM(**QUICK, **settings).fit_partitions(folder, mapper=threads(workers), run_folder=tmp_path / "run")
    # In bfloat16 a product of other blocks may be rounded to the next of few numbers.
    tolerance = 2e-2 if settings.get("precision") == "bfloat16" else 1e-5
    np.testing.assert_allclose(got.anomaly_scores_, scores, atol=tolerance)
    np.testing.assert_allclose(got.anomaly_std_, detector.anomaly_std_, atol=tolerance)
    if tolerance < 1e-4:
        assert got.result_["id"].to_pylist() == table["id"].to_pylist()
    assert got.model_.learned.posterior.weights.tobytes() == expected.model_.learned.posterior.weights.tobytes()
    assert got.model_.fingerprint == expected.model_.fingerprint == fingerprint(folder)
    assert got.diagnostics_.dropped == detector.diagnostics_.dropped
    assert got.diagnostics_.class_sizes.tolist() == detector.diagnostics_.class_sizes.tolist()


def test_what_cannot_be_done_in_parts_is_refused(tmp_path: Path) -> None:
    folder = stored_network(tmp_path)
    for wrong in ({"training": "full"}, {"pair_labels": "exhaustive"}):
        with pytest.raises(SettingsError, match="learned from a sample"):
            HCM(**wrong).fit_partitions(folder, mapper=threads(1), run_folder=tmp_path / "run")


def test_a_network_without_edges_teaches_nothing(tmp_path: Path) -> None:
    pq.write_table(pa.table({"source": [1], "target": [1]}), tmp_path / "edges.parquet")
    pq.write_table(pa.table({"id": [1, 2], "a": [1.0, 2.0]}), tmp_path / "nodes.parquet")
    folder = ingest(tmp_path / "edges.parquet", tmp_path / "nodes.parquet", tmp_path / "graph").folder
    assert open_stored(folder).manifest.edges == 0
    with pytest.raises(NothingToLearnError, match="no edges"):
        HCM().fit_partitions(folder, mapper=threads(1), run_folder=tmp_path / "run")


def test_what_no_machine_could_hold_is_refused(tmp_path: Path) -> None:
    folder = stored_network(tmp_path)
    with pytest.raises(MemoryBudgetError, match="in partitions needs about"):
        HCM(max_memory=2**20).fit_partitions(folder, mapper=threads(1), run_folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_another_network_may_come_to_the_same_path(tmp_path: Path) -> None:
    for nodes, edges in ((60, 200), (90, 300)):
        shutil.rmtree(tmp_path / "graph", ignore_errors=True)
        folder = stored_network(tmp_path, nodes=nodes, edges=edges)
        fitted = HCM(**QUICK).fit_partitions(folder, mapper=threads(1), run_folder=tmp_path / f"run{nodes}")
        assert fitted.model_.fingerprint == Graph.open(folder).fingerprint
        assert fitted.result_.num_rows == nodes


def test_a_machine_that_does_not_see_the_folder_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=f"{socket.gethostname()} has no folder"):
        _ = Task(tmp_path / "not mounted", tmp_path, HCMSettings(), seed=0).stored


class KilledError(Exception):
    """What ends a run in the middle."""


def ended_at(calls: int) -> Mapper:
    """Return a mapper that does half the blocks of its n-th call, and fails."""
    count = 0

    def failing(function, blocks, report):
        nonlocal count
        count += 1
        if count < calls:
            return threads(1)(function, blocks, report)
        for block in blocks[: len(blocks) // 2]:
            function(block)
        raise KilledError

    return failing


@pytest.mark.parametrize("calls", range(1, 9))
def test_a_star_is_left_whole_whenever_its_run_was_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: int
) -> None:
    monkeypatch.setattr(similar, "HUB", 8)
    rng = np.random.default_rng(1)
    pq.write_table(pa.table({"source": [0] * 40, "target": range(1, 41)}), tmp_path / "edges.parquet")
    pq.write_table(pa.table({"id": np.arange(41), "a": rng.normal(size=41)}), tmp_path / "nodes.parquet")
    ingest(tmp_path / "edges.parquet", tmp_path / "nodes.parquet", tmp_path / "graph", partition_entries=12)
    work = work_on(tmp_path / "graph", tmp_path / "run")
    similarity = prepare(work, CREW).similarity
    with suppress(KilledError):
        similar.purify(work, similarity, TaskRunner(ended_at(calls), silent))
    purge = similar.purify(work, similarity, CREW)
    assert (purge.dropped, purge.hubs, purge.entries) == (8, 0, 64)


@pytest.mark.parametrize("calls", range(1, 16, 2))
def test_a_run_that_was_ended_anywhere_goes_on_to_the_same_bits(tmp_path: Path, calls: int) -> None:
    folder = stored_network(tmp_path)
    straight = HCM(**QUICK).fit_partitions(folder, mapper=threads(1), run_folder=tmp_path / "straight")
    with pytest.raises(KilledError):
        HCM(**QUICK).fit_partitions(folder, mapper=ended_at(calls), run_folder=tmp_path / "run")
    with pytest.raises(RunFolderError, match="already has a run"):
        HCM(**QUICK).fit_partitions(folder, mapper=threads(1), run_folder=tmp_path / "run")
    resumed = HCM(**QUICK).fit_partitions(folder, mapper=threads(1), run_folder=tmp_path / "run", resume=True)
    assert resumed.anomaly_scores_.tobytes() == straight.anomaly_scores_.tobytes()
    assert resumed.result_.equals(straight.result_)
