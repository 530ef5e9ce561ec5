import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch")

import torch

from oddhop import Graph
from oddhop.hcm.convolution import Convolution, convolve

pytestmark = pytest.mark.kernels


@st.composite
def cases(draw):
    """Return a graph, some of its rows in any order, repeats and all, and a generator."""
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
def test_a_field_holds_just_the_nodes_that_its_rows_depend_on(case):
    graph, rows, _ = case
    field = Convolution.of(graph, np.float64).field(rows)
    needed = np.flatnonzero(dense_matrix(graph)[rows].any(axis=0))
    assert np.array_equal(field.nodes, needed)
    assert np.array_equal(field.place[needed], np.arange(needed.size))


@settings(deadline=None)
@given(cases())
def test_rows_are_those_of_the_dense_product(case):
    graph, rows, rng = case
    hidden, convolution = rng.normal(size=(graph.node_count, 3)), Convolution.of(graph, np.float64)
    expected = (dense_matrix(graph) @ hidden)[rows]
    field = convolution.field(rows)
    np.testing.assert_allclose(convolution.rows(hidden, rows), expected, atol=1e-12)
    np.testing.assert_allclose(convolution.rows(hidden[field.nodes], rows, field), expected, atol=1e-12)


@settings(deadline=None)
@given(cases())
def test_spread_is_the_product_with_the_transpose(case):
    graph, rows, rng = case
    gradient, convolution = rng.normal(size=(rows.size, 3)), Convolution.of(graph, np.float64)
    expected = dense_matrix(graph)[rows].T @ gradient
    for field in (convolution.everywhere, convolution.field(rows)):
        np.testing.assert_allclose(convolution.spread(gradient, rows, field), expected[field.nodes], atol=1e-12)


@settings(deadline=None)
@given(cases())
def test_the_gradient_is_that_of_the_dense_product(case):
    graph, rows, rng = case
    convolution, target = Convolution.of(graph, np.float64), torch.from_numpy(rng.normal(size=(rows.size, 3)))
    field, start = convolution.field(rows), rng.normal(size=(graph.node_count, 3))
    gradients = []
    for product in (
        lambda hidden: convolve(hidden[torch.from_numpy(field.nodes)], convolution, field, rows),
        lambda hidden: (torch.from_numpy(dense_matrix(graph)) @ hidden)[torch.from_numpy(rows)],
    ):
        hidden = torch.from_numpy(start.copy()).requires_grad_()
        ((product(hidden).tanh() - target) ** 2).sum().backward()
        gradients.append(hidden.grad)
    torch.testing.assert_close(gradients[0], gradients[1])


def test_a_gradient_that_is_not_contiguous_is_read_right():
    graph = Graph.from_arrays([[0, 1], [1, 2]], np.zeros((3, 1)))
    convolution, hidden = Convolution.of(graph, np.float64), torch.zeros(3, 2, dtype=torch.float64, requires_grad=True)
    convolve(hidden, convolution, convolution.everywhere, np.arange(3)).sum().backward()  # one number, expanded
    np.testing.assert_allclose(hidden.grad, np.repeat(dense_matrix(graph).sum(axis=0)[:, None], 2, axis=1))


@settings(deadline=None)
@given(cases())
def test_the_root_of_the_degrees_stays_as_it_is(case):
    graph, rows, _ = case
    fixed = np.sqrt(graph.degrees + 1.0)[:, None]
    np.testing.assert_allclose(Convolution.of(graph, np.float64).rows(fixed, rows), fixed[rows])


def test_an_isolated_node_keeps_its_own_vector():
    graph = Graph.from_arrays([[0], [1]], np.zeros((3, 1)))
    out = Convolution.of(graph, np.float64).rows(np.arange(3.0)[:, None], np.array([2]))
    assert out.tolist() == [[2.0]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_keep_their_type_and_the_input_its_values(dtype):
    graph = Graph.from_arrays([[0, 1], [1, 2]], np.zeros((3, 1)))
    hidden, rows, convolution = np.ones((3, 2), dtype=dtype), np.array([0, 2]), Convolution.of(graph, dtype)
    assert convolution.rows(hidden, rows).dtype == dtype
    assert convolution.spread(hidden[:2], rows, convolution.everywhere).dtype == dtype
    assert np.array_equal(hidden, np.ones((3, 2)))


@settings(deadline=None)
@given(cases(), st.integers(1, 9))
def test_the_first_layer_made_anew_is_the_one_that_was_kept(case, entries):
    graph, _, rng = case
    convolution = Convolution.of(graph, np.float64)
    narrow, layer = rng.normal(size=(graph.node_count, 2)), rng.normal(size=(2, 3))
    expected = convolution.rows(np.maximum(narrow @ layer, 0), np.arange(graph.node_count))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("oddhop.hcm.convolution.ENTRIES_AT_ONCE", entries)
        middle = graph.node_count // 2
        parts = [convolution.rows_of_first(narrow, layer, a, b) for a, b in ((0, middle), (middle, graph.node_count))]
    np.testing.assert_allclose(np.vstack(parts), expected, atol=1e-12)
