"""What the answers say of a node, in words: which answered nodes it is like, and in what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from oddhop.base.arrays import Floats, Ints
from oddhop.base.html import panel, sentences
from oddhop.explain.explanation import Explanation
from oddhop.explain.phrases import spoken
from oddhop.feedback.learner import Learned
from oddhop.feedback.memory import Memory

NAMED, SHARED, LIKE = 2, 3, 0.25


@dataclass(frozen=True)
class Question:
    """A node to answer.

    Attributes
    ----------
    id, why : the node, and why it is asked.
    rank, rank_label_free : its place in the learned order and in the detector's own.
    figure : between 0 and 1, high is likely worth the time; no tested probability. None as long as no answer counts.
    """

    id: Any
    why: str
    rank: int
    rank_label_free: int
    figure: float | None


@dataclass(frozen=True)
class LearnedExplanation:
    """The reasons for the rank of a node: the sentence from the answers, and the figures of the detector."""

    label_free: Explanation
    learned: str

    def _repr_html_(self) -> str:
        return panel(str(self.label_free.id), sentences([self.learned])) + self.label_free._repr_html_()


def like(node: Floats, x: Floats, answers: Floats, memory: Memory, learned: Learned) -> str:
    """Say which answered nodes are most similar to a node, by the share of trees in which they end in the same leaf.

    An answer that is NaN does not count, such as that of the node itself.
    """
    forest = learned.forest
    branched, same = forest.branched, forest.alike(np.vstack([node[None, :], x]))
    alike = same.sum(axis=1) / max(branched.size, 1)
    told = []
    for value, verb in ((1.0, "confirmed"), (0.0, "cleared")):
        those = np.flatnonzero((answers == value) & (alike >= LIKE))
        those = those[np.argsort(-alike[those], kind="stable")][:NAMED]
        if those.size:
            names = " and ".join(str(memory.ids[k]) for k in those.tolist())
            shared = _shared(node, branched[same[those].any(axis=0)], memory, learned)
            told.append((float(alike[those].mean()), f"Similar to {names}, which you {verb}: {shared}."))
    if not told:
        return "No answered node is similar to this node, so this node keeps its original order."
    return " ".join(text for _, text in sorted(told, key=lambda one: -one[0]))


def _shared(node: Floats, trees: Ints, memory: Memory, learned: Learned) -> str:
    """Name the features by which trees lead a node and others to the same leaf, those asked most often first.

    The original rank is the last feature. It is named only if there is no other: the list shows it already.
    """
    asked = np.concatenate([learned.forest.asked(node, tree) for tree in trees.tolist()])
    counts = np.bincount(asked, minlength=node.size)
    if counts[:-1].any():
        counts[-1] = 0
    first = [k for k in np.argsort(-counts, kind="stable")[:SHARED].tolist() if counts[k]]
    middle = np.median(memory.background, axis=0)
    return spoken([f"{memory.names[k]} ({'high' if node[k] > middle[k] else 'low'})" for k in first])
