"""What a notebook shows of a detector."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from markupsafe import Markup

from oddhop.base.html import facts, panel, sentences, table
from oddhop.detector.model_file import Model
from oddhop.explain.audit import Finding

FIRST = 10
OWN = ("kind", "score_std", "degree", "flagged")


def new_html(call: str) -> str:
    """Return what is shown of a detector that was not fitted."""
    return panel(call, sentences(["Not fitted. Call fit(network)."]))


def loaded_html(call: str, model: Model[Any, Any]) -> str:
    """Return what is shown of a detector that was read from a file: it ranks networks, and has no result of its own."""
    told = "Loaded from a model file. Call rank(network) to score a network."
    line = model.threshold if math.isfinite(model.threshold) else "none: no node is flagged"
    own = [("alert threshold", line), ("seed", str(model.seed)), ("oddhop that fitted it", model.version)]
    return panel(call, facts(own), sentences([told]))


def fitted_html(
    call: str, model: Model[Any, Any], result: pa.Table, ending: Finding | None, *, alert_threshold: float, top: int
) -> str:
    """Return what is shown of a fitted detector: how many nodes it judged and flagged, and the first of its list.

    ``alert_threshold`` is the one of explanations, and ``top`` the number of nodes that ``top_probability`` is about.
    """
    judged, flagged = (pc.sum(result[name]).as_py() or 0 for name in ("judged", "flagged"))
    line = f"{alert_threshold:.4g}"
    if not math.isfinite(model.threshold):
        line += f" in explanations (the score of rank {top:,}). No node is flagged."
    counts = [
        ("nodes judged", f"{judged:,} of {result.num_rows:,}"),
        ("nodes flagged", flagged),
        ("alert threshold", line),
        ("top_probability", f"the probability of a rank up to {top:,}"),
    ]
    end = sentences([] if ending is None else [ending.sentence])
    return panel(call, facts([*counts, ("seed", str(model.seed))]), end, first_rows(result))


def first_rows(result: pa.Table) -> Markup:
    """Return the first ten rows of a result as an HTML table."""
    own = [name for name in OWN if name in result.column_names]
    rows = [
        (
            one["rank"],
            str(one["id"]),
            one["score"],
            f"{one['rank_low']:,} to {one['rank_high']:,}",
            *(one[k] for k in own),
        )
        for one in result.slice(0, FIRST).to_pylist()
    ]
    names = ("rank", "id", "score", "rank range", *(name.replace("score_std", "score std") for name in own))
    return table(names, rows, count=result.num_rows)
