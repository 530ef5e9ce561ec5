"""From one node to the members and events that belong with it.

A node joins if the surprise of its events with members is worth more than naming these events among all of its own, and
the node among the partners of a member (minimum description length); the best joins first. Then come bursts of members
whose events are flagged, single events that pay for themselves, and where the money of the case went on to or came
from. Nothing joins by being near.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from itertools import accumulate, islice
from math import inf, log, tau
from typing import NamedTuple

import numpy as np

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.cases.surprise import DAY, HORIZON, WEEK, EventBook

MEMBERS = 80  # of a case
FOCUS, LOOK = 16, 250  # members whose own events are looked at, and how many of each
HOPS = 6
PRICE = 2.0  # nats that a member costs beyond its description
TRIES, AHEAD = 6, 5.0  # nodes tried at a loss, and the gain that such a case must have
HUBS = 50  # events for each with a member, from which on a node stays outside
FEW = 200  # partners of a node that is tried
MOST = 0.5  # of a sum, which is the sum itself


@dataclass(frozen=True, eq=False)
class Draft:
    """What was gathered around some nodes: members, others at the edge, events; ``seeds`` are the nodes."""

    members: tuple[int, ...]
    outside: tuple[int, ...]
    events: frozenset[int]
    seeds: tuple[int, ...]


def gather(book: EventBook, seed: int, bursts: Bools) -> Draft:
    """Gather around a node; ``bursts`` marks the nodes whose bursts of events may join at once.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop.cases.growth import gather
    >>> from oddhop.cases.surprise import event_book, with_surprise
    >>> from oddhop.graph.events import Events
    >>> edges = Events.of_arcs(np.array([0, 2]), np.array([1, 1]), 3)
    >>> book = with_surprise(event_book(edges, np.zeros(3, dtype=np.int64)))
    >>> gather(book, 1, np.zeros(3, dtype=bool)).members
    (1,)
    """
    growth = _Growth(book, seed).run()
    events = _among(book, growth.members)
    inside, outside = dict.fromkeys(growth.members), dict[int, None]()
    _add_bursts(book, growth, events, inside, outside, bursts)
    _add_single(book, growth, events, inside, outside)
    chosen = np.array(sorted(events), dtype=np.int64)
    if chosen.size:  # small change beside large sums
        small = book.amount[chosen] < np.median(book.amount[chosen]) / 15
        chosen = chosen[~small] if small.mean() < 0.25 else chosen
    ends = {*book.source[chosen].tolist(), *book.target[chosen].tolist()}
    members = tuple(node for node in inside if node in ends or node == seed)
    draft = Draft(members, tuple(node for node in outside if node in ends), frozenset(chosen.tolist()), (seed,))
    return _with_money_handed_on(book, draft) if book.paid and book.timed and book.directed else draft


def with_events(book: EventBook, draft: Draft, events: Ints, *, members: bool) -> Draft:
    """Return a draft with further events; their ends are members, if they are asked for and have few others."""
    inside, outside = dict.fromkeys(draft.members), dict.fromkeys(draft.outside)
    ends = np.concatenate([book.source[events], book.target[events]])
    for node, count in zip(*(some.tolist() for some in np.unique(ends, return_counts=True)), strict=True):
        if node not in inside:
            fits = members and book.count(node) < HUBS * count and len(inside) < MEMBERS
            (inside if fits else outside).setdefault(node, None)
    left = tuple(node for node in outside if node not in inside)
    return Draft(tuple(inside), left, draft.events | frozenset(events.tolist()), draft.seeds)


class _Link(NamedTuple):
    """An event of a node that may join: its number, its surprise, when it was, and whether the node was its source."""

    event: int
    nats: float
    time: float
    sent: bool


class _Growth:
    """Members around one node, and what joins next.

    A node has few events with a member, and thousands of nodes are looked at: these are numbers of Python, since an
    array of two or three costs more than what is done with it.
    """

    def __init__(self, book: EventBook, seed: int) -> None:
        self.book, self.seed, self.members = book, seed, [seed]
        self.links: dict[int, dict[int, list[_Link]]] = {}  # of every candidate, its events with each member
        self.ties, self.hop = {seed: 0}, {seed: 0}
        self.focus: list[int] = []
        self.gain = 0.0
        self.worth: dict[int, float] = {}
        self.leads: dict[int, bool] = {}
        self.times: dict[int, list[float]] = {seed: []}  # when a member had its events of the case, sorted
        self.look(seed)

    def copy(self) -> _Growth:
        """Return another with the same members and candidates; the links of a candidate with one member stay one."""
        other = copy(self)
        other.links = {node: dict(by) for node, by in self.links.items()}
        for name in ("members", "ties", "hop", "focus", "worth", "leads", "times"):
            setattr(other, name, getattr(self, name).copy())
        return other

    def look(self, node: int) -> None:
        """Take the most surprising events of a member into account."""
        book, events = self.book, self.book.of(node, LOOK)
        self.focus.append(node)
        others, sent = book.other(events, node), book.target[events] == node
        figures = (events, book.surprise[events], book.time[events], sent, others)
        for *link, other in zip(*(one.tolist() for one in figures), strict=True):
            if other not in self.ties:
                self.links.setdefault(other, {}).setdefault(node, []).append(_Link(*link))
                self.worth.pop(other, None)

    def run(self, tries: int = TRIES) -> _Growth:
        """Let nodes join while one gains; if none does, try the best at a loss."""
        candidates = self.candidates()
        while len(self.members) < MEMBERS and candidates and (best := max(candidates))[0] > 0:
            self.gain += best[0]
            self.add(-best[1])
            candidates = self.candidates()
        found = self
        if len(self.members) == 1 and tries:
            few = (one for one in sorted(candidates, reverse=True) if self.book.partners[-one[1]] < FEW)
            for loss, other in islice(few, tries):
                trial = self.copy()
                trial.leads[-other], trial.gain = True, loss
                trial.add(-other)
                trial.run(0)
                if trial.ties[self.seed] > 1 and trial.gain > max(found.gain, AHEAD):  # the node itself must be in it
                    found = trial
        return found

    def candidates(self) -> list[tuple[float, int]]:
        """Return the gain of every node that may join, and its negative number."""
        for node in self.links:
            if node not in self.worth:
                self.worth[node] = self.value(node)
        return [(self.worth[node] - self.cost(node), -node) for node in self.links if self.worth[node] > -5]

    def value(self, node: int) -> float:
        """Return the surprise that its events with members explain, less naming them; and its bonds."""
        book, by = self.book, self.links[node]
        degree, count = book.count(node), sum(map(len, by.values()))
        if count * HUBS < degree:
            return -9.0  # a hub stays outside
        nats = sorted((one.nats for some in by.values() for one in some), reverse=True)
        worth = max(  # some of its events
            total - _log_choose(degree, k) for k, total in enumerate(accumulate(nats), 1)
        )
        self.leads[node] = worth > 0 and degree <= 30 + 15 * count  # ties alone join, they do not lead on
        if len(by) > 1:
            nats = [one.nats for member, some in by.items() for one in some if self.near(member, one.time, WEEK)]
        base = 1.0 if len(by) > 1 else 1.5
        near = sum(nats) - base * len(nats) - log(degree / max(1, len(nats)))  # all that are near in time
        worth = max(worth, near)
        kind = book.kind
        for member, some in by.items():
            if len({one.sent for one in some}) > 1:
                worth += float(book.reciprocal[kind[member], kind[node]])
        if len(by) == 1:
            return worth
        first, *more = sorted(by, key=lambda member: (self.hop[member], member))
        low, high = sorted((int(kind[first]), int(kind[node])))
        for member in more[:2]:
            chance = max(0.0, log(book.source.size / (degree * book.count(member) + 1.0)))
            joined = bool(book.linked(np.array([member]), np.array([first]))[0])
            bond = book.shut[kind[member], low, high] if joined else min(book.far[kind[member], kind[node]], chance)
            worth += float(bond)
        return worth

    def near(self, member: int, time: float, most: float) -> int:
        """Count the events of the case that a member has so near to a time; 1 where it has none at all."""
        times = self.times[member]
        return bisect_right(times, time + most) - bisect_left(times, time - most) if times else 1

    def cost(self, node: int) -> float:
        """Return what naming it among the partners of a member takes, less the more of its events are in already."""
        book, best = self.book, inf
        for member, some in self.links[node].items():
            near, late = 0, 1.0
            if self.times[member]:
                near = max(self.near(member, one.time, 3 * DAY) for one in some)
                late = 1.0 if near else book.spells
            best = min(best, float(book.partners[member]) / (1 + near) * late)
        return log(max(1.0, best)) + PRICE

    def met(self, node: int, times: Iterable[float]) -> None:
        """Keep when a member had further events of the case."""
        self.times[node] = sorted((*self.times[node], *times))

    def add(self, node: int) -> None:
        """Let a node join."""
        by = self.links.pop(node)
        self.members.append(node)
        self.ties[node], self.hop[node] = len(by), 1 + min(self.hop[member] for member in by)
        self.times[node] = []
        for member, some in by.items():
            self.ties[member] += 1
            for end in (member, node):
                self.met(end, [one.time for one in some])
        if len(self.focus) < FOCUS and self.hop[node] < HOPS and self.leads[node]:
            self.look(node)


def _log_choose(n: int, k: int) -> float:
    """Return the logarithm of n over k, nearly."""
    return k * (log(n / min(k, n)) + 1) - log(tau * k) / 2


def _among(book: EventBook, members: list[int]) -> set[int]:
    """Return the events among members that are surprising, or mostly are between the two."""
    events, known = set[int](), np.array(members)
    for node in members:
        own = book.of(node, LOOK)
        other = book.other(own, node)
        inside = np.isin(other, known)
        own, other = own[inside], other[inside]
        for partner in np.unique(other).tolist():
            some = own[other == partner]
            nats = book.surprise[some]
            events.update(some[(nats >= 1) | (np.median(nats) >= 1)].tolist())
    return events


@dataclass(frozen=True, eq=False)
class _Core:
    """When the events of a case were, sorted, and the least amount of an event that may belong to them."""

    times: Floats
    floor: float

    def close(self, book: EventBook, events: Ints, *, any_amount: bool = False) -> Bools:
        """Tell the events near in time, within a day or a tenth of the case's time, and not far below in amount."""
        if self.times.size < 3:
            return np.ones(events.size, dtype=bool)
        at = np.searchsorted(self.times, book.time[events])
        before = np.abs(book.time[events] - self.times[np.maximum(at - 1, 0)])
        after = np.abs(self.times[np.minimum(at, self.times.size - 1)] - book.time[events])
        near = np.minimum(before, after) <= max(DAY, (self.times[-1] - self.times[0]) / 10)
        return np.asarray(near & (any_amount | (book.amount[events] >= self.floor)))


def _core(book: EventBook, events: set[int]) -> _Core:
    some = np.array(sorted(events), dtype=np.int64)
    enough = book.timed and some.size > 2
    return _Core(
        np.sort(book.time[some]) if enough else np.zeros(0), float(book.amount[some].min() / 3) if enough else 0.0
    )


def _burst(book: EventBook, node: int, *, sent: bool) -> tuple[Ints, float, float]:
    """Return the events of a node and a direction in the time with the most surprise beyond 2 nats each (Kadane).

    Beside them what they are worth, and the share of all its events there.
    """
    own = book.of(node)
    own = own[(book.source if sent else book.target)[own] == node]
    if own.size < 3 or not book.timed:
        return own[:0], 0.0, 0.0
    own = own[np.argsort(book.time[own], kind="stable")]
    total = np.concatenate([[0], np.cumsum(book.surprise[own] - 2)])
    last = int(np.argmax(total - np.minimum.accumulate(total)))
    first = int(np.argmin(total[: last + 1]))
    part = own[first:last]
    worth = float(total[last] - total[first] - 2 * np.log(own.size) - PRICE)
    return part[book.surprise[part] > 1], worth, part.size / own.size


def _add_bursts(
    book: EventBook,
    growth: _Growth,
    events: set[int],
    inside: dict[int, None],
    outside: dict[int, None],
    bursts: Bools,
) -> None:
    core, before = _core(book, events), len(growth.members)
    for node in growth.focus:
        for sent in (True, False) if bursts[node] else ():
            some, worth, part = _burst(book, node, sent=sent)
            least = 0.4 if node == growth.seed else 0.5 if growth.ties[node] > 1 else 0.7
            if worth <= 0 or part < least:
                continue
            if node != growth.seed and core.close(book, some, any_amount=True).mean() <= 0.5:
                continue
            if book.amount[some].sum() < core.floor * max(core.times.size, 1):  # small change beside the case
                continue
            some = some[np.abs(np.log(book.amount[some] / np.median(book.amount[some]))) <= np.log(10)]
            growth.gain += worth
            others = book.other(some, node)
            events.update(some.tolist())
            for other in np.unique(others).tolist():
                own = some[others == other]
                growth.met(node, book.time[own].tolist())
                if other not in inside:
                    fits = book.count(other) < HUBS * own.size and len(inside) < MEMBERS
                    (inside if fits else outside).setdefault(other, None)
    growth.links = {one: by for one, by in growth.links.items() if one not in inside and one not in outside}
    if len(inside) > before:  # beside a burst, more members may pay
        growth.run(0)
        inside.update(dict.fromkeys(growth.members[before:]))
        events |= _among(book, growth.members)


def _add_single(
    book: EventBook, growth: _Growth, events: set[int], inside: dict[int, None], outside: dict[int, None]
) -> None:
    """Add events of members that pay for themselves, beside those of the case and of about its amounts."""
    core = _core(book, events)
    for node in growth.focus:
        own = book.of(node, LOOK)
        own = own[np.argsort(-book.surprise[own], kind="stable")]
        if len(events) > 2:
            usual = np.median(book.amount[sorted(events)])
            own = own[np.abs(np.log(book.amount[own] / usual)) <= np.log(10)]
        known = sum(event in events for event in own.tolist())
        degree = book.count(node)
        near, others = core.close(book, own), book.other(own, node)
        for event, fits, other in zip(own.tolist(), near.tolist(), others.tolist(), strict=True):
            if event in events or not fits:
                continue
            if book.surprise[event] <= np.log((degree - known) / (known + 1) + 1) + PRICE:
                break
            if other not in inside:
                outside.setdefault(other, None)
            events.add(event)
            known += 1


def _with_money_handed_on(book: EventBook, draft: Draft) -> Draft:
    """Add to whom the node handed on what it received, and from whom of the case members had what they sent.

    Sums that go on together match no single amount, and a usual amount that goes on does not surprise.
    """
    case = np.array(sorted(draft.events), dtype=np.int64)
    known = {*draft.members, *draft.outside}
    some = [_handed_on(book, case, draft.seeds[0], forth=True)[1]]
    for node in draft.members if case.size else ():
        giver, events = _handed_on(book, case, node, forth=False)
        some += [events] if giver in known else []
    more = np.setdiff1d(np.concatenate(some), case)
    return with_events(book, draft, more, members=True) if more.size else draft


def _handed_on(book: EventBook, case: Ints, node: int, *, forth: bool) -> tuple[int, Ints]:
    """Return to whom a node handed on most of what it received in a case, and by which events; -1 for nobody.

    Not ``forth``, from whom it had most of what it sent in the case. What goes back is not handed on.
    """
    own = book.of(node, LOOK)
    own = own[np.argsort(book.time[own], kind="stable")]
    gave, inside = book.source[own] == node, np.isin(own, case)
    mine, others = own[inside & (gave != forth)], own[gave == forth]
    others = others[~np.isin(book.other(others, node), book.other(mine, node))]
    if not mine.size or not others.size:
        return -1, own[:0]
    went, came = _covered(book, others, mine) if forth else _covered(book, mine, others)
    handed = went if forth else came
    partners, place = np.unique(book.other(others, node), return_inverse=True)
    by_partner = np.bincount(place, handed)
    best = int(by_partner.argmax())
    if by_partner[best] < MOST * book.amount[mine].sum():
        return -1, own[:0]
    return int(partners[best]), others[(place == best) & (handed >= MOST * book.amount[others])]


def _covered(book: EventBook, gave: Ints, got: Ints) -> tuple[Floats, Floats]:
    """Return how much of each sum that went came shortly before, the oldest first, and how much of each that came went.

    Both are in the order of time.
    """
    went, came = book.time[gave].tolist(), book.time[got].tolist()
    wanted, left = book.amount[gave].tolist(), book.amount[got].tolist()
    i = 0
    for j, when in enumerate(went):
        while i < len(came) and came[i] <= when and wanted[j] > 0:
            if left[i] <= 0 or came[i] < when - HORIZON:
                i += 1
                continue
            taken = min(left[i], wanted[j])
            left[i] -= taken
            wanted[j] -= taken
    return book.amount[gave] - wanted, book.amount[got] - left
