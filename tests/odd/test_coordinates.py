from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import norm

from oddhop.errors import GraphError
from oddhop.odd.coordinates import COMPONENTS, learn_coordinates

pytestmark = pytest.mark.kernels


def test_narrow_tables_get_normal_scores_whatever_their_units() -> None:
    x = np.array([[3.0, 7.0], [1.0, 7.0], [2.0, 7.0], [1e20, 7.0]])
    seen = learn_coordinates(x).some(x, 0, 4)
    np.testing.assert_allclose(seen[:, 0], norm.ppf([0.625, 0.125, 0.375, 0.875]))
    np.testing.assert_array_equal(seen[:, 1], 0.0)


def test_ties_stay_ties_and_new_values_fall_between() -> None:
    x = np.array([[0.0], [0.0], [1.0], [1.0]])
    coordinates = learn_coordinates(x)
    seen = coordinates.some(x, 0, 4).ravel()
    assert seen[0] == seen[1] < seen[2] == seen[3]
    later = coordinates.some(np.array([[0.5], [-9.0], [9.0], [0.0]]), 0, 4).ravel()
    assert later[1] < later[3] < later[0] < later[2]
    assert np.isfinite(later).all()


def test_words_that_everybody_has_say_nothing() -> None:
    rng = np.random.default_rng(0)
    counts = (rng.random((80, 150)) < 0.1) * rng.integers(1, 4, (80, 150))
    bare, common = sp.csr_array(counts.astype(float)), sp.csr_array(np.column_stack([counts, np.full(80, 5.0)]))
    one, two = (learn_coordinates(x).some(x, 0, 80) for x in (bare, common))
    assert one.shape == (80, COMPONENTS)
    np.testing.assert_allclose(one @ one.T, two @ two.T, atol=1e-9)


def test_dense_and_sparse_words_are_the_same() -> None:
    rng = np.random.default_rng(0)
    counts = (rng.random((80, 150)) < 0.1).astype(float)
    one, two = (learn_coordinates(x).some(x, 0, 80) for x in (counts, sp.csr_array(counts)))
    np.testing.assert_allclose(one @ one.T, two @ two.T, atol=1e-9)


@pytest.mark.parametrize("columns", [3, 150])
def test_other_columns_are_refused(columns: int) -> None:
    rng = np.random.default_rng(0)
    fitted = learn_coordinates((rng.random((4, columns)) < 0.2).astype(float))
    with pytest.raises(GraphError, match=f"fitted on {columns} attributes, got {columns + 1}"):
        fitted.some(rng.random((4, columns + 1)), 0, 4)
