"""Both stores keep and give the same arrays, and their ranges begin at multiples of a block."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from oddhop import Graph
from oddhop.partitions import store as ranges
from oddhop.partitions.files import InFiles, Store
from oddhop.partitions.store import InMemory
from oddhop.partitions.task import on_threads
from tests.odd.stores import in_files, in_memory

NODES, BLOCK = 300, 32
ONE = on_threads(1)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "BLOCK", BLOCK)


@pytest.fixture(scope="module")
def graph() -> Graph:
    network = nx.gnm_random_graph(NODES, 900, seed=3)
    return Graph.from_scipy(nx.to_scipy_sparse_array(network), np.ones((NODES, 1)))


@pytest.fixture(params=["memory", "1", "4"])
def store(request: pytest.FixtureRequest, graph: Graph, tmp_path: Path) -> InMemory | InFiles:
    return in_memory(graph) if request.param == "memory" else in_files(graph, tmp_path / "files", int(request.param))


def whole(store: Store, name: str) -> np.ndarray:
    return np.concatenate([store.read(name, number) for number in store.ranges])


def wiring(store: Store) -> tuple[np.ndarray, np.ndarray]:
    parts = [store.rows(number) for number in store.ranges]
    degrees = np.concatenate([np.diff(part.indptr) for part in parts])
    return np.concatenate([[0], np.cumsum(degrees)]), np.concatenate([part.indices for part in parts])


def test_ranges_cover_all_nodes_and_begin_at_multiples_of_a_block(store: InMemory | InFiles) -> None:
    spans = [store.span(number) for number in store.ranges]
    assert [start for start, _ in spans] == [0, *(stop for _, stop in spans[:-1])]
    assert spans[-1][1] == store.nodes == NODES
    assert all(start % BLOCK == 0 for start, _ in spans)
    assert all(start < stop for start, stop in spans)


@pytest.mark.parametrize("partitions", [1, 2, 5, 40])
def test_partitions_are_moved_to_the_nearest_block_and_none_is_empty(
    graph: Graph, tmp_path: Path, partitions: int
) -> None:
    files = in_files(graph, tmp_path / "files", partitions)
    given = np.array(files.stored.manifest.bounds)
    assert given.size > partitions
    found = files.bounds
    assert (np.diff(found) > 0).all()
    for start in found[:-1]:
        assert np.abs(given - start).min() <= BLOCK / 2
    if partitions == 40:  # more than there are blocks
        assert found.size - 1 <= -(-NODES // BLOCK)
    if partitions == 5:
        assert found.size - 1 == given.size - 1


def test_the_wiring_of_ranges_and_peers_is_that_of_the_network(store: InMemory | InFiles, graph: Graph) -> None:
    for number in store.ranges:
        rows, (start, stop) = store.rows(number), store.span(number)
        assert (rows.start, rows.stop) == (start, stop)
        np.testing.assert_array_equal(rows.indptr, graph.indptr[start : stop + 1] - graph.indptr[start])
        np.testing.assert_array_equal(rows.indices, graph.indices[graph.indptr[start] : graph.indptr[stop]])
    peers = [store.peer_rows(peer) for peer in store.peers]
    np.testing.assert_array_equal(np.concatenate([peer.indices for peer in peers]), graph.indices)
    assert [peer.stop for peer in peers][-1] == NODES


@pytest.mark.parametrize("width", [None, 0, 1, 5])
def test_what_is_written_is_read_by_range_and_by_peer(store: InMemory | InFiles, width: int | None) -> None:
    shape = (NODES,) if width is None else (NODES, width)
    given = np.random.default_rng(0).normal(size=shape)
    for number in store.ranges:
        part = given[slice(*store.span(number))]
        if number % 2:
            store.write("x", number, part)
        else:
            room = store.room("x", number, np.float64, width)
            assert room.shape == part.shape
            room[:] = part
            store.write("x", number, room)
    np.testing.assert_array_equal(whole(store, "x"), given)
    np.testing.assert_array_equal(np.concatenate([store.read_peer("x", peer) for peer in store.peers]), given)
    store.write("x", 0, -given[slice(*store.span(0))])
    np.testing.assert_array_equal(store.read("x", 0), -given[slice(*store.span(0))])


def test_entries_have_rooms_of_their_own(store: InMemory | InFiles, graph: Graph) -> None:
    given = np.random.default_rng(0).normal(size=graph.indices.size).astype(np.float32)
    for number in store.ranges:
        first, last = graph.indptr[list(store.span(number))]
        room = store.entry_room("f", number, np.float32)
        assert room.shape == (last - first,)
        room[:] = given[first:last]
        store.write("f", number, room)
    np.testing.assert_array_equal(whole(store, "f"), given)
    np.testing.assert_array_equal(np.concatenate([store.read_peer("f", peer) for peer in store.peers]), given)
    store.write("f", 0, store.read("f", 0) + np.float32(1))  # another array than its room
    np.testing.assert_array_equal(store.read("f", 0), given[: store.rows(0).indices.size] + np.float32(1))


def test_an_array_may_come_back_in_another_shape_and_type(store: InMemory | InFiles) -> None:
    for dtype, width in ((np.float32, 3), (np.float64, 2), (np.int64, None)):
        for number in store.ranges:
            room = store.room("x", number, dtype, width)
            room[:] = number
            store.write("x", number, room)
        found = whole(store, "x")
        assert found.dtype == dtype
        assert found.shape == ((NODES,) if width is None else (NODES, width))
        assert found.max() == len(store.ranges) - 1


def test_what_is_forgotten_is_gone_and_the_rest_is_there(store: InMemory | InFiles) -> None:
    for number in store.ranges:
        for name in ("a", "b", "c"):
            store.write(name, number, np.full(np.diff(store.span(number)), ord(name)))
    store.forget("a", "b", "never written")
    assert (whole(store, "c") == ord("c")).all()
    for name in ("a", "b"):
        with pytest.raises((KeyError, FileNotFoundError)):
            store.read(name, 0)


def test_files_are_there_for_the_next_process_and_memory_is_not(graph: Graph, tmp_path: Path) -> None:
    memory, files = in_memory(graph), in_files(graph, tmp_path / "files", 4)
    for store in (memory, files):
        store.write("a", 0, np.zeros(store.span(0)[1]))
    assert [files.has("a", number) for number in (0, 1)] == [True, False]
    assert not memory.has("a", 0)
    found = []

    def find() -> tuple[dict[str, np.ndarray], dict[str, int]]:
        found.append(1)
        return {"values": np.arange(3.0)}, {"edges": 7}

    for store, times in ((memory, 2), (files, 1)):
        found.clear()
        for _ in range(2):
            arrays, info = store.remembered("figures", find)
            np.testing.assert_array_equal(arrays["values"], np.arange(3.0))
            assert info == {"edges": 7}
        assert len(found) == times


def _to_even(share: int, store: Store, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Keep the entries whose two ends add up to a multiple of a number."""
    rows = store.rows(number)
    owner = np.repeat(np.arange(rows.start, rows.stop), np.diff(rows.indptr))
    kept = (owner + rows.indices) % share == 0
    return np.concatenate([[0], np.cumsum(kept)])[rows.indptr], rows.indices[kept]


def test_another_wiring_shares_the_arrays_that_are_named_and_no_other(store: InMemory | InFiles, graph: Graph) -> None:
    for number in store.ranges:
        start, stop = store.span(number)
        for name, sign in (("x", 1), ("known", -1), ("own", 100)):
            store.write(name, number, sign * np.arange(start, stop))
    fewer = store.rewired("even", partial(_to_even, 2), {"x": "x", "before": "known"}, ONE)
    fewest = fewer.rewired("sixth", partial(_to_even, 6), {"x": "x", "long before": "before"}, ONE)
    owner, count = graph.entry_nodes, np.arange(NODES)
    for other, share, name in ((fewer, 2, "before"), (fewest, 6, "long before")):
        kept = (owner + graph.indices) % share == 0
        indptr, indices = wiring(other)
        np.testing.assert_array_equal(indices, graph.indices[kept])
        np.testing.assert_array_equal(np.diff(indptr), np.bincount(owner[kept], minlength=NODES))
        np.testing.assert_array_equal(whole(other, "x"), count)
        np.testing.assert_array_equal(whole(other, name), -count)
        with pytest.raises((KeyError, FileNotFoundError)):
            other.read("own", 0)
        for number in other.ranges:
            other.write("own", number, np.full(np.diff(other.span(number)), share))
            other.write("known", number, np.full(np.diff(other.span(number)), share))
        assert other.entry_room("f", 0, np.float32).size == other.rows(0).indices.size
    for other, expected in ((store, 100 * count), (fewer, 2), (fewest, 6)):
        assert (whole(other, "own") == expected).all()
    np.testing.assert_array_equal(whole(store, "known"), -count)
    np.testing.assert_array_equal(wiring(store)[1], graph.indices)


def test_figures_of_another_wiring_are_its_own(graph: Graph, tmp_path: Path) -> None:
    files = in_files(graph, tmp_path / "files", 2)
    fewer = files.rewired("even", partial(_to_even, 2), {}, ONE)
    for number, store in enumerate((files, fewer)):
        store.remembered("figures", lambda: ({"value": np.array([number])}, {}))  # noqa: B023 - called at once
    assert [int(one.remembered("figures", pytest.fail)[0]["value"][0]) for one in (files, fewer)] == [0, 1]


def test_a_wiring_that_was_written_is_not_worked_out_again(graph: Graph, tmp_path: Path) -> None:
    files = in_files(graph, tmp_path / "files", 3)
    before = wiring(files.rewired("even", partial(_to_even, 2), {}, ONE))

    def refused(store: Store, number: int) -> tuple[np.ndarray, np.ndarray]:
        raise AssertionError(f"range {number} is there")

    after = wiring(files.rewired("even", refused, {}, ONE))
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)
