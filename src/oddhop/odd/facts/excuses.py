"""What speaks against a fact: an innocent reason for the events that carry it, one row each.

An excuse says of every event how far it is explained, from 0 to 1. A fact is lowered by the share of what carries it
that is explained, times one weight for all excuses, so an excuse acts on the facts that rest on such events, and not on
the node. Where several hold, each lowers what the others leave.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from oddhop.base.arrays import Floats
from oddhop.odd.facts.ends import Ends, Setting
from oddhop.odd.facts.kernels import lower, mark_regular, mark_turns, weeks_of_new_partners
from oddhop.odd.facts.of_nodes import WEEKS
from oddhop.odd.facts.table import BACK, FORM, HOURS, Fact

WEIGHT = 0.7  # by how much a fact is lowered that is explained in full; 0 for none
MANY = 2.0  # times as many partners as nodes have on average; with as many others an event is explained by half


@dataclass(frozen=True)
class Excuse:
    """One innocent reason.

    Attributes
    ----------
    name : what it is called.
    sentence : what a card says beside a fact most of which it explains.
    of_ends : how far every end is explained; None for the share of a single event in all that carries the fact.
    timed : whether events must have times.
    not_for : the families of facts that it does not explain.
    by_columns : whether it explains what is beyond a node's columns: a volume is, by whatever number of events and
        with whatever partners it came about.
    """

    name: str
    sentence: str
    of_ends: Callable[[Setting, Ends], Floats] | None = None
    timed: bool = False
    not_for: tuple[int, ...] = ()
    by_columns: bool = True

    def explains(self, fact: Fact) -> bool:
        """Return whether it can explain a fact."""
        return fact.family not in self.not_for and (self.by_columns or not fact.by_columns)


def regular(_: Setting, ends: Ends) -> Floats:
    """Mark equal amounts to or from a partner at equal intervals of a week or longer."""
    return mark_regular(2 * ends.pair + ends.side, ends.time, ends.amount)


def in_turn(_: Setting, ends: Ends) -> Floats:
    """Mark the events with a partner where what was sent and what was received always take turns."""
    return mark_turns(ends.pair, ends.side)


def new_partners_in_most_weeks(setting: Setting, ends: Ends) -> Floats:
    """Return in which share of all other weeks a node has new partners, on this side and with this kind of event."""
    week = (ends.time - setting.begin) * WEEKS // (setting.end - setting.begin + 1)
    fresh = ends.opens & ends.known
    return weeks_of_new_partners(ends.start, ends.form, week, fresh) / (WEEKS - 1)


def partners_of_many(setting: Setting, ends: Ends) -> Floats:
    """Return how many others the partner deals with on its side, as a share."""
    side = setting.other_side(ends)
    others = setting.partner_counts[ends.partner, side] - 1
    return np.asarray(others / (others + MANY * setting.usual_partners[side]))


def partners_of_its_kind(setting: Setting, ends: Ends) -> Floats:
    """Return how many others of the same stratum the partner deals with on its side, as a share."""
    others = np.maximum(setting.partners_alike(ends) - 1, 0)
    return np.asarray(others / (others + max(setting.usual_alike, 1.0)))


def many_partners(setting: Setting, ends: Ends) -> Floats:
    """Return over how many partners the amounts of a node are spread on a side, as a share."""
    side = 2 * ends.node + ends.side
    # A power of two changes no bit of the ratio, and the square of the largest number stays one.
    amount = np.ldexp(ends.amount, -max(0, int(np.frexp(ends.amount.max(initial=0.0))[1]) - 500))
    whole, squares = (np.bincount(side, x) for x in (amount, amount * ends.by_arc(amount)))
    others = np.maximum(whole**2 / np.maximum(squares, 1e-300) - 1, 0.0)
    return np.asarray((others / (others + MANY * setting.usual_partners[np.arange(others.size) % 2]))[side])


_REGULAR = "Most of it is {equal} at equal intervals."
_KNOWN = "Most of it was with partners that many others deal with."
_PEERS = "Most of it was with partners that {nodes} alike deal with, too."
EXCUSES = (
    Excuse("one event", "Most of it is a single {event}.", by_columns=False),
    Excuse("regular", _REGULAR, regular, True),
    Excuse("in turn", "Most of it went back and forth in turn.", in_turn, True),
    Excuse("habit", "In most weeks {who} has new partners.", new_partners_in_most_weeks, True, (FORM, HOURS)),
    Excuse("known", _KNOWN, partners_of_many, False, (BACK, FORM), False),
    Excuse("peers", _PEERS, partners_of_its_kind, False, (BACK, FORM)),
    Excuse("many", "It is spread over many partners.", many_partners, False, (BACK, FORM)),
)


def explained(setting: Setting, ends: Ends) -> Floats:
    """Return how far each excuse explains every end, (ends, excuses); NaN in the column of a single event."""
    out = np.zeros((ends.node.size, len(EXCUSES)))
    for k, one in enumerate(EXCUSES):
        if one.of_ends is None:
            out[:, k] = np.nan
        elif setting.timed or not one.timed:
            out[:, k] = one.of_ends(setting, ends)
    return out


def shares(fact: Fact, ends: Ends, adds: Floats, by: Floats) -> tuple[Floats, Floats]:
    """Return how much carries a fact, (nodes,), and which share of that each excuse explains, (excuses, nodes)."""
    used = np.array([one.explains(fact) for one in EXCUSES])
    return lower(ends.start, adds, by, used)


def remains(explained_by: Floats) -> Floats:
    """Return what is left of a fact by shares that are explained."""
    return np.asarray((1 - WEIGHT * explained_by).prod(axis=0))
