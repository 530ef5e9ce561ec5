from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from oddhop import Graph
from oddhop.odd import row_blocks
from oddhop.odd.communities import leading, leading_from
from oddhop.odd.krylov import VECTORS, Eigenvalues, leading_eigenpairs, refined_eigenpairs
from oddhop.odd.row_blocks import gathered, neighbour_sums
from oddhop.partitions import store as ranges
from oddhop.partitions.files import InFiles
from oddhop.partitions.store import InMemory
from oddhop.partitions.task import on_threads
from tests.odd.stores import in_files, in_memory, residuals_of

pytestmark = pytest.mark.kernels


def _graph(network: nx.Graph) -> Graph:
    return Graph.from_scipy(nx.to_scipy_sparse_array(network), np.ones((network.number_of_nodes(), 1)))


def _communities(nodes: int = 700, seed: int = 0) -> Graph:
    return _graph(nx.random_partition_graph([nodes // 10] * 10, 0.25, 0.01, seed=seed))


ONE = on_threads(1)


@dataclass(frozen=True)
class Found:
    """Eigenvalues and eigenvectors."""

    values: np.ndarray
    residuals: np.ndarray
    vectors: np.ndarray

    @classmethod
    def in_store(cls, store: InMemory, found: Eigenvalues) -> Found:
        return cls(found.values, found.residuals, store.of_nodes[VECTORS])


def _searched(graph: Graph, count: int) -> Found:
    store = in_memory(graph)
    return Found.in_store(store, leading_eigenpairs(store, ONE, count, 0))


def _leading(graph: Graph) -> Found:
    store = in_memory(graph)
    return Found.in_store(store, leading(store, ONE))


def _dense(graph: Graph) -> np.ndarray:
    return graph.adjacency().toarray().astype(float)


def _true_residuals(whole: np.ndarray, found: Found) -> np.ndarray:
    vectors = found.vectors.astype(float)
    return np.linalg.norm(whole @ vectors - vectors * found.values, axis=0)


def _explained(found: Found) -> np.ndarray:
    vectors = found.vectors.astype(float)
    return (vectors * found.values) @ vectors.T


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "BLOCK", 128)
    monkeypatch.setattr(row_blocks, "ROWS_IN_CACHE", 50)


def test_communities_are_those_of_the_whole_decomposition() -> None:
    graph = _communities()
    whole = _dense(graph)
    values, vectors = np.linalg.eigh(whole)
    found = _searched(graph, 10)
    np.testing.assert_allclose(found.values, values[-10:], atol=1e-4)
    expected = (vectors[:, -10:] * values[-10:]) @ vectors[:, -10:].T
    on_edges = whole > 0
    np.testing.assert_allclose(_explained(found)[on_edges], expected[on_edges], atol=1e-3)


def test_eigenvalues_are_those_of_the_largest_magnitude() -> None:
    graph = _graph(nx.gnm_random_graph(900, 6_000, seed=1))
    values = np.linalg.eigvalsh(_dense(graph))
    expected = np.sort(values[np.argsort(-np.abs(values))[:32]])
    found = _searched(graph, 32)
    np.testing.assert_allclose(found.values, expected, atol=5e-3 * values[-1])
    assert (found.values < 0).any()


@pytest.mark.slow
@pytest.mark.usefixtures("small_blocks")
def test_the_same_bits_on_any_number_of_workers_and_in_files(tmp_path: Path) -> None:
    graph = _communities()

    def found(store: InMemory | InFiles, workers: int) -> tuple[bytes, ...]:
        pairs = leading_eigenpairs(store, on_threads(workers), 64, 0)
        return pairs.values.tobytes(), pairs.residuals.tobytes(), gathered(store, VECTORS).tobytes()

    memory = in_memory(graph)
    assert len(memory.ranges) == 6
    expected = found(memory, 1)
    for workers in (2, 4):
        assert found(in_memory(graph), workers) == expected
    for partitions in (1, 3, 5):
        files = in_files(graph, tmp_path / str(partitions), partitions)
        assert len(files.ranges) >= partitions
        assert found(files, 2) == expected
        assert found(files, 1) == expected  # as it was kept
        assert not list(files.folder.glob("basis*"))


@pytest.mark.usefixtures("small_blocks")
def test_refined_eigenpairs_have_the_same_bits_on_any_number_of_workers_and_in_files(tmp_path: Path) -> None:
    graph = _communities()
    known = np.random.default_rng(0).normal(size=(graph.node_count, 20)).astype(np.float32)

    def found(store: InMemory | InFiles, workers: int) -> tuple[bytes, ...]:
        pairs = refined_eigenpairs(store, on_threads(workers), "known")
        return pairs.values.tobytes(), pairs.residuals.tobytes(), gathered(store, VECTORS).tobytes()

    expected = found(in_memory(graph, known=known), 1)
    assert found(in_memory(graph, known=known), 3) == expected
    for partitions in (1, 4):
        assert found(in_files(graph, tmp_path / str(partitions), partitions, known=known), 2) == expected


@pytest.mark.parametrize("hub", [1_024, 1_025, 2_900])  # entries: those of a longer row are added by groups
def test_the_sums_of_a_hub_have_the_same_bits_in_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hub: int
) -> None:
    monkeypatch.setattr(ranges, "BLOCK", row_blocks.LONG_ROW)
    rng = np.random.default_rng(0)
    others = rng.permutation(np.arange(1, 4_000))[:hub]
    edges = np.concatenate([[np.zeros(hub, dtype=int), others], rng.integers(1, 4_000, (2, 6_000))], axis=1)
    graph = Graph.from_arrays(edges, np.ones((4_000, 1)))
    assert graph.degrees[0] == hub
    x = rng.normal(size=(4_000, 11)).astype(np.float32)
    memory, files = in_memory(graph, x=x), in_files(graph, tmp_path / "files", 4, x=x)
    assert len(files.ranges) > 2
    one, two = (
        np.concatenate([neighbour_sums(store, "x", "around", number) for number in store.ranges])
        for store in (memory, files)
    )
    assert one.tobytes() == two.tobytes()
    np.testing.assert_allclose(one, graph.adjacency() @ x.astype(float), rtol=1e-4, atol=1e-4)


DEGENERATE = {
    "star": nx.star_graph(700),
    "complete": nx.complete_graph(520),
    "complete bipartite": nx.complete_bipartite_graph(200, 400),
    "fifty equal complete parts": nx.disjoint_union_all([nx.complete_graph(12)] * 50),
    "parts and nodes alone": nx.disjoint_union_all([nx.star_graph(20), nx.complete_graph(150), nx.empty_graph(400)]),
    "ring": nx.cycle_graph(600),
    "no edge": nx.empty_graph(600),
    "one edge": nx.disjoint_union(nx.path_graph(2), nx.empty_graph(600)),
}


QUICK = ("star", "ring", "no edge")
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in DEGENERATE if name not in QUICK]


@pytest.mark.parametrize("name", [*QUICK, *SLOW])
def test_matrices_of_low_rank_and_equal_eigenvalues(name: str) -> None:
    graph = _graph(DEGENERATE[name])
    whole = _dense(graph)
    values = np.linalg.eigvalsh(whole)
    norm = max(np.abs(values).max(), 1.0)
    found = _searched(graph, 64)
    vectors = found.vectors.astype(float)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(64), atol=1e-5)
    np.testing.assert_allclose(found.residuals, _true_residuals(whole, found), atol=1e-5 * norm)
    if name != "ring":  # its eigenvalues near 2 are closer to each other than 21 products can tell
        expected = np.sort(values[np.argsort(-np.abs(values), kind="stable")[:64]])
        np.testing.assert_allclose(np.abs(found.values).sum(), np.abs(expected).sum(), atol=1e-3 * norm)


@pytest.mark.parametrize(
    "nodes", [64, 100, 300, 512, *(pytest.param(count, marks=pytest.mark.slow) for count in (255, 511, 600))]
)
def test_small_networks(nodes: int) -> None:
    graph = _graph(nx.gnm_random_graph(nodes, 5 * nodes, seed=nodes))
    found = _leading(graph)
    assert found.values.size == min(64, nodes // 4)
    whole = _dense(graph)
    values = np.linalg.eigvalsh(whole)
    expected = np.sort(values[np.argsort(-np.abs(values))[: found.values.size]])
    np.testing.assert_allclose(found.values, expected, atol=1e-9 if nodes < 512 else 1e-2)
    np.testing.assert_allclose(found.residuals, _true_residuals(whole, found), atol=1e-5 * values[-1])


def test_without_enough_nodes_there_are_no_eigenvectors() -> None:
    graph = _graph(nx.cycle_graph(63))
    assert leading(in_memory(graph), ONE).values.size == 0
    assert leading_from(in_memory(graph), ONE, "known", 0).values.size == 0
    np.testing.assert_array_equal(residuals_of(graph), 1.0)


def test_the_two_sides_of_a_bipartite_network_have_both_signs() -> None:
    network = nx.bipartite.random_graph(300, 400, 0.05, seed=0)
    found = _leading(_graph(network))
    np.testing.assert_allclose(found.values[-10:], -found.values[:10][::-1], atol=1e-3)


@pytest.mark.parametrize("nodes", [120, 700])
def test_refined_eigenpairs_report_their_residuals(nodes: int) -> None:
    graph = _communities(nodes)
    fewer = graph.with_edges(np.random.default_rng(0).random(graph.edge_count) < 0.8)
    before = _leading(graph)
    store = in_memory(fewer, known=before.vectors)
    near = Found.in_store(store, leading_from(store, ONE, "known", before.values.size))
    vectors = near.vectors.astype(float)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(near.values.size), atol=1e-5)
    np.testing.assert_allclose(near.residuals, _true_residuals(_dense(fewer), near), atol=1e-2)
    exact = _leading(fewer)
    np.testing.assert_allclose(np.sort(near.values)[-5:], exact.values[-5:], rtol=0.02)


def test_refined_eigenpairs_of_no_edge_explain_nothing() -> None:
    graph = _communities()
    store = InMemory(np.zeros_like(graph.indptr), graph.indices[:0], {"known": _leading(graph).vectors})
    empty = Found.in_store(store, refined_eigenpairs(store, ONE, "known"))
    np.testing.assert_array_equal(_explained(empty), 0.0)
    assert np.isfinite(empty.vectors).all()


def test_the_sum_of_a_hub_keeps_its_precision() -> None:
    count = 3_000 if _plain_python() else 200_000
    indptr, indices = np.array([0, count]), np.arange(count, dtype=np.int32)
    vectors = np.full((count, 9), 0.1, dtype=np.float32)
    out = np.zeros((1, 9), dtype=np.float32)
    row_blocks.add_rows(indptr, indices, indptr[:1].copy(), 0, count, vectors, out)
    np.testing.assert_allclose(out, np.float32(0.1) * np.float64(count), rtol=1e-5)


def _plain_python() -> bool:
    return not hasattr(row_blocks.add_rows, "signatures")


def test_two_steps_leave_smaller_residuals_than_one() -> None:
    graph = _communities()
    known = np.random.default_rng(0).normal(size=(graph.node_count, 20)).astype(np.float32)
    one, two, four = (refined_eigenpairs(in_memory(graph, known=known), ONE, "known", steps) for steps in (1, 2, 4))
    assert four.residuals[-5:].sum() < 0.7 * two.residuals[-5:].sum()
    assert two.residuals[-5:].sum() < 0.8 * one.residuals[-5:].sum()
