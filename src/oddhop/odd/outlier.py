"""The outlier: a node whose attributes are far from everybody's, whoever its neighbours are.

The measure is the length of the prepared attributes, that is of the columns brought to mean 0 and variance 1, or of
their leading components. Squared and up to a constant it is the mean squared distance to all nodes.
"""

from __future__ import annotations

import numpy as np

from oddhop.base.arrays import Floats
from oddhop.graph.graph import Graph

ROWS_AT_ONCE = 65_536


def outlyingness(prepared: Graph) -> Floats:
    """Give the logarithm of the length of every node's prepared attributes.

    Examples
    --------
    >>> from oddhop import Graph
    >>> from oddhop.odd.outlier import outlyingness
    >>> outlyingness(Graph.from_arrays([[0], [1]], [[3.0, 4.0], [1.0, 0.0]])).round(2).tolist()
    [1.61, 0.0]
    """
    return lengths(prepared.attributes)


def lengths(rows: Floats) -> Floats:
    """Give the logarithm of the length of every row."""
    out = np.empty(rows.shape[0])
    for start in range(0, rows.shape[0], ROWS_AT_ONCE):
        some = np.asarray(rows[start : start + ROWS_AT_ONCE], dtype=np.float64)
        out[start : start + ROWS_AT_ONCE] = np.log(np.maximum(np.sqrt((some**2).sum(axis=1)), 1e-9))
    return out
