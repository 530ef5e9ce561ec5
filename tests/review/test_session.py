"""A review without a server: the book is all there is, whoever writes to it and however often."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest

from oddhop.casebook import NewVerdict, open_book
from oddhop.cases.drawing.page import card
from oddhop.errors import SettingsError
from oddhop.review import Session
from oddhop.runs import reopen
from tests.review.conftest import HARMFUL, NODES

Sit = Callable[..., Session]


def test_begins_with_the_label_free_list_and_asks_no_case_twice(sit: Sit) -> None:
    session = sit()
    asked = []
    for k in range(8):
        question = session.question()
        assert question.case not in asked
        asked.append(question.case)
        session.answer(question.case, "cleared" if k % 3 else "confirmed")
    assert session.cases.named(asked[0]).rank == 1
    assert len(session.cases) <= NODES
    assert len(session.book) == 8


def test_the_same_answer_sent_again_is_written_once(sit: Sit) -> None:
    session, entry = sit(), str(uuid4())
    case = session.question().case
    first = session.answer(case, "confirmed", entry=entry, reason="mule", note="a\nnote")
    assert session.answer(case, "confirmed", entry=entry, reason="mule", note="a\nnote").cases == first.cases
    other = session.question().case
    for cases, verdict, reason, note in (
        (case, "cleared", "mule", "a\nnote"),
        (case, "confirmed", "", "a\nnote"),
        (case, "confirmed", "mule", "another note"),
        (other, "confirmed", "mule", "a\nnote"),
        ([case, other], "confirmed", "mule", "a\nnote"),
    ):
        with pytest.raises(SettingsError, match="another answer"):
            session.answer(cases, verdict, entry=entry, reason=reason, note=note)
    with pytest.raises(SettingsError, match="another answer"):
        session.undo(entry, entry=entry)
    [written] = session.book.history(case)
    assert (written.verdict, written.reason, written.note, written.who, written.rank) == (
        "confirmed", "mule", "a\nnote", "ann", 1,
    )  # fmt: skip
    assert written.fingerprint is not None
    assert written.fingerprint.records.num_rows


def test_undo_is_an_entry_and_brings_the_case_back(sit: Sit) -> None:
    session = sit()
    first = session.question().case
    session.answer(first, "watch")
    second = session.question().case
    session.answer(second, "cleared")
    entry = str(uuid4())
    assert session.undo(entry=entry).cases == (second,)
    assert session.undo(session.book.history(second)[0].entry, entry=entry).cases == (second,)  # sent again
    assert [one.verdict for one in session.book.history(second)] == ["cleared", "open"]
    assert session.question().case == second
    assert session.undo().cases == (first,)
    assert session.question().case == first
    with pytest.raises(SettingsError, match="no answer to undo"):
        session.undo()


def test_an_id_in_capitals_is_the_same_id(sit: Sit) -> None:
    session, entry, undo = sit(), str(uuid4()), str(uuid4())
    case = session.question().case
    session.answer(case, "confirmed", entry=entry.upper())
    for written in (undo.upper(), undo):
        session.undo(entry, entry=written)
    assert [one.entry for one in session.book.history(case)] == [entry, undo]


def test_an_answer_is_undone_by_one_of_two_and_the_other_is_told(sit: Sit) -> None:
    ann, bob = sit("ann"), sit("bob")
    taken = ann.answer(ann.question().case, "confirmed")
    ann.undo(taken.entry)
    with pytest.raises(SettingsError, match="ann has undone this answer already"):
        bob.undo(taken.entry)


def test_an_answer_that_was_answered_again_is_not_undone(sit: Sit) -> None:
    ann, bob = sit("ann"), sit("bob")
    case = ann.question().case
    taken = ann.answer(case, "confirmed")
    assert bob.answer(case, "cleared").before == (f"{case} had the verdict confirmed by ann",)
    with pytest.raises(SettingsError, match="has a later answer"):
        ann.undo(taken.entry)
    assert ann.last_answer() is None
    assert ann.curve().found == (0, 0)


def test_two_sessions_and_one_started_again_share_everything(sit: Sit) -> None:
    ann, bob = sit("ann"), sit("bob")
    for k in range(6):
        one = (ann, bob)[k % 2]
        one.answer(one.question().case, "cleared" if k else "confirmed")
    again = sit("ann")
    assert ann.queue() == bob.queue() == again.queue()
    assert ann.curve() == again.curve()
    assert ann.curve().found == (0, 1, 1, 1, 1, 1, 1)
    assert ann.curve().listed[1] == 1


def test_cases_are_answered_together_all_or_none_and_undone_together(sit: Sit) -> None:
    session = sit()
    several = [one.case for one in session.queue()[:3]]
    with pytest.raises(SettingsError, match="no case"):
        session.answer([*several, "nobody"], "cleared")
    with pytest.raises(SettingsError, match="different cases"):
        session.answer([several[0], several[0]], "cleared")
    assert len(session.book) == 0
    session.answer(several, "cleared")
    assert len(session.book) == 3
    assert set(session.undo().cases) == set(several)
    assert not session.reading.given or session.last_answer() is None


def test_look_alikes_are_open_cases(sit: Sit) -> None:
    session = sit()
    assert session.look_alikes(session.question().case) == []  # nothing is learned yet
    for k in range(8):
        session.answer(session.question().case, "cleared" if k % 2 else "confirmed")
    alike = session.look_alikes(session.question().case)
    assert {one.case for one in alike} <= {one.case for one in session.queue()[1:]}


def test_a_verdict_from_elsewhere_counts(sit: Sit, tmp_path: Path) -> None:
    session = sit()
    case = session.question().case
    session.answer(case, "confirmed")
    with open_book(tmp_path / "cases.db") as book:
        book.judge([NewVerdict(case, "cleared", who="bob")])
    assert session.question(case).why == "Verdict of bob: cleared."
    assert session.curve().found == (0, 0)


def test_thirty_answers_without_a_hit_are_told(sit: Sit) -> None:
    session = sit()
    session.answer([one.case for one in session.queue()], "cleared")
    session.question()
    assert session.feedback.notice is not None
    assert session.changed is not None


def test_a_clock_that_was_set_back_does_not_undo_an_undo(sit: Sit, monkeypatch: pytest.MonkeyPatch) -> None:
    session = sit()
    case = session.question().case
    session.answer(case, "confirmed")
    monkeypatch.setattr("oddhop.casebook.book.now", lambda: "2020-01-01T00:00:00.000000Z")
    session.undo()
    assert session.book.current()[case].verdict == "open"


def test_harmful_ids_are_text_on_the_card(sit: Sit) -> None:
    session = sit()
    for name in HARMFUL:
        html = session.card(session.cases.of_node(name).case_id)
        assert "<img" not in html
        assert "<script" not in html
        assert "<b>age" not in html


def test_the_card_is_that_of_the_run_and_a_case_that_it_did_not_explain_gets_one(grouped: Path, tmp_path: Path) -> None:
    with open_book(tmp_path / "cases.db") as book:
        opened = reopen(grouped)
        session = Session(opened, book, folder=grouped, who="ann")
        asked = next(one for one in session.queue() if one.size > 1)
        case = opened.cases.of(asked.id).cases[0]
        assert session.card(asked.case) == card(case, opened.cases)
        assert asked.short == case.short
        last = session.cases.at(len(session.cases) - 1)
        assert session.question(last.case_id).short == ""
        assert f"Case {last.place + 1}<" in session.card(last.case_id)


def test_an_answer_counts_for_the_nodes_that_the_case_grew_from(grouped: Path, tmp_path: Path) -> None:
    with open_book(tmp_path / "cases.db") as book:
        opened = reopen(grouped)
        session = Session(opened, book, folder=grouped, who="ann")
        asked = next(one for one in session.queue() if one.size > 1)
        case = opened.cases.of(asked.id).cases[0]
        session.answer(asked.case, "confirmed")
        (entry,) = book.entries()
        assert set(entry.members) == {str(one.id) for one in case.members if one.flagged}
        assert asked.size == len(entry.members)
        assert asked.others == len(case.members) - len(entry.members)


@pytest.mark.parametrize(
    ("case", "verdict", "more"),
    [
        ("nobody", "cleared", {}), ("p9", "open", {}), ("p9", "erased", {}), ("p9", "cleared", {"entry": "1"}),
        ("p9", "cleared", {"note": "x" * 20_000}), ("p9", "cleared", {"note": "a\0"}),
        ("p9", "watch", {"reason": "\ud800"}),
    ],
)  # fmt: skip
def test_what_is_no_answer_is_refused(sit: Sit, case: str, verdict: str, more: dict[str, str]) -> None:
    session = sit()
    with pytest.raises(SettingsError):
        session.answer(case, verdict, **more)
    assert len(session.book) == 0
