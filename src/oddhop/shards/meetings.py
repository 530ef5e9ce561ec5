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

from oddhop.arrays import Ints
from oddhop.compiled import compiled


@dataclass(frozen=True)
class Meeting:
    """Some entries that lead to one peer. The arrays are overwritten by the next.

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
    """Give every peer that the rows of a partition lead to, with the entries that do, so many at once at most.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop.shards.meetings import by_peer
    >>> rows = np.array([0, 2, 4]), np.array([1, 3, 0, 2])
    >>> for peer, entries in by_peer(*rows, np.array([0, 2, 4]), 10):
    ...     print(peer, [(some.rows.tolist(), some.columns.tolist()) for some in entries])
    0 [([0, 1], [1, 0])]
    1 [([0, 1], [1, 0])]
    """
    return groupby(_meetings(indptr, indices, bounds, at_once), key=attrgetter("peer"))


def _meetings(indptr: Ints, indices: Ints, bounds: Ints, at_once: int) -> Iterator[Meeting]:
    cursor = indptr[:-1].astype(np.int64)
    rows, columns, places = (np.empty(at_once, dtype=np.int64) for _ in range(3))
    for peer in range(bounds.size - 1):
        row, found = 0, 0
        while row < cursor.size:
            row, found = _next_entries(
                indptr, indices, cursor, row, bounds[peer], bounds[peer + 1], rows, columns, places
            )
            if found:
                yield Meeting(peer, rows[:found], columns[:found], places[:found])


@compiled
def _next_entries(
    indptr: Ints, indices: Ints, cursor: Ints, row: int, start: int, stop: int, rows: Ints, columns: Ints, places: Ints
) -> tuple[int, int]:
    end = 0
    while row < cursor.size:
        while cursor[row] < indptr[row + 1] and indices[cursor[row]] < stop:
            if end == rows.size:
                return row, end
            rows[end] = row
            columns[end] = indices[cursor[row]] - start
            places[end] = cursor[row]
            cursor[row] += 1
            end += 1
        row += 1
    return row, end
