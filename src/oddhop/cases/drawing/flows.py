"""Who is drawn in the picture of a case, and what went from whom to whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from oddhop.cases.case import Case, CaseEvent, Counterpart, Id, Member, Nouns, Role
from oddhop.cases.words import outside_text

DRAWN = 12
SIDES: dict[Role, int] = {"pays in": 0, "collects": 2, "is paid": 3}  # all others stand in the middle
LEVELS = 3  # of those who pass on to each other


@dataclass(frozen=True)
class Place:
    """A member in the picture, several that are summed up, or those outside; ``look`` is its class in the style."""

    name: Id
    count: int
    role: Role
    column: int
    look: str
    profile: str = ""
    sent: float | None = None
    received: float | None = None
    events: int = 0
    first: str | None = None
    last: str | None = None

    def at(self, column: int) -> Place:
        """Return the place in another column."""
        return replace(self, column=column)


@dataclass(frozen=True)
class Flow:
    """All events from one place to another; without events a tie, which has no direction."""

    source: int
    target: int
    count: int = 1
    amount: float | None = None
    first: str | None = None
    last: str | None = None
    usual: bool = False

    @property
    def weight(self) -> float:
        """What the line is as thick as."""
        return float(self.count) if self.amount is None else self.amount


@dataclass(frozen=True)
class Flows:
    """The picture before it is laid out. ``not_drawn`` counts the events that are in no flow."""

    places: tuple[Place, ...]
    flows: tuple[Flow, ...]
    not_drawn: int = 0


def flows_of(case: Case, nouns: Nouns) -> Flows:
    """Return the members, at most twelve of them one by one, those outside, and what went between them."""
    drawn = _drawn(case)
    rest = [one for one in case.members if one not in drawn]
    focus = set(case.focus)
    places = [_member(one, focus) for one in drawn]
    where = {one.id: place for place, one in enumerate(drawn)}
    for role in dict.fromkeys(one.role for one in rest):
        mine = [one for one in rest if one.role == role]
        where |= {one.id: len(places) for one in mine}
        places.append(_together(mine))
    middle = next((place for place, one in enumerate(places) if one.look == "focus"), 0)
    edge: dict[bool, int] = {}  # where an event ends whose other end is nobody that is named
    for place, one in enumerate(case.outside, len(places)):
        where |= dict.fromkeys((name for name in one.ids if name not in where), place)
        edge.setdefault(SIDES.get(one.role) == 0, place)
    places += [_outside(one, nouns) for one in case.outside]
    inside = [one for one in case.events if one.inside]
    ends = [(where.get(one.source, edge.get(True)), where.get(one.target, edge.get(False)), one) for one in inside]
    known = [(a, b, one) for a, b, one in ends if a is not None and b is not None and a != b]
    flows = _joined(known, summed=case.amount is not None)
    if not inside:
        flows = [Flow(where[a], where[b]) for a, b in case.ties if a in where and b in where and where[a] != where[b]]
    reached = {end for one in flows for end in (one.source, one.target)}
    for place, one in enumerate(case.outside, len(places) - len(case.outside)):
        if place not in reached:
            pair = (place, middle) if SIDES.get(one.role) == 0 else (middle, place)
            flows.append(Flow(*pair, max(one.count, 1), one.amount or None, usual=one.count == 0))
    not_drawn = len(inside) - len(known) + case.more_events
    return Flows(tuple(_with_levels(places, flows)), tuple(flows), not_drawn)


def _drawn(case: Case) -> list[Member]:
    """Return at most twelve members: those of the focus and on the path first, then those with most in the case."""
    first = {*case.focus, *case.order}
    weight = sorted(case.members, key=lambda one: (one.id not in first, not one.flagged, -one.sent - one.received))
    chosen = {one.id for one in weight[:DRAWN]}
    return [one for one in case.members if one.id in chosen]


def _member(one: Member, focus: set[Id]) -> Place:
    look = "focus" if one.id in focus or one.role in ("alone", "ring") else ""
    return Place(
        one.id,
        1,
        one.role,
        SIDES.get(one.role, 1),
        look,
        one.profile,
        one.sent or None,
        one.received or None,
        one.events,
    )


def _together(members: Sequence[Member]) -> Place:
    sent, received = (sum(getattr(one, name) for one in members) for name in ("sent", "received"))
    events, role = sum(one.events for one in members), members[0].role
    name = f"{len(members):,} more"
    return Place(name, len(members), role, SIDES.get(role, 1), "", "", sent or None, received or None, events)


def _outside(one: Counterpart, nouns: Nouns) -> Place:
    side = SIDES.get(one.role, 3)
    sent, received = (one.amount, None) if side == 0 else (None, one.amount)
    name, kind = outside_text(one, nouns)
    return Place(name, one.count, one.role, side, "out" if one.count else "ghost", kind, sent or None, received or None)


def _joined(events: Sequence[tuple[int, int, CaseEvent]], *, summed: bool) -> list[Flow]:
    """Return one flow for every pair of places, in the order in which they began."""
    pairs: dict[tuple[int, int], list[CaseEvent]] = {}
    for source, target, event in events:
        pairs.setdefault((source, target), []).append(event)
    return [Flow(*pair, len(mine), total(mine) if summed else None, *span(mine)) for pair, mine in pairs.items()]


def total(events: Sequence[CaseEvent]) -> float | None:
    """Return the sum of events; None where none has an amount."""
    known = [one.amount for one in events if one.amount is not None]
    return sum(known) if known else None


def span(events: Sequence[CaseEvent]) -> tuple[str | None, str | None]:
    """Return the first and the last time of events."""
    times = [one.time for one in events if one.time is not None]
    return min(times, default=None), max(times, default=None)


def _with_levels(places: Sequence[Place], flows: Sequence[Flow]) -> list[Place]:
    """Return the places with their columns from 0 on: those who pass on to each other stand one after the other."""
    level = [0] * len(places)
    among = [one for one in flows if places[one.source].column == places[one.target].column == 1]
    for one in sorted(among, key=lambda flow: flow.first or ""):
        if places[one.source].role == places[one.target].role == "passes on" and level[one.target] <= level[one.source]:
            level[one.target] = min(level[one.source] + 1, LEVELS - 1)
    spread = [one.column * LEVELS + (level[k] if one.column == 1 else 0) for k, one in enumerate(places)]
    for k, place in enumerate(places):
        if place.look in ("out", "ghost") and place.column > 1:  # right after those it deals with
            near = [spread[flow.source] for flow in flows if flow.target == k]
            spread[k] = LEVELS * (2 if max(near, default=0) < 2 * LEVELS else 3)
    order = {column: place for place, column in enumerate(sorted(set(spread)))}
    ends: list[tuple[str | None, str | None]] = []
    for k in range(len(places)):
        mine = [one for one in flows if k in (one.source, one.target)]
        times = [time for one in mine for time in (one.first, one.last) if time is not None]
        ends.append((min(times, default=None), max(times, default=None)))
    return [replace(one, column=order[spread[k]], first=ends[k][0], last=ends[k][1]) for k, one in enumerate(places)]
