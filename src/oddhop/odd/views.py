"""The fitted views: all views of a network, learned together, and what they say jointly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from oddhop.arrays.handles import Handle
from oddhop.arrays.run import on_threads
from oddhop.arrays.stores import ENTRIES
from oddhop.arrays.wiring import Wiring
from oddhop.base.arrays import Floats, Ints
from oddhop.base.parallel import Progress, silent, single_threaded
from oddhop.errors import GraphError
from oddhop.graph.graph import Graph
from oddhop.odd.all_views import BULKS, NODE_VIEWS, RAW_CLIQUE
from oddhop.odd.blocks import Blocks, judged_attributes, own_columns
from oddhop.odd.clique import CLIQUE, RESOLUTION, UsualScores, beyond_degree, usual_scores
from oddhop.odd.combine import KINDS, PLACE, Evidence, join
from oddhop.odd.communities import residuals
from oddhop.odd.cycle import Cycles, find_cycles
from oddhop.odd.eigenvectors import Eigenpairs, leading_eigenpairs
from oddhop.odd.event_views import FLOW
from oddhop.odd.facts.find import EventFacts, find_facts
from oddhop.odd.homophily import Ratios, learn_homophily, make_ratios
from oddhop.odd.kinds import Edges, OtherKind, joint_clique_scores, learn_others, nats_by, split_edges
from oddhop.odd.p_values import FLOOR, Bulk, learn_bulk
from oddhop.odd.rate import Rate, joint_strangeness, learn_rate
from oddhop.odd.relation import InformedPairs
from oddhop.odd.source import Source
from oddhop.odd.stranger import STRANGER, Homophily, strangeness
from oddhop.odd.triangles import Unexplained, largest_surprises, unexplained
from oddhop.odd.view import Nodes

Known = dict[str, Floats]
"""The figures of the views of the nodes, by name: what is learned from edges does not change them."""


@dataclass(frozen=True)
class FittedViews:
    """What was learned from a network: all that is needed to judge it, or another one.

    Attributes
    ----------
    blocks : how attributes become what the stranger's and the outlier's view see.
    homophily : what being joined says about attributes.
    bulks : the null distribution of each view, by name; "raw_clique" is for raw clique scores, whatever the degree.
    usual : what is usual among raw clique scores.
    place : what stranger, outlier and clique weigh beside events.
    others : what was learned of the edges to other kinds of nodes; empty where there is one kind.
    rate : how the mean f varies over edges among the judged nodes; None where there is one kind.
    """

    blocks: Blocks
    homophily: Homophily
    bulks: Mapping[str, Bulk]
    usual: UsualScores
    place: float = 1.0
    others: tuple[OtherKind, ...] = ()
    rate: Rate | None = None

    @property
    def information(self) -> float:
        """The information of an edge of a judged node about the attributes of its ends, in nats."""
        return (1 - sum(one.share for one in self.others)) * self.homophily.information + sum(
            one.share * one.relation.near.information for one in self.others
        )

    @property
    def unit(self) -> Floats:
        """What a difference in each attribute is measured by; infinite for one that repeats another."""
        return self.blocks.unit


@dataclass(frozen=True, eq=False)
class Figures:
    """The figures of nodes.

    Attributes
    ----------
    values : of the views with a bulk by name, and raw clique scores, (nodes,) each.
    by_chance : the bound of log p of cliques, as chance gives triangles.
    """

    values: Mapping[str, Floats]
    by_chance: Floats

    @classmethod
    def of(cls, stranger: Floats, clique: Floats, raw_clique: Floats, by_chance: Floats, known: Known) -> Figures:
        """Put together the figures of the edges and of the nodes."""
        every = {STRANGER.name: stranger, CLIQUE.name: clique, RAW_CLIQUE: raw_clique} | known
        return cls({name: every[name] for name in BULKS}, by_chance)

    def at(self, nodes: Ints) -> Figures:
        """Return those of some nodes."""
        return Figures({name: one[nodes] for name, one in self.values.items()}, self.by_chance[nodes])

    def log_p(self, fitted: FittedViews) -> dict[str, Floats]:
        """Return the logarithms of the p-values."""
        found = {name: fitted.bulks[name].log_p(one) for name, one in self.values.items()}
        return found | {name: np.maximum(found[name], self.by_chance) for name in (CLIQUE.name, RAW_CLIQUE)}


@dataclass(frozen=True, eq=False)
class ViewData:
    """A network as the views see it.

    Attributes
    ----------
    source, coordinates : the network, and the coordinates of every kind.
    pairs, residuals : its eigenvectors, and what communities leave of every entry.
    edges : those of the judged nodes, by the kind at their other end.
    nodes, known : what the views of the nodes look at, and their figures.
    facts, cycles : those of the events; None without.
    """

    source: Source
    coordinates: Mapping[str, Handle]
    pairs: Eigenpairs
    residuals: Handle
    edges: Edges
    nodes: Nodes
    known: Known
    facts: EventFacts | None
    cycles: Cycles | None

    def split(self, wiring: Wiring, left: Handle) -> Edges:
        """Divide the edges of another wiring of the same nodes by kind."""
        return split_edges(wiring, left, self.source.kinds, self.coordinates)

    @property
    def own_graph(self) -> Graph:
        """The judged nodes and the edges among them, in memory, without attributes."""
        own = self.edges.own.wiring
        return Graph(own.indptr.read(), own.indices.read(), np.empty((own.nodes, 0)))


@dataclass(frozen=True, eq=False)
class Measured:
    """What is made of a network to judge it.

    Attributes
    ----------
    ratios : f of the edges among the judged nodes.
    unexplained : what neither communities nor attributes explain of them.
    informed, nats : f of the edges to every other kind, and what these say of every judged node.
    figures : of the views.
    """

    ratios: Ratios
    unexplained: Unexplained
    informed: Sequence[InformedPairs]
    nats: Sequence[Floats]
    figures: Figures


def see(
    source: Source,
    blocks: Mapping[str, Blocks],
    *,
    left: Floats | None = None,
    facts: EventFacts | None = None,
    cycles: Cycles | None = None,
) -> ViewData:
    """Bring a network to the forms that the views need.

    ``left`` is what communities leave of every entry, where that is known; eigenvectors are not searched then. So are
    ``facts`` and ``cycles``.
    """
    coordinates = source.coordinates(blocks)
    log_p, facts = event_facts(source, coordinates[source.name], facts)
    nodes = Nodes(source, blocks[source.name], coordinates[source.name], log_p, cycles)
    known = {view.name: view.figure(nodes) for view in NODE_VIEWS}
    wiring = source.wiring
    if left is None:
        pairs = leading_eigenpairs(wiring)
        remains = residuals(wiring, pairs)
    else:
        pairs, remains = Eigenpairs(np.zeros(0), None), wiring.given(left, ENTRIES)
    edges = split_edges(wiring, remains, source.kinds, coordinates)
    return ViewData(source, coordinates, pairs, remains, edges, nodes, known, facts, cycles)


def event_facts(
    source: Source, coordinates: Handle, found: EventFacts | None = None
) -> tuple[Floats, EventFacts | None]:
    """Return what the facts of events say of the judged nodes, and the facts, if they were not kept by a run before."""
    table, now = source.judged, found
    if not table.flow_count or source.events is None:
        return np.zeros(table.nodes.nodes), None

    def find() -> dict[str, Floats]:
        nonlocal now
        columns = own_columns(table.attributes, table.flow_count)
        now = find_facts(source.events, source.rows, coordinates.any_rows(), columns, found)
        return {"log_p": np.zeros(table.nodes.nodes) if now is None else now.log_p}

    return source.wiring.stage("facts", find)["log_p"], now


def facts_of(graph: Graph, coordinates: Floats, found: EventFacts | None = None) -> EventFacts | None:
    """Return the facts of the judged nodes, those that were found before if they are of the same events."""
    own = judged_attributes(graph)
    events = graph.events if own.flow_count else None
    return find_facts(events, graph.judged, coordinates, own_columns(own.attributes, own.flow_count), found)


def fit_views(graph: Graph, *, workers: int = 1) -> tuple[FittedViews, Evidence, ViewData]:
    """Learn the views of a network in memory, and judge it."""
    with single_threaded():
        source = Source.of_graph(graph, on_threads(workers))
        blocks = {name: table.learn_blocks() for name, table in source.tables.items()}
        seen = see(source, blocks, cycles=find_cycles(graph.events, graph.node_count))
        return *learn_views(seen.edges, blocks, source.name, seen.known), seen


def judge(
    fitted: FittedViews, graph: Graph, *, workers: int = 1, progress: Progress = silent
) -> tuple[Evidence, ViewData]:
    """Judge a network in memory by fitted views; communities are the network's own."""
    measured, seen = measure(fitted, graph, workers=workers, progress=progress)
    return evidence_of(measured.figures, seen.known, fitted), seen


def measure(
    fitted: FittedViews,
    graph: Graph,
    *,
    left: Floats | None = None,
    facts: EventFacts | None = None,
    cycles: Cycles | None = None,
    workers: int = 1,
    progress: Progress = silent,
) -> tuple[Measured, ViewData]:
    """Return the figures of a network in memory by fitted views, and the network as these see it."""
    with single_threaded():
        source = Source.of_graph(graph, on_threads(workers, progress, by_pass=False))
        if fitted.place < 1.0 and not source.judged.flow_count:
            raise GraphError(
                "the model was fitted with events and their flow columns, got a network without them",
                "read the tables with read_network and the encoding of the model",
            )
        blocks = {source.name: fitted.blocks} | {one.kind: one.blocks for one in fitted.others}
        cycles = find_cycles(graph.events, graph.node_count, cycles)
        seen = see(source, blocks, left=left, facts=facts, cycles=cycles)
        return measure_edges(fitted, seen.edges, seen.known), seen


def measure_edges(fitted: FittedViews, edges: Edges, known: Known) -> Measured:
    """Return the figures of a network by what was learned from another one."""
    own = edges.own
    ratios = make_ratios(own.wiring, own.coordinates, fitted.homophily)
    informed, nats = nats_by(edges, fitted.others)
    bare, tied, by_chance = clique_scores(edges, ratios, fitted.usual.chance_for(own.wiring.nodes), fitted.others)
    strange = stranger_figures(edges, ratios.sums.all(), nats, fitted.homophily, fitted.rate)
    clique = beyond_degree(tied, edges.degrees, fitted.usual)
    return Measured(ratios, bare, informed, nats, Figures.of(strange, clique, tied, by_chance, known))


def learn_views(edges: Edges, blocks: Mapping[str, Blocks], judged: str, known: Known) -> tuple[FittedViews, Evidence]:
    """Learn the views of a network from coordinates and what communities leave, and judge it."""
    own = edges.own
    homophily, ratios = learn_homophily(own.wiring, own.coordinates)
    learned, nats = learn_others(edges, blocks)
    rate = learn_rate(own.wiring, ratios.f, homophily, once=True) if learned and not homophily.silent else None
    bare, tied, by_chance = clique_scores(edges, ratios)
    degrees = edges.degrees
    usual = usual_scores(tied, degrees, bare.chance)
    strange = stranger_figures(edges, ratios.sums.all(), nats, homophily, rate)
    figures = Figures.of(strange, beyond_degree(tied, degrees, usual), tied, by_chance, known)
    resolution = {} if edges.joined else dict.fromkeys((CLIQUE.name, RAW_CLIQUE), RESOLUTION)  # needs the bound
    bulks = {name: learn_bulk(one[degrees > 0], resolution.get(name, 0.0)) for name, one in figures.values.items()}
    place = PLACE if known[FLOW.name].any() else 1.0
    fitted = FittedViews(blocks[judged], homophily, bulks, usual, place, tuple(learned), rate)
    return fitted, evidence_of(figures, known, fitted)


def clique_scores(
    edges: Edges, ratios: Ratios, chance: float | None = None, others: Sequence[OtherKind] = ()
) -> tuple[Unexplained, Floats, Floats]:
    """Return the unexplained edges, the raw clique score of every judged node, and the bound of its log p by chance."""
    own = edges.own
    bare = unexplained(own.wiring, own.residuals, ratios.f, chance)
    largest, by_chance = largest_surprises(own.wiring, bare)
    tied = joint_clique_scores(edges, largest, others)
    # Common neighbours of another kind are not in the count of triangles.
    return bare, tied, np.full(tied.size, FLOOR) if edges.joined else by_chance.all()


def stranger_figures(
    edges: Edges, sums: Floats, nats: Sequence[Floats], homophily: Homophily, rate: Rate | None
) -> Floats:
    """Return the figure of the stranger's view from the sums of f over the edges within the kind.

    ``nats`` is what edges to other kinds say, and ``rate`` is for edges within the kind where there are others.
    """
    within = edges.own.wiring.degrees.all()
    if not nats:
        return strangeness(homophily, sums, within)
    own = [] if rate is None else [rate.nats(sums / np.maximum(within, 1), within)]
    return joint_strangeness(within.size, [*own, *nats])


def evidence_of(figures: Figures, known: Known, fitted: FittedViews) -> Evidence:
    """Join the figures of the views."""
    log_p = known | figures.log_p(fitted)
    log_q = fitted.bulks[RAW_CLIQUE].log_q(log_p[RAW_CLIQUE])
    return join(np.stack([log_p[name] for name in KINDS]), log_q, fitted.information, fitted.place)
