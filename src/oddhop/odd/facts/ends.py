"""The events of some nodes, each at its own end, by node and time; and what is known of all nodes beforehand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.graph.events import DAY, HOUR, NO_TIME, Events
from oddhop.odd.facts.kernels import (
    add_volumes,
    count_alike,
    count_partners,
    near_limits,
    number_groups,
    order_by_time,
)

ENDS_AT_ONCE, ENDS_KEPT = 1 << 18, 1 << 21
EIGHTHS, SLOTS = 8, 48  # of the period; hours of a weekday or of the weekend
NEAR = 0.1  # how near to 1, 2 or 5 times a power of ten
POWERS = 12  # of ten, from a hundredth
SIZES = 16
ROUNDING = 1e-6
AMOUNTS_AT_ONCE = 1 << 22


@dataclass(frozen=True, eq=False)
class Ends:
    """The ends of events at some nodes, by node and time.

    Attributes
    ----------
    first : the number of the first node.
    start : where the ends of every node begin, (nodes + 1,).
    node : the place of the node, from 0.
    partner : the node at the other end.
    side : 0 for what was sent, 1 for what was received; 0 where events have no direction.
    time : microseconds since 1970, ``NO_TIME`` where it is missing; 0 without a column of times.
    amount : how large, without a sign; that of a usual event where it is missing, 1 without a column of amounts.
    kind : the code of the kind and 1; 0 where it is missing, or there is none.
    row : the place among all :class:`~oddhop.graph.events.Events`.
    pair : one number for a node and a partner.
    stratum : that of the node.
    eighth : which part of the period it is in, from 0; 0 without a time.
    """

    first: int
    start: Ints
    node: Ints
    partner: Ints
    side: Ints
    time: Ints
    amount: Floats
    kind: Ints
    row: Ints
    pair: Ints
    stratum: Ints
    eighth: Ints

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return self.start.size - 1

    @cached_property
    def known(self) -> Bools:
        """Whether an event has a time."""
        return np.asarray(self.time != NO_TIME)

    @cached_property
    def size(self) -> Ints:
        """The class of the amount; in each, amounts are up to four times as large as in the one before."""
        steps = np.log2(np.maximum(self.amount, 1e-300)) // 2 + SIZES // 4
        return np.asarray(np.clip(steps, 0, SIZES - 1), dtype=np.int64)

    @cached_property
    def form(self) -> Ints:
        """The kind of event and the side."""
        return 2 * self.kind + self.side

    @cached_property
    def slot(self) -> Ints:
        """The kind and the hour, weekdays and weekends apart."""
        day = self.time // DAY
        weekend = day + 3 - (day + 3) // 7 * 7 >= 5  # the first of 1970 was a Thursday; a remainder takes longer
        return self.kind * SLOTS + np.where(self.known, weekend * 24 + self.time // HOUR - day * 24, 0)

    @cached_property
    def limit(self) -> tuple[Ints, Bools]:
        """The number of the limit that the amount is near to, -1 for none, and whether it is below it."""
        return near_limits(self.amount, NEAR, POWERS)

    @cached_property
    def root(self) -> Floats:
        """The root of the amount."""
        return np.sqrt(self.amount)

    @cached_property
    def is_round(self) -> Bools:
        """Whether at most two digits of the amount are not zero."""
        safe = np.maximum(self.amount, 1e-300)
        digits = safe / 10.0 ** (np.floor(np.log10(safe)) - 1)
        return np.asarray(np.abs(digits - np.round(digits)) < ROUNDING)

    @cached_property
    def repeated(self) -> Bools:
        """Whether the node has the amount on the same side with another partner, too."""
        same = number_groups(self.start, 2 * np.round(100 * self.amount) + self.side)
        others = self.pair != self.pair[_first_of(same)[same]]
        return np.asarray(np.bincount(same, others)[same] > 0)

    @cached_property
    def opens(self) -> Bools:
        """Whether an end is the first of its pair."""
        out = np.zeros(self.pair.size, dtype=bool)
        out[_first_of(self.pair)] = True
        return out

    def by_node(self, values: Floats | Bools) -> Floats:
        """Return the sum over the ends of every node."""
        return np.bincount(self.node, values, self.nodes).astype(np.float64)

    def by_arc(self, values: Floats) -> Floats:
        """Return for every end the sum over those of its node with its partner, on its side."""
        arc = 2 * self.pair + self.side
        return np.asarray(np.bincount(arc, values)[arc])

    def largest(self, values: Floats) -> Floats:
        """Return the largest value of every node, 0 for those without ends."""
        out, some = np.zeros(self.nodes), np.diff(self.start) > 0
        if some.any():
            out[some] = np.maximum.reduceat(values, self.start[:-1][some])
        return out


@dataclass(frozen=True, eq=False)
class Setting:
    """What is known of all nodes before any of them is judged.

    Attributes
    ----------
    events : of all nodes.
    judged : the nodes that are judged.
    stratum : of every judged node, from 0.
    volume : what every node sent and received in all, (2, nodes).
    seen : when every node was first seen.
    begin, end : of the period.
    usual : the amount that stands for a missing one.
    """

    events: Events
    judged: range
    stratum: Ints
    volume: Floats
    seen: Ints
    begin: int
    end: int
    usual: float

    @property
    def timed(self) -> bool:
        """Whether events have times."""
        return self.end > self.begin

    @property
    def valued(self) -> bool:
        """Whether events have amounts."""
        return bool(self.events.columns.amounts)

    @property
    def strata(self) -> int:
        """How many strata there are."""
        return int(self.stratum.max(initial=0)) + 1

    @property
    def kinds(self) -> int:
        """How many kinds of events there are, with that of the events without one."""
        return len(self.events.columns.levels[0]) + 1 if self.events.columns.kinds else 1

    @cached_property
    def volumes(self) -> Floats:
        """What the judged nodes sent and received."""
        return self.volume[:, self.judged.start : self.judged.stop]

    @cached_property
    def counts(self) -> Ints:
        """How many events every judged node has."""
        rows = self.events.indptr[2 * self.judged.start : 2 * self.judged.stop + 1 : 2]
        return np.asarray(np.diff(rows))

    @cached_property
    def partners_by_stratum(self) -> tuple[Ints, Ints, Ints]:
        """The different partners of every node and side, see :func:`~oddhop.odd.facts.kernels.count_partners`."""
        stratum = np.full(self.events.node_count, self.strata)  # one more for nodes that are not judged
        stratum[self.judged.start : self.judged.stop] = self.stratum
        indptr, partners = np.asarray(self.events.indptr), np.asarray(self.events.partners)
        return count_partners(indptr, partners, stratum, self.strata + 1)

    @cached_property
    def partner_counts(self) -> Ints:
        """How many nodes every node sent to, and received from, (nodes, 2)."""
        begin, _, counts = self.partners_by_stratum
        return np.diff(np.append(0, np.cumsum(counts))[begin]).reshape(-1, 2)

    @cached_property
    def usual_partners(self) -> Floats:
        """With how many nodes those that sent, and received, did so on average."""
        some = np.maximum((self.partner_counts > 0).sum(axis=0), 1)
        return np.asarray(np.maximum(self.partner_counts.sum(axis=0) / some, 1.0))

    @cached_property
    def usual_alike(self) -> float:
        """With how many nodes of a stratum those with any deal on average, on one side."""
        _, levels, counts = self.partners_by_stratum
        judged = counts[levels < self.strata]
        return float(judged.sum() / max(judged.size, 1))

    def other_side(self, ends: Ends) -> Ints:
        """Return on which side of its partner every end is."""
        return 1 - ends.side if self.events.columns.directed else np.zeros_like(ends.side)

    def partners_alike(self, ends: Ends) -> Ints:
        """Return with how many nodes of the stratum of its node the partner of every end deals on that side."""
        row = 2 * ends.partner + self.other_side(ends)
        return count_alike(*self.partners_by_stratum, row, ends.stratum)

    @cached_property
    def typical_sides(self) -> Floats:
        """What nodes of its stratum usually send, and receive."""
        return np.stack([self.typical(self.volumes[0]), self.typical(self.volumes[1])])

    @cached_property
    def typical_both(self) -> Floats:
        """The smaller of what nodes of its stratum usually send and receive."""
        return self.typical(self.volumes.min(axis=0))

    @cached_property
    def typical_whole(self) -> Floats:
        """What nodes of its stratum usually send and receive together."""
        return self.typical(self.volumes.sum(axis=0))

    def blocks(self, first: int | None = None) -> Iterator[Ends]:
        """Return the ends of the judged nodes, a block of so many at a time, or those of one node with more.

        ``first`` is the node to begin with.
        """
        indptr, first = self.events.indptr, self.judged.start if first is None else first
        while first < self.judged.stop:
            until = indptr[2 * first] + ENDS_AT_ONCE
            fitting = np.searchsorted(indptr[2 * first : 2 * self.judged.stop + 1 : 2], until, side="right")
            last = first + max(int(fitting) - 1, 1)
            yield self.ends(first, last)
            first = last

    def ends(self, first: int, last: int) -> Ends:
        """Return the ends of some nodes."""
        own, nodes = self.events.of_nodes(first, last), last - first
        size, indptr = own.partners.size, np.asarray(own.indptr)
        rows = np.repeat(np.arange(2 * nodes), np.diff(indptr))
        time = np.asarray(own.times) if own.times.size else np.zeros(size, dtype=np.int64)
        order = order_by_time(indptr, time)
        node, side, partner = rows[order] // 2, rows[order] % 2, np.asarray(own.partners, dtype=np.int64)[order]
        kind = own.kinds[order, 0].astype(np.int64) + 1 if own.columns.kinds else np.zeros(size, dtype=np.int64)
        amount = np.abs(own.amounts[order, 0]) if self.valued else np.ones(size)
        amount = np.where(np.isnan(amount), self.usual, amount)
        pair = number_groups(indptr[::2], partner)
        row, time = order + int(self.events.indptr[2 * first]), time[order]
        stratum = self.stratum[first - self.judged.start :][node]
        part = (time - self.begin) / max(self.end - self.begin, 1) * EIGHTHS
        inside = (time != NO_TIME) & self.timed
        eighth = np.where(inside, np.clip(part, 0, EIGHTHS - 1), 0).astype(np.int64)
        return Ends(first, indptr[::2], node, partner, side, time, amount, kind, row, pair, stratum, eighth)

    def places(self, ends: Ends) -> slice:
        """Return where the nodes of a block stand among the judged ones."""
        first = ends.first - self.judged.start
        return slice(first, first + ends.nodes)

    def typical(self, values: Floats) -> Floats:
        """Return for every judged node the median of its stratum, over the values above 0."""
        out = np.ones(self.strata)
        for one in range(self.strata):
            some = values[(self.stratum == one) & (values > 0)]
            out[one] = np.median(some) if some.size else 1.0
        return out[self.stratum]


@dataclass(frozen=True, eq=False)
class Blocks:
    """The ends of the judged nodes, a block at a time. The first of them are kept for the next pass."""

    setting: Setting
    _kept: list[Ends] = field(default_factory=list, repr=False)

    def __iter__(self) -> Iterator[Ends]:
        yield from self._kept
        count = sum(ends.node.size for ends in self._kept)
        last = self._kept[-1].first + self._kept[-1].nodes if self._kept else self.setting.judged.start
        for ends in self.setting.blocks(last):
            count += ends.node.size
            if count <= ENDS_KEPT:
                self._kept.append(ends)
            yield ends


def _first_of(group: Ints) -> Ints:
    """Return the place of the first end of every group."""
    first = np.empty(int(group.max(initial=-1)) + 1, dtype=np.int64)
    first[group[::-1]] = np.arange(group.size)[::-1]
    return first


def measure_nodes(events: Events) -> tuple[Floats, Ints, float]:
    """Return of every node what it sent and received, and when it was first seen.

    The last is a usual amount: the geometric mean of all.
    """
    volume, seen = np.zeros((2, events.node_count)), np.full(events.node_count, NO_TIME)
    amounts = events.amounts[:, 0] if events.columns.amounts else np.empty(0)
    total, count = 0.0, 0
    for first in range(0, amounts.size, AMOUNTS_AT_ONCE):
        some = np.abs(amounts[first : first + AMOUNTS_AT_ONCE])
        logs = np.log(some[some > 0])
        total, count = total + float(logs.sum()), count + logs.size
    usual = float(np.exp(total / max(count, 1)))
    indptr = np.asarray(events.indptr)
    add_volumes(indptr, np.asarray(events.times), np.asarray(amounts), usual, volume, seen)
    return volume, seen, usual
