"""Attributes some rows at a time, wherever they lie: in memory, in mapped files, or as some columns of either.

Blocks begin at multiples of 65,536 rows. What is added up over them, or multiplied by a matrix, has the same bits
wherever the rows lie and whichever of them are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from oddhop.base.arrays import Floats, Ints
from oddhop.errors import GraphError
from oddhop.graph.checks import Attributes, is_sparse
from oddhop.graph.disk import Stored

ROWS_AT_ONCE = 65_536
KEPT_BYTES = 1 << 28


class AttributeRows(Protocol):
    """Attributes that are asked for some rows at a time: an array, or files behind it."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""

    def __getitem__(self, rows: slice, /) -> Any:
        """Return a block of rows, a NumPy array or a SciPy CSR array."""


@dataclass(frozen=True, eq=False)
class StoredRows:
    """The attributes of a network on disk; a block is mapped when it is asked for."""

    stored: Stored

    @property
    def shape(self) -> tuple[int, int]:
        """Nodes and columns."""
        return self.stored.manifest.nodes, len(self.stored.manifest.attribute_names)

    def __getitem__(self, rows: slice) -> Any:
        """Map a block of rows."""
        start, stop, _ = rows.indices(self.shape[0])
        return self.stored.attributes(start, stop)


@dataclass(frozen=True, eq=False)
class NodeRows:
    """The attributes of nodes that follow each other, numbered from 0."""

    x: AttributeRows
    nodes: slice

    @property
    def shape(self) -> tuple[int, int]:
        """Nodes and columns."""
        return self.nodes.stop - self.nodes.start, self.x.shape[1]

    def __getitem__(self, rows: slice) -> Any:
        """Return a block of rows."""
        start, stop, _ = rows.indices(self.shape[0])
        return self.x[self.nodes.start + start : self.nodes.start + stop]


@dataclass(frozen=True, eq=False)
class Columns:
    """Some columns of attributes; a block is copied when it is asked for."""

    x: AttributeRows
    columns: Ints

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and chosen columns."""
        return int(self.x.shape[0]), int(self.columns.size)

    def __getitem__(self, rows: slice) -> Any:
        """Return a block of rows, the chosen columns in their order."""
        chosen = self.x[rows][:, self.columns]
        if is_sparse(chosen):
            chosen.sort_indices()  # in another order sums have other bits
        return chosen


@dataclass(frozen=True, eq=False)
class Kept:
    """Rows that are asked for again and again and cost something to make: as many blocks are kept as 256 MB hold."""

    x: AttributeRows
    kept: dict[tuple[int, int], Attributes] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        return self.x.shape

    def __getitem__(self, rows: slice) -> Any:
        """Return a block of rows, made now or before."""
        start, stop, _ = rows.indices(self.x.shape[0])
        block = self.kept.get((start, stop))
        if block is None:
            block = self.x[start:stop]
            if _bytes(block) + sum(map(_bytes, self.kept.values())) <= KEPT_BYTES:
                self.kept[start, stop] = block
        return block


def _bytes(rows: Any) -> int:
    return int(rows.data.nbytes + rows.indices.nbytes + rows.indptr.nbytes if is_sparse(rows) else rows.nbytes)


def dense(rows: Any) -> Floats:
    """Return a block of rows as a float64 array."""
    return np.asarray(rows.toarray() if is_sparse(rows) else rows, dtype=np.float64)


def spans(start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Return the first row of every block from ``start`` to ``stop``, and the one behind its last."""
    for first in range(start, stop, ROWS_AT_ONCE):
        yield first, min(first + ROWS_AT_ONCE, stop)


def blocks(x: AttributeRows) -> Iterator[Any]:
    """Return all rows, block by block."""
    for first, last in spans(0, int(x.shape[0])):
        yield x[first:last]


def fill(out: Floats, start: int, nodes: int, make: Callable[[int, int], Floats]) -> None:
    """Fill ``out`` with rows from ``start`` on of what ``make`` gives for whole blocks of ``nodes`` rows."""
    stop = start + len(out)
    for first in range(start - start % ROWS_AT_ONCE, stop, ROWS_AT_ONCE):
        last = min(first + ROWS_AT_ONCE, nodes)
        out[max(first - start, 0) : last - start] = make(first, last)[max(start - first, 0) : stop - first]


def check_columns(x: AttributeRows, expected: int) -> None:
    """Refuse attributes of another number than a model was fitted on."""
    if x.shape[1] != expected:
        raise GraphError(
            f"the model was fitted on {expected} attributes, got {x.shape[1]}",
            "give the same columns in the same order",
        )
