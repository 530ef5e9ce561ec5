"""Simulated networks of several kinds of nodes.

The process that runs the tasks holds f of every edge, and all edges while it rewires them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from oddhop.base.arrays import Floats, Ints, frozen
from oddhop.base.randomness import SIMULATED, generator
from oddhop.graph.graph import Graph
from oddhop.odd.communities import folded_store, unfolded
from oddhop.odd.homophily import RATIO_SUMS, RATIOS, write_ratios
from oddhop.odd.null_donors import simulated_flow, write_components
from oddhop.odd.null_model import find_communities
from oddhop.odd.real_network import RealNetwork, Simulated
from oddhop.odd.relation import told_by
from oddhop.odd.row_blocks import degrees_of, gathered, row_sums
from oddhop.odd.views import FittedViews, Known
from oddhop.partitions.files import Store
from oddhop.partitions.task import TaskRunner

LIKE_NODES = 50  # to either side, by their outlyingness
DRAWN_AT_ONCE = 2**22  # edges: 60 bytes each


def simulated_kinds(fitted: FittedViews, real: RealNetwork, runner: TaskRunner, seed: int) -> Simulated:
    """Simulate networks of several kinds: wiring as with one kind, and f of every edge from that of others.

    Communities are those of the whole network, split by kind. A node keeps its outlyingness, and every one of its edges
    takes f from an edge of the same sort whose judged node is about as outlying.
    """
    store, own, kinds = real.store, real.edges.own, real.kinds
    assert kinds is not None  # noqa: S101 - there are other kinds
    communities = find_communities(store, runner, seed) * len(kinds.names) + kinds.of(np.arange(store.nodes))
    groups = np.unique(communities, return_inverse=True)[1]
    write_ratios(own, runner, fitted.homophily)
    known, outlying = {one.kind: one for one in fitted.others}, real.known.outlyingness
    rates, means = [], []
    if fitted.rate is not None:
        rates, means = [fitted.rate], [_Drawn.of(own, outlying)]
    for pairs in real.edges.joined:
        rate = known[pairs.kind].rate
        if rate is not None:
            told = told_by(pairs, known[pairs.kind].relation, runner)
            rates, means = [*rates, rate], [*means, _Drawn.of(told.near, outlying)]
    components, degrees = write_components(own, runner, real.components), real.edges.degrees
    once = folded_store(own, RATIOS)

    def scores(runner: TaskRunner, turn: int) -> Floats:
        rng, simulated = generator(seed, SIMULATED, turn), real.simulated_wiring(groups, seed, turn)
        nats = [rate.nats(*drawn.means(rng)) for rate, drawn in zip(rates, means, strict=True)]
        # Among themselves nodes are joined by looks as often as they are.
        shuffled = once[rng.permutation(once.size)]
        known = Known(outlying, simulated_flow(own, components, degrees, rng), real.cycle_log_p(turn))
        real.write_residuals(simulated, runner)
        edges = real.split(simulated)
        _write_shuffled(edges.own, shuffled)
        return real.scores(fitted, edges, known, runner, nats)

    return scores


def _write_shuffled(store: Store, f: Floats) -> None:
    """Write other values of f, one an edge, and their sums at every node."""
    rows = [store.rows(number) for number in store.ranges]
    indptr = np.concatenate([[0], np.cumsum(degrees_of(store))])
    indices = np.concatenate([one.indices for one in rows])
    entries = unfolded(Graph(frozen(indptr), frozen(indices), np.empty((store.nodes, 0))), f)
    for number, one in zip(store.ranges, rows, strict=True):
        room = store.entry_room(RATIOS, number, entries.dtype)
        room[:] = entries[indptr[one.start] : indptr[one.stop]]
        store.write(RATIOS, number, room)
        store.write(RATIO_SUMS, number, row_sums(one.indptr, room))


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
    def of(cls, store: Store, outlying: Floats) -> _Drawn:
        counts = degrees_of(store)
        order = np.argsort(np.where(counts > 0, outlying, np.inf), kind="stable")[: np.count_nonzero(counts)]
        return cls(gathered(store, RATIOS), np.concatenate([[0], np.cumsum(counts)]), order)

    def means(self, rng: np.random.Generator) -> tuple[Floats, Ints]:
        """Return the mean f of every node if each of its edges had the f of another node's, and its number of edges."""
        degrees, count = np.diff(self.starts), self.order.size
        place = np.empty(degrees.size, dtype=np.int64)
        place[self.order] = np.arange(count)
        sums = np.zeros(degrees.size)
        cuts = np.searchsorted(self.starts, np.arange(0, self.f.size, DRAWN_AT_ONCE))
        for first, last in pairwise([*cuts.tolist(), degrees.size]):
            sums[first:last] = self._sums(rng, degrees, place, slice(first, last))
        return sums / np.maximum(degrees, 1), degrees

    def _sums(self, rng: np.random.Generator, degrees: Ints, place: Ints, some: slice) -> Floats:
        count, nodes = self.order.size, np.repeat(np.arange(some.start, some.stop), degrees[some])
        wide = min(2 * LIKE_NODES + 1, count)
        first = np.clip(place[nodes] - LIKE_NODES, 0, count - wide)
        drawn = first + rng.integers(0, max(wide, 1), nodes.size)
        drawn = np.where(drawn == place[nodes], (drawn + 1) % max(count, 1), drawn)  # its own would repeat it
        other = self.order[drawn]
        edge = self.starts[other] + (rng.random(nodes.size) * degrees[other]).astype(np.int64)
        return np.asarray(np.bincount(nodes - some.start, self.f[edge], minlength=some.stop - some.start), np.float64)
