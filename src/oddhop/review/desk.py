"""The desk: where an answer becomes an entry of the book. Nothing is acknowledged before the book has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID, uuid5

import numpy as np

from oddhop.casebook import Book, Entry, fingerprint_of, member_ids
from oddhop.errors import SettingsError
from oddhop.review.cases import Cases, Seen
from oddhop.runs.answers import VERDICTS

LONGEST_REASON, LONGEST_NOTE, MOST_TOGETHER = 200, 10_000, 100


@dataclass(frozen=True)
class Taken:
    """What the book has now: the id of the answer, and its cases; ``before`` says what others had said of them."""

    entry: str
    verdict: str
    cases: tuple[str, ...]
    before: tuple[str, ...] = ()


class Desk:
    """Takes answers about the cases of a run into a book. Any number of desks may write to one book.

    Every answer has an id that the asker made. The same id is written once, so that an answer whose acknowledgement
    was lost can be sent again. Cases that are answered together are one answer: their entries have one moment.
    """

    def __init__(self, cases: Cases, book: Book, *, run: str, who: str) -> None:
        self.cases, self.book, self.run, self.who = cases, book, run, who

    def answer(
        self, case_ids: Sequence[str], verdict: str, *, entry: str, reason: str = "", note: str = "", who: str = ""
    ) -> Taken:
        """Write a verdict on one case or on several, all or none."""
        if verdict not in VERDICTS:
            raise SettingsError(
                f"a verdict must be one of {', '.join(VERDICTS)}, got {verdict!r}", "load the page again"
            )
        if not 1 <= len(set(case_ids)) == len(case_ids) <= MOST_TOGETHER:
            raise SettingsError(
                f"an answer must be about 1 to {MOST_TOGETHER} different cases, got {len(case_ids):,}",
                "answer fewer cases at once",
            )
        for name, text, most in (("reason", reason, LONGEST_REASON), ("note", note, LONGEST_NOTE)):
            if len(text) > most:
                raise SettingsError(f"a {name} must have at most {most:,} characters, got {len(text):,}", "shorten it")
        seen = [self.cases.named(one) for one in case_ids]
        return self._write(seen, verdict, entry, reason, note, who or self.who)

    def undo(self, answer: str, *, entry: str, who: str = "") -> Taken:
        """Write "open" for the cases of an answer, by its id. Refuse where one was answered again since."""
        entry = _checked(entry)
        with self.book.writing():
            first = self.book.entry(_checked(answer))
            if first is None or first.verdict not in VERDICTS or first.run != self.run:
                raise SettingsError("the book does not have this answer of this run", "load the page again")
            group, by = self._together(first), who or self.who
            names = tuple(one.case_id for one in group)
            if self._stored(entry, names, "open", "undo", "", by):
                return Taken(entry, "open", names)
            for one in group:
                last = self.book.history(one.case_id)[-1]
                if last.entry != one.entry and (last.verdict, last.reason) == ("open", "undo"):
                    raise SettingsError(f"{last.who} has undone this answer already", "load the page again")
                if last.entry != one.entry:
                    raise SettingsError(f"{one.case_id!r} has a later answer", "undo the later answer first")
            ids = [entry, *(str(uuid5(UUID(entry), one.case_id)) for one in group[1:])]
            undone = [replace(one, verdict="open", reason="undo", note="", who=by) for one in group]
            self.book.append([replace(one, entry=name) for one, name in zip(undone, ids, strict=True)])
        return Taken(entry, "open", names)

    def open(self, case_ids: Sequence[str], *, reason: str) -> None:
        """Open those of these cases that the book does not have, so that a verdict on them can be written."""
        new = [self._entry(self.cases.named(one), "open", reason=reason) for one in case_ids if one not in self.book]
        with self.book.writing():
            self.book.append([one for one in new if one.case_id not in self.book])

    def _stored(self, entry: str, names: tuple[str, ...], verdict: str, reason: str, note: str, who: str) -> bool:
        """Return whether the book has just this answer; refuse another one under its id."""
        done = self.book.entry(entry)
        if done is None:
            return False
        cases = {one.case_id for one in self._together(done)}
        if (cases, done.case_id) != (set(names), names[0]) or (done.verdict, done.reason, done.note, done.who) != (
            (verdict, reason, note, who)
        ):
            raise SettingsError("this id belongs to another answer", "load the page again")
        return True

    def _together(self, entry: Entry) -> list[Entry]:
        """Return the entries of one answer."""
        return [one for one in self.book.at_moment(entry.at) if (one.who, one.run) == (entry.who, entry.run)]

    def _write(self, seen: list[Seen], verdict: str, entry: str, reason: str, note: str, who: str) -> Taken:
        entry = _checked(entry)
        names = tuple(one.case_id for one in seen)
        written = [self._entry(one, verdict, reason=reason, note=note, who=who) for one in seen]
        with self.book.writing():
            if self._stored(entry, names, verdict, reason, note, who):
                return Taken(entry, verdict, names)
            before = [past[-1] for name in names if (past := self.book.history(name))]
            ids = [entry, *(str(uuid5(UUID(entry), name)) for name in names[1:])]
            self.book.append([replace(one, entry=name) for one, name in zip(written, ids, strict=True)])
        said = tuple(
            f"{one.case_id} had the verdict {one.verdict} by {one.who}" for one in before if one.verdict != "open"
        )
        return Taken(entry, verdict, names, said)

    def _entry(self, seen: Seen, verdict: str, *, reason: str, note: str = "", who: str = "") -> Entry:
        """Make an entry. It is made before the book is locked, for a fingerprint takes time."""
        network, nodes = self.cases.network, np.array(seen.nodes)
        return Entry(
            seen.case_id,
            verdict,
            members=tuple(member_ids(network, nodes)),
            fingerprint=fingerprint_of(network, nodes),
            reason=reason,
            note=note,
            who=who or self.who,
            run=self.run,
            rank=seen.rank,
            score=seen.score,
        )


def _checked(entry: str) -> str:
    try:
        return str(UUID(entry))
    except (ValueError, AttributeError, TypeError):
        raise SettingsError(f"the id of an answer must be a UUID, got {entry!r}", "load the page again") from None
