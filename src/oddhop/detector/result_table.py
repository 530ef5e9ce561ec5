"""From what a detector says of the nodes to the table that a user reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt
import pyarrow as pa

from oddhop.base.arrays import Bools, Ints
from oddhop.detector.ranking import Ranking


@dataclass(frozen=True, eq=False)
class Judgement:
    """What a detector says of every node of a network.

    Attributes
    ----------
    ranking : scores, ranks, and how sure the ranks are.
    judged : False for nodes that cannot be judged, such as those without neighbours.
    columns : the detector's own columns of the result table, one value a node.
    head : how many nodes to flag, where the detector decides that; None where the budget does.
    """

    ranking: Ranking
    judged: Bools
    columns: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    head: int | None = None


def result_table(ids: pa.Array, degrees: Ints, judgement: Judgement, threshold: float) -> pa.Table:
    """Return one row a node, the highest score first."""
    ranking = judgement.ranking
    columns = {
        "score": ranking.score,
        "rank": ranking.rank,
        "rank_low": ranking.low,
        "rank_high": ranking.high,
        "top_probability": ranking.top_probability,
        **judgement.columns,
        "degree": degrees,
        "judged": judgement.judged,
        "flagged": judgement.judged & (ranking.score > threshold),
    }
    order = ranking.order
    return pa.table({"id": ids.take(pa.array(order)), **{name: column[order] for name, column in columns.items()}})
