"""Rarity: from the figures of a view to p-values, and to how much the far ones exceed what the bulk foretells.

A p-value needs a null. Here it is the bulk of the nodes themselves: above the median m the figures are taken to fall
like

    P(X >= x) = share x exp(-((x - m) / scale)^shape)

with scale and shape set by the middle and the 80 % point of what lies above m. A heavy tail that goes on as the bulk
began is thus no surprise, and a group that stands apart from the bulk is. Below m the figures' own quantiles are used.

Figures may have a resolution: those that differ by less are alike. Where the middle is below it, the 80 % point is at
least the resolution and the shape at least one half. Where fewer than a tenth of the nodes lie above m, or these tell
no tail, they may all be odd themselves: the tail then falls as steeply as any, with the resolution for the 80 % point.
This needs a second bound of the p-value.

Where a view has nothing to find, as many nodes lie beyond a p-value as it says, and the q-value (after Benjamini and
Hochberg: the p-value over the share of nodes with as small a one) is 1 for all. Where a group stands apart it is small.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from oddhop.base.arrays import Floats

FEWEST = 8
FEW = 0.1
HALFWAY, FAR = 0.5, 0.8
DROPS = -np.log(1 - HALFWAY), -np.log(1 - FAR)
STEPS_BELOW = 128
STEEPEST = 2.0  # as a normal tail: figures that are nearly all equal would seem to fall off like a wall
FLATTEST = 0.5  # of figures below their resolution, which may spread over any number of decimals
FLOOR = -30.0  # of log p: an extrapolation is not to be believed farther
GRID = np.linspace(FLOOR, 0.0, 241)


@dataclass(frozen=True)
class Bulk:
    """The null distribution of a view, from its bulk.

    Attributes
    ----------
    below : quantiles of the figures from the lowest to the median, evenly spaced.
    share : of the figures over the median, at least that of one; 0 where the view is silent.
    scale, shape : of how they fall there.
    excess : log q at the values of log p in ``GRID``.
    """

    below: Floats
    share: float
    scale: float
    shape: float
    excess: Floats

    @property
    def silent(self) -> bool:
        """Whether there is nothing to judge by: too few figures, or without a resolution too many of them equal."""
        return self.share == 0.0

    def log_p(self, figures: Floats) -> Floats:
        """Return the logarithm of the p-value of each figure, large figures being odd."""
        if self.silent:
            return np.zeros(figures.size)
        under = np.interp(figures, *self._steps)
        far = np.maximum(figures - self.below[-1], 0.0) / self.scale
        with np.errstate(over="ignore"):  # infinitely rare is at the floor
            above = np.log(self.share) - far**self.shape
        return np.maximum(np.where(figures > self.below[-1], above, np.log1p(-under)), FLOOR)

    @cached_property
    def _steps(self) -> tuple[Floats, Floats]:
        """The different figures of the lower half, and the share of the nodes below each."""
        places, first = np.unique(self.below, return_index=True)
        return places, first / (2 * STEPS_BELOW)

    def log_q(self, log_p: Floats) -> Floats:
        """Return the logarithm of the q-value that belongs to a p-value."""
        return np.interp(log_p, GRID, self.excess)


def learn_bulk(figures: Floats, resolution: float = 0.0) -> Bulk:
    """Learn the null distribution of a view from the bulk of its figures.

    ``resolution`` is given where a second bound keeps p-values from being too small, as chance does for triangles.
    """
    nothing = Bulk(np.zeros(STEPS_BELOW + 1), 0.0, 1.0, 1.0, np.zeros(GRID.size))
    if figures.size < FEWEST:
        return nothing
    below = np.quantile(figures, np.linspace(0.0, 0.5, STEPS_BELOW + 1))
    over = figures[figures > below[-1]] - below[-1]
    share = over.size / figures.size
    near, far = np.quantile(over, [HALFWAY, FAR]) if over.size >= FEWEST else (0.0, 0.0)
    tells = 0.0 < near < far * (1 - 1e-6)
    if resolution > 0.0 and (share < FEW or not tells):
        share, far, shape = max(share, 1 / figures.size), resolution, STEEPEST
    elif not tells:
        return nothing
    else:
        shape = min(float(np.log(DROPS[1] / DROPS[0]) / np.log(far / near)), STEEPEST)
        if near < resolution:
            far, shape = max(far, resolution), max(shape, FLATTEST)
    scale = float(far / DROPS[1] ** (1 / shape))
    bulk = Bulk(below, share, scale, shape, np.zeros(GRID.size))
    beyond = np.searchsorted(np.sort(bulk.log_p(figures)), GRID, side="right") / figures.size
    q = np.minimum(GRID - np.log(np.maximum(beyond, 1 / figures.size)), 0.0)
    return Bulk(below, bulk.share, scale, shape, np.minimum.accumulate(q[::-1])[::-1])
