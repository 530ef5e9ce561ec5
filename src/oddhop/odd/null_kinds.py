"""Simulated networks of several kinds of nodes, in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from oddhop.base.arrays import Floats, Ints
from oddhop.base.randomness import SIMULATED, generator
from oddhop.graph.rewire import rewired
from oddhop.odd.communities import folded
from oddhop.odd.homophily import RATIOS, write_ratios
from oddhop.odd.null_donors import simulated_flow, write_components
from oddhop.odd.null_model import POWER_STEPS, find_communities
from oddhop.odd.relation import told_by
from oddhop.odd.views import (
    FittedViews,
    Known,
    ViewData,
    evidence_of,
    flow_components,
    simulated_figures,
    write_shuffled,
)
from oddhop.partitions.task import on_threads

LIKE_NODES = 50  # to either side, by their outlyingness


def simulated_kinds(fitted: FittedViews, data: ViewData, seed: int, workers: int) -> Callable[[int], Floats]:
    """Simulate networks of several kinds: wiring as with one kind, and f of every edge from that of others.

    Communities are those of the whole network, split by kind. A node keeps its outlyingness, and every one of its edges
    takes f from an edge of the same sort whose judged node is about as outlying.
    """
    graph = data.graph
    assert graph.kinds is not None  # noqa: S101 - there are other kinds
    runner, own = on_threads(workers), data.own
    communities = find_communities(data.store, runner, seed)
    kinds = graph.kinds.of(np.arange(graph.node_count))
    groups = np.unique(communities * len(graph.kinds.names) + kinds, return_inverse=True)[1]
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
    components, once = write_components(own, runner, flow_components(fitted, data)), folded(data.own_graph, own_f)

    def draw(turn: int) -> Floats:
        rng = generator(seed, SIMULATED, turn)
        wiring = rewired(graph, groups, seed, turn)
        nats = [rate.nats(*drawn.means(rng)) for rate, drawn in zip(rates, means, strict=True)]
        # Among themselves nodes are joined by looks as often as they are.
        shuffled = once[rng.permutation(once.size)]
        log_p = data.known.cycle_log_p if data.cycles is None else data.cycles.permuted_log_p(turn)[graph.judged]
        known = Known(outlying, simulated_flow(own, components, data.degrees, rng), log_p)
        simulated = replace(data, known=known).rewired(wiring, runner, steps=POWER_STEPS)
        write_shuffled(simulated, shuffled)
        figures = simulated_figures(simulated.edges, known, fitted, runner, nats)
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
