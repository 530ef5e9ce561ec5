"""What happened in a case, in one sentence of at most 120 characters and in one of at most 60."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from oddhop.cases.marks import Marks
from oddhop.cases.nouns import Words, duration, share, times
from oddhop.cases.shape import Shape
from oddhop.cases.surprise import EventBook

LONGEST, SHORT = 120, 60
WHOLE = 0.98  # of a sum, from which on all of it went on


def headlines(words: Words, book: EventBook, shape: Shape, marks: Marks) -> tuple[str, str]:
    """Return what happened, and its short form."""
    one = _Sides(words, book, shape)
    how = marks.how
    within = one.span
    if shape.pattern == "ring":
        long = [
            f"{one.events}{how}, {one.all_money}went round among {words.who(shape.of('ring'))} {within}{one.rounds}",
            f"{one.events} went round among {words.who(shape.of('ring'))} {within}",
        ]
        return fitting(long, LONGEST), fitting([f"{one.events} went round among {words.who(shape.of('ring'))}"], SHORT)
    if shape.pattern == "chain":
        way = shape.of("passes on")
        end = f", at last to {words.who(one.sinks)}" if one.sinks else ""
        kept = f"; each handed on {share(shape.share_passed)}{one.after}" if way else ""
        many = words.who(way) if way else words.who(shape.order)
        long = [f"{one.money} passed through {many} in turn {within}{one.rounds}{kept}{end}"]
        long += [
            f"{one.money} passed through {many} in turn {within}{kept}",
            f"{one.money} passed through {many} in turn",
        ]
        return fitting(long, LONGEST), fitting([f"{one.money} passed through {many} in turn"], SHORT)
    way = shape.of("passes on")
    if way:
        went = "all" if shape.share_passed >= WHOLE else share(shape.share_passed)
        end = f", to {words.who(one.sinks)}" if one.sinks else ""
        lone = marks.before
        if one.sources:
            start = f"{words.who(one.sources)} {one.gave(way)}{how} {within}"
        else:
            start = f"{words.who(way)} received {one.money}{how} {within}"
        long = [f"{lone}{start}; {went} went on{one.after}{end}", f"{start}; {went} went on{one.after}{end}"]
        long += [f"{start}; {went} went on{one.after}", f"{start}; {went} went on", start]
        short = [f"{words.who(way)} received {one.money} and passed on {went}", f"{words.who(way)} passed on {went}"]
        return fitting(long, LONGEST), fitting(short, SHORT)
    many = f", {one.events}" if len(shape.events) > 1 and one.priced else ""
    if one.sources and one.sinks:
        base = f"{words.who(one.sources)} {one.gave(one.sinks)}"
        long = [f"{marks.before}{base}{how} {within}{many}", f"{base}{how} {within}{many}", f"{base} {within}", base]
        return fitting(long, LONGEST), fitting([base, f"{words.who(one.sources)}: {one.money}"], SHORT)
    members = words.who(shape.draft.members)
    base = f"{members} made {one.events} among themselves"
    total = f", {one.all_money}".rstrip(", ") if one.priced else ""
    return fitting([f"{base}{total}{how} {within}", f"{base} {within}", base], LONGEST), fitting([base], SHORT)


class _Sides:
    """Who gave and who got, and the phrases that sentences are made of."""

    def __init__(self, words: Words, book: EventBook, shape: Shape) -> None:
        self.words, self.shape = words, shape
        self.priced = book.paid and words.sums
        gave = {node: shape.sent[node] - shape.received[node] for node in shape.nodes}
        self.sources = [node for node in shape.of("pays in", outside=True) if gave[node] > 0]
        sinks = shape.of("collects", outside=True)
        paid = shape.of("is paid", outside=True)
        got = -sum(gave[node] for node in sinks)
        self.sinks = sinks if sinks and 2 * got >= -sum(gave[node] for node in paid) else [*sinks, *paid]
        self.events = words.event_count(len(shape.events))
        given = sum(gave[node] for node in self.sources) if self.sources else shape.money
        self.money = words.amount(given) if self.priced else self.events
        self.all_money = f"{words.amount(float(np.nansum(book.told[shape.events])))}, " if self.priced else ""
        hours = float(np.ptp(book.time[shape.events])) if book.timed else 0.0
        self.span = "" if not book.timed else f"in {duration(hours)}" if hours > 0 else "at once"
        many = len(shape.runs)
        self.rounds = f", {many} rounds" if many > 1 and book.timed else ""
        late = [hours for _, hours in shape.passed.values()]
        wait = float(np.median(late)) if late else 0.0
        self.after = f" within {duration(wait)}" if late and book.timed and wait > 0 else ""

    def gave(self, to: Sequence[int]) -> str:
        """Say that the sources gave, to whom."""
        verb, whom = self.words.nouns.sent, self.words.who(to)
        if self.priced:
            return f"{verb} {self.money} to {whom}"
        if verb == "sent":
            return f"sent {self.events} to {whom}"
        return f"{verb} {whom} {times(len(self.shape.events))}"


def fitting(sentences: Sequence[str], most: int) -> str:
    """Return the first that fits, or the last, cut at a word."""
    said = [" ".join(one.split()) for one in sentences]
    for one in said:
        if len(one) <= most:
            return one[:1].upper() + one[1:] if one[:1].islower() and " " in one[:2] else one
    cut = said[-1][: most - 1]
    return f"{cut[: cut.rfind(' ')] if ' ' in cut else cut}…"
