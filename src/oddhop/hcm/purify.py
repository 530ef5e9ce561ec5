"""Purify: drop the share of the edges whose ends are least alike. Only the hop labels see the result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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


@dataclass(frozen=True)
class LeftOut:
    """What hop labels are made without.

    Attributes
    ----------
    dropped : how many edges, floor(drop_ratio x edges).
    tied : how many of them stood at the very threshold, where a seeded hash decided.
    similarity : "cosine" or "jaccard".
    """

    dropped: int = 0
    tied: int = 0
    similarity: str = "cosine"


@dataclass(frozen=True)
class Purified:
    """The network that hop labels are taken from.

    Attributes
    ----------
    indptr, indices : the adjacency that is left; with a direction, where the arrows of a node lead.
    into : with a direction, where the arrows into a node come from, in the same form; None without, where that is
        the same.
    """

    indptr: Ints
    indices: Ints
    into: tuple[Ints, Ints] | None = None
    left_out: LeftOut = LeftOut()

    @property
    def backwards(self) -> tuple[Ints, Ints]:
        """The adjacency to search against the arrows."""
        return self.into or (self.indptr, self.indices)


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
    similarity = "jaccard" if is_binary(graph.attributes) else "cosine"
    drop = int(np.floor(drop_ratio * graph.edge_count + 1e-9))  # 0.29 x 100 is 29, not 28.999...
    keep, tied = _alike(graph, similarity, drop, seed, workers) if drop else (np.ones(graph.edge_count, dtype=bool), 0)
    left_out = LeftOut(drop, tied, similarity)
    if directed:
        return Purified(*_arrow_rows(graph, keep), left_out)
    if drop == 0:
        return Purified(graph.indptr, graph.indices, None, left_out)
    return Purified(*keep_edges(graph.indptr, graph.indices, graph.upper, keep), None, left_out)


def _arrow_rows(graph: Graph, keep: Bools) -> tuple[Ints, Ints, tuple[Ints, Ints]]:
    """Return the arrows of the marked edges by the node that they leave, and by the node that they reach."""
    left, right = (end[keep] for end in graph.ends(0, graph.edge_count))
    forward, backward = (arrows(graph)[keep] & way > 0 for way in (FORWARD, BACKWARD))
    tails = np.concatenate([left[forward], right[backward]])
    heads = np.concatenate([right[forward], left[backward]])
    matrix = sp.csr_array((np.ones(tails.size, dtype=np.int8), (tails, heads)), shape=2 * (graph.node_count,))
    out, into = (
        (rows.indptr.astype(np.int64), rows.indices.astype(index_dtype(graph.node_count)))
        for rows in (matrix, matrix.T.tocsr())
    )
    return *out, into


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
    x: Any = graph.attributes
    dense = not is_sparse(x)
    starts = x.shape[1] * np.arange(x.shape[0] + 1) if dense else x.indptr
    columns, values = (np.empty(0, dtype=np.int32), x.reshape(-1)) if dense else (x.indices, x.data)
    shrink, norms = _norms(starts, values)

    def similarity(start: int) -> Floats:
        ends, jaccard = graph.ends(start, start + EDGES_AT_ONCE), measure == "jaccard"
        return np.asarray(_similarity(starts, columns, values, dense, shrink, norms, *ends, jaccard))

    blocks = range(0, graph.edge_count, EDGES_AT_ONCE)
    out = np.empty(graph.edge_count, dtype=np.float32)
    for start, part in zip(blocks, map_blocks(similarity, blocks, workers=workers), strict=True):
        out[start : start + part.size] = part
    return out


@compiled
def _norms(starts: Ints, values: Floats) -> tuple[Floats, Floats]:
    """Return what brings the largest value of each row to 1, and the norm of the row after that.

    Before anything is squared: 1e200 must not overflow, nor 1e-200 vanish. A row of zeros (or of less than 1e-300)
    stays zero.
    """
    shrink, norms = np.zeros(starts.size - 1), np.zeros(starts.size - 1)
    for i in range(shrink.size):
        peak = 0.0
        for k in range(starts[i], starts[i + 1]):
            peak = max(peak, abs(values[k]))
        shrink[i] = 1.0 / peak if peak > 1e-300 else 0.0
        for k in range(starts[i], starts[i + 1]):
            norms[i] += (values[k] * shrink[i]) ** 2
    return shrink, np.sqrt(norms)


@compiled
def _similarity(
    starts: Ints,
    columns: Ints,
    values: Floats,
    dense: bool,
    shrink: Floats,
    norms: Floats,
    left: Ints,
    right: Ints,
    jaccard: bool,
) -> Floats:
    """Return the similarity of pairs of rows; in dense ones every column has a value."""
    out = np.zeros(left.size, dtype=np.float32)
    for e in range(left.size):
        u, v = left[e], right[e]
        if shrink[u] == 0 or shrink[v] == 0:
            continue
        dot, a, b = 0.0, starts[u], starts[v]
        while a < starts[u + 1] and b < starts[v + 1]:
            if dense or columns[a] == columns[b]:
                dot += (values[a] * shrink[u]) * (values[b] * shrink[v])
                a += 1
                b += 1
            elif columns[a] < columns[b]:
                a += 1
            else:
                b += 1
        if jaccard:  # on zeros and ones the dot product counts what is shared, a squared norm what is had
            out[e] = dot / (round(norms[u] ** 2) + round(norms[v] ** 2) - dot)
        else:
            out[e] = dot / (norms[u] * norms[v])
    return out


@compiled
def _edge_hashes(indptr: Ints, indices: Ints, upper: Ints, edges: Ints, key: np.uint64) -> Ints:
    hashes = np.empty(edges.size, dtype=np.uint64)
    for k in range(edges.size):
        left, right = upper_edges(indptr, indices, upper, edges[k], edges[k] + 1)
        hashes[k] = mix(mix(key, left[0]), right[0])
    return hashes
