"""The loudest facts of a node as a card says them: what it did, and beside it what nodes alike usually do."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.cases.case import Fact as CardFact
from oddhop.cases.marks import StatedFact
from oddhop.cases.nouns import Words, article, duration, share
from oddhop.graph.events import DAY, HOUR
from oddhop.odd.facts.ends import Ends
from oddhop.odd.facts.excuses import EXCUSES
from oddhop.odd.facts.find import EventFacts
from oddhop.odd.facts.strata import classes
from oddhop.odd.facts.table import Fact, Measure

LEAST = float(np.log(20))  # as loud as one node in twenty
MOST = 0.5  # of a fact, from which on a card says what explains it
BEYOND, OFTEN = 1.3, 0.5  # times what is usual; a share that is usual is no fact
_IT_IS = "Usually it is {usual}."
USUAL: dict[Measure, str] = {
    "share": "Usually {usual} does.",
    "mean": _IT_IS,
    "total": _IT_IS,
    "gap": "Usually {one} has {event} every {usual}.",
}
Sides = tuple[bool, bool]
"""Whether what a node sent, and what it received, counts."""


@dataclass(frozen=True, eq=False)
class FactsInWords:
    """Says the facts of nodes. What is usual is the median over the nodes that the detector compares a node with."""

    facts: EventFacts
    words: Words
    _known: dict[tuple[str, Sides], Floats] = field(default_factory=dict, repr=False)

    @cached_property
    def alike(self) -> Ints:
        """With which class of nodes every judged node is compared."""
        setting = self.facts.known.setting
        return classes(setting.stratum, setting.counts)

    def __call__(self, node: int) -> tuple[StatedFact, ...]:
        """Return the loudest facts of a judged node, and the events that carry each."""
        setting = self.facts.known.setting
        if not setting.judged.start <= node < setting.judged.stop:
            return ()
        place, ends, out = node - setting.judged.start, setting.ends(node, node + 1), []
        loudest = zip(self.facts.which[:, place].tolist(), self.facts.loud[:, place].tolist(), strict=True)
        for number, loud in loudest:
            if number < 0 or loud < LEAST:
                break
            fact = self.facts.facts[number]
            carries = self.facts.adds(fact, ends) > 0
            carries = carries if carries.any() else np.ones_like(carries)
            moments = ends.time if setting.timed else np.zeros_like(ends.time)
            rows = ((ends.side == 1)[carries], ends.partner[carries], moments[carries])
            say, against = partial(self._said, fact, node, ends, carries), partial(self._against, fact, node, ends)
            out.append(StatedFact(fact.name, loud, *rows, say, against))
        return tuple(out)

    def _against(self, fact: Fact, node: int, ends: Ends) -> list[str]:
        """Return a sentence for every excuse that explains most of a fact."""
        words, nouns = self.words, self.words.nouns
        fills = {
            "who": words.name(node),
            "event": nouns.event,
            "nodes": nouns.nodes,
            "equal": "equal amounts" if self.facts.known.setting.valued else nouns.events,
        }
        part = self.facts.excused(fact, ends)[:, 0].tolist()
        return [one.sentence.format(**fills) for one, own in zip(EXCUSES, part, strict=True) if own >= MOST]

    def _said(self, fact: Fact, node: int, ends: Ends, carries: Bools) -> CardFact | None:
        words, setting = self.words, self.facts.known.setting
        place, directed = node - setting.judged.start, setting.events.columns.directed
        measure = fact.measure
        sides = tuple(bool((carries & (ends.side == side)).any()) for side in (0, 1))
        if measure in ("total", "mean") and directed:
            sides = fact.side == 0, fact.side == 1
        figures = self._figures(fact, (sides[0], sides[1]))
        same = (self.alike == self.alike[place]) & ~np.isnan(figures)
        own = float(figures[place])
        if np.isnan(own):
            return None  # a node that sent nothing has no usual amount
        usual = float(np.median(figures[same]))
        if measure == "share" and (own == 0 or own < BEYOND * usual or usual > OFTEN):
            return None  # it is rare for what it takes into account, and would not look so
        counted = carries & np.array(sides)[ends.side]
        here = self._amount(float(ends.amount[counted].sum()), int(counted.sum()))
        many = self._amount(usual, round(usual)) if measure == "total" else words.amount(usual)
        moved = [verb for verb, on in zip((self._verb, "received"), sides, strict=True) if on]
        days = _silent_days(ends, carries, setting.begin) if measure == "gap" else 0
        fills = {
            "who": words.name(node),
            "one": article(words.nouns.node),
            "noun": words.nouns.events,
            "event": article(words.nouns.event),
            "events": words.event_count(int(counted.sum())),
            "part": f"{here} ({share(own)}) of what {words.name(node)} {' and '.join(moved) if directed else 'had'}",
            "total": self._amount(own, round(own)),
            "mean": words.amount(own),
            "sent": self._verb,
            "partners": words.kinds(np.unique(ends.partner[counted]).tolist()),
            "days": f"{days:,} days",
        }
        said = {"share": share(usual) if usual else "none of it", "gap": duration(usual)}.get(measure, many)
        whom = f"{words.nouns.nodes} alike, with about as many {words.nouns.events}"
        above = figures[same] <= own if measure == "gap" else figures[same] >= own
        return CardFact(
            fact.name,
            fact.sentence.format(**fills),
            USUAL[measure].format(usual=said, **fills),
            whom,
            int(same.sum()),
            float(above.mean()),
        )

    @property
    def _verb(self) -> str:
        return "paid" if self.words.nouns.sent == "paid" else "sent"

    def _amount(self, amount: float, count: int) -> str:
        valued = self.facts.known.setting.valued and self.words.sums
        return self.words.amount(amount) if valued else self.words.event_count(count)

    def _figures(self, fact: Fact, sides: Sides) -> Floats:
        """Return the figure of every judged node: a share, a sum, a mean, or hours from one event to the next."""
        key = fact.name, sides
        if key in self._known:
            return self._known[key]
        setting, measure = self.facts.known.setting, fact.measure
        out = np.full(setting.stratum.size, np.nan)
        for ends in setting.blocks():
            on = np.array(sides)[ends.side]
            whole, count = ends.by_node(ends.amount * on), ends.by_node(on)
            if measure == "share":
                figure = ends.by_node(ends.amount * (on & (self.facts.adds(fact, ends) > 0)))
            elif measure == "gap":
                figure, whole = np.full(ends.nodes, float(setting.end - setting.begin) / HOUR), count
            else:
                figure, whole = (whole, np.ones(ends.nodes)) if measure == "total" else (whole, count)
            mine = setting.places(ends)
            out[mine] = np.divide(figure, whole, out=np.full(ends.nodes, np.nan), where=whole > 0)
        self._known[key] = out
        return out


def _silent_days(ends: Ends, carries: Bools, begin: int) -> int:
    """Return how many days passed before the first of some events, since the one before it."""
    first = int(ends.time[carries].min())
    earlier = ends.time[ends.known & (ends.time < first)]
    return int((first - int(earlier.max(initial=begin))) // DAY)
