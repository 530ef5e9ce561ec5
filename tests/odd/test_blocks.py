"""Blocks of columns: what one column does to the others, which is nothing."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import chi2

from oddhop import Graph
from oddhop.errors import GraphError
from oddhop.odd.blocks import learn_blocks
from oddhop.odd.views import fit_views
from tests.odd.planted import planted


def mixed(rng: np.random.Generator, nodes: int = 300) -> np.ndarray:
    """Words, a word that nearly all have, and two measures."""
    words = rng.random((nodes, 150)) < 0.04
    common = rng.random((nodes, 1)) < 0.9
    return np.hstack([words, common, rng.normal(size=(nodes, 1)), rng.lognormal(size=(nodes, 1))])


def graph_of(x: object, seed: int = 0) -> Graph:
    rng = np.random.default_rng(seed)
    return Graph.from_arrays(rng.integers(0, 300, (2, 900)), x)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_order_of_the_columns_changes_no_bit(form) -> None:
    rng = np.random.default_rng(1)
    for x in (mixed(rng), rng.normal(size=(300, 8))):
        one, two = (graph_of(form(x[:, order])) for order in (np.arange(x.shape[1]), rng.permutation(x.shape[1])))
        np.testing.assert_array_equal(fit_views(one)[1].score, fit_views(two)[1].score)


def test_a_measure_given_twice_changes_no_bit() -> None:
    graph = planted()
    again = graph.with_attributes(np.hstack([graph.attributes, graph.attributes[:, [2]]]))
    np.testing.assert_array_equal(fit_views(graph)[1].score, fit_views(again)[1].score)


def test_another_unit_changes_the_score_by_rounding_alone() -> None:
    rng = np.random.default_rng(2)
    for columns in (7, 130):  # normal scores, and PCA
        x = rng.normal(size=(300, columns)) @ rng.normal(size=(columns, columns))
        one, two = (fit_views(graph_of(form))[1].score for form in (x, x * np.geomspace(1e-3, 1e3, columns) + 5.0))
        np.testing.assert_allclose(one, two, atol=1e-6)


def test_words_and_measures_are_told_apart_and_a_measure_leaves_the_words_as_they_were() -> None:
    rng = np.random.default_rng(3)
    x = mixed(rng)
    alone, beside = learn_blocks(x[:, :151], 0), learn_blocks(x, 0)
    assert [part.columns.size for part in alone.parts] == [151]
    assert [sorted(part.columns) for part in beside.parts] == [list(range(151)), [151, 152]]
    width = alone.parts[0].coordinates.width
    seen = alone.coordinates(x[:, :151], 0, 300)
    np.testing.assert_array_equal(seen, beside.coordinates(x, 0, 300)[:, :width])


def test_a_block_counts_by_its_effective_dimensions() -> None:
    rng = np.random.default_rng(4)
    one, many = rng.normal(size=(300, 1)), rng.normal(size=(300, 3))
    copies = np.hstack([one + 1e-6 * rng.normal(size=(300, 1)) for _ in range(40)])  # 40 columns, one dimension
    for x, dimensions in ((copies, 1.0), (many, 3.0)):
        squares = (learn_blocks(x, 0).prepared(x, 0, 300) ** 2).sum(axis=1)
        assert np.median(squares) == pytest.approx(chi2.median(dimensions), rel=0.25)


def test_another_number_of_columns_is_refused() -> None:
    blocks = learn_blocks(np.random.default_rng(0).normal(size=(300, 3)), 0)
    for see in (blocks.coordinates, blocks.prepared):
        with pytest.raises(GraphError, match="fitted on 3 attributes, got 2"):
            see(np.zeros((300, 2)), 0, 300)
