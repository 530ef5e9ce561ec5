from __future__ import annotations

import sqlite3
import tempfile
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oddhop import Graph, Network
from oddhop.casebook import Book, Entry, Fingerprint, NewVerdict, decide, fingerprint_of, open_book
from oddhop.casebook.book import AT_ONCE
from oddhop.errors import CaseBookError, OddhopError, SettingsError

NASTY = [
    "'; DROP TABLE entries; --",
    '" OR 1=1 --',
    "$1",
    "?1",
    "%_!",
    "{text}",
    "a\nb\t\x1b[31m",
    "\\",
    "日本 🙂 é",
    "=1+1",
]
LAST_MOMENT = "9999-12-31T23:59:59.999999Z"


def judged(edges: list[list[int]], nodes: list[int]) -> Fingerprint:
    return fingerprint_of(Network.of(Graph.from_arrays(edges, np.zeros((30, 1)))), np.array(nodes))


def untimed(entries: Iterable[Entry]) -> list[Entry]:
    return [replace(entry, at=LAST_MOMENT) for entry in entries]


def test_entries_come_back_as_they_were(book: Book) -> None:
    fingerprint = judged([[0, 0], [1, 2]], [0, 1])
    entries = [
        Entry("c1", "open", ("b", "a"), fingerprint, "code", "note", "ann", run="r", rank=3, score=0.25),
        Entry("c2", "watch"),
        Entry("c3", "open", ("n",), rank=np.int64(3), score=np.float32(0.5)),  # type: ignore[arg-type]
    ]
    book.append(entries)
    assert untimed(book.current().values()) == untimed(entries)
    assert sorted(untimed(book.entries()), key=lambda entry: entry.case_id) == untimed(entries)
    assert len({entry.at for entry in book.entries()}) == 1


def test_the_last_entry_holds_and_nothing_is_changed(book: Book) -> None:
    book.append([Entry("c1", "open", ("a",), run="r", rank=1, score=2.0)])
    (cleared,) = book.judge([NewVerdict("c1", "cleared", "family", "a note", "ann")])
    (again,) = book.judge([NewVerdict("c1", "confirmed", who="bo")])
    assert (cleared.members, cleared.run, cleared.rank, cleared.score) == (("a",), "r", 1, 2.0)
    assert [one.verdict for one in book.history("c1")] == ["open", "cleared", "confirmed"]
    assert book.current() == {"c1": again}
    assert list(book.latest("cleared")) == []
    assert list(book.latest("confirmed")) == [again]
    assert book.judge([NewVerdict("c1", "confirmed", who="bo")]) == []  # a retry
    assert len(book.history("c1")) == 3


def clock(monkeypatch: pytest.MonkeyPatch, at: str) -> None:
    monkeypatch.setattr("oddhop.casebook.book.now", lambda: at)


@pytest.mark.parametrize("ahead", ["2999-01-01T00:40:00.000000Z", LAST_MOMENT])
def test_the_verdict_that_was_said_last_is_current_whatever_clocks_say(
    book: Book, monkeypatch: pytest.MonkeyPatch, ahead: str
) -> None:
    book.append([Entry("c1", "open", ("a",))])
    clock(monkeypatch, ahead)
    book.judge([NewVerdict("c1", "cleared")])
    monkeypatch.undo()
    for verdict in ("confirmed", "watch", "open", "confirmed"):
        (said,) = book.judge([NewVerdict("c1", verdict)])
        assert book.current()["c1"] == said
        assert book.of_nodes(["a"]) == {"c1": said}
        assert book.last_entry() == said.entry
        assert book.judge([NewVerdict("c1", verdict)]) == []  # a retry adds nothing
    told = ["open", "cleared", "confirmed", "watch", "open", "confirmed"]
    assert [one.verdict for one in book.history("c1")] == told
    assert [one.verdict for one in book.entries()] == told
    book.append([Entry.of_run("monday", "c1", members=["a"], fingerprint=Fingerprint())])
    assert book.current()["c1"].run == "monday"
    book.erase("a", "ann", "request 12")
    assert max(book.entries(), key=lambda one: one.at).tombstone


def test_cases_of_nodes_come_with_their_last_entry_in_whatever_order_the_store_gives_entries(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    book.append([Entry("c1", "open", ("a", "b")), Entry("c2", "open", ("b",))])
    (last,) = book.judge([NewVerdict("c1", "cleared")])
    given = book._entries
    for order in (1, -1):
        monkeypatch.setattr(book, "_entries", lambda rest, values, order=order: given(rest, values)[::order])
        found = book.of_nodes(["a", "b"])
        assert found["c1"] == last
        assert sorted(found) == ["c1", "c2"]


def test_of_several_entries_of_a_case_at_once_the_last_is_current(book: Book) -> None:
    for k in range(20):  # their ids are drawn
        book.append([Entry(f"c{k}", "open", ("a",)), Entry(f"c{k}", "watch", ("a",)), Entry(f"d{k}", "open")])
        assert book.current()[f"c{k}"].verdict == book.of_nodes(["a"])[f"c{k}"].verdict == "watch"
    book.judge([NewVerdict("c0", "cleared"), NewVerdict("c0", "confirmed")])
    assert book.current()["c0"].verdict == "confirmed"


def test_an_entry_is_written_once(book: Book) -> None:
    nothing = Fingerprint()
    for rank in (1, 2):
        book.append([Entry.of_run("monday", "c1", members=["a"], fingerprint=nothing, rank=rank)] * 2)
    assert [entry.rank for entry in book.history("c1")] == [1]
    book.append([Entry.of_run("tuesday", "c1", members=["a"], fingerprint=nothing)])
    assert len(book.history("c1")) == 2


def test_all_of_an_append_is_written_or_nothing(book: Book) -> None:
    with pytest.raises(SettingsError):
        book.append([Entry("c1", "open"), Entry("x", "erased", tombstone=True)])
    book.append([Entry("c1", "open")])
    with pytest.raises(CaseBookError, match="no case 'c2'"):
        book.judge([NewVerdict("c1", "cleared"), NewVerdict("c2", "cleared")])
    assert book.current()["c1"].verdict == "open"
    book.append([])  # and it goes on
    assert len(list(book.entries())) == 1


def test_many_cases_come_page_by_page(book: Book) -> None:
    many = 2 * AT_ONCE + 3
    entries = [Entry(f"c{k:05}", "open", (f"n{k}", f"m{k % 7}")) for k in range(many)]
    book.append(entries)
    assert untimed(book.latest()) == untimed(entries)
    assert {entry.entry for entry in book.entries()} == {entry.entry for entry in entries}
    assert len(book.of_nodes(f"n{k}" for k in range(many))) == many
    assert sorted(book.of_nodes(["m3", "no such"])) == [f"c{k:05}" for k in range(3, many, 7)]


@pytest.mark.parametrize("nasty", NASTY)
def test_no_text_is_run(book: Book, nasty: str) -> None:
    entry = Entry(nasty, "open", (nasty, "b"), reason=nasty, note=nasty, who=nasty, run=nasty)
    book.append([entry, Entry("other", "open", ("c",))])
    assert untimed(book.history(nasty)) == untimed([entry])
    assert untimed(book.of_nodes([nasty]).values()) == untimed([entry])
    book.judge([NewVerdict(nasty, "cleared", nasty, nasty, nasty)])
    assert book.current()[nasty].note == nasty
    book.erase(nasty, "ann", "request 12")
    assert book.of_nodes([nasty]) == {}
    assert book.current()["other"].members == ("c",)
    assert len(list(book.entries())) == 4


@pytest.mark.parametrize(
    "wrong",
    [
        {"verdict": "guilty"},
        {"verdict": "erased"},
        {"case_id": ""},
        {"case_id": "a" * 3_000},
        {"case_id": "a\0b"},
        {"members": ("\ud800",)},
        {"note": "\0"},
        {"note": None},
        {"at": "yesterday"},
        {"score": float("nan")},
        {"entry": "1"},
        {"tombstone": True},
    ],
)
def test_entries_that_cannot_be_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(SettingsError):
        Entry(**{"case_id": "c", "verdict": "open", **wrong})  # type: ignore[arg-type]


def test_a_book_is_not_made_by_looking(where: str) -> None:
    with pytest.raises(CaseBookError, match="does not exist"):
        open_book(where, create=False)
    open_book(where).close()
    open_book(where, create=False).close()
    with open_book(where) as book:
        assert "postgresql:" not in repr(book)


def test_another_version_is_refused(where: str) -> None:
    with open_book(where) as book, book._store.writing():
        book._store.run("UPDATE book SET version = $1", [(99,)])
    with pytest.raises(CaseBookError, match=r"schema 99.*with the oddhop that wrote it"):
        open_book(where)


@pytest.mark.parametrize("sql", ["CREATE TABLE entries (a)", "CREATE TABLE book (version bigint NOT NULL)"])
def test_a_foreign_database_is_refused_and_left_alone(tmp_path: Path, sql: str) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as other:
        other.execute(sql)
    other.close()
    before = path.read_bytes()
    for create in (True, False):
        with pytest.raises(CaseBookError, match="not a book"):
            open_book(path, create=create)
    assert path.read_bytes() == before


def test_a_book_with_a_trigger_of_another_is_refused(tmp_path: Path) -> None:
    open_book(tmp_path / "cases.db").close()
    with sqlite3.connect(tmp_path / "cases.db") as other:
        other.execute("CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM members; END")
    other.close()
    with pytest.raises(CaseBookError, match="not a book"):
        open_book(tmp_path / "cases.db")


@pytest.mark.parametrize("content", [b"no database at all" * 100, b"SQLite format 3\0" + b"\xff" * 2_000])
def test_a_file_that_is_no_database_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "cases.db").write_bytes(content)
    with pytest.raises(CaseBookError, match=r"cases\.db"):
        open_book(tmp_path / "cases.db")
    assert (tmp_path / "cases.db").read_bytes() == content


def test_places_where_no_book_can_be_are_refused(tmp_path: Path) -> None:
    for wrong in (tmp_path, tmp_path / "none" / "cases.db", "mysql://root:secret@db/x", "a\0b"):
        with pytest.raises(CaseBookError) as caught:
            open_book(wrong)
        assert "secret" not in str(caught.value)


def test_changed_bytes_never_raise_anything_but_ours(tmp_path: Path) -> None:
    path = tmp_path / "cases.db"
    with open_book(path) as book:
        book.append([Entry(f"c{k}", "open", (f"n{k}",), judged([[0], [1]], [0]), score=1.0) for k in range(200)])
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(60):
        damaged = bytearray(whole)
        start = int(rng.integers(0, len(whole) - 600))
        damaged[start : start + 500] = rng.bytes(500)
        path.write_bytes(damaged)
        try:
            with open_book(path) as book:
                book.current()
                list(book.entries())
        except OddhopError:
            refused += 1
        for side in ("-wal", "-shm"):
            Path(f"{path}{side}").unlink(missing_ok=True)
    assert refused > 20


def test_a_password_is_never_told() -> None:
    pytest.importorskip("adbc_driver_postgresql")
    for uri in (
        "postgresql://ann:s3cret%21@127.0.0.1:1/none",
        "postgresql://ann@127.0.0.1:1/none?password=s3cret",
        "postgresql://ann:s3cret@[::1/none",
    ):
        with pytest.raises(CaseBookError) as caught:
            open_book(uri)
        assert "s3cret" not in str(caught.value)


def test_a_cleared_case_stays_away_until_it_changes(book: Book) -> None:
    ties = [[0] * 10, list(range(1, 11))]
    old = judged(ties, [0])
    book.append([Entry("c1", "cleared", ("0",), old, who="ann"), Entry("c2", "confirmed", ("5",), old)])
    more = judged([[0] * 15, list(range(1, 16))], [0])
    decided = decide(book, {"x": (["0"], old), "y": (["5"], old), "z": (["9"], old)})
    assert [one.hidden for one in decided.values()] == [True, False, False]
    assert [one.opens for one in decided.values()] == [False, False, True]
    back = decide(book, {"x": (["0"], more)})
    one = back["x"]
    assert not one.hidden
    assert one.opens
    assert one.matched is not None
    assert one.matched.case_id == "c1"
    assert one.sentences[0].startswith("cleared by ann on 20")
    assert one.sentences[1:] == ["5 of 15 neighbours are new"]
    assert decide(book, {"x": (["0"], more)}, more_than=0.5)["x"].hidden


def test_half_of_the_smaller_is_the_same_case(book: Book) -> None:
    nothing = Fingerprint()
    book.append([Entry("c1", "cleared", ("a", "b", "c"), nothing)])
    cases = {"one": ["a"], "two": ["a", "x"], "three": ["a", "x", "y"], "big": ["a", "b", "x", "y", "z"]}
    decided = decide(book, {name: (members, nothing) for name, members in cases.items()})
    assert {name: one.matched is not None for name, one in decided.items()} == {
        "one": True,
        "two": True,
        "three": False,
        "big": True,
    }


def test_a_case_that_falls_apart_goes_on_under_two_names(book: Book) -> None:
    nothing = Fingerprint()
    book.append([Entry("1", "open", ("a", "b", "c"), nothing), Entry("2", "cleared", ("z",), nothing)])
    cases = {"1": (["x"], nothing), "2": (["a"], nothing), "3": (["b", "c"], nothing)}
    decided = decide(book, cases)
    assert {name: one.case_id for name, one in decided.items()} == {"1": "1-2", "2": "2-2", "3": "1"}
    assert [one.opens for one in decided.values()] == [True, True, False]


def test_a_case_keeps_its_id_while_half_of_its_members_stay(book: Book) -> None:
    nothing = Fingerprint()
    book.append([Entry("c1", "confirmed", tuple("abcd"))])
    for members in (["a", "b", "x", "y"], ["w", "x", "y", "z", "c", "d"]):
        assert decide(book, {"n": (members, nothing)})["n"].case_id == "c1"
    for members in (["x", "y", "z", "a"], ["a", "x", "y"]):
        found = decide(book, {"n": (members, nothing)})["n"]
        assert (found.case_id, found.matched, found.merged) == ("n", None, ())
    # Night by night it loses one member and wins one; in the end none is left of the first.
    for night in range(1, 20):
        members = [chr(ord("a") + night + k) for k in range(4)]
        (one,) = decide(book, {members[0]: (members, Fingerprint())}).values()
        assert one.case_id == "c1"
        book.append([Entry(one.case_id, "open", tuple(members))])


def test_splits_and_merges_are_named(book: Book) -> None:
    nothing = Fingerprint()
    book.append([Entry("c1", "open", tuple("abcdef"), nothing)])
    book.append([Entry("c2", "confirmed", ("x", "y"), nothing)])
    split = decide(book, {"1": (list("abcd"), nothing), "2": (["e", "f"], nothing)})
    assert {name: one.case_id for name, one in split.items()} == {"1": "c1", "2": "2"}
    assert split["2"].status == "new"
    assert "it was part of the case c1" in split["2"].sentences
    assert not any("part of" in one for one in split["1"].sentences)
    members = [*"abcdefxy"]
    merged = decide(book, {"1": (members, nothing)})["1"]
    assert (merged.case_id, merged.merged) == ("c2", ("c1",))  # the one with the last entry goes on
    assert "the case c1 is part of it now" in merged.sentences
    book.append([Entry("c2", "open", tuple(members), nothing)])
    assert decide(book, {"1": (members, nothing)})["1"].merged == ()  # it was named
    book.append([Entry("c3", "open", ("p", "q"), nothing), Entry("c4", "open", ("r", "s"), nothing)])
    apart = decide(book, {"1": (list("pqrs"), nothing), "2": (["p", "q"], nothing), "3": (["r", "s"], nothing)})
    assert not any(one.merged for one in apart.values())  # each goes on by itself
    both = decide(book, {"1": (list("abcdef"), nothing), "2": (["x", "y"], nothing)})
    assert both["1"].case_id != both["2"].case_id


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=5, unique=True), min_size=1, max_size=5))
def test_no_two_cases_of_a_run_have_one_id_and_the_order_is_of_no_account(cases: list[list[str]]) -> None:
    with tempfile.TemporaryDirectory() as folder, open_book(f"{folder}/cases.db") as book:
        book.append(
            [Entry(f"c{k}", "open", tuple(some)) for k, some in enumerate((["a", "b"], ["b", "c", "d"], ["h"]))]
        )
        named = {f"n{k}": (some, Fingerprint()) for k, some in enumerate(cases)}
        found = decide(book, named)
        assert len({one.case_id for one in found.values()}) == len(cases)
        assert found == decide(book, dict(reversed(named.items())))
        assert list(found) == list(named)


def test_a_run_that_is_resumed_doubles_nothing(book: Book) -> None:
    def night(run: str, *, killed_after: int) -> None:
        cases = {f"{k}": ([f"n{k}"], judged([[0] * 3, [1, 2, 3 + k]], [0])) for k in range(6)}
        written = 0
        for name, one in decide(book, cases).items():
            if one.opens and written < killed_after:
                members, fingerprint = cases[name]
                book.append([Entry.of_run(run, one.case_id, members=members, fingerprint=fingerprint)])
                written += 1

    night("monday", killed_after=3)
    night("monday", killed_after=99)
    night("monday", killed_after=99)
    assert sorted(book.current()) == [f"{k}" for k in range(6)]
    assert len(list(book.entries())) == 6


def test_the_last_of_several_verdicts_on_the_same_members_counts(book: Book) -> None:
    nothing = Fingerprint()
    book.append([Entry("c1", "cleared", ("a", "b"), nothing)])
    book.append([Entry("c2", "open", ("a", "b"), nothing)])
    assert not decide(book, {"x": (["a", "b"], nothing)})["x"].hidden
    book.judge([NewVerdict("c2", "cleared")])
    assert decide(book, {"x": (["a", "b"], nothing)})["x"].hidden


def test_a_cleared_case_without_a_fingerprint_is_shown(book: Book) -> None:
    book.append([Entry("c1", "cleared", ("a",))])
    one = decide(book, {"x": (["a"], Fingerprint())})["x"]
    assert not one.hidden
    assert one.sentences[1] == "the book has no data from the time of the verdict"


def test_a_book_that_stays_locked_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "cases.db"
    open_book(path).close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA journal_mode = DELETE")
    other.execute("BEGIN")
    other.execute("SELECT count(*) FROM entries").fetchone()  # it reads, so that the log cannot be switched
    waits, really = [], time.sleep
    monkeypatch.setattr("oddhop.casebook.stores.PATIENCE", 0.2)

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        assert len(waits) < 10  # it would wait for ever
        really(seconds)

    monkeypatch.setattr("oddhop.casebook.stores.time.sleep", sleep)
    with pytest.raises(CaseBookError, match="locked"):
        open_book(path, create=False)
    other.close()
    with open_book(path, create=False) as book:
        assert len(book) == 0
