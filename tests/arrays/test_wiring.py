"""The passes give the same bits in memory, over files and as sent tasks, and go on after a kill anywhere."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from oddhop import Graph
from oddhop.arrays import stores
from oddhop.arrays.handles import Handle
from oddhop.arrays.keys import code_digest, key_of
from oddhop.arrays.run import Runner, on_threads
from oddhop.arrays.stores import ENTRIES, ROWS, FolderStore, MemoryStore
from oddhop.arrays.wiring import Wiring
from oddhop.base.checkpoints import RunFolder
from tests.arrays.cosine import cosine_scores
from tests.odd.networks import elsewhere
from tests.odd.stores import in_files, in_memory, run_of
from tests.odd.test_on_disk import Countdown, Killed, counted

NODES, BLOCK = 300, 32
pytestmark = pytest.mark.kernels


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "BLOCK", BLOCK)
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture(scope="module")
def graph() -> Graph:
    network = nx.gnm_random_graph(NODES, 900, seed=3)
    return Graph.from_scipy(nx.to_scipy_sparse_array(network), np.random.default_rng(0).normal(size=(NODES, 5)))


@pytest.fixture(scope="module")
def expected(graph: Graph) -> np.ndarray:
    before, stores.BLOCK = stores.BLOCK, BLOCK
    try:
        return _scores(in_memory(graph), graph)
    finally:
        stores.BLOCK = before


def _scores(wiring: Wiring, graph: Graph) -> np.ndarray:
    with wiring.store.opened():
        return cosine_scores(wiring, wiring.given(graph.attributes))


def _arrays(wiring: Wiring) -> list[Path]:
    assert isinstance(wiring.store, FolderStore)
    return list(wiring.store.run.path.glob("*-*.npy"))


def test_scores_are_those_of_the_formula(graph: Graph, expected: np.ndarray) -> None:
    x = graph.attributes - graph.attributes.mean(axis=0)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    distance = (1 - x @ x.T) * graph.adjacency().toarray()
    far = np.abs(np.subtract.outer(np.arange(NODES), np.arange(NODES))) >= 100
    near = graph.adjacency().toarray() * ~far
    np.testing.assert_allclose(expected[:NODES], distance.sum(axis=1) / np.maximum(graph.degrees, 1))
    np.testing.assert_allclose(
        expected[NODES:-2], (distance * ~far).sum(axis=1) / np.maximum(near.sum(axis=1), 1), atol=1e-12
    )
    np.testing.assert_allclose(expected[-2:], [1800, (x @ x.T * graph.adjacency().toarray()).sum()], atol=1e-9)


@pytest.mark.parametrize("partitions", [1, 3, 7])
def test_the_bits_are_the_same_over_files_and_nothing_is_left(
    graph: Graph, expected: np.ndarray, tmp_path: Path, partitions: int
) -> None:
    np.testing.assert_array_equal(_scores(in_memory(graph, workers=3), graph), expected)
    for workers in (1, 2):
        wiring = in_files(graph, tmp_path / str(workers), partitions, workers)
        assert len(wiring.store.peers) >= partitions
        np.testing.assert_array_equal(_scores(wiring, graph), expected)
        assert not _arrays(wiring)
    wiring = in_files(graph, tmp_path / "sent", partitions)
    sent = Wiring(wiring.store, Runner(elsewhere))
    np.testing.assert_array_equal(_scores(sent, graph), expected)
    assert not _arrays(wiring)


@dataclass
class Work:
    """Counts the arrays of ranges that are written."""

    writes: int = 0

    def counts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        write = FolderStore.write

        def written(store: FolderStore, *given: Any) -> None:
            self.writes += 1
            write(store, *given)

        monkeypatch.setattr(FolderStore, "write", written)


def test_a_run_that_ends_at_any_use_of_a_file_goes_on_to_the_same_bits_and_makes_one_pass_twice_at_most(
    graph: Graph, expected: np.ndarray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, every, work = tmp_path / "home", Countdown(np.inf), Work()
    wiring = in_files(graph, home, 3)
    work.counts(monkeypatch)
    with monkeypatch.context() as patched:
        counted(patched, every)
        np.testing.assert_array_equal(_scores(wiring, graph), expected)
    whole, partitions = work.writes, len(wiring.store.peers)
    assert every.calls > 100
    graph_folder = home / "graph"
    for end in range(0, every.calls, 2):
        work.writes, run = 0, RunFolder(home / f"run{end}", str(home))
        run.path.mkdir()
        with monkeypatch.context() as patched:
            counted(patched, Countdown(end))
            with pytest.raises(Killed):
                _scores(Wiring(FolderStore.of(graph_folder, run), on_threads(1)), graph)
        again = Wiring(FolderStore.of(graph_folder, run), on_threads(1))
        np.testing.assert_array_equal(_scores(again, graph), expected)
        # A pass writes two arrays at most, and the array that is given is written again.
        assert work.writes - whole <= 3 * partitions, end
        assert not _arrays(again), end


def test_a_finished_run_makes_nothing_again(graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, work = in_files(graph, tmp_path / "home", 3), Work()
    found = _scores(first, graph)
    work.counts(monkeypatch)
    np.testing.assert_array_equal(_scores(run_of(tmp_path / "home"), graph), found)
    assert work.writes == len(first.store.peers)  # the array that is given


def test_what_a_stage_remembered_is_removed_with_it_and_what_others_remembered_is_not(
    graph: Graph, tmp_path: Path
) -> None:
    wiring = in_files(graph, tmp_path / "home", 2)
    outside = wiring.sum(np.sum, wiring.degrees)
    asked = []

    def find() -> dict[str, np.ndarray]:
        asked.append(1)
        inside = wiring.sum(np.sum, wiring.ids)
        return {"both": np.array([inside, wiring.sum(np.sum, wiring.degrees)])}

    for _ in range(2):
        np.testing.assert_array_equal(wiring.stage("both", find)["both"], [NODES * (NODES - 1) / 2, outside])
    assert len(asked) == 1
    assert len(list((tmp_path / "home" / "run").glob("*.npy"))) == 1
    assert wiring.stage("other", lambda: {"x": np.ones(2)})["x"].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("partitions", [1, 2, 5, 40])
def test_partitions_are_moved_to_the_nearest_block_and_none_is_empty(
    graph: Graph, tmp_path: Path, partitions: int
) -> None:
    store = in_files(graph, tmp_path / "files", partitions).store
    assert isinstance(store, FolderStore)
    given, bounds = np.array(store.stored.manifest.bounds), [0, *(stop for _, stop in store.peers)]
    assert given.size > partitions
    assert (np.diff(bounds) > 0).all()
    assert bounds[-1] == NODES
    assert all(start % BLOCK == 0 for start in bounds[:-1])
    for start in bounds[:-1]:
        assert np.abs(given - start).min() <= BLOCK / 2


@pytest.mark.parametrize("where", ["memory", "files"])
def test_nodes_that_follow_each_other_take_their_edges_and_arrays_along(
    graph: Graph, tmp_path: Path, where: str
) -> None:
    wiring = in_memory(graph) if where == "memory" else in_files(graph, tmp_path / "files", 4)
    places = wiring.given(np.arange(graph.indices.size), ENTRIES)
    first, others = slice(40, 200), slice(200, 300)
    part, (taken,) = wiring.between(first, others, places)
    kept = (graph.entry_nodes >= 40) & (graph.entry_nodes < 200) & (graph.indices >= 200)
    np.testing.assert_array_equal(taken.read(), np.flatnonzero(kept))
    np.testing.assert_array_equal(part.indices.read(), graph.indices[kept] - 200)
    np.testing.assert_array_equal(np.diff(part.indptr.read()), np.bincount(graph.entry_nodes[kept] - 40, minlength=160))
    back, _ = wiring.between(others, first)
    x = Wiring(wiring.store.part(others), wiring.runner).given(np.arange(100.0)[:, None])
    sums = np.bincount(graph.entry_nodes[kept] - 40, graph.indices[kept] - 200, 160)
    np.testing.assert_array_equal(part.around(x).all()[:, 0], sums)
    assert back.entry_count == part.entry_count == kept.sum()


@pytest.mark.parametrize("where", ["memory", "files"])
def test_rows_take_the_entries_of_their_rows(graph: Graph, tmp_path: Path, where: str) -> None:
    wiring = in_memory(graph) if where == "memory" else in_files(graph, tmp_path / "files", 4)
    found = wiring.rows(_largest_neighbour, wiring.indptr, wiring.indices).all()
    np.testing.assert_array_equal(
        found, [graph.indices[graph.indptr[i] : graph.indptr[i + 1]].max(initial=-1) for i in range(NODES)]
    )
    f = wiring.edges(_number_sums, [wiring.given(np.arange(300))], [wiring.given(np.arange(300))], 7)
    np.testing.assert_array_equal(f.read(), graph.entry_nodes + graph.indices + 7)


def _largest_neighbour(indptr: np.ndarray, indices: np.ndarray) -> np.ndarray:
    rows = [indices[a:b].max(initial=-1) for a, b in pairwise(indptr)]
    return np.array(rows, dtype=np.int64)


def _number_sums(own: tuple[np.ndarray], theirs: tuple[np.ndarray], more: int) -> np.ndarray:
    return np.asarray(own[0] + theirs[0] + more, dtype=np.float64)


def test_an_array_is_removed_with_its_last_handle_and_kept_after_a_failure(graph: Graph, tmp_path: Path) -> None:
    wiring = in_files(graph, tmp_path / "files", 2)
    one = wiring.given(np.arange(300))
    two = Handle(wiring, one.key, ROWS)
    del one
    assert _arrays(wiring)
    del two
    assert not _arrays(wiring)

    def fail() -> None:
        with wiring.store.opened():
            wiring.given(np.arange(300)).wiring.sum(np.linalg.inv, wiring.ids)

    with pytest.raises(np.linalg.LinAlgError):
        fail()
    assert not _arrays(wiring)  # the handle was let go of before the failure

    def fail_with_an_array() -> None:
        with wiring.store.opened():
            held = wiring.given(np.arange(300))
            wiring.sum(np.linalg.inv, held)

    with pytest.raises(np.linalg.LinAlgError):
        fail_with_an_array()
    assert _arrays(wiring)


def test_keys_are_of_contents_and_of_the_code(tmp_path: Path) -> None:
    parts = [1, 1.0, "1", np.float32(1), np.ones(1), np.ones(1, np.float32), np.ones((1, 1)), None, (1,), {"a": 1}, len]
    assert len({key_of("f", part) for part in parts}) == len(parts)
    assert key_of(np.arange(4)[::2]) == key_of(np.array([0, 2]))
    with pytest.raises(TypeError, match="no key can be made of object"):
        key_of(object())
    (tmp_path / "one.py").write_text("x = 1")
    before = code_digest(tmp_path)
    (tmp_path / "one.py").write_text("x = 2")
    code_digest.cache_clear()
    assert code_digest(tmp_path) != before


def test_memory_keeps_nothing_but_what_is_held(graph: Graph) -> None:
    wiring = in_memory(graph)
    assert isinstance(wiring.store, MemoryStore)
    before = set(wiring.store.data)
    _scores(wiring, graph)
    assert set(wiring.store.data) == before
