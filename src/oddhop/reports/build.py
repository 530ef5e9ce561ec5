"""From a fitted detector and a result to the case report: cases, audit, what was read."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from oddhop.base.notebook import shown_progress
from oddhop.base.parallel import Progress
from oddhop.cases.case import Cases
from oddhop.detector.base import GraphDetector
from oddhop.graph.in_words import read_facts, repair_facts
from oddhop.reports.page import CLEARED, CaseReport, ChangesSince
from oddhop.tables.network import Network, as_network

SHOWN = 20


def report(
    detector: GraphDetector,
    network: Any = None,
    result: pa.Table | None = None,
    *,
    cases: int = SHOWN,
    title: str | None = None,
    progress: Progress | None = None,
) -> CaseReport:
    """Find the first cases of a ranking and return the case report.

    Parameters
    ----------
    detector : a fitted one.
    network, result : the network that was scored, and the table that ``rank`` gave; left out, those of the fit.
    cases : how many cases to show, the most unusual first.
    title : the heading of the report; left out, how many cases it has.
    progress : that of :meth:`oddhop.Odd.fit`.

    Examples
    --------
    >>> import numpy as np
    >>> import oddhop
    >>> rng = np.random.default_rng(0)
    >>> graph = oddhop.Graph.from_arrays(rng.integers(0, 60, (2, 200)), rng.normal(size=(60, 3)))
    >>> page = oddhop.report(oddhop.Odd(top_k=3, random_state=0).fit(graph), cases=5)
    >>> len(page.cases.cases), page.html().startswith("<!doctype html>")
    (5, True)
    """
    taken: Network = detector.network_ if network is None else as_network(network)
    if result is None:
        result = detector.result_ if network is None else detector.rank(taken)
    with shown_progress(progress) as tell:
        found = detector.cases(taken, top=cases, result=result, progress=tell)
        return report_of(detector, taken, result, found, title=title)


def report_of(
    detector: GraphDetector,
    taken: Network,
    result: pa.Table,
    cases: Cases,
    *,
    title: str | None = None,
    changes: ChangesSince | None = None,
) -> CaseReport:
    """Return the report on these cases; ``changes`` is what is new since another run."""
    graph, model = taken.graph, detector.model_
    shown = replace(cases, cases=tuple(one for one in cases.cases if one.status != CLEARED))
    flagged = shown.grown_from(set(result.filter(result["flagged"])["id"].to_pylist()))
    count, nouns = flagged or len(shown.cases), cases.nouns
    some = f"{count:,} case{'s' * (count != 1)} among {cases.nodes:,} {nouns.nodes}"
    return CaseReport(
        title=title or some,
        made=datetime.now(UTC).strftime("%d %B %Y").lstrip("0"),
        cases=shown,
        flagged=flagged,
        facts=read_facts(graph),
        repairs=repair_facts(graph.repairs, *([taken.counts] if taken.counts is not None else [])),
        columns=taken.encoding.report if taken.encoding else (),
        settings=(("seed", str(model.seed)), *((name, str(value)) for name, value in model.settings)),
        findings=detector.audit(taken, result),
        hidden=tuple(one for one in cases.cases if one.status == CLEARED),
        edge_facts=() if taken.roles is None else taken.roles.sentences(graph.events),
        guide=detector.guide,
        changes=changes,
    )
