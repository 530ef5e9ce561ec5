"""The cases of a ranking: from flagged nodes and their events to cases with sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.cases import lone
from oddhop.cases.assemble import assemble
from oddhop.cases.card import CardMaker, iso
from oddhop.cases.case import Case, Cases, Nouns
from oddhop.cases.growth import LOOK, Draft, gather, with_events
from oddhop.cases.marks import StatedFact, Usual
from oddhop.cases.nouns import Words
from oddhop.cases.surprise import EventBook, event_book, with_surprise
from oddhop.explain.columns import Columns
from oddhop.explain.explanation import NOTABLE, Explanation
from oddhop.graph.events import HOUR, NO_TIME
from oddhop.tables.encode.encoders import CategoryColumn, DateColumn
from oddhop.tables.network import Network
from oddhop.tables.words import plain

BORN = (
    "open",
    "creat",
    "born",
    "birth",
    "since",
    "found",
    "regist",
    "join",
    "start",
    "first",
    "eroffn",
    "grund",
    "angelegt",
)
FEWEST = 3  # nodes of a cycle or a group
FEW, CARRY = 5, 0.5  # events that carry a fact: so many, or so many of all
YEAR = 366 * 24 * HOUR


@dataclass(frozen=True, eq=False)
class Known:
    """What a detector knows of a network beside its ranking.

    Attributes
    ----------
    stratum : with whom every judged node is compared, by number.
    facts : given the words of the table, says what the events of a node say that is rare, the rarest first.
    """

    stratum: Ints
    facts: Callable[[Words], Callable[[int], Sequence[StatedFact]]]


@dataclass(frozen=True, eq=False)
class CaseFinder:
    """Finds the cases of a ranked network. What was gathered around a node is kept.

    Attributes
    ----------
    network, result : the network, and the table that ranks it.
    nouns : the words of its tables.
    known : what the detector knows beside; None where it knows nothing.
    """

    network: Network
    result: pa.Table
    nouns: Nouns
    known: Known | None = None
    _drafts: dict[int, Draft] = field(default_factory=dict, repr=False)
    _stated: dict[int, Sequence[StatedFact]] = field(default_factory=dict, repr=False)

    @cached_property
    def columns(self) -> Columns:
        """The columns of the node table."""
        return Columns(self.network)

    @cached_property
    def kind(self) -> Ints:
        """The kind of every node: with whom it is compared."""
        graph = self.network.graph
        out = np.zeros(graph.node_count, dtype=np.int64)
        if graph.kinds is not None:
            out = graph.kinds.of(np.arange(graph.node_count)).astype(np.int64)
        if self.known is not None:
            out[graph.judged] += self.known.stratum * (1 if graph.kinds is None else len(graph.kinds.names))
        return np.unique(out, return_inverse=True)[1]

    @cached_property
    def book(self) -> EventBook | None:
        """The events with their surprise; None where there are none, or they have neither times nor amounts."""
        events = self.network.graph.events
        if events is None or not events.event_count:
            return None
        book = event_book(events, self.kind, self._born())
        return with_surprise(book) if book.paid or book.timed else None

    @cached_property
    def bursts(self) -> Bools:
        """The nodes whose events are flagged: their bursts join a case at once, and those of a busy shop do not."""
        out = np.zeros(self.network.graph.node_count, dtype=bool)
        numbers = self.network.numbers(self.result["id"])
        if "p_flow" in self.result.column_names:
            out[numbers] = self.result["p_flow"].to_numpy() < NOTABLE
        else:
            out[numbers] = True
        return out

    @cached_property
    def ranked(self) -> tuple[Ints, Floats]:
        """The rank and the score of every node, 0 and NaN where it has none."""
        count = self.network.graph.node_count
        rank, score = np.zeros(count, dtype=np.int64), np.full(count, np.nan)
        judged = self.result.filter(self.result["judged"])
        numbers = self.network.numbers(judged["id"])
        rank[numbers] = np.arange(1, numbers.size + 1)
        score[numbers] = judged["score"].to_numpy()
        return rank, score

    def _born(self) -> Floats | None:
        """Return when every node was opened, in hours since 1970, by the first column of dates with such a name."""
        originals = self.network.originals
        if originals is None:
            return None
        for span in self.columns.spans:
            name = plain(span.name.rpartition(".")[2])
            if isinstance(span.encoder, DateColumn) and any(part in name for part in BORN):
                column = originals.column(span.name)
                try:
                    moments = column.cast(pa.timestamp("us")).to_numpy().astype("datetime64[us]")
                except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                    continue
                hours = moments.astype(np.int64) / HOUR
                return np.where(np.isnat(moments), np.nan, hours)
        return None

    def drafts(self, explanations: Sequence[Explanation]) -> list[Draft]:
        """Return who and what belongs together, for nodes that were explained, the most unusual first."""
        nodes = self._nodes(explanations)
        for node in nodes:
            if node not in self._drafts:
                self._drafts[node] = self.gathered(node)
        groups = lone.groups_of(explanations, nodes)
        views = [self._with_view(node, why) for node, why in zip(nodes, explanations, strict=True)]
        drafts = assemble(self.book, views, groups)
        return [self._carried(draft) for draft in drafts]

    def _with_view(self, node: int, why: Explanation) -> Draft:
        """Add to what was gathered the events of the cycle or the group that a view found."""
        book, draft = self.book, self._drafts[node]
        group = why.cycle if why.kind == "cycle" else why.group if why.kind == "clique" else ()
        if book is None or len(group) < FEWEST:
            return draft
        members = self.network.numbers(list(dict.fromkeys((*group, *(() if why.cycle else (why.id,))))))
        own = np.unique(np.concatenate([book.of(one, LOOK) for one in members.tolist()]))
        inside = np.isin(book.source[own], members) & np.isin(book.target[own], members)
        if why.kind == "cycle":
            steps = dict(zip(members.tolist(), np.roll(members, -1).tolist(), strict=True))
            inside &= np.array([steps.get(one) for one in book.source[own].tolist()]) == book.target[own]
        return with_events(book, draft, own[inside], members=True) if inside.any() else draft

    def stated(self, node: int) -> Sequence[StatedFact]:
        """Return the facts that the detector found of a node."""
        if node not in self._stated:
            self._stated[node] = () if self._say is None else self._say(node)
        return self._stated[node]

    @cached_property
    def _say(self) -> Callable[[int], Sequence[StatedFact]] | None:
        return None if self.known is None else self.known.facts(self.maker.words)

    def gathered(self, node: int) -> Draft:
        """Return what belongs with one node."""
        if self.book is None:
            return Draft((node,), (), frozenset(), (node,))
        return gather(self.book, node, self.bursts)

    def _carried(self, draft: Draft) -> Draft:
        """Give a lone node the events that carry its loudest fact, if they are few of its events."""
        if self.book is None or draft.events:
            return draft
        for one in self.stated(draft.seeds[0]):
            events = self._events_of(draft.seeds[0], one)
            if events.size <= max(FEW, CARRY * self.book.of(draft.seeds[0]).size):
                return with_events(self.book, draft, events, members=False)
        return draft

    def _events_of(self, node: int, stated: StatedFact) -> Ints:
        """Return the numbers of the events that carry a fact."""
        assert self.book is not None  # noqa: S101 - a fact is of events
        own = self.book.of(node)
        ends = (self.book.target[own] == node, self.book.other(own, node), self.book.when[own])
        told = zip(stated.received.tolist(), stated.partner.tolist(), stated.time.tolist(), strict=True)
        wanted = (
            set(told)
            if self.book.directed
            else {(True, *rest) for _, *rest in told} | {(False, *rest) for _, *rest in told}
        )
        if not self.book.timed:
            wanted = {(side, partner, 0) for side, partner, _ in wanted}
            ends = (ends[0], ends[1], np.zeros(own.size, dtype=np.int64))
        inside = [one in wanted for one in zip(*(end.tolist() for end in ends), strict=True)]
        return np.asarray(own[np.array(inside, dtype=bool)])

    def numbers(self, explanations: Sequence[Explanation]) -> list[int]:
        """Return the number of the case of every node that was explained, from 1 on."""
        number = {seed: k for k, draft in enumerate(self.drafts(explanations), 1) for seed in draft.seeds}
        return [number[node] for node in self._nodes(explanations)]

    def find(self, explanations: Sequence[Explanation], top: int | None = None) -> Cases:
        """Return the cases of nodes that were explained, the most unusual first, or only so many."""
        whys = dict(zip(self._nodes(explanations), explanations, strict=True))
        drafts = self.drafts(explanations)[:top]
        cases = tuple(self._case(number, draft, whys) for number, draft in enumerate(drafts, 1))
        graph, first, last = self.network.graph, None, None
        if self.book is not None and self.book.timed:
            known = self.book.when[self.book.when != NO_TIME]
            first, last = iso(int(known.min())), iso(int(known.max()))
        count = graph.judged.stop - graph.judged.start
        events = 0 if graph.events is None else graph.events.event_count
        return Cases(cases, self.nouns, nodes=count, events=events, first=first, last=last)

    def _nodes(self, explanations: Sequence[Explanation]) -> list[int]:
        return self.network.numbers([why.id for why in explanations]).tolist() if explanations else []

    def _case(self, number: int, draft: Draft, whys: dict[int, Explanation]) -> Case:
        mine = [whys[seed] for seed in draft.seeds]
        stated = [one for seed in draft.seeds for one in self.stated(seed)]
        return (self.maker.of_events if draft.events else self.maker.of_ties)(number, draft, mine, stated)

    @cached_property
    def maker(self) -> CardMaker:
        """Makes cases of drafts."""
        book = self.book
        years = book is not None and book.timed and bool(np.ptp(book.when[book.when != NO_TIME]) > YEAR)
        words = Words(self.nouns, self.network, years)
        events = self.network.graph.events
        types = () if events is None or not events.columns.kinds else events.columns.levels[0]
        usual = None if book is None else Usual(book, words, types, self._kind_names())
        return CardMaker(self.network, self.columns, words, usual, *self.ranked)

    def _kind_names(self) -> tuple[str, ...]:
        """Return what the nodes of a kind are called: by the column that tells the kinds apart."""
        graph, nouns = self.network.graph, self.nouns
        names = [nouns.nodes] * (int(self.kind.max(initial=0)) + 1)
        first = np.unique(self.kind, return_index=True)[1]
        if graph.kinds is not None:
            for code, node in enumerate(first.tolist()):
                names[code] = f"nodes of the kind {self.network.kind_of(node)}"
        if self.known is None:
            return tuple(names)
        own = self.kind[graph.judged]
        for span in self.columns.spans:
            if isinstance(span.encoder, CategoryColumn):
                codes = self.columns.rows(np.arange(graph.judged.start, graph.judged.stop), span).argmax(axis=1)
                if np.unique(codes * (own.max() + 1) + own).size == np.unique(own).size == np.unique(codes).size:
                    label = span.name.rpartition(".")[2]
                    for code in np.unique(own).tolist():
                        value = self.columns.own(span, int(first[code]))
                        names[code] = f"{nouns.nodes} whose {label} is {value}"
                    break
        return tuple(names)
