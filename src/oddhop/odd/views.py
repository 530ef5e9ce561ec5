"""The fitted views: all views of a network, learned together, and what they say jointly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from oddhop.base.arrays import Bools, Floats, Ints, frozen
from oddhop.errors import GraphError
from oddhop.graph.graph import Graph
from oddhop.odd.blocks import Blocks, judged_attributes, learn_blocks, own_columns
from oddhop.odd.clique import RESOLUTION, UsualScores, beyond_degree, raw_clique_scores, usual_scores
from oddhop.odd.combine import PLACE, Evidence, join
from oddhop.odd.communities import RESIDUALS, leading, leading_from, write_residuals
from oddhop.odd.cycle import Cycles, find_cycles
from oddhop.odd.facts.find import EventFacts, find_facts
from oddhop.odd.homophily import COORDINATES, RATIO_SUMS, learn_homophily, write_ratios
from oddhop.odd.kinds import (
    Edges,
    OtherKind,
    joint_clique_scores,
    learn_other_blocks,
    learn_others,
    nats_by,
    other_coordinates,
    split_edges,
)
from oddhop.odd.krylov import VECTORS, Eigenvalues
from oddhop.odd.outlier import outlyingness
from oddhop.odd.p_values import FLOOR, Bulk, learn_bulk
from oddhop.odd.rate import Rate, joint_strangeness, learn_rate
from oddhop.odd.row_blocks import degrees_of, gathered
from oddhop.odd.stranger import Homophily, strangeness
from oddhop.odd.thinning import KEYS, node_keys, thinned
from oddhop.odd.triangles import CHANCE_LOG_P, unexplained, write_largest
from oddhop.partitions.files import Store
from oddhop.partitions.store import InMemory
from oddhop.partitions.task import TaskRunner, on_threads

Figures = tuple[Floats, Floats, Floats, Floats, Floats]  # those of the bulks, and what chance gives
Bulks = tuple[Bulk, Bulk, Bulk, Bulk]


@dataclass(frozen=True)
class FittedViews:
    """What was learned from a network: all that is needed to judge it, or another one.

    Attributes
    ----------
    blocks : how attributes become what the stranger's and the outlier's view see.
    homophily : what being joined says about attributes.
    stranger, outlier, clique : what the bulk of each view foretells.
    raw_clique : the same for raw clique scores, whatever the degree.
    usual : what is usual among raw clique scores.
    place : what stranger, outlier and clique weigh beside events.
    others : what was learned of the edges to other kinds of nodes; empty where there is one kind.
    rate : how the mean f varies over edges among the judged nodes; None where there is one kind.
    """

    blocks: Blocks
    homophily: Homophily
    stranger: Bulk
    outlier: Bulk
    clique: Bulk
    raw_clique: Bulk
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
    def bulks(self) -> Bulks:
        """All four, in the order of the figures."""
        return self.stranger, self.outlier, self.clique, self.raw_clique

    @property
    def unit(self) -> Floats:
        """What a difference in each attribute is measured by; infinite for one that repeats another."""
        return self.blocks.unit


@dataclass(frozen=True, eq=False)
class Known:
    """Figures of the judged nodes that their edges do not change.

    Attributes
    ----------
    outlyingness : the figure of the outlier's view.
    flow_log_p, cycle_log_p : what facts and cycles of events say; 0 without events.
    """

    outlyingness: Floats
    flow_log_p: Floats
    cycle_log_p: Floats


@dataclass(frozen=True, eq=False)
class ViewData:
    """A network in memory as the views need it.

    Attributes
    ----------
    graph : the network.
    store : its wiring, with the eigenvectors and what communities leave of every entry.
    eigenvalues : those of the eigenvectors; none where what communities leave was known.
    coordinates, known : of the judged nodes; ``far`` has the coordinates of the nodes of other kinds.
    facts : what the events of the judged nodes say, None without events.
    cycles : those of the events, None where they have no time or direction.
    """

    graph: Graph
    store: InMemory
    eigenvalues: Eigenvalues
    coordinates: Floats
    known: Known
    facts: EventFacts | None
    cycles: Cycles | None
    far: Mapping[str, Floats] = field(default_factory=dict)

    @cached_property
    def edges(self) -> Edges:
        """The edges of the judged nodes, by the kind at their other end."""
        kinds, runner = self.graph.kinds, on_threads(1)
        if kinds is None:
            own, residuals = self.store, {RESIDUALS: self.store.of_entries[RESIDUALS]}
            return Edges(InMemory(own.indptr, own.indices, {COORDINATES: self.coordinates}, residuals))
        every = {kinds.names[kinds.judged]: self.coordinates, **self.far}
        none = np.zeros(0, dtype=np.int64)
        bare = {name: InMemory(np.zeros(len(x) + 1, np.int64), none, {COORDINATES: x}) for name, x in every.items()}
        return split_edges(self.store, kinds, bare, runner)

    @property
    def own(self) -> InMemory:
        """The edges among the judged nodes."""
        assert isinstance(self.edges.own, InMemory)  # noqa: S101 - it was made of one
        return self.edges.own

    @cached_property
    def own_graph(self) -> Graph:
        """The same as a network without attributes."""
        own = self.own
        return Graph(frozen(own.indptr), frozen(own.indices), np.empty((own.nodes, 0)))

    @property
    def degrees(self) -> Ints:
        """The degrees of the judged nodes."""
        return self.graph.degrees[self.graph.judged]

    def split(self, store: Store) -> Edges:
        """Divide the edges of another wiring of the same nodes, which has residuals, by kind."""
        assert isinstance(store, InMemory)  # noqa: S101 - it was made of one
        return replace(self, store=store).edges


def view_data(
    graph: Graph,
    blocks: Blocks,
    others: Mapping[str, Blocks] | None = None,
    *,
    residuals: Floats | None = None,
    facts: EventFacts | None = None,
    cycles: Cycles | None = None,
    workers: int = 1,
) -> ViewData:
    """Bring a network to the forms that the views need.

    ``residuals`` is what communities leave of every entry, where that is known; eigenvectors are not searched then. So
    are ``facts`` and ``cycles``.
    """
    store, runner = InMemory(graph.indptr, graph.indices), on_threads(workers)
    if residuals is None:
        found = leading(store, runner)
        write_residuals(store, runner, found)
    else:
        found = Eigenvalues(np.zeros(0), np.zeros(0))
        store.of_entries[RESIDUALS] = residuals
    own = judged_attributes(graph)
    x, nodes = own.attributes, own.node_count
    coordinates = blocks.coordinates(x, 0, nodes)
    facts = facts_of(graph, coordinates, facts)
    cycles = find_cycles(graph.events, graph.node_count, cycles)
    flow_log_p = np.zeros(nodes) if facts is None else facts.log_p
    cycle_log_p = np.zeros(nodes) if cycles is None else cycles.log_p[graph.judged]
    known = Known(outlyingness(blocks, x, 0, nodes), flow_log_p, cycle_log_p)
    return ViewData(graph, store, found, coordinates, known, facts, cycles, other_coordinates(graph, others or {}))


def facts_of(graph: Graph, coordinates: Floats, found: EventFacts | None = None) -> EventFacts | None:
    """Return the facts of the judged nodes, those that were found before if they are of the same events."""
    own = judged_attributes(graph)
    events = graph.events if own.flow_count else None
    return find_facts(events, graph.judged, coordinates, own_columns(own.attributes, own.flow_count), found)


def fit_views(graph: Graph, *, workers: int = 1) -> tuple[FittedViews, Evidence, ViewData]:
    """Learn the views of a network, and judge it."""
    own = judged_attributes(graph)
    blocks = learn_blocks(own.attributes, own.flow_count)
    others = learn_other_blocks(graph)
    data = view_data(graph, blocks, others, workers=workers)
    fitted, evidence = learn_views(data.edges, on_threads(workers), blocks, data.known, others)
    return fitted, evidence, data


def judge(fitted: FittedViews, graph: Graph, *, workers: int = 1) -> tuple[Evidence, ViewData]:
    """Judge a network by fitted views; communities are the network's own."""
    figures, data = figures_of(fitted, graph, workers=workers)
    return evidence_of(figures, data.known, fitted), data


def figures_of(
    fitted: FittedViews,
    graph: Graph,
    *,
    residuals: Floats | None = None,
    facts: EventFacts | None = None,
    cycles: Cycles | None = None,
    workers: int = 1,
) -> tuple[Figures, ViewData]:
    """Return the figures of the views of a network by fitted views, and the network as they see it."""
    others = {one.kind: one.blocks for one in fitted.others}
    blocks = fitted.blocks
    if fitted.place < 1.0 and not judged_attributes(graph).flow_count:
        raise GraphError(
            "the model was fitted with events and their flow columns, got a network without them",
            "read the tables with read_network and the encoding of the model",
        )
    data = view_data(graph, blocks, others, residuals=residuals, facts=facts, cycles=cycles, workers=workers)
    own, runner = data.own, on_threads(workers)
    write_ratios(own, runner, fitted.homophily)
    nats = nats_by(data.edges, fitted.others, runner)
    chance = fitted.usual.chance_for(own.nodes)
    tied = tie_scores(data.edges, runner, chance, fitted.others)[0]
    return view_figures(data.edges, data.known, fitted.homophily, tied, nats, fitted.rate, fitted.usual), data


def thinned_score(fitted: FittedViews, data: ViewData, seed: int, turn: int, *, workers: int = 1) -> Floats:
    """Return the scores when a fifth of the edges, drawn at random, had not been seen."""
    runner, vectors = on_threads(workers), data.eigenvalues.values.size
    data.store.of_nodes[KEYS] = node_keys(data.graph)
    learning = fitted.blocks, data.known, {one.kind: one.blocks for one in fitted.others}
    score = score_thinned(data.store, runner, seed, turn, vectors, (), data.split, *learning)
    return learn_views(data.edges, runner, *learning)[1].score if score is None else score


def score_thinned(
    store: Store,
    runner: TaskRunner,
    seed: int,
    turn: int,
    vectors: int,
    shared: tuple[str, ...],
    split: Callable[[Store], Edges],
    blocks: Blocks,
    known: Known,
    others: Mapping[str, Blocks],
) -> Floats | None:
    """Return the same of a network in a store with so many eigenvectors; None where no edge is left."""
    fewer = thinned(store, runner, seed, turn, (*shared, *((VECTORS,) if vectors else ())))
    if not any(fewer.rows(number).indices.size for number in fewer.ranges):
        return None
    # The eigenvectors are approximated from those of the whole.
    write_residuals(fewer, runner, leading_from(fewer, runner, "known", vectors))
    return learn_views(split(fewer), runner, blocks, known, others)[1].score


def learn_views(
    edges: Edges, runner: TaskRunner, blocks: Blocks, known: Known, others: Mapping[str, Blocks]
) -> tuple[FittedViews, Evidence]:
    """Learn the views of a network from coordinates and what communities leave, and judge it.

    ``others`` says how the attributes of other kinds become coordinates; it is empty where there is one kind.
    """
    homophily = learn_homophily(edges.own, runner)
    learned, nats = learn_others(edges, others, runner)
    rate = learn_rate(edges.own, runner, homophily, once=True) if learned and not homophily.silent else None
    tied, chance = tie_scores(edges, runner, None, learned)
    degrees = edges.degrees
    usual = usual_scores(tied, degrees, chance)
    figures = view_figures(edges, known, homophily, tied, nats, rate, usual)
    bulks = _bulks(figures, degrees > 0, 0.0 if edges.joined else RESOLUTION)  # which needs the bound by chance
    place = PLACE if known.flow_log_p.any() else 1.0
    fitted = FittedViews(blocks, homophily, *bulks, usual, place, tuple(learned), rate)
    return fitted, evidence_of(figures, known, fitted)


def _bulks(figures: Figures, judged: Bools, resolution: float) -> Bulks:
    stranger, outlier, clique, raw = (view[judged] for view in figures[:-1])
    return learn_bulk(stranger), learn_bulk(outlier), learn_bulk(clique, resolution), learn_bulk(raw, resolution)


def tie_scores(
    edges: Edges, runner: TaskRunner, chance: float | None, others: Sequence[OtherKind]
) -> tuple[Floats, float]:
    """Return the raw clique score of every judged node, and the chance that it was found with."""
    if not edges.joined:
        return raw_clique_scores(edges.own, runner, chance)
    chance = unexplained(edges.own, runner, chance)
    write_largest(edges.own, runner, chance)
    return joint_clique_scores(edges, runner, others), chance


def view_figures(
    edges: Edges,
    known: Known,
    homophily: Homophily,
    tied: Floats,
    nats: Sequence[Floats] = (),
    rate: Rate | None = None,
    usual: UsualScores | None = None,
) -> Figures:
    """Return the figures of the views from f of every entry within the kind, and the raw clique scores.

    ``nats`` is what edges to other kinds say, and ``rate`` is for edges within the kind where there are others.
    """
    sums, within = gathered(edges.own, RATIO_SUMS), degrees_of(edges.own)
    if nats:
        told = [] if rate is None else [rate.nats(sums / np.maximum(within, 1), within)]
        strange = joint_strangeness(within.size, [*told, *nats])
    else:
        strange = strangeness(homophily, sums, within)
    # Common neighbours of another kind are not in the count of triangles.
    by_chance = np.full(within.size, FLOOR) if edges.joined else gathered(edges.own, CHANCE_LOG_P)
    return strange, known.outlyingness, beyond_degree(tied, edges.degrees, usual), tied, by_chance


def evidence_of(figures: Figures, known: Known, fitted: FittedViews) -> Evidence:
    """Join the figures of the views, (nodes,) each, with what events say."""
    *views, raw = log_p_of(figures, fitted)
    log_p = np.stack([*views, known.flow_log_p, known.cycle_log_p])
    return join(log_p, fitted.raw_clique.log_q(raw), fitted.information, fitted.place)


def log_p_of(figures: Figures | Floats, fitted: FittedViews) -> list[Floats]:
    """Return the logarithms of the p-values of the views and of the raw clique scores."""
    stranger, outlier, clique, raw = (b.log_p(view) for b, view in zip(fitted.bulks, figures[:-1], strict=True))
    by_chance = figures[-1]
    return [stranger, outlier, np.maximum(clique, by_chance), np.maximum(raw, by_chance)]
