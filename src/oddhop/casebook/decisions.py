"""Which cases of a run were cleared before and stay away, and what is new of those that do not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from oddhop.casebook.book import Book
from oddhop.casebook.changes import MORE_THAN, Changed, changed
from oddhop.casebook.entry import Entry
from oddhop.casebook.fingerprint import Fingerprint


@dataclass(frozen=True)
class Decision:
    """What the book says of a case of a run.

    Attributes
    ----------
    hidden : whether it was cleared and has not changed enough since.
    matched : the last entry of the case that it was before, or None. Its case id goes on.
    changed : what changed since that entry, or None where that is not known.
    opens : whether the run should write it as open: it is new, it comes back, or it is open and has changed.
    """

    hidden: bool
    matched: Entry | None = None
    changed: Changed | None = None
    opens: bool = True

    @property
    def sentences(self) -> list[str]:
        """What the book says, in words; empty for a new case."""
        if self.matched is None:
            return []
        before = f"{self.matched.verdict} by {self.matched.who or 'someone'} on {self.matched.at[:10]}"
        if self.changed is None:
            return [before, "what was judged then is not known"]
        return [before, *self.changed.sentences]


@dataclass(frozen=True)
class Decisions:
    """What the book says of every case of a run.

    Attributes
    ----------
    by_case : the decisions, by the ids that the cases have in the run.
    """

    by_case: Mapping[str, Decision]

    @property
    def hidden(self) -> int:
        """How many cases are hidden. Whoever hides them has to say so."""
        return sum(one.hidden for one in self.by_case.values())

    @property
    def sentence(self) -> str:
        """How many are hidden and why, in words; empty where none is."""
        count = self.hidden
        if not count:
            return ""
        were = "case is hidden: it was" if count == 1 else "cases are hidden: they were"
        return f"{count:,} {were} cleared, and little has changed since"


def suppressed(
    book: Book,
    cases: Mapping[str, tuple[Collection[str], Fingerprint]],
    more_than: float = MORE_THAN,
) -> Decisions:
    """Decide which cases stay away because they were cleared.

    A case is the one before if they share at least half of the members of the smaller one, whatever their ids. Of
    several the last entry counts.

    Parameters
    ----------
    book : the book of cases.
    cases : the members, as texts, and the fingerprint of every case of the run, by its id.
    more_than : how much must have changed for a cleared case to come back; see :func:`changed`.

    Examples
    --------
    >>> import tempfile
    >>> from oddhop.casebook import Entry, Fingerprint, open_book, suppressed
    >>> nothing = Fingerprint({})
    >>> with tempfile.TemporaryDirectory() as folder, open_book(f"{folder}/cases.db") as book:
    ...     book.append([Entry("c1", "cleared", members=("a", "b"), fingerprint=nothing, who="ann")])
    ...     decided = suppressed(book, {"n1": (["b", "c"], nothing), "n2": (["d"], nothing)})
    >>> decided.hidden, decided.by_case["n1"].hidden, decided.by_case["n2"].hidden
    (1, True, False)
    >>> decided.sentence
    '1 case is hidden: it was cleared, and little has changed since'
    """
    known = book.of_nodes(sorted({node for members, _ in cases.values() for node in members}))
    with_node: defaultdict[str, list[Entry]] = defaultdict(list)
    for entry in known.values():
        for node in entry.members:
            with_node[node].append(entry)
    return Decisions(
        {
            name: _decided(_before(set(members), with_node), judged, more_than)
            for name, (members, judged) in cases.items()
        }
    )


def _before(members: set[str], with_node: Mapping[str, list[Entry]]) -> Entry | None:
    near = {entry.entry: entry for node in members for entry in with_node.get(node, ())}
    alike = [one for one in near.values() if 2 * len(members & set(one.members)) >= min(len(members), len(one.members))]
    return max(alike, key=lambda one: (one.at, one.entry), default=None)


def _decided(before: Entry | None, judged: Fingerprint, more_than: float) -> Decision:
    if before is None:
        return Decision(hidden=False)
    what = None if before.fingerprint is None else changed(before.fingerprint, judged, more_than=more_than)
    if before.verdict == "cleared":
        hidden = what is not None and not what.enough
        return Decision(hidden, before, what, opens=not hidden)
    return Decision(False, before, what, opens=before.verdict == "open" and before.fingerprint != judged)
