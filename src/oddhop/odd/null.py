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
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from oddhop.base.arrays import Floats, Ints
from oddhop.base.parallel import Progress, silent, single_threaded
from oddhop.base.randomness import SIMULATED, generator
from oddhop.graph.graph import Graph
from oddhop.graph.rewire import rewired
from oddhop.odd.blocks import flow_columns, judged_attributes
from oddhop.odd.communities import FEWEST_NODES, folded, on_many_nodes
from oddhop.odd.homophily import RATIOS, write_ratios, write_ratios_of
from oddhop.odd.krylov import VECTORS, WEIGHTS, leading_eigenpairs
from oddhop.odd.outlier import lengths
from oddhop.odd.relation import told_by
from oddhop.odd.stranger import canonical_variates
from oddhop.odd.views import FittedViews, Known, ViewData, evidence_of, simulated_figures, write_shuffled
from oddhop.partitions.store import InMemory
from oddhop.partitions.task import on_threads

SIMULATIONS = 20
MOST_COMMUNITIES = 32
BEYOND_CHANCE = 1.05  # times the second eigenvalue of a rewired network, which varies
SMOOTHINGS, ATTEMPTS, POWER_STEPS = 8, 3, 2
K_MEANS_STARTS, K_MEANS_STEPS = 4, 30
LIKE_DEGREE = 50
LIKE_NODES = 50  # to either side, by their outlyingness
FEWEST_SIMULATED = 300  # nodes; in smaller networks hardly anything stands out
KEPT = 2  # simulated scores for every node: more would tell where half of a network stands out


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


def simulate_chance(
    fitted: FittedViews, data: ViewData, *, seed: int, workers: int = 1, progress: Progress = silent
) -> Chance:
    """Simulate networks like the one that was judged, and keep how high their nodes score.

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
    judged = data.degrees > 0
    kept = np.zeros(0)
    with single_threaded():  # at other thread counts a product has other bits
        draw = (
            _one_kind(fitted, data, seed, workers) if not fitted.others else _several_kinds(fitted, data, seed, workers)
        )
        for turn in range(SIMULATIONS):
            scores = draw(turn)[judged]
            kept = np.sort(np.concatenate([kept, scores]))[-KEPT * judged.size :]
            progress("simulations", turn + 1, SIMULATIONS)
    return Chance(kept, SIMULATIONS, int(judged.sum()))


@dataclass(frozen=True, eq=False)
class NullModel:
    """What simulated networks share with the real one.

    Attributes
    ----------
    communities : of every node.
    values : every canonical variate, sorted; ``means`` are those of the communities.
    beyond : the length of what a node has beyond the mean of its community.
    share : of the variance of each coordinate that lies beyond the communities.
    alike, own_alike : the correlation of each coordinate over the edges, and of what lies beyond the communities.
    flows : what attributes do not predict of the flows, see :meth:`oddhop.odd.flow.FlowModel.components`.
    """

    communities: Ints
    values: Floats
    means: Floats
    beyond: Floats
    share: Floats
    alike: Floats
    own_alike: Floats
    flows: Floats


def _null_model(fitted: FittedViews, data: ViewData, seed: int, workers: int) -> NullModel:
    graph, variates = data.graph, canonical_variates(data.coordinates, fitted.homophily)
    communities = find_communities(graph, seed, workers=workers)
    counts = np.bincount(communities)
    means = np.zeros((counts.size, variates.shape[1]))
    for k, variate in enumerate(variates.T):
        means[:, k] = np.bincount(communities, variate) / counts
    own = variates - means[communities]
    share = own.var(axis=0) / np.maximum(variates.var(axis=0), 1e-30)
    alike, own_alike = edge_correlation(graph, variates), edge_correlation(graph, own)
    beyond = np.sqrt((own**2).sum(axis=1))
    flows = _flow_components(fitted, data)
    return NullModel(communities, np.sort(variates, axis=0), means, beyond, share, alike, own_alike, flows)


def _flow_components(fitted: FittedViews, data: ViewData) -> Floats:
    """Return what attributes do not predict of the flows of the judged nodes."""
    own = judged_attributes(data.graph)
    if fitted.flows is None or not own.flow_count:
        return np.empty((own.node_count, 0))
    made = flow_columns(own.attributes, own.flow_count)
    return fitted.flows.components(made, data.coordinates, 0, own.node_count)


def edge_correlation(graph: Graph, x: Floats) -> Floats:
    """Return the correlation of every column over the two ends of an edge."""
    share = graph.degrees / max(graph.degrees.sum(), 1)
    centred = x - share @ x
    around = graph.adjacency() @ centred
    variance = share @ centred**2
    return np.asarray((centred * around).sum(axis=0) / max(graph.degrees.sum(), 1) / np.maximum(variance, 1e-30))


def _one_kind(fitted: FittedViews, data: ViewData, seed: int, workers: int) -> Callable[[int], Floats]:
    model = _null_model(fitted, data, seed, workers)
    return lambda turn: _simulated_scores(fitted, data, model, seed, turn, workers)


def _several_kinds(fitted: FittedViews, data: ViewData, seed: int, workers: int) -> Callable[[int], Floats]:
    """Simulate networks of several kinds: wiring as with one kind, and f of every edge from that of others.

    Communities are those of the whole network, split by kind. A node keeps its outlyingness, and every one of its edges
    takes f from an edge of the same sort whose judged node is about as outlying.
    """
    graph = data.graph
    assert graph.kinds is not None  # noqa: S101 - there are other kinds
    communities = find_communities(graph, seed, workers=workers)
    kinds = graph.kinds.of(np.arange(graph.node_count))
    groups = np.unique(communities * len(graph.kinds.names) + kinds, return_inverse=True)[1]
    runner, own = on_threads(workers), data.own
    write_ratios(own, runner, fitted.homophily)
    own_f = own.of_entries[RATIOS]
    known, outlying = {one.kind: one for one in fitted.others}, data.known.outlyingness
    rates, means = [], []
    if fitted.rate is not None:
        rates, means = [fitted.rate], [_Drawn.of(own_f, data.own_graph.entry_nodes, outlying)]
    for pairs in data.edges.joined:
        rate = known[pairs.kind].rate
        if rate is not None:
            told = told_by(pairs, known[pairs.kind].relation, runner)
            owners = np.repeat(np.arange(outlying.size), np.diff(told.in_memory().indptr))
            rates, means = [*rates, rate], [*means, _Drawn.of(told.array(RATIOS), owners, outlying)]
    flows, once = _flow_components(fitted, data), folded(data.own_graph, own_f)

    def draw(turn: int) -> Floats:
        rng = generator(seed, SIMULATED, turn)
        wiring = rewired(graph, groups, seed, turn)
        nats = [rate.nats(*drawn.means(rng)) for rate, drawn in zip(rates, means, strict=True)]
        # Among themselves nodes are joined by looks as often as they are.
        shuffled = once[rng.permutation(once.size)]
        log_p = data.known.cycle_log_p if data.cycles is None else data.cycles.permuted_log_p(turn)[graph.judged]
        known = Known(outlying, _simulated_flow(flows, data.degrees, rng), log_p)
        simulated = replace(data, known=known).rewired(wiring, runner, steps=POWER_STEPS)
        write_shuffled(simulated, shuffled)
        figures = simulated_figures(simulated, fitted, nats, workers=workers)
        return evidence_of(figures, log_p, fitted).score

    return draw


@dataclass(frozen=True, eq=False)
class _Drawn:
    """Edges of one sort by their judged nodes, and these in the order of their outlyingness.

    Attributes
    ----------
    f : of every edge, those of a node after each other.
    starts : where the edges of every judged node begin, and one more.
    order : the judged nodes with edges, from the least outlying on.
    """

    f: Floats
    starts: Ints
    order: Ints

    @classmethod
    def of(cls, f: Floats, nodes: Ints, outlying: Floats) -> _Drawn:
        counts = np.bincount(nodes, minlength=outlying.size)
        order = np.argsort(np.where(counts > 0, outlying, np.inf), kind="stable")[: np.count_nonzero(counts)]
        return cls(f[np.argsort(nodes, kind="stable")], np.concatenate([[0], np.cumsum(counts)]), order)

    def means(self, rng: np.random.Generator) -> tuple[Floats, Ints]:
        """Return the mean f of every node if each of its edges had the f of another node's, and its number of edges."""
        degrees, count = np.diff(self.starts), self.order.size
        place = np.empty(degrees.size, dtype=np.int64)
        place[self.order] = np.arange(count)
        nodes = np.repeat(np.arange(degrees.size), degrees)
        wide = min(2 * LIKE_NODES + 1, count)
        first = np.clip(place[nodes] - LIKE_NODES, 0, count - wide)
        drawn = first + rng.integers(0, max(wide, 1), nodes.size)
        drawn = np.where(drawn == place[nodes], (drawn + 1) % max(count, 1), drawn)  # its own would repeat it
        other = self.order[drawn]
        edge = self.starts[other] + (rng.random(nodes.size) * degrees[other]).astype(np.int64)
        return np.bincount(nodes, self.f[edge], minlength=degrees.size) / np.maximum(degrees, 1), degrees


def _simulated_scores(
    fitted: FittedViews, data: ViewData, model: NullModel, seed: int, turn: int, workers: int
) -> Floats:
    graph = rewired(data.graph, model.communities, seed, turn)
    rng = generator(seed, SIMULATED, turn)
    donors = _of_like_degree(graph.degrees, rng)
    variates = _simulated_variates(graph, model, donors, rng)
    known = Known(
        data.known.outlyingness[donors],
        _simulated_flow(model.flows, graph.degrees, rng),
        data.known.cycle_log_p if data.cycles is None else data.cycles.permuted_log_p(turn),
    )
    runner = on_threads(workers)
    simulated = replace(data.rewired(graph, runner, steps=POWER_STEPS), known=known)
    write_ratios_of(simulated.own, runner, fitted.homophily, variates)
    figures = simulated_figures(simulated, fitted, workers=workers)
    return evidence_of(figures, known.cycle_log_p, fitted).score


def _simulated_flow(flows: Floats, degrees: Ints, rng: np.random.Generator) -> Floats:
    """Return the figure of the flow view where every component comes from another node of about the same degree."""
    own = np.empty_like(flows)
    for k in range(flows.shape[1]):
        own[:, k] = flows[_of_like_degree(degrees, rng), k]
    return lengths(own) if flows.shape[1] else np.zeros(flows.shape[0])


def _of_like_degree(degrees: Ints, rng: np.random.Generator) -> Ints:
    """Return, for every node, another node of about the same degree, each once."""
    nodes = degrees.size
    order = np.lexsort([rng.random(nodes), degrees])
    group = np.arange(nodes) // LIKE_DEGREE
    donors = np.empty(nodes, dtype=np.int64)
    donors[order] = order[np.lexsort([rng.random(nodes), group])]
    return donors


def _simulated_variates(graph: Graph, model: NullModel, donors: Ints, rng: np.random.Generator) -> Floats:
    nodes, width = model.values.shape
    if not width:
        return model.values
    beyond = model.beyond[donors]
    walk = sp.diags_array(1.0 / np.maximum(graph.degrees, 1)) @ graph.adjacency()
    own, smooth = rng.normal(size=(2, nodes, width))

    def mixed_with(part: Floats) -> Floats:
        direction = np.sqrt(part) * smooth + np.sqrt(1 - part) * own
        direction *= (beyond / np.maximum(np.sqrt((direction**2).sum(axis=1)), 1e-30))[:, None]
        variates = model.means[model.communities] + direction
        for k in range(width):
            variates[np.argsort(variates[:, k], kind="stable"), k] = model.values[:, k]
        return np.asarray(variates)

    part = np.zeros(width)
    variates = mixed_with(part)
    without = edge_correlation(graph, variates)
    # Communities that were found badly leave too little; strangers, of which these networks have none, leave too much.
    # Half of the gap is made up for.
    target = (model.alike + np.minimum(without + model.share * model.own_alike, model.alike)) / 2
    missing = target - without
    for _ in range(SMOOTHINGS):
        smooth = (smooth + walk @ smooth) / 2
        smooth /= np.maximum(smooth.std(axis=0), 1e-30)
        # Beside the means of the communities only a share of the correlation of the noise arrives.
        arrives = model.share * edge_correlation(graph, smooth)
        if (arrives > missing).all():
            break
    for _ in range(ATTEMPTS):
        part = np.clip(part + missing / np.maximum(arrives, 1e-30), 0.0, 1.0)
        variates = mixed_with(part)
        missing = target - edge_correlation(graph, variates)
    return variates


def find_communities(graph: Graph, seed: int, *, workers: int = 1) -> Ints:
    """Return the community of every node, all the same where none stands out."""
    nodes = graph.node_count
    values, vectors = _regularised(graph, min(MOST_COMMUNITIES, nodes // 4), workers)
    by_chance = _regularised(rewired(graph, np.zeros(nodes, dtype=np.int64), seed, SIMULATIONS), 2, workers)[0].min()
    found = (values > BEYOND_CHANCE * by_chance) & on_many_nodes(vectors)
    count = int(found.sum())
    if count < 2:
        return np.zeros(nodes, dtype=np.int64)
    from scipy.cluster.vq import kmeans2, vq

    rows = vectors[:, found]
    rows = rows / np.maximum(np.sqrt((rows**2).sum(axis=1, keepdims=True)), 1e-30)
    rng, rows = generator(seed, SIMULATED, SIMULATIONS, 2), rows.astype(np.float64)
    with single_threaded():
        found_centres = [kmeans2(rows, count, K_MEANS_STEPS, minit="++", rng=rng)[0] for _ in range(K_MEANS_STARTS)]
        centres = min(found_centres, key=lambda centres: float((vq(rows, centres)[1] ** 2).sum()))
        large = np.bincount(vq(rows, centres)[0], minlength=count) >= FEWEST_NODES
        if large.sum() < 2:
            return np.zeros(nodes, dtype=np.int64)
        # A clique may be a cluster of its own: its members belong to the communities that they are nearest to.
        return np.asarray(vq(rows, centres[large])[0], dtype=np.int64)


def _regularised(graph: Graph, count: int, workers: int) -> tuple[Floats, Floats]:
    """Search the leading eigenvectors of the adjacency over the roots of the degrees and their mean."""
    if graph.node_count < FEWEST_NODES or count < 1:
        return np.zeros(1), np.zeros((graph.node_count, 1))
    weights = (1.0 / np.sqrt(graph.degrees + graph.degrees.mean())).astype(np.float32)
    store, runner = InMemory(graph.indptr, graph.indices, {WEIGHTS: weights}), on_threads(workers)
    found = leading_eigenpairs(store, runner, count, SIMULATED, which="LA", weighted=True)
    return found.values, store.of_nodes[VECTORS]
