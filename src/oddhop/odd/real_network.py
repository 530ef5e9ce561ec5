"""A network that was judged, as simulations need it, and what simulated networks of one and of several kinds share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from oddhop.base.arrays import Floats, Ints
from oddhop.graph.kinds import NodeKinds
from oddhop.graph.rewire import rewired_wiring
from oddhop.odd.communities import leading_from, write_residuals
from oddhop.odd.cycle import Cycles
from oddhop.odd.kinds import Edges
from oddhop.odd.krylov import VECTORS
from oddhop.odd.null_groups import POWER_STEPS, edge_ends
from oddhop.odd.tail import smallest_log_p
from oddhop.odd.views import FittedViews, Known, evidence_of, tie_scores, view_figures
from oddhop.partitions.files import Store
from oddhop.partitions.task import TaskRunner

Simulated = Callable[[TaskRunner, int], Floats]
"""Gives the scores of the judged nodes of a simulated network, by its number."""


@dataclass(frozen=True, eq=False)
class RealNetwork:
    """A network that was judged.

    Attributes
    ----------
    store : its wiring and eigenvectors; with one kind of nodes their coordinates, too.
    edges : those of the judged nodes.
    split : divides the edges of another wiring, which has residuals, by kind; used with several kinds.
    kinds : of the nodes; None where there is one.
    vectors : how many eigenvectors there are.
    known : figures of the judged nodes that their edges do not change.
    cycles : those of the events, None where they were not searched.
    """

    store: Store
    edges: Edges
    split: Callable[[Store], Edges]
    kinds: NodeKinds | None
    vectors: int
    known: Known
    cycles: Cycles | None

    def simulated_wiring(self, groups: Ints, seed: int, turn: int) -> Store:
        """Return another wiring of the same nodes, with as many edges between any two groups of them."""

        def wiring() -> tuple[Ints, Ints]:
            return rewired_wiring(edge_ends(self.store), groups, seed, turn, across=self.kinds is None)

        return self.store.with_wiring(f"simulated{turn}", wiring, {"known": VECTORS} if self.vectors else {})

    def cycle_log_p(self, turn: int) -> Floats:
        """Return what cycles of the same events with permuted times say."""
        if self.cycles is None:
            return self.known.cycle_log_p
        judged = slice(None) if self.kinds is None else self.kinds.nodes(self.kinds.judged)
        return self.cycles.permuted_log_p(turn)[judged]

    def flow_log_p(self, rng: np.random.Generator) -> Floats:
        """Return p-values of facts as they are where nothing is odd: all are as likely."""
        real = self.known.flow_log_p
        return np.where(real < 0, np.maximum(np.log1p(-rng.random(real.size)), smallest_log_p(real.size)), 0.0)

    def write_residuals(self, store: Store, runner: TaskRunner) -> None:
        """Write what communities leave of the entries of another wiring."""
        write_residuals(store, runner, leading_from(store, runner, "known", self.vectors, POWER_STEPS))

    def scores(
        self, fitted: FittedViews, edges: Edges, known: Known, runner: TaskRunner, nats: Sequence[Floats] = ()
    ) -> Floats:
        """Judge a simulated network by what was learned from this one."""
        # The raw clique scores of a simulated network are compared with each other.
        figures = view_figures(edges, known, fitted.homophily, tie_scores(edges, runner, None, ())[0], nats)
        return evidence_of(figures, known, fitted).score
