"""The cases of a run: which nodes share one, which are flagged, and what the book of cases says of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from oddhop.base.arrays import Ints
from oddhop.base.parallel import Progress
from oddhop.casebook import Book, Decision, Entry, Fingerprint, decide, fingerprint_of, member_ids
from oddhop.cases.case import Case, Cases
from oddhop.cases.nouns import nouns_of
from oddhop.detector.base import GraphDetector
from oddhop.detector.cases import MOST_EXPLAINED
from oddhop.detector.flagging import threshold
from oddhop.explain.explanation import Explanation
from oddhop.tables.network import Network

BOOK_COLUMNS = ("status", "case_id")


@dataclass(frozen=True, eq=False)
class RunCases:
    """The first cases of a run.

    Attributes
    ----------
    numbers : the number of the case of each of the first nodes, from 1 on.
    found : the cases; None where nothing was explained.
    decisions : what the book says, by the number of the case; None without a book.
    """

    numbers: tuple[int, ...] = ()
    found: Cases | None = None
    decisions: Mapping[int, Decision] | None = None

    def told(self) -> dict[str, Any] | None:
        """Return what the manifest keeps, so that a report can be written again; None without a book."""
        if self.decisions is None:
            return None
        return {
            one.case_id: {"status": one.status, "hidden": one.hidden, "sentences": one.sentences}
            for one in self.decisions.values()
        }

    def counts(self) -> dict[str, Any]:
        """Return how many cases of every status there are, for the manifest; nothing without a book."""
        if self.decisions is None:
            return {}
        return {"cases": dict(sorted(Counter(one.status for one in self.decisions.values()).items()))}

    def added_to(self, result: pa.Table) -> pa.Table:
        """Add the number of its case and the reasons to every node that was explained, and with a book its status.

        A case that was cleared and has not changed is not flagged.
        """
        explained = np.flatnonzero(result["judged"].to_numpy())[: len(self.numbers)]
        place = result.column_names.index("rank_low")
        values, unknown = np.zeros(result.num_rows, dtype=np.int64), np.ones(result.num_rows, dtype=bool)
        values[explained], unknown[explained] = self.numbers, False
        out = result.add_column(place, "case", pa.array(values, mask=unknown))
        why = np.full(result.num_rows, None, dtype=object)
        if self.found is not None:
            said = {one.number: " ".join(sentences_of(one)) for one in self.found.cases}
            why[explained] = [said[number] for number in self.numbers]
        out = out.append_column("reasons", pa.array(why, pa.string()))
        if self.decisions is None:
            return out
        decided = [self.decisions.get(number) for number in self.numbers]
        for name in BOOK_COLUMNS:
            texts = np.full(result.num_rows, None, dtype=object)
            texts[explained] = [None if one is None else getattr(one, name) for one in decided]
            out = out.add_column(place + 1, name, pa.array(texts, pa.string()))
        flagged = np.array(out["flagged"].to_numpy())
        flagged[explained] &= [one is None or not one.hidden for one in decided]
        return out.set_column(out.column_names.index("flagged"), "flagged", pa.array(flagged))


def sentences_of(case: Case) -> list[str]:
    """Return what a case says in full: what happened, and beside each fact what is usual."""
    return [f"{case.headline}.", *(text for fact in case.facts for text in (fact.here, fact.usual))]


def cases_of_run(
    detector: GraphDetector,
    network: Network,
    result: pa.Table,
    *,
    explain: int,
    top: int | None,
    progress: Progress,
    tables: Mapping[str, Any] | None = None,
    book: Book | None = None,
    run: str = "",
) -> tuple[RunCases, pa.Table]:
    """Explain the first nodes, join them to cases, flag the head of the list, and open its cases in the book.

    Parameters
    ----------
    explain : how many nodes to explain; more, where the head of the list needs it.
    top : how many cases to flag; None flags by the threshold of the detector. Cases that the book has as cleared or
        confirmed, and that have not changed, do not count.
    tables : what the tables are called, from which their words are guessed.
    book, run : the book of cases, and what to call the run in it.

    Returns
    -------
    The cases, and the result as it is flagged now. The threshold of the detector is that of these flags.
    """
    judged = result.filter(result["judged"])
    scores = np.asarray(judged["score"].to_numpy())
    flagged = int(np.count_nonzero(result["flagged"].to_numpy()))
    count = explain if book is None or top is not None else max(explain, min(flagged, MOST_EXPLAINED))
    named, groups = tables or {}, list[_Groups]()
    finder = detector.case_finder(network, result, nouns_of(network, named.get("edges"), named.get("nodes")))

    def enough(explained: Sequence[Explanation]) -> bool:
        groups.append(_grouped(network, judged, finder.numbers(explained), book, run, top))
        return top is None or groups[-1].head is not None

    explanations = detector.explain_until(network, result, count, enough, progress)
    last = groups[-1]
    if top is not None:
        everyone, before = np.ones(scores.size, dtype=bool), detector.threshold_
        detector.flag_above(threshold(scores, everyone, len(last.numbers) if last.head is None else last.head))
        mask = result["judged"].to_numpy() & (result["score"].to_numpy() > detector.threshold_)
        result = result.set_column(result.column_names.index("flagged"), "flagged", pa.array(mask))
        if detector.threshold_ != before:  # explanations say what would bring a node below it
            explanations = detector.explain_again(network, result, last.nodes, explanations, progress=progress)
    found, decisions = finder.find(explanations), None
    if book is not None:
        listed = {number for number, score in zip(last.numbers, scores, strict=False) if score > detector.threshold_}
        with book.writing():  # what is decided must still hold when it is written
            again = _decided(book, last.seen, run)
            decisions = {number: one for number, one in again.items() if number in listed}
            book.append(_opened(judged, last.numbers, last.seen, decisions, run))
        known = (_as_decided(one, decisions.get(one.number)) for one in found.cases)
        found = replace(found, cases=tuple(known))
    cases = RunCases(tuple(last.numbers), found, decisions)
    return cases, cases.added_to(result)


Seen: TypeAlias = dict[int, tuple[list[str], Fingerprint]]
"""The members of every case, by its number, the first one first, and what there is to judge of them."""


@dataclass(frozen=True, eq=False)
class _Groups:
    """The first nodes of a ranking, and the number of the case of each; ``head`` is how many of them to flag."""

    numbers: Sequence[int]
    nodes: Ints
    seen: Seen
    head: int | None


def _grouped(
    network: Network, judged: pa.Table, numbers: Sequence[int], book: Book | None, run: str, top: int | None
) -> _Groups:
    nodes = network.numbers(judged["id"].slice(0, len(numbers)))
    seen = {} if book is None else _judged(network, nodes, numbers)
    decisions = {} if book is None or top is None else _decided(book, seen, run)
    return _Groups(numbers, nodes, seen, None if top is None else _head(numbers, decisions, top))


def _as_decided(case: Case, decision: Decision | None) -> Case:
    if decision is None:
        return case
    return replace(case, id=decision.case_id, status=decision.status, book=tuple(decision.sentences))


def _judged(network: Network, nodes: Ints, numbers: Sequence[int]) -> Seen:
    cases = np.asarray(numbers)
    members = {number: nodes[cases == number] for number in dict.fromkeys(numbers)}
    return {number: (member_ids(network, mine), fingerprint_of(network, mine)) for number, mine in members.items()}


def _decided(book: Book, seen: Seen, run: str) -> dict[int, Decision]:
    """Ask the book about cases. A new one is called by the id of its first member."""
    found = decide(book, {members[0]: (members, judged) for members, judged in seen.values()}, run=run)
    return {number: found[members[0]] for number, (members, _) in seen.items()}


def _head(numbers: Sequence[int], decisions: Mapping[int, Decision], top: int) -> int | None:
    """Return how many nodes come before the case that would be one too many; None where there is no such case."""
    counted: set[int] = set()
    for place, number in enumerate(numbers):
        if number not in decisions or not decisions[number].settled:
            counted.add(number)
        if len(counted) > top:
            return place
    return None


def _opened(
    table: pa.Table,
    numbers: Sequence[int],
    seen: Seen,
    decisions: Mapping[int, Decision],
    run: str,
) -> list[Entry]:
    """Return the entries of the cases that are new, have changed, or come back; with rank and score of the first."""
    entries = []
    for number, one in decisions.items():
        if one.opens:
            first = table.slice(numbers.index(number), 1).select(["rank", "score"]).to_pylist()[0]
            members, judged = seen[number]
            entries.append(Entry.of_run(run, one.case_id, members=members, fingerprint=judged, **first))
    return entries
