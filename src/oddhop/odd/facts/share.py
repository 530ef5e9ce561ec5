"""Facts that are shares: how much more of a figure the ends of a node have than those of others in its place.

Every end has a figure x. It is compared with the ends of other nodes in the same cell: the same kind of event, side,
size and stratum. With weights w, the mean mu and the variance of x in the cell, and tau^2 for how much nodes differ,

    z = sum w (x - mu) / sqrt(sum w^2 var + tau^2 (sum w)^2)

so a node with few events is never far out. A cell with few ends leans on a coarser one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.odd.facts.ends import SIZES, Ends, Setting
from oddhop.odd.facts.kernels import add_moments, rates_of

PRIOR = 20.0  # ends that the coarser cell is worth
TRIMMED = 0.99
FEWEST_RATES = 20


@dataclass(frozen=True, eq=False)
class Share:
    """A figure of every end, and with what it is compared.

    Attributes
    ----------
    x : the figure.
    cell, coarse : the cell of every end, and a coarser one; ``cells`` and ``coarse_cells`` are how many there are.
    use : the ends that count.
    weight : of every end.
    """

    x: Floats
    cell: Ints
    cells: int
    coarse: Ints
    coarse_cells: int
    use: Bools
    weight: Floats


def compared(
    setting: Setting,
    ends: Ends,
    x: Floats | Bools,
    use: Bools | None = None,
    apart: Ints | None = None,
    levels: int = 1,
    weight: Floats | None = None,
    by_stratum: bool = True,
    by_size: bool = True,
) -> Share:
    """Compare a figure within kind, side and ``apart``, which has so many levels, and then by stratum and size.

    All ends are used, and weigh as the root of their amount, if nothing else is given.
    """
    coarse = ends.form if apart is None else ends.form * levels + apart
    cell, coarse_cells = coarse, 2 * setting.kinds * levels
    cells = coarse_cells
    if by_stratum:
        cell, cells = cell * setting.strata + ends.stratum, cells * setting.strata
    if by_size:
        cell, cells = cell * SIZES + ends.size, cells * SIZES
    use = np.ones(cell.size, dtype=bool) if use is None else use
    weight = ends.root if weight is None else weight
    return Share(x.astype(np.float64), cell, cells, coarse, coarse_cells, use, weight)


@dataclass(frozen=True, eq=False)
class Usual:
    """What is usual of a figure: number, sum and sum of squares over the ends of coarse cells, and of cells."""

    coarse: Floats
    cells: Floats

    def add(self, share: Share) -> None:
        """Add the ends of some nodes."""
        add_moments(share.coarse, share.use, share.x, self.coarse)
        add_moments(share.cell, share.use, share.x, self.cells)

    def rates(self, ends: Ends, share: Share) -> tuple[Floats, Floats, Floats]:
        """Return by how much every node is beyond, the variance of that by chance, and what every end adds."""
        own = share.use, share.x, share.weight, ends.amount
        return rates_of(ends.start, *own, share.coarse, self.coarse, share.cell, self.cells, PRIOR)


def usual_of(share: Share) -> Usual:
    """Return what is usual before any end was added."""
    return Usual(np.zeros((share.coarse_cells, 3)), np.zeros((share.cells, 3)))


def standing(rate: Floats, chance: Floats) -> Floats:
    """Return z of every node, from its rate and the variance of that by chance; NaN where it has no such events."""
    some = ~np.isnan(rate)
    tau = 0.0
    if some.sum() > FEWEST_RATES:  # how much nodes differ in truth, by moments, without the farthest
        keep = some & (np.abs(rate) <= np.quantile(np.abs(rate[some]), TRIMMED))
        tau = max(0.0, float((rate[keep] ** 2 - chance[keep]).mean()))
    return np.asarray(rate / np.sqrt(np.maximum(chance + tau, 1e-12)))
