"""One case of a draft, as data and sentences: who, what, when, and beside it what is usual."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from oddhop.base.arrays import Floats, Ints
from oddhop.cases import lone
from oddhop.cases.case import (
    Case,
    CaseEvent,
    Counterpart,
    Fact,
    LeftOut,
    Member,
    PassedOn,
    Reading,
    Role,
    Run,
)
from oddhop.cases.growth import MEMBERS, Draft
from oddhop.cases.marks import NIGHT, SHOWN, StatedFact, Usual, marks_of
from oddhop.cases.nouns import Words
from oddhop.cases.readings import everyday, group_reading, next_steps, reading_of, sureness
from oddhop.cases.sentences import LONGEST, SHORT, fitting, headlines
from oddhop.cases.shape import Shape, shape_of
from oddhop.cases.surprise import EventBook
from oddhop.cases.technical import technical
from oddhop.explain.columns import Columns
from oddhop.explain.explanation import Explanation
from oddhop.graph.events import DAY, NO_TIME
from oddhop.tables.network import Network

EVENTS, BESIDE, IDS = 300, 200, 5
ROLES: tuple[Role, ...] = ("pays in", "passes on", "ring", "group", "collects", "is paid", "alone")


@dataclass(frozen=True, eq=False)
class CardMaker:
    """Makes cases of drafts.

    Attributes
    ----------
    network, columns, words : what it is about, and how that is said.
    usual : of the events; None without any.
    rank, score : of every node.
    """

    network: Network
    columns: Columns
    words: Words
    usual: Usual | None
    rank: Ints
    score: Floats

    def of_events(self, number: int, draft: Draft, whys: Sequence[Explanation], stated: Sequence[StatedFact]) -> Case:
        """Return a case that events carry."""
        assert self.usual is not None  # noqa: S101 - there are events
        usual, book, words = self.usual, self.usual.book, self.words
        shape = shape_of(book, draft)
        marks = marks_of(usual, shape, stated)
        headline, short = headlines(words, book, shape, marks)
        events, beside = shape.events, self._beside(shape)
        times = book.when[events][book.when[events] != NO_TIME]
        members, more = self._members(shape)
        largest = np.lexsort((events, -book.amount[events]))[:EVENTS]
        shown = events[np.sort(largest)]
        left = events.size - shown.size
        return Case(
            id=str(whys[0].id),
            number=number,
            pattern=shape.pattern,
            headline=headline,
            short=short,
            members=members,
            more_members=more,
            focus=tuple(map(self.network.name, shape.focus)),
            order=tuple(map(self.network.name, shape.order)),
            events=(*self._events(shown, inside=True), *self._events(beside, inside=False)),
            event_count=events.size,
            more_events=left,
            outside=self._outside(shape),
            first=iso(int(times.min())) if times.size else None,
            last=iso(int(times.max())) if times.size else None,
            night_share=float((book.time[events] % 24 < NIGHT).mean()) if book.timed else None,
            amount=round(shape.money, 2) if book.paid else None,
            daily=self._daily(shape),
            runs=self._runs(shape) if book.timed else (),
            passed_on=tuple(
                PassedOn(self.network.name(node), round(part, 4), round(hours, 2) if book.timed else None)
                for node, (part, hours) in shape.passed.items()
            ),
            facts=marks.facts or self._column_facts(whys),
            reading=reading_of(usual, shape, marks.measures),
            next=next_steps(words, book, shape),
            sure=sureness(words, self._rarities(shape, whys), self._judged),
            technical=tuple(technical(words.nouns, why) for why in whys),
            left_out=(LeftOut(left, f"{words.nouns.events} of the case"),) if left else (),
        )

    def of_ties(self, number: int, draft: Draft, whys: Sequence[Explanation], stated: Sequence[StatedFact]) -> Case:
        """Return a case that no events carry."""
        words, network, why = self.words, self.network, whys[0]
        said, reasons = [one.fact for one in stated if one.fact is not None], set[str]()
        beside = [fact for one in stated if (fact := one.beside_reasons(reasons)) is not None]
        pattern = lone.PATTERNS.get(why.kind, "single")
        members = list(draft.members)
        if pattern == "group":
            own = self.network.numbers(list(dict.fromkeys(other for one in whys for other in one.group)))
            members = list(dict.fromkeys((*members, *own.tolist())))[:MEMBERS]
        if pattern == "group" and len(members) > 1:
            headline, short = lone.group_headline(words, network, members)
        else:
            headline, short = lone.lone_headline(words, self.columns, members[0], why, pattern, said)
        drawn = members[: lone.MOST_TIES]
        role: Role = "group" if len(members) > 1 else "alone"
        return Case(
            id=str(why.id),
            number=number,
            pattern=pattern,
            headline=fitting([headline, short], LONGEST),
            short=fitting([short], SHORT),
            members=tuple(self._member(node, role, node in draft.seeds) for node in members),
            focus=(why.id,),
            ties=tuple((network.name(a), network.name(b)) for a, b in lone.ties_among(network, drawn)),
            facts=(*beside, *self._column_facts(whys))[:SHOWN],
            reading=self._lone_reading(pattern, why, members),
            next=(f"The {words.nouns.nodes} that {why.id} deals with.",) if why.degree else (),
            sure=sureness(words, [_least_p(one) for one in whys], self._judged),
            technical=tuple(technical(words.nouns, why) for why in whys),
        )

    def _lone_reading(self, pattern: str, why: Explanation, members: Sequence[int]) -> Reading:
        """Return what a case without events of its own could be; hardly any money is a reading by itself."""
        reading, usual = group_reading(self.words, pattern, [one.column for one in why.columns]), self.usual
        if usual is None or not (usual.book.paid and self.words.sums) or len(members) > 1 or pattern != "single":
            return reading
        total = float(np.nansum(usual.book.told[usual.book.of(members[0])]))
        if total > usual.middle:
            return reading
        return everyday(self.words, reading.looks_like, self.words.amount(total), usual.middle)

    def _rarities(self, shape: Shape, whys: Sequence[Explanation]) -> list[float]:
        """Return how rare members are; those that only paid in or were paid do not count beside others."""
        core = set(map(self.network.name, shape.of("passes on", "ring", "group", "collects")))
        return [_least_p(why) for why in whys if why.id in core] or [_least_p(why) for why in whys]

    @property
    def _judged(self) -> int:
        return int(self.network.graph.judged.stop - self.network.graph.judged.start)

    def _column_facts(self, whys: Sequence[Explanation]) -> tuple[Fact, ...]:
        return lone.column_facts(self.words, whys[0])

    def _member(
        self, node: int, role: Role, flagged: bool, sent: float = 0.0, received: float = 0.0, events: int = 0
    ) -> Member:
        rank, score = int(self.rank[node]), float(self.score[node])
        return Member(
            id=self.network.name(node),
            role=role,
            kind=self.network.kind_of(node) or "",
            profile=self.network.profile(node),
            rank=rank or None,
            score=None if np.isnan(score) else score,
            flagged=flagged,
            sent=round(sent, 2),
            received=round(received, 2),
            events=events,
        )

    def _members(self, shape: Shape) -> tuple[tuple[Member, ...], int]:
        """Return the members by role and amount, at most 80: flagged ones and those with the largest amounts."""
        book, draft = self._book, shape.draft
        moved = {node: shape.sent[node] + shape.received[node] for node in draft.members}
        kept = sorted(draft.members, key=lambda node: (node not in draft.seeds, -moved[node], node))[:MEMBERS]
        kept.sort(key=lambda node: (ROLES.index(shape.role[node]), -moved[node], node))
        ends = np.concatenate([book.source[shape.events], book.target[shape.events]])
        return tuple(
            self._member(
                node,
                shape.role[node],
                node in draft.seeds,
                shape.sent[node],
                shape.received[node],
                int((ends == node).sum()),
            )
            for node in kept
        ), len(draft.members) - len(kept)

    @property
    def _book(self) -> EventBook:
        assert self.usual is not None  # noqa: S101 - there are events
        return self.usual.book

    def _events(self, events: Ints, *, inside: bool) -> tuple[CaseEvent, ...]:
        book, network = self._book, self.network
        types = self.usual.types if self.usual is not None else ()
        return tuple(
            CaseEvent(
                network.name(int(book.source[k])),
                network.name(int(book.target[k])),
                iso(int(book.when[k])) if book.when[k] != NO_TIME else None,
                None if np.isnan(book.told[k]) else float(book.told[k]),
                types[book.type[k] - 1] if book.type[k] and types else "",
                inside,
            )
            for k in events.tolist()
        )

    def _beside(self, shape: Shape) -> Ints:
        """Return other events of the focus, the largest where there are very many, by time."""
        book = self._book
        own = shape.own[~np.isin(shape.own, shape.events)]
        own = own[np.lexsort((own, -book.amount[own]))[:BESIDE]]
        return np.asarray(own[np.lexsort((own, book.time[own]))])

    def _daily(self, shape: Shape) -> tuple[tuple[str, float, float], ...]:
        """Return for every day with events of the focus what belongs to the case, and what does not."""
        book = self._book
        if not book.timed:
            return ()
        own = shape.own[book.when[shape.own] != NO_TIME]
        inside = np.isin(own, shape.events)
        days, place = np.unique(book.when[own] // DAY, return_inverse=True)
        weight = np.nan_to_num(book.told[own]) if book.paid else np.ones(own.size)
        ours, other = (np.bincount(place, weight * some, days.size) for some in (inside, ~inside))
        return tuple(
            (iso(int(day) * DAY)[:10], round(float(a), 2), round(float(b), 2))
            for day, a, b in zip(days, ours, other, strict=True)
        )

    def _runs(self, shape: Shape) -> tuple[Run, ...]:
        book = self._book
        return tuple(
            Run(
                iso(int(book.when[run].min())),
                iso(int(book.when[run].max())),
                run.size,
                round(float(np.nansum(book.told[run])), 2) if book.paid else 0.0,
            )
            for run in (some[book.when[some] != NO_TIME] for some in shape.runs)
            if run.size
        )

    def _outside(self, shape: Shape) -> tuple[Counterpart, ...]:
        """Count who stands at the edge, by kind and role."""
        groups: dict[tuple[str, Role], list[int]] = {}
        assert self.usual is not None  # noqa: S101 - there are events
        for node in shape.draft.outside:
            kind = self.network.kind_of(node) or self.usual.alike(node)[1]
            groups.setdefault((kind, shape.role[node]), []).append(node)
        return tuple(
            Counterpart(
                len(some),
                kind,
                role,
                round(sum(max(shape.sent[node], shape.received[node]) for node in some), 2),
                tuple(map(self.network.name, some[:IDS])),
            )
            for (kind, role), some in groups.items()
        )


def iso(moment: int) -> str:
    """Return a time in microseconds as ISO 8601."""
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=moment)).replace(tzinfo=None).isoformat()


def _least_p(why: Explanation) -> float:
    return min((one.p for one in why.views), default=1.0)
