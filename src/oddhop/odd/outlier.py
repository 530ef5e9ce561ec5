"""The outlier: a node whose attributes are far from everybody's, whoever its neighbours are.

The measure is the length of the prepared attributes, that is of the columns brought to mean 0 and variance 1, or of
their leading components. Squared and up to a constant it is the mean squared distance to all nodes.
"""

from __future__ import annotations

import numpy as np

from oddhop.base.arrays import Floats, Ints
from oddhop.graph.rows import ROWS_AT_ONCE, AttributeRows, spans
from oddhop.odd.blocks import Blocks
from oddhop.odd.view import Nodes, NodeView


def outlyingness(blocks: Blocks, x: AttributeRows, start: int, stop: int) -> Floats:
    """Return the logarithm of the length of the prepared attributes of some nodes."""
    out = np.empty(stop - start)
    for first, last in spans(start, stop):
        out[first - start : last - start] = lengths(blocks.prepared(x, first, last))
    return out


def lengths(rows: Floats) -> Floats:
    """Return the logarithm of the length of every row."""
    return np.asarray(np.log(np.maximum(np.sqrt((rows**2).sum(axis=1)), 1e-9)))


def _figure(nodes: Nodes) -> Floats:
    table = nodes.source.judged
    found: Floats = table.nodes.rows(_rows, table.nodes.ids, table.attributes, nodes.blocks, rows=ROWS_AT_ONCE).all()
    return found


def _rows(ids: Ints, attributes: AttributeRows, blocks: Blocks) -> Floats:
    return outlyingness(blocks, attributes, int(ids[0]), int(ids[-1]) + 1)


OUTLIER = NodeView("outlier", weight=lambda apart: apart, figure=_figure, has_bulk=True)
