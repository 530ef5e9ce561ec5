"""The panel: all views of a network, learned together, and what they say jointly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.base.randomness import LEFT_OUT_EDGES, drawn_edges, word
from oddhop.errors import GraphError
from oddhop.graph.graph import Graph
from oddhop.odd.blocks import Blocks, flow_attributes, judged_attributes, learn_blocks
from oddhop.odd.clique import Ties, UsualKnots, beyond_degree, knots_of, unexplained, usual_knots
from oddhop.odd.combine import Evidence, join
from oddhop.odd.communities import edge_residuals, leading, leading_from
from oddhop.odd.cycle import Cycles, find_cycles
from oddhop.odd.flow import FlowModel, learn_flows
from oddhop.odd.kinds import (
    Edges,
    OtherKind,
    joint_knots,
    learn_other_blocks,
    learn_others,
    nats_by,
    other_coordinates,
    split_edges,
)
from oddhop.odd.krylov import Spectrum
from oddhop.odd.outlier import outlyingness
from oddhop.odd.p_values import Bulk, learn_bulk
from oddhop.odd.rate import Rate, joint_strangeness, learn_rate
from oddhop.odd.stranger import (
    Kinship,
    edge_ratios,
    learn_kinship,
    mean_ratios,
    odds_of_no_reason,
    strangeness,
    turned,
)

LEFT_OUT = 0.2
EDGES_AT_ONCE = 1 << 20
Figures = tuple[Floats, Floats, Floats, Floats, Floats]
Bulks = tuple[Bulk, Bulk, Bulk, Bulk, Bulk]


@dataclass(frozen=True)
class Panel:
    """What was learned from a network: all that is needed to judge it, or another one.

    Attributes
    ----------
    blocks : how attributes become what the stranger's and the outlier's view see.
    kinship : what being joined says about attributes.
    stranger, outlier, clique, flow : what the bulk of each view foretells.
    knot : the same for knots as they are, whatever the degree.
    usual : what is usual among knots.
    flows : how flows follow attributes; None without events.
    others : what was learned of the edges to other kinds of nodes; empty where there is one kind.
    rate : how the mean f varies over edges among the judged nodes; None where there is one kind.
    """

    blocks: Blocks
    kinship: Kinship
    stranger: Bulk
    outlier: Bulk
    clique: Bulk
    flow: Bulk
    knot: Bulk
    usual: UsualKnots
    flows: FlowModel | None = None
    others: tuple[OtherKind, ...] = ()
    rate: Rate | None = None

    @property
    def information(self) -> float:
        """The nats that an edge of a judged node tells about the attributes of its ends."""
        return (1 - sum(one.share for one in self.others)) * self.kinship.information + sum(
            one.share * one.relation.near.information for one in self.others
        )

    @property
    def bulks(self) -> Bulks:
        """All five, in the order of the figures."""
        return self.stranger, self.outlier, self.clique, self.flow, self.knot

    @property
    def unit(self) -> Floats:
        """What a difference in each attribute is measured by; infinite for one that repeats another."""
        unit = self.blocks.unit
        if self.flows is not None:
            unit[unit.size - self.flows.spread.size :] = self.flows.spread
        return unit


@dataclass(frozen=True)
class Seen:
    """A network as the views need it: the wiring, and both forms of the attributes of the judged nodes.

    ``far`` has the coordinates of the nodes of other kinds. ``flow`` is the figure of that view, 0 without events.
    ``cycles`` are those of the events, None where they have no time or direction, and ``cycle_log_p`` what they say.
    ``residuals`` is what communities leave of the edges, and ``spectrum`` has the eigenvectors that it was made of.
    """

    graph: Graph
    coordinates: Floats
    outlyingness: Floats
    flow: Floats
    cycles: Cycles | None
    cycle_log_p: Floats
    spectrum: Spectrum
    residuals: Floats
    far: Mapping[str, Floats] = field(default_factory=dict)

    @cached_property
    def edges(self) -> Edges:
        """The edges of the judged nodes, by the kind at their other end."""
        return split_edges(self.graph, self.residuals, self.coordinates, self.far)

    @property
    def degrees(self) -> Ints:
        """The degrees of the judged nodes."""
        return self.graph.degrees[self.graph.judged]

    def rewired(self, graph: Graph, *, steps: int = 1, workers: int = 1) -> Seen:
        """Give it with other edges, whose eigenvectors are approximated from its own."""
        spectrum = self.spectrum
        for _ in range(steps):
            spectrum = leading_from(graph, spectrum, workers=workers)
        residuals = edge_residuals(graph, spectrum, workers=workers)
        return replace(self, graph=graph, spectrum=spectrum, residuals=residuals)


def see(
    graph: Graph,
    blocks: Blocks,
    flows: FlowModel | None = None,
    others: Mapping[str, Blocks] | None = None,
    *,
    residuals: Floats | None = None,
    workers: int = 1,
) -> tuple[FlowModel | None, Seen]:
    """Bring a network to the forms that the views need; learn how flows follow attributes where it is not given.

    ``residuals`` is what communities leave of the edges, where that is known; eigenvectors are not searched then.
    """
    known = residuals is not None
    spectrum = Spectrum.empty(graph.node_count) if known else leading(graph, workers=workers)
    residuals = edge_residuals(graph, spectrum, workers=workers) if residuals is None else residuals
    own = judged_attributes(graph)
    coordinates = blocks.coordinates(own)
    flow: Floats = np.zeros(own.node_count)
    if own.flow_count:
        made = flow_attributes(own)
        flows = learn_flows(made, coordinates) if flows is None else flows
        flow = flows.figure(made, coordinates)
    cycles = find_cycles(graph.events, graph.node_count)
    cycle_log_p = np.zeros(own.node_count) if cycles is None else cycles.log_p[graph.judged]
    outlying = outlyingness(blocks.prepared(own))
    far = other_coordinates(graph, others or {})
    return flows, Seen(graph, coordinates, outlying, flow, cycles, cycle_log_p, spectrum, residuals, far)


def learn_panel(graph: Graph, *, workers: int = 1) -> tuple[Panel, Evidence, Seen]:
    """Learn the views of a network, and judge it.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph
    >>> from oddhop.odd.views import learn_panel
    >>> rng = np.random.default_rng(0)
    >>> graph = Graph.from_arrays(rng.integers(0, 50, (2, 150)), rng.normal(size=(50, 3)))
    >>> panel, evidence, _ = learn_panel(graph)
    >>> evidence.score.shape
    (50,)
    """
    blocks = learn_blocks(judged_attributes(graph))
    others = learn_other_blocks(graph)
    flows, seen = see(graph, blocks, others=others, workers=workers)
    panel, evidence = _learn(seen, blocks, others, workers)
    return replace(panel, flows=flows), evidence, seen


def judge(panel: Panel, graph: Graph, *, workers: int = 1) -> tuple[Evidence, Seen]:
    """Judge a network by what a panel learned; communities are the network's own."""
    figures, seen = figures_of(panel, graph, workers=workers)
    return evidence_of(figures, seen.cycle_log_p, panel), seen


def figures_of(
    panel: Panel, graph: Graph, *, residuals: Floats | None = None, workers: int = 1
) -> tuple[Figures, Seen]:
    """Return the figures of the views of a network by what a panel learned, and the network as they see it."""
    expected = 0 if panel.flows is None else panel.flows.centre.size
    found = judged_attributes(graph).flow_count
    if found != expected:
        raise GraphError(
            f"the model was fitted with {expected} flow columns, got {found}",
            "read the tables by read_network with the encoding of the model",
        )
    others = {one.kind: one.blocks for one in panel.others}
    _, seen = see(graph, panel.blocks, panel.flows, others, residuals=residuals, workers=workers)
    f = edge_ratios(seen.edges.own, turned(seen.coordinates, panel.kinship), panel.kinship, workers=workers)
    nats = nats_by(seen.edges, panel.others, workers)
    ties = _ties(seen, f, panel.usual.chance_for(seen.edges.own.node_count))
    tied = _tied(seen, ties, panel.others, workers)
    return view_figures(seen, panel.kinship, f, tied, nats, panel.rate, panel.usual), seen


def thinned_score(panel: Panel, seen: Seen, seed: int, turn: int, *, workers: int = 1) -> Floats:
    """Give the scores when a fifth of the edges, drawn at random, had not been seen."""
    graph = seen.graph
    keep = ~left_out_edges(graph, seed, turn)
    if not keep.any():
        keep[0] = True
    others = {one.kind: one.blocks for one in panel.others}
    fewer = seen.rewired(graph.with_edges(keep), workers=workers)
    return _learn(fewer, panel.blocks, others, workers)[1].score


def left_out_edges(graph: Graph, seed: int, turn: int) -> Bools:
    """Draw a fifth of the edges by the keys of their ends: one that is still there tomorrow is treated alike."""
    keys = np.arange(graph.node_count, dtype=np.uint64) if graph.keys is None else graph.keys
    out, key = np.empty(graph.edge_count, dtype=bool), word(seed, LEFT_OUT_EDGES, turn)
    for start in range(0, graph.edge_count, EDGES_AT_ONCE):
        left, right = graph.ends(start, start + EDGES_AT_ONCE)
        drawn_edges(keys[left], keys[right], key, LEFT_OUT, out[start : start + EDGES_AT_ONCE])
    return out


def _learn(seen: Seen, blocks: Blocks, others: Mapping[str, Blocks], workers: int) -> tuple[Panel, Evidence]:
    kinship, f = learn_kinship(seen.edges.own, seen.coordinates, workers=workers)
    learned, nats = learn_others(seen.edges, others, workers)
    rate = learn_rate(f, kinship) if learned and not kinship.silent else None
    ties = _ties(seen, f)
    tied = _tied(seen, ties, learned, workers)
    usual = usual_knots(tied, seen.degrees, ties.chance)
    figures = view_figures(seen, kinship, f, tied, nats, rate, usual)
    judged = seen.degrees > 0
    stranger, outlier, clique, flow, knot = (learn_bulk(view[judged]) for view in figures)
    panel = Panel(blocks, kinship, stranger, outlier, clique, flow, knot, usual, None, tuple(learned), rate)
    return panel, evidence_of(figures, seen.cycle_log_p, panel)


def _ties(seen: Seen, f: Floats, chance: float | None = None) -> Ties:
    edges = seen.edges
    return unexplained(edges.own, residuals=edges.residuals, no_reason=odds_of_no_reason(f), chance=chance)


def _tied(seen: Seen, ties: Ties, others: Sequence[OtherKind], workers: int) -> Floats:
    """Give the knot of every judged node."""
    if not others:
        return knots_of(seen.edges.own, ties)
    return joint_knots(seen.edges, ties, others, workers=workers)


def simulated_figures(seen: Seen, panel: Panel, f: Floats, nats: Sequence[Floats] = (), *, workers: int = 1) -> Figures:
    """Return the figures of a simulated network, whose knots are compared with each other."""
    ties = _ties(seen, f)
    tied = joint_knots(seen.edges, ties, workers=workers) if panel.others else knots_of(seen.edges.own, ties)
    return view_figures(seen, panel.kinship, f, tied, nats)


def view_figures(
    seen: Seen,
    kinship: Kinship,
    f: Floats,
    tied: Floats,
    nats: Sequence[Floats] = (),
    rate: Rate | None = None,
    usual: UsualKnots | None = None,
) -> Figures:
    """Return the figures of the views from f of every edge within the kind, and the knots as they are.

    ``nats`` is what edges to other kinds say, and ``rate`` is for edges within the kind where there are others.
    """
    own = seen.edges.own
    if nats:
        within = [] if rate is None else [rate.nats(mean_ratios(own, f), own.degrees)]
        strange = joint_strangeness(own.node_count, [*within, *nats])
    else:
        strange = strangeness(own, f, kinship)
    return strange, seen.outlyingness, beyond_degree(tied, seen.degrees, usual), seen.flow, tied


def evidence_of(figures: Figures, cycle_log_p: Floats, panel: Panel) -> Evidence:
    """Join the figures of the views, (nodes,) each, and the knots as they are into what they say jointly."""
    *views, knot = (bulk.log_p(view) for bulk, view in zip(panel.bulks, figures, strict=True))
    return join(np.stack([*views, cycle_log_p]), panel.knot.log_q(knot), panel.information)
