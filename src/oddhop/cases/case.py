"""A case as data: what ``cases.json`` holds, and what every card, list and sentence about a case is drawn from.

All fields are plain JSON values. Times are ISO 8601 texts without a zone, as the table has them. Ids are those of the
node table.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

Id: TypeAlias = int | str
SCHEMA = 1
"""The version of cases.json. It changes when a field changes its meaning or goes."""

Role: TypeAlias = Literal["pays in", "passes on", "collects", "is paid", "group", "ring", "alone"]
Pattern: TypeAlias = Literal[
    "fan-in", "fan-out", "passed on", "chain", "ring", "group", "stranger", "outlier", "single"
]


@dataclass(frozen=True)
class Nouns:
    """The words of the table: what its nodes, its events and its amounts are called, in singular and plural.

    ``unit`` is a currency sign or code, or a plain noun; empty where amounts have none.
    ``sends`` and ``sent`` are the verb of an event, such as "pays" and "paid", "sends" and "sent", "cites" and "cited".
    """

    node: str = "node"
    nodes: str = "nodes"
    event: str = "event"
    events: str = "events"
    unit: str = ""
    sends: str = "sends"
    sent: str = "sent"


@dataclass(frozen=True)
class Member:
    """A node of the case. ``sent``, ``received`` and ``events`` are those within the case.

    ``kind`` is its kind of node where there are several, ``profile`` its kept columns in words, ``rank`` its place in
    the ranking of all nodes, ``flagged`` whether it is one of the nodes that the case grew from.
    """

    id: Id
    role: Role
    kind: str = ""
    profile: str = ""
    rank: int | None = None
    score: float | None = None
    flagged: bool = False
    sent: float = 0.0
    received: float = 0.0
    events: int = 0


@dataclass(frozen=True)
class CaseEvent:
    """An event. ``inside`` tells those of the case from other events of its focus, which are drawn in grey."""

    source: Id
    target: Id
    time: str | None = None
    amount: float | None = None
    type: str = ""
    inside: bool = True


@dataclass(frozen=True)
class Counterpart:
    """Nodes at the edge of the case that do not belong to it, such as shops: counted by kind."""

    count: int
    kind: str
    role: Role
    amount: float = 0.0
    ids: tuple[Id, ...] = ()


@dataclass(frozen=True)
class PassedOn:
    """What a member handed on: the share of what it received in the case, and the median delay in hours."""

    id: Id
    share: float
    hours: float | None = None


@dataclass(frozen=True)
class Run:
    """One repetition of the case, such as one round of a ring."""

    first: str
    last: str
    events: int
    amount: float


@dataclass(frozen=True)
class Fact:
    """What is unusual, beside what is usual. Both are complete sentences.

    ``measure`` is the name of the fact in the table of facts, ``of_whom`` those that it is compared with, ``count`` how
    many these are, and ``p`` the share of them that do at least as much.
    """

    measure: str
    here: str
    usual: str
    of_whom: str = ""
    count: int | None = None
    p: float | None = None
    members: tuple[Id, ...] = ()


@dataclass(frozen=True)
class Reading:
    """What the case looks like, what innocent thing it could be, and the test that speaks for or against that.

    All are sentences. ``likely`` says whether the test speaks for the innocent reading, against it, or is undecided.
    """

    looks_like: str
    could_be: str
    test: str
    likely: Literal["for", "against", "undecided"] = "undecided"


@dataclass(frozen=True)
class Sureness:
    """How rare members of the case are among ``among`` nodes, and how far the rank can be trusted, as sentences."""

    sentence: str
    among: int | None = None
    members: int | None = None


@dataclass(frozen=True)
class Technical:
    """What the detector computed for one member: p-values and parts of the score by view, and further sentences."""

    id: Id
    score: float
    views: tuple[tuple[str, float, float], ...] = ()
    columns: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()


@dataclass(frozen=True)
class LeftOut:
    """What the case does not show: how many of what, and the option that shows it."""

    count: int
    what: str
    option: str = ""


@dataclass(frozen=True, repr=False)
class Case:
    """One case.

    Attributes
    ----------
    id : the same in the book of cases, in every file and on every page.
    number : its place in the list, from 1 on.
    pattern : how its events are arranged.
    headline, short : what happened, in at most 120 and 60 characters.
    members : the nodes that belong to it, in the order of their roles; ``more_members`` are counted, not listed.
    focus : the members from whose side the time axis is drawn.
    order : the members of a chain or a ring, one after the other.
    events : those of the case, and others of the focus; ``more_events`` of the case are counted, not listed.
    ties : pairs of members that are joined, where there are no events.
    outside : who stands at its edge.
    first, last : when it began and ended.
    night_share : the share of its events at night.
    amount : what entered the case, counted once.
    daily : the sum, or the number of events, of the focus on each day of the whole period: (day, in the case, other).
    runs, passed_on : repetitions, and who handed on how much.
    facts : the three that say most, beside the usual.
    reading, next, sure : what it could be, where to look next, how sure this is.
    technical : the figures of the detector, by member.
    left_out : what is not shown.
    status : how it stands in the book of cases, empty without a book; a "cleared" case has not changed since.
    book : what else the book says of it, in sentences.
    """

    id: str
    number: int
    pattern: Pattern
    headline: str
    short: str
    members: tuple[Member, ...]
    more_members: int = 0
    focus: tuple[Id, ...] = ()
    order: tuple[Id, ...] = ()
    events: tuple[CaseEvent, ...] = ()
    event_count: int = 0
    more_events: int = 0
    ties: tuple[tuple[Id, Id], ...] = ()
    outside: tuple[Counterpart, ...] = ()
    first: str | None = None
    last: str | None = None
    night_share: float | None = None
    amount: float | None = None
    daily: tuple[tuple[str, float, float], ...] = ()
    runs: tuple[Run, ...] = ()
    passed_on: tuple[PassedOn, ...] = ()
    facts: tuple[Fact, ...] = ()
    reading: Reading | None = None
    next: tuple[str, ...] = ()
    sure: Sureness | None = None
    technical: tuple[Technical, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    status: str = ""
    book: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Case({self.number}: {self.headline})"

    def _repr_html_(self) -> str:
        return Cases((self,))._repr_html_()


@dataclass(frozen=True, repr=False)
class Cases:
    """All cases of a run, the most unusual first, with the words and the period of its tables."""

    cases: tuple[Case, ...]
    nouns: Nouns = Nouns()
    nodes: int = 0
    events: int = 0
    first: str | None = None
    last: str | None = None
    schema: int = SCHEMA
    notes: tuple[str, ...] = ()

    def of(self, node: Id) -> Cases:
        """Return the cases that a node is a member of, first those that grew from it.

        Examples
        --------
        >>> one = Case("a", 1, "single", "It stands out", "It stands out", (Member("a", "alone", flagged=True),))
        >>> len(Cases((one,)).of("a").cases), len(Cases((one,)).of("b").cases)
        (1, 0)
        """
        found = [(not one.flagged, case.number, case) for case in self.cases for one in case.members if one.id == node]
        return replace(self, cases=tuple(case for _, _, case in sorted(found, key=lambda each: each[:2])))

    def grown_from(self, nodes: Collection[Id]) -> int:
        """Return how many cases grew from some of these nodes, such as the flagged ones."""
        return sum(any(one.flagged and one.id in nodes for one in case.members) for case in self.cases)

    def __repr__(self) -> str:
        plural = "" if len(self.cases) == 1 else "s"
        return f"{len(self.cases):,} case{plural} among {self.nodes:,} {self.nouns.nodes}"

    def _repr_html_(self) -> str:
        from oddhop.cases.drawing.page import framed, page_of

        return framed(page_of(self), "list of cases")
