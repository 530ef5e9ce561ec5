"""A bound on the number of hits in a list of which some were drawn at random, without replacement.

Of R nodes t were drawn; k of them are hits. The bound is the ratio of prior and posterior (Waudby-Smith and Ramdas,
"Confidence sequences for sampling without replacement", 2020). Under a uniform prior M hits have the posterior
C(M, k) C(R - M, t - k) / C(R + 1, t + 1). Prior over posterior of the true M is a martingale that starts at 1, so the
probability that it ever reaches 1 / error is at most the error. The bounds hold at all t at once.

No and yes trade places, so the upper bound is R less the lower bound of the noes. With some answers unsure, yes and no
do not add up to t, and each bound takes the unsure ones as against it.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from math import lgamma, log
from typing import NamedTuple

SLACK = 1e-7  # of logarithms: rounding must never make a range narrower


class Range(NamedTuple):
    """A lowest and a highest number of hits."""

    low: int
    high: int


def at_any_time(rest: int, drawn: int, yes: int, no: int, error: float) -> Range:
    """Bound the hits among ``rest`` nodes so that all looks hold at once."""
    return Range(_lowest(rest, drawn, yes, error), rest - _lowest(rest, drawn, no, error))


@lru_cache(maxsize=1 << 16)  # after one more answer all looks but the last are the same
def _lowest(rest: int, drawn: int, hits: int, error: float) -> int:
    if hits == 0:
        return 0
    least = log(error) - log(rest + 1) + _log_choose(rest + 1, drawn + 1) - SLACK
    # The posterior grows up to its mode, and there it is over the prior.
    to_mode = range(hits, min(hits * (rest + 1) // drawn, rest) + 1)
    above = bisect_left(to_mode, least, key=lambda m: _log_choose(m, hits) + _log_choose(rest - m, drawn - hits))
    return to_mode[above]


def _log_choose(of: int, some: int) -> float:
    return lgamma(of + 1) - lgamma(some + 1) - lgamma(of - some + 1)
