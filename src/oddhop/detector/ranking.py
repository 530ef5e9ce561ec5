"""How sure a ranking is: what a fresh run with other seeds would say.

The chains of a run are small independent runs. After each is brought to one mean and one spread
(no ranking depends on those), how a node's score differs between them tells how far the score of a
fresh run may lie from ours:

    score of a fresh run - ours  ~  sd x Student's t,    sd^2 = 2 s^2 / chains

s^2 is the node's variance between chains, joined with that of nodes of similar score, which counts as
much as three more chains: a handful of chains alone tells a variance badly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import optimize, special, stats

from oddhop.base.arrays import Bools, Floats, Ints

if TYPE_CHECKING:
    from oddhop.hcm.scoring import Scores

LEVEL = 0.90
NEIGHBOURLY_FREEDOM = 3
ROWS_AT_ONCE = 65_536


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
    spread : the posterior standard deviation of the mean hop count to the neighbours.
    """

    score: Floats
    rank: Ints
    low: Ints
    high: Ints
    top_probability: Floats
    std: Floats
    spread: Floats
    top: int


@dataclass(frozen=True)
class Mixing:
    """How well the chains agree: R-hat and effective sample size of every node's mean hop count."""

    r_hat: Floats
    effective: Floats


def rank_nodes(scores: Scores, kind: str, top: int) -> Ranking:
    """Rank the nodes and say how sure each rank is."""
    score = scores.chain_scores(kind).mean(axis=0)
    aligned, unit = _aligned(_replicates(scores, kind), scores.judged)
    centre = aligned.mean(axis=0)
    variance, freedom = _moderated(aligned, centre, scores.judged)
    std = np.sqrt(2.0 * variance / aligned.shape[0])
    return _ranking(score, centre, std, unit, freedom, scores.judged, top, _spread(scores.draws))


def rank_scores(score: Floats, replicates: Floats, judged: Bools, top: int, *, inflation: float) -> Ranking:
    """Rank the nodes by a score, and say how sure each rank is from replicates of it, (replicates, nodes).

    The variance of the score is ``inflation`` times the replicates' own.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop.detector.ranking import rank_scores
    >>> score = np.arange(5.0)
    >>> ranking = rank_scores(score, np.stack([score, score]), score >= 0, 1, inflation=1.0)
    >>> ranking.rank.tolist(), ranking.low.tolist()
    ([5, 4, 3, 2, 1], [5, 4, 3, 2, 1])
    """
    aligned, unit = _aligned(np.vstack([score, replicates]), judged)
    variance, freedom = _moderated(aligned[1:], aligned[0], judged)
    spread = np.where(judged, aligned[1:].std(axis=0) * unit, 0.0)
    return _ranking(score, aligned[0], np.sqrt(inflation * variance), unit, freedom, judged, top, spread)


def _ranking(
    score: Floats, centre: Floats, std: Floats, unit: float, freedom: int, judged: Bools, top: int, spread: Floats
) -> Ranking:
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
        spread=spread,
        top=top,
    )


def mixing(draws: Floats) -> Mixing:
    """Give R-hat and the effective sample size of draws of shape (chains, samples, nodes).

    Chains are split in halves, so that one that still drifts is seen. The effective size sums
    autocorrelations in pairs until a pair turns negative (Geyer 1992).
    """
    nodes = draws.shape[2]
    r_hat, effective = np.ones(nodes), np.empty(nodes)
    for start in range(0, nodes, ROWS_AT_ONCE):
        block = slice(start, min(start + ROWS_AT_ONCE, nodes))
        r_hat[block], effective[block] = _mixing(_halves(draws[:, :, block]).astype(np.float64))
    return Mixing(r_hat, effective)


def _halves(draws: Floats) -> Floats:
    half = draws.shape[1] // 2
    if half < 2:
        return draws
    return np.concatenate([draws[:, :half], draws[:, draws.shape[1] - half :]])


def _mixing(x: Floats) -> tuple[Floats, Floats]:
    chains, samples, nodes = x.shape
    total = chains * samples
    if chains < 2 or samples < 2:
        return np.ones(nodes), np.full(nodes, float(total))
    means = x.mean(axis=1)
    within = x.var(axis=1, ddof=1).mean(axis=0)
    pooled = (samples - 1) / samples * within + means.var(axis=0, ddof=1)
    still = pooled <= 1e-14 * np.maximum(np.abs(means).max(axis=0), 1e-30) ** 2
    safe = np.where(still, 1.0, pooled)
    r_hat = np.where(still, 1.0, np.sqrt(safe / np.maximum(within, 1e-12 * safe)))
    deviations = x - means[:, None]
    time = np.ones(nodes)  # 1 + 2 x the sum of the autocorrelations
    open_ended = np.ones(nodes, dtype=bool)
    for lag in range(1, samples - 1, 2):
        pair = np.zeros(nodes)
        for k in (lag, lag + 1):
            gap = samples - k
            covariance = (deviations[:, :gap] * deviations[:, k:]).sum(axis=1).mean(axis=0) / samples
            pair += 1.0 - (within - covariance) / safe
        open_ended &= pair > 0
        time += 2.0 * np.where(open_ended, pair, 0.0)
    return r_hat, np.where(still, total, np.minimum(total / time, total))


def _replicates(scores: Scores, kind: str) -> Floats:
    """Give several independent estimates of the score; of one chain, its quarters stand in."""
    chains = scores.chain_scores(kind)
    if chains.shape[0] > 1:
        return chains
    quarters = [part.mean(axis=0) for part in np.array_split(scores.draws[0].astype(np.float64), 4)]
    return np.stack(quarters) / (1.0 if kind == "ahp" else scores.max_ahp)


def _aligned(replicates: Floats, judged: Bools) -> tuple[Floats, float]:
    seen = replicates[:, judged]
    spread = seen.std(axis=1, keepdims=True)
    if not np.all(spread > 1e-12 * np.abs(seen).max()):
        return replicates, 1.0  # every node scores the same in some chain: nothing to align by
    aligned = (replicates - seen.mean(axis=1, keepdims=True)) / spread
    aligned[:, ~judged] = aligned.min() - 1.0
    return aligned, float(spread.mean())


def _moderated(aligned: Floats, centre: Floats, judged: Bools) -> tuple[Floats, int]:
    own = aligned.var(axis=0, ddof=1)
    freedom = aligned.shape[0] - 1
    order = np.flatnonzero(judged)[np.argsort(centre[judged], kind="stable")]
    reach = max(25, order.size // 20)
    sums = np.concatenate([[0.0], np.cumsum(own[order])])
    first = np.maximum(np.arange(order.size) - reach, 0)
    last = np.minimum(np.arange(order.size) + reach + 1, order.size)
    similar = own.copy()
    similar[order] = (sums[last] - sums[first]) / (last - first)
    joined = (freedom * own + NEIGHBOURLY_FREEDOM * similar) / (freedom + NEIGHBOURLY_FREEDOM)
    return joined, freedom + NEIGHBOURLY_FREEDOM


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


def _spread(draws: Floats) -> Floats:
    nodes = draws.shape[2]
    out = np.empty(nodes)
    for start in range(0, nodes, ROWS_AT_ONCE):
        out[start : start + ROWS_AT_ONCE] = draws[:, :, start : start + ROWS_AT_ONCE].std(axis=(0, 1), dtype=np.float64)
    return out
