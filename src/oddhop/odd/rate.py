"""How improbable the mean f of a node is, for edges of any sort: a rate of large deviations.

Within one kind of node the mean f is brought to a z-value. Between kinds f is far from normal: a few edges in a hundred
join ends that have nothing to do with each other, and one of these is no surprise. So the mean m of d edges is compared
with what d edges drawn at random would have. With K(s) the logarithm of the mean of exp(s f) over all edges,

    log P(mean >= m)  <=  -d I(m),    I(m) = maximum over s of  s m - K(s)    (Chernoff).

Ordinary nodes differ by more than chance: the mean of d edges varies as that of d (1 + s) / (1 + d s) edges drawn at
random, s = between / within, and that takes the place of d. These figures are nats, whatever the sort of the edges, so
those of a node add up. For a normal f each is z^2 / 2. One more edge at the largest f that there can be bounds them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from oddhop.arrays.handles import Handle
from oddhop.arrays.wiring import Wiring
from oddhop.base.arrays import Floats, Ints
from oddhop.odd.stranger import Homophily

TILTS, STEEPEST, BINS, NARROWEST = 160, 300.0, 4_096, 1e-9


@dataclass(frozen=True, eq=False)
class Rate:
    """The mean f of edges drawn at random.

    Attributes
    ----------
    tilts, cumulants : values of s, and K(s).
    spread : between / within, what ordinary nodes differ by.
    """

    tilts: Floats
    cumulants: Floats
    spread: float

    def nats(self, means: Floats, degrees: Ints) -> Floats:
        """Return d I(m) of nodes by their mean f and their number of edges; 0 for those without."""
        rate = np.zeros(means.size)
        for tilt, cumulant in zip(self.tilts.tolist(), self.cumulants.tolist(), strict=True):
            np.maximum(rate, tilt * means - cumulant, out=rate)
        return np.asarray(rate * degrees * (1.0 + self.spread) / (1.0 + degrees * self.spread))


def learn_rate(
    wiring: Wiring, f: Handle, homophily: Homophily, *, once: bool = False, largest: float | None = None
) -> Rate:
    """Learn how the mean f of edges drawn at random varies, from f of all entries.

    ``once`` is for edges within a kind, which have two entries each. ``largest`` is what f can be at most.
    """
    entries = wiring.ids, wiring.indptr, wiring.indices, f, once
    extremes = wiring.rows(_extremes, *entries).all()
    low, high = float(extremes[:, 0].min()), float(extremes[:, 1].max())
    span = (low, max(high, low + NARROWEST * max(abs(low), 1.0)))  # f of all edges may be the same but for rounding
    counts, sums = wiring.sum(_histograms, *entries, span)
    edges = int(counts.sum())
    # The mean of every bin: the middle of the last one lies below the largest f, and the bound would not hold there.
    values, share = sums[counts > 0] / counts[counts > 0], counts[counts > 0] / (edges + 1)
    largest = high if largest is None else max(largest, high)
    values, share = np.append(values, largest), np.append(share, 1 / (edges + 1))
    top = float(values[-1])
    middle = values[np.searchsorted(np.cumsum(counts[counts > 0]), edges / 2)]  # of the bin of the median
    reach = max(top - float(middle), 1e-12)
    tilts = np.concatenate([[0.0], np.geomspace(1e-3, STEEPEST, TILTS)]) / reach
    cumulants = [np.log((share * np.exp(tilt * (values - top))).sum()) + tilt * top for tilt in tilts.tolist()]
    return Rate(tilts, np.array(cumulants), homophily.between / homophily.within)


def _values(ids: Ints, indptr: Ints, indices: Ints, f: Floats, once: bool) -> Floats:
    """Return f of the entries of some rows in double precision, for bins may be narrower than single precision."""
    if once:
        f = f[np.repeat(ids, np.diff(indptr)) < indices]
    return f.astype(np.float64)


def _extremes(ids: Ints, indptr: Ints, indices: Ints, f: Floats, once: bool) -> Floats:
    """Return the smallest and the largest f among some rows, the same for each of them."""
    values = _values(ids, indptr, indices, f, once)
    found = np.array([values.min(initial=np.inf), values.max(initial=-np.inf)])
    return np.asarray(np.broadcast_to(found, (ids.size, 2)))


def _histograms(ids: Ints, indptr: Ints, indices: Ints, f: Floats, once: bool, span: tuple[float, float]) -> Floats:
    """Return the number of edges in every bin, and the sum of f there."""
    values = _values(ids, indptr, indices, f, once)
    return np.stack([np.histogram(values, bins=BINS, range=span, weights=weights)[0] for weights in (None, values)])


def joint_strangeness(nodes: int, nats: Iterable[Floats]) -> Floats:
    """Add up what edges of several sorts say of every node, as a z-value."""
    return np.asarray(np.sqrt(2 * sum(nats, start=np.zeros(nodes))))
