"""Attributes as the model sees them: scaled, and reduced by PCA where there are many."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from sklearn.decomposition import PCA

from oddhop.arrays import Floats
from oddhop.boundary import Attributes, is_sparse
from oddhop.engine.local import single_threaded
from oddhop.errors import GraphError
from oddhop.graph import Graph

ROWS_AT_ONCE = 65_536
WIDEST_COVARIANCE = 2_000
SAME = 1e-9  # columns that vary less than this, their largest value being 1, are constant


@dataclass(frozen=True)
class Preparation:
    """How raw attributes become the model's: ``((x / unit - centre) @ components) / spread``.

    ``unit`` is taken out first so that 1e20 and 1e-20 are as harmless as 1. ``components`` is
    None where no PCA is needed.
    """

    unit: Floats
    centre: Floats
    components: Floats | None
    spread: Floats

    @property
    def width(self) -> int:
        """The number of attributes that the model sees."""
        return int(self.spread.size)

    def apply(self, graph: Graph, dtype: type[np.floating] = np.float64) -> Graph:
        """Give the graph with prepared attributes, one dense row a node."""
        if graph.attribute_count != self.unit.size:
            raise GraphError(
                f"the model was fitted on {self.unit.size} attributes, got {graph.attribute_count}; "
                "give the same columns in the same order"
            )
        out = np.empty((graph.node_count, self.width), dtype=dtype)
        with single_threaded():  # at other thread counts a large product has other bits
            for start in range(0, graph.node_count, ROWS_AT_ONCE):
                block = slice(start, start + ROWS_AT_ONCE)
                out[block] = self._rows(graph.attributes[block])
        return graph.with_attributes(out)

    def _rows(self, rows: Attributes) -> Floats:
        if self.components is None:
            dense = rows.toarray() if is_sparse(rows) else rows
            result = (dense / self.unit - self.centre) / self.spread
        else:
            result = (rows @ (self.components / self.unit[:, None]) - self.centre @ self.components) / self.spread
        return np.asarray(result)


def learn_preparation(graph: Graph, *, scale: str, pca_components: int | None, pca_above: int) -> Preparation:
    """Learn scaling and PCA from the attributes of a graph.

    More than ``pca_above`` columns are reduced to ``pca_components``, and with
    ``scale="standard"`` the result is divided by its root mean square. Fewer columns get mean 0
    and variance 1 each, but for a matrix of zeros and ones, which stays as it is so that its
    similarity can be Jaccard's. ``scale="none"`` only leaves the division out.

    Examples
    --------
    >>> from oddhop import Graph
    >>> from oddhop.attributes import learn_preparation
    >>> graph = Graph.from_arrays([[0], [1]], [[-1e20, 5.0], [1e20, 5.0]])
    >>> prepare = learn_preparation(graph, scale="standard", pca_components=20, pca_above=100)
    >>> prepare.apply(graph).attributes.tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    x = graph.attributes
    columns = graph.attribute_count
    if pca_components is not None and columns > pca_above and graph.node_count > 1:
        return _learn_pca(x, min(pca_components, graph.node_count - 1, columns - 1), scale)
    ones, zeros = np.ones(columns), np.zeros(columns)
    if scale == "none" or is_binary(x):
        return Preparation(unit=ones, centre=zeros, components=None, spread=ones)
    unit = np.array([_whole(peak) for peak in _peaks(x)])
    centre, square = zeros, zeros.copy()
    for rows in _scaled_blocks(x, unit):
        centre = centre + rows.sum(axis=0) / x.shape[0]
    for rows in _scaled_blocks(x, unit):
        square += ((rows - centre) ** 2).sum(axis=0) / x.shape[0]
    spread = np.sqrt(square)
    spread[spread < SAME] = 1.0
    return Preparation(unit=unit, centre=centre, components=None, spread=spread)


def is_binary(attributes: Attributes) -> bool:
    """Tell whether the attributes are all 0 or 1, with at least one 1."""
    values = attributes.data if is_sparse(attributes) else attributes
    return bool(_all_zero_or_one(np.asarray(values).reshape(-1)))


@njit(cache=True)
def _all_zero_or_one(values: Floats) -> bool:
    some = False
    for value in values:
        if value == 1.0:
            some = True
        elif value != 0.0:
            return False
    return some


def _learn_pca(x: Attributes, components: int, scale: str) -> Preparation:
    columns = int(x.shape[1])
    high, low = _column(x.max(axis=0)), _column(x.min(axis=0))
    size = np.array([_whole(peak) for peak in np.maximum(np.abs(high), np.abs(low))])
    varies = high / size - low / size > SAME
    if not varies.any():  # the model sees one column of zeros
        return Preparation(np.ones(columns), np.zeros(columns), np.zeros((columns, 1)), np.ones(1))
    # Columns that do not vary are left out: large ones would hide what little the others do.
    peak = float(size[varies].max())
    scaled = (x * (varies / peak)) if is_sparse(x) else np.where(varies, x, 0.0) / peak
    scaled = scaled.astype(np.float64)
    mean = _column(scaled.mean(axis=0))
    if not is_sparse(x):  # a covariance of what is not centred loses its digits
        scaled = scaled - mean
    solver = "arpack" if is_sparse(x) or columns > WIDEST_COVARIANCE else "covariance_eigh"
    with single_threaded():
        pca = PCA(components, svd_solver=solver, random_state=0).fit(scaled)
    directions = np.where(varies[:, None], pca.components_.T, 0.0)
    if scale == "none":
        return Preparation(np.ones(columns), mean * peak, directions, np.ones(components))
    spread = np.sqrt(pca.explained_variance_.mean())
    return Preparation(np.full(columns, peak), mean, directions, np.full(components, spread))


def _scaled_blocks(x: Attributes, unit: Floats) -> Iterator[Floats]:
    for start in range(0, x.shape[0], ROWS_AT_ONCE):
        rows = x[start : start + ROWS_AT_ONCE]
        yield np.asarray(rows.toarray() if is_sparse(rows) else rows) / unit


def _peaks(x: Attributes) -> Floats:
    peaks = np.zeros(int(x.shape[1]))
    for start in range(0, x.shape[0], ROWS_AT_ONCE):
        peaks = np.maximum(peaks, _column(abs(x[start : start + ROWS_AT_ONCE]).max(axis=0)))
    return peaks


def _column(values: Any) -> Floats:
    return np.asarray(values.toarray() if is_sparse(values) else values, dtype=np.float64).ravel()


def _whole(peak: float) -> float:
    return float(peak) if peak > 1e-300 else 1.0
