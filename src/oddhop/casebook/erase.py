"""Take a node out of a book: the one place where entries are changed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from uuid import uuid4

from oddhop.casebook.entry import ERASED, Entry, checked_text
from oddhop.casebook.record import VERSION, Fingerprint
from oddhop.casebook.stores import Store
from oddhop.errors import CaseBookError, SettingsError

INSTEAD = "[erased]"


@dataclass(frozen=True)
class Erased:
    """What was erased.

    Attributes
    ----------
    cases : how many cases it was a member of.
    mentions : how many other entries named it, or had it among the neighbours that were judged.

    Examples
    --------
    >>> import tempfile
    >>> from oddhop.casebook import Entry, open_book
    >>> with tempfile.TemporaryDirectory() as folder, open_book(f"{folder}/cases.db") as book:
    ...     book.append([Entry("c1", "open", members=("a", "b")), Entry("c2", "watch", note="knows a")])
    ...     book.erase("a", who="ann", reason="request 12")
    ...     book.of_nodes(["a"]), book.current()["c2"].note
    Erased(cases=1, mentions=1)
    ({}, 'knows [erased]')
    """

    cases: int
    mentions: int


def erase(store: Store, node: str, who: str, reason: str) -> tuple[Erased, Entry | None]:
    """Take a node out, inside a transaction; give the tombstone to write, None where nothing was found."""
    word = re.compile(rf"(?<!\w){re.escape(checked_text('node', node))}(?!\w)")
    for name, text in (("who", who), ("reason", reason)):
        if not text or word.search(text):
            raise SettingsError(
                f"{name} must not be empty and must not contain the erased id", "give the number of a request"
            )
    own = {
        row[0]
        for row in store.rows(
            "SELECT DISTINCT e.case_id FROM entries e JOIN members m ON m.entry = e.entry WHERE m.node = $1", (node,)
        )
    }
    some = like(node)
    named = store.rows("SELECT DISTINCT case_id FROM entries WHERE case_id LIKE $1 ESCAPE '!'", (some,))
    store.run("DELETE FROM members WHERE node = $1", [(node,)])
    others = {row[0] for row in named if word.search(row[0])} - own
    for case in sorted(own | others):
        _renew(store, case, whole=case in own)
    mentions = len(others) + _from_fingerprints(store, node) + _from_texts(store, some, word)
    erased = Erased(len(own), mentions)
    if not own and not mentions:
        return erased, None
    entry = str(uuid4())
    return erased, Entry(f"{ERASED} {entry}", ERASED, reason=reason, who=who, entry=entry, tombstone=True)


def like(text: str) -> str:
    """Write the pattern of texts that hold this one."""
    return "%" + re.sub(r"([!%_])", r"!\1", text) + "%"


def _renew(store: Store, case: str, *, whole: bool) -> None:
    """Return a case, and the entries whose ids were made of its id, new ids by chance; with its notes, if whole."""
    new = str(uuid4())
    store.run("UPDATE entries SET case_id = $2 WHERE case_id = $1", [(case, new)])
    made = [row[0] for row in store.rows("SELECT entry FROM entries WHERE case_id = $1", (new,))]
    renamed = [(entry, str(uuid4())) for entry in made if entry[14:15] != "4"]  # version 4 is chance
    store.run("UPDATE members SET entry = $2 WHERE entry = $1", renamed)
    store.run("UPDATE entries SET entry = $2 WHERE entry = $1", renamed)
    if whole:
        store.run("UPDATE entries SET note = '' WHERE case_id = $1", [(new,)])
        # With the run and the rank one finds it in the results of that run.
        store.run(
            "UPDATE entries SET run = NULL, rank = NULL, score = NULL, fingerprint = NULL WHERE case_id = $1 "
            "AND NOT EXISTS (SELECT 1 FROM members m WHERE m.entry = entries.entry)",
            [(new,)],
        )


def _from_fingerprints(store: Store, node: str) -> int:
    from oddhop.casebook.fingerprint import text_hashes  # only here: a list of cases does not wait for numba

    # Those of an older oddhop have other hashes and are not compared any more: they go whole.
    store.run("UPDATE entries SET fingerprint = NULL WHERE fingerprint NOT LIKE $1", [(f'%"version": {VERSION}%',)])
    hashed = int(text_hashes([node])[0])
    found = store.rows("SELECT entry FROM entries WHERE fingerprint LIKE $1", (f"%{hashed}%",))
    for (entry,) in found:  # one at a time: a fingerprint may be long
        text = store.rows("SELECT fingerprint FROM entries WHERE entry = $1", (entry,))[0][0]
        try:
            known = Fingerprint.from_json(text)
            left = None if known is None else known.without(hashed).to_json()
        except CaseBookError:
            left = None  # it is damaged, and still it must go
        store.run("UPDATE entries SET fingerprint = $2 WHERE entry = $1", [(entry, left)])
    return len(found)


def _from_texts(store: Store, some: str, word: re.Pattern[str]) -> int:
    where = " OR ".join(f"{name} LIKE $1 ESCAPE '!'" for name in ("reason", "note", "run"))
    found = store.rows(f"SELECT entry, reason, note, run FROM entries WHERE {where}", (some,))  # noqa: S608
    changed = [row for row in found if any(text and word.search(text) for text in row[1:])]
    store.run(
        "UPDATE entries SET reason = $2, note = $3, run = $4 WHERE entry = $1",
        [(row[0], *(text and word.sub(INSTEAD, text) for text in row[1:])) for row in changed],
    )
    return len(changed)
