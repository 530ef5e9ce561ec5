"""The log-likelihood ratio of "just two nodes" against "two that belong together", of normal coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oddhop.arrays import Floats


@dataclass(frozen=True, eq=False)
class Ratio:
    """The parts of the ratio: ``constant + own(a) + own(b) - (a * across) @ b`` for coordinates a and b.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop.views.ratio import Ratio
    >>> ratio = Ratio.of(np.array([0.5]))
    >>> ratio(np.array([[2.0], [2.0]]), np.array([[2.0], [-2.0]])).round(2).tolist()  # alike, and not
    [-1.48, 3.86]
    """

    constant: float
    squared: Floats
    across: Floats

    @classmethod
    def of(cls, correlation: Floats) -> Ratio:
        """Take the parts from the correlation of every coordinate with itself, over those that belong together."""
        spare = 1 - correlation**2
        return cls(float(np.log(spare).sum() / 2), correlation**2 / (2 * spare), correlation / spare)

    def own(self, a: Floats) -> Floats:
        """Give what one of the two adds by itself."""
        return np.asarray((a**2) @ self.squared)

    def __call__(self, a: Floats, b: Floats) -> Floats:
        """Give the ratio of rows of a and b."""
        return np.asarray(self.constant + self.own(a) + self.own(b) - (a * b) @ self.across)
