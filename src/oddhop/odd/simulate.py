"""Simulated networks, of one or several kinds of nodes.

Edges change places within groups of like nodes, and f of every edge is that of another. A node keeps its outlyingness,
and its edges take f from edges of the same sort of a few judged nodes, which are of the same group and about as
outlying: f of many nodes would leave out that real nodes differ from each other. Within the kind, f moreover stays
between the same two groups.

The process that runs the tasks holds f of every edge, and all edges while it rewires them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from oddhop.arrays.handles import Handle
from oddhop.arrays.stores import ENTRIES
from oddhop.arrays.wiring import Wiring
from oddhop.base.arrays import Floats, Ints
from oddhop.base.randomness import SIMULATED, generator
from oddhop.graph.graph import Graph
from oddhop.graph.rewire import rewired_wiring
from oddhop.odd.all_views import NODE_VIEWS
from oddhop.odd.clique import beyond_degree
from oddhop.odd.communities import folded, residuals, unfolded
from oddhop.odd.eigenvectors import refined_eigenpairs
from oddhop.odd.homophily import Ratios, make_ratios
from oddhop.odd.kinds import nats_by
from oddhop.odd.null_groups import POWER_STEPS, by_degree, cells_by_looks, edge_ends, groups_of_edges
from oddhop.odd.outlier import OUTLIER
from oddhop.odd.rate import Rate
from oddhop.odd.views import Figures, FittedViews, ViewData, clique_scores, evidence_of, stranger_figures

LIKE_NODES = 50  # to either side, by their outlyingness
DONORS = 8  # whose edges a node is given
DRAWN_AT_ONCE = 2**22  # edges: 60 bytes each


@dataclass(frozen=True, eq=False)
class Simulator:
    """What simulated networks take from a network that was judged.

    Attributes
    ----------
    fitted, seen, seed : what was learned, and the network.
    groups, alike : the groups of all nodes, and those of the judged ones among which f changes places.
    f, blocks : f of every edge within the kind, and between which two groups it is.
    within, rates, donors : f by judged node within the kind; and for every sort of edges its rate, and f by node.
    """

    fitted: FittedViews
    seen: ViewData
    seed: int
    groups: Ints
    alike: Ints
    f: Floats
    blocks: Ints
    within: Donors
    rates: Sequence[Rate]
    donors: Sequence[Donors]

    @classmethod
    def of(cls, fitted: FittedViews, seen: ViewData, seed: int) -> Simulator:
        """Take from a network what its simulations need."""
        own, kinds, wiring = seen.edges.own, seen.source.kinds, seen.source.wiring
        ratios, degrees = make_ratios(own.wiring, own.coordinates, fitted.homophily), wiring.degrees.all()
        if kinds is None:
            cells = cells_by_looks(own.wiring, ratios.variates, fitted.homophily, seed)
            groups = alike = by_degree(cells, degrees)
        else:
            groups = by_degree(kinds.of(np.arange(wiring.nodes)), degrees)
            alike = groups[seen.source.rows]
        outlying, within = seen.known[OUTLIER.name], Donors.of(own.wiring, ratios.f, seen.known[OUTLIER.name], alike)
        rates, donors = ([], []) if fitted.rate is None else ([fitted.rate], [within])
        informed, _ = nats_by(seen.edges, fitted.others)
        rate_of = {one.kind: one.rate for one in fitted.others}
        for one in informed:
            rate = rate_of[one.kind]
            if rate is not None:
                rates = [*rates, rate]
                donors = [*donors, Donors.of(one.ends.near.wiring, one.f, outlying, alike)]
        f, blocks = folded(own.wiring, ratios.f), groups_of_edges(own.wiring, alike)
        return cls(fitted, seen, seed, groups, alike, f, blocks, within, rates, donors)

    def scores(self, turn: int) -> Floats:
        """Return the scores of the judged nodes of one simulated network."""
        rng, seen, wiring = generator(self.seed, SIMULATED, turn), self.seen, self.seen.source.wiring
        simulated = wiring.rewired(f"simulated{turn}", lambda: self.wiring(turn))
        nats = [rate.nats(*donors.means(rng)) for rate, donors in zip(self.rates, self.donors, strict=True)]
        known = {view.name: view.simulated(seen.known[view.name], seen.nodes, turn, rng) for view in NODE_VIEWS}
        left = residuals(simulated, refined_eigenpairs(simulated, seen.pairs.vectors, POWER_STEPS))
        edges = seen.split(simulated, left)
        own = edges.own.wiring
        f = np.empty_like(self.f)
        order = np.argsort(groups_of_edges(own, self.alike), kind="stable")
        f[order] = self.f[np.lexsort([rng.random(self.f.size), self.blocks])]
        sums = np.multiply(*self.within.means(rng))
        entries = unfolded(Graph(own.indptr.read(), own.indices.read(), np.empty((own.nodes, 0))), f)
        f_handle = own.given(entries, ENTRIES)
        ratios = Ratios(f_handle, own.given(sums), f_handle, edges.own.coordinates)
        # The raw clique scores of a simulated network are compared with each other.
        _, tied, by_chance = clique_scores(edges, ratios)
        strange = stranger_figures(edges, sums, nats, self.fitted.homophily, None)
        clique = beyond_degree(tied, edges.degrees)
        return evidence_of(Figures.of(strange, clique, tied, by_chance, known), known, self.fitted).score

    def wiring(self, turn: int) -> tuple[Ints, Ints]:
        """Return another wiring of the same nodes, with as many edges between any two groups of them."""
        ends = edge_ends(self.seen.source.wiring)
        return rewired_wiring(ends, self.groups, self.seed, turn, across=self.seen.source.kinds is None)


@dataclass(frozen=True, eq=False)
class Donors:
    """f of edges of one sort by their judged nodes, and these in the order of their outlyingness.

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
    def of(cls, wiring: Wiring, f: Handle, outlying: Floats, groups: Ints) -> Donors:
        """Take f from the entries of the judged nodes."""
        counts = wiring.degrees.all()
        order = np.lexsort([outlying, groups, counts == 0])[: np.count_nonzero(counts)]
        return cls(f.read(), np.concatenate([[0], np.cumsum(counts)]), order)

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
