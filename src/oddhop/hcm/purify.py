"""Purify: drop the share of the edges whose ends are least alike. Only the hop labels see the result."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.base.kernels import compiled
from oddhop.base.parallel import map_blocks
from oddhop.base.randomness import PURIFY, mix, word
from oddhop.errors import GraphError
from oddhop.graph.adjacency import index_dtype, keep_edges, upper_edges
from oddhop.graph.checks import is_sparse
from oddhop.graph.graph import Graph
from oddhop.graph.kinds import NodeKinds
from oddhop.graph.preparation import Preparation, is_binary, learn_preparation
from oddhop.hcm.arrows import BACKWARD, FORWARD, arrows
from oddhop.hcm.settings import HCMSettings

EDGES_AT_ONCE = 262_144
HUB = 2**17
"""Neighbours. Everybody is near everybody over a larger node, and a search over it reads all its edges every time."""


@dataclass(frozen=True)
class Purified:
    """The network that hop labels are taken from.

    Attributes
    ----------
    indptr, indices : the adjacency that is left; with a direction, where the arrows of a node lead.
    dropped : how many edges were dropped, floor(drop_ratio x edges).
    tied : how many dropped edges stood at the very threshold, where a seeded hash decided.
    measure : "cosine" or "jaccard".
    hubs : how many nodes had more than 2^17 neighbours; no hop is counted over them.
    into : with a direction, where the arrows into a node come from, in the same form as ``indptr`` and ``indices``;
        None without, where that is the same.
    """

    indptr: Ints
    indices: Ints
    dropped: int
    tied: int
    measure: str
    hubs: int = 0
    into: tuple[Ints, Ints] | None = None

    @property
    def backwards(self) -> tuple[Ints, Ints]:
        """The adjacency to search against the arrows."""
        return (self.indptr, self.indices) if self.into is None else self.into


@dataclass(frozen=True)
class LeftOut:
    """Which edges hop labels were made without, how many by a tie, by which similarity; and the hubs passed over."""

    dropped: int
    tied: int
    similarity: str
    hubs: int


def check_one_kind(kinds: NodeKinds | None) -> None:
    """Refuse a network with several kinds of nodes: their attributes cannot be compared across an edge."""
    if kinds is not None:
        judged = kinds.names[kinds.judged]
        remedy = f"or give an edge table that connects {judged} to {judged} if they share a node"
        raise GraphError(
            f"HCM and neighbour cosine support one kind of node, got {len(kinds.names)}: {', '.join(kinds.names)}",
            f"use Odd, {remedy}",
            command=f"give --detector odd, {remedy}",
        )


def learn_attributes(graph: Graph, settings: HCMSettings) -> Preparation:
    """Learn how attributes are scaled and reduced before edges are compared and a model is trained."""
    check_one_kind(graph.kinds)
    components, above = settings.pca_components, settings.pca_above
    return learn_preparation(graph.attributes, scale=settings.scale, pca_components=components, pca_above=above)


def purify(graph: Graph, drop_ratio: float, *, seed: int, workers: int = 1, directed: bool = False) -> Purified:
    """Drop exactly floor(drop_ratio x edges) edges, the least similar first; with ``directed`` give their arrows."""
    measure = "jaccard" if is_binary(graph.attributes) else "cosine"
    drop = int(np.floor(drop_ratio * graph.edge_count + 1e-9))  # 0.29 x 100 is 29, not 28.999...
    hubs = graph.degrees > HUB
    if drop == 0 and not hubs.any() and not directed:
        return Purified(graph.indptr, graph.indices, 0, 0, measure)
    keep, tied = _alike(graph, measure, drop, seed, workers) if drop else (np.ones(graph.edge_count, dtype=bool), 0)
    if hubs.any():
        without = keep.copy()
        for start in range(0, graph.edge_count, EDGES_AT_ONCE):
            left, right = graph.ends(start, start + EDGES_AT_ONCE)
            without[start : start + left.size] &= ~(hubs[left] | hubs[right])
        # Of a star nothing would be left.
        keep, hubs = (without, hubs) if without.any() else (keep, np.zeros_like(hubs))
    into = None
    if directed:
        (indptr, indices), into = _arrow_rows(graph, keep)
    else:
        indptr, indices = keep_edges(graph.indptr, graph.indices, graph.upper, keep)
    return Purified(indptr, indices, drop, tied, measure, int(hubs.sum()), into)


def _arrow_rows(graph: Graph, keep: Bools) -> tuple[tuple[Ints, Ints], tuple[Ints, Ints]]:
    """Return the arrows of the marked edges by the node that they leave, and by the node that they reach."""
    left, right = (end[keep] for end in graph.ends(0, graph.edge_count))
    ways = arrows(graph)[keep]
    forward, backward = (ways & way > 0 for way in (FORWARD, BACKWARD))
    tails = np.concatenate([left[forward], right[backward]])
    heads = np.concatenate([right[forward], left[backward]])
    ones = np.ones(tails.size, dtype=np.int8)
    matrix = sp.csr_array((ones, (tails, heads)), shape=2 * (graph.node_count,))
    return _rows(matrix), _rows(matrix.T.tocsr())


def _rows(matrix: sp.csr_array) -> tuple[Ints, Ints]:
    return matrix.indptr.astype(np.int64), matrix.indices.astype(index_dtype(matrix.shape[0]))


def _alike(graph: Graph, measure: str, drop: int, seed: int, workers: int) -> tuple[Bools, int]:
    """Mark all edges but the ``drop`` least similar; say how many of these were chosen from among equals."""
    similarity = edge_similarity(graph, measure, workers=workers)
    threshold = np.partition(similarity, drop - 1)[drop - 1]
    keep = similarity > threshold
    at_threshold = np.flatnonzero(similarity == threshold)
    tied = drop - (graph.edge_count - int(np.count_nonzero(keep)) - at_threshold.size)
    hashes = _edge_hashes(graph.indptr, graph.indices, graph.upper, at_threshold, word(seed, PURIFY))
    keep[at_threshold[np.argsort(hashes, kind="stable")[tied:]]] = True
    return keep, tied if at_threshold.size > tied else 0


def edge_similarity(graph: Graph, measure: str, *, workers: int = 1) -> Floats:
    """Return the similarity of the ends of every edge, numbered by (u, v) with u < v.

    It is rounded to single precision, so that ties are ties on every machine. A row of zeros is
    like nothing: 0.
    """
    x, jaccard = graph.attributes, measure == "jaccard"
    if is_sparse(x):
        shrink, norms = _norms(x.indptr, x.data)
    else:
        shrink, norms = _norms(x.shape[1] * np.arange(x.shape[0] + 1), x.reshape(-1))

    def similarity(start: int) -> Floats:
        left, right = graph.ends(start, start + EDGES_AT_ONCE)
        if is_sparse(x):
            found = _sparse_similarity(x.indptr, x.indices, x.data, shrink, norms, left, right, jaccard)
        else:
            found = _dense_similarity(x, shrink, norms, left, right, jaccard)
        return np.asarray(found)

    blocks = range(0, graph.edge_count, EDGES_AT_ONCE)
    out = np.empty(graph.edge_count, dtype=np.float32)
    for start, part in zip(blocks, map_blocks(similarity, blocks, workers=workers), strict=True):
        out[start : start + part.size] = part
    return out


@compiled
def _norms(indptr: Ints, data: Floats) -> tuple[Floats, Floats]:
    rows = indptr.size - 1
    shrink = np.zeros(rows)
    norms = np.zeros(rows)
    for i in range(rows):
        shrink[i] = _shrink(data[indptr[i] : indptr[i + 1]])
        for k in range(indptr[i], indptr[i + 1]):
            norms[i] += (data[k] * shrink[i]) ** 2
    return shrink, np.sqrt(norms)


@compiled
def _shrink(row: Floats) -> float:
    # What brings the largest value of a row to 1 before anything is squared: 1e200 must not
    # overflow, nor 1e-200 vanish. A row of zeros (or of less than 1e-300) stays zero.
    peak = 0.0
    for value in row:
        peak = max(peak, abs(value))
    return 1.0 / peak if peak > 1e-300 else 0.0


@compiled
def _dense_similarity(x: Floats, shrink: Floats, norms: Floats, left: Ints, right: Ints, jaccard: bool) -> Floats:
    out = np.zeros(left.size, dtype=np.float32)
    for e in range(left.size):
        u, v = left[e], right[e]
        if shrink[u] > 0 and shrink[v] > 0:
            dot = 0.0
            for k in range(x.shape[1]):
                dot += (x[u, k] * shrink[u]) * (x[v, k] * shrink[v])
            out[e] = _measure(dot, norms[u], norms[v], jaccard)
    return out


@compiled
def _sparse_similarity(
    indptr: Ints, columns: Ints, data: Floats, shrink: Floats, norms: Floats, left: Ints, right: Ints, jaccard: bool
) -> Floats:
    out = np.zeros(left.size, dtype=np.float32)
    for e in range(left.size):
        u, v = left[e], right[e]
        if shrink[u] > 0 and shrink[v] > 0:
            dot = 0.0
            a, b = indptr[u], indptr[v]
            while a < indptr[u + 1] and b < indptr[v + 1]:
                if columns[a] < columns[b]:
                    a += 1
                elif columns[a] > columns[b]:
                    b += 1
                else:
                    dot += (data[a] * shrink[u]) * (data[b] * shrink[v])
                    a += 1
                    b += 1
            out[e] = _measure(dot, norms[u], norms[v], jaccard)
    return out


@compiled
def _measure(dot: float, left_norm: float, right_norm: float, jaccard: bool) -> float:
    if jaccard:  # on zeros and ones the dot product counts what is shared, a squared norm what is had
        return dot / (round(left_norm**2) + round(right_norm**2) - dot)
    return dot / (left_norm * right_norm)


@compiled
def _edge_hashes(indptr: Ints, indices: Ints, upper: Ints, edges: Ints, key: np.uint64) -> Ints:
    hashes = np.empty(edges.size, dtype=np.uint64)
    for k in range(edges.size):
        left, right = upper_edges(indptr, indices, upper, edges[k], edges[k] + 1)
        hashes[k] = mix(mix(key, left[0]), right[0])
    return hashes
