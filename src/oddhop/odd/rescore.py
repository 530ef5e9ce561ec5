"""One node judged again after a change of its attributes or its edges.

What was learned is held still: homophily, the bulk of every view, the eigenvectors that stand for the communities, and
the median raw clique score of nodes by their degree. All other figures of the node are computed again, in closed form.
Nobody else is judged again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oddhop.arrays.run import on_threads
from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.base.parallel import single_threaded
from oddhop.graph.graph import Graph
from oddhop.graph.rows import AttributeRows, spans
from oddhop.odd.clique import Ties, beyond_degree, clique_scores_with, ties_of
from oddhop.odd.combine import Evidence
from oddhop.odd.communities import folded
from oddhop.odd.cycle import Cycles, find_cycles
from oddhop.odd.facts.find import EventFacts
from oddhop.odd.homophily import make_ratios
from oddhop.odd.outlier import OUTLIER, outlyingness
from oddhop.odd.source import Source
from oddhop.odd.stranger import Ratio, canonical_variates, probability_unexplained, share_as_far, standing
from oddhop.odd.triangles import unexplained
from oddhop.odd.views import Figures, FittedViews, Known, evidence_of, see

EDGES_COMPARED = 1_000_000
NUMBERS_AT_ONCE = 1 << 20  # changes x neighbours


@dataclass(frozen=True, eq=False)
class FixedNetwork:
    """A network as its fitted views see it, held still.

    Attributes
    ----------
    graph, fitted : the network, and what was learned.
    variates : canonical variates of every node, see :func:`oddhop.odd.stranger.canonical_variates`.
    ratio : f of two variates.
    ties : what communities and looks leave of the edges.
    usual : f of the network's edges (an even draw of them where there are very many), sorted.
    figures : those of the views of the nodes.
    facts, cycles : those of the events, or None.
    """

    graph: Graph
    fitted: FittedViews
    variates: Floats
    ratio: Ratio
    ties: Ties
    usual: Floats
    figures: Known
    facts: EventFacts | None
    cycles: Cycles | None

    def neighbours(self, node: int) -> Ints:
        """Return the neighbours of a node."""
        return np.asarray(self.graph.indices[self.graph.indptr[node] : self.graph.indptr[node + 1]])

    def strangeness(self, node: int) -> Floats:
        """Return f of every edge of a node."""
        there = self.variates[self.neighbours(node)]
        return self.ratio(np.broadcast_to(self.variates[node], there.shape), there)

    def rarity(self, f: Floats) -> Floats:
        """Return the share of all edges whose ends look as far apart as f says."""
        return share_as_far(self.usual, f)

    def of_attributes(self, x: AttributeRows) -> tuple[Floats, Floats]:
        """Return variates and outlyingness of rows of attributes."""
        blocks, nodes = self.fitted.blocks, x.shape[0]
        # Some at a time: what lies between takes more room.
        parts = (canonical_variates(blocks.coordinates(x, *span), self.fitted.homophily) for span in spans(0, nodes))
        return np.concatenate(list(parts)), outlyingness(blocks, x, 0, nodes)

    def known(self, node: int, outlying: Floats, count: int) -> Known:
        """Return what edges do not change, after each of some changes to a node."""
        as_it_is = {name: np.full(count, figure[node]) for name, figure in self.figures.items()}
        return as_it_is | {OUTLIER.name: np.broadcast_to(outlying, count)}


@dataclass(frozen=True)
class Rescored:
    """What the views say of one node after each of some changes.

    Attributes
    ----------
    figures, evidence : of the views, and what they say jointly.
    """

    figures: Figures
    evidence: Evidence


def fix_network(
    fitted: FittedViews,
    graph: Graph,
    residuals: Floats | None = None,
    facts: EventFacts | None = None,
    cycles: Cycles | None = None,
    *,
    workers: int = 1,
) -> FixedNetwork:
    """Bring a network to the form in which single nodes are judged again.

    ``residuals`` is what communities leave of every edge, and ``facts`` and ``cycles`` those of the events, where they
    are known: to find them takes longest.
    """
    cycles = find_cycles(graph.events, graph.node_count, cycles)
    with single_threaded():
        source = Source.of_graph(graph, on_threads(workers))
        seen = see(source, {"": fitted.blocks}, left=residuals, facts=facts, cycles=cycles)
        own = seen.edges.own
        ratios = make_ratios(own.wiring, own.coordinates, fitted.homophily)
        chance = fitted.usual.chance_for(graph.node_count)
        ties = ties_of(own.residuals, unexplained(own.wiring, own.residuals, ratios.f, chance))
        f, variates = folded(own.wiring, ratios.f), ratios.variates.all()
    some = np.unique(np.linspace(0, max(f.size - 1, 0), min(f.size, EDGES_COMPARED)).astype(np.int64))
    ratio = Ratio.of(fitted.homophily.correlation)
    return FixedNetwork(graph, fitted, variates, ratio, ties, np.sort(f[some]), seen.known, seen.facts, cycles)


def rescore_node(held: FixedNetwork, node: int, variates: Floats, outlying: Floats, kept: Bools) -> Rescored:
    """Judge a node with other attributes, (changes, ...), and some of its edges, ``kept`` of shape (changes, degree).

    Where one row is given for the one and several for the other it stands for all.
    """
    homophily = held.fitted.homophily
    count, degree = max(len(variates), len(kept)), kept.shape[1]
    variates, kept = np.broadcast_to(variates, (count, variates.shape[1])), np.broadcast_to(kept, (count, degree))
    at_once = max(NUMBERS_AT_ONCE // degree, 1)
    parts = [_figures(held, node, variates[k : k + at_once], kept[k : k + at_once]) for k in range(0, count, at_once)]
    means, raw, by_chance = (np.concatenate(one) for one in zip(*parts, strict=True))
    degrees = kept.sum(axis=1)
    z = np.zeros(count) if homophily.silent else standing(homophily, means, degrees)
    clique = beyond_degree(raw, degrees, held.fitted.usual)
    known = held.known(node, outlying, count)
    figures = Figures.of(z, clique, raw, by_chance, known)
    return Rescored(figures, evidence_of(figures, known, held.fitted))


def _figures(held: FixedNetwork, node: int, variates: Floats, kept: Bools) -> tuple[Floats, Floats, Floats]:
    """Return the mean f, the raw clique score and what chance gives after each of some changes."""
    ratio, row = held.ratio, slice(held.graph.indptr[node], held.graph.indptr[node + 1])
    there = held.variates[held.graph.indices[row]]
    f = ratio.constant + ratio.own(variates)[:, None] + ratio.own(there) - (variates * ratio.across) @ there.T
    # Where the stranger is silent f is 0, and the chance that looks are no reason one half.
    own = held.ties.residuals[row] * probability_unexplained(f) * kept
    return (f * kept).sum(axis=1) / kept.sum(axis=1), *clique_scores_with(held.graph, held.ties, node, own)
