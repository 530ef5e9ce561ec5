"""The flow: a node whose events are not those of nodes with like attributes.

Flow columns are what events tell about a node: how many, how much, when, of what kind. They are predicted from the
attributes by least squares, and what is left is whitened, so that columns that say the same count once:

    figure = log |W (flows - predicted flows)|

An employer who is paid like a student is far off, although both his attributes and his flows are common.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oddhop.base.arrays import Floats
from oddhop.base.parallel import single_threaded
from oddhop.graph.rows import AttributeRows, blocks, dense, fill, spans
from oddhop.odd.outlier import lengths

RIDGE = 0.05  # of the variance: directions in which nearly nothing is left tell of rounding


@dataclass(frozen=True, eq=False)
class FlowModel:
    """What is usual among the flows of nodes with given attributes.

    Attributes
    ----------
    centre, spread : mean and standard deviation of every flow column.
    origin, slopes : the mean of the coordinates, and how the flows follow them.
    whiten : turns what is left into uncorrelated components.
    """

    centre: Floats
    spread: Floats
    origin: Floats
    slopes: Floats
    whiten: Floats

    def components(self, flows: AttributeRows, coordinates: AttributeRows, start: int, stop: int) -> Floats:
        """Return what attributes do not predict of the flows of some nodes, uncorrelated, one row a node."""

        def block(first: int, last: int) -> Floats:
            left = (dense(flows[first:last]) - self.centre) / self.spread
            return np.asarray((left - (dense(coordinates[first:last]) - self.origin) @ self.slopes) @ self.whiten)

        out = np.empty((stop - start, self.whiten.shape[1]))
        with single_threaded():
            fill(out, start, int(flows.shape[0]), block)
        return out

    def figure(self, flows: AttributeRows, coordinates: AttributeRows, start: int, stop: int) -> Floats:
        """Return the logarithm of the length of the components of some nodes."""
        out = np.empty(stop - start)
        for first, last in spans(start, stop):
            out[first - start : last - start] = lengths(self.components(flows, coordinates, first, last))
        return out


def learn_flows(flows: AttributeRows, coordinates: AttributeRows) -> FlowModel:
    """Learn how flows follow coordinates, and how what is left varies."""
    (nodes, width), made = coordinates.shape, flows.shape[1]
    centre, origin = (sum(dense(rows).sum(axis=0) for rows in blocks(x)) / nodes for x in (flows, coordinates))
    with single_threaded():
        own, together, squares = (np.zeros(shape) for shape in ((width, width), (width, made), (made, made)))
        for first, last in spans(0, nodes):
            x, z = dense(coordinates[first:last]) - origin, dense(flows[first:last]) - centre
            own, together, squares = own + x.T @ x, together + x.T @ z, squares + z.T @ z
        spread = np.maximum(np.sqrt(np.diag(squares) / nodes), 1e-12)
        together, squares = together / spread, squares / np.outer(spread, spread)
        slopes = np.linalg.lstsq(own, together, rcond=1e-9)[0]
        left = (squares - slopes.T @ together) / nodes
        scale = np.sqrt(np.maximum(np.diag(left), 1e-12))
        values, turn = np.linalg.eigh(left / np.outer(scale, scale))
    return FlowModel(centre, spread, origin, slopes, turn / scale[:, None] / np.sqrt(np.maximum(values, 0.0) + RIDGE))
