"""Reasons and audit of any detector's model: the one place that tells the detectors apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from oddhop.arrays import Ints
from oddhop.audit import Finding, audit
from oddhop.detectors.oddfile import OddModel
from oddhop.detectors.table import budget_of
from oddhop.encode import Encoding
from oddhop.engine.local import Progress, silent
from oddhop.explain import explain_nodes, yardstick
from oddhop.explain_odd import explain_odd_nodes, odd_yardstick
from oddhop.explanation import Explanation, Yardstick
from oddhop.graph import Graph
from oddhop.modelfile import Model

AnyModel: TypeAlias = "Model | OddModel"


def top_of(model: AnyModel, result: pa.Table) -> int:
    """Give how many nodes of a result the user looks at."""
    return budget_of(model.settings, pc.sum(result["judged"]).as_py() or 0)


def measure_of(model: AnyModel, result: pa.Table) -> Yardstick:
    """Give what is usual in a result of a model, and the alert line."""
    measure = odd_yardstick if isinstance(model, OddModel) else yardstick
    return measure(result, model.threshold, top_of(model, result))


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
    """Explain nodes as their detector does; see :func:`~oddhop.explain.explain_nodes` for the arguments.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph, Odd
    >>> from oddhop.detectors.reasons import explain, measure_of
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
            workers=workers,
            progress=progress,
        )
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


def audited(
    model: AnyModel, graph: Graph, result: pa.Table, *, dropped: int | None = None, tied: int | None = None
) -> tuple[Finding, ...]:
    """Audit a result of a model, by what has a meaning for its detector; see :func:`oddhop.audit.audit`."""
    top = top_of(model, result)
    if isinstance(model, OddModel):
        prepared = model.panel.preparation.apply(graph)
        return audit(graph, result, prepared=prepared, top=top, information=model.panel.kinship.information)
    prepared = model.preparation.apply(graph, model.settings.dtype)
    return audit(graph, result, prepared=prepared, top=top, dropped=dropped, tied=tied)
