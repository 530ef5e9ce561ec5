"""From scores to the table a user reads: ranks with their intervals, what is flagged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from oddhop.base.arrays import Bools, Ints
from oddhop.detector.ranking import Ranking
from oddhop.graph.graph import Graph
from oddhop.odd.combine import KINDS, Evidence
from oddhop.settings import HCMSettings, OddSettings

if TYPE_CHECKING:
    from oddhop.hcm.scoring import Scores

DEFAULT_TOP_SHARE = 0.01


def budget(settings: HCMSettings | OddSettings, judged: Bools) -> int:
    """Give how many nodes may be flagged, and whose top the probabilities are about."""
    return budget_of(settings, int(judged.sum()))


def budget_of(settings: HCMSettings | OddSettings, count: int) -> int:
    """Give the same from the number of nodes that were judged."""
    share = DEFAULT_TOP_SHARE if settings.contamination == "auto" else settings.contamination
    return max(1, min(settings.top_k or int(np.ceil(share * count)), count))


def threshold_of(settings: HCMSettings | OddSettings, judged: Bools, ranking: Ranking) -> float:
    """Give the lowest score that keeps the flagged within the budget, ties and all."""
    if settings.contamination == "auto" and settings.top_k is None:
        return float("inf")
    ladder = np.sort(ranking.score[judged])[::-1]
    above = ladder[: ranking.top]
    if ladder.size > ranking.top:
        above = above[above > ladder[ranking.top]]
    return float(above[-1]) if above.size else float("inf")


def result_table(
    ids: npt.NDArray[Any] | None, degrees: Ints, scores: Scores, ranking: Ranking, threshold: float
) -> pa.Table:
    """Give one row a node, the oddest first."""
    order: Ints = np.argsort(ranking.rank)
    ids = np.arange(degrees.size) if ids is None else ids
    columns = {
        "id": ids,
        "score": ranking.score,
        "rank": ranking.rank,
        "rank_low": ranking.low,
        "rank_high": ranking.high,
        "top_probability": ranking.top_probability,
        "ahp": scores.ahp,
        "iv": scores.iv,
        "hav": scores.hav,
        "score_std": ranking.std,
        "spread": ranking.spread,
        "degree": degrees,
        "judged": scores.judged,
        "flagged": scores.judged & (ranking.score >= threshold),
    }
    return pa.table({name: column[order] for name, column in columns.items()})


def odd_table(graph: Graph, evidence: Evidence, ranking: Ranking, judged: Bools, threshold: float) -> pa.Table:
    """Give one row a node, the oddest first, with the kind of its oddness and the p-value of every view."""
    order: Ints = np.argsort(ranking.rank)
    ids = np.arange(graph.node_count) if graph.node_ids is None else graph.node_ids
    columns = {
        "id": ids,
        "score": ranking.score,
        "rank": ranking.rank,
        "rank_low": ranking.low,
        "rank_high": ranking.high,
        "top_probability": ranking.top_probability,
        "kind": np.array(KINDS)[evidence.kind],
        **{f"p_{name}": np.exp(log_p) for name, log_p in zip(KINDS, evidence.log_p, strict=True)},
        "score_std": ranking.std,
        "degree": graph.degrees,
        "judged": judged,
        "flagged": judged & (ranking.score >= threshold),
    }
    return pa.table({name: column[order] for name, column in columns.items()})
