"""What sets a case apart, each beside what is usual: the facts of its card, and the words of its headline.

A share of its events is compared with other events of the same types, what its members did with their own other time,
and the members with all nodes of their kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.cases.case import Fact
from oddhop.cases.nouns import Words, article, duration, share
from oddhop.cases.shape import Shape
from oddhop.cases.surprise import DAY, EventBook
from oddhop.tables.words import plain

NIGHT = 5  # hours after midnight
LIMITS, NEAR = np.array([1.0, 2.0, 5.0]), 0.1
YOUNG, SILENT = 90 * DAY, 14 * DAY
LEAST, RARE = 0.6, 0.35  # of the events of a case, and how much rarer it must be elsewhere
IN_HEADLINE, HOW = 0.8, 0.2
NAMES = ("card", "transfer", "cash", "cheque", "check", "wire", "deposit", "debit", "credit", "mail", "phone")
SHOWN = 3
CENT = 0.01
FEWEST = 20  # others that say what is usual
FORM = ("just below a limit", "equal amounts", "round amounts")
# Facts of a node that say what a fact of the case says.
ALIKE = {
    "new partners sent to": "new partners",
    "new partners received from": "new partners",
    "amounts matched": "passed on to one",
    "change": "busiest week",
    **dict.fromkeys(("amounts sent", "amounts received", "volume sent", "volume received"), "amounts"),
}


@dataclass(frozen=True, eq=False)
class Mark:
    """A fact of a case, how many nats it is worth, and what it adds to a headline.

    ``how`` says how it was done, of the events that it ``holds`` for; ``silent`` who was silent before.
    """

    fact: Fact
    nats: float
    holds: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    how: str = ""
    silent: str = ""


@dataclass(frozen=True, eq=False)
class StatedFact:
    """A fact that the detector found of one node, how loud it is, and the events that carry it.

    ``received``, ``partner`` and ``time`` tell these events: at which end the node is, who is at the other, and when.
    ``say`` puts it into words, which takes a look at all nodes alike; None where the words would not look rare.
    ``speak_against`` has a sentence for each innocent reason for most of it.
    """

    measure: str
    loud: float
    received: Bools
    partner: Ints
    time: Ints
    say: Callable[[], Fact | None]
    speak_against: Callable[[], Sequence[str]]

    @cached_property
    def fact(self) -> Fact | None:
        """The fact in words."""
        return self.say()

    def beside_reasons(self, known: set[str]) -> Fact | None:
        """Return the fact with what speaks against it, without the sentences that are known; these become known."""
        if self.fact is None:
            return None
        reasons = [one for one in self.speak_against() if one not in known]
        known.update(reasons)
        return replace(self.fact, usual=" ".join((self.fact.usual, *reasons)))


@dataclass(frozen=True)
class Marks:
    """What sets a case apart, the most telling first."""

    marks: tuple[Mark, ...] = ()

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The three that say most."""
        return tuple(one.fact for one in self.marks[:SHOWN])

    @property
    def measures(self) -> list[str]:
        """What sets it apart, by name."""
        return [one.fact.measure for one in self.marks]

    def how(self, events: Ints) -> str:
        """Return the words that a headline about some events takes behind its verb: true of all, or mostly true."""
        said: list[str] = []
        for one in self.marks:
            part = float(np.isin(events, one.holds).mean()) if one.how and events.size else 0.0
            if part >= IN_HEADLINE and len(said) < 2:
                mostly = f", mostly{one.how[1:]}" if one.how.startswith(",") else f"mostly {one.how}"
                said.append(one.how if part == 1 else mostly)
        return "".join(f" {how}" for how in sorted(said, key=lambda how: how.startswith(",")))

    @property
    def silent(self) -> str:
        """The words behind the id of the member in the focus."""
        return next((one.silent for one in self.marks if one.silent), "")


@dataclass(frozen=True, eq=False)
class Usual:
    """What is usual of the events of a book, and whom its nodes are compared with.

    Attributes
    ----------
    book, words : the events, and how they are said.
    types : what types of events are called, by their codes from 1 on.
    like : what nodes of a kind are called, by the code of the kind.
    """

    book: EventBook
    words: Words
    types: tuple[str, ...]
    like: tuple[str, ...]

    def by_type(self, mask: Bools | None = None) -> Ints:
        """Count the events of every type, or some of them."""
        if mask is None:
            return self._sizes
        return np.bincount(self.book.type[mask], minlength=self._sizes.size)

    @cached_property
    def _sizes(self) -> Ints:
        return np.bincount(self.book.type)

    @cached_property
    def round(self) -> tuple[Bools, Ints]:
        """The events whose amount has at most two digits that are not zero, and is at least 100; and how many."""
        told = np.nan_to_num(self.book.told)
        digits = told / 10.0 ** (np.floor(np.log10(np.maximum(told, 1.0))) - 1)
        return self._counted((np.abs(digits - np.round(digits)) < 1e-6) & (told >= 100))

    @cached_property
    def night(self) -> tuple[Bools, Ints]:
        """The events between midnight and five, and how many there are of every type."""
        return self._counted(self.book.time % 24 < NIGHT)

    @cached_property
    def opens(self) -> tuple[Bools, Ints]:
        """The events that are the first from their source to their target, and how many there are of every type."""
        book = self.book
        order = np.lexsort((book.time, book.source * book.nodes + book.target))
        pair = (book.source * book.nodes + book.target)[order]
        out = np.zeros(pair.size, dtype=bool)
        out[order[np.concatenate([[True], pair[1:] != pair[:-1]])]] = True
        return self._counted(out)

    def _counted(self, mask: Bools) -> tuple[Bools, Ints]:
        return mask, self.by_type(mask)

    @cached_property
    def _amounts(self) -> tuple[Floats, Ints]:
        """The amounts of every type, sorted, one type after the other; and where each begins."""
        order = np.lexsort((self.book.told, self.book.type))
        return self.book.told[order], np.concatenate([[0], np.cumsum(self._sizes)])

    @cached_property
    def middle(self) -> float:
        """The median amount of all events."""
        return float(np.nanmedian(self.book.told)) if self.book.paid else 0.0

    def between(self, low: float, high: float) -> Ints:
        """Count for every type the events with an amount of at least ``low`` and less than ``high``."""
        amounts, start = self._amounts
        return np.array([np.diff(np.searchsorted(amounts[a:b], [low, high]))[0] for a, b in pairwise(start.tolist())])

    @cached_property
    def received(self) -> Ints:
        """How many events every node received."""
        return np.bincount(self.book.target, minlength=self.book.nodes)

    def limit(self, amounts: Floats) -> float:
        """Return the round amount that most of some amounts are just below, 0 if there is none."""
        power = 10.0 ** np.floor(np.log10(np.maximum(amounts, 1e-9) / (1 - NEAR)))
        off = amounts[:, None] / power[:, None] / LIMITS - 1
        under = (off < 0) & (off >= -NEAR)
        limits = np.where(under.any(axis=1), LIMITS[under.argmax(axis=1)] * power, 0.0).round(6)
        found, counts = np.unique(limits[limits > 0], return_counts=True)
        return float(found[counts.argmax()]) if found.size and counts.max() >= LEAST * amounts.size else 0.0

    def others(self, events: Ints) -> tuple[Ints, str]:
        """Return the types of the events that some are compared with, all where they have few, and their name."""
        kinds = np.unique(self.book.type[events])
        named = [self.types[kind - 1] for kind in kinds.tolist() if kind]
        some = f" of the {'type' if len(named) == 1 else 'types'} {' and '.join(named)}" if 0 < len(named) <= 2 else ""
        if self._sizes[kinds].sum() - events.size < FEWEST:
            kinds, some = np.arange(self._sizes.size), ""
        return kinds, f"other {self.words.nouns.events}{some}"

    def alike(self, node: int) -> tuple[Bools, str]:
        """Return the nodes of the same kind, and what they are called."""
        kind = int(self.book.kind[node])
        return self.book.kind == kind, self.like[kind] if kind < len(self.like) else self.words.nouns.nodes


def marks_of(usual: Usual, shape: Shape, stated: Sequence[StatedFact] = ()) -> Marks:
    """Return what sets a case apart, the most telling first; then what the detector found of its members."""
    found = [one for make in (_shares, _passing, _own_past, _silence, _young) for one in make(usual, shape)]
    found.sort(key=lambda one: (-one.nats, one.fact.measure))
    form = [one for one in found if one.fact.measure in FORM]  # one of them says what the others say
    found = [one for one in found if one not in form[1:]]
    known = {one.fact.measure for one in found} | ({*FORM} if form else set())
    reasons = set[str]()
    for one in sorted(stated, key=lambda one: -one.loud):
        name = ALIKE.get(one.measure, one.measure)
        if len(found) < SHOWN and name not in known and (fact := one.beside_reasons(reasons)) is not None:
            known.add(name)
            found.append(Mark(fact, one.loud))
    return Marks(tuple(found))


def entering(book: EventBook, shape: Shape) -> Ints:
    """Return the events by which money came in, or all where that is not known."""
    givers = shape.of("pays in", outside=True)
    some = shape.events[np.isin(book.source[shape.events], givers)]
    return some if some.size >= 3 else shape.events


def _shares(usual: Usual, shape: Shape) -> Iterator[Mark]:
    """Compare the form of the events: their type, round amounts, a limit, equal amounts, the night, first contact."""
    book, words, mine = usual.book, usual.words, shape.events
    events, noun = entering(book, shape), words.nouns.events
    size, told = events.size, book.told[events]
    if size < 2:
        return
    kind = int(np.bincount(book.type[events]).argmax())
    if kind and np.count_nonzero(usual.by_type()) > 1:
        name, every = usual.types[kind - 1], np.arange(usual.by_type().size)
        counts = np.where(every == kind, usual.by_type(), 0)
        did = f"were of the type {name}"
        yield from _form(
            usual, shape, "type", book.type == kind, counts, (every, f"other {noun}"), did, _by(words, name)
        )
    forms: list[tuple[str, Bools, Ints, str, str]] = []
    if book.paid and words.sums:
        forms.append(("round amounts", *usual.round, "were round amounts", "in round sums"))
        limit = usual.limit(np.nan_to_num(told))
        if limit >= 100:
            low, said = limit * (1 - NEAR), words.amount(limit)
            under = (book.told < limit) & (book.told >= low)
            did, how = f"were just below {said}", f", each just below {said},"
            forms.append(("just below a limit", under, usual.between(low, limit), did, how))
        values, often = np.unique(np.round(np.nan_to_num(told), 2), return_counts=True)
        value = float(values[often.argmax()])
        if often.max() >= LEAST * size and value > 0 and size > 3:
            same, said = np.abs(book.told - value) < CENT / 2, words.amount(value)
            counts = usual.between(value - CENT / 2, value + CENT / 2)
            forms.append(("equal amounts", same, counts, f"were of {said} exactly", f", {said} each,"))
    if book.timed and usual.night[0].mean() < 0.5 and (book.time[events] % 1 > 0).any():
        forms.append(("odd hours", *usual.night, "came between midnight and 05:00", "at night"))
    if book.timed:
        forms.append(("new partners", *usual.opens, "went to somebody the sender had never dealt with before", ""))
    for measure, mask, counts, did, how in forms:
        yield from _form(usual, shape, measure, mask, counts, usual.others(mine), did, how)


def _by(words: Words, kind: str) -> str:
    """Say of which type events are, behind a verb."""
    name = kind.replace("_", " ").lower() if not kind.isupper() else kind
    return f"by {name}" if " " in name or plain(name) in NAMES else f"by {name} {words.nouns.event}"


def _form(
    usual: Usual, shape: Shape, measure: str, mask: Bools, counts: Ints, others: tuple[Ints, str], did: str, how: str
) -> Iterator[Mark]:
    """Compare how many events of a case have some form with how many others of some types have it."""
    book, (kinds, whom), mine = usual.book, others, shape.events
    events, inside = entering(book, shape), np.isin(book.type[mine], kinds)
    size, own = events.size, int(mask[events].sum())
    rest = int(usual.by_type()[kinds].sum()) - int(inside.sum())
    elsewhere = int(counts[kinds].sum()) - int((inside & mask[mine]).sum())
    part, other = own / size, elsewhere / max(rest, 1)
    if part < LEAST or other > RARE * part or rest < FEWEST:
        return
    p = (elsewhere + 1) / (rest + 1)
    nats = size * (
        part * np.log(part / p) + (1 - part) * np.log(max(1 - part, 1e-9) / (1 - p)) if own < size else -np.log(p)
    )
    many = ("Both" if size == 2 else f"All {size:,}") if own == size else f"{own:,} of the {size:,}"
    verb = "are" if did.startswith("were") else "do"
    rare = f"Usually {share(other) if other else 'none'} {verb}."
    fact = Fact(measure, f"{many} {usual.words.nouns.events} {did}.", rare, whom, rest, other)
    yield Mark(fact, float(nats), mine[mask[mine]], how if other <= HOW else "")


def _passing(usual: Usual, shape: Shape) -> Iterator[Mark]:
    """Compare the share that was passed on with what nodes of the kind pass on."""
    way = shape.of("passes on")
    book, words = usual.book, usual.words
    if not way or not book.paid or not words.sums or not book.timed:
        return
    same, whom = usual.alike(way[0])
    got = int((same & (usual.received > 0)).sum())
    part, rate = shape.share_passed, float(book.passed[book.kind[way[0]]])
    wait = float(np.median([hours for _, hours in shape.passed.values()]))
    stages = any(shape.payers[node] & {*way} for node in way)  # a sum that goes from one to the next is not added up
    total = sum(shape.received[node] for node in way)
    what = f"what {'it' if len(way) == 1 else 'they'}" if stages else f"the {words.amount(total)}"
    who = _some(words, way, "in the middle")
    soon = f", after {duration(wait)} in the median" if wait > 0 else ""
    here = f"{who} passed on {share(part)} of {what} received{soon}."
    rest = (
        f"Usually {article(words.nouns.node)} of this kind passes on {share(rate)} of what it receives within six days."
    )
    nats = len(way) * np.log(max(part, 1e-9) / max(rate, 1e-3)) * 3
    yield Mark(Fact("passed on to one", here, rest, whom, got), float(nats))


def _own_past(usual: Usual, shape: Shape) -> Iterator[Mark]:
    """Compare how many events its focus had, and how large, with its own other events."""
    book, words = usual.book, usual.words
    if not book.timed or shape.events.size < 3:
        return
    inside = np.isin(shape.own, shape.events)
    ours, rest = shape.own[inside], shape.own[~inside]
    first, last = book.time[shape.events].min(), book.time[shape.events].max()
    span, whole = max(last - first, 1.0), book.end - book.begin
    who = _some(words, shape.focus, _focus(words, shape))
    left = whole - span
    if left > span / 2 and ours.size:
        apart = rest[(book.time[rest] < first) | (book.time[rest] > last)]
        expected = (apart.size + 0.5) * span / left
        if ours.size > 3 * expected:
            here = f"{who} had {words.event_count(ours.size)} of this case in {duration(span)}."
            before = f"Usually there are fewer: {apart.size or 'none'} in the other {duration(left)} of the period."
            nats = ours.size * np.log(ours.size / expected) - ours.size + expected
            whom = f"other {words.nouns.events} of its own"
            yield Mark(Fact("busiest week", here, before, whom, int(apart.size)), float(nats) / 2)
    rest, ours = (some[np.isfinite(book.told[some])] for some in (rest, ours))
    if words.sums and rest.size >= 5 and ours.size:
        here_median, usual_median = (float(np.median(book.told[some])) for some in (ours, rest))
        if usual_median > 0 and here_median > 3 * usual_median:
            whose = f"of {who}" if len(shape.focus) == 1 else f"of the {len(shape.focus)}"
            here = f"The median {words.nouns.event} of the case is {words.amount(here_median)}."
            before = f"Usually it is {words.amount(usual_median)}: the median of the {rest.size:,} others {whose}."
            nats = 2 * np.log(here_median / usual_median)
            whom = f"other {words.nouns.events} of its own"
            yield Mark(Fact("amounts", here, before, whom, int(rest.size)), float(nats))


def _some(words: Words, nodes: Sequence[int], where: str) -> str:
    return words.names(nodes) if len(nodes) < 3 else f"The {len(nodes)} {where}"


def _focus(words: Words, shape: Shape) -> str:
    return "in the ring" if shape.pattern == "ring" else "in the middle" if shape.of("passes on") else words.nouns.nodes


def _silence(usual: Usual, shape: Shape) -> Iterator[Mark]:
    """Tell how long the member in the focus had been silent before."""
    book, words = usual.book, usual.words
    if not book.timed or len(shape.focus) != 1:
        return
    node = shape.focus[0]
    begin, first = book.begin, float(book.time[shape.events].min())
    times = book.time[book.of(node)]
    earlier = times[times < first]
    known = earlier.size or (book.born is not None and book.born[node] < begin)
    gap = first - float(earlier.max(initial=begin))
    if not known or gap < max(SILENT, (book.end - begin) / 4):
        return
    same, whom = usual.alike(node)
    counts = book.degree[same]
    often = (book.end - begin) / max(float(np.median(counts[counts > 0])), 1.0)
    if gap < 3 * often:
        return
    name = words.name(node)
    here = f"Before, {name} had no {words.nouns.event} for {duration(gap)}."
    rest = f"Usually {article(words.nouns.node)} of this kind has one every {duration(often)}."
    fact = Fact("silence", here, rest, whom, int((counts > 0).sum()))
    yield Mark(fact, gap / often, silent=f", silent for {duration(gap)},")


def _young(usual: Usual, shape: Shape) -> Iterator[Mark]:
    """Count the members that were opened shortly before."""
    book, words = usual.book, usual.words
    if book.born is None:
        return
    first = float(book.time[shape.events].min())
    least = 0.05 * max(shape.money, 0.0)
    moved = {node: shape.sent[node] + shape.received[node] for node in shape.draft.members}
    members = [node for node in shape.draft.members if np.isfinite(book.born[node]) and moved[node] >= least]
    young = [node for node in members if -DAY <= first - book.born[node] < YOUNG or book.born[node] > first]
    if len(young) < max(1, 0.3 * len(members)):
        return
    same, whom = usual.alike(young[0])
    born = book.born[same]
    known = born[np.isfinite(born)]
    part = float((first - known < YOUNG).mean()) if known.size else 1.0
    if part > 0.3 * len(young) / len(members):
        return
    who = words.name(young[0]) if len(young) == 1 else f"{len(young)} of the {words.node_count(len(members))}"
    here = f"{who} {'was' if len(young) == 1 else 'were'} opened less than 90 days before."
    if len(young) == len(members) > 1:
        here = f"All {words.node_count(len(members))} were opened less than 90 days before."
    fact = Fact("young members", here, f"Usually {share(part)} are that young.", whom, int(known.size), part)
    yield Mark(
        replace(fact, members=tuple(words.network.name(node) for node in young)), -len(young) * np.log(max(part, 1e-3))
    )
