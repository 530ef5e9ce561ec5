"""The outlier: a node whose attributes are far from everybody's, whoever its neighbours are.

The measure is the length of the prepared attributes, that is of the columns brought to mean 0 and variance 1, or of
their leading components. Squared and up to a constant it is the mean squared distance to all nodes.
"""

from __future__ import annotations

import numpy as np

from oddhop.base.arrays import Floats
from oddhop.graph.rows import AttributeRows, spans
from oddhop.odd.blocks import Blocks


def outlyingness(blocks: Blocks, x: AttributeRows, start: int, stop: int) -> Floats:
    """Return the logarithm of the length of the prepared attributes of some nodes."""
    out = np.empty(stop - start)
    for first, last in spans(start, stop):
        out[first - start : last - start] = lengths(blocks.prepared(x, first, last))
    return out


def lengths(rows: Floats) -> Floats:
    """Return the logarithm of the length of every row."""
    return np.asarray(np.log(np.maximum(np.sqrt((rows**2).sum(axis=1)), 1e-9)))
