"""The facts, one row each: what it is called, what is said of a node, and how it is computed."""

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
    sentence : what the node did; ``{events}``, ``{partners}`` and ``{days}`` stand for what carries the fact.
    needs : what events must have.
    of_ends : the figure of every end, for a fact that is a share, see :mod:`oddhop.odd.facts.share`.
    of_nodes : the figure of every node, for another one.
    sides : 2 where a low figure is odd, too.
    by_columns : whether a node's columns are taken into account already; it is compared with all nodes then.
    """

    name: str
    family: int
    sentence: str
    needs: Needs
    of_ends: Callable[[Known, Ends], Share] | None = None
    of_nodes: Callable[[Known, Ends], Made] | None = None
    sides: int = 1
    by_columns: bool = False


_SENT = "sent {events} to {partners} that it had not dealt with before"
_RECEIVED = "received {events} from {partners} that it had not dealt with before"
_ONLY = "had {events} with {partners} that deal with hardly anybody else"
_YOUNG = "had {events} with {partners} first seen shortly before"
_ON = "passed on {events} to one partner within three days of receiving as much"
FACTS = (
    Fact("new partners sent to", NEW, _SENT, "", of_ends.new_partners(0)),
    Fact("new partners received from", NEW, _RECEIVED, "", of_ends.new_partners(1)),
    Fact("partners with hardly any other", TIES, _ONLY, "", of_ends.known_by_it_alone),
    Fact("young partners", TIES, _YOUNG, "time", of_ends.young_partners),
    Fact("return flow", BACK, "had {events} back and forth with {partners}", "", None, of_nodes.return_flow),
    Fact("round amounts", FORM, "had {events} of round amounts", "amount", of_ends.round_amounts),
    Fact("just below a limit", FORM, "had {events} just below a round amount", "amount", of_ends.below_limit),
    Fact("equal amounts", EQUAL, "had {events} of equal amounts with {partners}", "amount", of_ends.equal_amounts),
    Fact("odd hours", HOURS, "had {events} at hours that are rare for their kind", "time", of_ends.odd_hours),
    Fact("amounts matched", ON, "sent on nearly whole within three days: {events}", "both", of_ends.matched_amounts),
    Fact("passed on to one", ON, _ON, "time", None, of_nodes.passed_on),
    Fact("amounts sent", SIZE, "sent {events} of unusual size", "amount", of_ends.large_amounts(0), sides=2),
    Fact("amounts received", SIZE, "received {events} of unusual size", "amount", of_ends.large_amounts(1), sides=2),
    Fact("busiest week", SIZE, "had {events} in its busiest week", "time", None, of_nodes.busiest_week),
    Fact("change", SIZE, "had {events} in the second half of the period", "time", None, of_nodes.change),
    Fact("silence", SIZE, "was silent for {days} and then had {events} in a week", "time", None, of_nodes.silence),
    Fact("volume sent", SIZE, "sent {events} in all", "", None, of_nodes.volume(0), 2, by_columns=True),
    Fact("volume received", SIZE, "received {events} in all", "", None, of_nodes.volume(1), 2, by_columns=True),
)

_SHARE, _IT_IS = "Usually {usual} does.", "Usually it is {usual}."
SAID: dict[str, tuple[Measure, str, str]] = {
    "new partners sent to": ("share", "{part} went to {partners} it had not dealt with before.", _SHARE),
    "new partners received from": ("share", "{part} came from {partners} it had not dealt with before.", _SHARE),
    "partners with hardly any other": (
        "share",
        "{part} was with {partners}, hardly known to anybody else.",
        _SHARE,
    ),
    "young partners": ("share", "{part} was with {partners} first seen shortly before.", _SHARE),
    "return flow": ("share", "{part} was with {partners}, back and forth.", _SHARE),
    "round amounts": ("share", "{part} was in round amounts.", _SHARE),
    "just below a limit": ("share", "{part} was in amounts just below a round one.", _SHARE),
    "equal amounts": ("share", "{part} was in amounts that it had with another partner, too.", _SHARE),
    "odd hours": ("share", "{part} was at hours that are rare for such {noun}.", _SHARE),
    "amounts matched": ("share", "{part} came and was sent on nearly whole within three days.", _SHARE),
    "passed on to one": ("share", "{part} went to {partners} within three days of receiving as much.", _SHARE),
    "amounts sent": ("mean", "On average {who} {sent} {mean} at a time.", _IT_IS),
    "amounts received": ("mean", "On average {who} received {mean} at a time.", _IT_IS),
    "busiest week": ("share", "{part} fell into one week.", _SHARE),
    "change": ("share", "{part} fell into the second half of the period.", _SHARE),
    "silence": (
        "gap",
        "{who} was silent for {days}, and then had {events} in a week.",
        "Usually {one} has {event} every {usual}.",
    ),
    "volume sent": ("total", "{who} {sent} {total} in all.", _IT_IS),
    "volume received": ("total", "{who} received {total} in all.", _IT_IS),
}
"""What a card says of every fact, and what is usual; see :mod:`oddhop.odd.facts.stated`."""


def facts_for(setting: Setting) -> tuple[Fact, ...]:
    """Return the facts that events with these columns have."""
    has = {"": True, "time": setting.timed, "amount": setting.valued, "both": setting.timed and setting.valued}
    return tuple(one for one in FACTS if has[one.needs])
