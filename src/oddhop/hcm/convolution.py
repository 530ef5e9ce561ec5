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

with warnings.catch_warnings():  # torch says once that its compressed matrices are new
    warnings.simplefilter("ignore")
    torch.sparse_csr_tensor(torch.zeros(1, dtype=torch.int32), torch.zeros(0, dtype=torch.int32), torch.zeros(0))


@dataclass(frozen=True, eq=False)
class Compressed:
    """A sparse matrix in compressed rows."""

    indptr: torch.Tensor
    columns: torch.Tensor
    values: torch.Tensor
    width: int

    @classmethod
    def of(cls, matrix: sp.csr_array) -> Compressed:
        """Take the parts of a matrix of SciPy."""
        indptr, columns, values = map(torch.from_numpy, (matrix.indptr, matrix.indices, matrix.data))
        return cls(indptr, columns, values, matrix.shape[1])

    def to(self, device: str) -> Compressed:
        """Return it on a device."""
        return Compressed(self.indptr.to(device), self.columns.to(device), self.values.to(device), self.width)

    def times(self, dense: torch.Tensor) -> torch.Tensor:
        """Return the product with a dense matrix."""
        rows = self.indptr.numel() - 1
        if dense.device.type in COMPRESSED:
            return torch.sparse_csr_tensor(self.indptr, self.columns, self.values, (rows, self.width)) @ dense
        owner = torch.repeat_interleave(self.indptr.diff(), output_size=self.values.numel())
        out = dense.new_zeros((rows, dense.shape[1]))
        return out.index_add_(0, owner, self.values[:, None] * dense.index_select(0, self.columns))


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows of the normalised adjacency over a field of nodes, and the same by columns for the gradient."""

    rows: Compressed
    columns: Compressed

    def to(self, device: str) -> Block:
        """Return it on a device."""
        return Block(self.rows.to(device), self.columns.to(device))


def product(block: Block, hidden: torch.Tensor) -> torch.Tensor:
    """Return the product of a block with the vectors of its field, differentiable by them."""
    out: torch.Tensor = _Product.apply(hidden, block)  # type: ignore[no-untyped-call]
    return out


class _Product(torch.autograd.Function):
    # torch's own gradient of a compressed product turns the matrix every time, in three times the time of both products
    @staticmethod
    def forward(ctx: Any, hidden: torch.Tensor, block: Block) -> torch.Tensor:
        ctx.block = block
        return block.rows.times(hidden)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None]:
        return ctx.block.columns.times(gradients[0].contiguous()), None


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
        rows = rows.astype(np.int64)
        degrees = self.indptr[rows + 1] - self.indptr[rows]
        counts = degrees if self.most is None else np.minimum(degrees, self.most)
        drawn = draw_neighbours(self.indptr, self.indices, rows, counts, word(self.seed, NEIGHBOURS))
        seen, place = np.zeros(self.weights.size, dtype=bool), np.empty(self.weights.size, dtype=np.int32)
        seen[rows], seen[drawn] = True, True
        nodes = np.flatnonzero(seen)
        place[nodes] = np.arange(nodes.size)
        values, columns, indptr = _rows(rows, counts, degrees, drawn, self.weights)
        matrix = sp.csr_array((values, place[columns], indptr), shape=(rows.size, nodes.size))
        return nodes, Block(Compressed.of(matrix), Compressed.of(matrix.tocsc().T))

    def rows(self, start: int, stop: int, *, normalised: bool = True) -> Compressed:
        """Return a range of rows over all nodes and all neighbours; without norms all entries are 1."""
        degrees = np.diff(self.indptr[start : stop + 1])
        neighbours = self.indices[self.indptr[start] : self.indptr[stop]]
        weights = self.weights if normalised else np.ones_like(self.weights)
        arrays = _rows(np.arange(start, stop), degrees, degrees, neighbours, weights)
        return Compressed.of(sp.csr_array(arrays, shape=(stop - start, weights.size)))


@compiled
def draw_neighbours(indptr: Ints, indices: Ints, rows: Ints, counts: Ints, key: np.uint64) -> Ints:
    """Draw ``counts`` neighbours of every row, each once; the draw of a row depends on its number alone.

    Floyd's way: the k-th of n draws from the first (degree - n + k) places, and takes the last of
    these instead where the place was drawn before. A row of ten million costs no more than its n draws.
    """
    out = np.empty(counts.sum(), dtype=indices.dtype)
    end = 0
    for r in range(rows.size):
        start, degree = indptr[rows[r]], indptr[rows[r] + 1] - indptr[rows[r]]
        n = counts[r]
        taken = np.arange(n)
        if degree > n:
            stream = mix(key, rows[r])
            for k in range(n):
                last = degree - n + k
                place = min(np.int64(unit(mix(stream, k)) * (last + 1)), last)
                for before in range(k):
                    if taken[before] == place:
                        place = last
                        break
                taken[k] = place
            taken.sort()
        for k in range(n):
            out[end + k] = indices[start + taken[k]]
        end += n
    return out


@compiled
def _rows(rows: Ints, counts: Ints, degrees: Ints, drawn: Ints, weights: Floats) -> tuple[Floats, Ints, Ints]:
    """Return the entries of rows, a node before its neighbours: their values, their nodes, and where rows begin."""
    indptr = np.zeros(rows.size + 1, dtype=np.int32)
    columns = np.empty(rows.size + drawn.size, dtype=np.int32)
    values = np.empty(columns.size, dtype=weights.dtype)
    end, read = 0, 0
    for r in range(rows.size):
        own = weights[rows[r]]
        columns[end], values[end] = rows[r], own * own
        end += 1
        for _ in range(counts[r]):
            columns[end] = drawn[read]
            values[end] = own * weights[drawn[read]] * (degrees[r] / counts[r])
            end += 1
            read += 1
        indptr[r + 1] = end
    return values, columns, indptr
