"""How surprising every event of a network is, in nats, and how often its nodes are bound to each other.

An event is surprising as its amount is for either end, as it is round, as its hour is rare, as events of its ends crowd
in an hour, a day or a week, as the amount goes on or came so, and as the younger end is young. Every part is the share
of the events of the same cell (the type, and the kinds of both ends) that have at least as much of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.graph.events import HOUR, NO_TIME, Events

DAY, WEEK = 24.0, 168.0
HORIZON = 6 * DAY  # within which what was received goes on
MONDAY = 4 * DAY  # the first of 1970 was a Thursday
CELL = 100  # events in a cell of its own
NEXT = 12  # later events of the receiver that may pass it on
ROUND = np.array([1, 5, 10, 50, 100, 500, 1000, 5000, 10000])
LOW, HIGH = 0.6, 0.95  # the bulk, whose exponential tail is carried on
MOST_KINDS, SAMPLE, HUB = 48, 3_000, 200


@dataclass(frozen=True, eq=False)
class EventBook:
    """The events of a network, each once, with what is usual.

    Attributes
    ----------
    source, target, amount, time, type : of every event; hours since a Monday, an amount of 1 and a time of 0 where
        there is none. ``told`` and ``when`` are the amounts and times as the table has them, NaN and ``NO_TIME``.
    kind, born : of every node; hours, or None.
    paid, timed, directed : whether events have amounts, times and a direction.
    start, order : the events of every node.
    partners : how many different partners every node has.
    surprise : of every event.
    passed : the share of what nodes of a kind receive that goes on within six days.
    arcs : one number for each source and target, sorted.
    reciprocal, shut, far : nats for a pair that acts both ways, for two partners of a node that are linked, and for
        partners of partners that are, by kinds.
    """

    source: Ints
    target: Ints
    amount: Floats
    time: Floats
    type: Ints
    told: Floats
    when: Ints
    kind: Ints
    born: Floats | None
    paid: bool
    timed: bool
    directed: bool
    start: Ints
    order: Ints
    partners: Ints
    arcs: Ints
    surprise: Floats = field(default_factory=lambda: np.zeros(0))
    passed: Floats = field(default_factory=lambda: np.zeros(0))
    reciprocal: Floats = field(default_factory=lambda: np.zeros(0))
    shut: Floats = field(default_factory=lambda: np.zeros(0))
    far: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return self.kind.size

    @cached_property
    def begin(self) -> float:
        """When the first event was."""
        return float(self.time.min())

    @cached_property
    def end(self) -> float:
        """When the last event was."""
        return float(self.time.max())

    @cached_property
    def last(self) -> int:
        """When the last event was, as the table has it."""
        return int(self.when[self.when != NO_TIME].max())

    @property
    def spells(self) -> float:
        """How many times six days the period has."""
        return max(1.0, (self.end - self.begin) / HORIZON)

    @cached_property
    def degree(self) -> Ints:
        """How many events every node has."""
        return np.diff(self.start)

    def count(self, node: int) -> int:
        """Return how many events a node has."""
        return int(self.start[node + 1] - self.start[node])

    def of(self, node: int, most: int | None = None) -> Ints:
        """Return the events of a node, or so many of them, the most surprising first."""
        own = self.order[self.start[node] : self.start[node + 1]]
        if most is None or own.size <= most:
            return own
        return np.asarray(own[np.argsort(-self.surprise[own], kind="stable")[:most]])

    def other(self, events: Ints, node: int) -> Ints:
        """Return the other end of events of a node."""
        return np.where(self.source[events] == node, self.target[events], self.source[events])

    def linked(self, one: Ints, other: Ints) -> Bools:
        """Tell whether pairs have an event, either way."""
        return self.has_arcs(one * self.nodes + other) | self.has_arcs(other * self.nodes + one)

    def has_arcs(self, keys: Ints) -> Bools:
        """Tell which numbers of a source and a target are among those of the events."""
        return np.asarray(self.arcs[np.minimum(np.searchsorted(self.arcs, keys), self.arcs.size - 1)] == keys)


def event_book(events: Events, kind: Ints, born: Floats | None = None) -> EventBook:
    """Collect the events of a network; ``kind`` and ``born`` (hours since 1970) are of its nodes.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop.cases.surprise import event_book
    >>> from oddhop.graph.events import Events
    >>> book = event_book(Events.of_arcs(np.array([0, 2]), np.array([1, 1]), 3), np.zeros(3, dtype=np.int64))
    >>> book.source.tolist(), book.of(1).tolist(), book.partners.tolist()
    ([0, 2], [0, 1], [1, 2, 1])
    """
    columns, nodes = events.columns, events.node_count
    rows = np.repeat(np.arange(2 * nodes), np.diff(events.indptr))
    once = rows % 2 == 0 if columns.directed else rows // 2 < events.partners
    source, target = rows[once] // 2, np.asarray(events.partners, dtype=np.int64)[once]
    told = np.abs(events.amounts[once, 0]) if columns.amounts else np.full(source.size, np.nan)
    when = np.asarray(events.times)[once] if columns.time is not None else np.full(source.size, NO_TIME)
    known = when != NO_TIME
    paid, timed = bool(np.isfinite(told).any()), bool(known.any() and np.ptp(when[known]) > 0)
    usual = np.exp(np.log(told[told > 0]).mean()) if (told > 0).any() else 1.0
    time = (
        np.where(known, when, np.median(when[known]) if timed else 0) / HOUR - MONDAY if timed else np.zeros(when.size)
    )
    kinds = events.kinds[once, 0].astype(np.int64) + 1 if columns.kinds else np.zeros(source.size, dtype=np.int64)
    both = np.concatenate([source, target])
    pairs = distinct(np.minimum(source, target) * nodes + np.maximum(source, target))
    return EventBook(
        source=source,
        target=target,
        amount=np.maximum(np.where(np.isnan(told), usual, told), 1e-9) if paid else np.ones(source.size),
        time=time,
        type=kinds,
        told=told,
        when=when,
        kind=kind if kind.max(initial=0) < MOST_KINDS else np.zeros_like(kind),
        born=None if born is None or not timed else np.maximum(born - MONDAY, time.min() - 3650 * DAY),
        paid=paid,
        timed=timed,
        directed=columns.directed,
        start=np.concatenate([[0], np.cumsum(np.bincount(both, minlength=nodes))]),
        order=np.argsort(both, kind="stable") % max(source.size, 1),
        partners=np.bincount(np.concatenate([pairs // nodes, pairs % nodes]), minlength=nodes),
        arcs=distinct(source * nodes + target),
    )


def with_surprise(book: EventBook) -> EventBook:
    """Return the book with the surprise of its events and the bonds of its nodes."""
    size, amounts = book.source.size, np.log(book.amount)
    kind, cell = _cells(book)
    sides = (("out", book.source), ("in", book.target))
    own = {side: _rate_and_mean(book, node, amounts, cell) for side, node in sides}
    raw, goes_on = np.zeros(size), np.zeros(size, dtype=bool)

    def add(share: Floats) -> None:
        np.add(raw, np.maximum(0, -np.log(share) - 1), out=raw)

    if book.paid:
        for side, _ in sides:
            add(tail(amounts - own[side][1], cell))
        whole = np.round(book.amount[:, None] / ROUND, 6) % 1 == 0
        add(tail(np.where(whole, np.log(ROUND), -1).max(axis=1), cell))
    if book.timed:
        hour = (book.time // 1).astype(np.int64) % 168
        hour = hour % 24 + 24 * (hour // 24 >= 5)
        rate = np.bincount(kind * 48 + hour, minlength=(kind.max() + 1) * 48).reshape(-1, 48)
        rate = rate / np.repeat([5.0, 2.0], 24)
        smooth = rate + (np.roll(rate, 1, axis=1) + np.roll(rate, -1, axis=1)) / 2
        add(tail(-smooth[kind, hour], kind))
        for side, node in sides:
            add(tail(_burst(book, node, own[side][0], cell), cell))
        passed, came, goes_on = _passed_on(book, amounts, own["out"])
        for chance in (passed, came):
            add(tail(-np.log(chance + 1e-12), cell))
        if book.born is not None:
            add(tail(np.maximum(book.born[book.source], book.born[book.target]) - book.time, cell))
    low, high = np.quantile(raw, [LOW, HIGH])
    slope = np.log((1 - LOW) / (1 - HIGH)) / max(high - low, 1e-9)
    surprise = np.maximum(0, slope * (raw - low) - np.log(1 - LOW))
    if book.paid and book.timed:  # the same sum again is one fact
        same = codes(book.source * book.nodes + book.target, np.round(book.amount, 2))
        day = np.floor((book.time - book.time.min()) / DAY).astype(np.int64)
        surprise /= np.bincount(distinct(same * (day.max() + 1) + day) // (day.max() + 1))[same]
    got = np.bincount(book.target, book.amount, book.nodes)
    on = np.bincount(book.target, book.amount * goes_on, book.nodes) / np.maximum(got, 1e-9)
    some = got > 0
    count = np.bincount(book.kind[some], minlength=book.kind.max() + 1)
    usual = np.bincount(book.kind[some], on[some], book.kind.max() + 1) / np.maximum(count, 1)
    return _with_bonds(replace(book, surprise=surprise, passed=usual))


def tail(stat: Floats, group: Ints) -> Floats:
    """Return the share of the events of the same group that have at least this figure.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop.cases.surprise import tail
    >>> tail(np.array([5.0, 1.0, 1.0, 2.0]), np.array([0, 0, 0, 1])).round(2).tolist()
    [0.5, 1.0, 1.0, 1.0]
    """
    order = np.argsort(-stat, kind="stable")
    few = group.astype(np.min_scalar_type(int(group.max(initial=0))))  # of 16 bits, which sort faster
    order = order[np.argsort(few[order], kind="stable")]
    own, figure, place = group[order], stat[order], np.arange(group.size)
    first = np.concatenate([[True], own[1:] != own[:-1]])
    last = np.concatenate([first[1:] | (figure[1:] != figure[:-1]), [True]])  # equal figures share the larger rank
    start = np.maximum.accumulate(np.where(first, place, 0))
    end = np.minimum.accumulate(np.where(last, place, group.size)[::-1])[::-1]
    out = np.empty(group.size)
    out[order] = end - start + 1.5
    return np.minimum(1, out / np.bincount(group)[group])


def distinct(values: Ints) -> Ints:
    """Return the different values, sorted; of very many faster than numpy's own."""
    out = np.sort(values)
    return np.asarray(out[np.concatenate([np.ones(min(out.size, 1), dtype=bool), out[1:] != out[:-1]])])


def codes(*columns: Ints | Floats) -> Ints:
    """Return one number from 0 on for each combination of values."""
    out = np.zeros(columns[0].size, dtype=np.int64)
    for column in columns:
        own = np.unique(column, return_inverse=True)[1]
        out = np.unique(out * (own.max(initial=0) + 1) + own, return_inverse=True)[1]
    return out


def _cells(book: EventBook) -> tuple[Ints, Ints]:
    """Return with which type and which cell every event is compared; rare ones are put to the commonest."""
    counts = np.bincount(book.type)
    kind = np.where(counts[book.type] < CELL, counts.argmax(), book.type)
    cell = codes(kind, book.kind[book.source], book.kind[book.target])
    cell = codes(np.where(np.bincount(cell)[cell] < CELL, -1 - kind, cell))
    counts = np.bincount(cell)
    common = np.lexsort((-counts[cell], kind))
    first = common[np.unique(kind[common], return_index=True)[1]]
    largest = dict(zip(kind[first].tolist(), cell[first].tolist(), strict=True))
    few = np.flatnonzero(counts[cell] < CELL)
    cell[few] = [largest[one] for one in kind[few].tolist()]
    return kind, codes(cell)


def _rate_and_mean(book: EventBook, node: Ints, amounts: Floats, cell: Ints) -> tuple[Floats, Floats]:
    """Return events an hour, and the mean log amount, of a node on one side outside the three weeks around an event."""
    since = book.time - book.time.min()
    week = (since // WEEK).astype(np.int64)
    key = node * (week.max() + 4) + week + 1
    keys, place = np.unique(key, return_inverse=True)
    counts, totals = np.bincount(place), np.bincount(place, amounts)
    number = np.bincount(node, minlength=book.nodes)[node].astype(np.float64)
    total = np.bincount(node, amounts, book.nodes)[node]
    for step in (-1, 0, 1):
        at = np.minimum(np.searchsorted(keys, keys + step), keys.size - 1)
        hit = keys[at] == keys + step
        number, total = number - (counts[at] * hit)[place], total - (totals[at] * hit)[place]
    span = max(float(since.max()), DAY)
    usual = np.median(np.bincount(node)[np.unique(node)]) / span
    rate = (number + 1) / (max(span - 3 * WEEK, WEEK) + 1 / usual)
    prior = (np.bincount(cell, amounts) / np.bincount(cell))[cell]
    return rate, (total + 3 * prior) / (number + 3)


def _burst(book: EventBook, node: Ints, rate: Floats, cell: Ints) -> Floats:
    """Return by how many nats the events of a node within an hour, a day or a week exceed its rate and the season's."""
    since = book.time - book.time.min()
    span, size, best = since.max() + 1, np.bincount(cell)[cell], np.zeros(since.size)
    places = [group * (span + 8 * WEEK) + since for group in (node, cell)]
    orders = [np.argsort(place, kind="stable") for place in places]
    count, crowd = np.zeros(since.size, dtype=np.int64), np.zeros(since.size, dtype=np.int64)
    for width in (1.0, DAY, WEEK):
        for out, place, order in zip((count, crowd), places, orders, strict=True):
            line = place[order]  # what is asked for in order is found several times as fast
            out[order] = np.searchsorted(line, line + width, "right") - np.searchsorted(line, line - width)
        around = np.minimum(since + width, span) - np.maximum(since - width, 0)
        seen = np.maximum(count - 1.0, 1e-9)
        expected = rate * around * np.maximum((crowd + 1) / (size * around / span + 1), 0.5)
        nats = (seen * np.log(seen / expected) - seen + expected) / (1 + expected / 4)
        best = np.maximum(best, np.where(seen > expected, nats, 0))
    return best


def _passed_on(book: EventBook, amounts: Floats, own: tuple[Floats, Floats]) -> tuple[Floats, Floats, Bools]:
    """Return the chance that the receiver hands an amount on by accident, that an amount came so, and who hands on."""
    size, since = book.source.size, book.time - book.time.min()
    big, order = since.max() + 8 * WEEK, np.lexsort((since, book.source))
    wanted, at = book.target * big + since, np.zeros(size, dtype=np.int64)
    by_time = np.argsort(wanted, kind="stable")
    at[by_time] = np.searchsorted((book.source * big + since)[order], wanted[by_time])
    spread = max(float(np.sqrt(np.mean((amounts - own[1]) ** 2))), 0.3)
    chance, came, following = np.ones(size), np.ones(size), np.full(size, -1)
    left = np.arange(size)  # the events whose receiver has further events in time
    for step in range(NEXT):
        left = left[at[left] + step < size]
        later = order[at[left] + step]
        some = (book.source[later] == book.target[left]) & (since[later] - since[left] <= HORIZON)
        left, later = left[some], later[some]
        loss = amounts[left] - amounts[later]
        fits = (book.target[later] != book.source[left]) & (loss > -0.01) & (loss < 0.3)
        event, later, loss = left[fits], later[fits], loss[fits]
        away = (amounts[later] - own[1][later]) / spread
        density = np.exp(-(away**2) / 2) / (2.5 * spread) * (np.abs(loss) + 0.02) if book.paid else 1.0
        odds = 1 - np.exp(-own[0][later] * (np.maximum(since[later] - since[event], 0) + 0.25) * density)
        better = odds < chance[event]
        following[event[better]], chance[event[better]] = later[better], odds[better]
    has = np.flatnonzero(following >= 0)
    has = has[np.argsort(-chance[has], kind="stable")]
    came[following[has]] = chance[has]  # the best comes last and stays
    return chance, came, following >= 0


def _with_bonds(book: EventBook) -> EventBook:
    """Learn how often pairs act both ways, and how often two partners of a node, or of partners, are linked."""
    kinds, kind = int(book.kind.max(initial=0)) + 1, book.kind
    one, other = book.arcs // book.nodes, book.arcs % book.nodes
    both = kind[one] * kinds + kind[other]
    back = np.isin(other * book.nodes + one, book.arcs)
    rate = (np.bincount(both, back, kinds**2) + 0.5) / (np.bincount(both, minlength=kinds**2) + 1)
    mutual = np.maximum(rate, rate.reshape(kinds, kinds).T.ravel()).reshape(kinds, kinds)
    shut, seen = np.full((kinds, kinds, kinds), 0.5), np.ones((kinds, kinds, kinds))
    far, tried = np.full((kinds, kinds), 0.5), np.ones((kinds, kinds))
    some = np.flatnonzero((book.partners > 1) & (book.partners < HUB))
    for node in some[:: max(1, some.size // SAMPLE)].tolist():
        near = distinct(book.other(book.of(node, 60), node))
        near = near[book.partners[near] < HUB][:12]
        if near.size < 2:
            continue
        a, b = (near[place] for place in np.triu_indices(near.size, 1))
        at = (kind[node], np.minimum(kind[a], kind[b]), np.maximum(kind[a], kind[b]))
        np.add.at(shut, at, book.linked(a, b))
        np.add.at(seen, at, 1)
        farther = distinct(book.other(book.of(int(near[0]), 30), int(near[0])))
        farther = farther[(farther != node) & (farther != near[1])]
        np.add.at(far, (kind[near[1]], kind[farther]), book.linked(farther, np.full(farther.size, near[1])))
        np.add.at(tried, (kind[near[1]], kind[farther]), 1)
    bonds = np.maximum(0, -np.log(mutual) - 1), -np.log(shut / seen), np.minimum(4, -np.log(far / tried))
    return replace(book, reciprocal=bonds[0], shut=bonds[1], far=bonds[2])
