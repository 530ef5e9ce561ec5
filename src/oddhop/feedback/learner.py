"""The learner: a random forest on the answers, and the original order where the answers do not decide.

With z the original rank of a node as a normal score and p the share of hits that a random forest foretells, nodes are
ordered by

    c z + logit((T p + 1) / (T + 2)),

T the number of trees. The weight c of the original order follows from how right that order was so far: with r the
share of hits among those of its first n nodes that are answered, n the number of all answers, c = 0.02 + 2 r^2. An
order that finds hits keeps its say about nodes that nobody was asked about; one that does not hardly decides
between equals.

A forest needs both answers. While all are "harmless", random nodes of the network take the place of hits: what is like
the cleared nodes goes down.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from oddhop.base.arrays import Floats, Ints
from oddhop.feedback.trees import Forest, grow

TREES = 64
LEAST_SLOPE, SLOPE, FIRST_SLOPE = 0.02, 2.0, 2.0
PRIOR_HITS, PRIOR_ANSWERS = 1, 6  # of the share of hits in the order, before any answer
BACKGROUND, BACKGROUND_WEIGHT = 200, 0.05


@dataclass(frozen=True, eq=False)
class Rows:
    """What is learned from.

    Attributes
    ----------
    x : (answered, features), float32; the last feature is the place, see :func:`places`.
    hits : 1 or 0.
    background : the same features of random nodes that are not answered.
    nodes : how many nodes are ranked.
    """

    x: Floats
    hits: Floats
    background: Floats
    nodes: int


@dataclass(frozen=True, eq=False)
class Learned:
    """What was learned: the weight of the original order, and a forest."""

    slope: float
    forest: Forest

    def score(self, x: Floats, *, workers: int = 1) -> Floats:
        """Return what nodes are ordered by, one a row."""
        trees = self.forest.roots.size
        hits = trees * self.forest.predict(x, workers=workers) + 1
        return np.asarray(self.slope * x[:, -1].astype(np.float64) + np.log(hits / (trees + 2 - hits)))


def places(score: Floats) -> Floats:
    """Return the original rank of every node as a normal score; nodes that tie share theirs."""
    ladder = np.sort(score)
    below, up_to = (np.searchsorted(ladder, score, side=side) for side in ("left", "right"))
    middle: Floats = ndtri((below + up_to) / (2 * score.size))
    return middle


def learn(rows: Rows, *, seed: int = 0) -> Learned | None:
    """Learn from answers; None until one is "harmless", because nothing speaks against the order before that."""
    if not (rows.hits == 0).any():
        return None
    x, hits, weights, slope = rows.x, rows.hits, np.ones(rows.hits.size), order_weight(rows)
    if not rows.hits.any():
        others = rows.background.shape[0]
        x, hits = np.concatenate([x, rows.background]), np.concatenate([hits, np.ones(others)])
        weights, slope = np.concatenate([weights, np.full(others, BACKGROUND_WEIGHT)]), FIRST_SLOPE
    forest = grow(x, hits, weights, seed, trees=TREES, tried=max(1, int(np.sqrt(x.shape[1]))))
    return Learned(slope, forest)


def compile_learner() -> None:
    """Compile the kernels of the forest, so that the first answer need not wait for them."""
    x = np.random.default_rng(0).normal(size=(8, 3)).astype(np.float32)
    learned = learn(Rows(x, np.arange(8) % 2.0, x, 8))
    assert learned is not None  # noqa: S101 - there are answers of both sorts
    learned.score(x)
    learned.forest.alike(x)


def order_weight(rows: Rows) -> float:
    """Return the weight of the original order by the answers about its first nodes, as many as there are answers."""
    first = ndtri(max(1 - rows.hits.size / rows.nodes, 0.0))
    answered = rows.hits[rows.x[:, -1] >= first]
    share = (answered.sum() + PRIOR_HITS) / (answered.size + PRIOR_ANSWERS)
    return float(LEAST_SLOPE + SLOPE * share**2)


def highest(score: Floats, count: int) -> Ints:
    """Return the positions of the highest scores, the highest first; ties in their order."""
    if count < score.size:
        bar = np.partition(score, score.size - count)[score.size - count]
        among = np.flatnonzero(score >= bar)
    else:
        among = np.arange(score.size)
    return among[np.argsort(-score[among], kind="stable")][:count]
