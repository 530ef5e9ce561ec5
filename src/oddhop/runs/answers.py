"""Answers from a table, a query or a book of cases, and what is learned from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from oddhop.casebook import open_book
from oddhop.detector.base import GraphDetector
from oddhop.errors import AnswersError
from oddhop.feedback import Answers, Feedback, Question, as_answers
from oddhop.runs.log import Log
from oddhop.runs.read import table_named
from oddhop.tables.network import Network
from oddhop.tables.read.texts import read_texts
from oddhop.tables.results import write_csv, write_parquet

LEARNED, LEARNED_CSV, QUESTIONS, FEEDBACK = "learned.parquet", "learned.csv", "questions.csv", "feedback.oddhop"
WORDS = {"1": 1, "0": 0, "": None, "yes": 1, "no": 0, "unsure": None, "confirmed": 1, "cleared": 0, "watch": None}
VERDICTS = {"confirmed": 1, "cleared": 0, "watch": None}
ASKED = 20
BOOKS = (".db", ".sqlite", ".sqlite3")


def read_answers(answers: Any, database: str | None = None) -> Answers:
    """Read answers: a mapping or a frame, a file with the columns id and answer, a query, or a book of cases.

    In a table give 1, yes or confirmed; 0, no or cleared; or empty, unsure or watch. In a book every member of a
    case has the last verdict of the case, and open cases give no answer.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from oddhop.runs.answers import read_answers
    >>> read_answers(pa.table({"id": ["a", "b"], "answer": ["yes", "no"]})).values.tolist()
    [1.0, 0.0]
    """
    name = str(answers).lower() if isinstance(answers, str | Path) else ""
    if name.startswith(("postgresql://", "postgres://")) or name.endswith(BOOKS):
        return _of_book(answers)
    if isinstance(answers, str | Path) or hasattr(answers, "schema"):
        named = table_named(answers, database)
        return _of_words(read_texts(named, "the table of answers", ("id", "answer"), error=AnswersError))
    return as_answers(answers)


def _of_book(where: Any) -> Answers:
    last: dict[str, tuple[str, int | None]] = {}
    with open_book(where, create=False) as book:
        for entry in book.latest():
            for node in entry.members if entry.verdict in VERDICTS else ():
                # A node may be in several cases: the latest verdict counts.
                last[node] = max(
                    last.get(node, ("", None)), (entry.at, VERDICTS[entry.verdict]), key=lambda one: one[0]
                )
    return as_answers({node: told for node, (_, told) in last.items()})


def _of_words(rows: list[dict[str, str | None]]) -> Answers:
    told: dict[str | None, int | None] = {}
    for row in rows:
        said = (row["answer"] or "").strip().lower().removesuffix(".0")
        said = {"true": "yes", "false": "no"}.get(said, said)
        if said not in WORDS:
            raise AnswersError(
                f"the answer about {row['id']!r} is not valid, got {row['answer']!r}",
                "give 1, yes or confirmed; 0, no or cleared; or empty, unsure or watch",
            )
        if told.setdefault(row["id"], WORDS[said]) != WORDS[said]:
            raise AnswersError(f"there are two answers about {row['id']!r}", "keep one of them")
    return as_answers(told)


def learned_from(detector: GraphDetector, network: Network, result: pa.Table, answers: Answers, log: Log) -> Feedback:
    """Learn from the answers about the nodes of a network, and say how many were about other nodes."""
    ids = network.judged_ids
    told = answers.ids
    if told.type != ids.type:
        told = told.cast(ids.type, safe=False) if pa.types.is_integer(ids.type) else told.cast(pa.string())
    known = pc.is_in(told, value_set=ids.cast(told.type))
    left_out = len(told) - int(pc.sum(known).as_py() or 0)
    if left_out:
        log.say(
            "left_out", f"  {left_out:,} answers are about nodes that this run does not score: skipped", count=left_out
        )
    mask = known.to_numpy(zero_copy_only=False)
    kept = Answers(told.filter(known), answers.values[mask])
    found = Feedback(detector).fit(network, kept, result=result)
    sentence = f"learned from {kept.hits:,} confirmed and {kept.harmless:,} cleared nodes"
    unsure = len(kept.ids) - kept.hits - kept.harmless
    more = f" ({unsure:,} unsure)" if unsure else ""
    log.say("learned", f"{sentence}{more}", confirmed=kept.hits, cleared=kept.harmless)
    if found.notice is not None:
        log.say("notice", f"  {found.notice}")
    return found


def write_learned(folder: Path, found: Feedback, questions: int = ASKED) -> list[Question]:
    """Write the learned ranking, the next questions, and the file to go on with; return the questions."""
    write_parquet(found.result_, folder / LEARNED)
    write_csv(found.result_, folder / LEARNED_CSV)
    asked = found.next_questions(questions)
    names = ("id", "rank", "rank_label_free", "why")
    write_csv(pa.table({name: [getattr(one, name) for one in asked] for name in names}), folder / QUESTIONS)
    found.save(folder / FEEDBACK)
    return asked
