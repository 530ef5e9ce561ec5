"""How sure a ranking is: what a fresh run with other seeds would say.

The chains of a run are small independent runs. After each is brought to one mean and one spread
(no ranking depends on those), how a node's score differs between them tells how far the score of a
fresh run may lie from ours:

    score of a fresh run - ours  ~  sd x Student's t,    sd^2 = 2 s^2 / chains

s^2 is the node's variance between chains, joined with that of nodes of similar score, which counts as
much as three more chains: a handful of chains alone tells a variance badly.

Replicates are read some nodes at a time, so beside them a ranking holds a few numbers a node, however many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.base.kernels import compiled
from oddhop.base.roots import sign_change
from oddhop.errors import GraphError

LEVEL = 0.90
NEIGHBOURLY_FREEDOM, RANK_FREEDOM = 3, 30
FEWEST_NEARBY = 12
NODES_AT_ONCE = 65_536

Replicates = Callable[[slice], Floats]
"""Replicates of the score for the nodes of a slice, (replicates, nodes)."""


@dataclass(frozen=True)
class Ranking:
    """The ranking of a run and how far a fresh run's may differ.

    Attributes
    ----------
    score : high is odd.
    rank : 1 is the highest score; ties take the order of the nodes.
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


def rank_scores(
    score: Floats, replicates: Floats | Sequence[Floats], judged: Bools, top: int, *, inflation: float
) -> Ranking:
    """Rank the nodes by a score, and say how sure each rank is from replicates of it, a row each.

    The variance is ``inflation`` times the replicates' own. It is taken of the score, which tells how far a node is
    ahead, and of the logit of the rank, which a score far out does not stretch; there it is joined with that of nodes
    of similar rank, which counts as much as thirty more replicates. The interval is what both have in common. The
    chance of being in the top is by the score: on the rank, thousands of ordinary nodes would take it away.
    """
    low, high = _by_rank(score, replicates, judged, inflation)
    aligned = align(lambda span: np.array([score[span], *(row[span] for row in replicates)], dtype=np.float64), judged)
    centre, variance = np.empty(score.size), np.empty(score.size)
    for span in spans(score.size):
        block = aligned.block(span)
        centre[span], variance[span] = block[0], block[1:].var(axis=0, ddof=1)
    freedom = join_similar(variance, len(replicates) - 1, ascending(centre, judged))
    variance *= inflation
    by_score = ranked(score, centre, np.sqrt(variance, out=variance), aligned.unit, freedom, judged, top)
    # Of a node that was not judged both bounds are its rank, and stay so.
    np.clip(low, by_score.low, by_score.rank, out=low)
    np.maximum(np.minimum(high, by_score.high, out=high), by_score.rank, out=high)
    return replace(by_score, low=low, high=high)


def _by_rank(
    score: Floats, replicates: Floats | Sequence[Floats], judged: Bools, inflation: float
) -> tuple[Ints, Ints]:
    """Return the interval of the rank by the variance of its logit between replicates; 0 for nodes not judged."""
    seen = score[judged]
    count = seen.size
    order = np.argsort(seen, kind="stable")
    doubled = np.empty((len(replicates) + 1, count), dtype=np.int32 if 2 * count < 2**31 else np.int64)
    _write_ranks(seen, order, doubled[0])
    for row, out in zip(replicates, doubled[1:], strict=True):
        seen = row[judged]
        _write_ranks(seen, np.argsort(seen), out)
    del seen
    variance = np.empty(count)
    for span in spans(count):
        variance[span] = _places(doubled[1:, span], count).var(axis=0, ddof=1)
    freedom = join_similar(variance, len(replicates) - 1, order, nearby=_nearby, pooled=RANK_FREEDOM)
    del order
    factor = special.stdtrit(freedom, 0.5 + LEVEL / 2)
    low, high = np.zeros((2, judged.size), dtype=np.int64)
    done = 0
    for whole in spans(judged.size):
        here = judged[whole]
        span = slice(done, done + int(np.count_nonzero(here)))
        place, half = _places(doubled[0, span], count), factor * np.sqrt(inflation * variance[span])
        low[whole][here] = np.floor((count + 1) * special.expit(-(place + half)))
        high[whole][here] = np.ceil((count + 1) * special.expit(-(place - half)))
        done = span.stop
    return low, high


def _places(doubled: Ints, count: int) -> Floats:
    """Return minus the logit of the rank among so many nodes, from twice the rank; high is odd."""
    ranks = doubled / 2
    return np.asarray(np.log((count + 1 - ranks) / ranks))


def _nearby(position: Ints, count: int) -> Ints:
    """Return how many nodes to either side are of similar rank: fewer towards both ends."""
    return np.asarray(np.clip(np.minimum(position, count - 1 - position) // 2, FEWEST_NEARBY, max(count // 20, 1)))


@compiled
def _write_ranks(values: Floats, ascending: Ints, out: Ints) -> None:
    """Write twice the rank from the highest; values that are equal share the mean of theirs."""
    count, first = values.size, 0
    for k in range(1, count + 1):
        if k == count or values[ascending[k]] != values[ascending[first]]:
            for j in range(first, k):
                out[ascending[j]] = 2 * count + 1 - first - k
            first = k


def ranked(score: Floats, centre: Floats, std: Floats, unit: float, freedom: int, judged: Bools, top: int) -> Ranking:
    """Rank by score; ``centre``, ``std`` and ``freedom`` tell how far a fresh run may lie from it, in ``unit``.

    ``std`` is taken over and becomes that of the ranking.
    """
    nodes = score.size
    order, ladder = np.argsort(-score, kind="stable"), np.sort(centre)
    rank, low, high = (np.empty(nodes, dtype=np.int64) for _ in range(3))
    factor = special.stdtrit(freedom, 0.5 + LEVEL / 2)
    for span in spans(nodes):
        here = order[span]  # neighbours by score look up neighbouring steps of the ladder
        middle, half, ours = centre[here], factor * std[here], np.arange(span.start + 1, span.stop + 1)
        least = nodes - np.searchsorted(ladder, middle + half, side="right") + 1
        most = nodes - np.searchsorted(ladder, middle - half, side="left")
        rank[here] = ours
        # The rank of ours lies in its own interval also where ties are broken by order.
        low[here] = np.where(judged[here], np.minimum(np.clip(least, 1, nodes), ours), ours)
        high[here] = np.where(judged[here], np.maximum(np.clip(most, 1, nodes), ours), ours)
    del order, ladder
    chance = _top_probability(centre, std, freedom, judged, top)
    std *= unit
    std[~judged] = 0.0
    return Ranking(score=score, rank=rank, low=low, high=high, top_probability=chance, std=std, top=top)


@dataclass(frozen=True, eq=False)
class Aligned:
    """Replicates of the score, brought to one mean and one spread as they are read.

    ``unit`` is the mean spread, and ``floor`` lies below all of them: where nodes that were not judged are put.
    """

    replicates: Replicates
    judged: Bools
    mean: Floats
    spread: Floats
    floor: float | None
    unit: float

    def block(self, span: slice) -> Floats:
        """Return the replicates of some nodes, (replicates, nodes)."""
        aligned = np.asarray((self.replicates(span) - self.mean) / self.spread)
        if self.floor is not None:
            aligned[:, ~self.judged[span]] = self.floor
        return aligned


def align(replicates: Replicates, judged: Bools) -> Aligned:
    """Find what brings replicates of the score to one mean and one spread."""
    count = max(int(np.count_nonzero(judged)), 1)
    mean, spread = np.zeros((2, replicates(slice(0, 0)).shape[0], 1))
    least, most = np.full_like(mean, np.inf), 0.0
    for span in spans(judged.size):
        block = replicates(span)
        np.minimum(least, block.min(axis=1, keepdims=True), out=least)
        seen = block[:, judged[span]]
        mean += seen.sum(axis=1, keepdims=True)
        most = max(most, float(np.abs(seen).max(initial=0.0)))
    mean /= count
    for span in spans(judged.size):
        spread += ((replicates(span)[:, judged[span]] - mean) ** 2).sum(axis=1, keepdims=True)
    spread = np.sqrt(spread / count)
    if not np.all(spread > 1e-12 * most):  # every node scores the same in some replicate: nothing to align by
        return Aligned(replicates, judged, np.zeros_like(mean), np.ones_like(spread), None, 1.0)
    floor = float(((least - mean) / spread).min()) - 1.0
    return Aligned(replicates, judged, mean, spread, floor, float(spread.mean()))


def spans(nodes: int) -> Iterator[slice]:
    """Cut nodes into blocks."""
    for start in range(0, nodes, NODES_AT_ONCE):
        yield slice(start, min(start + NODES_AT_ONCE, nodes))


def ascending(centre: Floats, judged: Bools) -> Ints:
    """Return the judged nodes from low to high."""
    order = np.argsort(np.where(judged, centre, -np.inf), kind="stable")
    return np.asarray(order[judged.size - np.count_nonzero(judged) :])


def join_similar(
    variance: Floats,
    freedom: int,
    ascending: Ints,
    *,
    nearby: Callable[[Ints, int], Ints] | None = None,
    pooled: int = NEIGHBOURLY_FREEDOM,
) -> int:
    """Join each node's variance, in place, with that of nodes of similar score; return the freedom of what comes out.

    ``ascending`` has the nodes from low to high. ``nearby`` says of a position among so many how many to either side
    are similar, a twentieth of them where it is None; ``pooled`` is their freedom.
    """
    count = ascending.size
    sums = np.zeros(count + 1)
    np.cumsum(variance[ascending], out=sums[1:])
    for span in spans(count):
        position, here = np.arange(span.start, span.stop), ascending[span]
        reach = max(25, count // 20) if nearby is None else nearby(position, count)
        first, last = np.maximum(position - reach, 0), np.minimum(position + reach + 1, count)
        similar = (sums[last] - sums[first]) / (last - first)
        variance[here] = (freedom * variance[here] + pooled * similar) / (freedom + pooled)
    return freedom + pooled


def _top_probability(centre: Floats, std: Floats, freedom: int, judged: Bools, top: int) -> Floats:
    """Return the chance of being over a bar that is set so that ``top`` nodes are expected over it."""
    chance = np.zeros(centre.size)
    if top >= np.count_nonzero(judged):
        chance[judged] = 1.0
        return chance
    least = float(centre.min(where=judged, initial=np.inf))
    most = float(centre.max(where=judged, initial=-np.inf))
    smallest = 1e-9 * (most - least or 1.0)
    reach = 1e3 * max(float(std.max(where=judged, initial=0.0)), smallest)

    def ahead(span: slice, bar: float) -> Floats:
        here = judged[span]
        return np.asarray((centre[span][here] - bar) / np.maximum(std[span][here], smallest))

    def surplus(bar: float) -> float:
        return sum(float(_student(ahead(span, bar), freedom).sum()) for span in spans(centre.size)) - top

    bar = sign_change(surplus, least - reach, most + reach, 1e-15 * reach)
    for span in spans(centre.size):
        chance[span][judged[span]] = special.stdtr(freedom, ahead(span, bar))
    return chance


def _student(t: Floats, freedom: int) -> Floats:
    """Return the probability that Student's t is below some numbers, to 1e-15.

    A sum of few terms does where freedom is whole (Abramowitz and Stegun, 26.7.3 and 26.7.4), thirty times as fast as
    ``scipy.special.stdtr``, which has the digits of small probabilities as well.
    """
    square = freedom / (freedom + t * t)  # of the cosine of the angle whose tangent is t / sqrt(freedom)
    odd = freedom % 2
    term, total = np.ones_like(t), np.zeros_like(t)
    for k in range(1, (freedom - odd) // 2 + 1):
        total += term
        term *= square * ((2 * k - 1 + odd) / (2 * k + odd))
    total *= t / np.sqrt(freedom + t * t)
    if not odd:
        return np.asarray(0.5 + total / 2)
    return np.asarray(0.5 + (np.arctan(t / np.sqrt(freedom)) + np.sqrt(square) * total) / np.pi)


def check_finite(scores: Floats) -> None:
    """Refuse scores that are not finite; a fitted model gives finite ones on networks like the one it was fitted on."""
    wrong = int(np.count_nonzero(~np.isfinite(scores)))
    if wrong:
        raise GraphError(
            f"{wrong} of {scores.size} scores are not finite: the model does not fit this network",
            "check the units of the attributes, or fit again",
        )
