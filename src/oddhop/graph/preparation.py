"""Attributes as the model sees them: scaled, and reduced by PCA where there are many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from oddhop.base.arrays import Bools, Floats
from oddhop.base.kernels import compiled
from oddhop.base.parallel import single_threaded
from oddhop.graph.checks import Attributes, is_sparse
from oddhop.graph.graph import Graph
from oddhop.graph.rows import AttributeRows, blocks, check_columns, dense, fill, spans

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

    def arrays(self) -> dict[str, Floats]:
        """Return its parts by name, for a file."""
        return {name: part for name, part in vars(self).items() if part is not None}

    @classmethod
    def of(cls, arrays: Mapping[str, Floats]) -> Preparation:
        """Put it together again from its parts by name."""
        return cls(arrays["unit"], arrays["centre"], arrays.get("components"), arrays["spread"])

    def apply(self, graph: Graph, dtype: type[np.floating] = np.float64) -> Graph:
        """Return the graph with prepared attributes, one dense row a node."""
        check_columns(graph.attributes, self.unit.size)
        return graph.with_attributes(self.some(graph.attributes, 0, graph.node_count, dtype))

    def some(self, x: AttributeRows, start: int, stop: int, dtype: type[np.floating]) -> Floats:
        """Return the prepared rows of some nodes, the same bits whichever nodes are asked for with them."""
        out = np.empty((stop - start, self.width), dtype=dtype)
        if self.components is None:  # every number by itself
            for first, last in spans(start, stop):
                out[first - start : last - start] = (dense(x[first:last]) / self.unit - self.centre) / self.spread
            return out
        with single_threaded():  # at other thread counts a large product has other bits
            turn, origin = self.components / self.unit[:, None], self.centre @ self.components
            fill(out, start, int(x.shape[0]), lambda first, last: (x[first:last] @ turn - origin) / self.spread)
        return out


def learn_preparation(
    x: AttributeRows, *, scale: str, pca_components: int | None, pca_above: int, unit: Floats | None = None
) -> Preparation:
    """Learn scaling and PCA from attributes, some rows at a time, wherever they lie.

    More than ``pca_above`` columns are reduced to ``pca_components``, and with
    ``scale="standard"`` the result is divided by its root mean square. Fewer columns get mean 0
    and variance 1 each, but for a matrix of zeros and ones, which stays as it is so that its
    similarity can be Jaccard's. ``scale="none"`` only leaves the division out. PCA sees each column in
    its ``unit``, where units are given, and otherwise all in one.
    """
    nodes, columns = int(x.shape[0]), int(x.shape[1])
    if pca_components is not None and columns > pca_above and nodes > 1:
        with single_threaded():
            units = np.ones(columns) if unit is None else unit
            return _learn_pca(x, min(pca_components, nodes - 1, columns - 1), scale, units)
    ones, zeros = np.ones(columns), np.zeros(columns)
    if scale == "none" or is_binary(x):
        return Preparation(unit=ones, centre=zeros, components=None, spread=ones)
    peaks = _peaks(*_extremes(x))
    centre, square = zeros, zeros.copy()
    for rows in _scaled_blocks(x, peaks):
        centre = centre + rows.sum(axis=0) / x.shape[0]
    for rows in _scaled_blocks(x, peaks):
        square += ((rows - centre) ** 2).sum(axis=0) / x.shape[0]
    spread = np.sqrt(square)
    spread[spread < SAME] = 1.0
    return Preparation(unit=peaks, centre=centre, components=None, spread=spread)


def is_binary(attributes: AttributeRows) -> bool:
    """Return whether the attributes are all 0 or 1, with at least one 1."""
    return all(zeros_and_ones(attributes))


def zeros_and_ones(attributes: AttributeRows) -> tuple[bool, bool]:
    """Return whether the attributes are all 0 or 1, and whether there is a 1 before the first that is neither."""
    some = False
    for rows in blocks(attributes):
        zero_or_one, any_one = _zeros_and_ones(np.asarray(rows.data if is_sparse(rows) else rows).reshape(-1))
        some = some or any_one
        if not zero_or_one:
            return False, some
    return True, some


@compiled
def _zeros_and_ones(values: Floats) -> tuple[bool, bool]:
    some = False
    for value in values:
        if value == 1.0:
            some = True
        elif value != 0.0:
            return False, some
    return True, some


def _learn_pca(x: AttributeRows, components: int, scale: str, unit: Floats) -> Preparation:
    columns = int(x.shape[1])
    high, low = _extremes(x)
    size = _peaks(high, low)
    varies = high / size - low / size > SAME
    if not varies.any():  # the model sees one column of zeros
        return Preparation(np.ones(columns), np.zeros(columns), np.zeros((columns, 1)), np.ones(1))
    # Columns that do not vary are left out: large ones would hide what little the others do.
    peaks = unit * float((size / unit)[varies].max())
    mean = np.zeros(columns)
    for rows in blocks(x):
        mean += _column(_shrunk(rows, varies, peaks).sum(axis=0)) / x.shape[0]
    variances, directions = _leading(x, varies, peaks, mean, components)
    # In the order of a file, for a product has other last bits in another.
    directions = np.ascontiguousarray(np.where(varies[:, None], directions, 0.0))
    if scale == "none":
        return Preparation(np.ones(columns), mean * peaks, directions, np.ones(components))
    return Preparation(peaks, mean, directions, np.full(components, np.sqrt(max(variances.mean(), 1e-300))))


def _leading(x: AttributeRows, varies: Bools, peaks: Floats, mean: Floats, components: int) -> tuple[Floats, Floats]:
    """Return the leading eigenvalues and eigenvectors of the covariance, the largest first."""
    from scipy.linalg import eigh
    from scipy.sparse.linalg import LinearOperator, eigsh

    nodes, columns = x.shape
    if is_sparse(x[:1]) or columns > WIDEST_COVARIANCE:

        def times(vector: Floats) -> Floats:
            v = vector.reshape(-1)
            out = np.zeros(columns)
            for rows in blocks(x):
                scaled = _shrunk(rows, varies, peaks)
                y = scaled @ v - mean @ v
                out += scaled.T @ y - mean * y.sum()
            return out / (nodes - 1)

        operator = LinearOperator((columns, columns), matvec=times, dtype=np.float64)
        start = np.random.default_rng(0).uniform(-1, 1, columns)
        variances, directions = eigsh(operator, components, v0=start)
    else:
        covariance = np.zeros((columns, columns))
        for rows in blocks(x):
            centred = _shrunk(rows, varies, peaks) - mean
            covariance += centred.T @ centred / (nodes - 1)
        variances, directions = eigh(covariance, subset_by_index=(columns - components, columns - 1))
    directions = directions[:, ::-1]
    heaviest = directions[np.abs(directions).argmax(axis=0), np.arange(components)]
    return np.maximum(variances[::-1], 0.0), directions * np.where(heaviest < 0, -1.0, 1.0)


def _shrunk(rows: Attributes, varies: Bools, peaks: Floats) -> Attributes:
    if is_sparse(rows):
        return rows.astype(np.float64) * (varies / peaks)
    return np.where(varies, rows, 0.0) / peaks


def _extremes(x: AttributeRows) -> tuple[Floats, Floats]:
    high, low = np.full(x.shape[1], -np.inf), np.full(x.shape[1], np.inf)
    for rows in blocks(x):
        high = np.maximum(high, _column(rows.max(axis=0)))
        low = np.minimum(low, _column(rows.min(axis=0)))
    return high, low


def _peaks(high: Floats, low: Floats) -> Floats:
    peaks = np.maximum(np.abs(high), np.abs(low))
    return np.where(peaks > 1e-300, peaks, 1.0)


def _scaled_blocks(x: AttributeRows, unit: Floats) -> Iterator[Floats]:
    for rows in blocks(x):
        yield dense(rows) / unit


def _column(values: Any) -> Floats:
    return np.asarray(values.toarray() if is_sparse(values) else values, dtype=np.float64).ravel()
