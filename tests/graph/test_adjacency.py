from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from oddhop.graph.adjacency import Repairs, both_ways, index_dtype, keep_edges, symmetric_csr, upper_edges, upper_indptr

pytestmark = pytest.mark.kernels


@st.composite
def edge_lists(draw):
    nodes = draw(st.integers(1, 12))
    node = st.integers(0, nodes - 1)
    pairs = draw(st.lists(st.tuples(node, node), max_size=40))
    return np.array(pairs, dtype=np.int64).reshape(-1, 2).T, nodes


def simple_matrix(edges, nodes):
    """Return the simple undirected adjacency by SciPy."""
    matrix = sp.coo_array((np.ones(edges.shape[1]), (edges[0], edges[1])), shape=(nodes, nodes)).toarray()
    matrix = (matrix + matrix.T > 0).astype(int)
    np.fill_diagonal(matrix, 0)
    return matrix


def as_matrix(indptr, indices, nodes):
    return sp.csr_array((np.ones(indices.size, dtype=int), indices, indptr), shape=(nodes, nodes)).toarray()


@settings(deadline=None)
@given(edge_lists())
def test_the_adjacency_is_the_simple_undirected_network(case):
    edges, nodes = case
    indptr, indices, _ = symmetric_csr(edges[0], edges[1], nodes)
    assert np.array_equal(as_matrix(indptr, indices, nodes), simple_matrix(edges, nodes))
    assert all((np.diff(indices[a:b]) > 0).all() for a, b in pairwise(indptr))


@settings(deadline=None)
@given(edge_lists())
def test_what_was_mended_is_counted(case):
    edges, nodes = case
    pairs = [(u, v) for u, v in edges.T.tolist() if u != v]
    _, _, repairs = symmetric_csr(edges[0], edges[1], nodes)
    assert repairs == Repairs(
        loops=edges.shape[1] - len(pairs),
        duplicates=len(pairs) - len(set(pairs)),
        one_way=sum((v, u) not in pairs for u, v in set(pairs)),
    )


@settings(deadline=None)
@given(edge_lists())
def test_the_edge_list_is_left_alone(case):
    edges, nodes = case
    before = edges.copy()
    symmetric_csr(edges[0], edges[1], nodes)
    assert np.array_equal(edges, before)


@settings(deadline=None)
@given(edge_lists(), st.data())
def test_edges_are_numbered_by_their_lower_then_their_higher_end(case, data):
    edges, nodes = case
    indptr, indices, _ = symmetric_csr(edges[0], edges[1], nodes)
    upper = upper_indptr(indptr, indices)
    expected = np.argwhere(np.triu(simple_matrix(edges, nodes)))
    start = data.draw(st.integers(0, len(expected)))
    stop = data.draw(st.integers(start, len(expected)))
    left, right = upper_edges(indptr, indices, upper, start, stop)
    assert upper[-1] == len(expected)
    assert np.array_equal(np.stack([left, right], axis=1), expected[start:stop])


@settings(deadline=None)
@given(edge_lists(), st.data())
def test_only_marked_edges_are_kept(case, data):
    edges, nodes = case
    indptr, indices, _ = symmetric_csr(edges[0], edges[1], nodes)
    expected = np.triu(simple_matrix(edges, nodes))
    count = int(expected.sum())
    keep = np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)), dtype=bool)
    expected[expected > 0] = keep
    new_indptr, new_indices = keep_edges(indptr, indices, upper_indptr(indptr, indices), keep)
    assert np.array_equal(as_matrix(new_indptr, new_indices, nodes), expected + expected.T)
    assert sp.csr_array((np.ones(new_indices.size), new_indices, new_indptr), (nodes, nodes)).has_sorted_indices
    assert new_indices.dtype == indices.dtype


@settings(deadline=None)
@given(edge_lists())
def test_a_value_of_an_edge_comes_to_both_its_rows(case):
    edges, nodes = case
    indptr, indices, _ = symmetric_csr(edges[0], edges[1], nodes)
    expected = np.triu(simple_matrix(edges, nodes)).astype(float)
    values = np.arange(1.0, expected.sum() + 1)
    expected[expected > 0] = values
    out = np.empty(indices.size)
    both_ways(indptr, indices, upper_indptr(indptr, indices), values, out)
    assert np.array_equal(sp.csr_array((out, indices, indptr), (nodes, nodes)).toarray(), expected + expected.T)


@pytest.mark.parametrize(("nodes", "dtype"), [(1, np.int32), (2**31 - 1, np.int32), (2**31, np.int64)])
def test_indices_are_as_narrow_as_the_number_of_nodes_allows(nodes, dtype):
    assert index_dtype(nodes) is dtype
