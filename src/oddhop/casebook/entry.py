"""One entry of the book of cases: a verdict on a case, by whom, when, and on what."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4, uuid5

from oddhop.casebook.record import Fingerprint
from oddhop.errors import SettingsError

VERDICTS = ("open", "confirmed", "cleared", "watch")
ERASED = "erased"
RUNS = UUID("5b0f6c1e-9f0b-4c0e-8d52-0d3f2f6a9c11")
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z(\d{9})?")
UNSTORABLE = re.compile("[\0\ud800-\udfff]")
FORM = "%Y-%m-%dT%H:%M:%S.%fZ"
LONGEST_ID = 2_000  # bytes; a PostgreSQL index takes little more


def now() -> str:
    """Return the present time as the book writes it: UTC with microseconds, so that text sorts by time.

    Examples
    --------
    >>> from oddhop.casebook.entry import now
    >>> len(now())
    27
    """
    return datetime.now(UTC).strftime(FORM)


def later(at: str) -> str:
    """Return the next moment, a microsecond later. At the end of the calendar a count behind the time goes on."""
    try:
        return (datetime.strptime(at, FORM) + timedelta(microseconds=1)).strftime(FORM)
    except (ValueError, OverflowError):
        return f"{at[:27]}{int(at[27:] or 0) + 1:09}"


@dataclass(frozen=True)
class Entry:
    """A verdict on a case. Entries are added and never changed: the last entry of a case is valid.

    Attributes
    ----------
    case_id : the case.
    verdict : "open", "confirmed", "cleared" or "watch".
    members : the ids of its nodes, as texts.
    fingerprint : what was judged of them.
    reason : a code of yours, such as "family".
    note : a text.
    who : who said so.
    at : when, UTC. The book sets it when it writes the entry, later than that of every entry before.
    run : the run that reported it.
    rank, score : of the case in that run.
    entry : its own id. The same id is written once, however often it is appended.
    tombstone : whether it says that a node was erased from the book.

    Examples
    --------
    >>> from oddhop.casebook import Entry
    >>> Entry("c1", "cleared", members=("b", "a"), who="ann").members
    ('a', 'b')
    """

    case_id: str
    verdict: str
    members: tuple[str, ...] = ()
    fingerprint: Fingerprint | None = None
    reason: str = ""
    note: str = ""
    who: str = ""
    at: str = field(default_factory=now)
    run: str | None = None
    rank: int | None = None
    score: float | None = None
    entry: str = field(default_factory=lambda: str(uuid4()))
    tombstone: bool = False

    def __post_init__(self) -> None:
        if self.tombstone != (self.verdict == ERASED) or self.verdict not in (*VERDICTS, ERASED):
            raise SettingsError(f"a verdict must be one of {', '.join(VERDICTS)}, got {self.verdict!r}")
        for name, text in (("case_id", self.case_id), *(("members", one) for one in self.members)):
            if not checked_text(name, text) or len(text.encode()) > LONGEST_ID:
                raise SettingsError(f"{name} must have from 1 to {LONGEST_ID:,} bytes, got {len(text):,} characters")
        for name in ("reason", "note", "who"):
            checked_text(name, getattr(self, name))
        if self.run is not None:
            checked_text("run", self.run)
        if not MOMENT.fullmatch(self.at):
            raise SettingsError(f"at must be like 2026-11-16T09:30:00.000000Z, got {self.at!r}", "leave it out for now")
        if self.score is not None and not math.isfinite(self.score):
            raise SettingsError(f"score must be finite or None, got {self.score!r}")
        try:
            object.__setattr__(self, "entry", str(UUID(self.entry)))
        except ValueError:
            raise SettingsError(f"entry must be a UUID, got {self.entry!r}", "leave it out for a new one") from None
        # Plain types, for a database takes no numbers of NumPy.
        object.__setattr__(self, "members", tuple(sorted({str(one) for one in self.members})))
        object.__setattr__(self, "rank", None if self.rank is None else int(self.rank))
        object.__setattr__(self, "score", None if self.score is None else float(self.score))

    @classmethod
    def of_run(
        cls,
        run: str,
        case_id: str,
        *,
        members: Sequence[str],
        fingerprint: Fingerprint,
        rank: int | None = None,
        score: float | None = None,
    ) -> Entry:
        """Return the entry "open" that a run writes for a case.

        Its id follows from the run and the case, so that a run that was killed and resumed writes it once.

        Examples
        --------
        >>> from oddhop.casebook import Entry, Fingerprint
        >>> nothing = Fingerprint()
        >>> one, two = (Entry.of_run("monday", "c1", members=["a"], fingerprint=nothing) for _ in range(2))
        >>> one.entry == two.entry
        True
        """
        return cls(
            case_id,
            "open",
            members=tuple(members),
            fingerprint=fingerprint,
            who="oddhop",
            run=run,
            rank=rank,
            score=score,
            entry=entry_of_run(run, case_id),
        )


def entry_of_run(run: str, case_id: str) -> str:
    """Return the id of the entry that a run writes of a case."""
    return str(uuid5(RUNS, f"{len(run)} {run} {case_id}"))


@dataclass(frozen=True)
class NewVerdict:
    """A verdict of a person on a case of the book.

    Attributes
    ----------
    case_id, verdict, reason, note, who : see :class:`Entry`.

    Examples
    --------
    >>> from oddhop.casebook import NewVerdict
    >>> NewVerdict("c1", "cleared", reason="family", who="ann").note
    ''
    """

    case_id: str
    verdict: str
    reason: str = ""
    note: str = ""
    who: str = ""


def checked_text(name: str, text: object) -> str:
    """Return a text that both stores can hold; refuse any other."""
    if not isinstance(text, str):
        raise SettingsError(f"{name} must be text, got {type(text).__name__}")
    if UNSTORABLE.search(text):
        raise SettingsError(f"{name} must be text without zero bytes and lone surrogates, got {text!r}")
    return text
