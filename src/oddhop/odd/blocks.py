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
from oddhop.errors import GraphError
from oddhop.graph.checks import is_sparse
from oddhop.graph.graph import Graph
from oddhop.graph.preparation import Preparation, learn_preparation
from oddhop.odd.coordinates import SPARSE_SHARE, WIDE, Coordinates, learn_coordinates, logarithms

OUTLIER_COMPONENTS = 20
ROWS_AT_ONCE = 65_536
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

    def of(self, graph: Graph) -> Graph:
        """Give the network with the columns of the block alone."""
        return _with_columns(graph, self.columns)

    def prepared(self, graph: Graph) -> Floats:
        """Give the rows whose length the outlier's view measures."""
        seen = _seen_by_outlier(self.of(graph), self.coordinates)
        return np.asarray(self.preparation.apply(seen).attributes * np.sqrt(self.weight))


@dataclass(frozen=True, eq=False)
class Blocks:
    """The blocks of a table, and how many columns it has."""

    parts: tuple[Block, ...]
    columns: int

    def coordinates(self, graph: Graph) -> Floats:
        """Give the coordinates of every node, the blocks side by side."""
        self._check(graph)
        none = np.empty((graph.node_count, 0))
        return np.concatenate([none, *(part.coordinates.apply(part.of(graph)) for part in self.parts)], axis=1)

    def prepared(self, graph: Graph) -> Graph:
        """Give the network with the attributes whose length the outlier's view measures."""
        self._check(graph)
        none = np.empty((graph.node_count, 0))
        return graph.with_attributes(np.concatenate([none, *(part.prepared(graph) for part in self.parts)], axis=1))

    @property
    def unit(self) -> Floats:
        """What a difference in each column is measured by; infinite for one that repeats another."""
        unit = np.full(self.columns, np.inf)
        for part in self.parts:
            unit[part.columns] = part.preparation.unit
        return unit

    def _check(self, graph: Graph) -> None:
        if graph.attribute_count != self.columns:
            raise GraphError(
                f"the model was fitted on {self.columns} attributes, got {graph.attribute_count}",
                "give the same columns in the same order",
            )


def judged_attributes(graph: Graph) -> Graph:
    """Give the judged nodes with the attributes of their kind: the network itself where there is one kind."""
    return graph if graph.kinds is None else graph.of_kind(graph.kinds.judged)


def flow_attributes(graph: Graph) -> Floats:
    """Give the attributes that were made of events."""
    own = graph.attributes[:, graph.attribute_count - graph.flow_count :]
    return np.asarray(own.toarray() if is_sparse(own) else own, dtype=np.float64)


def learn_blocks(graph: Graph) -> Blocks:
    """Learn the blocks of a table, and how each is prepared.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph
    >>> from oddhop.odd.blocks import learn_blocks
    >>> rng = np.random.default_rng(0)
    >>> words, age = rng.random((300, 200)) < 0.05, rng.normal(size=(300, 1))
    >>> graph = Graph.from_arrays(np.empty((2, 0), dtype=int), np.hstack([words, age, age]))
    >>> [part.columns.size for part in learn_blocks(graph).parts]
    [200, 1]
    """
    own = graph.attribute_count - graph.flow_count
    if not own:  # a node table of ids alone: its events are all that is known
        return Blocks((), graph.attribute_count)
    order, words = _by_content(_with_columns(graph, np.arange(own)))
    parts = tuple(_learn_block(graph, order[kind]) for kind in (words, ~words) if kind.any())
    return Blocks(parts, graph.attribute_count)


def _learn_block(graph: Graph, columns: Ints) -> Block:
    own = _with_columns(graph, columns)
    coordinates = learn_coordinates(own)
    seen = _seen_by_outlier(own, coordinates)
    preparation = learn_preparation(
        seen, scale="standard", pca_components=OUTLIER_COMPONENTS, pca_above=WIDE, unit=coordinates.units
    )
    rows = np.asarray(preparation.apply(seen).attributes)
    with single_threaded():
        moments = rows.T @ rows / len(rows)
    whole, squares = float(np.trace(moments)), float((moments**2).sum())
    if not squares:
        return Block(columns, coordinates, preparation, 1.0)
    low, high = np.quantile((rows**2).sum(axis=1), [0.25, 0.75])
    usual = np.ptp(2 * gammaincinv(whole**2 / squares / 2, [0.25, 0.75]))  # quartiles of chi squared
    return Block(columns, coordinates, preparation, float(usual / (high - low)) if high > low else whole / squares)


def _seen_by_outlier(own: Graph, coordinates: Coordinates) -> Graph:
    # A few nodes with very many words would be all that varies.
    return own if coordinates.weights is None else own.with_attributes(logarithms(own.attributes))


def _with_columns(graph: Graph, columns: Ints) -> Graph:
    chosen = graph.attributes[:, columns]
    if is_sparse(chosen):
        chosen.sort_indices()  # in another order sums have other bits
    return graph.with_attributes(chosen)


def _by_content(graph: Graph) -> tuple[Ints, Bools]:
    """Give the columns in the order of their contents, equal ones once, and which of them are words."""
    nodes, columns = graph.attributes.shape
    lowest, filled, keys = np.zeros(columns), np.zeros(columns, dtype=np.int64), np.zeros(columns, dtype=np.uint64)
    counts, flags = np.ones((2, columns), dtype=bool)
    for start in range(0, nodes, ROWS_AT_ONCE):
        rows = graph.attributes[start : start + ROWS_AT_ONCE]
        if is_sparse(rows):
            place, column, values = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr)), rows.indices, rows.data
            place, column, values = (one[values != 0] for one in (place, column, values))
        else:
            place, column = np.nonzero(rows)
            values = rows[place, column]
        np.minimum.at(lowest, column, values)
        filled += np.bincount(column, minlength=columns)
        counts[column[values != np.floor(values)]] = False
        flags[column[values != 1]] = False
        # A sum modulo 2^64 has no order, and zeros add nothing, stored or not.
        bits = values.astype(np.float64).view(np.uint64)
        np.add.at(keys, column, _mixed(place + start, bits))
    rare = (lowest >= 0) & (filled < SPARSE_SHARE * nodes)
    # Words that most nodes have are told from measures by what the rare ones hold: counts, or shares of a text.
    words = (
        rare | ((lowest >= 0) & (counts == (counts[rare].mean() > 0.5))) if rare.sum() > WIDE else np.zeros_like(rare)
    )
    order = np.argsort(keys, kind="stable")
    first = order[np.append(True, keys[order][1:] != keys[order][:-1])]
    words[_categories(graph, first[(words & flags & (filled * MOST_LEVELS >= nodes))[first]])] = False
    return first, words[first]


def _categories(graph: Graph, columns: Ints) -> Ints:
    """Give those of some columns of zeros and ones that are the levels of a category: every node has just one of them.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph
    >>> from oddhop.odd.blocks import _categories
    >>> x = np.array([[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1], [1, 0, 0, 0]])
    >>> _categories(Graph.from_arrays(np.empty((2, 0), dtype=int), x), np.arange(4)).tolist()
    [0, 1, 2]
    """
    table = sp.csr_array(graph.attributes[:, columns])
    together = (table.T @ table).toarray()  # how many nodes have both; whole numbers, the same bits in any order
    levels = np.zeros(columns.size, dtype=bool)
    for one in range(columns.size):
        group = np.append(one, np.flatnonzero(together[one] == 0))
        inside = together[np.ix_(group, group)]
        # No node has two of them, and all together have as many entries as there are nodes.
        if inside.sum() == np.trace(inside) == graph.node_count:
            levels[group] = True
    return columns[levels]


@compiled
def _mixed(rows: Ints, bits: Any) -> Any:
    out = np.empty(bits.size, np.uint64)
    for k in range(bits.size):
        out[k] = mix(bits[k] ^ mix(np.uint64(rows[k]), 0), 0)
    return out
