"""``learn``: a run ranked again by what an analyst answered."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from oddhop.base.checkpoints import locked
from oddhop.feedback import Question
from oddhop.runs import folder as files
from oddhop.runs.answers import ASKED, learned_from, read_answers, write_learned
from oddhop.runs.earlier import check_free, remove_run
from oddhop.runs.log import LOGGED, Log
from oddhop.runs.reopen import reopen


@dataclass(frozen=True, eq=False)
class LearnedRun:
    """A re-ranked run: its folder, the learned ranking, the next questions, and a notice."""

    folder: Path
    result: pa.Table
    questions: tuple[Question, ...]
    notice: str | None


def learn(
    run: str | Path,
    answers: Any,
    *,
    out: str | Path,
    questions: int = ASKED,
    edges: Any = None,
    nodes: Any = None,
    database: str | None = None,
    overwrite: bool = False,
    log: Log = LOGGED,
) -> LearnedRun:
    r"""Re-rank the nodes of a run by answers, and suggest the nodes to answer next.

    Parameters
    ----------
    run : the folder of a run of ``detect`` or ``score``.
    answers : see :func:`~oddhop.runs.answers.read_answers`.
    out : the folder to write: ``learned.parquet`` and ``.csv`` with the learned ``rank`` and ``rank_label_free``,
        ``questions.csv``, ``feedback.oddhop``, and a manifest.
    questions : how many questions to write.
    edges, nodes, database : where the tables of the run are now.
    overwrite : remove an earlier run of oddhop from ``out`` first.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from oddhop.runs import detect, learn
    >>> with tempfile.TemporaryDirectory() as home:
    ...     edges, nodes = Path(home, "edges.csv"), Path(home, "nodes.csv")
    ...     _ = edges.write_text("from,to\na,b\nb,c\nc,d\na,d\na,c\n")
    ...     _ = nodes.write_text("name,age\na,31\nb,25\nc,40\nd,33\n")
    ...     run = detect(str(edges), str(nodes), out=Path(home, "run"), explain=0)
    ...     learned = learn(run.folder, {"a": 0}, out=Path(home, "learned"))
    ...     len(learned.questions)
    3
    """
    opened = reopen(run, edges=edges, nodes=nodes, database=database, log=log)
    told = read_answers(answers, database)
    with locked(out) as folder:
        if overwrite:
            remove_run(folder)
        check_free(folder)
        found = learned_from(opened.detector, opened.network, opened.result, told, log)
        asked = write_learned(folder, found, questions)
        kept = {name: opened.manifest[name] for name in ("tables", "data", "settings", "detector", "seed")}
        counts = {"confirmed": told.hits, "cleared": told.harmless, "all": len(told.ids)}
        files.write_manifest(folder, "learn", {**kept, "answers": counts, "results": {"rows": found.result_.num_rows}})
    return LearnedRun(folder, found.result_, tuple(asked), found.notice)
