"""Simulated networks, of one or several kinds of nodes.

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
from oddhop.odd.kinds import Edges
from oddhop.odd.null_groups import blocks_of, by_degree, cells_by_looks
from oddhop.odd.real_network import RealNetwork, Simulated
from oddhop.odd.relation import told_by
from oddhop.odd.row_blocks import degrees_of, gathered
from oddhop.odd.views import FittedViews, Known
from oddhop.partitions.files import Store
from oddhop.partitions.task import TaskRunner

LIKE_NODES = 50  # to either side, by their outlyingness
DONORS = 8  # whose edges a node is given
DRAWN_AT_ONCE = 2**22  # edges: 60 bytes each


def simulator(fitted: FittedViews, real: RealNetwork, runner: TaskRunner, seed: int) -> Simulated:
    """Simulate networks: edges change places within groups of like nodes, and f of every edge is that of others.

    A node keeps its outlyingness, and its edges take f from edges of the same sort of a few judged nodes, which are of
    the same group and about as outlying: f of many nodes would leave out that real nodes differ from each other. Within
    the kind, f moreover stays between the same two groups.
    """
    store, own, kinds, outlying = real.store, real.edges.own, real.kinds, real.known.outlyingness
    write_ratios(own, runner, fitted.homophily)
    if kinds is None:
        groups = by_degree(cells_by_looks(own, runner, fitted.homophily, seed), degrees_of(store))
        alike = groups
    else:
        groups = by_degree(kinds.of(np.arange(store.nodes)), degrees_of(store))
        alike = groups[kinds.nodes(kinds.judged)]
    known, within = {one.kind: one for one in fitted.others}, _Drawn.of(own, outlying, alike)
    rates, means = ([], []) if fitted.rate is None else ([fitted.rate], [within])
    for pairs in real.edges.joined:
        rate = known[pairs.kind].rate
        if rate is not None:
            told = told_by(pairs, known[pairs.kind].relation, runner)
            rates, means = [*rates, rate], [*means, _Drawn.of(told.near, outlying, alike)]
    once, blocks = folded_store(own, RATIOS), blocks_of(own, alike)

    def scores(runner: TaskRunner, turn: int) -> Floats:
        rng, simulated = generator(seed, SIMULATED, turn), real.simulated_wiring(groups, seed, turn)
        nats = [rate.nats(*drawn.means(rng)) for rate, drawn in zip(rates, means, strict=True)]
        figures = Known(outlying, real.flow_log_p(rng), real.cycle_log_p(turn))
        real.write_residuals(simulated, runner)
        edges = Edges(simulated) if kinds is None else real.split(simulated)
        f = np.empty_like(once)
        f[np.argsort(blocks_of(edges.own, alike), kind="stable")] = once[np.lexsort([rng.random(once.size), blocks])]
        _write_ratios(edges.own, f, np.multiply(*within.means(rng)))
        return real.scores(fitted, edges, figures, runner, nats)

    return scores


def _write_ratios(store: Store, f: Floats, sums: Floats) -> None:
    """Write f, given once an edge, and its sums at every node."""
    rows = [store.rows(number) for number in store.ranges]
    indptr = np.concatenate([[0], np.cumsum(degrees_of(store))])
    indices = np.concatenate([one.indices for one in rows])
    entries = unfolded(Graph(frozen(indptr), frozen(indices), np.empty((store.nodes, 0))), f)
    for number, one in zip(store.ranges, rows, strict=True):
        room = store.entry_room(RATIOS, number, entries.dtype)
        room[:] = entries[indptr[one.start] : indptr[one.stop]]
        store.write(RATIOS, number, room)
        store.write(RATIO_SUMS, number, sums[one.start : one.stop])


@dataclass(frozen=True, eq=False)
class _Drawn:
    """Edges of one sort by their judged nodes, and these in the order of their outlyingness.

    Attributes
    ----------
    f : of every edge, those of a node after each other.
    starts : where the edges of every judged node begin, and one more.
    order : the judged nodes with edges, group by group, from the least outlying on.
    """

    f: Floats
    starts: Ints
    order: Ints

    @classmethod
    def of(cls, store: Store, outlying: Floats, groups: Ints) -> _Drawn:
        counts = degrees_of(store)
        order = np.lexsort([outlying, groups, counts == 0])[: np.count_nonzero(counts)]
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
        count, each = self.order.size, np.arange(some.start, some.stop)
        wide = min(2 * LIKE_NODES + 1, count)
        first = np.clip(place[each] - LIKE_NODES, 0, max(count - wide, 0))
        offsets = rng.integers(0, max(wide, 1), (each.size, DONORS), np.int8)
        nodes = np.repeat(np.arange(each.size), degrees[some])
        drawn = first[nodes] + offsets[nodes, rng.integers(0, DONORS, nodes.size)]
        drawn = np.where(drawn == place[each[nodes]], (drawn + 1) % max(count, 1), drawn)  # its own would repeat it
        other = self.order[drawn]
        edge = self.starts[other] + (rng.random(nodes.size) * degrees[other]).astype(np.int64)
        return np.asarray(np.bincount(nodes, self.f[edge], minlength=each.size), np.float64)
