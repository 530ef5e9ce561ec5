"""What happened in a case, in one sentence of at most 120 characters and in one of at most 60."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from oddhop.base.arrays import Ints
from oddhop.cases.marks import Marks
from oddhop.cases.nouns import Words, duration, share, times
from oddhop.cases.shape import Shape
from oddhop.cases.surprise import EventBook

LONGEST, SHORT = 120, 60
LITTLE = 0.05  # of a sum, which a headline leaves out


def headlines(words: Words, book: EventBook, shape: Shape, marks: Marks) -> tuple[str, str]:
    """Return what happened, and its short form. The first wording that fits is taken, the fullest first."""
    one, group = _Phrases(words, book, shape), shape.of("group")
    if shape.pattern == "ring":
        long, short = _ring(one, marks)
    elif one.between(group, group).size:  # members of a group need not have dealt with each other
        long, short = _group(one, marks)
    elif shape.of("passes on"):
        long, short = (_chain if shape.pattern == "chain" else _passed_on)(one, marks)
    elif one.between(one.sources, one.sinks).size:
        long, short = _paid(one, marks)
    else:
        base = f"{words.who(shape.draft.members)} had {one.count(shape.events)}"
        long, short = [f"{base}{marks.how(shape.events)} {one.span}", base], [base]
    return fitting(long, LONGEST), fitting(short, SHORT)


def _ring(one: _Phrases, marks: Marks) -> tuple[list[str], list[str]]:
    ring = one.shape.of("ring")
    events = one.between(ring, ring)
    end = f"went round among {one.words.who(ring)}"
    if not one.priced:
        start = f"{one.count(events)} {end}"
        return [f"{start} {one.span}{one.rounds}", start], [start]
    start, many = f"{one.words.amount(one.shape.money)}", f", {one.count(events)}"
    long = [f"{start}{how} {end} {one.span}{one.rounds}{many}" for how in (marks.how(events), "")]
    return [*long, f"{start} {end}"], [f"{start} {end}"]


def _group(one: _Phrases, marks: Marks) -> tuple[list[str], list[str]]:
    group, words = one.shape.of("group"), one.words
    events, size = one.between(group, group), len(group)
    low, high = (side(one.book.source[events], one.book.target[events]) for side in (np.minimum, np.maximum))
    pairs, possible = np.unique(low * one.book.nodes + high).size, size * (size - 1) // 2
    verb = f"{words.nouns.sent} each other"
    base = f"{words.who(group)} {verb} {times(events.size)}"
    if words.nouns.sent == "sent":
        base = f"{words.who(group)} {verb} {one.count(events)}"
    how = marks.how(events)
    total = f", {one.sum(events)}{how}," if one.priced else how
    linked = f"; {pairs:,} of their {possible:,} pairs deal with each other" if size > 2 else ""
    return [f"{base}{total} {one.span}{linked}", f"{base}{total} {one.span}", base], [base]


def _chain(one: _Phrases, marks: Marks) -> tuple[list[str], list[str]]:
    way = one.shape.of("passes on")
    events = one.between(one.sources, way)
    money = one.sum(events) if events.size else one.words.amount(one.shape.money)
    start = f"{money if one.priced else one.count(one.shape.events)} passed through {one.words.who(way)} in turn"
    kept = f"; each handed on {share(one.shape.share_passed)}{one.after}" if one.priced else ""
    end = f", at last to {one.words.who(one.sinks)}" if one.sinks else ""
    how = marks.how(one.shape.events)
    long = [f"{start}{how} {one.span}{one.rounds}{kept}{end}", f"{start} {one.span}{one.rounds}{kept}{end}"]
    return [*long, f"{start} {one.span}{kept}{end}", f"{start} {one.span}{kept}", start], [start]


def _passed_on(one: _Phrases, marks: Marks) -> tuple[list[str], list[str]]:
    words, shape = one.words, one.shape
    way = shape.of("passes on")
    givers = [node for node in one.sources if shape.payees[node] & set(way)]
    into = one.between(givers, way) if givers else one.into(way)
    into = into if into.size else one.between(way, way)
    who = words.who(way)
    received = f"received {one.sum(into) if one.priced else one.count(into)}"
    how = marks.how(into)
    none = f"{who} {received}{how}"
    full, start, plain = (
        one.gave(givers, way, into, *told) if givers else none for told in ((how, marks.silent), (how,), ())
    )
    part = share(shape.share_passed)
    went = f"; {part} went on" if one.priced else "; they were passed on"
    sinks = [node for node in one.sinks if shape.payers[node] & set(way)]
    to = f", to {words.who(sinks)}" if sinks else ""
    long = [f"{begin} {one.span}{went}{one.after}{to}" for begin in (full, start)]
    long += [f"{start} {one.span}{went}{to}", f"{start}{went}{one.after}{to}", f"{start}{went}{to}"]
    long += [f"{plain} {one.span}{went}{one.after}", f"{plain}{went}", plain]
    on = f" and passed on {part}" if one.priced else " and passed them on"
    return long, [f"{who} {received}{on}", f"{who} {received}"]


def _paid(one: _Phrases, marks: Marks) -> tuple[list[str], list[str]]:
    words, payers = one.words, one.shape.payers
    sinks = [node for node in one.sinks if payers[node] & set(one.sources)]
    events = one.between(one.sources, sinks)
    ends, how = (one.sources, sinks, events), marks.how(events)
    full, base, plain = (one.gave(*ends, *told) for told in ((how, marks.silent), (how,), ()))
    if events.size == 1:
        when = f"on {words.day(int(one.book.when[events[0]]))}" if one.book.timed else ""
        single = f", in a single {words.nouns.event}" if one.priced and words.named else ""
        return [f"{full} {when}{single}", f"{base} {when}", base, plain], [plain]
    many = f", {one.count(events) if words.named else times(events.size)}" if one.priced else ""
    long = [f"{full} {one.span}{many}", f"{base} {one.span}{many}", f"{plain} {one.span}{many}", plain]
    return long, [plain, f"{words.who(one.sources)}: {one.sum(events)}"]


class _Phrases:
    """Who gave and who got in a case, and the phrases that sentences are made of."""

    def __init__(self, words: Words, book: EventBook, shape: Shape) -> None:
        self.words, self.book, self.shape = words, book, shape
        self.priced = book.paid and words.sums
        gave = {node: shape.sent[node] - shape.received[node] for node in shape.nodes}
        least = LITTLE * max(gave.values(), default=0.0)
        self.sources = [node for node in shape.of("pays in", outside=True) if gave[node] > least]
        ends = shape.of("collects", "is paid", outside=True)
        most = max((-gave[node] for node in ends), default=0.0)
        self.sinks = [node for node in ends if -gave[node] > LITTLE * most]
        hours = float(np.ptp(book.time[shape.events])) if book.timed and shape.events.size else 0.0
        self.span = f"in {duration(hours)}" if hours > 0 else ""
        self.rounds = f", {len(shape.runs)} rounds" if len(shape.runs) > 1 and book.timed else ""
        late = [hours for _, hours in shape.passed.values()]
        wait = float(np.median(late)) if late else 0.0
        self.after = f" within {duration(wait)}" if book.timed and wait > 0 else ""

    def between(self, givers: Sequence[int], takers: Sequence[int]) -> Ints:
        """Return the events of the case from some nodes to others."""
        book, events = self.book, self.shape.events
        return np.asarray(events[np.isin(book.source[events], givers) & np.isin(book.target[events], takers)])

    def into(self, takers: Sequence[int]) -> Ints:
        """Return the events of the case to some nodes, from others."""
        book, events = self.book, self.shape.events
        return np.asarray(events[np.isin(book.target[events], takers) & ~np.isin(book.source[events], takers)])

    def count(self, events: Ints) -> str:
        """Say how many events there are."""
        return self.words.event_count(events.size)

    def sum(self, events: Ints) -> str:
        """Say the sum of events."""
        return self.words.amount(float(np.nansum(self.book.told[events])))

    def gave(self, givers: Sequence[int], takers: Sequence[int], events: Ints, how: str = "", silent: str = "") -> str:
        """Say who gave what to whom, how, and that the focus was silent before."""
        sides, verb = (givers, takers), self.words.nouns.sent
        who, whom = (self.words.who(some) + silent * (tuple(some) == self.shape.focus) for some in sides)
        if self.priced:
            return f"{who} {verb} {self.sum(events)}{how} to {whom}"
        if verb == "sent":
            return f"{who} sent {self.count(events)}{how} to {whom}"
        often = "" if events.size == len(givers) * len(takers) > 1 else times(events.size)
        return f"{who} {verb} {whom} {often}{how}"


def fitting(sentences: Sequence[str], most: int) -> str:
    """Return the first that is short enough, or the last, cut at a word.

    Examples
    --------
    >>> from oddhop.cases.sentences import fitting
    >>> fitting(["A paid B once a day for a year", "A paid B daily"], 20)
    'A paid B daily'
    """
    said = [" ".join(one.split()).replace(" ,", ",").replace(",,", ",").replace(",;", ";") for one in sentences]
    for one in said:
        if len(one) <= most:
            return one
    cut = said[-1][: most - 1]
    return f"{cut[: cut.rfind(' ')] if ' ' in cut else cut}…"
