"""The product with the normalised adjacency D^-1/2 (A + I) D^-1/2, never stored, only applied.

A training step asks for the rows of the nodes that were drawn, and these depend on their
neighbours only. So a step works on that field of nodes, whatever the size of the network, and its
gradient is the exact one. The matrix is symmetric: the backward pass reads the same rows again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from oddhop.base.arrays import Floats, Ints
from oddhop.base.kernels import compiled
from oddhop.graph.adjacency import index_dtype
from oddhop.graph.graph import Graph

ENTRIES_AT_ONCE = 2_048  # so that their hidden vectors stay in the cache


@dataclass(frozen=True)
class Field:
    """Some nodes in ascending order, and the place of every node of the network among them (or -1)."""

    nodes: Ints
    place: Ints


@dataclass(frozen=True)
class Convolution:
    """The wiring of a network as a linear map on node vectors.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph
    >>> from oddhop.hcm.convolution import Convolution
    >>> path = Convolution.of(Graph.from_arrays([[0, 1], [1, 2]], [[0.0], [1.0], [2.0]]), np.float64)
    >>> path.rows(np.array([[2.0], [4.0], [0.0]]), np.array([0])).round(3).tolist()
    [[2.633]]
    >>> path.field(np.array([0])).nodes.tolist()
    [0, 1]
    """

    indptr: Ints
    indices: Ints
    weights: Floats  # 1 / sqrt(degree + 1) of every node
    stand_for: Floats  # how many neighbours each of a row's neighbours stands for: 1, but where they were sampled

    @classmethod
    def of(cls, graph: Graph, dtype: type[np.floating]) -> Convolution:
        """Take the wiring of a graph."""
        weights = (1.0 / np.sqrt(graph.degrees + 1.0)).astype(dtype)
        return cls(graph.indptr, graph.indices, weights, np.ones_like(weights))

    @property
    def everywhere(self) -> Field:
        """The field of all nodes."""
        every = np.arange(self.weights.size, dtype=index_dtype(self.weights.size))
        return Field(every, every)

    def field(self, rows: Ints) -> Field:
        """Return the nodes that some rows of the product depend on: themselves and their neighbours."""
        nodes, place = _closed_neighbourhood(self.indptr, self.indices, rows)
        return Field(nodes, place)

    def rows(self, hidden: Floats, rows: Ints, field: Field | None = None) -> Floats:
        """Return some rows of the product with vectors of a field that holds all they depend on."""
        out = np.empty((rows.size, hidden.shape[1]), dtype=hidden.dtype)
        place = (field or self.everywhere).place
        _gather(self.indptr, self.indices, self.weights, self.stand_for, place, hidden, rows, out)
        return out

    def rows_of_first(self, convolved: Floats, layer: Floats, start: int, stop: int) -> Floats:
        """Return a range of rows of the product with relu(convolved @ layer), which is never kept as a whole.

        The hidden vectors of the neighbours are computed again for every edge, a few thousand at a time. On a large
        network that costs about what reading them from memory would, and takes none.
        """
        narrow, wide = torch.from_numpy(convolved), torch.from_numpy(layer)
        own = torch.relu_(narrow[start:stop] @ wide).numpy()
        out = own * (self.weights[start:stop] / self.stand_for[start:stop])[:, None]
        for first in range(int(self.indptr[start]), int(self.indptr[stop]), ENTRIES_AT_ONCE):
            last = min(first + ENTRIES_AT_ONCE, int(self.indptr[stop]))
            seen = _rows_at(convolved, self.indices[first:last])
            hidden = torch.relu_(torch.from_numpy(seen) @ wide).numpy()
            _add_entries(self.indptr, self.indices, self.weights, start, first, last, hidden, out)
        out *= (self.weights[start:stop] * self.stand_for[start:stop])[:, None]
        return np.asarray(out)

    def spread(self, gradient: Floats, rows: Ints, field: Field) -> Floats:
        """Return the product of the transpose: the gradient by the field's vectors."""
        out = np.empty((field.nodes.size, gradient.shape[1]), dtype=gradient.dtype)
        _spread(self.indptr, self.indices, self.weights, self.stand_for, field.place, gradient, rows, out)
        return out


def convolve(hidden: torch.Tensor, convolution: Convolution, field: Field, rows: Ints) -> torch.Tensor:
    """Return some rows of the product, differentiable by ``hidden``, the vectors of the field."""
    out: torch.Tensor = _Convolve.apply(hidden, convolution, field, rows)  # type: ignore[no-untyped-call]
    return out


class _Convolve(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, hidden: torch.Tensor, convolution: Convolution, field: Field, rows: Ints) -> torch.Tensor:
        ctx.convolution, ctx.field, ctx.rows = convolution, field, rows
        return torch.from_numpy(convolution.rows(hidden.detach().numpy(), rows, field))

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None, None, None]:
        gradient = np.ascontiguousarray(gradients[0].numpy())
        return torch.from_numpy(ctx.convolution.spread(gradient, ctx.rows, ctx.field)), None, None, None


@compiled
def _closed_neighbourhood(indptr: Ints, indices: Ints, rows: Ints) -> tuple[Ints, Ints]:
    place = np.full(indptr.size - 1, -1, dtype=indices.dtype)
    size = 0
    for i in rows:
        size += place[i] == -1
        place[i] = 0
        for k in range(indptr[i], indptr[i + 1]):
            size += place[indices[k]] == -1
            place[indices[k]] = 0
    nodes = np.empty(size, dtype=indices.dtype)
    end = 0
    for i in range(place.size):
        if place[i] == 0:
            place[i] = end
            nodes[end] = i
            end += 1
    return nodes, place


@compiled
def _gather(
    indptr: Ints,
    indices: Ints,
    weights: Floats,
    stand_for: Floats,
    place: Ints,
    hidden: Floats,
    rows: Ints,
    out: Floats,
) -> None:
    width = hidden.shape[1]
    for k in range(rows.size):
        i = rows[k]
        own, share = place[i], weights[i] / stand_for[i]
        for c in range(width):
            out[k, c] = share * hidden[own, c]
        # Four neighbours at a time: the row is written a quarter as often, and the sum has the same order.
        p, end = indptr[i], indptr[i + 1]
        while p + 4 <= end:
            a, b, d, e = indices[p], indices[p + 1], indices[p + 2], indices[p + 3]
            wa, wb, wd, we = weights[a], weights[b], weights[d], weights[e]
            a, b, d, e = place[a], place[b], place[d], place[e]
            for c in range(width):
                out[k, c] = out[k, c] + wa * hidden[a, c] + wb * hidden[b, c] + wd * hidden[d, c] + we * hidden[e, c]
            p += 4
        for q in range(p, end):
            share, other = weights[indices[q]], place[indices[q]]
            for c in range(width):
                out[k, c] += share * hidden[other, c]
        for c in range(width):
            out[k, c] *= weights[i] * stand_for[i]


@compiled
def _rows_at(vectors: Floats, places: Ints) -> Floats:
    out = np.empty((places.size, vectors.shape[1]), dtype=vectors.dtype)
    for k in range(places.size):
        for c in range(vectors.shape[1]):
            out[k, c] = vectors[places[k], c]
    return out


@compiled
def _add_entries(
    indptr: Ints, indices: Ints, weights: Floats, start: int, first: int, last: int, hidden: Floats, out: Floats
) -> None:
    # Entries first to last of the compressed rows; ``out`` begins with row ``start``.
    row = np.searchsorted(indptr, first, side="right") - 1
    for p in range(first, last):
        while indptr[row + 1] <= p:
            row += 1
        weight = weights[indices[p]]
        for c in range(hidden.shape[1]):
            out[row - start, c] += weight * hidden[p - first, c]


@compiled
def _spread(
    indptr: Ints,
    indices: Ints,
    weights: Floats,
    stand_for: Floats,
    place: Ints,
    gradient: Floats,
    rows: Ints,
    out: Floats,
) -> None:
    # The entries of the rows are sorted by the node that they lead to. Each vector of the result is then written
    # from beginning to end, which takes half the time of adding to vectors here and there.
    starts = np.zeros(out.shape[0] + 1, dtype=np.int64)
    for i in rows:
        starts[place[i] + 1] += 1
        for p in range(indptr[i], indptr[i + 1]):
            starts[place[indices[p]] + 1] += 1
    for node in range(out.shape[0]):
        starts[node + 1] += starts[node]
    sources, shares = np.empty(starts[-1], dtype=indices.dtype), np.empty(starts[-1], dtype=weights.dtype)
    ends = starts[:-1].copy()
    for k in range(rows.size):
        i = rows[k]
        own, scale = place[i], weights[i] * stand_for[i]
        sources[ends[own]], shares[ends[own]] = k, weights[i] * weights[i]
        ends[own] += 1
        for p in range(indptr[i], indptr[i + 1]):
            other = place[indices[p]]
            sources[ends[other]], shares[ends[other]] = k, scale * weights[indices[p]]
            ends[other] += 1
    width = gradient.shape[1]
    for node in range(out.shape[0]):
        for c in range(width):
            out[node, c] = 0.0
        p, end = starts[node], starts[node + 1]
        while p + 4 <= end:
            a, b, d, e = sources[p], sources[p + 1], sources[p + 2], sources[p + 3]
            wa, wb, wd, we = shares[p], shares[p + 1], shares[p + 2], shares[p + 3]
            for c in range(width):
                out[node, c] = (
                    out[node, c] + wa * gradient[a, c] + wb * gradient[b, c] + wd * gradient[d, c] + we * gradient[e, c]
                )
            p += 4
        for q in range(p, end):
            source, share = sources[q], shares[q]
            for c in range(width):
                out[node, c] += share * gradient[source, c]
