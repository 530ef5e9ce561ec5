from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from oddhop import Graph
from oddhop.odd import krylov, row_blocks
from oddhop.odd.communities import edge_residuals, leading, leading_from
from oddhop.odd.krylov import Spectrum, leading_eigenpairs, refined_eigenpairs
from oddhop.odd.row_blocks import Matrix, Rows

pytestmark = pytest.mark.kernels  # run again with kernels as plain Python, for their coverage


def _graph(network: nx.Graph) -> Graph:
    return Graph.from_scipy(nx.to_scipy_sparse_array(network), np.ones((network.number_of_nodes(), 1)))


def _communities(nodes: int = 700, seed: int = 0) -> Graph:
    return _graph(nx.random_partition_graph([nodes // 10] * 10, 0.25, 0.01, seed=seed))


def _matrix(graph: Graph, weights: np.ndarray | None = None, *, workers: int = 1) -> Matrix:
    return Matrix.of(graph.indptr, graph.indices, weights, workers=workers)


def _dense(graph: Graph) -> np.ndarray:
    return graph.adjacency().toarray().astype(float)


def _true_residuals(whole: np.ndarray, found: Spectrum) -> np.ndarray:
    vectors = found.vectors.astype(float)
    return np.linalg.norm(whole @ vectors - vectors * found.values, axis=0)


def _explained(found: Spectrum) -> np.ndarray:
    vectors = found.vectors.astype(float)
    return (vectors * found.values) @ vectors.T


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_blocks, "ROWS_AT_ONCE", 128)
    monkeypatch.setattr(row_blocks, "ROWS_IN_CACHE", 50)


def test_communities_are_those_of_the_whole_decomposition() -> None:
    graph = _communities()
    whole = _dense(graph)
    values, vectors = np.linalg.eigh(whole)
    found = leading_eigenpairs(_matrix(graph), 10, 0)
    np.testing.assert_allclose(found.values, values[-10:], atol=1e-4)
    expected = (vectors[:, -10:] * values[-10:]) @ vectors[:, -10:].T
    on_edges = whole > 0
    np.testing.assert_allclose(_explained(found)[on_edges], expected[on_edges], atol=1e-3)


@pytest.mark.parametrize("which", ["LM", "LA"])
def test_eigenvalues_are_the_largest_of_the_kind_that_was_asked_for(which: krylov.Which) -> None:
    graph = _graph(nx.gnm_random_graph(900, 6_000, seed=1))
    weights = 1.0 / np.sqrt(graph.degrees + graph.degrees.mean())
    whole = _dense(graph) * np.outer(weights, weights)
    values = np.linalg.eigvalsh(whole)
    expected = np.sort(values[np.argsort(-np.abs(values) if which == "LM" else -values)[:32]])
    found = leading_eigenpairs(_matrix(graph, weights), 32, 0, which=which)
    np.testing.assert_allclose(found.values, expected, atol=5e-3 * values[-1])
    assert (found.values < 0).any() == (which == "LM")


@pytest.mark.usefixtures("small_blocks")
def test_the_same_bits_on_any_number_of_workers_and_in_a_file(tmp_path: Path) -> None:
    graph = _communities()
    weights = 1.0 / np.sqrt(graph.degrees + 1.0)
    for given in (None, weights):
        one = leading_eigenpairs(_matrix(graph, given), 64, 0)
        for workers in (2, 4):
            other = leading_eigenpairs(_matrix(graph, given, workers=workers), 64, 0)
            assert one.vectors.tobytes() == other.vectors.tobytes()
            assert one.values.tobytes() == other.values.tobytes()
            assert one.residuals.tobytes() == other.residuals.tobytes()
        mapped = np.memmap(tmp_path / "basis", np.float32, "w+", shape=(13, graph.node_count, 16))
        in_file = leading_eigenpairs(_matrix(graph, given, workers=2), 64, 0, basis=mapped)
        assert one.vectors.tobytes() == in_file.vectors.tobytes()
    first, second = (refined_eigenpairs(_matrix(graph, workers=workers), one.vectors) for workers in (1, 3))
    assert first.vectors.tobytes() == second.vectors.tobytes()


@pytest.mark.usefixtures("small_blocks")
def test_rows_that_come_from_different_arrays_are_as_good() -> None:
    graph = _communities()
    whole = _matrix(graph)
    apart = []
    for rows in whole.rows:
        entries = slice(rows.indptr[0], rows.indptr[-1])
        apart.append(Rows(rows.start, rows.indptr - rows.indptr[0], rows.indices[entries].copy()))
    assert len(apart) > 3
    one, other = (leading_eigenpairs(matrix, 64, 0) for matrix in (whole, Matrix(apart)))
    assert one.vectors.tobytes() == other.vectors.tobytes()


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


@pytest.mark.parametrize("name", DEGENERATE)
def test_matrices_of_low_rank_and_equal_eigenvalues(name: str) -> None:
    graph = _graph(DEGENERATE[name])
    whole = _dense(graph)
    norm = max(np.abs(np.linalg.eigvalsh(whole)).max(), 1.0)
    found = leading_eigenpairs(_matrix(graph), 64, 0)
    vectors = found.vectors.astype(float)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(64), atol=1e-5)
    np.testing.assert_allclose(found.residuals, _true_residuals(whole, found), atol=1e-5 * norm)
    if name != "ring":  # its eigenvalues near 2 are closer to each other than 21 products can tell
        expected = np.linalg.eigvalsh(whole)
        expected = np.sort(expected[np.argsort(-np.abs(expected), kind="stable")[:64]])
        np.testing.assert_allclose(np.abs(found.values).sum(), np.abs(expected).sum(), atol=1e-3 * norm)


@pytest.mark.parametrize("nodes", [64, 100, 255, 300, 511, 512, 600])
def test_small_networks(nodes: int) -> None:
    graph = _graph(nx.gnm_random_graph(nodes, 5 * nodes, seed=nodes))
    found = leading(graph)
    assert found.values.size == min(64, nodes // 4)
    whole = _dense(graph)
    values = np.linalg.eigvalsh(whole)
    expected = np.sort(values[np.argsort(-np.abs(values))[: found.values.size]])
    np.testing.assert_allclose(found.values, expected, atol=1e-9 if nodes < 512 else 1e-2)
    np.testing.assert_allclose(found.residuals, _true_residuals(whole, found), atol=1e-5 * values[-1])


def test_without_enough_nodes_there_are_no_eigenvectors() -> None:
    graph = _graph(nx.cycle_graph(63))
    assert leading(graph).values.size == 0
    assert leading_from(graph, leading(graph)).values.size == 0
    np.testing.assert_array_equal(edge_residuals(graph), 1.0)


def test_the_two_sides_of_a_bipartite_network_have_both_signs() -> None:
    network = nx.bipartite.random_graph(300, 400, 0.05, seed=0)
    found = leading(_graph(network))
    np.testing.assert_allclose(found.values[-10:], -found.values[:10][::-1], atol=1e-3)


@pytest.mark.parametrize("nodes", [120, 700])
def test_refined_eigenpairs_report_their_residuals(nodes: int) -> None:
    graph = _communities(nodes)
    fewer = graph.with_edges(np.random.default_rng(0).random(graph.edge_count) < 0.8)
    near = leading_from(fewer, leading(graph))
    vectors = near.vectors.astype(float)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(near.values.size), atol=1e-5)
    np.testing.assert_allclose(near.residuals, _true_residuals(_dense(fewer), near), atol=1e-2)
    exact = leading(fewer)
    np.testing.assert_allclose(np.sort(near.values)[-5:], exact.values[-5:], rtol=0.02)


def test_refined_eigenpairs_of_no_edge_explain_nothing() -> None:
    graph = _communities()
    known = leading(graph)
    empty = refined_eigenpairs(Matrix.of(np.zeros_like(graph.indptr), graph.indices[:0]), known.vectors)
    np.testing.assert_array_equal(_explained(empty), 0.0)
    assert np.isfinite(empty.vectors).all()


def test_the_sum_of_a_hub_keeps_its_precision() -> None:
    count = 3_000 if _plain_python() else 200_000
    indptr, indices = np.array([0, count]), np.arange(count, dtype=np.int32)
    vectors = np.full((count, 9), 0.1, dtype=np.float32)
    out = np.empty((1, 9), dtype=np.float32)
    row_blocks.add_rows(indptr, indices, vectors, out)
    np.testing.assert_allclose(out, np.float32(0.1) * np.float64(count), rtol=1e-5)


def _plain_python() -> bool:
    return not hasattr(row_blocks.add_rows, "signatures")
