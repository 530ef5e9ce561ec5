"""Reasons and audit of any detector's model: the one place that tells the detectors apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from oddhop.base.arrays import Floats, Ints
from oddhop.base.parallel import Progress, silent
from oddhop.detector.result_table import budget_of
from oddhop.explain.audit import Finding, audit
from oddhop.explain.explanation import Explanation, Yardstick
from oddhop.graph.graph import Graph
from oddhop.odd.explain import explain_odd_nodes, odd_yardstick
from oddhop.odd.model_file import OddModel
from oddhop.odd.ring import unfolded
from oddhop.tables.encode import Encoding

if TYPE_CHECKING:
    from oddhop.hcm.model_file import Model

AnyModel: TypeAlias = "Model | OddModel"


def top_of(model: AnyModel, result: pa.Table) -> int:
    """Give how many nodes of a result the user looks at."""
    return budget_of(model.settings, pc.sum(result["judged"]).as_py() or 0)


def measure_of(model: AnyModel, result: pa.Table) -> Yardstick:
    """Give what is usual in a result of a model, and the alert line."""
    if isinstance(model, OddModel):
        return odd_yardstick(result, model.threshold, top_of(model, result))
    from oddhop.hcm.explain import yardstick  # with torch, which takes seconds to import and Odd does without

    return yardstick(result, model.threshold, top_of(model, result))


def explain(
    model: AnyModel,
    graph: Graph,
    nodes: Sequence[int] | Ints,
    measure: Yardstick,
    *,
    ids: pa.Array | None = None,
    encoding: Encoding | None = None,
    originals: pa.Table | None = None,
    workers: int = 1,
    progress: Progress = silent,
) -> Iterator[Explanation]:
    """Explain nodes as their detector does; see :func:`~oddhop.hcm.explain.explain_nodes` for the arguments.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph, Odd
    >>> from oddhop.detector.reasons import explain, measure_of
    >>> rng = np.random.default_rng(0)
    >>> graph = Graph.from_arrays(rng.integers(0, 60, (2, 200)), rng.normal(size=(60, 3)))
    >>> fitted = Odd(top_k=3, random_state=0).fit(graph)
    >>> [why] = explain(fitted.model_, graph, [7], measure_of(fitted.model_, fitted.result_))
    >>> bool(np.isclose(why.score, fitted.anomaly_scores_[7]))
    True
    """
    if isinstance(model, OddModel):
        return explain_odd_nodes(
            model.panel,
            graph,
            nodes,
            measure,
            ids=ids,
            encoding=encoding,
            originals=originals,
            apart=_left_apart(model, graph),
            workers=workers,
            progress=progress,
        )
    from oddhop.hcm.explain import explain_nodes

    return explain_nodes(
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


def _left_apart(model: OddModel, graph: Graph) -> Floats | None:
    """Give what communities leave of every edge, where the model was fitted on this very network and has kept it."""
    kept = model.apart
    if kept is None or kept.size != graph.edge_count or model.fingerprint != graph.fingerprint:
        return None
    return unfolded(graph, kept)


def audited(
    model: AnyModel, graph: Graph, result: pa.Table, *, dropped: int | None = None, tied: int | None = None
) -> tuple[Finding, ...]:
    """Audit a result of a model, by what has a meaning for its detector; see :func:`oddhop.explain.audit.audit`."""
    top = top_of(model, result)
    if isinstance(model, OddModel):
        prepared = model.panel.preparation.apply(graph)
        return audit(graph, result, prepared=prepared, top=top, information=model.panel.kinship.information)
    prepared = model.preparation.apply(graph, model.settings.dtype)
    return audit(graph, result, prepared=prepared, top=top, dropped=dropped, tied=tied)
