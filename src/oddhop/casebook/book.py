"""The book of cases: verdicts are added and never changed, in an SQLite file or in PostgreSQL."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import uuid4

from oddhop.casebook.entry import VERDICTS, Entry, NewVerdict, later, now
from oddhop.casebook.erase import Erased, erase
from oddhop.casebook.record import Fingerprint
from oddhop.casebook.stores import COLUMNS, Row, Store, open_store
from oddhop.errors import CaseBookError, SettingsError

AT_ONCE = 500
FIELDS = ", ".join(f"e.{name}" for name in COLUMNS)
CASES = "SELECT DISTINCT e.case_id FROM entries e JOIN members m ON m.entry = e.entry"
NODES = "(SELECT CAST({array}(m.node) AS text) FROM members m WHERE m.entry = e.entry)"
LAST = (
    "NOT e.tombstone AND NOT EXISTS (SELECT 1 FROM entries l WHERE l.case_id = e.case_id "
    "AND NOT l.tombstone AND (l.at, l.entry) > (e.at, e.entry))"
)


def open_book(where: str | os.PathLike[str], *, create: bool = True) -> Book:
    """Open a book of cases.

    Parameters
    ----------
    where : the path of an SQLite file on a local disk, or an address ``postgresql://...``, which needs
        ``pip install oddhop[sql]``. There the tables are in the schema ``oddhop_cases``.
    create : whether to make the book if there is none.

    Examples
    --------
    >>> import tempfile
    >>> from oddhop.casebook import Entry, NewVerdict, open_book
    >>> with tempfile.TemporaryDirectory() as folder, open_book(f"{folder}/cases.db") as book:
    ...     book.append([Entry("c1", "open", members=("a", "b"))])
    ...     _ = book.judge([NewVerdict("c1", "cleared", reason="family", who="ann")])
    ...     [entry.verdict for entry in book.history("c1")], book.current()["c1"].members
    (['open', 'cleared'], ('a', 'b'))
    """
    return Book(open_store(where if isinstance(where, str) else Path(where), create=create))


class Book:
    """An open book of cases; made by :func:`open_book`. Several processes may write to one book at once.

    Examples
    --------
    >>> import tempfile
    >>> from oddhop.casebook import Entry, open_book
    >>> with tempfile.TemporaryDirectory() as folder, open_book(f"{folder}/cases.db") as book:
    ...     book.append([Entry("c1", "open", members=("a",)), Entry("c2", "watch", members=("a", "b"))])
    ...     sorted(book.of_nodes(["a"])), [entry.case_id for entry in book.latest("watch")], "c3" in book
    (['c1', 'c2'], ['c2'], False)
    """

    def __init__(self, store: Store) -> None:
        self._store, self._inside = store, False

    def __enter__(self) -> Book:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __contains__(self, case_id: object) -> bool:
        return bool(self._store.rows("SELECT 1 FROM entries WHERE case_id = $1 LIMIT 1", (str(case_id),)))

    def __repr__(self) -> str:
        return f"Book({self._store.label})"

    def __len__(self) -> int:
        """Return how many entries there are; whatever is done to the book, an erasure as well, adds some."""
        return int(self._store.rows("SELECT count(*) FROM entries")[0][0])

    def __bool__(self) -> bool:
        return True  # an empty book is a book

    @property
    def label(self) -> str:
        """The name of the book in errors, without a password."""
        return self._store.label

    def close(self) -> None:
        """Close the file or the connection."""
        self._store.close()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Return a context that is one transaction without other writers: to read, decide and append."""
        if self._inside:
            yield
            return
        with self._store.writing():
            self._inside = True
            try:
                yield
            finally:
                self._inside = False

    def append(self, entries: Sequence[Entry]) -> None:
        """Add entries, all or none, at one moment that is later than every entry before.

        Entries with a known id are skipped, so a retry adds nothing twice. Where a case has several of the entries,
        the last of them is current.
        """
        if any(entry.tombstone for entry in entries):
            raise SettingsError("only Book.erase writes a tombstone")
        with self.writing():
            self._insert(entries)

    def judge(self, verdicts: Sequence[NewVerdict]) -> list[Entry]:
        """Add verdicts on known cases, all or none; return the entries that were added.

        Members, fingerprint, run, rank and score are those of the last entry of the case. A verdict that is said
        again in the same words is left out, so that a retry doubles nothing.
        """
        out: dict[str, Entry] = {}
        with self.writing():
            for said in verdicts:
                last = out.get(said.case_id) or self._last(said.case_id)
                if last is None:
                    raise CaseBookError(
                        f"{self.label} has no case {said.case_id!r}",
                        "list the cases with Book.current",
                        command="list the cases with oddhop cases list",
                    )
                words: dict[str, Any] = {name: getattr(said, name) for name in ("verdict", "reason", "note", "who")}
                if all(getattr(last, name) == word for name, word in words.items()):
                    continue
                (out[said.case_id],) = self._insert([replace(last, **words, entry=str(uuid4()))])
        return list(out.values())

    def latest(self, verdict: str | None = None) -> Iterator[Entry]:
        """Return the last entry of every case, or of those with one verdict, in the order of the case ids."""
        if verdict not in (None, *VERDICTS):
            raise SettingsError(f"a verdict must be one of {', '.join(VERDICTS)}, got {verdict!r}")
        after, alike = "", "AND e.verdict = $2" if verdict else ""
        while True:
            sql = f"e.case_id > $1 {alike} AND {LAST} ORDER BY e.case_id LIMIT {AT_ONCE}"
            page = self._entries(sql, (after, verdict) if verdict else (after,))
            yield from page
            if len(page) < AT_ONCE:
                return
            after = page[-1].case_id

    def current(self) -> dict[str, Entry]:
        """Return the last entry of every case, by the id of the case."""
        return {entry.case_id: entry for entry in self.latest()}

    def history(self, case_id: str) -> list[Entry]:
        """Return all entries of a case, the first one first."""
        return self._entries("e.case_id = $1 AND NOT e.tombstone ORDER BY e.at, e.entry", (case_id,))

    def entry(self, entry: str) -> Entry | None:
        """Return the entry with this id."""
        found = self._entries("e.entry = $1 AND NOT e.tombstone", (entry,))
        return found[0] if found else None

    def at_moment(self, at: str) -> list[Entry]:
        """Return the entries of one moment."""
        return self._entries("e.at = $1 AND NOT e.tombstone ORDER BY e.entry", (at,))

    def last_entry(self) -> str | None:
        """Return the id of the last entry; None where the book is empty."""
        found = self._store.rows("SELECT entry FROM entries WHERE NOT tombstone ORDER BY at DESC, entry DESC LIMIT 1")
        return str(found[0][0]) if found else None

    def moment(self) -> str:
        """Return a time after every entry: now, or a microsecond after the last entry if a clock was wrong."""
        last = self._store.rows("SELECT max(at) FROM entries")[0][0]
        return now() if last is None else max(now(), later(last))

    def of_nodes(self, nodes: Iterable[str]) -> dict[str, Entry]:
        """Return the last entries of the cases that have, or had, any of these members, by the id of the case."""
        cases: set[str] = set()
        for some in _chunks(nodes):
            cases.update(row[0] for row in self._store.rows(f"{CASES} WHERE m.node IN {_places(some)}", some))
        found: dict[str, Entry] = {}
        for some in _chunks(sorted(cases)):
            page = self._entries(f"e.case_id IN {_places(some)} AND {LAST}", some)
            found.update((entry.case_id, entry) for entry in page)
        return found

    def entries(self) -> Iterator[Entry]:
        """Return all entries of the book in the order of time, including tombstones."""
        after = ("", "")
        while True:
            page = self._entries(f"(e.at, e.entry) > ($1, $2) ORDER BY e.at, e.entry LIMIT {AT_ONCE}", after)
            yield from page
            if len(page) < AT_ONCE:
                return
            after = (page[-1].at, page[-1].entry)

    def erase(self, node: str, who: str, reason: str) -> Erased:
        """Remove everything about a node from the book, and add an entry with the time, the name and the reason.

        Its id goes out of members, fingerprints, notes, reasons and ids of cases. Notes on the cases that it is in
        are removed whole, and these cases get new ids, for the old ones may have been made of its id. Copies of the
        book, and logs of a PostgreSQL server, are not reached.
        """
        with self.writing():
            erased, tombstone = erase(self._store, node, who, reason)
            if tombstone is not None:
                self._insert([tombstone])
        # Also where nothing was found: the process that erased it may have been killed before this.
        self._store.scrub()
        return erased

    def _insert(self, entries: Sequence[Entry]) -> list[Entry]:
        new: dict[str, Entry] = {}
        # Under the lock of the book: of two writers the one that comes later has the later time, whatever their clocks.
        at, here = self.moment(), set[str]()
        for entry in entries:
            if entry.entry not in new:
                at, here = (later(at), set()) if entry.case_id in here else (at, here)
                here.add(entry.case_id)
                new[entry.entry] = replace(entry, at=at)
        # Members first, and only of entries that are not there: a retry must not bring back a member that was erased.
        self._store.run(
            "INSERT INTO members (entry, node) SELECT CAST($1 AS text), CAST($2 AS text) "
            "WHERE NOT EXISTS (SELECT 1 FROM entries WHERE entry = $1)",
            [(entry.entry, node) for entry in new.values() for node in entry.members],
        )
        places = ", ".join(f"${k + 1}" for k in range(len(COLUMNS)))
        sql = f"INSERT INTO entries ({', '.join(COLUMNS)}) VALUES ({places}) ON CONFLICT (entry) DO NOTHING"  # noqa: S608
        self._store.run(sql, [tuple(exported(entry).values())[: len(COLUMNS)] for entry in new.values()])
        return list(new.values())

    def _last(self, case_id: str) -> Entry | None:
        found = self._entries(f"e.case_id = $1 AND {LAST}", (case_id,))
        return found[0] if found else None

    def _entries(self, rest: str, values: Sequence[Any]) -> list[Entry]:
        nodes = NODES.format(array=self._store.json_array)
        sql = f"SELECT {FIELDS}, {nodes} FROM entries e WHERE {rest}"  # noqa: S608 - all values are parameters
        return [_entry(row, self.label) for row in self._store.rows(sql, values)]


def exported(entry: Entry) -> dict[str, Any]:
    """Return an entry as a row of a table, with its members."""
    row = {name: getattr(entry, name) for name in COLUMNS}
    judged = None if entry.fingerprint is None else entry.fingerprint.to_json()
    return {**row, "fingerprint": judged, "members": list(entry.members)}


def _entry(row: Row, label: str) -> Entry:
    found = dict(zip(COLUMNS, row, strict=False))
    try:
        judged, members = found["fingerprint"], json.loads(row[-1] or "[]")
        found["fingerprint"] = None if judged is None else Fingerprint.from_json(judged)
        found["tombstone"] = bool(found["tombstone"])
        if not isinstance(found["rank"], int | None) or not isinstance(found["score"], float | None):
            raise TypeError("a rank or a score is not a number")
        return Entry(members=tuple(members), **found)
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise CaseBookError(f"{label} is damaged: {error}", "restore it from a copy") from None


def _chunks(texts: Iterable[str]) -> Iterator[list[str]]:
    left = iter(texts)
    while some := list(islice(left, AT_ONCE)):
        yield some


def _places(values: Sequence[str]) -> str:
    return f"({', '.join(f'${k + 1}' for k in range(len(values)))})"
