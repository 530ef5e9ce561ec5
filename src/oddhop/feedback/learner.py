"""The learner: the label-free order as a prior, and trees for what the answers say against it.

With z the label-free rank of a node as a normal score, the chance that a node is worth the analyst's time is

    logit p = b + c z + r(x),

b and c from the first hit on by a penalised fit to the answers, which starts at a gentle slope and may forget the order
where the answers contradict it. Before that they stay where they start: a fit to nothing but "harmless" would say that
all is harmless, and leave nothing to learn. r is the mean over random trees that are grown on answer - p. A leaf with n
answers, k of them hits, of which the prior foretold the share q, says logit((k + q) / (n + 1)) - logit(q): nothing
where nobody was asked, and more with every answer. A few random nodes stand for what was not asked: to the fit of b and
c each is a twentieth of a "harmless"; to the trees it is what the prior foretold, so that they tell kinds that were
cleared again and again from those that nobody was asked about.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtri

from oddhop.base.arrays import Floats, Ints
from oddhop.feedback.trees import Forest, grow

TREES, FIRST_TREES, KEPT = 64, 12, 0.75
BACKGROUND, BACKGROUND_WEIGHT = 200, 0.05
START, SPREAD = (-3.0, 0.25), (2.0, 1.0)  # of b and c: where the fit begins, and how far it strays without evidence
LEAST_SLOPE = 0.01  # the order never turns round, and decides between equals
STEPS, LARGEST_STEP = 15, 2.0
ONE_ANSWER = 1.0  # what the prior of a leaf weighs
HEAD = 400


@dataclass(frozen=True, eq=False)
class Rows:
    """What is learned from: answered nodes, and random ones of the network.

    Attributes
    ----------
    x : (answered, features), float32; the last feature is the place.
    hits : 1 or 0.
    background : the same features of random nodes.
    """

    x: Floats
    hits: Floats
    background: Floats


@dataclass(frozen=True, eq=False)
class Learned:
    """What was learned: the prior's intercept and slope, and trees; ``forest`` is None where the order stands."""

    start: float
    slope: float
    forest: Forest | None

    def score(self, x: Floats, *, workers: int = 1) -> Floats:
        """Return the logit of the chance that a node is worth the analyst's time."""
        prior = self.start + self.slope * x[:, -1].astype(np.float64)
        return prior if self.forest is None else prior + self.forest.predict(x, workers=workers)

    def head(self, x: Floats, among: Ints, count: int, *, workers: int = 1) -> Ints:
        """Return the ``count`` of some rows that score highest, the highest first.

        The first trees choose who is scored by all of them: of a million nodes few can be the next question.
        """
        if self.forest is not None and among.size > max(HEAD, 4 * count):
            quick = Learned(self.start, self.slope, self.forest.first(FIRST_TREES))
            rough = quick.score(x if among.size == x.shape[0] else x[among], workers=workers)
            among = among[_highest(rough, max(HEAD, 4 * count))]
        return among[_highest(self.score(x[among], workers=workers), count)]


def places(score: Floats) -> Floats:
    """Return the label-free rank of every node as a normal score; nodes that tie share theirs.

    Examples
    --------
    >>> from oddhop.feedback.learner import places
    >>> import numpy as np
    >>> places(np.array([0.1, 0.7, 0.7])).round(2).tolist()
    [-0.97, 0.43, 0.43]
    """
    ladder = np.sort(score)
    below, up_to = (np.searchsorted(ladder, score, side=side) for side in ("left", "right"))
    middle: Floats = ndtri((below + up_to) / (2 * score.size))
    return middle


def learn(rows: Rows, *, seed: int = 0) -> Learned | None:
    """Learn from answers; None until one is "harmless", because nothing speaks against the order before that.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop.feedback.learner import Rows, learn
    >>> x = np.random.default_rng(0).normal(size=(300, 4)).astype(np.float32)
    >>> learned = learn(Rows(x[:40], (x[:40, 0] > 0).astype(float), x[100:]))
    >>> score = learned.score(x[40:100])
    >>> bool(score[x[40:100, 0] > 0].mean() > score[x[40:100, 0] < 0].mean() + 0.3)
    True
    """
    if not (rows.hits == 0).any():
        return None
    x = np.concatenate([rows.x, rows.background])
    hits = np.concatenate([rows.hits, np.zeros(rows.background.shape[0])])
    weights = np.concatenate([np.ones(rows.hits.size), np.full(rows.background.shape[0], BACKGROUND_WEIGHT)])
    place = x[:, -1].astype(np.float64)
    start, slope = _prior(place, hits, weights) if rows.hits.any() else START
    prior = expit(start + slope * place)
    targets = np.where(np.arange(hits.size) < rows.hits.size, hits - prior, 0.0)
    tried = int(np.sqrt(x.shape[1])) + 1
    forest = grow(x, targets, weights, prior, seed, trees=TREES, tried=tried, kept=KEPT, ridge=ONE_ANSWER)
    return Learned(start, slope, forest)


def _prior(place: Floats, hits: Floats, weights: Floats) -> tuple[float, float]:
    """Fit intercept and slope by Newton's steps; trees say where the order is wrong, the slope stays up."""
    design = np.column_stack([np.ones(place.size), place])
    mean, precision = np.array(START), np.diag(1 / np.square(SPREAD))
    found = mean.copy()
    for _ in range(STEPS):
        chance = expit((design * found).sum(axis=1))
        slope = (design * (weights * (chance - hits))[:, None]).sum(axis=0) + precision @ (found - mean)
        curve = (weights * chance * (1 - chance))[:, None, None] * design[:, :, None] * design[:, None, :]
        step = np.linalg.solve(curve.sum(axis=0) + precision, slope)
        found = found - step * min(1.0, LARGEST_STEP / max(float(np.abs(step).max()), 1e-300))
        found[1] = max(found[1], LEAST_SLOPE)
    return float(found[0]), float(found[1])


def _highest(score: Floats, count: int) -> Ints:
    """Give the places of the highest scores, the highest first; ties in their order."""
    if count < score.size:
        bar = np.partition(score, score.size - count)[score.size - count]
        among = np.flatnonzero(score >= bar)
    else:
        among = np.arange(score.size)
    return among[np.argsort(-score[among], kind="stable")][:count]
