"""A review: the answers of a book, what is learned from them, and the next question. Nothing is kept elsewhere."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from oddhop.casebook import Book, Entry
from oddhop.cases.drawing.page import card
from oddhop.errors import SettingsError
from oddhop.feedback import Feedback, Question
from oddhop.review.audits import ASKING, LISTS, MOST_LISTED, Audited, Audits
from oddhop.review.cases import Cases, Seen
from oddhop.review.desk import Desk, Taken
from oddhop.review.state import Asked, Curve, Reading
from oddhop.runs.answers import VERDICTS
from oddhop.runs.folder import run_name
from oddhop.runs.reopen import OpenedRun

QUEUE, COMPARED, ALIKE, MOST_NODES = 30, 50, 10, 2_000


class Session:
    """A run under review.

    All that was answered is read from the book whenever it has grown, so that several sessions, and one that was ended
    and started again, share everything.

    Parameters
    ----------
    opened : the run, see :func:`oddhop.runs.reopen`.
    book : an open book of cases.
    folder : of the run.
    who : the name that entries get.
    """

    def __init__(
        self, opened: OpenedRun, book: Book, *, folder: str | os.PathLike[str], who: str, seed: int = 0
    ) -> None:
        self.opened, self.book = opened, book
        self.cases = Cases(opened)
        self._known = {node.id: case for case in opened.cases.cases for node in case.members if node.flagged}
        self.desk = Desk(self.cases, book, run=run_name(Path(folder), opened.manifest), who=who)
        self.feedback = Feedback(opened.detector, seed=seed)
        self.audits = Audits(Path(folder), self.cases, book, run=self.desk.run)
        self.reading = Reading(-1)
        self.changed: str | None = None
        self._first: list[Any] = []
        self._queue: list[Asked] = []
        self._audit_queue: list[Asked] = []
        self._asked_for: tuple[int, Any] = (-1, None)

    def question(self, case_id: str | None = None) -> Asked:
        """Return the next case, or the one that is named, whether it was answered or not."""
        self.refresh()
        queue = self.queue()
        if case_id is None:
            if not queue:
                raise SettingsError("all cases of the run are answered", "undo an answer, or review another run")
            return queue[0]
        listed = next((one for one in queue if one.case == case_id), None)
        if listed is not None:
            return listed
        seen = self.cases.named(case_id)
        said = next((entry for entry, place in self.reading.given if place == seen.place), None)
        why = "It is not among the next cases." if said is None else f"Verdict of {said.who}: {said.verdict}."
        return self._ask(seen, why, answered=seen.rows[0] in self.reading.answers)

    def queue(self) -> list[Asked]:
        """Return the next cases, the first one first: those of the audit while it asks, and no others."""
        self.refresh()
        return self._of_audit() or list(self._queue)

    def answer(
        self, case_id: str | Sequence[str], verdict: str, *, reason: str = "", note: str = "", entry: str | None = None
    ) -> Taken:
        """Write an answer to the book: "confirmed", "cleared" or "watch". The same ``entry`` is written once."""
        cases = [case_id] if isinstance(case_id, str) else list(case_id)
        return self.desk.answer(cases, verdict, entry=entry or str(uuid4()), reason=reason, note=note)

    def undo(self, answer: str | None = None, *, entry: str | None = None) -> Taken:
        """Write "open" for the cases of an answer; without its id, for the last one of this run that still holds."""
        if answer is None:
            answer = self.last_answer()
            if answer is None:
                raise SettingsError("there is no answer to undo", "answer a case first")
        return self.desk.undo(answer, entry=entry or str(uuid4()))

    def last_answer(self) -> str | None:
        """Return the id of the last answer of this run that still holds, by whoever has the name of this session."""
        self.refresh()
        mine = [entry for entry, _ in self.reading.given if entry.who == self.desk.who]
        if not mine:
            return None
        return next(one.entry for one in self.book.at_moment(mine[-1].at) if one.who == self.desk.who)

    def look_alikes(self, case_id: str) -> list[Asked]:
        """Return cases that the answers so far hardly tell from this one; none while they tell hardly anything.

        There are none while an audit asks: what is learned has no part in it.
        """
        if self._of_audit():
            return []
        seen, found = self.cases.named(case_id), dict[str, Asked]()
        by_case = {one.case: one for one in self._queue}
        for other in self.feedback.look_alikes(seen.id, 3 * ALIKE):
            name = self.cases.of_node(other).case_id
            if name != case_id and name in by_case:
                found.setdefault(name, by_case[name])
        return list(found.values())[:ALIKE]

    def card(self, case_id: str) -> str:
        """Return the card of a case as in the report: HTML with all text escaped.

        A case that the run did not explain is explained now.
        """
        seen, opened = self.cases.named(case_id), self.opened
        found, case = opened.cases, self._known.get(seen.id)
        if case is None:
            whys = opened.detector.explain_nodes(opened.network, opened.result, np.array(seen.nodes))
            found = opened.found(list(whys))
            case = replace(found.cases[0], number=seen.place + 1)
        return card(case, found)

    def curve(self) -> Curve:
        """Return what was found by the answers of this run, and what reading down the original list would have."""
        self.refresh()
        hits = [entry.verdict == "confirmed" for entry, _ in self.reading.given]
        known = {place: hit for (_, place), hit in zip(self.reading.given, hits, strict=True)}
        found, listed, unknown = [0], [0], [0]
        for k, hit in enumerate(hits):
            found.append(found[-1] + hit)
            listed.append(listed[-1] + known.get(k, False))
            unknown.append(unknown[-1] + (k not in known))
        return Curve(tuple(found), tuple(listed), tuple(unknown))

    def audit(self) -> Audited | None:
        """Return what the open audit says so far; None where there is none."""
        self.refresh()
        if self.audits.open is None:
            return None
        who = {self.reading.who[row] for row in self.audits.rows.values() if row in self.reading.who}
        return self.audits.told(self._told(), who or {self.desk.who})

    def start_audit(self, ranking: str = "original", first: int = 100, size: int = 30) -> Audited | None:
        """Freeze the first cases of a list, and ask about it; go on where this audit is open already."""
        if ranking not in LISTS:
            raise SettingsError(f"the list must be {' or '.join(LISTS)}, got {ranking!r}", "choose one of them")
        if type(first) is not int or not 1 <= first <= MOST_LISTED:
            raise SettingsError(
                f"an audit must have the first 1 to {MOST_LISTED:,} cases, got {first!r}", "give a number in this range"
            )
        self.refresh()
        first, now = min(first, len(self.cases)), self.audits.open
        if now is None:
            ids = self._first_cases(ranking, first)
            self.audits.start(ranking, ids, self._told(ids), size)
        elif (now.ranking, len(now.audit.ids), now.audit.size) == (ranking, first, size):
            self.audits.put(ASKING)
        else:
            raise SettingsError(f"an audit of {now.audit.name} with {now.audit.size:,} answers is open", "end it first")
        return self.audit()

    def put_audit(self, state: str) -> Audited | None:
        """Let the open audit be "asking", "paused" or "ended"."""
        self.refresh()
        self.audits.put(state)
        return self.audit()

    def refresh(self) -> None:
        """Read the book and learn again if the book has new entries; read the audits again if they have changed."""
        self.audits.refresh()
        if len(self.book) == self.reading.count:
            return
        reading = self._read()
        same = reading.answers == self.reading.answers and self.reading.count >= 0
        self.reading = reading
        if same:
            return
        ids = self.cases.result["id"]
        told = {ids[row].as_py(): value for row, value in reading.answers.items()}
        self.feedback.fit(self.opened.network, told, result=self.opened.result)
        asked = self.feedback.next_questions(COMPARED)
        first, before = [one.id for one in asked], {one for one in self._first if one not in told}
        new = sum(one not in before for one in first[: len(before)])
        self.changed = f"{new:,} of the next {len(before):,} nodes are new." if self._first else None
        self._first, self._queue = first, self._asked(asked)

    def _read(self) -> Reading:
        count, last = len(self.book), dict[str, Entry]()
        for entry in self.book.entries():  # in the order of time
            if not entry.tombstone:
                last[entry.case_id] = entry
        inorder = sorted(last.values(), key=lambda one: (one.at, one.entry))
        rows = self.cases.rows([node for entry in inorder for node in entry.members])
        answers: dict[int, int | None] = {}
        who: dict[int, str] = {}
        given: dict[int, Entry] = {}
        start = 0
        for entry in inorder:
            mine = [row for row in rows[start : start + len(entry.members)].tolist() if row >= 0]
            start += len(entry.members)
            for row in mine:
                answers.pop(row, None)
                who.pop(row, None)
                if entry.verdict in VERDICTS:
                    answers[row], who[row] = VERDICTS[entry.verdict], entry.who
            if mine:
                place = self.cases.place(min(mine))
                given.pop(place, None)
                if entry.verdict in VERDICTS and entry.run == self.desk.run:
                    given[place] = entry
        return Reading(count, answers, who, tuple((entry, place) for place, entry in given.items()))

    def _asked(self, asked: list[Question]) -> list[Asked]:
        """Return the next cases; where many nodes share one, more nodes are looked at."""
        found: dict[str, Asked] = {}
        count = COMPARED
        while True:
            for one in asked:
                seen = self.cases.of_node(one.id)
                if seen.case_id not in found:
                    found[seen.case_id] = replace(self._ask(seen, one.why), rank=one.rank, id=str(one.id))
            if len(found) >= QUEUE or len(asked) < count or count > MOST_NODES:
                return list(found.values())[:QUEUE]
            count *= 4
            asked = self.feedback.next_questions(count)

    def _ask(self, seen: Seen, why: str, *, answered: bool = False) -> Asked:
        """Return the question about a case. An answer counts for the nodes that the case grew from."""
        case, size, rank = self._known.get(seen.id), len(seen.rows), self.feedback.rank_of(seen.id)
        others = 0 if case is None else max(len(case.members) + case.more_members - size, 0)
        short = "" if case is None else case.short
        return Asked(seen.case_id, str(seen.id), size, why, rank, seen.rank, answered, short, others)

    def _told(self, ids: Sequence[str] | None = None) -> dict[str, int | None]:
        """Return the answers about the cases of the audit, or about these. That of a case is that of its first node."""
        rows = self.audits.rows if ids is None else {one: self.cases.named(one).rows[0] for one in ids}
        return {one: self.reading.answers[row] for one, row in rows.items() if row in self.reading.answers}

    def _first_cases(self, ranking: str, count: int) -> list[str]:
        if ranking == "original":
            return [self.cases.at(place).case_id for place in range(count)]
        if self.feedback.learned_ is None:
            raise SettingsError("there is no learned list yet", "clear a case first")
        found: dict[str, None] = {}
        result = self.feedback.result_
        for batch in result.filter(result["judged"])["id"].chunks:
            for one in batch:
                found.setdefault(self.cases.of_node(one.as_py()).case_id)
                if len(found) == count:
                    return list(found)
        return list(found)

    def _of_audit(self) -> list[Asked]:
        """Return the next cases of the audit while it asks; none where all of them are answered."""
        self.refresh()
        kept = self.audits.open
        if kept is None or kept.state != ASKING:
            return []
        key = self.reading.count, kept
        if key != self._asked_for:
            names = kept.audit.questions(self._told())[:QUEUE]
            seen = [self.cases.named(one) for one in names]
            places = {one: place for place, one in enumerate(kept.audit.order, 1)}
            why = f"Drawn at random for the audit of {kept.audit.name}: case {{:,}} of {len(places):,}."
            self._audit_queue = [self._ask(one, why.format(places[one.case_id])) for one in seen]
            self._asked_for = key
        return list(self._audit_queue)
