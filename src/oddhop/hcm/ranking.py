"""Ranks of HCM: the chains of a run are small independent runs, and how they differ tells how sure a rank is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oddhop.base.arrays import Floats, Ints
from oddhop.detector.ranking import Ranking, align, ascending, check_finite, join_similar, ranked, spans
from oddhop.explain.audit import rank_correlation
from oddhop.hcm.scoring import Scores

FIRST = 20
ENOUGH = 0.8


@dataclass(frozen=True)
class Agreement:
    """What another run, with another seed and as many chains, would keep of a ranking.

    Attributes
    ----------
    first : how many nodes the head of the list has here.
    kept : the share of them that another run would have first, too.
    correlation : the rank correlation of the scores of all judged nodes, Spearman's.
    """

    first: int
    kept: float
    correlation: float

    @property
    def enough(self) -> bool:
        """Whether more chains are not worth their time."""
        return self.kept >= ENOUGH


def agreement(scores: Scores, kind: str) -> Agreement | None:
    """Say what another seed would keep, from how well halves of the chains agree; None where one chain says nothing.

    Chains are cut into halves in several ways. Runs of twice as many chains correlate as the rule of Spearman and
    Brown has it. Of the first nodes they lose as many over the square root of two, as the noise of the mean shrinks,
    and keep no more than that rule gives, which is less where little is kept.
    """
    chains = len(scores.chain_ahp)
    judged = np.flatnonzero(scores.judged)
    if scores.single or chains < 2 or judged.size < 2:
        return None
    first = min(FIRST, (judged.size + 1) // 2)
    values = scores.chain_scores(kind)
    kept, alike = [], []
    for cut in range(chains // 2):
        order = np.roll(np.arange(chains), -cut)
        one, other = (values[half].mean(axis=0)[judged] for half in (order[: chains // 2], order[chains // 2 :]))
        kept.append(np.intersect1d(_first(one, first), _first(other, first)).size / first)
        alike.append(1.0 if np.ptp(one) == 0 or np.ptp(other) == 0 else rank_correlation(one, other))
    share, halves = float(np.mean(kept)), float(np.mean(alike))
    return Agreement(first, min(1 - (1 - share) / 2**0.5, _doubled(share)), _doubled(halves))


def _doubled(correlation: float) -> float:
    return 2 * correlation / (1 + correlation) if correlation > 0 else correlation


def _first(values: Floats, count: int) -> Ints:
    """Return the places of the highest values; ties take the order of the nodes."""
    return np.argsort(-values, kind="stable")[:count]


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


def spread_of(scores: Scores) -> Floats:
    """Return how far the mean hop count of every node to its neighbours strays from sample to sample of all chains."""
    return np.asarray(np.sqrt(scores.chain_moved.mean(axis=0) + scores.chain_ahp.var(axis=0)))
