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

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from oddhop.base.arrays import Bools, Floats
from oddhop.base.files import Arrays
from oddhop.base.parallel import Progress, silent, single_threaded
from oddhop.base.randomness import SIMULATED, generator
from oddhop.graph.rewire import rewired_wiring
from oddhop.odd.communities import leading_from, write_residuals
from oddhop.odd.cycle import Cycles
from oddhop.odd.homophily import COORDINATES, write_ratios_of_variates
from oddhop.odd.kinds import Edges
from oddhop.odd.krylov import VECTORS
from oddhop.odd.null_donors import Components, nodes_of_like_degree, simulated_flow, write_components
from oddhop.odd.null_kinds import simulated_kinds
from oddhop.odd.null_model import POWER_STEPS, SIMULATIONS, NullModel, edge_ends, learn_null_model
from oddhop.odd.null_variates import write_simulated_variates
from oddhop.odd.views import FittedViews, Known, ViewData, evidence_of, flow_components, simulated_figures
from oddhop.partitions.store import InMemory, Store
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
        """Give, for every rank, the nodes of a simulated network that score as high, over the real ones that do.

        Examples
        --------
        >>> import numpy as np
        >>> from oddhop.odd.null import Chance
        >>> Chance(np.array([1.0, 2.0, 6.0]), 10).shares(np.array([9.0, 5.0, 0.5])).round(2).tolist()
        [0.1, 0.1, inf]
        """
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


@dataclass(frozen=True, eq=False)
class RealNetwork:
    """A network of one kind of nodes, as simulations need it.

    Attributes
    ----------
    store : its wiring, coordinates and eigenvectors.
    vectors : how many eigenvectors there are.
    known : figures of the nodes that their edges do not change.
    cycles : those of the events, None where they were not searched.
    components : gives what attributes do not predict of the flows; None without events.
    """

    store: Store
    vectors: int
    known: Known
    cycles: Cycles | None
    components: Components | None


def simulations_for(nodes: int) -> int:
    """Return how many networks are simulated: fewer of a large one, which by itself has many nodes to compare with.

    Examples
    --------
    >>> from oddhop.odd.null import simulations_for
    >>> [simulations_for(nodes) for nodes in (600, 100_000, 10_000_000)]
    [20, 5, 2]
    """
    return min(max(SIMULATED_NODES // max(nodes, 1), FEWEST_SIMULATIONS), SIMULATIONS)


def simulate_chance(
    fitted: FittedViews, data: ViewData, *, seed: int, workers: int = 1, progress: Progress = silent
) -> Chance:
    """Simulate networks like the one in memory that was judged, and keep how high their nodes score.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph
    >>> from oddhop.odd.null import simulate_chance
    >>> from oddhop.odd.views import fit_views
    >>> rng = np.random.default_rng(0)
    >>> graph = Graph.from_arrays(rng.integers(0, 400, (2, 1200)), rng.normal(size=(400, 3)))
    >>> fitted, evidence, data = fit_views(graph)
    >>> simulate_chance(fitted, data, seed=0).standing_out(evidence.score, 0.1)
    0
    """
    if fitted.others:
        with single_threaded():  # at other thread counts a product has other bits
            draw = simulated_kinds(fitted, data, seed, workers)
            return _highest(draw, data.degrees > 0, simulations_for(data.graph.node_count), progress)
    vectors = data.eigenvalues.values.size
    arrays = {COORDINATES: data.coordinates, **({VECTORS: data.store.of_nodes[VECTORS]} if vectors else {})}
    store = InMemory(data.store.indptr, data.store.indices, arrays)
    real = RealNetwork(store, vectors, data.known, data.cycles, flow_components(fitted, data))
    return simulate_over_store(fitted, real, on_threads(workers), seed, progress)


def simulate_over_store(
    fitted: FittedViews, real: RealNetwork, runner: TaskRunner, seed: int, progress: Progress = silent
) -> Chance:
    """Simulate networks like the one in a store, with one kind of nodes, and keep how high their nodes score."""
    store = real.store
    with single_threaded():  # at other thread counts a product has other bits
        model = learn_null_model(store, runner, fitted.homophily, seed)
        components = write_components(store, runner, real.components)
        degrees, count = Edges(store).degrees, simulations_for(store.nodes)

        def draw(turn: int) -> Floats:
            within = runner.within(f"simulated network {turn + 1} of {count}")
            find = partial(_simulated_scores, fitted, real, model, components, within, seed, turn)
            score: Floats = store.remembered(f"simulated{turn}", find)[0]["score"]
            store.discard(f"simulated{turn}")
            return score

        return _highest(draw, degrees > 0, count, progress)


def _highest(draw: Callable[[int], Floats], judged: Bools, count: int, progress: Progress) -> Chance:
    kept = np.zeros(0)
    for turn in range(count):
        kept = np.sort(np.concatenate([kept, draw(turn)[judged]]))[-min(KEPT * judged.size, MOST_KEPT) :]
        progress("simulations", turn + 1, count)
    return Chance(kept, count, int(judged.sum()))


def _simulated_scores(
    fitted: FittedViews, real: RealNetwork, model: NullModel, components: int, runner: TaskRunner, seed: int, turn: int
) -> tuple[Arrays, dict[str, Any]]:
    shared = {name: name for name in model.shared} | ({"known": VECTORS} if real.vectors else {})
    store = real.store.with_wiring(
        f"simulated{turn}", lambda: rewired_wiring(edge_ends(real.store), model.communities, seed, turn), shared
    )
    degrees, rng = Edges(store).degrees, generator(seed, SIMULATED, turn)
    donors = nodes_of_like_degree(degrees, rng)
    write_simulated_variates(store, runner, model, model.beyond[donors], rng)
    log_p = real.known.cycle_log_p if real.cycles is None else real.cycles.permuted_log_p(turn)
    flow = simulated_flow(real.store, components, degrees, rng)
    known = Known(real.known.outlyingness[donors], flow, log_p)
    write_residuals(store, runner, leading_from(store, runner, "known", real.vectors, POWER_STEPS))
    write_ratios_of_variates(store, runner, fitted.homophily)
    figures = simulated_figures(Edges(store), known, fitted, runner)
    return {"score": evidence_of(figures, log_p, fitted).score}, {}
