"""Explanations where there are several kinds of nodes: whom a judged node is joined to, and with whom it shares that.

The attributes of a node change f of its edges to other kinds and its outlyingness. They change nothing that
its neighbours borrow in these edges, for it is left out there. So a node with another value in a column is judged again
in closed form. What its edges within the kind say, and what communities explain, is held as it is, and no edge is taken
away.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.base.parallel import Progress, silent
from oddhop.explain.columns import Columns
from oddhop.explain.explanation import (
    COLUMNS_TOLD,
    NOTABLE,
    SHOWN,
    Baseline,
    ColumnDifference,
    Explanation,
    Neighbour,
    View,
)
from oddhop.explain.flows import PASSING, NodeFlows, node_flows, values_of
from oddhop.graph.graph import Graph
from oddhop.odd.butterfly import Common, common_neighbours, partners
from oddhop.odd.clique import Ties, surprises, ties_of
from oddhop.odd.combine import KINDS, Evidence
from oddhop.odd.communities import folded
from oddhop.odd.cycle import Cycles
from oddhop.odd.explain import MEMBER, drawn_at, events_first, neighbour_of, one_by_one
from oddhop.odd.facts.find import EventFacts
from oddhop.odd.facts.sentences import fact_sentences
from oddhop.odd.homophily import RATIO_SUMS, RATIOS
from oddhop.odd.kinds import OtherKind, chance_of
from oddhop.odd.outlier import outlyingness
from oddhop.odd.pairs import Pairs
from oddhop.odd.phrases import Shared, reasons_between_kinds
from oddhop.odd.rate import joint_strangeness
from oddhop.odd.relation import mean_ratios_with, told_by
from oddhop.odd.stranger import Ratio, canonical_variates, share_as_far
from oddhop.odd.views import Figures, FittedViews, Known, ViewData, evidence_of, figures_of
from oddhop.partitions.task import on_threads
from oddhop.tables.network import Network

PARTNERS = 12
COMPANY = 1_000
OTHERS = "nodes with a common neighbour"
HELD = "In a network with several kinds of nodes, the effect of removing an edge is not computed."


@dataclass(frozen=True, eq=False)
class Context:
    """What is the same for all nodes that are explained.

    Attributes
    ----------
    fitted, network : what was learned, and the network.
    data, figures, evidence : the network as the views see it, and what they say.
    told, usual : f of the edges to every other kind, and sorted.
    within : what the edges within the kind say of every judged node, in nats; ``variates`` are canonical variates, and
        ``usual_within`` is f of these edges, sorted.
    ties : what communities and looks leave of the edges within the kind.
    common : the same edges, as common neighbours are counted over them.
    columns : of the judged kind.
    baseline : what is usual.
    """

    fitted: FittedViews
    network: Network
    data: ViewData
    figures: Figures
    evidence: Evidence
    told: tuple[Pairs, ...]
    usual: tuple[Floats, ...]
    within: Floats
    variates: Floats
    usual_within: Floats
    ties: Ties
    common: tuple[Common, ...]
    columns: Columns
    baseline: Baseline

    @property
    def others(self) -> tuple[OtherKind, ...]:
        """What was learned of every other kind, in the order of the edges."""
        known = {one.kind: one for one in self.fitted.others}
        return tuple(known[pairs.kind] for pairs in self.data.edges.joined)


def explain_kinds(
    fitted: FittedViews,
    network: Network,
    nodes: Ints,
    baseline: Baseline,
    *,
    residuals: Floats | None = None,
    facts: EventFacts | None = None,
    cycles: Cycles | None = None,
    workers: int = 1,
    progress: Progress = silent,
) -> Iterator[Explanation]:
    """Explain some judged nodes of a network with several kinds, given by their numbers, one after the other."""
    figures, data = figures_of(fitted, network.graph, residuals=residuals, facts=facts, cycles=cycles, workers=workers)
    known = {one.kind: one.relation for one in fitted.others}
    runner = on_threads(workers)
    told = tuple(told_by(pairs, known[pairs.kind], runner) for pairs in data.edges.joined)
    own, f = data.own_graph, data.own.of_entries[RATIOS]
    means = data.own.of_nodes[RATIO_SUMS] / np.maximum(own.degrees, 1)
    context = Context(
        fitted,
        network,
        data,
        figures,
        evidence_of(figures, data.known, fitted),
        told,
        tuple(np.sort(pairs.array(RATIOS)) for pairs in told),
        np.zeros(own.node_count) if fitted.rate is None else fitted.rate.nats(means, own.degrees),
        canonical_variates(data.coordinates, fitted.homophily),
        np.sort(folded(own, f)),
        ties_of(data.own, fitted.usual.chance_for(own.node_count)),
        tuple(common_neighbours(pairs, runner, chance_of(pairs, fitted.others)) for pairs in data.edges.joined),
        Columns(network.of_judged()),
        baseline,
    )
    yield from one_by_one(partial(_explain, context), nodes, progress)


def _explain(context: Context, number: int) -> Explanation:
    network, graph = context.network, context.network.graph
    place, degree = number - graph.judged.start, int(graph.degrees[number])
    if degree == 0:
        return Explanation.of_lone_node(network.name(number), context.baseline)
    evidence = context.evidence
    score, kind = float(evidence.score[place]), KINDS[int(evidence.kind[place])]
    p = np.exp(evidence.log_p[:, place])
    views = tuple(View(*one) for one in zip(KINDS, p.tolist(), evidence.parts[:, place].tolist(), strict=True))
    around = _around(context, number)
    shared = _shared(context, number, around.nodes) if p[2] < NOTABLE else None
    inside = np.isin(around.nodes, [] if shared is None else [*shared.nodes, *shared.tied])
    order = np.lexsort((-around.f, ~inside)) if kind == "clique" else np.argsort(-around.f, kind="stable")
    shown = order[:SHOWN]
    nodes, f, rarity, group = (one.tolist() for one in (around.nodes, around.f, around.rarity, inside))
    listed = tuple(neighbour_of(network, number, nodes[k], f[k], rarity[k], member=group[k]) for k in shown.tolist())
    members = () if shared is None else tuple(_partner(context, number, one) for one in shared.members[:PARTNERS])
    counts = _far_by_kind(context, around)
    return Explanation(
        id=network.name(number),
        score=score,
        degree=degree,
        hops=float(drawn_at(around.rarity).mean()),
        spread=0.0,
        baseline=context.baseline,
        kind=kind,
        neighbours=listed,
        far=sum(far for _, far, _ in counts),
        looked_at=0,  # no edge is taken away
        columns=_differences(context, place),
        counterfactual=None,
        caveats=(HELD,),
        views=views,
        reasons=reasons_between_kinds(kind, views, listed, counts, _named(context, shared)),
        ties=() if shared is None else _ties(graph, around.nodes[shown], shared.members[:PARTNERS], inside[shown]),
        flows=_flows(context, number, unusual=bool(p[3] < NOTABLE), first=events_first(kind, views)),
        profile=network.profile(number),
        partners=members,
        node_kind=network.kind_of(number) or "",
    )


@dataclass(frozen=True, eq=False)
class _Around:
    """The neighbours of a node: their numbers and kinds, f of every edge, and the share of such edges as far."""

    nodes: Ints
    kinds: Ints
    f: Floats
    rarity: Floats


def _flows(context: Context, number: int, *, unusual: bool, first: bool) -> NodeFlows | None:
    events = context.network.graph.events
    if events is None:
        return None
    place = number - context.network.graph.judged.start
    rare = first and context.columns.is_among_highest(PASSING, place)
    facts = fact_sentences(context.data.facts if unusual else None, number)
    values = values_of(events, number)
    return node_flows(events, number, values, facts=facts, first=first, passing_is_rare=rare)


def _around(context: Context, number: int) -> _Around:
    """Look at the neighbours of a node; f is 0 and the rarity unknown where an edge says nothing."""
    graph, kinds = context.network.graph, context.network.graph.kinds
    assert kinds is not None  # noqa: S101 - there are several
    nodes = np.asarray(graph.indices[graph.indptr[number] : graph.indptr[number + 1]], dtype=np.int64)
    place = number - graph.judged.start
    f, rarity, of = np.zeros(nodes.size), np.full(nodes.size, np.nan), kinds.of(nodes)
    for other, told, usual in zip(context.others, context.told, context.usual, strict=True):
        if other.relation.silent:
            continue
        rows, first = told.in_memory(), kinds.nodes(kinds.names.index(other.kind)).start
        row = slice(rows.indptr[place], rows.indptr[place + 1])
        where = np.searchsorted(nodes, rows.indices[row].astype(np.int64) + first)
        f[where] = told.array(RATIOS)[row]
        rarity[where] = share_as_far(usual, f[where])
    mine = of == kinds.judged
    if mine.any() and not context.fitted.homophily.silent:
        there = context.variates[nodes[mine] - graph.judged.start]
        ratio = Ratio.of(context.fitted.homophily.correlation)
        f[mine] = ratio(np.broadcast_to(context.variates[place], there.shape), there)
        rarity[mine] = share_as_far(context.usual_within, f[mine])
    return _Around(nodes, of, f, rarity)


@dataclass(frozen=True, eq=False)
class _Group:
    """Judged nodes that share neighbours with one, the closest first; what they share; and whom it is tied to."""

    members: Ints
    nodes: Ints
    tied: Ints


def _shared(context: Context, number: int, around: Ints) -> _Group | None:
    graph = context.network.graph
    start, surprise = graph.judged.start, np.zeros(graph.judged.stop - graph.judged.start)
    for common in context.common:
        who, found = partners(common, number - start)
        surprise[who] = np.maximum(surprise[who], found)
    own = context.data.own_graph
    direct = surprises(own, context.ties, number - start)
    most = max(surprise.max(initial=0.0), direct.max(initial=0.0))
    if most <= 0:
        return None
    row = own.indices[own.indptr[number - start] : own.indptr[number - start + 1]]
    tied = np.asarray(row[np.argsort(-direct, kind="stable")][: int((direct >= MEMBER * most).sum())] + start)
    members = np.flatnonzero(surprise >= MEMBER * most)
    members = members[np.argsort(-surprise[members], kind="stable")] + start
    counts = np.zeros(around.size, dtype=np.int64)
    for one in members[:PARTNERS]:
        counts += np.isin(around, graph.indices[graph.indptr[one] : graph.indptr[one + 1]])
    often = (counts > 0) & (2 * counts >= min(members.size, PARTNERS))
    return _Group(members, around[np.flatnonzero(often)[np.argsort(-counts[often], kind="stable")]], tied)


def _named(context: Context, group: _Group | None) -> Shared | None:
    if group is None:
        return None
    name = context.network.name
    nodes, members, tied = (
        [str(name(one)) for one in some.tolist()] for some in (group.nodes, group.members, group.tied)
    )
    return Shared(nodes, members, tied)


def _partner(context: Context, number: int, node: int) -> Neighbour:
    network = context.network
    kind = network.kind_of(number) or ""
    return Neighbour(
        network.name(int(node)), 4.5, 0.0, 0.0, member=True, profile=network.profile(int(node)), node_kind=kind
    )


def _far_by_kind(context: Context, around: _Around) -> tuple[tuple[str, int, int], ...]:
    """Count the edges to every kind: its name, how many look far, and how many there are."""
    kinds = context.network.graph.kinds
    assert kinds is not None  # noqa: S101 - there are several
    return tuple(
        (kinds.names[k], int((around.rarity[around.kinds == k] <= NOTABLE).sum()), int((around.kinds == k).sum()))
        for k in np.unique(around.kinds).tolist()
    )


def _ties(graph: Graph, shown: Ints, members: Ints, inside: Bools) -> tuple[tuple[int, int], ...]:
    """Return the pairs of a listed neighbour and a partner, by their places, that are joined."""
    found = []
    for k, one in enumerate(members.tolist()):
        row = graph.indices[graph.indptr[one] : graph.indptr[one + 1]]
        found += [(int(place), shown.size + k) for place in np.flatnonzero(np.isin(shown, row) & inside)]
    return tuple(found)


def _differences(context: Context, place: int) -> tuple[ColumnDifference, ...]:
    """Judge the node again with one column after the other as it is among its company, and tell those that help."""
    columns = context.columns
    company = _company(context, place)
    if not company.size or not columns.spans:
        return ()
    row, typical = columns.rows(np.array([place]))[0], columns.typical(company)
    spans = [one for one in columns.spans if (typical[one.start : one.stop] != row[one.start : one.stop]).any()]
    if not spans:
        return ()
    rows = np.tile(row, (len(spans), 1))
    for k, span in enumerate(spans):
        rows[k, span.start : span.stop] = typical[span.start : span.stop]
    effects = _scores_with(context, place, rows) - float(context.evidence.score[place])
    order = [int(k) for k in np.argsort(effects, kind="stable")[:COLUMNS_TOLD] if effects[k] < 0]
    instead = {k: columns.say(spans[k], typical[spans[k].start : spans[k].stop]) for k in order}
    told = (columns.difference(spans[k], place, company, instead[k], float(effects[k])) for k in order)
    return tuple(replace(one, others=OTHERS) for one in told)


def _company(context: Context, place: int) -> Ints:
    """Return judged nodes that share a neighbour with one, an even draw of very many, hubs left out."""
    found: list[Ints] = []
    for common in context.common:
        near, far = common.pairs.in_memory(), common.pairs.near.peer_rows(0)
        row = near.indices[near.indptr[place] : near.indptr[place + 1]]
        found += [far.indices[far.indptr[b] : far.indptr[b + 1]] for b in row[~common.hubs[row]].tolist()]
    every: Ints = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *found]))
    every = every[every != place]
    if every.size > COMPANY:
        every = every[np.linspace(0, every.size - 1, COMPANY).astype(np.int64)]
    return every


def _scores_with(context: Context, place: int, rows: Floats) -> Floats:
    """Return the scores of a node with other attributes, a row each."""
    fitted, data, count = context.fitted, context.data, len(rows)
    coordinates = fitted.blocks.coordinates(rows, 0, count)
    nats = [] if fitted.rate is None else [np.full(count, context.within[place])]
    for other, told in zip(context.others, context.told, strict=True):
        if other.rate is not None:
            nats.append(other.rate.nats(*mean_ratios_with(told, other.relation, place, coordinates)))
    clique, raw, by_chance = (np.full(count, context.figures[k][place]) for k in (2, 3, 4))
    strange, outlying = joint_strangeness(count, nats), outlyingness(fitted.blocks, rows, 0, count)
    events = (np.full(count, one[place]) for one in (data.known.flow_log_p, data.known.cycle_log_p))
    return evidence_of((strange, outlying, clique, raw, by_chance), Known(outlying, *events), fitted).score
