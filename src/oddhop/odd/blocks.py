"""Blocks of columns: words and measures are brought to coordinates each by themselves, so neither changes the other.

A column that is never negative and mostly zero is taken for a word where there are more than a hundred of them; the
other columns are measures, and so are zeros and ones of which every node has just one: a category. Columns are taken in
an order that their values alone decide, and equal columns once. Flow columns are in neither block:
:mod:`oddhop.odd.flow` compares them with what these blocks predict.

The stranger's view sees the coordinates of both blocks side by side. The outlier's view adds up the squared lengths of
their prepared rows, each brought to the interquartile range of chi squared with the block's effective dimensions,

    (sum of variances)^2 / (sum of squared variances)    over its principal components,

so that a block counts by what varies in it among ordinary nodes, whatever the number of columns it was encoded into.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaincinv

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.base.kernels import compiled
from oddhop.base.parallel import single_threaded
from oddhop.base.randomness import mix
from oddhop.graph.checks import is_sparse
from oddhop.graph.graph import Graph
from oddhop.graph.preparation import Preparation, learn_preparation
from oddhop.graph.rows import AttributeRows, Columns, Kept, blocks, check_columns, spans
from oddhop.odd.coordinates import SPARSE_SHARE, WIDE, Coordinates, Logarithms, learn_coordinates

OUTLIER_COMPONENTS = 20
MOST_LEVELS = 20  # of a category in an array: columns that few nodes have may exclude each other by chance


@dataclass(frozen=True, eq=False)
class Block:
    """Columns that are prepared together.

    Attributes
    ----------
    columns : their places in the table.
    coordinates, preparation : how they become what the stranger's and the outlier's view see.
    weight : of the squared length of a prepared row.
    """

    columns: Ints
    coordinates: Coordinates
    preparation: Preparation
    weight: float

    def prepared(self, x: AttributeRows, start: int, stop: int) -> Floats:
        """Return some of the rows whose length the outlier's view measures."""
        seen = _seen_by_outlier(Columns(x, self.columns), self.coordinates)
        return np.asarray(self.preparation.some(seen, start, stop, np.float64) * np.sqrt(self.weight))


@dataclass(frozen=True, eq=False)
class Blocks:
    """The blocks of a table, and how many columns it has."""

    parts: tuple[Block, ...]
    columns: int

    def coordinates(self, x: AttributeRows, start: int, stop: int) -> Floats:
        """Return the coordinates of some nodes, the blocks side by side; the bits do not depend on the other nodes."""
        check_columns(x, self.columns)
        found = [part.coordinates.some(Columns(x, part.columns), start, stop) for part in self.parts]
        return np.hstack([np.empty((stop - start, 0)), *found])

    def prepared(self, x: AttributeRows, start: int, stop: int) -> Floats:
        """Return the rows of some nodes whose length the outlier's view measures, the blocks side by side."""
        check_columns(x, self.columns)
        return np.hstack([np.empty((stop - start, 0)), *(part.prepared(x, start, stop) for part in self.parts)])

    @property
    def unit(self) -> Floats:
        """What a difference in each column is measured by; infinite for one that repeats another."""
        unit = np.full(self.columns, np.inf)
        for part in self.parts:
            unit[part.columns] = part.preparation.unit
        return unit


def judged_attributes(graph: Graph) -> Graph:
    """Return the judged nodes with the attributes of their kind: the network itself where there is one kind."""
    return graph if graph.kinds is None else graph.of_kind(graph.kinds.judged)


def own_columns(x: AttributeRows, flow_count: int) -> Columns:
    """Return the attributes that were not made of events."""
    return Columns(x, np.arange(x.shape[1] - flow_count))


def flow_columns(x: AttributeRows, flow_count: int) -> Columns:
    """Return the attributes that were made of events."""
    return Columns(x, np.arange(x.shape[1] - flow_count, x.shape[1]))


def learn_blocks(x: AttributeRows, flow_count: int) -> Blocks:
    """Learn the blocks of a table, and how each is prepared. The last columns, ``flow_count`` of them, are in none."""
    own = x.shape[1] - flow_count
    if not own:  # a node table of ids alone: its events are all that is known
        return Blocks((), x.shape[1])
    order, words = _by_content(x, own)
    parts = tuple(_learn_block(x, order[kind]) for kind in (words, ~words) if kind.any())
    return Blocks(parts, x.shape[1])


def _learn_block(x: AttributeRows, columns: Ints) -> Block:
    own = Columns(x, columns)
    coordinates = learn_coordinates(own)
    seen = Kept(_seen_by_outlier(own, coordinates))
    preparation = learn_preparation(
        seen, scale="standard", pca_components=OUTLIER_COMPONENTS, pca_above=WIDE, unit=coordinates.units
    )
    nodes, moments = x.shape[0], np.zeros(2 * (preparation.width,))
    lengths = np.empty(nodes)
    with single_threaded():
        for first, last in spans(0, nodes):
            rows = preparation.some(seen, first, last, np.float64)
            moments += rows.T @ rows
            lengths[first:last] = (rows**2).sum(axis=1)
    moments /= nodes
    whole, squares = float(np.trace(moments)), float((moments**2).sum())
    if not squares:
        return Block(columns, coordinates, preparation, 1.0)
    low, high = np.quantile(lengths, [0.25, 0.75])
    usual = np.ptp(2 * gammaincinv(whole**2 / squares / 2, [0.25, 0.75]))  # quartiles of chi squared
    return Block(columns, coordinates, preparation, float(usual / (high - low)) if high > low else whole / squares)


def _seen_by_outlier(own: Columns, coordinates: Coordinates) -> AttributeRows:
    # A few nodes with very many words would be all that varies.
    return own if coordinates.weights is None else Logarithms(own)


def _by_content(x: AttributeRows, columns: int) -> tuple[Ints, Bools]:
    """Return the first columns in the order of their contents, equal ones once, and which of them are words."""
    nodes = x.shape[0]
    lowest, filled, keys = np.zeros(columns), np.zeros(columns, dtype=np.int64), np.zeros(columns, dtype=np.uint64)
    counts, flags = np.ones((2, columns), dtype=bool)
    for first, last in spans(0, nodes):
        rows = x[first:last]
        if is_sparse(rows):
            indptr, indices, values = rows.indptr, rows.indices, rows.data.astype(np.float64)
        else:
            # All its values are there, so their places need no list.
            indptr, indices = np.arange(0, rows.size + 1, rows.shape[1]), np.empty(0, dtype=np.int32)
            values = np.ascontiguousarray(rows, dtype=np.float64).reshape(-1)
        bits = values.view(np.uint64)
        with np.errstate(over="ignore"):  # sums modulo 2^64 are meant to wrap around; plain Python would say so
            _add_contents(first, (indptr, indices, values, bits), (lowest, filled, counts, flags, keys))
    rare = (lowest >= 0) & (filled < SPARSE_SHARE * nodes)
    # Words that most nodes have are told from measures by what the rare ones hold: counts, or shares of a text.
    words = (
        rare | ((lowest >= 0) & (counts == (counts[rare].mean() > 0.5))) if rare.sum() > WIDE else np.zeros_like(rare)
    )
    order = np.argsort(keys, kind="stable")
    first_equal = order[np.append(True, keys[order][1:] != keys[order][:-1])]
    often = words & flags & (filled * MOST_LEVELS >= nodes)
    words[_categories(x, first_equal[often[first_equal]])] = False
    return first_equal, words[first_equal]


def _categories(x: AttributeRows, columns: Ints) -> Ints:
    """Return the columns of zeros and ones that are the levels of a category: every node has exactly one of them."""
    if not columns.size:
        return columns
    together = np.zeros(2 * (columns.size,))  # how many nodes have both
    for rows in blocks(Columns(x, columns)):
        table = sp.csr_array(rows, dtype=np.float64)
        together += (table.T @ table).toarray()
    levels = np.zeros(columns.size, dtype=bool)
    for one in range(columns.size):
        group = np.append(one, np.flatnonzero(together[one] == 0))
        inside = together[np.ix_(group, group)]
        # No node has two of them, and all together have as many entries as there are nodes.
        if inside.sum() == np.trace(inside) == x.shape[0]:
            levels[group] = True
    return columns[levels]


@compiled
def _add_contents(first: int, rows: tuple[Any, ...], known: tuple[Any, ...]) -> None:
    """Add a block of rows to what is known of the columns; without ``indices`` every row has all columns."""
    indptr, indices, values, bits = rows
    lowest, filled, counts, flags, keys = known
    for i in range(indptr.size - 1):
        row = mix(np.uint64(first + i), np.int64(0))
        for k in range(indptr[i], indptr[i + 1]):
            c = indices[k] if indices.size else k - indptr[i]
            if values[k] != 0 and c < keys.size:
                lowest[c] = min(lowest[c], values[k])
                filled[c] += 1
                counts[c] &= values[k] == np.floor(values[k])
                flags[c] &= values[k] == 1
                # A sum modulo 2^64 has no order, and zeros add nothing, stored or not.
                keys[c] += mix(bits[k] ^ row, np.int64(0))
