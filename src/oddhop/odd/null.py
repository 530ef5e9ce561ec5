"""Networks like the one that is judged, with nothing odd in them, and how high their nodes score.

A simulated network has the degrees, the attributes and the homophily of the real one:

1. Groups: by kind, or by the looks that go with edges, and by the octave of the degree.
2. Wiring: the ends of edges between the same two groups are joined anew, and, with one kind, change places within
   their group, see :mod:`oddhop.graph.rewire`.
3. Stranger: a node takes f from edges of a few nodes of the same group that are about as outlying.
4. Outlyingness: a node keeps its own.
5. Facts of events: all p-values are as likely.
6. Cycles: those of the same events with their times permuted.
7. Scores are stretched to those of the real network in its bulk, and a margin beyond.

It is judged by what was learned from the real network, and joined as the real one is. So what stands out is always the
head of the ranking.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from oddhop.base.arrays import Bools, Floats
from oddhop.base.files import Arrays
from oddhop.odd.null_groups import SIMULATIONS
from oddhop.odd.simulate import Simulator
from oddhop.odd.views import FittedViews, ViewData

SIMULATED_NODES, FEWEST_SIMULATIONS = 500_000, 2  # nodes of all simulated networks together
FEWEST_SIMULATED = 300  # nodes; in smaller networks hardly anything stands out
BULK = np.linspace(0.8, 0.9, 9)  # of the nodes: below it the tail does not show, above it anomalies may
MARGIN, LEAST_MARGIN = 1.25, 1.15  # beyond the scores of the real network there, and beyond those that were simulated
LOW_RATIO, HIGH_RATIO = 0.75, 1.25  # of real and simulated scores in the bulk: beyond them they differ
WIDE, MOST_ABOVE, FEWEST_TIMES = 1.5, 100, 50  # of a gap; nodes above it, and how many times as many there must be
SHORT = 0.01  # a head, of the nodes
TAILS, FEWEST_BETWEEN, Z_90 = ((0.1, 0.03), (0.05, 0.02), (0.03, SHORT)), 5, 1.28  # shares of the nodes
KEPT, MOST_KEPT = (
    2,
    1_000_000,
)  # simulated scores for every node: enough unless half of a network stands out


@dataclass(frozen=True, eq=False)
class Chance:
    """How high the nodes of simulated networks score.

    Attributes
    ----------
    scores : the highest scores of all simulated networks, from low to high.
    simulations : how many networks were simulated.
    nodes : how many nodes of each were judged; 0 for as many as are asked about.
    ratio : how high the nodes of the real network score in its bulk, over those of the simulated ones.
    """

    scores: Floats
    simulations: int
    nodes: int = 0
    ratio: float = 1.0

    def shares(self, score: Floats) -> Floats:
        """Give, for every rank, the nodes of a simulated network that score as high, over the real ones that do."""
        ladder = np.sort(score)[::-1]
        above = self.scores.size - np.searchsorted(self.scores, ladder, side="left")
        # A network with more nodes has more by chance.
        larger = ladder.size / self.nodes if self.nodes else 1.0
        shares = (1 + above) * larger / self.simulations / np.arange(1, ladder.size + 1)
        return np.where(above < self.scores.size, shares, np.inf)  # of those that are not kept nothing is known

    def standing_out(self, score: Floats, share: float) -> int:
        """Count the nodes of the longest head of a ranking whose chance share is at most this.

        Where ordinary nodes score higher than simulated ones, the simulations lack something that makes scores high,
        and a short head must lie beyond the tail of the ranking, too, which a long one would be part of. Where they
        score lower, an obvious gap is enough.
        """
        count = _longest(self.shares(score) <= share)
        if self.ratio > 1 and count < SHORT * score.size:
            return min(count, head_beyond_tail(score, share))
        return max(count, head_above_gap(score)) if self.ratio < LOW_RATIO else count


def simulations_for(nodes: int) -> int:
    """Return how many networks are simulated: fewer of a large one, which by itself has many nodes to compare with."""
    return min(max(SIMULATED_NODES // max(nodes, 1), FEWEST_SIMULATIONS), SIMULATIONS)


def simulate_chance(fitted: FittedViews, seen: ViewData, score: Floats, seed: int) -> Chance:
    """Simulate networks like the one that was judged, and keep how high their nodes score."""
    runner, judged = seen.source.wiring.runner, seen.edges.degrees > 0
    assert runner is not None  # noqa: S101 - it leads the fit
    simulator, count = Simulator.of(fitted, seen, seed), simulations_for(seen.source.wiring.nodes)
    kept, ratios = np.zeros(0), []
    for turn in range(count):
        runner.within = f"simulated network {turn + 1} of {count}"
        found = seen.source.wiring.stage(f"simulated{turn}", partial(_scores, simulator, turn))["score"]
        ratios.append(bulk_ratio(score[judged], found[judged]))
        kept = np.sort(np.concatenate([kept, found[judged]]))[-min(KEPT * judged.size, MOST_KEPT) :]
        runner.progress("simulations", turn + 1, count)
    runner.within, ratio = "", float(np.median(ratios))
    return Chance(kept * max(LEAST_MARGIN, MARGIN * ratio), count, int(judged.sum()), ratio)


def _scores(simulator: Simulator, turn: int) -> Arrays:
    return {"score": simulator.scores(turn)}


def bulk_ratio(real: Floats, simulated: Floats) -> float:
    """Return how many times as high as the simulated nodes the real ones score in the bulk, at most."""
    return float((np.quantile(real, BULK) / np.maximum(np.quantile(simulated, BULK), 1e-9)).max())


def head_beyond_tail(score: Floats, share: float) -> int:
    """Count the nodes that score far above the others, if scores fall off as they do in the last tenth of the nodes.

    The tail is taken to be exponential between two quantiles, which a head does not bend. Of several pairs of them the
    one that leaves the shortest head counts.
    """
    ladder, heads = np.sort(score)[::-1], []
    for start, stop in TAILS:
        low, high = np.quantile(score, [1 - start, 1 - stop])
        above, beyond = int((score > low).sum()), int((score > high).sum())
        if above - beyond < FEWEST_BETWEEN or high <= low:
            return 0
        between = float((score[(score > low) & (score <= high)] - low).sum())
        scale = (between + beyond * (high - low)) / (above - beyond) * (1 + Z_90 / np.sqrt(above - beyond))
        expected = above * np.exp(-(ladder - low) / scale)
        heads.append(_longest(expected <= share * np.arange(1, ladder.size + 1)))
    return min(heads)


def head_above_gap(score: Floats) -> int:
    """Count the nodes above the widest gap among the first ones: half as much again as the next score, or more."""
    ladder = np.sort(score)[::-1][: 1 + min(score.size // FEWEST_TIMES, MOST_ABOVE)]
    if ladder.size < 2 or ladder[-1] <= 0:
        return 0
    drops = ladder[:-1] / ladder[1:]
    widest = int(drops.argmax())
    return widest + 1 if drops[widest] >= WIDE else 0


def _longest(within: Bools) -> int:
    found = np.flatnonzero(within)
    return int(found[-1]) + 1 if found.size else 0
