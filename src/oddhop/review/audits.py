"""The audits of a run under review: frozen lists, kept in its folder, and what the answers of a book say of them."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from oddhop.base.checkpoints import locked
from oddhop.base.files import write_atomically
from oddhop.casebook import Book
from oddhop.errors import RunFolderError, SettingsError
from oddhop.feedback import Audit
from oddhop.review.cases import Cases

FILE, SCHEMA = "audits.json", "oddhop audits 1"
LISTS = ("original", "learned")
ASKING, PAUSED, ENDED = STATES = ("asking", "paused", "ended")
MOST_LISTED = 10_000


@dataclass(frozen=True)
class Kept:
    """An audit as the file has it.

    Attributes
    ----------
    ranking : "original" or "learned".
    run : what the book calls the run.
    after : the last entry of the book at the start, by which the book is known again; None where it was empty.
    at : when it began.
    state : "asking" while its questions are asked, "paused" while others are, or "ended".
    audit : its cases are those of the review, called as there.
    """

    ranking: str
    run: str
    after: str | None
    at: str
    state: str
    audit: Audit


@dataclass(frozen=True)
class Audited:
    """The result of an audit so far.

    Attributes
    ----------
    ranking, listed, size, state : which list, how many cases it has, how many answers are planned, and the state.
    low, high : how many cases of the list are worth the time; this holds at every look.
    drawn : how many answers count as drawn at random.
    complete : whether every case of the list is answered.
    sentence, about : the result in words, and what it is about.
    left : the cases that are to be answered for the planned size, the next one first.
    """

    ranking: str
    listed: int
    size: int
    state: str
    low: int
    high: int
    drawn: int
    complete: bool
    sentence: str
    about: str
    left: tuple[str, ...]


class Audits:
    """The audits of one run with one book. At most one is open; those that ended stay in the file.

    The file is read again whenever it has changed, so that several sessions share it.
    """

    def __init__(self, folder: Path, cases: Cases, book: Book, *, run: str) -> None:
        self.folder, self.cases, self.book, self.run = folder, cases, book, run
        self.open: Kept | None = None
        self.rows: dict[str, int] = {}  # of the first member of every listed case
        self._content: bytes | None = None

    def refresh(self) -> None:
        """Read the file again, if it has changed."""
        content = self._bytes()
        if content != self._content:
            self.open = self._find(_parsed(content, self.folder / FILE))
            self.rows = {} if self.open is None else {one: self.cases.named(one).rows[0] for one in self.open.audit.ids}
            self._content = content

    def start(self, ranking: str, ids: Iterable[str], answers: Mapping[str, int | None], size: int) -> None:
        """Freeze a list of cases, and ask about it from now on."""
        ids = list(ids)
        name = f"the first {len(ids):,} cases of the {ranking} list"
        # The key is drawn now: who could choose it could choose whom to ask.
        audit = Audit.start(name, ids, answers, secrets.token_hex(16), size)
        if not audit.order:
            raise SettingsError(f"all of {name} are answered", "count the answers, or choose a longer list")
        after = self.book.last_entry()
        with locked(self.folder):
            found = _parsed(self._bytes(), self.folder / FILE)
            if self._find(found) is not None:
                raise SettingsError("another audit was started at the same time", "load the page again")
            self._write([*found, Kept(ranking, self.run, after, self.book.moment(), ASKING, audit)])
        self.refresh()

    def put(self, state: str) -> None:
        """Pause the open audit, go on with it, or end it."""
        if state not in STATES:
            raise SettingsError(
                f"the state of an audit must be one of {', '.join(STATES)}, got {state!r}", "load the page again"
            )
        with locked(self.folder):
            found = _parsed(self._bytes(), self.folder / FILE)
            now = self._find(found)
            if now is None:
                raise SettingsError("there is no open audit", "start one")
            self._write([replace(one, state=state) if one is now else one for one in found])
        self.refresh()

    def told(self, answers: Mapping[str, int | None], who: Iterable[str]) -> Audited:
        """Say what the answers tell of the open audit; ``who`` gave them."""
        kept = self._opened()
        result = kept.audit.result(answers)
        names = " and ".join(sorted(set(who)))
        return Audited(
            ranking=kept.ranking,
            listed=result.listed,
            size=result.size,
            state=kept.state,
            low=result.shown.low,
            high=result.shown.high,
            drawn=result.drawn,
            complete=result.complete,
            sentence=result.sentence,
            about=f"The result uses the verdicts of {names} on this list as of {kept.at[:10]}. "
            "Later answers do not change the list.",
            left=tuple(one for one in kept.audit.order[: result.size] if one not in answers),
        )

    def _opened(self) -> Kept:
        if self.open is None:
            raise SettingsError("there is no open audit", "start one")
        return self.open

    def _find(self, found: list[Kept]) -> Kept | None:
        """Return the open audit of this run and this book."""
        mine = [one for one in found if one.run == self.run and one.state != ENDED]
        known = [one for one in mine if one.after is None or self.book.entry(one.after) is not None]
        return known[-1] if known else None

    def _bytes(self) -> bytes:
        try:
            return (self.folder / FILE).read_bytes()
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise RunFolderError(f"{self.folder / FILE} cannot be read: {error.strerror}") from None

    def _write(self, all_of_them: list[Kept]) -> None:
        rows = [{**asdict(one), "audit": json.loads(one.audit.to_json())} for one in all_of_them]
        content = json.dumps({"schema": SCHEMA, "audits": rows}, indent=1).encode()
        try:
            write_atomically(self.folder / FILE, content)
        except OSError as error:
            raise RunFolderError(
                f"{self.folder / FILE} cannot be written: {error.strerror}", "free some space, and try again"
            ) from None


def _parsed(content: bytes, file: Path) -> list[Kept]:
    if not content:
        return []
    try:
        read = json.loads(content)
        if read["schema"] != SCHEMA:
            raise ValueError(f"its schema must be {SCHEMA!r}, got {read['schema']!r}")
        return [_kept(one) for one in read["audits"]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, SettingsError) as error:
        raise RunFolderError(
            f"{file} is not a file of audits: {error}", "restore it from a copy, or move it away"
        ) from None


def _kept(row: dict[str, Any]) -> Kept:
    one = Kept(**{**row, "audit": Audit.from_json(json.dumps(row["audit"]))})
    texts = (one.ranking, one.run, one.at, one.state, one.after or "")
    if not all(isinstance(text, str) for text in texts) or one.ranking not in LISTS or one.state not in STATES:
        raise ValueError(f"an audit of {one.run!r} is {one.state!r}")
    return one
