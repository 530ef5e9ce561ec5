"""Networks like the one that is judged, with nothing odd in them, and how high their nodes score.

A simulated network has the degrees, the communities and the attribute distributions of the real one:

1. Communities: k-means on the eigenvectors of the regularised adjacency that stand out from those of a rewired copy.
2. Wiring: the ends of edges between the same two communities are joined anew, see :mod:`oddhop.graph.rewire`.
3. Canonical variates: the mean of the community, and a random direction with the length that a real node of like degree
   has beyond its community. The direction is noise, smoothed over the wiring as far as neighbours are alike beyond
   their communities. Each coordinate is then mapped to the real one by rank.
4. Outlyingness: that of the node that gave the length.
5. Flows: every component of what attributes do not predict comes from another node of like degree.
6. Cycles: those of the same events with their times permuted.

It is judged by what was learned from the real network, and joined as the real one is. So what stands out is always the
head of the ranking.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from oddhop.base.arrays import Floats
from oddhop.base.files import Arrays
from oddhop.base.parallel import Progress, silent, single_threaded
from oddhop.base.randomness import SIMULATED, generator
from oddhop.odd.homophily import COORDINATES, write_ratios_of_variates
from oddhop.odd.kinds import Edges
from oddhop.odd.krylov import VECTORS
from oddhop.odd.null_donors import nodes_of_like_degree, simulated_flow, write_components
from oddhop.odd.null_kinds import simulated_kinds
from oddhop.odd.null_model import SIMULATIONS, learn_null_model
from oddhop.odd.null_variates import write_simulated_variates
from oddhop.odd.real_network import RealNetwork, Simulated
from oddhop.odd.row_blocks import degrees_of
from oddhop.odd.views import FittedViews, Known, ViewData, flow_components
from oddhop.partitions.store import InMemory
from oddhop.partitions.task import TaskRunner, on_threads

SIMULATED_NODES, FEWEST_SIMULATIONS = 500_000, 2  # nodes of all simulated networks together
FEWEST_SIMULATED = 300  # nodes; in smaller networks hardly anything stands out
KEPT, MOST_KEPT = 2, 1_000_000  # simulated scores for every node: more would tell where half of a network stands out


@dataclass(frozen=True, eq=False)
class Chance:
    """How high the nodes of simulated networks score.

    Attributes
    ----------
    scores : the highest scores of all simulated networks, from low to high.
    simulations : how many networks were simulated.
    nodes : how many nodes of each were judged; 0 for as many as are asked about.
    """

    scores: Floats
    simulations: int
    nodes: int = 0

    def shares(self, score: Floats) -> Floats:
        """Give, for every rank, the nodes of a simulated network that score as high, over the real ones that do."""
        ladder = np.sort(score)[::-1]
        above = self.scores.size - np.searchsorted(self.scores, ladder, side="left")
        # A network with more nodes has more by chance.
        larger = ladder.size / self.nodes if self.nodes else 1.0
        shares = (1 + above) * larger / self.simulations / np.arange(1, ladder.size + 1)
        return np.where(above < self.scores.size, shares, np.inf)  # of those that are not kept nothing is known

    def standing_out(self, score: Floats, share: float) -> int:
        """Count the nodes of the longest head of a ranking whose chance share is at most this."""
        within = np.flatnonzero(self.shares(score) <= share)
        return int(within[-1]) + 1 if within.size else 0


def simulations_for(nodes: int) -> int:
    """Return how many networks are simulated: fewer of a large one, which by itself has many nodes to compare with."""
    return min(max(SIMULATED_NODES // max(nodes, 1), FEWEST_SIMULATIONS), SIMULATIONS)


def simulate_chance(
    fitted: FittedViews, data: ViewData, *, seed: int, workers: int = 1, progress: Progress = silent
) -> Chance:
    """Simulate networks like the one in memory that was judged, and keep how high their nodes score."""
    vectors, kinds = data.eigenvalues.values.size, data.graph.kinds
    arrays = {VECTORS: data.store.of_nodes[VECTORS]} if vectors else {}
    store = InMemory(data.store.indptr, data.store.indices, arrays)
    if kinds is None:
        store.of_nodes[COORDINATES] = data.coordinates

    edges, components = Edges(store) if kinds is None else data.edges, flow_components(fitted, data)
    real = RealNetwork(store, edges, data.split, kinds, vectors, data.known, data.cycles, components)
    return simulate_over_store(fitted, real, on_threads(workers), seed, progress)


def simulate_over_store(
    fitted: FittedViews, real: RealNetwork, runner: TaskRunner, seed: int, progress: Progress = silent
) -> Chance:
    """Simulate networks like the one in a store, and keep how high their nodes score."""
    store, judged = real.store, real.edges.degrees > 0
    with single_threaded():  # at other thread counts a product has other bits
        simulated = (simulated_kinds if fitted.others else _simulated_kind)(fitted, real, runner, seed)
        count = simulations_for(store.nodes)

        def find(turn: int) -> tuple[Arrays, dict[str, Any]]:
            return {"score": simulated(runner.within(f"simulated network {turn + 1} of {count}"), turn)}, {}

        kept = np.zeros(0)
        for turn in range(count):
            found, _ = store.remembered(f"simulated{turn}", partial(find, turn))
            store.discard(f"simulated{turn}")
            kept = np.sort(np.concatenate([kept, found["score"][judged]]))[-min(KEPT * judged.size, MOST_KEPT) :]
            progress("simulations", turn + 1, count)
    return Chance(kept, count, int(judged.sum()))


def _simulated_kind(fitted: FittedViews, real: RealNetwork, runner: TaskRunner, seed: int) -> Simulated:
    """Simulate networks of one kind of nodes."""
    model = learn_null_model(real.store, runner, fitted.homophily, seed)
    components = write_components(real.store, runner, real.components)

    def scores(runner: TaskRunner, turn: int) -> Floats:
        rng = generator(seed, SIMULATED, turn)
        store = real.simulated_wiring(model.communities, seed, turn, model.shared)
        degrees = degrees_of(store)
        donors = nodes_of_like_degree(degrees, rng)
        write_simulated_variates(store, runner, model, model.beyond[donors], rng)
        flow = simulated_flow(real.store, components, degrees, rng)
        known = Known(real.known.outlyingness[donors], flow, real.cycle_log_p(turn))
        real.write_residuals(store, runner)
        write_ratios_of_variates(store, runner, fitted.homophily)
        return real.scores(fitted, Edges(store), known, runner)

    return scores
