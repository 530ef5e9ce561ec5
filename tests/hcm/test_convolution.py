import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch")

import torch

from oddhop import HCM, Graph
from oddhop.hcm.convolution import Block, Convolution, draw_places, product
from tests.conftest import QUICK

pytestmark = pytest.mark.kernels


@st.composite
def cases(draw):
    """Return a graph, some of its rows in any order, and a generator."""
    nodes = draw(st.integers(1, 10))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    graph = Graph.from_arrays(rng.integers(0, nodes, (2, draw(st.integers(0, 25)))), np.zeros((nodes, 1)))
    rows = draw(st.lists(st.integers(0, nodes - 1), max_size=nodes + 2))
    return graph, np.array(rows, dtype=np.int64), rng


def dense_matrix(graph):
    matrix = np.eye(graph.node_count)
    matrix[np.repeat(np.arange(graph.node_count), graph.degrees), graph.indices] = 1
    root = np.sqrt(matrix.sum(axis=0))
    return matrix / root / root[:, None]


@settings(deadline=None)
@given(cases())
def test_a_block_has_the_rows_of_the_dense_matrix_over_just_the_nodes_they_depend_on(case):
    graph, rows, rng = case
    nodes, block = Convolution.of(graph, np.float64).block(rows)
    matrix = dense_matrix(graph)
    assert np.array_equal(nodes, np.flatnonzero(matrix[rows].any(axis=0)))
    hidden = rng.normal(size=(graph.node_count, 3))
    out = product(block, torch.from_numpy(hidden[nodes]))
    np.testing.assert_allclose(out.numpy(), (matrix @ hidden)[rows], atol=1e-12)


@settings(deadline=None)
@given(cases())
def test_the_gradient_is_that_of_the_dense_product(case):
    graph, rows, rng = case
    nodes, block = Convolution.of(graph, np.float64).block(rows)
    target, start = torch.from_numpy(rng.normal(size=(rows.size, 3))), rng.normal(size=(graph.node_count, 3))
    gradients = []
    for multiply in (
        lambda hidden: product(block, hidden[torch.from_numpy(nodes)]),
        lambda hidden: (torch.from_numpy(dense_matrix(graph)) @ hidden)[torch.from_numpy(rows)],
    ):
        hidden = torch.from_numpy(start.copy()).requires_grad_()
        ((multiply(hidden).tanh() - target) ** 2).sum().backward()
        gradients.append(hidden.grad)
    torch.testing.assert_close(gradients[0], gradients[1])


@settings(deadline=None)
@given(cases())
def test_a_range_of_rows_is_that_of_the_dense_matrix_with_norms_or_ones(case):
    graph, _, rng = case
    convolution, matrix = Convolution.of(graph, np.float64), dense_matrix(graph)
    hidden, middle = rng.normal(size=(graph.node_count, 3)), graph.node_count // 2
    for normalised, expected in ((True, matrix), (False, (matrix > 0).astype(float))):
        parts = [
            convolution.rows(a, b, normalised=normalised).times(torch.from_numpy(hidden))
            for a, b in ((0, middle), (middle, graph.node_count))
        ]
        np.testing.assert_allclose(torch.cat(parts).numpy(), expected @ hidden, atol=1e-12)


@settings(deadline=None)
@given(cases())
def test_a_device_without_compressed_matrices_gives_the_same(case):
    graph, rows, rng = case
    nodes, block = Convolution.of(graph, np.float64).block(rows)
    hidden = torch.from_numpy(rng.normal(size=(nodes.size, 3)))
    expected = block.times(hidden)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("oddhop.hcm.convolution.COMPRESSED", ())
        torch.testing.assert_close(block.times(hidden), expected)


def test_a_gradient_that_is_not_contiguous_is_read_right():
    graph = Graph.from_arrays([[0, 1], [1, 2]], np.zeros((3, 1)))
    hidden = torch.zeros(3, 2, dtype=torch.float64, requires_grad=True)
    _, block = Convolution.of(graph, np.float64).block(np.arange(3))
    product(block, hidden).sum().backward()  # one number, expanded
    np.testing.assert_allclose(hidden.grad, np.repeat(dense_matrix(graph).sum(axis=0)[:, None], 2, axis=1))


def test_an_isolated_node_keeps_its_own_vector():
    graph = Graph.from_arrays([[0], [1]], np.zeros((3, 1)))
    out = Convolution.of(graph, np.float64).rows(2, 3).times(torch.arange(3.0, dtype=torch.float64)[:, None])
    assert out.tolist() == [[2.0]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_keep_their_type(dtype):
    graph = Graph.from_arrays([[0, 1], [1, 2]], np.zeros((3, 1)))
    _, block = Convolution.of(graph, dtype).block(np.array([0, 2]))
    assert block.values.numpy().dtype == block.turned.values.numpy().dtype == dtype


def dense(matrix: Block) -> np.ndarray:
    return matrix.times(torch.eye(matrix.width, dtype=matrix.values.dtype)).numpy()


@settings(deadline=None)
@given(cases())
def test_columns_are_the_rows_turned(case):
    graph, rows, _ = case
    _, block = Convolution.of(graph, np.float64, most=2, seed=1).block(rows)
    assert np.array_equal(dense(block).T, dense(block.turned))


@settings(deadline=None)
@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 2**32))
def test_places_are_drawn_once_each_and_in_order(degree: int, wanted: int, seed: int) -> None:
    count = min(degree, wanted)
    places = draw_places(degree, count, np.uint64(seed))
    assert places.size == count
    assert (np.diff(places) > 0).all()
    assert set(places.tolist()) <= set(range(degree))


@settings(deadline=None)
@given(st.integers(1, 12), st.integers(0, 2**32))
def test_a_block_depends_on_so_many_neighbours_of_each_row(wanted: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = Graph.from_arrays(rng.integers(0, 15, (2, 60)), np.zeros((15, 1)))
    rows = np.flatnonzero(rng.random(15) < 0.6)
    nodes, block = Convolution.of(graph, np.float64, most=wanted, seed=seed).block(rows)
    matrix = dense_matrix(graph)
    for row, entries in zip(rows, dense(block), strict=True):
        seen = np.setdiff1d(nodes[entries > 0], row)
        assert seen.size == min(wanted, graph.degrees[row])
        assert (matrix[row, seen] > 0).all()


def test_every_place_is_drawn_as_often() -> None:
    degree, wanted, tries = 9, 3, 4_000
    seen = np.zeros(degree)
    for key in range(tries):
        seen[draw_places(degree, wanted, np.uint64(key))] += 1
    expected = tries * wanted / degree
    chi_square = ((seen - expected) ** 2 / (expected * (1 - wanted / degree))).sum() * (degree - 1) / degree
    assert chi_square < 26.1  # of 8 degrees of freedom: once in a thousand seeds, and the seeds are fixed


def test_a_sampled_product_has_the_expectation_of_the_whole() -> None:
    rng = np.random.default_rng(0)
    graph = Graph.from_arrays(rng.integers(0, 40, (2, 400)), rng.normal(size=(40, 2)))
    hidden, rows = rng.normal(size=(40, 1)), np.arange(0, 40, 3)
    whole = (dense_matrix(graph) @ hidden)[rows]
    sums, squares = np.zeros_like(whole), np.zeros_like(whole)
    tries = 600
    for seed in range(tries):
        nodes, block = Convolution.of(graph, np.float64, most=5, seed=seed).block(rows)
        found = product(block, torch.from_numpy(hidden[nodes])).numpy()
        sums, squares = sums + found, squares + found**2
    error = np.sqrt(np.maximum(squares / tries - (sums / tries) ** 2, 1e-12) / tries)
    assert (np.abs(sums / tries - whole) < 4.5 * error).all()


def test_a_detector_trained_on_samples_scores_all_neighbours(small: Graph) -> None:
    sampled = HCM(neighbours=3, **QUICK).fit(small)
    assert np.isfinite(sampled.anomaly_scores_).all()
    assert np.array_equal(sampled.score_samples(small), -sampled.anomaly_scores_)
    full = HCM(**QUICK).fit(small)
    assert not np.array_equal(sampled.anomaly_scores_, full.anomaly_scores_)
    assert np.array_equal(HCM(neighbours=1_000, **QUICK).fit(small).anomaly_scores_, full.anomaly_scores_)
