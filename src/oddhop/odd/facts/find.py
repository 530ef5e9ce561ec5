"""All facts of a network: how loud each is for every node, and one p-value of the loudest together.

A fact is loud as its figure is rare among nodes of the same stratum with about as many events, and as the amount that
carries it is rare within the stratum: the geometric mean of -log of both shares. What excuses explain of the events
that carry it is taken off, see :mod:`oddhop.odd.facts.excuses`. Of each family the loudest fact counts. The three
loudest are added up, and the sum becomes a p-value by :func:`oddhop.odd.tail.tail_log_p`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.graph.events import NO_TIME, Events
from oddhop.graph.rows import AttributeRows
from oddhop.odd.facts.ends import Blocks, Ends, Setting, measure_nodes
from oddhop.odd.facts.excuses import explained, remains, shares
from oddhop.odd.facts.of_ends import Known, learn_known
from oddhop.odd.facts.share import Usual, standing, usual_of
from oddhop.odd.facts.strata import categories, classes, guess_stratum, unexplained_volumes
from oddhop.odd.facts.table import Fact, facts_for
from oddhop.odd.tail import tail_log_p

TOP = 3  # facts that are added up
BYTES_AT_ONCE = 1 << 28  # of figures
LATEST = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class EventFacts:
    """The facts of the judged nodes.

    Attributes
    ----------
    known : what they are made of.
    facts : which there are.
    usual : what is usual, for those that are shares.
    which, loud : the loudest facts of every node by their numbers, -1 for none, and how loud they are, (3, nodes).
    log_p : of every node, all facts together.
    """

    known: Known
    facts: tuple[Fact, ...]
    usual: dict[Fact, Usual]
    which: Ints
    loud: Floats
    log_p: Floats

    def adds(self, fact: Fact, ends: Ends) -> Floats:
        """Return how much every end adds to a fact."""
        return _figures_of(fact, self.known, self.usual, ends)[2]

    def excused(self, fact: Fact, ends: Ends) -> Floats:
        """Return which share of a fact each excuse explains, (excuses, nodes); 0 of what nodes do too little of."""
        figure, _, adds = _figures_of(fact, self.known, self.usual, ends)
        explained_by = shares(fact, ends, adds, explained(self.known.setting, ends))[1]
        return np.where(_too_little(fact, figure), 0.0, explained_by)


def find_facts(
    events: Events | None,
    nodes: slice,
    coordinates: AttributeRows,
    columns: AttributeRows,
    found: EventFacts | None = None,
) -> EventFacts | None:
    """Find the facts of the judged nodes; None without events.

    ``coordinates`` and ``columns`` are what else is known of these nodes, as views see it and as it was encoded. What
    was ``found`` before is returned if it is of the same events.
    """
    if events is None:
        return None
    if found is not None and found.known.setting.events is events:
        return found
    return _find_facts(events, nodes, coordinates, columns)


def _find_facts(events: Events, nodes: slice, coordinates: AttributeRows, columns: AttributeRows) -> EventFacts:
    volume, seen, usual_amount = measure_nodes(events)
    stratum = guess_stratum(categories(columns), volume[:, nodes].sum(axis=0))
    begin = int(seen.min(where=seen != NO_TIME, initial=LATEST))
    end = int(events.times.max(initial=NO_TIME))
    setting = Setting(events, range(nodes.start, nodes.stop), stratum, volume, seen, begin, end, usual_amount)
    blocks = Blocks(setting)
    known = learn_known(blocks, unexplained_volumes(setting, coordinates))
    facts, usual = facts_for(setting), dict[Fact, Usual]()
    for ends in blocks:
        for fact in facts:
            if fact.of_ends is not None:
                share = fact.of_ends(known, ends)
                usual.setdefault(fact, usual_of(share)).add(share)
    which, loud = _loudest(blocks, known, facts, usual)
    return EventFacts(known, facts, usual, which, loud, tail_log_p(loud.sum(axis=0), setting.counts > 0))


def _loudest(blocks: Blocks, known: Known, facts: tuple[Fact, ...], usual: dict[Fact, Usual]) -> tuple[Ints, Floats]:
    """Return the loudest facts of every node, at most one of a family."""
    setting = known.setting
    nodes, live = setting.stratum.size, setting.counts > 0
    alike, stratum = members(classes(setting.stratum, setting.counts)), members(setting.stratum)
    everybody = [np.arange(nodes)]
    which, loud = np.full((TOP, nodes), -1), np.zeros((TOP, nodes))
    best, number = np.zeros(nodes), np.full(nodes, -1)
    at_once = max(1, BYTES_AT_ONCE // (32 * max(nodes, 1)))
    for first in range(0, len(facts), at_once):
        some = facts[first : first + at_once]
        made = zip(some, *_figures(blocks, known, some, usual), strict=True)
        for k, (fact, figure, carried, left) in enumerate(made, first):
            own = rarity(figure, everybody if fact.by_columns else alike, fact.sides)
            if setting.valued and not fact.by_columns:
                own = np.sqrt(own * rarity(np.where(live, carried, np.nan), stratum))
            own = own * np.where(_too_little(fact, figure), 1.0, left)
            best, number = np.maximum(best, own), np.where(own > best, k, number)
            if k + 1 == len(facts) or facts[k + 1].family != fact.family:
                _insert(which, loud, number, best)
                best, number = np.zeros(nodes), np.full(nodes, -1)
    return which, loud


def _figures(
    blocks: Blocks, known: Known, facts: Sequence[Fact], usual: dict[Fact, Usual]
) -> tuple[Floats, Floats, Floats]:
    """Return of every node the figures, the amounts that carry them and what excuses leave, (facts, nodes) each."""
    figures, chance, carried, left = np.full((4, len(facts), known.setting.stratum.size), np.nan)
    for ends in blocks:
        mine, by = known.setting.places(ends), explained(known.setting, ends)
        for k, fact in enumerate(facts):
            figures[k, mine], chance[k, mine], adds = _figures_of(fact, known, usual, ends)
            carried[k, mine], excused = shares(fact, ends, adds, by)
            left[k, mine] = remains(excused)
    for k, fact in enumerate(facts):
        if fact.of_ends is not None:
            figures[k] = standing(figures[k], chance[k])
    return figures, carried, left


def _figures_of(fact: Fact, known: Known, usual: dict[Fact, Usual], ends: Ends) -> tuple[Floats, Floats, Floats]:
    """Return the figures of some nodes, their variance by chance, and how much every end adds."""
    if fact.of_ends is not None:
        return usual[fact].rates(ends, fact.of_ends(known, ends))
    assert fact.of_nodes is not None  # noqa: S101 - it is one or the other
    figure, adds = fact.of_nodes(known, ends)
    return figure, np.zeros(figure.size), adds


def _too_little(fact: Fact, figure: Floats) -> Bools:
    """Return which nodes do too little of something, which no event carries."""
    return np.asarray((figure < 0) & (fact.sides == 2))


def members(among: Ints) -> list[Ints]:
    """Return the nodes of every class."""
    return np.split(np.argsort(among, kind="stable"), np.cumsum(np.bincount(among))[:-1])


def rarity(figure: Floats, among: Sequence[Ints], sides: int = 1) -> Floats:
    """Return -log of the share of nodes of the same class that are as far out, ties against it; 0 where unknown."""
    out = np.zeros(figure.size)
    for some in among:
        own = some[~np.isnan(figure[some])]
        own = own[np.argsort(figure[own])]
        starts = np.flatnonzero(np.diff(figure[own], prepend=np.nan) != 0)  # of those that are equal
        sizes = np.diff(starts, append=own.size)
        share = (own.size - starts) / (own.size + 1)
        if sides == 2:
            share = np.minimum(2 * np.minimum(share, (starts + sizes) / (own.size + 1)), 1.0)
        out[own] = np.repeat(-np.log(share), sizes)
    return out


def _insert(which: Ints, loud: Floats, number: Ints, best: Floats) -> None:
    """Insert a fact of every node among its loudest, behind those that are as loud."""
    for k in range(TOP):
        louder = best > loud[k]
        loud[k], best = np.where(louder, best, loud[k]), np.where(louder, loud[k], best)
        which[k], number = np.where(louder, number, which[k]), np.where(louder, which[k], number)
