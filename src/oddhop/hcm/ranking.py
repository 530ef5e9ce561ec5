"""Ranks of HCM: the chains of a run are small independent runs, and how they differ tells how sure a rank is."""

from __future__ import annotations

import numpy as np

from oddhop.base.arrays import Floats
from oddhop.detector.ranking import Ranking, align, ascending, check_finite, join_similar, ranked, spans
from oddhop.hcm.scoring import Scores


def rank_nodes(scores: Scores, kind: str, top: int) -> Ranking:
    """Rank the nodes and say how sure each rank is."""
    score = scores.score(kind)
    check_finite(score)
    count = len(scores.chain_ahp)
    aligned = align(lambda span: scores.chain_scores(kind, span), scores.judged)
    centre, variance = np.empty(score.size), np.empty(score.size)
    for span in spans(score.size):
        block = aligned.block(span)
        centre[span], variance[span] = block.mean(axis=0), block.var(axis=0, ddof=1)
    freedom = join_similar(variance, count - 1, ascending(centre, scores.judged))
    variance *= 2.0
    variance /= count
    return ranked(score, centre, np.sqrt(variance, out=variance), aligned.unit, freedom, scores.judged, top)


def posterior_spread(draws: Floats) -> Floats:
    """Return the posterior standard deviation of every node's mean hop count to its neighbours."""
    out = np.empty(draws.shape[2])
    for span in spans(out.size):
        out[span] = draws[:, :, span].std(axis=(0, 1), dtype=np.float64)
    return out
