"""The product with the normalised adjacency D^-1/2 (A + I) D^-1/2, never stored, only taken where it is applied.

A training step asks for the rows of the nodes that were drawn, and these depend on their neighbours only. So a step
takes a block of the matrix, from memory or from mapped files alike, whatever the size of the network. What a block
is applied with stands in one function, ``product``.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from oddhop.base.arrays import Floats, Ints
from oddhop.base.kernels import compiled
from oddhop.base.randomness import NEIGHBOURS, mix, unit, word
from oddhop.graph.graph import Graph

COMPRESSED = ("cpu", "cuda")
"""Devices on which torch multiplies a compressed matrix."""
ALL = 2**62
"""More neighbours than a node has."""

with warnings.catch_warnings():  # torch says once that its compressed matrices are new
    warnings.simplefilter("ignore")
    torch.sparse_csr_tensor(torch.zeros(1, dtype=torch.int32), torch.zeros(0, dtype=torch.int32), torch.zeros(0))


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows of the normalised adjacency over a field of nodes, as a compressed matrix.

    ``turned`` is the same by columns, for the gradient.
    """

    starts: torch.Tensor
    columns: torch.Tensor
    values: torch.Tensor
    width: int
    turned: Block | None = None

    @classmethod
    def of(cls, matrix: sp.csr_array, turned: Block | None = None) -> Block:
        """Take the parts of a matrix of SciPy."""
        starts, columns, values = map(torch.from_numpy, (matrix.indptr, matrix.indices, matrix.data))
        return cls(starts, columns, values, matrix.shape[1], turned)

    def to(self, device: str) -> Block:
        """Return it on a device."""
        starts, columns, values = (part.to(device) for part in (self.starts, self.columns, self.values))
        return Block(starts, columns, values, self.width, self.turned and self.turned.to(device))

    def times(self, dense: torch.Tensor) -> torch.Tensor:
        """Return the product with a dense matrix."""
        rows = self.starts.numel() - 1
        if dense.device.type in COMPRESSED:
            return torch.sparse_csr_tensor(self.starts, self.columns, self.values, (rows, self.width)) @ dense
        owner = torch.repeat_interleave(self.starts.diff(), output_size=self.values.numel())
        out = dense.new_zeros((rows, dense.shape[1]))
        return out.index_add_(0, owner, self.values[:, None] * dense.index_select(0, self.columns))


def product(block: Block, hidden: torch.Tensor) -> torch.Tensor:
    """Return the product of a block with the vectors of its field, differentiable by them."""
    out: torch.Tensor = _Product.apply(hidden, block)  # type: ignore[no-untyped-call]
    return out


class _Product(torch.autograd.Function):
    # torch's own gradient of a compressed product turns the matrix every time, in three times the time of both products
    @staticmethod
    def forward(ctx: Any, hidden: torch.Tensor, block: Block) -> torch.Tensor:
        ctx.block = block
        return block.times(hidden)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None]:
        return ctx.block.turned.times(gradients[0].contiguous()), None


@dataclass(frozen=True)
class Convolution:
    """The wiring of a network as a linear map on node vectors.

    Of a node with more than ``most`` neighbours as many are drawn, each alike and none twice; each then stands for
    degree / most of them, so that a product over the drawn ones has the expectation of the whole. Scores are always
    computed from all.
    """

    indptr: Ints
    indices: Ints
    weights: Floats  # 1 / sqrt(degree + 1) of every node
    most: int | None = None
    seed: int = 0

    @classmethod
    def of(cls, graph: Graph, dtype: type[np.floating], *, most: int | None = None, seed: int = 0) -> Convolution:
        """Take the wiring of a graph."""
        return cls(graph.indptr, graph.indices, (1.0 / np.sqrt(graph.degrees + 1.0)).astype(dtype), most, seed)

    def block(self, rows: Ints) -> tuple[Ints, Block]:
        """Return the nodes that some rows depend on, themselves and their neighbours, and the rows over these."""
        most = ALL if self.most is None else self.most
        starts, columns, values = _entries(
            self.indptr, self.indices, rows.astype(np.int64), self.weights, most, word(self.seed, NEIGHBOURS)
        )
        seen, place = np.zeros(self.weights.size, dtype=bool), np.empty(self.weights.size, dtype=np.int32)
        seen[columns] = True
        nodes = np.flatnonzero(seen)
        place[nodes] = np.arange(nodes.size)
        matrix = sp.csr_array((values, place[columns], starts), shape=(rows.size, nodes.size))
        return nodes, Block.of(matrix, turned=Block.of(matrix.tocsc().T))

    def rows(self, start: int, stop: int, *, normalised: bool = True) -> Block:
        """Return a range of rows over all nodes and all neighbours; without norms all entries are 1."""
        weights = self.weights if normalised else np.ones_like(self.weights)
        starts, columns, values = _entries(
            self.indptr, self.indices, np.arange(start, stop), weights, ALL, np.uint64(0)
        )
        return Block.of(sp.csr_array((values, columns, starts), shape=(stop - start, weights.size)))


@compiled
def _entries(
    indptr: Ints, indices: Ints, rows: Ints, weights: Floats, most: int, key: np.uint64
) -> tuple[Ints, Ints, Floats]:
    """Return where rows begin, and their entries, a node before its neighbours: their nodes and their values."""
    degrees = indptr[rows + 1] - indptr[rows]
    starts = np.zeros(rows.size + 1, dtype=np.int32)
    starts[1:] = np.cumsum(np.minimum(degrees, most) + 1)
    columns = np.empty(starts[-1], dtype=np.int32)
    values = np.empty(columns.size, dtype=weights.dtype)
    for r in range(rows.size):
        row, degree, end = rows[r], degrees[r], starts[r]
        own, count = weights[row], starts[r + 1] - end - 1
        columns[end], values[end] = row, own * own
        for place in draw_places(degree, count, mix(key, row)):
            end += 1
            columns[end] = indices[indptr[row] + place]
            values[end] = own * weights[columns[end]] * (degree / count)
    return starts, columns, values


@compiled
def draw_places(degree: int, count: int, stream: np.uint64) -> Ints:
    """Draw ``count`` of so many places, each once, in order.

    Floyd's way: the k-th of n draws from the first (degree - n + k) places, and takes the last of
    these instead where the place was drawn before. A row of ten million costs no more than its n draws.
    """
    taken = np.arange(count)
    if count < degree:
        for k in range(count):
            last = degree - count + k
            place = np.int64(min(unit(mix(stream, k)) * (last + 1), last))
            taken[k] = last if place in taken[:k] else place
        taken.sort()
    return taken
