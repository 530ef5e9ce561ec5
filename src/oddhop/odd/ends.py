"""The coordinates of both ends of edges between two kinds: own ones, and those borrowed from the other neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from oddhop.arrays.handles import Handle
from oddhop.arrays.wiring import Wiring
from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.base.kernels import compiled
from oddhop.odd.pairs import Pairs

STAGE = "edges between kinds"
Usual = tuple[Floats, Floats]
EndRows = tuple[Floats, Floats, Ints]
"""Of some nodes the used coordinates, their sums over the neighbours, and the degrees."""


@dataclass(frozen=True, eq=False)
class End:
    """One end of edges: the wiring from it, the coordinates that are used, and their sums over the other ends."""

    wiring: Wiring
    used: Handle
    borrowed: Handle
    degrees: Handle

    @property
    def arrays(self) -> tuple[Handle, Handle, Handle]:
        """The arrays that coordinates are made of."""
        return self.used, self.borrowed, self.degrees


@dataclass(frozen=True, eq=False)
class Ends:
    """The edges whose ends both have coordinates, own or borrowed, from the judged nodes and from the others."""

    near: End
    far: End

    @property
    def arrays(self) -> tuple[tuple[Handle, ...], tuple[Handle, ...]]:
        """Those of both ends, for a pass over the edges from the judged nodes."""
        return self.near.arrays, self.far.arrays

    @property
    def count(self) -> int:
        """The number of edges."""
        return self.near.wiring.entry_count

    def usual(self) -> Usual:
        """Return the means of the used coordinates over the edges, of either side."""
        sums = [end.wiring.sum(_weighted_sums, end.used, end.degrees) for end in (self.near, self.far)]
        near, far = (one[1:] / max(float(one[0]), 1.0) for one in sums)
        return near, far

    def among(self, near: Handle, far: Handle) -> Ends:
        """Return the edges whose ends are both marked."""
        marks = near, far
        wirings = [
            end.wiring.thinned(_both, [mine], [theirs])
            for end, mine, theirs in zip((self.near, self.far), marks, marks[::-1], strict=True)
        ]
        return ends_with((wirings[0], wirings[1]), (self.near.used, self.far.used))


def chosen_ends(pairs: Pairs, columns: tuple[Ints, Ints]) -> Ends:
    """Return the edges of which both ends have coordinates, own or borrowed, by some of the columns."""
    near, far = (
        side.wiring.rows(_columns, side.coordinates, used) for side, used in zip(pairs.sides, columns, strict=True)
    )
    pairs.near.wiring.make(near)
    pairs.far.wiring.make(far)
    return ends_with((pairs.near.wiring, pairs.far.wiring), (near, far))


def ends_with(wirings: tuple[Wiring, Wiring], used: tuple[Handle, Handle]) -> Ends:
    """Return the edges of which both ends have coordinates by those that are used."""
    wide = [bool(one.any_rows().shape[1]) for one in used]
    if not all(wide):
        marks = [
            wiring.rows(_informed, wiring.degrees, own, theirs)
            for wiring, own, theirs in zip(wirings, wide, wide[::-1], strict=True)
        ]
        near, far = (
            wiring.thinned(_both, [mine], [theirs])
            for wiring, mine, theirs in zip(wirings, marks, marks[::-1], strict=True)
        )
        wirings = near, far
    ends = []
    for wiring, own, theirs in zip(wirings, used, used[::-1], strict=True):
        borrowed, degrees = wiring.around(theirs), wiring.rows(np.diff, wiring.indptr)
        wiring.make(borrowed, degrees)
        ends.append(End(wiring, own, borrowed, degrees))
    return Ends(ends[0], ends[1])


def ends_of(own: EndRows | tuple[Any, ...], theirs: EndRows | tuple[Any, ...], usual: Usual) -> tuple[Floats, Floats]:
    """Return the coordinates of both ends of edges."""
    (near, near_sums, near_degrees), (far, far_sums, far_degrees) = own, theirs
    lent_near = (near_sums - far + usual[1]) / near_degrees[:, None]
    lent_far = (far_sums - near + usual[0]) / far_degrees[:, None]
    return np.hstack([near, lent_near]), np.hstack([far, lent_far])


def _columns(x: Floats, used: Ints) -> Floats:
    # In the order of rows, in files as in memory: in another a product has other last bits.
    return np.ascontiguousarray(x[:, used])


def _informed(degrees: Ints, wide: bool, theirs: bool) -> Bools:
    return np.full(degrees.size, wide) | (theirs & (degrees > 1))


def _weighted_sums(x: Floats, degrees: Ints) -> Floats:
    return np.append(degrees.sum(), degrees @ x)


@compiled
def _both(low: Ints, high: Ints, indices: Ints, start: int, own: Bools, theirs: Bools, out: Bools) -> None:
    for i in range(low.size):
        for e in range(low[i], high[i]):
            out[e] = own[i] and theirs[indices[e] - start]
