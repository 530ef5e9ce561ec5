"""The search for a few changes that would bring a node below the alert threshold; shared by all detectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from oddhop.explain.explanation import Baseline, Change, Counterfactual

MOST_CHANGES = 5
WORTH_TELLING = 0.005  # of the score


@dataclass(frozen=True)
class Step:
    """One more change, and the score with all changes so far."""

    change: Change
    score: float


NextStep = Callable[[Sequence[Change], float], Step | None]
"""Given the changes so far and the score with them: the best next change, or None where none helps."""


def worth_telling(before: float) -> float:
    """Return by how much a change must lower a score to be worth telling."""
    return WORTH_TELLING * before


def search(before: float, baseline: Baseline, next_step: NextStep) -> Counterfactual | None:
    """Take one change after the other until the node is no alert; return those up to the lowest score."""
    if not baseline.alerts(before):
        return None
    changes: list[Change] = []
    after, best, lowest = before, 0, before - worth_telling(before)
    while len(changes) < MOST_CHANGES and baseline.alerts(after):
        step = next_step(changes, after)
        if step is None:
            break
        changes.append(step.change)
        after = step.score
        if after < lowest:
            best, lowest = len(changes), after
    return Counterfactual(tuple(changes[:best]), before, lowest, baseline) if best else None
