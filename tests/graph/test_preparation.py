import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from oddhop import Graph
from oddhop.errors import GraphError
from oddhop.graph.preparation import is_binary, learn_preparation

pytestmark = pytest.mark.kernels

FORMS = pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
SCALES = pytest.mark.parametrize("scale", [1e20, 1e-20, 1e200, 1e-200])


def graph_of(x):
    return Graph.from_arrays([[0], [1]], x)


def prepared(x, *, scale="standard", pca_components=5, pca_above=100):
    graph = graph_of(x)
    learned = learn_preparation(graph.attributes, scale=scale, pca_components=pca_components, pca_above=pca_above)
    return learned.apply(graph).attributes


def wide_matrix(seed=0, nodes=60, columns=120):
    """Return many columns, most entries zero, the variances well apart."""
    rng = np.random.default_rng(seed)
    return rng.random((nodes, columns)) * (rng.random((nodes, columns)) < 0.3) * np.linspace(4, 1, columns) ** 2


def same_up_to_sign(one, two, tolerance=1e-8):
    signs = np.sign((one * two).sum(axis=0))
    return np.allclose(one, two * signs, atol=tolerance * abs(one).max())


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 30), st.integers(1, 5))
def test_columns_get_mean_zero_and_variance_one(seed, nodes, columns):
    x = np.random.default_rng(seed).normal(3, 10, (nodes, columns))
    np.testing.assert_allclose(prepared(x), (x - x.mean(axis=0)) / x.std(axis=0), rtol=1e-9, atol=1e-9)


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_sparse_columns_are_scaled_like_dense_ones(seed):
    x = wide_matrix(seed, nodes=10, columns=4)
    np.testing.assert_allclose(prepared(sp.csr_array(x)), prepared(x), atol=1e-12)


@FORMS
def test_columns_of_very_different_size_count_alike(form):
    column = np.array([[-1.0], [0.0], [3.0], [1.0]])
    result = prepared(form(column * [1, 1e20, 1e-20, 1e200, 1e-200]))
    np.testing.assert_allclose(result, np.repeat(result[:, :1], 5, axis=1), rtol=1e-12)
    assert result[:, 0].std() == pytest.approx(1)


@SCALES
@FORMS
def test_the_unit_of_many_columns_does_not_matter(form, scale):
    x = wide_matrix()
    assert same_up_to_sign(prepared(form(x)), prepared(form(x * scale)))


@SCALES
def test_without_scaling_the_components_keep_their_unit(scale):
    x = wide_matrix()
    assert same_up_to_sign(prepared(x, scale="none"), prepared(x * scale, scale="none") / scale)


@FORMS
@pytest.mark.parametrize("level", [0.0, 0.1, 5.0, 1e20])
def test_a_constant_column_becomes_zeros(form, level):
    x = np.column_stack([np.full(7, level), np.arange(7.0)])
    result = prepared(form(x))
    assert np.allclose(result[:, 0], 0, atol=1e-9)
    assert result[:, 1].std() == pytest.approx(1)


@FORMS
@pytest.mark.parametrize("level", [0.0, 1.0, 1e20])
def test_many_constant_columns_become_one_column_of_zeros(form, level):
    assert prepared(form(np.full((10, 120), level))).tolist() == [[0.0]] * 10


@FORMS
@pytest.mark.parametrize("scale", ["standard", "none"])
def test_zeros_and_ones_stay_as_they_are(form, scale):
    x = np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 0.0]])
    assert prepared(form(x), scale=scale).tolist() == x.tolist()


def test_without_scaling_a_few_columns_stay_as_they_are():
    x = np.array([[0.0, 7.0], [1e9, -1.0]])
    assert prepared(x, scale="none").tolist() == x.tolist()


def test_components_are_the_leading_singular_directions():
    x = wide_matrix()
    left, sizes, _ = np.linalg.svd(x - x.mean(axis=0), full_matrices=False)
    assert same_up_to_sign(left[:, :5] * sizes[:5], prepared(x, scale="none"))


@FORMS
def test_components_are_divided_by_their_common_root_mean_square(form):
    result, plain = prepared(form(wide_matrix())), prepared(form(wide_matrix()), scale="none")
    assert result.var(axis=0, ddof=1).mean() == pytest.approx(1)
    np.testing.assert_allclose(plain / result, (plain / result)[0, 0])


@pytest.mark.parametrize("columns", [120, 2_100])
def test_sparse_and_dense_have_the_same_components(columns):
    x = wide_matrix(columns=columns)
    assert same_up_to_sign(prepared(x), prepared(sp.csr_array(x)))


@FORMS
@pytest.mark.parametrize("columns", [120, 2_100])
def test_neither_memory_order_nor_threads_nor_chance_change_a_bit_of_the_components(form, columns):
    x = wide_matrix(columns=columns)
    with threadpool_limits(limits=1):
        expected = prepared(form(x)).tobytes()
    np.random.seed(7)
    with threadpool_limits(limits=2):
        assert prepared(form(np.asfortranarray(x))).tobytes() == expected


@FORMS
def test_more_components_than_there_are_directions_are_finite(form):
    x = np.outer(np.arange(30.0), np.arange(120.0))
    result = prepared(form(x))
    assert result.shape == (30, 5)
    assert np.allclose(result[:, 1:], 0, atol=1e-6)


@pytest.mark.parametrize(("nodes", "width"), [(2, 1), (4, 3), (50, 5)])
def test_there_are_fewer_components_than_nodes(nodes, width):
    assert prepared(wide_matrix(nodes=nodes)).shape == (nodes, width)


@pytest.mark.parametrize("limits", [{"pca_above": 120}, {"pca_components": None}])
def test_components_are_taken_only_when_asked_for(limits):
    assert prepared(wide_matrix(), **limits).shape == (60, 120)


@FORMS
@pytest.mark.parametrize("columns", [4, 120])
def test_rows_may_be_taken_a_few_at_a_time(form, columns, monkeypatch):
    x = form(wide_matrix(columns=columns))
    whole = prepared(x)
    monkeypatch.setattr("oddhop.graph.rows.ROWS_AT_ONCE", 7)
    np.testing.assert_allclose(prepared(x), whole, atol=1e-12)


@FORMS
@pytest.mark.parametrize("columns", [4, 120])
def test_another_graph_is_prepared_as_the_first_was(form, columns):
    x = wide_matrix(columns=columns)
    learned = learn_preparation(graph_of(form(x)).attributes, scale="standard", pca_components=5, pca_above=100)
    part = learned.apply(graph_of(form(x[5:9]))).attributes
    np.testing.assert_allclose(part, learned.apply(graph_of(form(x))).attributes[5:9], atol=1e-12)


def test_another_number_of_columns_is_refused():
    learned = learn_preparation(graph_of(np.eye(3)).attributes, scale="none", pca_components=None, pca_above=100)
    with pytest.raises(GraphError, match=r"fitted on 3 attributes, got 2; give the same columns in the same order"):
        learned.apply(graph_of(np.ones((3, 2))))


def test_preparing_leaves_the_graph_alone_and_gives_the_type_asked_for():
    graph = graph_of(wide_matrix())
    before = graph.attributes.tobytes()
    learned = learn_preparation(graph.attributes, scale="standard", pca_components=5, pca_above=100)
    assert learned.apply(graph, np.float32).attributes.dtype == np.float32
    assert learned.width == 5
    assert graph.attributes.tobytes() == before


def test_single_precision_attributes_are_prepared_in_double():
    x = wide_matrix(columns=4).astype(np.float32)
    np.testing.assert_allclose(prepared(x), prepared(x.astype(np.float64)), rtol=1e-6)


@pytest.mark.parametrize(
    ("x", "binary"),
    [([[0, 1]], True), ([[1, 1]], True), ([[0, 0]], False), ([[0, 0.5]], False), ([[1, -1]], False), ([[1, 2]], False)],
)
def test_binary_means_zeros_and_ones_with_a_one(x, binary):
    assert is_binary(np.array(x, dtype=float)) is binary
    assert is_binary(sp.csr_array(np.array(x, dtype=float))) is binary


def test_explicit_zeros_are_binary_too():
    assert is_binary(sp.csr_array((np.array([0.0, 1.0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2)))


@FORMS
def test_a_large_constant_column_does_not_hide_the_others(form):
    x = wide_matrix()
    assert same_up_to_sign(prepared(x), prepared(form(np.column_stack([x, np.full(60, 1e11)]))), tolerance=1e-4)


def test_columns_far_from_zero_do_not_disturb_the_components():
    x = np.random.default_rng(0).normal(size=(500, 120)) * np.linspace(3, 1, 120)
    noise = x[:, 0] / 3
    for far in (1e8, 2e8, 4e8, 8e8):
        x[:, 0] = noise + far
        directions = np.linalg.svd(x - x.mean(axis=0), full_matrices=False)[2][:5]
        learned = learn_preparation(graph_of(x).attributes, scale="standard", pca_components=5, pca_above=100)
        assert np.linalg.svd(directions @ learned.components)[1].min() > 0.999, far


@pytest.mark.parametrize("scale", ["standard", "none"])
def test_directions_lie_in_memory_as_a_file_gives_them_back(scale):
    x = np.random.default_rng(0).normal(size=(60, 130))
    graph = Graph.from_arrays([[0], [1]], x)
    prepare = learn_preparation(graph.attributes, scale=scale, pca_components=20, pca_above=100)
    assert prepare.components.flags.c_contiguous
