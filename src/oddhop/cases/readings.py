"""What a case could be, with the test of the innocent reading; where to look next; and how sure this is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from oddhop.base.arrays import Ints
from oddhop.cases.case import Reading, Sureness
from oddhop.cases.marks import Usual
from oddhop.cases.nouns import Words, article, duration
from oddhop.cases.shape import Shape
from oddhop.cases.surprise import DAY, WEEK, EventBook
from oddhop.explain.phrases import spoken

# What a pattern looks like, and what innocent thing it could be.
READINGS = {
    "passed on": (
        "It looks like money that is only passed through, so that its origin is hard to see.",
        "It could also be somebody who collects for others and pays at once, such as a landlord or a treasurer.",
    ),
    "chain": (
        "It looks like layering: a sum is moved step by step, so that its origin is hard to see.",
        "It could also be a group that settles between its own companies.",
    ),
    "ring": (
        "It looks like turnover that exists on paper only: the same money goes round.",
        "It could also be a savings club, or partners that trade with each other.",
    ),
    "fan-in": (
        "It looks like a collection: many pay one within a short time.",
        "It could also be the takings of a shop, or a collection for a trip or a club.",
    ),
    "fan-out": (
        "It looks like {an_account} that is emptied, or used up to its limit, within a short time.",
        "It could also be a holiday, a move or another large purchase.",
    ),
    "pair": (
        "It looks like {an_event} that does not fit what the two usually do.",
        "It could also be a large purchase, a sale or an inheritance.",
    ),
    "group": (
        "It looks like a group that acts together.",
        "It could also be a family, a team or branches of one firm.",
    ),
    "stranger": (
        "It looks like {an_account} that is not what its record says.",
        "It could also be a slip in one of its columns.",
    ),
    "outlier": (
        "It looks like a wrong entry, or {an_account} of a kind of its own.",
        "It could also be a correct but rare value.",
    ),
    "single": ("It looks like a change of use.", "It could also be a season, a new job or a new business."),
}
# What the form of the events looks like, and what innocent thing it could be.
FORMS = {
    "just below a limit": (
        "It looks like a larger sum that is split, so that no part of it reaches a limit.",
        "It could also be the takings of a business, brought to the bank whenever the till is full.",
    ),
    "equal amounts": (
        "It looks like a collection: many pay one the same sum within a short time.",
        "It could also be a fee, tickets or the contributions to a trip or a club.",
    ),
}
OF_A_CROWD = ("fan-in", "passed on", "chain")
FEW_RUNS, OFF, MANY, FEW_KNOWN = 3, 0.1, 3, 0.2
NIGHT = 5
RHYTHMS = ((DAY, "day"), (7 * DAY, "week"), (30.4 * DAY, "month"))


def reading_of(usual: Usual, shape: Shape, forms: Sequence[str] = ()) -> Reading:
    """Return what a case with events could be, and the first test of the innocent reading that decides.

    ``forms`` are the facts that set its events apart, by name, the most telling first.
    """
    words, book, key = usual.words, usual.book, str(shape.pattern)
    priced = words.sums and book.paid
    if not priced:
        key = "group"
    elif key == "group" and len(shape.nodes) == 2:
        key = "pair"
    looks, could = _said(words, key)
    if key == "passed on":
        could = f"It could also be {_innocent(book, shape)}."
    form = next((one for one in forms if one in FORMS), "")
    if priced and key in (OF_A_CROWD if form == "just below a limit" else ("fan-in",)):
        looks, could = FORMS.get(form, (looks, could))
    if priced and shape.money <= usual.middle:
        return everyday(words, looks, words.amount(shape.money), usual.middle)
    for test in (_regular, _back, _known_before) if key not in ("fan-out", "pair") else (_known_before,):
        told = test(words, book, shape)
        if told is not None:
            verdict = {"For": "for", "Aga": "against"}.get(told[:3], "undecided")
            return Reading(looks, could, told, verdict)  # type: ignore[arg-type]
    return Reading(looks, could, f"Nothing in the {words.nouns.events} decides between the two.")


def everyday(words: Words, looks: str, amount: str, middle: float) -> Reading:
    """Return the reading of a case in which hardly any money moved."""
    test = f"For it: {amount} is no more than the median {words.nouns.event} here, {words.amount(middle)}."
    return Reading(looks, "It could also be everyday use.", test, "for")


def _innocent(book: EventBook, shape: Shape) -> str:
    """Return who passes money on rightly, in the form that it has here."""
    payers = len(shape.of("pays in", outside=True))
    if book.timed and (book.time[shape.events] % 24 < NIGHT).mean() > 0.8:
        return "a nightly batch, such as wages, or somebody in another time zone"
    if book.timed and _rhythm(book, shape):
        return "rents, wages or contributions that are collected and paid on"
    if payers > MANY:
        return "a collection for a trip, a club or a present, which one account pays on"
    return "an agent, or a relative who settles a bill for somebody"


def _said(words: Words, key: str) -> tuple[str, str]:
    fills = {"an_event": article(words.nouns.event), "an_account": article(words.nouns.node)}
    looks, could = READINGS[key]
    return looks.format(**fills), could.format(**fills)


def _pairs(book: EventBook, events: Ints) -> Ints:
    return np.unique(book.source[events] * book.nodes + book.target[events])


def _rhythm(book: EventBook, shape: Shape) -> str:
    """Return whether it comes back every day, week or month; empty where it does not."""
    if not book.timed or len(shape.runs) < FEW_RUNS:
        return ""
    gaps = np.diff([book.time[run].min() for run in shape.runs])
    return next((name for length, name in RHYTHMS if np.abs(gaps - length).max() <= max(OFF * length, DAY / 8)), "")


def _regular(words: Words, book: EventBook, shape: Shape) -> str | None:
    """Test whether it comes back; that speaks for nothing where several who are paid pass it on to one."""
    name = _rhythm(book, shape)
    if not name:
        return None
    again = f"it comes back every {name}, {len(shape.runs)} times so far"
    way = shape.of("passes on")
    ends = set[int]().union(*(shape.payees[node] for node in way)) - {*way}
    if len(way) > 1 and len(ends) == 1:
        return f"Undecided: {again}, but {words.node_count(len(way))} passed it on to {words.name(ends.pop())}."
    return f"For it: {again}."


def _back(words: Words, book: EventBook, shape: Shape) -> str | None:
    """Test whether the pairs deal with each other in both directions."""
    if not book.directed:
        return None
    pairs = _pairs(book, shape.events)
    back = (pairs % book.nodes) * book.nodes + pairs // book.nodes
    both = int(book.has_arcs(back).sum())
    if 2 * both >= pairs.size:
        many = "all" if both == pairs.size else f"{both:,} of the"
        return f"For it: {many} {pairs.size:,} pairs have {words.nouns.events} in both directions."
    if shape.pattern in ("chain", "ring") and not both:
        return f"Against it: no {words.nouns.event} went back between any of the {pairs.size:,} pairs."
    return None


def _known_before(words: Words, book: EventBook, shape: Shape) -> str | None:
    """Test whether the pairs had dealt with each other before the case."""
    if not book.timed:
        return None
    first, begin = float(book.time[shape.events].min()), book.begin
    pairs = _pairs(book, shape.events)
    own = np.unique(np.concatenate([book.of(node) for node in shape.nodes]))
    earlier = own[book.time[own] < first]
    known = int(np.isin(_pairs(book, earlier), pairs).sum())
    if known and known <= FEW_KNOWN * pairs.size:
        return f"Against it: only {known:,} of the {pairs.size:,} pairs had {words.nouns.events} before."
    if known:
        return f"For it: {known:,} of the {pairs.size:,} pairs had {words.nouns.events} before."
    if first - begin < WEEK:
        return None
    whose = f"none of the {pairs.size:,} pairs" if pairs.size > 1 else "the two"
    had = "had dealt with each other" if pairs.size > 1 else "had not dealt with each other"
    return f"Against it: in the {duration(first - begin)} before, {whose} {had}."


def next_steps(words: Words, book: EventBook, shape: Shape) -> tuple[str, ...]:
    """Return where to look next: what is left at the end, where it came from, and who else was opened that week."""
    steps = []
    last = float(book.time[shape.events].max()) if book.timed else 0.0
    ends = sorted(shape.of("collects", "is paid", outside=True), key=lambda node: (-shape.received[node], node))
    if ends and book.paid and words.sums:
        end = ends[0]
        own = book.of(end)
        later = own[(book.source[own] == end) & (book.time[own] > last)] if book.timed else own[:0]
        left = float(np.nansum(book.told[later]))
        got, name = words.amount(shape.received[end]), words.name(end)
        if later.size:
            many = words.event_count(later.size)
            steps.append(f"{name}, which received {got} and sent {words.amount(left)} since, by {many}.")
        elif book.timed:
            steps.append(f"{name}: the {got} had not left it by {words.day(book.last)}.")
        else:
            steps.append(f"{name}, which received {got}.")
    sources = sorted(shape.of("pays in", outside=True), key=lambda node: (-shape.sent[node], node))
    if len(sources) > MANY:
        steps.append(f"One of the {words.who(sources)} that {words.nouns.sent}: what for?")
    elif sources and sources[0] not in shape.focus:
        gave = words.amount(shape.sent[sources[0]]) if book.paid and words.sums else ""
        what = f"where its {gave} came from" if gave else f"its other {words.nouns.events}"
        steps.append(f"{words.name(sources[0])}: {what}.")
    steps += _opened_together(words, book, shape)
    if not steps:
        steps.append(f"The other {words.nouns.events} of {words.names(shape.focus)}.")
    return tuple(steps[:3])


def _opened_together(words: Words, book: EventBook, shape: Shape) -> list[str]:
    """Count the other nodes that were opened in the week of most members."""
    if book.born is None:
        return []
    born = book.born[list(shape.draft.members)]
    born = np.sort(born[np.isfinite(born)])
    if born.size < 2:
        return []
    many = np.searchsorted(born, born + WEEK, "right") - np.arange(born.size)
    first = born[many.argmax()]
    if many.max() < 2 or first < book.begin - 365 * DAY:
        return []
    there = (book.born >= first) & (book.born <= first + WEEK)
    there[list(shape.draft.members)] = False
    others = int(there.sum())
    return [f"The other {words.node_count(others)} opened in the same week as {many.max()} members."] if others else []


def sureness(words: Words, p: Sequence[float], nodes: int) -> Sureness:
    """Say among how many ordinary nodes one is as unusual, at most as many as there are; ``p`` has a value a member."""
    among = int(np.clip(_two_digits(1 / max(min(p, default=1.0), 1e-12)), 1, max(nodes, 1)))
    same = sum(one <= 1.05 / among for one in p)
    noun = words.nouns
    if among < 3:
        return Sureness(f"Many {noun.nodes} look as unusual as this.", among, same)
    whole = (
        f"Among all {nodes:,} {noun.nodes}, at most one"
        if among >= nodes
        else f"Among {among:,} ordinary {noun.nodes}, about one"
    )
    here = f"; here {same} do" if same > 1 else ""
    chance = nodes / among
    many = f" That makes about {chance:.0f} of the {nodes:,} by chance." if chance >= 1.5 and same <= 1 else ""
    return Sureness(f"{whole} would look this unusual by chance{here}.{many}", among, same)


def _two_digits(value: float) -> int:
    digits = max(int(np.floor(np.log10(max(value, 1.0)))) - 1, 0)
    return int(round(value / 10**digits) * 10**digits)


def group_reading(words: Words, pattern: str, columns: Sequence[str]) -> Reading:
    """Return what a case without events could be; ``columns`` are those that set it apart."""
    test = "Nothing in the table decides between the two."
    if columns and pattern in ("stranger", "outlier"):
        names = spoken([f"“{name.replace('_', ' ')}”" for name in columns[:2]])
        test = f"Check {names} first: with a usual value there, the score would be lower."
    return Reading(*_said(words, pattern), test)
