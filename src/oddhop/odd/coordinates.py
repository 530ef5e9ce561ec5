"""Coordinates: attributes brought to a form in which a normal distribution describes them fairly.

Many columns that are mostly zero and never negative are taken for word counts: a column weighs the less the
more nodes have it, a row has length one, and PCA leaves 64 coordinates. Other wide tables go through PCA, each column
divided by its standard deviation. A narrow table gets normal scores, column by column: the rank of a value, read off a
normal distribution, so that one huge value is just the largest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import ndtri

from oddhop.base.arrays import Floats, Ints
from oddhop.base.kernels import compiled
from oddhop.graph.checks import is_sparse
from oddhop.graph.preparation import Preparation, learn_preparation
from oddhop.graph.rows import AttributeRows, Kept, blocks, check_columns, dense, spans

COMPONENTS = 64
WIDE = 100
SPARSE_SHARE = 0.5
SMALLEST_WEIGHT = 1e-3  # of a word: those that nearly all nodes have tell nothing
KNOTS = 1_001
GATHERED_BYTES = 1 << 29  # of columns whose quantiles are taken


@dataclass(frozen=True)
class Coordinates:
    """How attributes become coordinates; of the three parts, those that the table needs.

    Attributes
    ----------
    weights : of the columns of a table of words, or None.
    preparation : the PCA of a wide table, or None.
    knots : (knots, columns), sorted values of a narrow table, or None.
    """

    weights: Floats | None = None
    preparation: Preparation | None = None
    knots: Floats | None = None

    @property
    def units(self) -> Floats | None:
        """What a column is measured in before PCA: a word by its weight, a measure by its spread; None without PCA."""
        if self.weights is not None:
            return np.asarray(1.0 / np.maximum(self.weights, SMALLEST_WEIGHT))
        return None if self.preparation is None else self.preparation.unit

    @property
    def width(self) -> int:
        """How many coordinates there are."""
        if self.preparation is not None:
            return self.preparation.width
        return 0 if self.knots is None else int(self.knots.shape[1])

    def some(self, x: AttributeRows, start: int, stop: int) -> Floats:
        """Return the coordinates of some nodes, the same bits whichever nodes are asked for with them."""
        if self.preparation is not None:
            check_columns(x, self.preparation.unit.size)
            seen = x if self.weights is None else Logarithms(x, self.weights)
            return self.preparation.some(seen, start, stop, np.float64)
        assert self.knots is not None  # noqa: S101 - one of the two is there by construction
        check_columns(x, self.knots.shape[1])
        out, knots = np.empty((stop - start, self.width)), np.ascontiguousarray(self.knots.T)
        half, places = 0.5 / len(self.knots), np.arange(2 * len(self.knots) + 1)
        scores = ndtri(np.clip(places / places[-1], half, 1 - half))
        for first, last in spans(start, stop):
            values = np.ascontiguousarray(dense(x[first:last]).T)
            _normal_scores(values, knots, scores, out[first - start : last - start])
        return out


def learn_coordinates(x: AttributeRows) -> Coordinates:
    """Learn the coordinates that suit the attributes of a network."""
    if x.shape[1] <= WIDE:
        return Coordinates(knots=_knots(x))
    weights = _word_weights(x)
    if weights is not None:
        seen = Kept(Logarithms(x, weights))
        return Coordinates(weights, learn_preparation(seen, scale="none", pca_components=COMPONENTS, pca_above=WIDE))
    again = Kept(x)
    standard = learn_preparation(again, scale="standard", pca_components=None, pca_above=WIDE)
    unit = standard.unit * standard.spread
    return Coordinates(
        None, learn_preparation(again, scale="standard", pca_components=COMPONENTS, pca_above=WIDE, unit=unit)
    )


@dataclass(frozen=True, eq=False)
class Logarithms:
    """The logarithm of one more than every count, as CSR arrays; with weights of words, rows are of length one."""

    counts: AttributeRows
    weights: Floats | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        return self.counts.shape

    def __getitem__(self, rows: slice) -> Any:
        """Return a block of rows."""
        some = sp.csr_array(self.counts[rows], dtype=np.float64, copy=True)
        some.data = np.sign(some.data) * np.log1p(np.abs(some.data))
        if self.weights is not None:
            some.data *= self.weights[some.indices]
            _to_length_one(some.indptr, some.data)
        return some


def _knots(x: AttributeRows) -> Floats:
    """Return the quantiles of every column, a few columns gathered at a time: they must be exact."""
    nodes, columns = x.shape
    count = min(KNOTS, nodes)
    places = np.ceil(nodes * ((np.arange(count) + 0.5) / count) - 1).astype(np.int64)
    knots, at_once = np.empty((count, columns)), max(GATHERED_BYTES // (8 * nodes), 1)
    for first in range(0, columns, at_once):
        some = slice(first, first + at_once)
        values = np.empty((min(at_once, columns - first), nodes))
        for start, stop in spans(0, nodes):
            values[:, start:stop] = dense(x[start:stop][:, some]).T
        values.sort(axis=1)
        knots[:, some] = values[:, places].T + 0.0  # -0 and 0 are equal, and which comes first is up to the sort
    return knots


def _word_weights(x: AttributeRows) -> Floats | None:
    """Return the weights of words, or None where the columns are none: mostly zero and never negative."""
    nodes, columns = x.shape
    counts, lowest = np.zeros(columns, dtype=np.int64), 0.0
    for rows in blocks(x):
        counts += np.bincount(rows.indices, minlength=columns) if is_sparse(rows) else np.count_nonzero(rows, axis=0)
        lowest = min(lowest, rows.min())
    if lowest < 0 or not 0 < counts.sum() < SPARSE_SHARE * nodes * columns:
        return None
    return np.asarray(np.log(nodes / np.maximum(counts, 1)))


@compiled
def _to_length_one(indptr: Ints, data: Floats) -> None:
    for i in range(indptr.size - 1):
        row = data[indptr[i] : indptr[i + 1]]
        length = np.sqrt((row * row).sum())
        if length > 0:
            row /= length


@compiled
def _normal_scores(values: Floats, knots: Floats, scores: Floats, out: Floats) -> None:
    """Read the score of every value, a row a column, off its place among the knots; places are counted by halves."""
    count = knots.shape[1]
    for c in range(values.shape[0]):
        own = knots[c]
        for i in range(values.shape[1]):
            value, below, left = values[c, i], 0, count
            while left > 1:  # without a branch: which way it goes is anybody's guess
                half = left // 2
                below += half * (own[below + half - 1] < value)
                left -= half
            below += own[below] < value
            up_to = below
            if below < count and own[below] == value:
                left = count - below
                while left > 1:
                    half = left // 2
                    up_to += half * (own[up_to + half - 1] <= value)
                    left -= half
                up_to += own[up_to] <= value
            # The middle of the ranks that a value shares with its equals: ties stay ties, a constant column is 0.
            out[i, c] = scores[below + up_to]
