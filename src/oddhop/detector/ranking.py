"""How sure a ranking is: what a fresh run with other seeds would say.

The chains of a run are small independent runs. After each is brought to one mean and one spread
(no ranking depends on those), how a node's score differs between them tells how far the score of a
fresh run may lie from ours:

    score of a fresh run - ours  ~  sd x Student's t,    sd^2 = 2 s^2 / chains

s^2 is the node's variance between chains, joined with that of nodes of similar score, which counts as
much as three more chains: a handful of chains alone tells a variance badly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import optimize, special, stats

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.errors import GraphError

LEVEL = 0.90
NEIGHBOURLY_FREEDOM, RANK_FREEDOM = 3, 30
FEWEST_NEARBY = 12


@dataclass(frozen=True)
class Ranking:
    """The ranking of a run and how far a fresh run's may differ.

    Attributes
    ----------
    score : high is odd.
    rank : 1 is the oddest; ties take the order of the nodes.
    low, high : the 90 % interval of the rank in a fresh run.
    top_probability : the probability that a fresh run puts the node among its first ``top``.
    std : the standard deviation of a fresh run's score about ours.
    top : how many nodes ``top_probability`` is about.
    """

    score: Floats
    rank: Ints
    low: Ints
    high: Ints
    top_probability: Floats
    std: Floats
    top: int

    @property
    def order(self) -> Ints:
        """The nodes by rank."""
        return np.argsort(self.rank)


def rank_scores(score: Floats, replicates: Floats, judged: Bools, top: int, *, inflation: float) -> Ranking:
    """Rank the nodes by a score, and say how sure each rank is from replicates of it, (replicates, nodes).

    The variance is ``inflation`` times the replicates' own. It is taken of the score, which tells how far a node is
    ahead, and of the logit of the rank, which a score far out does not stretch; there it is joined with that of nodes
    of similar rank, which counts as much as thirty more replicates. The interval is what both have in common. The
    chance of being in the top is by the score: on the rank, thousands of ordinary nodes would take it away.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop.detector.ranking import rank_scores
    >>> score = np.arange(5.0)
    >>> ranking = rank_scores(score, np.stack([score, score]), score >= 0, 1, inflation=1.0)
    >>> ranking.rank.tolist(), ranking.low.tolist()
    ([5, 4, 3, 2, 1], [5, 4, 3, 2, 1])
    """
    together = np.vstack([score, replicates])
    aligned, unit = aligned_replicates(together, judged)
    spread, freedom = moderated_variance(aligned[1:], aligned[0], judged)
    by_score = ranked(score, aligned[0], np.sqrt(inflation * spread), unit, freedom, judged, top)
    places, count = _places(together, judged), int(np.count_nonzero(judged))
    nearby = np.clip(np.minimum(np.arange(count), np.arange(count)[::-1]) // 2, FEWEST_NEARBY, max(count // 20, 1))
    variance, freedom = moderated_variance(places[1:], places[0], judged, nearby=nearby, pooled=RANK_FREEDOM)
    std = np.sqrt(inflation * variance)
    half = stats.t.ppf(0.5 + LEVEL / 2, freedom) * std
    low, high = ((count + 1) * special.expit(-place) for place in (places[0] + half, places[0] - half))
    rank = by_score.rank
    return replace(
        by_score,
        low=np.where(judged, np.clip(np.floor(low).astype(np.int64), by_score.low, rank), rank),
        high=np.where(judged, np.maximum(np.minimum(np.ceil(high).astype(np.int64), by_score.high), rank), rank),
    )


def _places(scores: Floats, judged: Bools) -> Floats:
    """Give minus the logit of the rank among the judged nodes, of every row of scores; high is odd."""
    places = np.zeros(scores.shape)
    ranks = stats.rankdata(-scores[:, judged], axis=1)
    places[:, judged] = np.log((ranks.shape[1] + 1 - ranks) / ranks)
    return places


def ranked(score: Floats, centre: Floats, std: Floats, unit: float, freedom: int, judged: Bools, top: int) -> Ranking:
    """Rank by score; ``centre``, ``std`` and ``freedom`` tell how far a fresh run may lie from it, in ``unit``."""
    nodes = score.size
    order = np.argsort(-score, kind="stable")
    rank = np.empty(nodes, dtype=np.int64)
    rank[order] = np.arange(1, nodes + 1)
    half = stats.t.ppf(0.5 + LEVEL / 2, freedom) * std
    ladder = np.sort(centre)
    low = nodes - np.searchsorted(ladder, centre + half, side="right") + 1
    high = nodes - np.searchsorted(ladder, centre - half, side="left")
    return Ranking(
        score=score,
        rank=rank,
        # The rank of ours lies in its own interval also where ties are broken by order.
        low=np.where(judged, np.minimum(np.clip(low, 1, nodes), rank), rank),
        high=np.where(judged, np.maximum(np.clip(high, 1, nodes), rank), rank),
        top_probability=_top_probability(centre, std, freedom, judged, top),
        std=np.where(judged, std * unit, 0.0),
        top=top,
    )


def aligned_replicates(replicates: Floats, judged: Bools) -> tuple[Floats, float]:
    """Bring replicates of the score to one mean and one spread; return them and the mean spread."""
    seen = replicates[:, judged]
    spread = seen.std(axis=1, keepdims=True)
    if not np.all(spread > 1e-12 * np.abs(seen).max()):
        return replicates, 1.0  # every node scores the same in some chain: nothing to align by
    aligned = (replicates - seen.mean(axis=1, keepdims=True)) / spread
    aligned[:, ~judged] = aligned.min() - 1.0
    return aligned, float(spread.mean())


def moderated_variance(
    aligned: Floats, centre: Floats, judged: Bools, *, nearby: Ints | None = None, pooled: int = NEIGHBOURLY_FREEDOM
) -> tuple[Floats, int]:
    """Join each node's variance between replicates with that of nodes of similar score; return it and its freedom.

    ``nearby`` says how many to either side are similar, by their order from low to high; ``pooled`` is their freedom.
    """
    own = aligned.var(axis=0, ddof=1)
    freedom = aligned.shape[0] - 1
    order = np.flatnonzero(judged)[np.argsort(centre[judged], kind="stable")]
    reach = max(25, order.size // 20) if nearby is None else nearby
    sums = np.concatenate([[0.0], np.cumsum(own[order])])
    first = np.maximum(np.arange(order.size) - reach, 0)
    last = np.minimum(np.arange(order.size) + reach + 1, order.size)
    similar = own.copy()
    similar[order] = (sums[last] - sums[first]) / (last - first)
    joined = (freedom * own + pooled * similar) / (freedom + pooled)
    return joined, freedom + pooled


def _top_probability(centre: Floats, std: Floats, freedom: int, judged: Bools, top: int) -> Floats:
    """Give the chance of being over a bar that is set so that ``top`` nodes are expected over it."""
    chance = np.zeros(centre.size)
    middle, unsure = centre[judged], np.maximum(std[judged], 1e-9 * (np.ptp(centre[judged]) or 1.0))
    if top >= middle.size:
        chance[judged] = 1.0
        return chance

    def surplus(bar: float) -> float:
        return float(special.stdtr(freedom, (middle - bar) / unsure).sum()) - top

    reach = 1e3 * unsure.max()
    bar = optimize.brentq(surplus, middle.min() - reach, middle.max() + reach, xtol=1e-9 * reach, rtol=1e-12)
    chance[judged] = special.stdtr(freedom, (middle - bar) / unsure)
    return chance


def check_finite(scores: Floats) -> None:
    """Refuse scores that are not finite; a fitted model gives finite ones on networks like the one it was fitted on."""
    wrong = int(np.count_nonzero(~np.isfinite(scores)))
    if wrong:
        raise GraphError(
            f"{wrong} of {scores.size} scores are not finite: the model does not fit this network",
            "look for attributes of another unit, or fit again",
        )
