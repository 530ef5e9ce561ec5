"""The loudest facts of a node in sentences, and what speaks against them."""

from __future__ import annotations

import numpy as np

from oddhop.base.arrays import Bools
from oddhop.explain.phrases import counted, one_in, said_number
from oddhop.graph.events import DAY
from oddhop.odd.facts.ends import Ends
from oddhop.odd.facts.excuses import EXCUSES, LEAST_SAID, explained, remains, shares
from oddhop.odd.facts.find import EventFacts

LEAST = float(np.log(20))  # as loud as one node in twenty


def fact_sentences(facts: EventFacts | None, node: int) -> tuple[str, ...]:
    """Return what a judged node did that is rare, with what speaks against it."""
    if facts is None:
        return ()
    setting = facts.known.setting
    place, ends = node - setting.judged.start, setting.ends(node, node + 1)
    sentences, by = [], explained(setting, ends)
    for number, loud in zip(facts.which[:, place].tolist(), facts.loud[:, place].tolist(), strict=True):
        if number < 0:
            break
        fact = facts.facts[number]
        adds = facts.adds(fact, ends)
        excused = shares(fact, ends, adds, by)[1]
        loud = loud / remains(excused)[0]
        if loud < LEAST:
            continue
        carries = adds > 0
        carries = carries if carries.any() else np.ones_like(carries)
        rare = one_in(float(np.exp(-loud)))
        words = {
            "events": _events(ends, carries, setting.events.columns.amounts),
            "partners": counted(np.unique(ends.partner[carries]).size, "node"),
            "days": counted(_silent_days(ends, carries, setting.begin), "day"),
        }
        against = [one.sentence for one, share in zip(EXCUSES, excused[:, 0], strict=True) if share > LEAST_SAID]
        but = f" But {', and '.join(against)}." if against else ""
        sentences.append(f"This node {fact.sentence.format(**words)}: only {rare} similar nodes does so much.{but}")
    return tuple(sentences)


def _events(ends: Ends, carries: Bools, amounts: tuple[str, ...]) -> str:
    total = f" (total {amounts[0]}: {said_number(round(float(ends.amount[carries].sum()), 2))})" if amounts else ""
    return f"{counted(int(carries.sum()), 'event')}{total}"


def _silent_days(ends: Ends, carries: Bools, begin: int) -> int:
    """Return how many days passed before the first of some events, since the one before it."""
    first = int(ends.time[carries].min())
    earlier = ends.time[ends.known & (ends.time < first)]
    return int((first - int(earlier.max(initial=begin))) // DAY)
