"""From a fitted detector and a result to the case report: explain, audit, collect the facts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa

from oddhop.base.notebook import shown_progress
from oddhop.base.parallel import Progress
from oddhop.detector.base import GraphDetector
from oddhop.explain.explanation import Explanation
from oddhop.graph.in_words import read_facts, repair_facts
from oddhop.reports.page import CaseReport, ChangesSince, Standing, cases_of
from oddhop.tables.network import Network, as_network

CASES = 100


def report(
    detector: GraphDetector,
    network: Any = None,
    result: pa.Table | None = None,
    *,
    cases: int = CASES,
    title: str | None = None,
    progress: Progress | None = None,
) -> CaseReport:
    """Explain the first cases of a ranking and return the case report.

    Parameters
    ----------
    detector : a fitted one.
    network, result : the network that was scored, and the table that ``rank`` gave; left out, those of the fit.
    cases : how many nodes to explain; nodes that were not judged are left out.
    title : what network this is.
    progress : that of :meth:`oddhop.Odd.fit`.

    Examples
    --------
    >>> import numpy as np
    >>> import oddhop
    >>> rng = np.random.default_rng(0)
    >>> graph = oddhop.Graph.from_arrays(rng.integers(0, 60, (2, 200)), rng.normal(size=(60, 3)))
    >>> page = oddhop.report(oddhop.Odd(top_k=3, random_state=0).fit(graph), cases=5)
    >>> len(page.cases), page.html().startswith("<!doctype html>")
    (5, True)
    """
    taken: Network = detector.network_ if network is None else as_network(network)
    if result is None:
        result = detector.result_ if network is None else detector.rank(taken)
    first = result.filter(result["judged"])["id"].slice(0, cases)
    with shown_progress(progress) as tell:
        explanations = detector.explain_nodes(taken, result, taken.numbers(first), progress=tell)
        return report_of(detector, taken, result, explanations, title=title)


def report_of(
    detector: GraphDetector,
    taken: Network,
    result: pa.Table,
    explanations: Iterable[Explanation],
    *,
    title: str | None = None,
    standing: Mapping[str, Standing] | None = None,
    changes: ChangesSince | None = None,
) -> CaseReport:
    """Return the report on the first judged nodes, whose explanations are given.

    ``standing`` is what the book says of cases by their ids, and ``changes`` what is new since another run.
    """
    graph, model = taken.graph, detector.model_
    judged, whole = result.filter(result["judged"]), f"a network of {graph.node_count:,} nodes"
    if graph.kinds is not None:
        kind = graph.kinds.names[graph.kinds.judged]
        whole = f"{graph.judged.stop - graph.judged.start:,} of kind {kind} in {whole}"
    return CaseReport(
        title=title or f"{whole[0].upper()}{whole[1:]}",
        made=datetime.now(UTC).strftime("%d %B %Y").lstrip("0"),
        facts=read_facts(graph),
        repairs=repair_facts(graph.repairs, *([taken.counts] if taken.counts is not None else [])),
        columns=taken.encoding.report if taken.encoding else (),
        settings=(("seed", str(model.seed)), *((name, str(value)) for name, value in model.settings)),
        findings=detector.audit(taken, result),
        baseline=detector.baseline(result),
        scores=np.asarray(judged["score"].to_numpy()),
        cases=cases_of(judged, explanations, standing),
        guide=detector.guide,
        changes=changes,
        edge_facts=() if taken.roles is None else taken.roles.told(graph.events),
    )
