"""The facts, one row each: what it is called, how it is computed, and what a card says of a node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from oddhop.odd.facts import of_ends, of_nodes
from oddhop.odd.facts.ends import Ends, Setting
from oddhop.odd.facts.of_ends import Known
from oddhop.odd.facts.of_nodes import Made
from oddhop.odd.facts.share import Share

Needs = Literal["", "time", "amount", "both"]
Measure = Literal["share", "total", "mean", "gap"]
"""The figure of a fact on a card: the share of what a node sent or received that carries it, all, a mean, or a time."""
NEW, TIES, BACK, FORM, EQUAL, HOURS, ON, SIZE = range(8)
"""Families: facts of one family say nearly the same, and only the loudest of them counts."""


@dataclass(frozen=True)
class Fact:
    """One fact.

    Attributes
    ----------
    name, family : what it is called, and which facts say nearly the same.
    sentence : what a card says of a node, see :mod:`oddhop.odd.facts.stated`.
    needs : what events must have.
    of_ends : the figure of every end, for a fact that is a share, see :mod:`oddhop.odd.facts.share`.
    of_nodes : the figure of every node, for another one.
    sides : 2 where a low figure is odd, too.
    by_columns : whether a node's columns are taken into account already; it is compared with all nodes then.
    measure : which figure a card compares with that of other nodes.
    side : for a sum or a mean, whether it is of what was sent, 0, or received.
    """

    name: str
    family: int
    sentence: str
    needs: Needs = ""
    of_ends: Callable[[Known, Ends], Share] | None = None
    of_nodes: Callable[[Known, Ends], Made] | None = None
    sides: int = 1
    by_columns: bool = False
    measure: Measure = "share"
    side: int = 0


_HARDLY = "{part} was with {partners}, hardly known to anybody else."
_ON = "{part} went to {partners} within three days of receiving as much."
_GAP = "{who} was silent for {days}, and then had {events} in a week."
_SENT, _RECEIVED = "On average {who} {sent} {mean} at a time.", "On average {who} received {mean} at a time."
_PAID, _GOT = "{who} {sent} {total} in all.", "{who} received {total} in all."
_FIRST_SENT = "{part} went to {partners} it had not dealt with before."
_FIRST_RECEIVED = "{part} came from {partners} it had not dealt with before."
_YOUNG = "{part} was with {partners} first seen shortly before."
_EQUAL = "{part} was in amounts that it had with another partner, too."
_MATCHED = "{part} came and was sent on nearly whole within three days."
FACTS = (
    Fact("new partners sent to", NEW, _FIRST_SENT, "", of_ends.new_partners(0)),
    Fact("new partners received from", NEW, _FIRST_RECEIVED, "", of_ends.new_partners(1)),
    Fact("partners with hardly any other", TIES, _HARDLY, "", of_ends.known_by_it_alone),
    Fact("young partners", TIES, _YOUNG, "time", of_ends.young_partners),
    Fact("return flow", BACK, "{part} was with {partners}, back and forth.", "", None, of_nodes.return_flow),
    Fact("round amounts", FORM, "{part} was in round amounts.", "amount", of_ends.round_amounts),
    Fact("just below a limit", FORM, "{part} was in amounts just below a round one.", "amount", of_ends.below_limit),
    Fact("equal amounts", EQUAL, _EQUAL, "amount", of_ends.equal_amounts),
    Fact("odd hours", HOURS, "{part} was at hours that are rare for such {noun}.", "time", of_ends.odd_hours),
    Fact("amounts matched", ON, _MATCHED, "both", of_ends.matched_amounts),
    Fact("passed on to one", ON, _ON, "time", None, of_nodes.passed_on),
    Fact("amounts sent", SIZE, _SENT, "amount", of_ends.large_amounts(0), None, 2, measure="mean"),
    Fact("amounts received", SIZE, _RECEIVED, "amount", of_ends.large_amounts(1), None, 2, measure="mean", side=1),
    Fact("busiest week", SIZE, "{part} fell into one week.", "time", None, of_nodes.busiest_week),
    Fact("change", SIZE, "{part} fell into the second half of the period.", "time", None, of_nodes.change),
    Fact("silence", SIZE, _GAP, "time", None, of_nodes.silence, measure="gap"),
    Fact("volume sent", SIZE, _PAID, "", None, of_nodes.volume(0), 2, True, "total"),
    Fact("volume received", SIZE, _GOT, "", None, of_nodes.volume(1), 2, True, "total", 1),
)


def facts_for(setting: Setting) -> tuple[Fact, ...]:
    """Return the facts that events with these columns have."""
    has = {"": True, "time": setting.timed, "amount": setting.valued, "both": setting.timed and setting.valued}
    return tuple(one for one in FACTS if has[one.needs])
