"""What changed of a case between two fingerprints, in figures and in words."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import zip_longest

from oddhop.casebook.fingerprint import KEPT, Fingerprint, Member
from oddhop.errors import SettingsError

STEP = 0.5
"""How far a number may move, in interquartile ranges, before its column has changed."""
MORE_THAN = 0.2
MORE_EVENTS = 0.5
"""By which share the events of a case must grow for that to be enough."""


@dataclass(frozen=True)
class Changed:
    """The changes of a case. Neighbours, columns and events are those of the members that are in both.

    Attributes
    ----------
    neighbours_now : how many neighbours there are now.
    neighbours_then : how many there were.
    neighbours_came : how many of those now are new.
    neighbours_gone : how many of those then are gone.
    members_now : how many members there are now.
    members_came : how many of them are new.
    members_gone : how many are gone.
    columns : the columns that changed, and of how many members.
    events_then : how many events there were.
    events_came : how many more events there are, 0 where there are fewer.
    kind : what a member is called.
    more_than : the share of neighbours, or of members, beyond which a change is enough.

    Examples
    --------
    >>> from oddhop.casebook import Changed
    >>> what = Changed(12, 10, 3, 1, 1, 0, 0, (("income", 1),), 0, 0, "account", 0.2)
    >>> what.enough, what.sentences
    (True, ['3 of 12 neighbours are new', '1 of 10 neighbours is gone', 'income changed'])
    """

    neighbours_now: int
    neighbours_then: int
    neighbours_came: int
    neighbours_gone: int
    members_now: int
    members_came: int
    members_gone: int
    columns: tuple[tuple[str, int], ...]
    events_then: int
    events_came: int
    kind: str
    more_than: float

    @property
    def neighbour_share(self) -> float:
        """The share of neighbours that came or went, of all that there are or were."""
        moved = self.neighbours_came + self.neighbours_gone
        return moved / max(self.neighbours_now + self.neighbours_gone, 1)

    @property
    def member_share(self) -> float:
        """The share of members that came or went, of all that there are or were."""
        return (self.members_came + self.members_gone) / max(self.members_now + self.members_gone, 1)

    @property
    def enough(self) -> bool:
        """Whether the case is worth another look."""
        more = self.events_came > MORE_EVENTS * self.events_then
        return more or bool(self.columns) or max(self.neighbour_share, self.member_share) > self.more_than

    @property
    def sentences(self) -> list[str]:
        """What changed, in words; empty where nothing did."""
        out = []
        if self.members_came:
            out.append(_belong(self.members_came, self.kind, more="more "))
        if self.members_gone:
            out.append(_belong(self.members_gone, self.kind, how="no longer "))
        if self.neighbours_came:
            out.append(_of(self.neighbours_came, self.neighbours_now, "new"))
        if self.neighbours_gone:
            out.append(_of(self.neighbours_gone, self.neighbours_then, "gone"))
        kept = self.members_now - self.members_came
        for name, count in self.columns:
            out.append(f"{name} changed" if kept == 1 else f"{name} changed for {count:,} of {kept:,} nodes")
        if self.events_came:
            out.append(f"{self.events_came:,} {'event is' if self.events_came == 1 else 'events are'} new")
        return out


def changed(old: Fingerprint, new: Fingerprint, *, more_than: float = MORE_THAN) -> Changed:
    """Compare the fingerprint of a verdict with the present one.

    Parameters
    ----------
    old, new : the fingerprints then and now.
    more_than : the share of neighbours that must have come or gone for a change to be enough. The same holds for
        members. A column that changed is enough by itself: a number that moved by more than half an interquartile
        range, and any other value. So are half as many events again.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph, Network
    >>> from oddhop.casebook import changed, fingerprint_of
    >>> def judged(edges):
    ...     return fingerprint_of(Network.of(Graph.from_arrays(edges, [[1.0], [2.0], [3.0], [4.0]])), np.array([0]))
    >>> what = changed(judged([[0, 0], [1, 2]]), judged([[0, 0, 0], [1, 2, 3]]))
    >>> what.enough, what.sentences
    (True, ['1 of 3 neighbours is new'])
    """
    if not 0 <= more_than <= 1:
        raise SettingsError(f"more_than must be a share from 0 to 1, got {more_than!r}", "leave it out for 0.2")
    kept = sorted(old.members.keys() & new.members.keys())
    pairs = [(old.members[name], new.members[name]) for name in kept]
    moved = [_neighbours(then, now) for then, now in pairs]
    counts: Counter[str] = Counter()
    for then, now in pairs:
        counts.update(_columns(then, now, encoded=old.encoded and new.encoded))
    return Changed(
        neighbours_now=sum(now.degree for _, now in pairs),
        neighbours_then=sum(then.degree for then, _ in pairs),
        neighbours_came=sum(came for came, _ in moved),
        neighbours_gone=sum(gone for _, gone in moved),
        members_now=len(new.members),
        members_came=len(new.members) - len(kept),
        members_gone=len(old.members) - len(kept),
        columns=tuple(sorted(counts.items())),
        events_then=sum(then.events or 0 for then, _ in pairs),
        events_came=sum(
            max((now.events or 0) - (then.events or 0), 0) for then, now in pairs if then.events is not None
        ),
        kind=new.kind,
        more_than=more_than,
    )


def _neighbours(then: Member, now: Member) -> tuple[int, int]:
    """Count the neighbours that came and that went; of lists that were cut, by the part that both have whole."""
    ends = [one.neighbours[-1] for one in (then, now) if one.degree > KEPT and one.neighbours]
    last = min(ends, default="g")  # after every hash
    before = {one for one in then.neighbours if one <= last}
    after = {one for one in now.neighbours if one <= last}
    came = round(len(after - before) / max(len(after), 1) * now.degree)
    return came, max(then.degree - (now.degree - came), 0)


def _columns(then: Member, now: Member, *, encoded: bool) -> list[str]:
    # A column that a table gained or lost says nothing about the case.
    names = then.columns.keys() & now.columns.keys() if encoded else then.columns.keys() | now.columns.keys()
    values = {name: zip_longest(*(one.columns.get(name, ()) for one in (then, now)), fillvalue=0.0) for name in names}
    return [name for name, pairs in values.items() if any(abs(a - b) > STEP for a, b in pairs)]


def _belong(count: int, kind: str, *, more: str = "", how: str = "") -> str:
    if count == 1:
        return f"1 {more}{kind} {how}belongs to the case"
    return f"{count:,} {more}{kind if kind.endswith('s') else f'{kind}s'} {how}belong to the case"


def _of(count: int, whole: int, what: str) -> str:
    return f"{count:,} of {whole:,} neighbours {'is' if count == 1 else 'are'} {what}"
