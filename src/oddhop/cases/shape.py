"""What a case is, from its members and events: roles, pattern, order, repetitions, and money counted once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from scipy.sparse.csgraph import connected_components

from oddhop.base.arrays import Floats, Ints
from oddhop.cases.case import Pattern, Role
from oddhop.cases.growth import Draft
from oddhop.cases.surprise import DAY, HORIZON, EventBook

LITTLE = 0.1  # of the largest sum from one member to another
_Sums: TypeAlias = dict[int, dict[int, float]]
ROUND = 0.6  # of the money among the members of a ring, which goes from each to the next


@dataclass(frozen=True, eq=False)
class Shape:
    """The figures of a case.

    Attributes
    ----------
    draft : its members, by number, and those at its edge.
    events : sorted by time; ``own`` has all events of the focus, whether of the case or not.
    role, received, sent, payers, payees : of every member and everybody at the edge.
    pattern, order, focus : see :class:`~oddhop.cases.case.Case`.
    runs : the events of every repetition.
    passed : of the members that pass on, the share of what they received, and the median hours.
    money : what came in, counted once.
    """

    draft: Draft
    events: Ints
    own: Ints
    role: dict[int, Role]
    received: dict[int, float]
    sent: dict[int, float]
    payers: dict[int, set[int]]
    payees: dict[int, set[int]]
    pattern: Pattern
    order: tuple[int, ...] = ()
    focus: tuple[int, ...] = ()
    runs: tuple[Ints, ...] = ()
    passed: dict[int, tuple[float, float]] = field(default_factory=dict)
    money: float = 0.0

    @property
    def nodes(self) -> tuple[int, ...]:
        """Members, and then those at the edge."""
        return (*self.draft.members, *self.draft.outside)

    def of(self, *roles: Role, outside: bool = False) -> list[int]:
        """Return the members with one of some roles, and those at the edge too if asked."""
        return [node for node in (self.nodes if outside else self.draft.members) if self.role[node] in roles]

    @property
    def share_passed(self) -> float:
        """The share of what those that pass on received which went on."""
        some = self.of("passes on")
        got = sum(self.received[node] for node in some)
        return sum(min(self.sent[node], self.received[node]) for node in some) / max(got, 1e-9)


def shape_of(book: EventBook, draft: Draft) -> Shape:
    """Return the figures of a case that has events.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop.cases.growth import Draft
    >>> from oddhop.cases.shape import shape_of
    >>> from oddhop.cases.surprise import event_book
    >>> from oddhop.graph.events import Events
    >>> book = event_book(Events.of_arcs(np.array([0, 1, 2]), np.array([1, 2, 0]), 3), np.zeros(3, dtype=np.int64))
    >>> shape = shape_of(book, Draft((0, 1, 2), (), frozenset({0, 1, 2}), (0,)))
    >>> shape.pattern, shape.order, shape.money
    ('ring', (0, 1, 2), 1.0)
    """
    members, nodes = draft.members, (*draft.members, *draft.outside)
    events = np.array(sorted(draft.events), dtype=np.int64)
    events = events[np.argsort(book.time[events], kind="stable")]
    amount = np.nan_to_num(book.told[events]) if book.paid else np.ones(events.size)
    time, source, target = book.time[events], book.source[events].tolist(), book.target[events].tolist()
    received, sent = dict.fromkeys(nodes, 0.0), dict.fromkeys(nodes, 0.0)
    payers: dict[int, set[int]] = {node: set() for node in nodes}
    payees: dict[int, set[int]] = {node: set() for node in nodes}
    for one, other, value in zip(source, target, amount.tolist(), strict=True):
        sent[one] += value
        received[other] += value
        payers[other].add(one)
        payees[one].add(other)
    sums = _sums(members, source, target, amount)
    circle = _circle(members, sums, float(amount.sum())) if book.directed else ()
    turn = _round_trip(sums, circle, source) if circle else ()
    ring = circle if _goes_round(sums, turn) else ()
    passed = {} if circle or not book.directed else _passed(book, events, members, received, sent)
    order = _longest(source, target) if book.timed and book.directed else []
    roles = _roles(book, draft, (received, sent, payers), (ring, circle), passed, float(amount.sum()))
    span = float(time[-1] - time[0]) if time.size else 0.0
    way = [node for node in members if roles[node] == "passes on"]
    pattern = _pattern(book, ring, circle, way, order, payers, payees)
    focus = [node for node in members if roles[node] in ("passes on", "ring", "group")]
    if not focus:
        focus = [max(members, key=lambda node: (len(payers[node] | payees[node]), node in draft.seeds, -node))]
    runs = np.split(events, np.flatnonzero(np.diff(time) > max(3 * DAY, span / 10)) + 1) if book.timed else [events]
    chain = tuple(order) if pattern == "chain" else ()
    return Shape(
        draft,
        events,
        np.unique(np.concatenate([book.of(node) for node in focus])),
        roles,
        received,
        sent,
        payers,
        payees,
        pattern,
        order=turn if ring else chain,
        focus=tuple(focus),
        runs=tuple(runs),
        passed={node: found for node, found in passed.items() if roles[node] == "passes on"},
        money=_money(sums, circle, ring, sent, received),
    )


def _sums(members: Sequence[int], source: Sequence[int], target: Sequence[int], amount: Floats) -> _Sums:
    """Return what every member gave to every other."""
    sums: _Sums = {node: dict.fromkeys(members, 0.0) for node in members}
    for one, other, value in zip(source, target, amount.tolist(), strict=True):
        if one in sums and other in sums:
            sums[one][other] += value
    return sums


def _among(sums: _Sums, some: Sequence[int]) -> float:
    return sum(sums[one][other] for one in some for other in some)


def _money(
    sums: _Sums, circle: Sequence[int], ring: Sequence[int], sent: dict[int, float], got: dict[int, float]
) -> float:
    """Count money once: what givers gave beyond what they got; of a ring the mean of its steps, of a group all."""
    if circle:
        return _among(sums, circle) / max(len(ring), 1)
    return sum(max(0.0, sent[node] - got[node]) for node in sent)


def _goes_round(sums: _Sums, turn: Sequence[int]) -> bool:
    """Tell whether most of the money among some members goes from each to the next."""
    steps = sum(sums[one][other] for one, other in zip(turn, (*turn[1:], *turn[:1]), strict=True))
    return bool(turn) and steps >= ROUND * _among(sums, turn)


def _circle(members: Sequence[int], sums: _Sums, total: float) -> tuple[int, ...]:
    """Return the largest set of members that all lead to each other, if most of the money is among them."""
    given = np.array([[sums[one][other] for other in members] for one in members])
    leads = (given >= LITTLE * given.max()) & (given > 0)  # change closes no ring
    group = connected_components(leads, connection="strong")[1]
    ring = tuple(node for node, own in zip(members, group, strict=True) if own == _commonest(group))
    return ring if len(ring) > 2 and _among(sums, ring) > total / 2 else ()


def _commonest(group: Ints) -> int:
    """Return the number that is there most often, of several the one that comes first."""
    return int(group[np.bincount(group)[group].argmax()])


def _round_trip(sums: _Sums, ring: Sequence[int], source: Sequence[int]) -> tuple[int, ...]:
    """Return the members of a ring, from the first that sends on, each followed by whom it sent most to."""
    order, left = (
        [next(node for node in source if node in ring and any(sums[node][other] for other in ring))],
        set(ring),
    )
    while left := left - {*order}:
        order.append(max(sorted(left), key=sums[order[-1]].__getitem__))
    return tuple(order)


def _passed(
    book: EventBook, events: Ints, members: Sequence[int], received: dict[int, float], sent: dict[int, float]
) -> dict[int, tuple[float, float]]:
    """Return of every member what share went out again, and after how many hours in the median."""
    found = {}
    for node in members:
        got, gave = events[book.target[events] == node], events[book.source[events] == node]
        if not got.size or not gave.size or not received[node]:
            continue
        wait = book.time[gave] - book.time[got][:, None]
        soonest = np.where(wait >= 0, wait, np.inf).min(axis=1)
        soonest = soonest[np.isfinite(soonest)]
        if soonest.size and np.median(soonest) <= 1.5 * HORIZON:
            found[node] = (min(1.0, sent[node] / received[node]), float(np.median(soonest)))
    return found


def _longest(source: Sequence[int], target: Sequence[int]) -> list[int]:
    """Return the nodes of the longest hand-over in the order of time."""
    best: dict[int, list[int]] = {}
    for one, other in zip(source, target, strict=True):
        way = best.get(one, [one])
        if other not in way and len(way) >= len(best.get(other, [other])):
            best[other] = [*way, other]
    return max(best.values(), key=len, default=[])


def _roles(
    book: EventBook,
    draft: Draft,
    flows: tuple[dict[int, float], dict[int, float], dict[int, set[int]]],
    rings: tuple[Sequence[int], Sequence[int]],
    passed: dict[int, tuple[float, float]],
    total: float,
) -> dict[int, Role]:
    (received, sent, payers), (ring, circle) = flows, rings

    def role(node: int) -> Role:
        if not received[node] + sent[node]:
            return "alone"
        if node in ring:
            return "ring"
        if not book.directed or node in circle:
            return "group"
        through = passed.get(node, (0.0,))[0] >= 0.5 and sent[node] <= 2 * received[node]
        if through and (book.paid or len(payers[node]) > 1):
            return "passes on"
        if received[node] > 2 * sent[node] and (len(payers[node]) > 1 or received[node] >= 0.3 * total):
            return "collects"
        if sent[node] > 2 * received[node]:
            return "pays in"
        return "group" if sent[node] else "is paid"

    return {node: role(node) for node in (*draft.members, *draft.outside)}


def _pattern(
    book: EventBook,
    ring: Sequence[int],
    circle: Sequence[int],
    way: Sequence[int],
    order: Sequence[int],
    payers: dict[int, set[int]],
    payees: dict[int, set[int]],
) -> Pattern:
    wide_in, wide_out = (max(map(len, some.values())) for some in (payers, payees))
    thin = sum(len(payers[node]) == len(payees[node]) == 1 for node in way)
    if ring:
        return "ring"
    if circle or not book.directed:
        return "group"
    if len(order) > 4 and 2 * thin >= len(way) and wide_in < 4:
        return "chain"
    if way:
        return "passed on"
    if wide_in >= max(3, wide_out):
        return "fan-in"
    if wide_out >= 3:
        return "fan-out"
    return "group"
