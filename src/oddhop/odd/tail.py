"""From the scores of a view to p-values, by one rule: ranks for most nodes, and a tail for the far ones.

Up to the 98 % point a p-value is the share of nodes that score as high. Beyond it goes a generalised Pareto tail, with
the shape that the 80, 90 and 98 % points have, so a handful of odd nodes does not bend it. It is never steeper than
exponential, and says at least 1 in 100 n: what the highest of a hundred such networks would show.
"""

from __future__ import annotations

import numpy as np

from oddhop.base.arrays import Bools, Floats

START, MIDDLE, FAR = 0.8, 0.9, 0.98
HEAVIEST = 0.6
NETWORKS = 100


def tail_log_p(score: Floats, judged: Bools) -> Floats:
    """Return the logarithm of the p-value of every judged node, high scores being odd; 0 for the others."""
    out, x = np.zeros(score.size), score[judged]
    if not x.size:
        return out
    order = np.sort(x)
    log_p = np.log((x.size - np.searchsorted(order, x, side="left")) / (x.size + 1))
    start, middle, far = np.quantile(x, [START, MIDDLE, FAR])
    if start < middle < far:
        shapes = np.linspace(0.0, HEAVIEST, 121)[1:]
        shape = float(np.interp((far - start) / (middle - start), (10**shapes - 1) / (2**shapes - 1), shapes))
        scale = (far - middle) * shape / (1 - 5**-shape)  # beyond the 98 % point
        above = x > far
        log_p[above] = np.log(1 - FAR) - np.log1p(shape * (x[above] - far) / scale) / shape
    out[judged] = np.clip(log_p, smallest_log_p(x.size), 0.0)
    return out


def smallest_log_p(nodes: int) -> float:
    """Return the logarithm of the smallest p-value in a network of so many nodes."""
    return -float(np.log(NETWORKS * max(nodes, 1)))
