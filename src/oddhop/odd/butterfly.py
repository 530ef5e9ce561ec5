"""Groups between kinds: judged nodes that are joined to the same nodes of another kind, more than chance explains.

Between two kinds there are no triangles. Two judged nodes i and j with two common neighbours are a butterfly. With
r(i, b) what communities leave of an edge, the unexplained common neighbours of i and j are

    t = sum over b of  w_b r(i, b) r(j, b)  less the largest of these,    w_b = -log(d_b / n)

with d_b the judged neighbours of b among n judged nodes: a rare common neighbour tells more. One common neighbour is
left out, for it takes two to make a butterfly: all customers of a shop share the shop. They are compared with
what chance would give, c = s_i s_j (sum of w q^2) / (sum of q)^2, with s and q the sums of r at either end, by the
formula of :mod:`oddhop.odd.clique`: (t - c) / sqrt(c + 1). A node keeps its twelve largest.

A node of the other kind with very many judged neighbours says little about any two of them, and costs the square of
their number. The largest are left out so that at most ``WEDGES`` pairs are looked at, and are counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.base.kernels import compiled
from oddhop.odd.communities import RESIDUALS
from oddhop.odd.pairs import Pairs
from oddhop.odd.row_blocks import degrees_of, gathered, row_sums
from oddhop.odd.triangles import LARGEST, STAGE
from oddhop.partitions.files import Store
from oddhop.partitions.task import TaskRunner

WEDGES, WEDGES_PER_NODE = 500_000_000, 1_000  # pairs of edges with a common end: in all, or for every judged node
WEDGES_AT_ONCE = 1 << 20  # that are copied from other partitions
WEIGHTS, SUMS, LARGEST_SHARED = "shared_weights", "shared_sums", "largest_shared"
HUB = -1.0  # the weight of a node that is left out; that of others is not below 0


@dataclass(frozen=True, eq=False)
class Common:
    """Edges between judged nodes and another kind, as common neighbours are counted over them.

    Attributes
    ----------
    pairs : the edges with r of each, the weights w of the nodes of the other kind, and s of the judged ones.
    chance : what c is made with.
    hubs : the nodes of the other kind that are left out.
    """

    pairs: Pairs
    chance: float
    hubs: Bools


def common_neighbours(pairs: Pairs, runner: TaskRunner, chance: float | None = None) -> Common:
    """Prepare the edges between judged nodes and another kind, whose residuals are r.

    ``chance`` is that of the network that a model was fitted on; left out, it is this network's own.
    """
    near, far = pairs.sides
    degrees = degrees_of(far)
    hubs = hubs_of(degrees, near.nodes)
    weights = np.where(hubs, HUB, np.log(max(near.nodes, 1) / np.maximum(degrees, 1)))
    for number in far.ranges:
        far.write(WEIGHTS, number, weights[slice(*far.span(number))])
    runner.quiet.each(STAGE, partial(_write_sums, near), near.ranges)
    if chance is None:
        theirs = np.concatenate(runner.quiet.each(STAGE, partial(_their_sums, far), far.ranges))
        whole = float(theirs.sum())
        chance = float((weights * theirs**2).sum()) / whole**2 if whole > 0 else 0.0
    return Common(pairs, chance, hubs)


def hubs_of(degrees: Ints, nodes: int) -> Bools:
    """Tell which nodes of the other kind are left out: the largest, so that the pairs of edges stay few enough."""
    order = np.argsort(degrees, kind="stable")
    wedges = np.cumsum(degrees[order].astype(np.float64) ** 2)
    most = max(WEDGES, WEDGES_PER_NODE * nodes)
    if not degrees.size or wedges[-1] <= most:
        return np.zeros(degrees.size, dtype=bool)
    # Those with as many neighbours as the first that is too much are left out with it.
    return np.asarray(degrees >= degrees[order[np.searchsorted(wedges, most, side="right")]])


def write_largest_shared(common: Common, runner: TaskRunner) -> None:
    """Write the twelve largest surprises of every judged node, (nodes, 12), from small to large."""
    near = common.pairs.near
    runner.each(STAGE, partial(_write_largest, common.pairs, common.chance), near.ranges)


def partners(common: Common, node: int) -> tuple[Ints, Floats]:
    """Return the judged nodes that share a neighbour with one, and the surprise of each, in memory."""
    pairs = common.pairs
    near, far = pairs.in_memory(), pairs.near.peer_rows(0)
    weights, sums = pairs.near.read_peer(WEIGHTS, 0), pairs.array(SUMS)
    left, their_left = pairs.array(RESIDUALS), pairs.near.read_peer(RESIDUALS, 0)
    t, first = np.zeros((2, near.stop))
    for e in range(near.indptr[node], near.indptr[node + 1]):
        b = near.indices[e]
        row = slice(far.indptr[b], far.indptr[b + 1])
        if common.hubs[b]:
            continue
        part = weights[b] * left[e] * their_left[row]
        t[far.indices[row]] += part
        first[far.indices[row]] = np.maximum(first[far.indices[row]], part)
    t -= first
    t[node] = 0.0
    found = np.flatnonzero(t)
    expected = sums[node] * sums[found] * common.chance
    return found, np.asarray((t[found] - expected) / np.sqrt(expected + 1.0))


def _write_sums(store: Store, number: int) -> None:
    """Write s of the judged nodes of a range: the sum of r over the edges to nodes that are not left out."""
    rows, kept = store.rows(number), np.concatenate([store.read_peer(WEIGHTS, peer) >= 0.0 for peer in store.peers])
    left = np.where(kept[rows.indices], store.read(RESIDUALS, number), np.float32(0))
    store.write(SUMS, number, row_sums(rows.indptr, left))


def _their_sums(store: Store, number: int) -> Floats:
    """Return q of the nodes of the other kind of a range, 0 for those that are left out."""
    sums = row_sums(store.rows(number).indptr, store.read(RESIDUALS, number))
    return np.where(store.read(WEIGHTS, number) >= 0.0, sums, 0.0)


def _write_largest(pairs: Pairs, chance: float, number: int) -> None:
    near = pairs.near
    if near.has(LARGEST_SHARED, number):
        return
    rows, left, sums = near.rows(number), near.read(RESIDUALS, number), gathered(near, SUMS)
    out = near.room(LARGEST_SHARED, number, np.float64, LARGEST)
    for first, last, theirs in _their_rows(near, number):
        own = rows.indptr[first : last + 1] - rows.indptr[first]
        entries = slice(rows.indptr[first], rows.indptr[last])
        ours = own, theirs.places(rows.indices[entries]), left[entries]
        others = theirs.indptr, theirs.indices, theirs.left, theirs.weights
        out[first:last] = _largest(ours, others, sums, chance, rows.start + first)
    near.write(LARGEST_SHARED, number, out)


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


def _their_rows(store: Store, number: int) -> Iterator[tuple[int, int, _Theirs]]:
    """Return rows of a range, some at a time, and those of the nodes of the other kind that they are joined to.

    In memory all are there. From other partitions rows are copied, one partition after the other.
    """
    rows = store.rows(number)
    if len(store.peers) == 1:
        peer = store.peer_rows(0)
        whole = _Theirs(None, peer.indptr, peer.indices, store.read_peer(RESIDUALS, 0), store.read_peer(WEIGHTS, 0))
        yield 0, rows.stop - rows.start, whole
        return
    parts = ((np.diff(store.peer_rows(peer).indptr), store.read_peer(WEIGHTS, peer)) for peer in store.peers)
    degrees = np.concatenate([np.where(weights >= 0.0, own, 0).astype(np.int32) for own, weights in parts])
    group = np.cumsum(row_sums(rows.indptr, degrees[rows.indices])) // WEDGES_AT_ONCE
    bounds = np.concatenate([[0], np.flatnonzero(np.diff(group)) + 1, [group.size]]).tolist()
    for first, last in pairwise(bounds):
        nodes = np.unique(rows.indices[rows.indptr[first] : rows.indptr[last]])
        yield first, last, _copied(store, nodes)


def _copied(store: Store, nodes: Ints) -> _Theirs:
    """Copy the rows of some nodes of the other kind, one partition after the other."""
    parts: list[tuple[Ints, Ints, Floats, Floats]] = []
    for peer in store.peers:
        start, stop = store.peer_span(peer)
        some = nodes[slice(*np.searchsorted(nodes, [start, stop]))] - start
        rows, left = store.peer_rows(peer), store.read_peer(RESIDUALS, peer)
        weights = store.read_peer(WEIGHTS, peer)[some]
        degrees = np.where(weights >= 0.0, rows.indptr[some + 1] - rows.indptr[some], 0)
        entries = np.repeat(rows.indptr[some] - np.cumsum(degrees) + degrees, degrees) + np.arange(degrees.sum())
        parts.append((degrees, rows.indices[entries], left[entries], weights))
        del rows, left
    degrees, indices, left, weights = (np.concatenate(some) for some in zip(*parts, strict=True))
    return _Theirs(nodes, np.concatenate([[0], np.cumsum(degrees)]), indices, left, weights)


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
