"""The state of a review: the case to answer, what was found, and the entries of the book."""

from __future__ import annotations

from dataclasses import dataclass, field

from oddhop.casebook import Entry


@dataclass(frozen=True)
class Asked:
    """A case to be asked about: what it is called, whom it is about, why it is asked, and both ranks.

    ``size`` is how many nodes an answer counts for, ``others`` how many more members the case has, and ``short`` what
    happened, empty where the run did not explain it.
    """

    case: str
    id: str
    size: int
    why: str
    rank: int
    rank_label_free: int
    answered: bool = False
    short: str = ""
    others: int = 0


@dataclass(frozen=True)
class Curve:
    """What was found, by the number of answers.

    ``found`` are the hits among the first k answers, from k = 0 on; ``listed`` those among the first k cases of the
    original list, as far as they are answered, and ``unknown`` how many of these are not.
    """

    found: tuple[int, ...]
    listed: tuple[int, ...]
    unknown: tuple[int, ...]

    @property
    def sentence(self) -> str:
        """The last point in words."""
        k = len(self.found) - 1
        open_ones = f" ({self.unknown[-1]:,} of these cases are not answered)" if self.unknown[-1] else ""
        first = f"{self.listed[-1]:,} in the first {k:,} of the original list{open_ones}"
        return f"{self.found[-1]:,} confirmed in {k:,} answers; {first}."


@dataclass(frozen=True)
class Reading:
    """What a book says of a run.

    ``answers`` and ``who`` gave them are by row of the result; ``given`` are the answers of this run in the order of
    time, with the places of their cases.
    """

    count: int
    answers: dict[int, int | None] = field(default_factory=dict)
    who: dict[int, str] = field(default_factory=dict)
    given: tuple[tuple[Entry, int], ...] = ()
