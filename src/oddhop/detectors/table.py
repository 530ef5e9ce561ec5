"""From scores to the table a user reads: ranks with their intervals, what is flagged."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from oddhop.arrays import Ints
from oddhop.graph import Graph
from oddhop.ranks import Ranking
from oddhop.scoring import Scores
from oddhop.settings import HCMSettings

DEFAULT_TOP_SHARE = 0.01


def budget(settings: HCMSettings, scores: Scores) -> int:
    """Give how many nodes may be flagged, and whose top the probabilities are about."""
    return budget_of(settings, int(scores.judged.sum()))


def budget_of(settings: HCMSettings, judged: int) -> int:
    """Give the same from the number of nodes that were judged."""
    share = DEFAULT_TOP_SHARE if settings.contamination == "auto" else settings.contamination
    return max(1, min(settings.top_k or int(np.ceil(share * judged)), judged))


def threshold_of(settings: HCMSettings, scores: Scores, ranking: Ranking) -> float:
    """Give the lowest score that keeps the flagged within the budget, ties and all."""
    if settings.contamination == "auto" and settings.top_k is None:
        return float("inf")
    ladder = np.sort(ranking.score[scores.judged])[::-1]
    above = ladder[: ranking.top]
    if ladder.size > ranking.top:
        above = above[above > ladder[ranking.top]]
    return float(above[-1]) if above.size else float("inf")


def result_table(graph: Graph, scores: Scores, ranking: Ranking, threshold: float) -> pa.Table:
    """Give one row a node, the oddest first."""
    order: Ints = np.argsort(ranking.rank)
    ids = np.arange(graph.node_count) if graph.node_ids is None else graph.node_ids
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
        "degree": graph.degrees,
        "judged": scores.judged,
        "flagged": scores.judged & (ranking.score >= threshold),
    }
    return pa.table({name: column[order] for name, column in columns.items()})
