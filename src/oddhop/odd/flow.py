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
from oddhop.odd.outlier import lengths

RIDGE = 0.05  # of the variance: directions in which nearly nothing is left tell of rounding
ROWS_AT_ONCE = 65_536


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

    def components(self, flows: Floats, coordinates: Floats) -> Floats:
        """Give what attributes do not predict of the flows, uncorrelated, one row a node.

        Examples
        --------
        >>> import numpy as np
        >>> from oddhop.odd.flow import learn_flows
        >>> rng = np.random.default_rng(0)
        >>> size = rng.normal(size=(500, 1))
        >>> flows = size + 0.1 * rng.normal(size=(500, 1))
        >>> size[0], flows[0] = 1.0, -1.0
        >>> left = learn_flows(flows, size).components(flows, size)
        >>> int(np.argmax(np.abs(left)))
        0
        """
        out = np.empty((flows.shape[0], self.whiten.shape[1]))
        with single_threaded():
            for start in range(0, flows.shape[0], ROWS_AT_ONCE):
                rows = slice(start, start + ROWS_AT_ONCE)
                left = (flows[rows] - self.centre) / self.spread - (coordinates[rows] - self.origin) @ self.slopes
                out[rows] = left @ self.whiten
        return out

    def figure(self, flows: Floats, coordinates: Floats) -> Floats:
        """Give the logarithm of the length of the components of every node."""
        return lengths(self.components(flows, coordinates))


def learn_flows(flows: Floats, coordinates: Floats) -> FlowModel:
    """Learn how flows follow coordinates, and how what is left varies."""
    nodes, width = flows.shape[0], coordinates.shape[1]
    centre, spread = flows.mean(axis=0), np.maximum(flows.std(axis=0), 1e-12)
    origin = coordinates.mean(axis=0)
    with single_threaded():
        own, together, squares = np.zeros((width, width)), np.zeros((width, flows.shape[1])), 0.0
        for start in range(0, nodes, ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            x, z = coordinates[rows] - origin, (flows[rows] - centre) / spread
            own, together, squares = own + x.T @ x, together + x.T @ z, squares + z.T @ z
        slopes = np.linalg.lstsq(own, together, rcond=1e-9)[0]
        left = (squares - slopes.T @ together) / nodes
        scale = np.sqrt(np.maximum(np.diag(left), 1e-12))
        values, turn = np.linalg.eigh(left / np.outer(scale, scale))
    return FlowModel(centre, spread, origin, slopes, turn / scale[:, None] / np.sqrt(np.maximum(values, 0.0) + RIDGE))
