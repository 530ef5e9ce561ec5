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
    matched : the last entry of the case that it was before, or None.
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
        before = f"{self.matched.verdict} by {self.matched.who or 'someone'} on {self.matched.at[:10]}"
        if self.changed is None:
            return [before, "the book has no data from the time of the verdict"]
        return [before, *self.changed.sentences]


@dataclass(frozen=True)
class Decisions:
    """The decisions of the book about every case of a run.

    Attributes
    ----------
    by_case : the decisions, by the ids that the cases have in the run.

    Examples
    --------
    >>> from oddhop.casebook import Decision, Decisions
    >>> Decisions({"n1": Decision("c1", hidden=True), "n2": Decision("n2")}).hidden
    1
    """

    by_case: Mapping[str, Decision]

    @property
    def hidden(self) -> int:
        """The number of hidden cases. A program that hides them must say so."""
        return sum(one.hidden for one in self.by_case.values())

    @property
    def sentence(self) -> str:
        """How many are hidden and why, in words; empty where none is."""
        hidden = self.hidden
        if not hidden:
            return ""
        were = "cleared case is" if hidden == 1 else "cleared cases are"
        return f"{hidden:,} {were} hidden because little has changed since the verdict"


def suppressed(
    book: Book,
    cases: Mapping[str, tuple[Collection[str], Fingerprint]],
    more_than: float = MORE_THAN,
    run: str | None = None,
) -> Decisions:
    """Decide which cases are hidden because they were cleared.

    A case is the one before if they share at least half of the members of the smaller one, whatever their ids. Of
    several the last entry counts.

    Parameters
    ----------
    book : the book of cases.
    cases : the members, as texts, and the fingerprint of every case of the run, by its id.
    more_than : how much must have changed for a cleared case to come back; see :func:`changed`.
    run : the run that asks. What it wrote itself, before it was killed, does not count.

    Examples
    --------
    >>> import tempfile
    >>> from oddhop.casebook import Entry, Fingerprint, open_book, suppressed
    >>> nothing = Fingerprint()
    >>> with tempfile.TemporaryDirectory() as folder, open_book(f"{folder}/cases.db") as book:
    ...     book.append([Entry("c1", "cleared", members=("a", "b"), fingerprint=nothing, who="ann")])
    ...     decided = suppressed(book, {"n1": (["b", "c"], nothing), "n2": (["d"], nothing)})
    >>> decided.hidden, decided.by_case["n1"].hidden, decided.by_case["n2"].hidden
    (1, True, False)
    >>> decided.sentence
    '1 cleared case is hidden because little has changed since the verdict'
    """
    known = book.of_nodes(sorted({node for members, _ in cases.values() for node in members}))
    own = {name for name, entry in known.items() if run is not None and entry.entry == entry_of_run(run, name)}
    with_node: defaultdict[str, list[Entry]] = defaultdict(list)
    for name, last in known.items():
        entries = [one for one in book.history(name) if one.entry != last.entry] if name in own else [last]
        for entry in entries[-1:]:
            for node in entry.members:
                with_node[node].append(entry)
    before = {name: _before(set(members), with_node) for name, (members, _) in cases.items()}
    ids = _case_ids(book, before, {name: set(members) for name, (members, _) in cases.items()}, own)
    return Decisions(
        {name: _decided(ids[name], before[name], judged, more_than) for name, (_, judged) in cases.items()}
    )


def _before(members: set[str], with_node: Mapping[str, list[Entry]]) -> Entry | None:
    near = {entry.entry: entry for node in members for entry in with_node.get(node, ())}
    alike = [one for one in near.values() if 2 * len(members & set(one.members)) >= min(len(members), len(one.members))]
    return max(alike, key=lambda one: (one.at, one.entry), default=None)


def _case_ids(
    book: Book, before: Mapping[str, Entry | None], members: Mapping[str, set[str]], own: Collection[str]
) -> dict[str, str]:
    """Return every case its id: of several that were one case before, the one that shares most goes on as that case."""
    shared = {name: 0 if one is None else len(members[name] & set(one.members)) for name, one in before.items()}
    out: dict[str, str] = {}
    taken: set[str] = set()
    for name in sorted(before, key=lambda name: (-shared[name], name)):
        one = before[name]
        if one is not None and one.case_id not in taken:
            out[name] = one.case_id
        else:
            # A run may count its cases: its case 1 is not the case 1 of another run.
            numbered = (name if k == 1 else f"{name}-{k}" for k in count(1))
            out[name] = next(new for new in numbered if new not in taken and (new in own or new not in book))
        taken.add(out[name])
    return out


def _decided(case_id: str, before: Entry | None, judged: Fingerprint, more_than: float) -> Decision:
    if before is None:
        return Decision(case_id)
    what = None if before.fingerprint is None else changed(before.fingerprint, judged, more_than=more_than)
    if before.verdict == "cleared":
        hidden = what is not None and not what.enough
        return Decision(case_id, before, what, hidden=hidden, opens=not hidden)
    moved = before.verdict == "open" and (what is None or what.enough)
    return Decision(case_id, before, what, opens=moved or case_id != before.case_id)
