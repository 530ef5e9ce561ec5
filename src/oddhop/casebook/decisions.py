"""Which cases of a run were cleared before and stay away, and what is new of those that do not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import count

from oddhop.casebook.book import Book
from oddhop.casebook.changes import MORE_THAN, Changed, changed
from oddhop.casebook.entry import Entry, entry_of_run
from oddhop.casebook.record import Fingerprint


@dataclass(frozen=True)
class Decision:
    """The decision of the book about one case of a run.

    Attributes
    ----------
    case_id : what to call it in the book: as it was called before, or else a name that the book does not have.
    matched : the last entry of the case that it was before, or was a part of; None for a new case.
    merged : the ids of other cases of the book that are part of it now.
    changed : what changed since that entry, or None where that is not known.
    hidden : whether it was cleared and has not changed enough since.
    opens : whether the run should write it as open: it is new, it comes back, or it is open and has changed enough.

    Examples
    --------
    >>> from oddhop.casebook import Decision, Entry
    >>> Decision("c1", Entry("c1", "watch", who="ann", at="2026-11-16T09:30:00.000000Z")).sentences[0]
    'watch by ann on 2026-11-16'
    """

    case_id: str
    matched: Entry | None = None
    changed: Changed | None = None
    hidden: bool = False
    opens: bool = True
    merged: tuple[str, ...] = ()

    @property
    def status(self) -> str:
        """The status: new, changed, back (it was cleared), or the last verdict."""
        if self.matched is None or self.matched.case_id != self.case_id:
            return "new"
        if not self.opens:
            return self.matched.verdict
        return "back" if self.matched.verdict == "cleared" else "changed"

    @property
    def settled(self) -> bool:
        """Whether it needs no new verdict: it was cleared or confirmed, and has not changed enough since."""
        return self.status in ("cleared", "confirmed") and not (self.changed is not None and self.changed.enough)

    @property
    def sentences(self) -> list[str]:
        """What the book says, in words; empty for a new case."""
        if self.matched is None:
            return []
        out = [f"{self.matched.verdict} by {self.matched.who or 'someone'} on {self.matched.at[:10]}"]
        if self.matched.case_id != self.case_id:
            out.append(f"it was part of the case {self.matched.case_id}")
        if self.merged:
            of_it = "is part of it now" if len(self.merged) == 1 else "are part of it now"
            out.append(f"the case{'s' * (len(self.merged) > 1)} {', '.join(self.merged)} {of_it}")
        if self.changed is None:
            return [*out, "the book has no data from the time of the verdict"]
        return [*out, *self.changed.sentences]


def decide(
    book: Book,
    cases: Mapping[str, tuple[Collection[str], Fingerprint]],
    more_than: float = MORE_THAN,
    run: str | None = None,
) -> dict[str, Decision]:
    """Decide which case of the book each case of a run is, by its members, and which cleared ones stay hidden.

    Two cases are the same if they share at least half of the members of the smaller. Where several cases of the book
    are like one of the run, the one with the last entry goes on, and the others are merged into it. Where one case of
    the book is like several of the run, it goes on as the one that shares most members with it, and the others were
    split from it.

    Parameters
    ----------
    book : the book of cases.
    cases : the members, as texts, and the fingerprint of every case of the run, by its id.
    more_than : how much must have changed for a cleared case to come back; see :func:`changed`.
    run : the run that asks. What it wrote itself, before it was killed, does not count.

    Examples
    --------
    >>> import tempfile
    >>> from oddhop.casebook import Entry, Fingerprint, decide, open_book
    >>> nothing = Fingerprint()
    >>> with tempfile.TemporaryDirectory() as folder, open_book(f"{folder}/cases.db") as book:
    ...     book.append([Entry("c1", "cleared", members=("a", "b"), fingerprint=nothing, who="ann")])
    ...     decided = decide(book, {"n1": (["b", "c"], nothing), "n2": (["d"], nothing)})
    >>> [(one.case_id, one.hidden) for one in decided.values()]
    [('c1', True), ('n2', False)]
    """
    whole = {name: set(members) for name, (members, _) in cases.items()}
    known = book.of_nodes(sorted(set().union(*whole.values())))
    own = {name for name, entry in known.items() if run is not None and entry.entry == entry_of_run(run, name)}
    with_node: defaultdict[str, list[Entry]] = defaultdict(list)
    for name, last in known.items():
        entries = [one for one in book.history(name) if one.entry != last.entry] if name in own else [last]
        for entry in entries[-1:]:
            for node in entry.members:
                with_node[node].append(entry)
    alike: dict[str, list[Entry]] = {}
    for name, members in whole.items():
        near = {entry.entry: entry for node in members for entry in with_node.get(node, ())}
        same = [
            one for one in near.values() if 2 * len(members & {*one.members}) >= min(len(members), len(one.members))
        ]
        alike[name] = sorted(same, key=lambda one: (one.at, one.entry))
    shared = {name: len(whole[name] & set(found[-1].members)) if found else 0 for name, found in alike.items()}
    going_on = {found[-1].case_id for found in alike.values() if found}
    out: dict[str, Decision] = {}
    taken: set[str] = set()
    for name in sorted(cases, key=lambda name: (-shared[name], name)):
        before = alike[name][-1] if alike[name] else None
        if before is not None and before.case_id not in taken:
            case_id = before.case_id
        else:
            # A run may count its cases: its case 1 is not the case 1 of another run.
            numbered = (name if k == 1 else f"{name}-{k}" for k in count(1))
            case_id = next(new for new in numbered if new not in taken and (new in own or new not in book))
        taken.add(case_id)
        held = set() if before is None else set(before.members)  # a case that was merged earlier is not named again
        merged = {one.case_id for one in alike[name] if not set(one.members) <= held} - going_on
        out[name] = _decided(case_id, before, tuple(sorted(merged)), cases[name][1], more_than)
    return {name: out[name] for name in cases}


def _decided(
    case_id: str, before: Entry | None, merged: tuple[str, ...], judged: Fingerprint, more_than: float
) -> Decision:
    if before is None:
        return Decision(case_id)
    what = None if before.fingerprint is None else changed(before.fingerprint, judged, more_than=more_than)
    if before.verdict == "cleared":
        hidden = what is not None and not what.enough
        return Decision(case_id, before, what, hidden=hidden, opens=not hidden, merged=merged)
    moved = before.verdict == "open" and (what is None or what.enough)
    return Decision(case_id, before, what, opens=moved or case_id != before.case_id, merged=merged)
