"""One node judged again after a change of its attributes or its edges.

What was learned is held still: kinship, the bulk of every view, the eigenvectors that stand for the communities, and
the median knots of nodes by their degree. All other figures of the node are computed again, in closed form. Nobody
else is judged again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.graph.graph import Graph
from oddhop.graph.rows import AttributeRows, spans
from oddhop.odd.blocks import flow_columns
from oddhop.odd.clique import Ties, beyond_degree, knots_with, ties_of
from oddhop.odd.combine import Evidence
from oddhop.odd.communities import RESIDUALS, folded, leading, write_residuals
from oddhop.odd.cycle import Cycles, find_cycles
from oddhop.odd.kinship import COORDINATES, RATIOS, write_ratios
from oddhop.odd.krylov import VECTORS
from oddhop.odd.outlier import outlyingness
from oddhop.odd.stranger import Ratio, odds_of_no_reason, share_as_far, standing, turned
from oddhop.odd.triangles import unexplained
from oddhop.odd.views import Panel, evidence_of
from oddhop.partitions.store import InMemory
from oddhop.partitions.task import on_threads

EDGES_COMPARED = 1_000_000
NUMBERS_AT_ONCE = 1 << 20  # changes x neighbours


@dataclass(frozen=True, eq=False)
class FixedNetwork:
    """A network as its panel sees it, held still.

    Attributes
    ----------
    graph, panel : the network, and what was learned.
    faces : turned coordinates of every node, see :func:`oddhop.odd.stranger.turned`.
    ratio : f of two faces.
    ties : what communities and looks leave of the edges.
    usual : f of the network's edges (an even draw of them where there are very many), sorted.
    cycles : those of the events, or None.
    """

    graph: Graph
    panel: Panel
    faces: Floats
    ratio: Ratio
    ties: Ties
    usual: Floats
    cycles: Cycles | None

    def neighbours(self, node: int) -> Ints:
        """Return the neighbours of a node."""
        return np.asarray(self.graph.indices[self.graph.indptr[node] : self.graph.indptr[node + 1]])

    def strangeness(self, node: int) -> Floats:
        """Return f of every edge of a node."""
        there = self.faces[self.neighbours(node)]
        return self.ratio(np.broadcast_to(self.faces[node], there.shape), there)

    def rarity(self, f: Floats) -> Floats:
        """Return the share of all edges whose ends look as far apart as f says."""
        return share_as_far(self.usual, f)

    def seen(self, x: AttributeRows) -> tuple[Floats, Floats, Floats]:
        """Return faces, outlyingness and the figure of the flow view of rows of attributes."""
        return _faces(self.panel, x), outlyingness(self.panel.blocks, x, 0, x.shape[0]), self._flow(x)

    def _flow(self, x: AttributeRows) -> Floats:
        nodes, flow_count = x.shape[0], self.graph.flow_count
        if self.panel.flows is None or not flow_count:
            return np.zeros(nodes)
        coordinates = self.panel.blocks.coordinates(x, 0, nodes)
        return self.panel.flows.figure(flow_columns(x, flow_count), coordinates, 0, nodes)

    def cycle_log_p(self, node: int) -> float:
        """Return what cycles say of a node."""
        return 0.0 if self.cycles is None else float(self.cycles.log_p[node])


@dataclass(frozen=True)
class Rescored:
    """What the views say of one node after each of some changes.

    Attributes
    ----------
    figures : (6, changes): of stranger, outlier, clique and flow, the knot as it is, and log p of its triangles by
        chance.
    evidence : what they say jointly.
    """

    figures: Floats
    evidence: Evidence


def fix_network(panel: Panel, graph: Graph, residuals: Floats | None = None, *, workers: int = 1) -> FixedNetwork:
    """Bring a network to the form in which single nodes are judged again.

    ``residuals`` is what communities leave of every edge, where it is known: to find it takes longest.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph
    >>> from oddhop.odd.rescore import fix_network, rescore_node
    >>> from oddhop.odd.views import learn_panel
    >>> rng = np.random.default_rng(0)
    >>> graph = Graph.from_arrays(rng.integers(0, 80, (2, 250)), rng.normal(size=(80, 3)))
    >>> panel, evidence, _ = learn_panel(graph)
    >>> held = fix_network(panel, graph)
    >>> as_it_is = rescore_node(held, 7, *held.seen(graph.attributes[[7]]), np.ones((1, graph.degrees[7]), dtype=bool))
    >>> bool(np.isclose(as_it_is.evidence.score[0], evidence.score[7]))
    True
    """
    store, runner = InMemory(graph.indptr, graph.indices), on_threads(workers)
    if residuals is None:
        write_residuals(store, runner, leading(store, runner))
    else:
        store.of_entries[RESIDUALS] = residuals
    store.of_nodes[COORDINATES] = panel.blocks.coordinates(graph.attributes, 0, graph.node_count)
    write_ratios(store, runner, panel.kinship)
    store.forget(COORDINATES, VECTORS)
    ties = ties_of(store, unexplained(store, runner, panel.usual.chance_for(graph.node_count)))
    f = folded(graph, store.of_entries[RATIOS])
    some = np.unique(np.linspace(0, max(f.size - 1, 0), min(f.size, EDGES_COMPARED)).astype(np.int64))
    cycles = find_cycles(graph.events, graph.node_count)
    faces = store.of_nodes["faces"]
    return FixedNetwork(graph, panel, faces, Ratio.of(panel.kinship), ties, np.sort(f[some]), cycles)


def _faces(panel: Panel, x: AttributeRows) -> Floats:
    """Return the turned coordinates of rows of attributes, some at a time: what lies between takes more room."""
    return np.concatenate([turned(panel.blocks.coordinates(x, *span), panel.kinship) for span in spans(0, x.shape[0])])


def rescore_node(held: FixedNetwork, node: int, faces: Floats, outlying: Floats, flow: Floats, kept: Bools) -> Rescored:
    """Judge a node with other attributes, (changes, ...), and some of its edges, ``kept`` of shape (changes, degree).

    Where one row is given for the one and several for the other it stands for all.
    """
    kinship = held.panel.kinship
    count, degree = max(len(faces), len(kept)), kept.shape[1]
    faces, kept = np.broadcast_to(faces, (count, faces.shape[1])), np.broadcast_to(kept, (count, degree))
    at_once = max(NUMBERS_AT_ONCE // degree, 1)
    parts = [_figures(held, node, faces[k : k + at_once], kept[k : k + at_once]) for k in range(0, count, at_once)]
    means, knot, by_chance = (np.concatenate(one) for one in zip(*parts, strict=True))
    degrees = kept.sum(axis=1)
    z = np.zeros(count) if kinship.silent else standing(kinship, means, degrees)
    clique = beyond_degree(knot, degrees, held.panel.usual)
    figures = (z, np.broadcast_to(outlying, count), clique, np.broadcast_to(flow, count), knot, by_chance)
    cycle_log_p = np.full(count, held.cycle_log_p(node))
    return Rescored(np.stack(figures), evidence_of(figures, cycle_log_p, held.panel))


def _figures(held: FixedNetwork, node: int, faces: Floats, kept: Bools) -> tuple[Floats, Floats, Floats]:
    """Return the mean f, the knot and what chance gives after each of some changes."""
    ratio, row = held.ratio, slice(held.graph.indptr[node], held.graph.indptr[node + 1])
    there = held.faces[held.graph.indices[row]]
    f = ratio.constant + ratio.own(faces)[:, None] + ratio.own(there) - (faces * ratio.across) @ there.T
    # Where the stranger is silent f is 0, and the chance that looks are no reason one half.
    own = held.ties.residuals[row] * odds_of_no_reason(f) * kept
    return (f * kept).sum(axis=1) / kept.sum(axis=1), *knots_with(held.graph, held.ties, node, own)
