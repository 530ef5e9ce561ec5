"""The product with the normalised adjacency D^-1/2 (A + I) D^-1/2, never stored, only applied.

The matrix is symmetric, so the backward pass is the same product again. In training only the rows
of the nodes that were drawn are needed; the backward pass then reads only their gradients.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numba import njit

from oddhop.arrays import Floats, Ints
from oddhop.graph import Graph


@dataclass(frozen=True)
class Convolution:
    """The wiring of a network as a linear map on node vectors.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph
    >>> from oddhop.convolution import Convolution
    >>> pair = Convolution.of(Graph.from_arrays([[0], [1]], [[0.0], [1.0]]), np.float64)
    >>> pair.rows(np.array([[2.0], [4.0]]), np.array([0])).round(6).tolist()
    [[3.0]]
    """

    indptr: Ints
    indices: Ints
    weights: Floats  # 1 / sqrt(degree + 1) of every node

    @classmethod
    def of(cls, graph: Graph, dtype: type[np.floating]) -> Convolution:
        """Take the wiring of a graph."""
        return cls(graph.indptr, graph.indices, (1.0 / np.sqrt(graph.degrees + 1.0)).astype(dtype))

    def rows(self, hidden: Floats, rows: Ints) -> Floats:
        """Give the asked rows of the product."""
        out = np.empty((rows.size, hidden.shape[1]), dtype=hidden.dtype)
        _rows(self.indptr, self.indices, self.weights, hidden, rows, out)
        return out

    def spread(self, gradient: Floats, rows: Ints) -> Floats:
        """Give the product with vectors that are zero but at some rows."""
        place = np.full(self.weights.size, -1, dtype=np.int64)
        place[rows] = np.arange(rows.size)
        out = np.empty((self.weights.size, gradient.shape[1]), dtype=gradient.dtype)
        _spread(self.indptr, self.indices, self.weights, gradient, place, out)
        return out


def convolve_rows(hidden: torch.Tensor, convolution: Convolution, rows: Ints) -> torch.Tensor:
    """Give rows of the product, differentiable by ``hidden``."""
    out: torch.Tensor = _ConvolveRows.apply(hidden, convolution, rows)  # type: ignore[no-untyped-call]
    return out


class _ConvolveRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, hidden: torch.Tensor, convolution: Convolution, rows: Ints) -> torch.Tensor:
        ctx.convolution, ctx.rows = convolution, rows
        return torch.from_numpy(convolution.rows(hidden.detach().numpy(), rows))

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        gradient = np.ascontiguousarray(gradients[0].numpy())
        return torch.from_numpy(ctx.convolution.spread(gradient, ctx.rows)), None, None


@njit(cache=True, nogil=True)
def _rows(indptr: Ints, indices: Ints, weights: Floats, hidden: Floats, rows: Ints, out: Floats) -> None:
    width = hidden.shape[1]
    for k in range(rows.size):
        i = rows[k]
        for c in range(width):
            out[k, c] = weights[i] * hidden[i, c]
        for place in range(indptr[i], indptr[i + 1]):
            j = indices[place]
            for c in range(width):
                out[k, c] += weights[j] * hidden[j, c]
        for c in range(width):
            out[k, c] *= weights[i]


@njit(cache=True, nogil=True)
def _spread(indptr: Ints, indices: Ints, weights: Floats, gradient: Floats, place_of: Ints, out: Floats) -> None:
    width = gradient.shape[1]
    for i in range(weights.size):
        own = place_of[i]
        for c in range(width):
            out[i, c] = weights[i] * gradient[own, c] if own >= 0 else 0.0
        for place in range(indptr[i], indptr[i + 1]):
            j = indices[place]
            k = place_of[j]
            if k >= 0:
                for c in range(width):
                    out[i, c] += weights[j] * gradient[k, c]
        for c in range(width):
            out[i, c] *= weights[i]
