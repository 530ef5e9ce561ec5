"""The columns that events give to nodes: their names, what they mean, and their values.

Every time is relative to the node's own events. When something happened, and ids, never become a column: they give
labels away in sampled data, and mean nothing next month.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from oddhop.base.arrays import Floats
from oddhop.errors import TableError
from oddhop.graph.events import EventColumns, Events
from oddhop.tables.flows.kernels import (
    count_mutual,
    count_partners,
    pass_through,
    share_kinds,
    spread_in_time,
    sum_amounts,
)

NODES_AT_ONCE = 65_536
LARGEST = 1e300


@dataclass(frozen=True)
class FlowColumn:
    """A column of nodes that is made from events.

    Attributes
    ----------
    name : as in results and explanations.
    meaning : a sentence for people.
    skewed : whether its values range over orders of magnitude, so that their logarithms are compared.
    share_of : for a share of events, the columns that count these events.
    """

    name: str
    meaning: str
    skewed: bool = True
    share_of: tuple[str, ...] = ()


def flow_columns(events: EventColumns) -> tuple[FlowColumn, ...]:
    """Return the columns, in the order of :func:`flow_values`.

    Examples
    --------
    >>> from oddhop.graph.events import EventColumns
    >>> from oddhop.tables.flows import flow_columns
    >>> [one.name for one in flow_columns(EventColumns(directed=False))]
    ['events', 'partners', 'largest partner share', 'events per partner']
    """
    return tuple(_listed(events))


@dataclass(frozen=True, eq=False)
class Flows:
    """The values of the flow columns of all nodes, in memory once; ``kinds`` of nodes, if there are several."""

    columns: EventColumns
    values: Floats
    kinds: tuple[str, ...] = ()

    @property
    def names(self) -> dict[str, int]:
        """The columns by name, under the name of every kind where there are several."""
        bare = [one.name for one in flow_columns(self.columns)]
        return {f"{kind}.{name}" if kind else name: k for kind in self.kinds or ("",) for k, name in enumerate(bare)}

    def column(self, name: str) -> pa.ChunkedArray:
        """Return one column whole."""
        return pa.chunked_array([pa.array(np.ascontiguousarray(self.values[:, self.names[name]]))])

    def beside(self, table: pa.Table, start: int, stop: int) -> pa.Table:
        """Append the columns to a table of some nodes."""
        columns = [pa.array(np.ascontiguousarray(column[start:stop])) for column in self.values.T]
        for name, k in self.names.items():
            table = table.append_column(name, columns[k])
        return table

    def check(self, own: Sequence[str]) -> None:
        """Refuse a node table that has a column by the name of a flow column."""
        taken = [one.name for one in flow_columns(self.columns) if one.name in own]
        if taken:
            raise TableError(
                f"the node table has a column {taken[0]!r}, which is also the name of a column made from events",
                "rename it, or set flows=False",
                command="rename it, or give --no-flows",
            )


def flow_values(events: Events) -> Floats:
    """Return the value of every column for every node, NaN if a node has no such event, or too few for the column.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop.graph.events import EventColumns, Events
    >>> from oddhop.tables.flows import flow_values
    >>> none = np.empty((2, 0))
    >>> columns = EventColumns(directed=False)
    >>> events = Events(columns, np.array([0, 1, 1, 2, 2]), np.array([1, 0]), np.empty(0, np.int64), none, none)
    >>> flow_values(events).tolist()
    [[1.0, 1.0, nan, 1.0], [1.0, 1.0, nan, 1.0]]
    """
    nodes = events.node_count
    with np.errstate(over="ignore", invalid="ignore"):  # sums beyond what a float holds are held at LARGEST
        blocks = [
            np.column_stack(list(_computed(events.of_nodes(start, min(start + NODES_AT_ONCE, nodes)))))
            for start in range(0, nodes, NODES_AT_ONCE)
        ]
    return np.asarray(np.clip(np.concatenate(blocks), -LARGEST, LARGEST))


def _listed(events: EventColumns) -> Iterator[FlowColumn]:
    sides = (("out", "sent", "to"), ("in", "received", "from")) if events.directed else (("", "has", "events with"),)
    every = tuple(f"events {side}".strip() for side, _, _ in sides)
    for count, (side, verb, whom) in zip(every, sides, strict=True):
        yield FlowColumn(count, f"how many events it {verb}")
        yield FlowColumn(f"partners {side}".strip(), f"how many different nodes it {verb} {whom}")
        share = "the share of these events with the commonest partner, if there are at least two"
        yield FlowColumn(f"largest partner share {side}".strip(), share, skewed=False, share_of=(count,))
    yield FlowColumn("events per partner", "events divided by partners")
    if events.directed:
        meaning = "the share of its partners that it both sent to and received from"
        yield FlowColumn("mutual partner share", meaning, skewed=False)
    for amount in events.amounts:
        for count, (side, verb, _) in zip(every, sides, strict=True):
            where = f"{amount} {side}".strip()
            yield FlowColumn(f"{where} sum", f"the sum of {amount} that it {verb}")
            yield FlowColumn(f"{where} mean", f"the mean {amount} of the events that it {verb}")
            yield FlowColumn(f"{where} median", f"the median {amount} of the events that it {verb}")
            yield FlowColumn(f"{where} largest", f"the largest {amount} of the events that it {verb}")
            meaning = f"the share of the events that it {verb} whose {amount} has at most two significant digits"
            yield FlowColumn(f"{where} share of round amounts", meaning, skewed=False, share_of=(count,))
        if events.directed:
            meaning = f"(received - sent) / (received + sent), by the sums of {amount}"
            yield FlowColumn(f"{amount} balance", meaning, skewed=False)
    if events.time is not None:
        yield FlowColumn("days active", "days from its first event to its last")
        yield FlowColumn("median gap hours", "the median time between one of its events and the next")
        shares = {
            "largest share in an hour": "the largest share of its events within one hour, if at least two have a time",
            "largest share in a day": "the largest share of its events within 24 hours, if at least two have a time",
            "night share": "the share of its events from 0 to 6 h (UTC)",
            "weekend share": "the share of its events on Saturday or Sunday (UTC)",
        }
        for name, meaning in shares.items():
            yield FlowColumn(name, meaning, skewed=False, share_of=every)
    if events.time is not None and events.directed:
        yield FlowColumn("hours from in to out", "the median time from an event received to the next one sent")
        what = f"of the {events.amounts[0]} received" if events.amounts else "of the events received"
        meaning = f"the share {what} that it sent on within 24 hours"
        yield FlowColumn("passed on in a day", meaning, skewed=False, share_of=every[1:])
    for kind, levels in zip(events.kinds, events.levels, strict=True):
        for level in levels:
            meaning = f"the share of its events with {kind} {level!r}"
            yield FlowColumn(f"{kind}={level} share", meaning, skewed=False, share_of=every)
        yield FlowColumn(f"{kind} values", f"how many different values of {kind} its events have")


def _computed(events: Events) -> Iterator[Floats]:
    """Return the values of some columns at a time, in the order of ``_listed``."""
    nodes, rows = events.node_count, 2 * events.node_count
    directed = events.columns.directed
    counts = np.empty((rows, 3))
    count_partners(events.indptr, events.partners, counts)
    counts[counts[:, 0] < 2, 2] = np.nan  # of one event, the share with the commonest partner is always 1
    yield _by_side(counts, directed)
    mutual = np.zeros(nodes)
    if directed:
        count_mutual(events.indptr, events.partners, mutual)
    both = counts.reshape(nodes, 2, 3)[:, :, :2].sum(axis=1)
    partners = both[:, 1] - mutual
    yield _divided(both[:, 0], partners)
    if directed:
        yield _divided(mutual, partners)
    for k in range(events.amounts.shape[1]):
        sums = np.empty((rows, 5))
        sum_amounts(events.indptr, np.ascontiguousarray(events.amounts[:, k]), sums)
        yield _by_side(sums, directed)
        if directed:
            sent, received = sums[::2, 0], sums[1::2, 0]
            yield _divided(received - sent, np.abs(received) + np.abs(sent))
    if events.columns.time is not None:
        spread = np.empty((nodes, 6))
        spread_in_time(events.indptr, events.times, spread)
        spread[np.isnan(spread[:, 1]), 2:4] = np.nan  # one event, so without a gap, is always within one hour
        yield spread
    if events.columns.time is not None and directed:
        moved = events.amounts[:, 0] if events.columns.amounts else np.ones(events.partners.size)
        passed = np.empty((nodes, 2))
        pass_through(events.indptr, events.times, np.ascontiguousarray(moved), passed)
        yield passed
    for k, levels in enumerate(events.columns.levels):
        shares = np.empty((nodes, len(levels) + 1))
        share_kinds(events.indptr, np.ascontiguousarray(events.kinds[:, k]), shares)
        yield shares


def _by_side(rows: Floats, directed: bool) -> Floats:
    nodes, width = rows.shape[0] // 2, rows.shape[1]
    return rows.reshape(nodes, 2 * width)[:, : 2 * width if directed else width]


def _divided(part: Floats, whole: Floats) -> Floats:
    return np.asarray(np.divide(part, whole, out=np.full(part.size, np.nan), where=whole != 0))
