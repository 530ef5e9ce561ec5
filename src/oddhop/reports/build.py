"""From a fitted model and its result to the case report: explain, audit, collect the facts."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa

from oddhop.base.parallel import Progress, silent
from oddhop.detector.reasons import AnyModel, audited, explain, measure_of
from oddhop.graph.graph import Graph, node_numbers
from oddhop.odd.model_file import OddModel
from oddhop.reports.page import CaseReport, cases_of, mended_facts, read_facts
from oddhop.tables.encode import Encoding

CASES = 100


def case_report(
    model: AnyModel,
    graph: Graph,
    result: pa.Table,
    *,
    title: str,
    cases: int = CASES,
    ids: pa.Array | None = None,
    encoding: Encoding | None = None,
    originals: pa.Table | None = None,
    counts: Any = None,
    dropped: int | None = None,
    tied: int | None = None,
    workers: int = 1,
    progress: Progress = silent,
) -> CaseReport:
    """Explain the first cases of a result and collect all that a report tells.

    Parameters
    ----------
    model, graph, result : ``model_`` of a fitted detector, the network that was scored, and the table that it gave.
    title : what network this is.
    cases : how many to explain; nodes that were not judged are left out.
    ids, encoding, originals : see :func:`oddhop.hcm.explain.explain_nodes`.
    counts : what reading the tables left out, see :class:`oddhop.tables.read.Counts`.
    dropped, tied : see :func:`oddhop.explain.audit.audit`.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import HCM, Graph
    >>> from oddhop.reports import case_report, render
    >>> rng = np.random.default_rng(0)
    >>> graph = Graph.from_arrays(rng.integers(0, 30, (2, 90)), rng.normal(size=(30, 3)))
    >>> fitted = HCM(burn_in=20, samples=2, thin=2, top_k=3, random_state=0).fit(graph)
    >>> report = case_report(fitted.model_, graph, fitted.result_, title="thirty strangers", cases=5)
    >>> len(report.cases), render(report).startswith("<!doctype html>")
    (5, True)
    """
    judged = result.filter(result["judged"])
    measure = measure_of(model, result)
    first = judged.slice(0, cases)
    nodes = node_numbers(graph, first["id"])
    explanations = explain(
        model,
        graph,
        nodes,
        measure,
        ids=ids,
        encoding=encoding,
        originals=originals,
        workers=workers,
        progress=progress,
    )
    return CaseReport(
        title=title,
        made=datetime.now(UTC).strftime("%d %B %Y").lstrip("0"),
        facts=read_facts(graph),
        mended=mended_facts(graph.mended, *([counts] if counts is not None else [])),
        columns=encoding.report if encoding else (),
        settings=(("seed", str(model.seed)), *((name, str(value)) for name, value in model.settings)),
        findings=audited(model, graph, result, dropped=dropped, tied=tied),
        yardstick=measure,
        scores=np.asarray(judged["score"].to_numpy()),
        cases=tuple(cases_of(first, explanations)),
        detector="odd" if isinstance(model, OddModel) else "hcm",
    )
