from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from oddhop import Graph
from oddhop.arrays import handles, kernels, stores, task
from oddhop.arrays import wiring as wirings
from oddhop.arrays.wiring import Wiring
from oddhop.odd.eigenvectors import Eigenpairs, leading_eigenpairs, refined_eigenpairs
from tests.odd.stores import in_files, in_memory, residuals_of, wiring_of

pytestmark = pytest.mark.kernels


def _graph(network: nx.Graph) -> Graph:
    return Graph.from_scipy(nx.to_scipy_sparse_array(network), np.ones((network.number_of_nodes(), 1)))


def _communities(nodes: int = 700, seed: int = 0) -> Graph:
    return _graph(nx.random_partition_graph([nodes // 10] * 10, 0.25, 0.01, seed=seed))


@dataclass(frozen=True)
class Found:
    """Eigenvalues and eigenvectors."""

    values: np.ndarray
    vectors: np.ndarray

    @classmethod
    def of(cls, pairs: Eigenpairs) -> Found:
        assert pairs.vectors is not None
        return cls(pairs.values, pairs.vectors.read())

    @property
    def bits(self) -> tuple[bytes, bytes]:
        return self.values.tobytes(), self.vectors.tobytes()


def _searched(graph: Graph, count: int) -> Found:
    return Found.of(leading_eigenpairs(in_memory(graph), count))


def _leading(graph: Graph) -> Found:
    return Found.of(leading_eigenpairs(in_memory(graph)))


def _refined(graph: Graph, known: np.ndarray, steps: int = 1) -> Found:
    wiring = in_memory(graph)
    return Found.of(refined_eigenpairs(wiring, wiring.given(known), steps))


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
    monkeypatch.setattr(stores, "BLOCK", 128)
    for module in (handles, task, wirings):
        monkeypatch.setattr(module, "CHUNK", 50)


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
    expected = _leading(graph).bits
    for workers in (2, 4):
        assert Found.of(leading_eigenpairs(in_memory(graph, workers))).bits == expected
    for partitions in (1, 3, 5):
        wiring = in_files(graph, tmp_path / str(partitions), partitions, workers=2)
        assert len(wiring.store.peers) >= partitions
        assert Found.of(leading_eigenpairs(wiring)).bits == expected


@pytest.mark.usefixtures("small_blocks")
def test_refined_eigenpairs_have_the_same_bits_on_any_number_of_workers_and_in_files(tmp_path: Path) -> None:
    graph = _communities()
    known = np.random.default_rng(0).normal(size=(graph.node_count, 20)).astype(np.float32)

    def found(wiring: Wiring) -> tuple[bytes, bytes]:
        return Found.of(refined_eigenpairs(wiring, wiring.given(known))).bits

    expected = found(in_memory(graph))
    assert found(in_memory(graph, workers=3)) == expected
    for partitions in (1, 4):
        assert found(in_files(graph, tmp_path / str(partitions), partitions, workers=2)) == expected


@pytest.mark.parametrize("hub", [1_024, 1_025, 2_900])  # entries: those of a longer row are added by groups
def test_the_sums_of_a_hub_have_the_same_bits_in_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hub: int
) -> None:
    monkeypatch.setattr(stores, "BLOCK", kernels.LONG_ROW)
    rng = np.random.default_rng(0)
    others = rng.permutation(np.arange(1, 4_000))[:hub]
    edges = np.concatenate([[np.zeros(hub, dtype=int), others], rng.integers(1, 4_000, (2, 6_000))], axis=1)
    graph = Graph.from_arrays(edges, np.ones((4_000, 1)))
    assert graph.degrees[0] == hub
    x = rng.normal(size=(4_000, 11)).astype(np.float32)
    memory, files = in_memory(graph), in_files(graph, tmp_path / "files", 4)
    assert len(files.store.peers) > 2
    one, two = (wiring.around(wiring.given(x)).all() for wiring in (memory, files))
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
    assert _true_residuals(whole, found)[-5:].max() < (1e-6 if nodes < 512 else 0.2) * values[-1]


def test_without_enough_nodes_there_are_no_eigenvectors() -> None:
    graph = _graph(nx.cycle_graph(63))
    assert leading_eigenpairs(in_memory(graph)).values.size == 0
    assert refined_eigenpairs(in_memory(graph), None).values.size == 0
    np.testing.assert_array_equal(residuals_of(graph), 1.0)


def test_the_two_sides_of_a_bipartite_network_have_both_signs() -> None:
    network = nx.bipartite.random_graph(300, 400, 0.05, seed=0)
    found = _leading(_graph(network))
    np.testing.assert_allclose(found.values[-10:], -found.values[:10][::-1], atol=1e-3)


@pytest.mark.parametrize("nodes", [120, 700])
def test_refined_eigenpairs_are_near_the_exact_ones(nodes: int) -> None:
    graph = _communities(nodes)
    fewer = graph.with_edges(np.random.default_rng(0).random(graph.edge_count) < 0.8)
    before = _leading(graph)
    near = _refined(fewer, before.vectors)
    vectors = near.vectors.astype(float)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(near.values.size), atol=1e-5)
    exact = _leading(fewer)
    np.testing.assert_allclose(np.sort(near.values)[-5:], exact.values[-5:], rtol=0.02)


def test_refined_eigenpairs_of_no_edge_explain_nothing() -> None:
    graph = _communities()
    wiring = wiring_of(np.zeros_like(graph.indptr), graph.indices[:0])
    empty = Found.of(refined_eigenpairs(wiring, wiring.given(_leading(graph).vectors)))
    np.testing.assert_array_equal(_explained(empty), 0.0)
    assert np.isfinite(empty.vectors).all()


def test_the_sum_of_a_hub_keeps_its_precision() -> None:
    count = 3_000 if _plain_python() else 200_000
    indptr, indices = np.array([0, count]), np.arange(count, dtype=np.int32)
    vectors = np.full((count, 9), 0.1, dtype=np.float32)
    out = np.zeros((1, 9), dtype=np.float32)
    kernels.add_neighbours(indptr[:1], indptr[1:], indices, 0, np.array([count]), vectors, out)
    np.testing.assert_allclose(out, np.float32(0.1) * np.float64(count), rtol=1e-5)


def _plain_python() -> bool:
    return not hasattr(kernels.add_neighbours, "signatures")


def test_two_steps_leave_smaller_residuals_than_one() -> None:
    graph = _communities()
    known = np.random.default_rng(0).normal(size=(graph.node_count, 20)).astype(np.float32)
    whole = _dense(graph)
    one, two, four = (_true_residuals(whole, _refined(graph, known, steps))[-5:].sum() for steps in (1, 2, 4))
    assert four < 0.7 * two
    assert two < 0.8 * one
