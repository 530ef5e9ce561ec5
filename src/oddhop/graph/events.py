"""Events: the rows of an edge table one by one, with direction, time, amounts and kinds, beside the adjacency."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from oddhop.base.arrays import Floats, Ints, frozen
from oddhop.errors import GraphError
from oddhop.graph.adjacency import index_dtype

NO_TIME = np.iinfo(np.int64).min
NO_KIND = -1
SECOND = 1_000_000
HOUR, DAY = 3_600 * SECOND, 86_400 * SECOND
ARRAYS = ("indptr", "partners", "times", "amounts", "kinds")


@dataclass(frozen=True)
class EventColumns:
    """The names of the columns of events, and the levels of their categories.

    Attributes
    ----------
    directed : whether an event goes from one end to the other; otherwise both ends are alike.
    time : the name of the column of times, or None.
    amounts : the names of the columns of amounts.
    kinds : the names of the columns of kinds.
    levels : for every column of kinds its values, in the order of their codes.
    """

    directed: bool = True
    time: str | None = None
    amounts: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    levels: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, eq=False)
class Events:
    """The events of every node, each event once at either end.

    Row 2 i has what node i sent and row 2 i + 1 what it received, in the order of time, partner, amounts and kinds.
    Where events have no direction, row 2 i has all of them and row 2 i + 1 none.

    Attributes
    ----------
    columns : what the columns are called.
    indptr : where the rows begin, (2 nodes + 1,).
    partners : the node at the other end.
    times : microseconds since 1970, ``NO_TIME`` where it is missing; empty without a column of times.
    amounts : (entries, columns), NaN where it is missing.
    kinds : (entries, columns), codes, ``NO_KIND`` where it is missing.
    """

    columns: EventColumns
    indptr: Ints
    partners: Ints
    times: Ints
    amounts: Floats
    kinds: Ints

    @classmethod
    def of_arcs(cls, sources: Ints, targets: Ints, nodes: int) -> Events:
        """Return edges that have a direction and nothing else as events; loops are left out.

        Examples
        --------
        >>> import numpy as np
        >>> from oddhop.graph.events import Events
        >>> events = Events.of_arcs(np.array([0, 2, 1]), np.array([1, 1, 1]), 3)
        >>> events.indptr.tolist(), events.partners.tolist()
        ([0, 1, 1, 1, 3, 4, 4], [1, 0, 2, 1])
        """
        apart = sources != targets
        sources, targets = sources[apart].astype(np.int64), targets[apart].astype(np.int64)
        rows, partners = np.concatenate([2 * sources, 2 * targets + 1]), np.concatenate([targets, sources])
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=2 * nodes))])
        return cls(
            columns=EventColumns(),
            indptr=frozen(indptr),
            partners=frozen(partners[np.lexsort((partners, rows))].astype(index_dtype(nodes))),
            times=frozen(np.empty(0, dtype=np.int64)),
            amounts=frozen(np.empty((rows.size, 0))),
            kinds=frozen(np.empty((rows.size, 0), dtype=np.int16)),
        )

    @property
    def node_count(self) -> int:
        """The number of nodes."""
        return (self.indptr.size - 1) // 2

    @property
    def event_count(self) -> int:
        """The number of events."""
        return self.partners.size // 2

    def of_nodes(self, start: int, stop: int) -> Events:
        """Return the events of some nodes, which are then numbered from 0; their partners keep their numbers.

        Examples
        --------
        >>> import numpy as np
        >>> from oddhop.graph.events import EventColumns, Events
        >>> none = np.empty((2, 0))
        >>> events = Events(EventColumns(), np.array([0, 1, 1, 1, 2]), np.array([1, 0]), np.empty(0), none, none)
        >>> events.of_nodes(1, 2).indptr.tolist()
        [0, 0, 1]
        """
        rows = self.indptr[2 * start : 2 * stop + 1]
        first, last = int(rows[0]), int(rows[-1])
        return replace(
            self,
            indptr=rows - first,
            partners=self.partners[first:last],
            times=self.times[first:last],
            amounts=self.amounts[first:last],
            kinds=self.kinds[first:last],
        )

    def first_times(self) -> Floats:
        """Return the time of every node's first event, NaN where it has none with a time."""
        moments = np.where(self.times == NO_TIME, np.inf, self.times.astype(np.float64))
        rows = self.indptr[::2]
        first = np.minimum.reduceat(np.append(moments, np.inf), rows[:-1])
        return np.where((np.diff(rows) > 0) & np.isfinite(first), first, np.nan)

    def arrays(self) -> Iterator[tuple[str, npt.NDArray[np.generic]]]:
        """Return the arrays by name."""
        return ((name, getattr(self, name)) for name in ARRAYS)

    def check(self, nodes: int, where: str) -> None:
        """Raise an error if the arrays do not match or name a node that does not exist."""
        entries = self.partners.size
        fits = (
            self.indptr.shape == (2 * nodes + 1,)
            and self.indptr[0] == 0
            and self.indptr[-1] == entries
            and not (np.diff(self.indptr) < 0).any()
            and self.times.shape == ((entries,) if self.columns.time is not None else (0,))
            and self.amounts.shape == (entries, len(self.columns.amounts))
            and self.kinds.shape == (entries, len(self.columns.kinds))
            and (not entries or (self.partners.min() >= 0 and self.partners.max() < nodes))
            and all(
                not entries or (self.kinds[:, k].min() >= NO_KIND and self.kinds[:, k].max() < len(levels))
                for k, levels in enumerate(self.columns.levels)
            )
            and len(self.columns.levels) == len(self.columns.kinds)
        )
        if not fits:
            raise GraphError(f"the events of {where} are damaged", "restore it from a copy or ingest again")
