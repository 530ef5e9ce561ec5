"""The entries of a partition's rows, peer by peer: those that lead to the first partition, then to the second, ...

Rows are sorted, so within a row that is the order in which they stand: sums taken along the way have the
bits of sums along the row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

import numpy as np

from oddhop.base.arrays import Ints
from oddhop.base.kernels import compiled
from oddhop.graph.adjacency import index_dtype


@dataclass(frozen=True)
class Meeting:
    """Some entries that lead to one peer.

    Attributes
    ----------
    peer : the partition that they lead to.
    rows : whose entries they are, counted from the beginning of the own partition.
    columns : whom they lead to, counted from the beginning of the peer.
    places : where they stand among the entries of the own partition.
    """

    peer: int
    rows: Ints
    columns: Ints
    places: Ints


def by_peer(indptr: Ints, indices: Ints, bounds: Ints, at_once: int) -> Iterator[tuple[int, Iterator[Meeting]]]:
    """Return every peer that the rows of a partition lead to, with the entries that do, so many at once at most.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop.partitions.cross_edges import by_peer
    >>> rows = np.array([0, 2, 4]), np.array([1, 3, 0, 2])
    >>> for peer, entries in by_peer(*rows, np.array([0, 2, 4]), 10):
    ...     print(peer, [(some.rows.tolist(), some.columns.tolist()) for some in entries])
    0 [([0, 1], [1, 0])]
    1 [([0, 1], [1, 0])]
    """
    return groupby(_meetings(indptr, indices, bounds, at_once), key=attrgetter("peer"))


def _meetings(indptr: Ints, indices: Ints, bounds: Ints, at_once: int) -> Iterator[Meeting]:
    starts, rows, places = _sorted_by_peer(indptr, indices, bounds)
    for peer in range(bounds.size - 1):
        for first in range(starts[peer], starts[peer + 1], at_once):
            some = slice(first, min(first + at_once, starts[peer + 1]))
            here = places[some].astype(np.int64)
            yield Meeting(peer, rows[some].astype(np.int64), indices[here] - bounds[peer], here)


def _sorted_by_peer(indptr: Ints, indices: Ints, bounds: Ints) -> tuple[Ints, Ints, Ints]:
    """Return where the entries to each peer begin, and the row and the place of every entry in that order."""
    rows, places = (np.empty(indices.size, dtype=index_dtype(indices.size)) for _ in range(2))
    starts = np.zeros(bounds.size, dtype=np.int64)
    _sort(indptr, indices, bounds, starts, rows, places)
    return starts, rows, places


@compiled
def _sort(indptr: Ints, indices: Ints, bounds: Ints, starts: Ints, rows: Ints, places: Ints) -> None:
    """Sort by counting; a row ascends, so its peers do."""
    for count in (True, False):
        for row in range(indptr.size - 1):
            peer = -1
            for place in range(indptr[row], indptr[row + 1]):
                if peer < 0 or indices[place] >= bounds[peer + 1]:
                    peer = np.searchsorted(bounds, indices[place], side="right") - 1
                if count:
                    starts[peer + 1] += 1
                else:
                    rows[starts[peer]] = row
                    places[starts[peer]] = place
                    starts[peer] += 1
        if count:
            for peer in range(1, starts.size):
                starts[peer] += starts[peer - 1]
    for peer in range(starts.size - 1, 0, -1):  # each was moved to the beginning of the next
        starts[peer] = starts[peer - 1]
    starts[0] = 0
