"""The loudest facts of a node in sentences, and the events that carry them."""

from __future__ import annotations

import numpy as np

from oddhop.base.arrays import Bools
from oddhop.explain.phrases import counted, one_in, said_number
from oddhop.graph.events import DAY
from oddhop.odd.facts.ends import Ends
from oddhop.odd.facts.find import EventFacts

LEAST = float(np.log(20))  # as loud as one node in twenty

MarkedEvent = tuple[bool, int, int]
"""Whether an event was received, its partner, and its time."""


def fact_sentences(facts: EventFacts | None, node: int) -> tuple[tuple[str, ...], tuple[MarkedEvent, ...]]:
    """Return what a judged node did that is rare, the rarest first, and the events that it did so with."""
    if facts is None:
        return (), ()
    setting = facts.known.setting
    place, ends = node - setting.judged.start, setting.ends(node, node + 1)
    sentences, marked = [], np.zeros(ends.node.size, dtype=bool)
    for number, loud in zip(facts.which[:, place].tolist(), facts.loud[:, place].tolist(), strict=True):
        if number < 0 or loud < LEAST:
            break
        fact = facts.facts[number]
        carries = facts.adds(fact, ends) > 0
        carries = carries if carries.any() else np.ones_like(carries)
        marked |= carries
        rare = one_in(float(np.exp(-loud)))
        words = {
            "events": _events(ends, carries, setting.events.columns.amounts),
            "partners": counted(np.unique(ends.partner[carries]).size, "node"),
            "days": counted(_silent_days(ends, carries, setting.begin), "day"),
        }
        sentences.append(f"This node {fact.sentence.format(**words)}: only {rare} similar nodes does so much.")
    timed = ends.time if setting.timed else np.zeros_like(ends.time)
    odd = zip((ends.side == 1)[marked].tolist(), ends.partner[marked].tolist(), timed[marked].tolist(), strict=True)
    return tuple(sentences), tuple(odd)


def _events(ends: Ends, carries: Bools, amounts: tuple[str, ...]) -> str:
    total = f" (total {amounts[0]}: {said_number(round(float(ends.amount[carries].sum()), 2))})" if amounts else ""
    return f"{counted(int(carries.sum()), 'event')}{total}"


def _silent_days(ends: Ends, carries: Bools, begin: int) -> int:
    """Return how many days passed before the first of some events, since the one before it."""
    first = int(ends.time[carries].min())
    earlier = ends.time[ends.known & (ends.time < first)]
    return int((first - int(earlier.max(initial=begin))) // DAY)
