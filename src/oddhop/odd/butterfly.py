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

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from oddhop.base.arrays import Floats, Ints
from oddhop.base.kernels import compiled
from oddhop.base.parallel import map_blocks
from oddhop.odd.triangles import LARGEST

WEDGES, WEDGES_PER_NODE = 500_000_000, 1_000  # pairs of edges with a common end: in all, or for every judged node
NODES_AT_ONCE = 4_096


@dataclass(frozen=True, eq=False)
class Common:
    """Edges between judged nodes and another kind, as common neighbours are counted over them.

    Attributes
    ----------
    near, far : r of every edge, (judged nodes, others) and the transpose; hubs have no edges.
    weights : w of every node of the other kind.
    sums : s of every judged node.
    chance : what c is made with.
    hubs : how many nodes of the other kind are left out.
    """

    near: sp.csr_array
    far: sp.csr_array
    weights: Floats
    sums: Floats
    chance: float
    hubs: int


def common_neighbours(left: sp.csr_array, chance: float | None = None) -> Common:
    """Prepare r of the edges between judged nodes (rows) and another kind (columns).

    ``chance`` is that of the network that a model was fitted on; left out, it is this network's own.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from oddhop.odd.butterfly import common_neighbours
    >>> common_neighbours(sp.csr_array(np.array([[1.0, 1.0], [1.0, 0.0]]))).weights.round(2).tolist()
    [0.0, 0.69]
    """
    degrees = np.bincount(left.indices, minlength=left.shape[1])
    hubs = hubs_of(degrees, left.shape[0])
    if hubs.any():
        kept = ~hubs[left.indices]
        indptr = np.concatenate([[0], np.cumsum(kept)])[left.indptr]
        left = sp.csr_array((left.data[kept], left.indices[kept], indptr), shape=left.shape)
    weights = np.log(max(left.shape[0], 1) / np.maximum(degrees, 1))
    far = left.T.tocsr()
    sums, theirs = left @ np.ones(left.shape[1]), far @ np.ones(left.shape[0])
    if chance is None:
        whole = float(theirs.sum())
        chance = float((weights * theirs**2).sum()) / whole**2 if whole > 0 else 0.0
    return Common(left, far, weights, sums, chance, int(hubs.sum()))


def hubs_of(degrees: Ints, nodes: int) -> np.ndarray:
    """Tell which nodes of the other kind are left out: the largest, so that the pairs of edges stay few enough.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop.odd.butterfly import hubs_of
    >>> hubs_of(np.array([10, 1_000_000, 3, 20]), 1_000_000).tolist()
    [False, True, False, False]
    """
    order = np.argsort(degrees, kind="stable")
    wedges = np.cumsum(degrees[order].astype(np.float64) ** 2)
    most = max(WEDGES, WEDGES_PER_NODE * nodes)
    if not degrees.size or wedges[-1] <= most:
        return np.zeros(degrees.size, dtype=bool)
    # Those with as many neighbours as the first that is too much are left out with it.
    return np.asarray(degrees >= degrees[order[np.searchsorted(wedges, most, side="right")]])


def largest_surprises(common: Common, *, workers: int = 1) -> Floats:
    """Give the twelve largest surprises of every judged node, (nodes, 12), from small to large.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from oddhop.odd.butterfly import common_neighbours, largest_surprises
    >>> joined = np.random.default_rng(0).random((50, 200)) < 0.02
    >>> joined[:2, :8] = True  # two that share eight
    >>> found = largest_surprises(common_neighbours(sp.csr_array(joined.astype(float))))
    >>> sorted(np.argsort(found[:, -1])[-2:].tolist())
    [0, 1]
    """
    near, far = common.near, common.far
    parts = (near.indptr, near.indices, near.data, far.indptr, far.indices, far.data)

    def block(start: int) -> Floats:
        stop = min(start + NODES_AT_ONCE, near.shape[0])
        return np.asarray(_largest(*parts, common.weights, common.sums, common.chance, start, stop))

    found = list(map_blocks(block, range(0, near.shape[0], NODES_AT_ONCE), workers=workers))
    return np.concatenate([np.zeros((0, LARGEST)), *found])


def partners(common: Common, node: int) -> tuple[Ints, Floats]:
    """Give the judged nodes that share a neighbour with one, and the surprise of each."""
    near, far = common.near, common.far
    t, first = np.zeros((2, near.shape[0]))
    for e in range(near.indptr[node], near.indptr[node + 1]):
        b = near.indices[e]
        row = slice(far.indptr[b], far.indptr[b + 1])
        part = common.weights[b] * near.data[e] * far.data[row]
        t[far.indices[row]] += part
        first[far.indices[row]] = np.maximum(first[far.indices[row]], part)
    t -= first
    t[node] = 0.0
    found = np.flatnonzero(t)
    expected = common.sums[node] * common.sums[found] * common.chance
    return found, np.asarray((t[found] - expected) / np.sqrt(expected + 1.0))


@compiled
def _largest(
    indptr: Ints,
    indices: Ints,
    data: Floats,
    far_indptr: Ints,
    far_indices: Ints,
    far_data: Floats,
    weights: Floats,
    sums: Floats,
    chance: float,
    start: int,
    stop: int,
) -> Floats:
    largest = np.zeros((stop - start, LARGEST))
    met, t = np.empty(sums.size, np.int64), np.zeros((sums.size, 2))  # the sum, and its largest part
    for i in range(start, stop):
        count = 0
        for e in range(indptr[i], indptr[i + 1]):
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
