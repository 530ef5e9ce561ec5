from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from oddhop import Graph, Network
from oddhop.casebook import Book, Entry, decide, fingerprint_of, member_ids, open_book
from oddhop.casebook.fingerprint import text_hashes
from oddhop.errors import CaseBookError, SettingsError

ERASED = "acct-77001"


def hash_of(node: str) -> str:
    return str(text_hashes([node])[0])


def network() -> Network:
    ids = [ERASED, *(f"other-{k}" for k in range(9))]
    return Network.of(Graph.from_arrays([[0, 0, 1, 3], [1, 2, 3, 4]], np.ones((10, 1)), node_ids=ids))


def fill(book: Book) -> None:
    known = network()
    for run in ("monday", "tuesday"):
        for case, names in ((f"case of {ERASED}", [ERASED]), ("ring", [ERASED, "other-0"]), ("near", ["other-1"])):
            nodes = known.numbers(names)
            entry = Entry.of_run(
                run, case, members=member_ids(known, nodes), fingerprint=fingerprint_of(known, nodes), rank=1, score=2.0
            )
            book.append([entry])
    book.append([Entry("far", "watch", ("other-7",), note=f"paid by {ERASED}, twice", reason=ERASED)])
    book.append([Entry("ring", "cleared", (ERASED, "other-0"), note=f"{ERASED} is the mother", who="ann")])
    book.append([Entry(f"x{k}", "open", (f"other-{k}",), note="n" * 300) for k in range(200)])


def test_nothing_of_an_erased_node_is_left(book: Book) -> None:
    fill(book)
    before = len(list(book.entries()))
    erased = book.erase(ERASED, "ann", "request 12")
    assert (erased.cases, erased.mentions > 0) == (2, True)
    entries = list(book.entries())
    told = repr(entries)
    assert ERASED not in told
    assert hash_of(ERASED) not in told
    assert len(entries) == before + 1  # nothing but the node is gone
    (tombstone,) = [entry for entry in entries if entry.tombstone]
    assert (tombstone.who, tombstone.reason, tombstone.members) == ("ann", "request 12", ())
    assert tombstone.fingerprint is None
    assert tombstone.entry not in book.current()
    assert book.of_nodes([ERASED]) == {}
    assert book.current()["far"].note == "paid by [erased], twice"
    (ring,) = book.of_nodes(["other-0"]).keys() - {"x0"}
    history = book.history(ring)
    assert ring != "ring"
    assert [entry.verdict for entry in history] == ["open", "open", "cleared"]
    assert all(entry.note == "" and entry.members == ("other-0",) for entry in history)
    assert history[0].fingerprint is not None
    (row,) = history[0].fingerprint.records.to_pylist()
    assert str(row["node"]) == hash_of("other-0")
    assert row["degree"] == len(row["neighbours"])


def test_a_fingerprint_of_an_older_version_goes_whole(book: Book) -> None:
    book.append([Entry("c1", "cleared", ("a",), who="ann")])
    old = '{"encoded":true,"kind":"node","members":{"0123456789abcdef":{"columns":{},"degree":0,"neighbours":[]}}}'
    with book.writing():
        book._store.run("UPDATE entries SET fingerprint = $1", [(old,)])
    assert book.current()["c1"].fingerprint is None  # nothing to compare with: the case is shown again
    assert not decide(book, {"x": (["a"], fingerprint_of(network(), np.array([0])))})["x"].hidden
    book.erase("b", "ann", "request 12")
    assert book._store.rows("SELECT fingerprint FROM entries WHERE case_id = 'c1'") == [(None,)]


def test_a_second_time_finds_nothing_and_leaves_no_second_tombstone(book: Book) -> None:
    fill(book)
    book.erase(ERASED, "ann", "request 12")
    again = book.erase(ERASED, "ann", "request 12")
    assert (again.cases, again.mentions) == (0, 0)
    assert sum(entry.tombstone for entry in book.entries()) == 1


def test_a_retry_of_an_append_does_not_bring_it_back(book: Book) -> None:
    entry = Entry("c1", "open", (ERASED, "b"))
    book.append([entry])
    book.erase(ERASED, "ann", "request 12")
    book.append([entry])
    assert book.of_nodes([ERASED]) == {}


@pytest.mark.parametrize(("who", "reason"), [("", "x"), ("x", ""), ("ann", f"asked by {ERASED}"), (ERASED, "x")])
def test_a_tombstone_says_who_and_why_and_never_whom(book: Book, who: str, reason: str) -> None:
    with pytest.raises(SettingsError, match="must not contain the erased id"):
        book.erase(ERASED, who, reason)


def bytes_of(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(path.parent.glob(f"{path.name}*")))


def test_the_bytes_of_the_file_hold_nothing_of_it(tmp_path: Path) -> None:
    path = tmp_path / "cases.db"
    looking = open_book(path)  # another has the book open, and keeps its log alive
    with open_book(path) as book:
        fill(book)
        list(looking.entries())
        for wanted in (ERASED, hash_of(ERASED)):
            assert wanted.encode() in bytes_of(path)
        book.erase(ERASED, "ann", "request 12")
        for wanted in (ERASED, hash_of(ERASED)):
            assert wanted.encode() not in bytes_of(path)
    looking.close()
    assert ERASED.encode() not in bytes_of(path)
    assert b"other-0" in bytes_of(path)


def test_short_ids_are_told_from_parts_of_words(book: Book) -> None:
    book.append([Entry("c1", "open", ("12",), note="12"), Entry("c12", "open", ("112",), note="112 or 12 of 120")])
    book.erase("12", "ann", "request")
    assert book.current()["c12"].note == "112 or [erased] of 120"
    assert book.current()["c12"].members == ("112",)


def test_a_log_that_is_in_use_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oddhop.casebook.stores.PATIENCE", 0.2)
    path = tmp_path / "cases.db"
    with open_book(path) as book, open_book(path) as reader:
        book.append([Entry("c1", "open", (ERASED,))])
        reader._store.rows("BEGIN")
        reader.current()  # it looks at the book as it was
        with pytest.raises(CaseBookError, match="erase again"):
            book.erase(ERASED, "ann", "request 12")
        reader._store.rows("COMMIT")
        book.erase(ERASED, "ann", "request 12")
        assert ERASED.encode() not in bytes_of(path)
