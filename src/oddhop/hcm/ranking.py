"""Ranks of HCM: the chains of a run are small independent runs, and how they differ tells how sure a rank is."""

from __future__ import annotations

import numpy as np

from oddhop.base.arrays import Floats
from oddhop.detector.ranking import Ranking, aligned_replicates, check_finite, moderated_variance, ranked
from oddhop.hcm.scoring import Scores

ROWS_AT_ONCE = 65_536


def rank_nodes(scores: Scores, kind: str, top: int) -> Ranking:
    """Rank the nodes and say how sure each rank is."""
    score = scores.chain_scores(kind).mean(axis=0)
    check_finite(score)
    aligned, unit = aligned_replicates(_replicates(scores, kind), scores.judged)
    centre = aligned.mean(axis=0)
    variance, freedom = moderated_variance(aligned, centre, scores.judged)
    std = np.sqrt(2.0 * variance / aligned.shape[0])
    return ranked(score, centre, std, unit, freedom, scores.judged, top)


def posterior_spread(draws: Floats) -> Floats:
    """Return the posterior standard deviation of every node's mean hop count to its neighbours."""
    nodes = draws.shape[2]
    out = np.empty(nodes)
    for start in range(0, nodes, ROWS_AT_ONCE):
        out[start : start + ROWS_AT_ONCE] = draws[:, :, start : start + ROWS_AT_ONCE].std(axis=(0, 1), dtype=np.float64)
    return out


def _replicates(scores: Scores, kind: str) -> Floats:
    """Give several independent estimates of the score; of one chain, its quarters stand in."""
    chains = scores.chain_scores(kind)
    if chains.shape[0] > 1:
        return chains
    quarters = [part.mean(axis=0) for part in np.array_split(scores.draws[0].astype(np.float64), 4)]
    return np.stack(quarters) / (1.0 if kind == "ahp" else scores.max_ahp)
