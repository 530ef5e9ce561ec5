"""Groups between kinds: judged nodes that are joined to the same nodes of another kind, more than chance explains.

Between two kinds there are no triangles. Two judged nodes i and j with two common neighbours are a butterfly. With
r(i, b) what communities leave of an edge, the unexplained common neighbours of i and j are

    t = sum over b of  w_b r(i, b) r(j, b)  less the largest of these,    w_b = -log(d_b / n)

with d_b the judged neighbours of b among n judged nodes: a rare common neighbour counts more. One common neighbour is
left out, for it takes two to make a butterfly: all customers of a shop share the shop. They are compared with
what chance would give, c = s_i s_j (sum of w q^2) / (sum of q)^2, with s and q the sums of r at either end, by the
formula of :mod:`oddhop.odd.clique`: (t - c) / sqrt(c + 1). A node keeps its twelve largest.

A node of the other kind with very many judged neighbours says little about any two of them, and costs the square of
their number. The largest are left out so that at most ``WEDGES`` pairs are looked at, and are counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from oddhop.arrays.handles import EntriesOf, Handle, Output, RowsOf
from oddhop.arrays.kernels import row_sums
from oddhop.arrays.stores import ROWS
from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.base.kernels import compiled
from oddhop.odd.pairs import Pairs
from oddhop.odd.triangles import LARGEST, STAGE

WEDGES, WEDGES_PER_NODE = 500_000_000, 1_000  # pairs of edges with a common end: in all, or for every judged node
WEDGES_AT_ONCE = 1 << 20  # that are copied from other partitions
HUB = -1.0  # the weight of a node that is left out; that of others is not below 0


@dataclass(frozen=True, eq=False)
class Common:
    """Edges between judged nodes and another kind, as common neighbours are counted over them.

    Attributes
    ----------
    pairs : the edges with r of each.
    weights, sums : w of the nodes of the other kind, and s of the judged ones.
    chance : what c is made with.
    hubs : the nodes of the other kind that are left out.
    """

    pairs: Pairs
    weights: Handle
    sums: Handle
    chance: float
    hubs: Bools


def common_neighbours(pairs: Pairs, chance: float | None = None) -> Common:
    """Prepare the edges between judged nodes and another kind, whose residuals are r.

    ``chance`` is that of the network that a model was fitted on; left out, it is this network's own.
    """
    near, far = pairs.sides
    degrees = far.wiring.degrees.all()
    hubs = hubs_of(degrees, near.wiring.nodes)
    logarithms = np.log(max(near.wiring.nodes, 1) / np.maximum(degrees, 1))
    weights = far.wiring.given(np.where(hubs, HUB, logarithms))
    sums = near.wiring.entries(_kept_sums, [near.residuals], [weights], Output(ROWS, np.float64))
    if chance is None:
        theirs = far.wiring.rows(_their_sums, far.wiring.indptr, far.residuals, weights).all()
        whole = float(theirs.sum())
        chance = float((weights.read() * theirs**2).sum()) / whole**2 if whole > 0 else 0.0
    return Common(pairs, weights, sums, chance, hubs)


def hubs_of(degrees: Ints, nodes: int) -> Bools:
    """Tell which nodes of the other kind are left out: the largest, so that the pairs of edges stay few enough."""
    order = np.argsort(degrees, kind="stable")
    wedges = np.cumsum(degrees[order].astype(np.float64) ** 2)
    most = max(WEDGES, WEDGES_PER_NODE * nodes)
    if not degrees.size or wedges[-1] <= most:
        return np.zeros(degrees.size, dtype=bool)
    # Those with as many neighbours as the first that is too much are left out with it.
    return np.asarray(degrees >= degrees[order[np.searchsorted(wedges, most, side="right")]])


def largest_shared(common: Common) -> Handle:
    """Make the twelve largest surprises of every judged node, (nodes, 12), from small to large."""
    near, far = common.pairs.sides
    near.wiring.begin(STAGE)
    own = near.wiring.ids, near.wiring.indptr, near.wiring.indices, near.residuals
    others = EntriesOf(far.wiring, (far.residuals,)), RowsOf(common.weights), common.sums.any_rows()
    found: Handle = near.wiring.rows(_largest_rows, *own, *others, common.chance, rows=0)
    near.wiring.make(found)
    return found


def partners(common: Common, node: int) -> tuple[Ints, Floats]:
    """Return the judged nodes that share a neighbour with one, and the surprise of each, in memory."""
    near, far = common.pairs.sides
    indptr, indices, left = near.wiring.indptr.read(), near.wiring.indices.read(), near.residuals.read()
    far_indptr, far_indices, their_left = far.wiring.indptr.read(), far.wiring.indices.read(), far.residuals.read()
    weights, sums = common.weights.read(), common.sums.all()
    t, first = np.zeros((2, near.wiring.nodes))
    for e in range(indptr[node], indptr[node + 1]):
        b = indices[e]
        row = slice(far_indptr[b], far_indptr[b + 1])
        if common.hubs[b]:
            continue
        part = weights[b] * left[e] * their_left[row]
        t[far_indices[row]] += part
        first[far_indices[row]] = np.maximum(first[far_indices[row]], part)
    t -= first
    t[node] = 0.0
    found = np.flatnonzero(t)
    expected = sums[node] * sums[found] * common.chance
    return found, np.asarray((t[found] - expected) / np.sqrt(expected + 1.0))


def _their_sums(indptr: Ints, residuals: Floats, weights: Floats) -> Floats:
    """Return q of nodes of the other kind, 0 for those that are left out."""
    return np.where(weights >= 0.0, row_sums(indptr, residuals), 0.0)


def _largest_rows(
    ids: Ints,
    indptr: Ints,
    indices: Ints,
    left: Floats,
    far: EntriesOf,
    weights: RowsOf,
    sums: RowsOf,
    chance: float,
) -> Floats:
    out, every = np.zeros((ids.size, LARGEST)), sums[:]
    for first, last, theirs in _their_rows(indptr, indices, far, weights):
        own, entries = indptr[first : last + 1] - indptr[first], slice(indptr[first], indptr[last])
        ours = own, theirs.places(indices[entries]), left[entries]
        others = theirs.indptr, theirs.indices, theirs.left, theirs.weights
        out[first:last] = _largest(ours, others, every, chance, int(ids[0]) + first)
    return out


@dataclass(frozen=True, eq=False)
class _Theirs:
    """Rows of nodes of the other kind: the judged nodes in each, r, and the weights; ``nodes`` is None for all."""

    nodes: Ints | None
    indptr: Ints
    indices: Ints
    left: Floats
    weights: Floats

    def places(self, nodes: Ints) -> Ints:
        """Return the rows of some nodes."""
        return nodes if self.nodes is None else np.searchsorted(self.nodes, nodes)


def _their_rows(indptr: Ints, indices: Ints, far: EntriesOf, weights: RowsOf) -> Iterator[tuple[int, int, _Theirs]]:
    """Return rows of a range, some at a time, and those of the nodes of the other kind that they are joined to.

    In memory all are there. From other partitions rows are copied, one partition after the other.
    """
    every = weights[:]
    if len(far.spans) == 1:
        starts, nodes, left = far.read(far.spans[0])
        yield 0, indptr.size - 1, _Theirs(None, starts, nodes, left, every)
        return
    degrees = np.concatenate([np.diff(far.wiring.store.read(far.wiring.indptr, span)) for span in far.spans])
    degrees = np.where(every >= 0.0, degrees, 0).astype(np.int32)
    group = np.cumsum(row_sums(indptr, degrees[indices])) // WEDGES_AT_ONCE
    bounds = np.concatenate([[0], np.flatnonzero(np.diff(group)) + 1, [group.size]]).tolist()
    for first, last in pairwise(bounds):
        yield first, last, _copied(far, every, np.unique(indices[indptr[first] : indptr[last]]))


def _copied(far: EntriesOf, weights: Floats, nodes: Ints) -> _Theirs:
    """Copy the rows of some nodes of the other kind, one partition after the other."""
    parts: list[tuple[Ints, Ints, Floats]] = []
    for span in far.spans:
        some = nodes[slice(*np.searchsorted(nodes, span))]
        starts, indices, left = far.read(span)
        places = some - span[0]
        degrees = np.where(weights[some] >= 0.0, starts[places + 1] - starts[places], 0)
        entries = np.repeat(starts[places] - np.cumsum(degrees) + degrees, degrees) + np.arange(degrees.sum())
        parts.append((degrees, indices[entries], left[entries]))
        del starts, indices, left
    degrees, indices, left = (np.concatenate(some) for some in zip(*parts, strict=True))
    return _Theirs(nodes, np.concatenate([[0], np.cumsum(degrees)]), indices, left, weights[nodes])


@compiled
def _kept_sums(low: Ints, high: Ints, indices: Ints, start: int, left: Floats, weights: Floats, sums: Floats) -> None:
    """Write s: the sum of r over the edges to nodes that are not left out."""
    for i in range(low.size):
        for e in range(low[i], high[i]):
            if weights[indices[e] - start] >= 0.0:
                sums[i] += left[e]


@compiled
def _largest(ours: tuple[Any, ...], theirs: tuple[Any, ...], sums: Floats, chance: float, start: int) -> Floats:
    """Return the largest surprises of rows, which are those of the judged nodes from ``start`` on."""
    indptr, indices, data = ours
    far_indptr, far_indices, far_data, weights = theirs
    largest = np.zeros((indptr.size - 1, LARGEST))
    met, t = np.empty(sums.size, np.int64), np.zeros((sums.size, 2))  # the sum, and its largest part
    for i in range(start, start + indptr.size - 1):
        count = 0
        for e in range(indptr[i - start], indptr[i - start + 1]):
            b = indices[e]
            heavy = weights[b] * data[e]
            if heavy <= 0.0:
                continue
            for k in range(far_indptr[b], far_indptr[b + 1]):
                part = heavy * far_data[k]
                if part > 0.0:
                    j = far_indices[k]
                    if t[j, 0] == 0.0:
                        met[count] = j
                        count += 1
                    t[j, 0] += part
                    if part > t[j, 1]:
                        t[j, 1] = part
        own = largest[i - start]
        for m in range(count):
            j = met[m]
            found = t[j, 0] - t[j, 1]
            t[j, 0], t[j, 1] = 0.0, 0.0
            expected = sums[i] * sums[j] * chance
            if j == i or found - expected <= own[0]:  # the root is not below 1
                continue
            surprise = (found - expected) / np.sqrt(expected + 1.0)
            place = 0
            while place < LARGEST and surprise > own[place]:
                if place > 0:
                    own[place - 1] = own[place]
                own[place] = surprise
                place += 1
    return largest
