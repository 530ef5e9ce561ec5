"""Why Odd gives a node a high score: the views, the neighbours and columns behind them, and what would change it.

Every figure comes from scoring the node again after a change, in closed form: an edge taken away, or the value of a
column replaced by what is typical of the neighbours. Nothing is fitted to the scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.base.parallel import Progress, silent, single_threaded
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
from oddhop.explain.flows import PASSING, NodeFlows, dates_of, node_flows, with_neighbour
from oddhop.explain.phrases import said_number
from oddhop.odd.changes import Context, Node, Situation, TellingColumns, counterfactual, telling_columns, typical_value
from oddhop.odd.clique import surprises
from oddhop.odd.combine import KINDS
from oddhop.odd.cycle import Cycles, cycle_from
from oddhop.odd.facts.find import EventFacts
from oddhop.odd.facts.sentences import fact_sentences
from oddhop.odd.phrases import reasons
from oddhop.odd.rescore import FixedNetwork, fix_network, rescore_node
from oddhop.odd.views import FittedViews
from oddhop.tables.network import Network

MANY = 512  # neighbours; of more an even draw tells what is typical, and no edge is taken away
COLUMNS_CHANGED = 12
RINGS = np.array([1.0, 0.5, 0.1, 0.01, 0.001])  # the shares of edges that look as far, at ...
RADII = np.array([0.6, 1.0, 2.0, 3.0, 4.0])  # ... these distances in the picture
MEMBER = 0.5  # of the largest surprise
HELD = "The computed effects assume that the communities and the typical values of the network stay the same."
CYCLES_HELD = (
    "The effect of removing an edge does not include the cycles of events through this node. Without an edge of a "
    "cycle, the score can fall further."
)
MANY_EDGES = (
    "The typical values come from {many:,} of the {degree:,} neighbours of this node. For a node with more than "
    "{many:,} neighbours, the effect of removing an edge is not computed."
)
SILENT = "Edges and columns are not related in this network, so no neighbour counts as similar or different."


def explain_nodes(
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
    """Explain some nodes of a network, given by their numbers, one after the other.

    ``residuals``, ``facts`` and ``cycles`` are what is known of the network, see ``oddhop.odd.rescore.fix_network``.
    """
    held = fix_network(fitted, network.graph, residuals, facts, cycles, workers=workers)
    context = Context(held, network, Columns(network), baseline)
    yield from one_by_one(partial(_explain, context), nodes, progress)


def one_by_one(explain: Callable[[int], Explanation], nodes: Ints, progress: Progress) -> Iterator[Explanation]:
    """Explain nodes, given by their numbers. Not on threads: most of it is Python, and they would wait."""
    for done, number in enumerate(nodes.tolist(), 1):
        with single_threaded():  # at other thread counts a product has other bits
            why = explain(number)
        progress("explain", done, nodes.size)
        yield why


@dataclass(frozen=True, eq=False)
class _Surroundings:
    """The neighbours of a node, and how they look from it.

    Attributes
    ----------
    f : the log likelihood ratio of every edge: how much less the neighbour looks like one than chance would.
    rarity : the share of all edges of the network whose ends look as far apart; NaN where edges say nothing.
    surprise : how unexplained every edge is by communities, looks and chance.
    members : whether a neighbour belongs to the group of the node.
    order : the neighbours by how much they matter.
    """

    nodes: Ints
    f: Floats
    rarity: Floats
    surprise: Floats
    members: Bools
    order: Ints

    def first(self, count: int, wanted: Sequence[int]) -> Ints:
        """Return the places of so many neighbours that matter most, those that are wanted among them."""
        last = np.isin(self.nodes[self.order], wanted, invert=True)
        kept = np.argsort(last, kind="stable")[:count]
        return self.order[np.sort(kept)]


def _explain(context: Context, number: int) -> Explanation:
    held, graph, network = context.held, context.held.graph, context.network
    degree = int(graph.degrees[number])
    if degree == 0:
        return Explanation.of_lone_node(network.name(number), context.baseline)
    silent_view = held.fitted.homophily.silent
    now = Situation(context.columns.rows(np.array([number]))[0], np.ones(degree, dtype=bool))
    own = held.of_attributes(graph.attributes[[number]])
    as_it_is = rescore_node(held, number, *own, now.kept[None])
    score, kind = float(as_it_is.evidence.score[0]), KINDS[int(as_it_is.evidence.kind[0])]
    p = np.exp(as_it_is.evidence.log_p[:, 0])
    views = tuple(View(*one) for one in zip(KINDS, p.tolist(), as_it_is.evidence.parts[:, 0].tolist(), strict=True))
    around = _surroundings(held, number, kind, in_a_group=bool(p[2] < NOTABLE))
    flows, cycle = _flows(context, number, unusual=bool(p[3] < NOTABLE), first=events_first(kind, views))
    shown = around.first(SHOWN, cycle)
    tried = shown if 1 < degree <= MANY else shown[:0]  # without its last edge a node is not judged at all
    company = around.nodes if degree <= MANY else around.nodes[np.linspace(0, degree - 1, MANY).astype(np.int64)]
    node = Node(context, number, company, context.columns.typical(company), tried)
    effects: Floats = np.zeros(0)
    if tried.size:
        effects = rescore_node(held, number, *own, node.without(now, tried)).evidence.score - score
    telling = telling_columns(node, now, as_it_is)
    # Without an edge of a cycle its events are no cycle: what that does to the score is not computed.
    changed = None if kind == "cycle" else counterfactual(node, now, telling.spans[:COLUMNS_CHANGED], as_it_is)
    cycles_held = (CYCLES_HELD,) * bool(tried.size and p[-1] < NOTABLE)
    far = int((around.rarity <= NOTABLE).sum())
    lost = dict(zip(tried.tolist(), effects.tolist(), strict=True))
    nodes, f, rarity, members = (one.tolist() for one in (around.nodes, around.f, around.rarity, around.members))
    listed = tuple(
        neighbour_of(network, number, nodes[k], f[k], rarity[k], member=members[k], effect=lost.get(k))
        for k in shown.tolist()
    )
    ties = _ties(held, around.nodes[shown], around.members[shown])
    return Explanation(
        id=network.name(number),
        score=score,
        degree=degree,
        hops=float(drawn_at(around.rarity).mean()),
        spread=0.0,
        baseline=context.baseline,
        kind=kind,
        neighbours=listed,
        far=far,
        looked_at=degree,
        columns=_column_differences(node, telling),
        counterfactual=changed,
        notes=(MANY_EDGES.format(many=MANY, degree=degree),) * (degree > MANY),
        caveats=(HELD,) * (changed is not None) + cycles_held + (SILENT,) * silent_view,
        views=views,
        reasons=reasons(kind, views, listed, degree, far, int(around.members.sum()), len(ties)),
        ties=ties,
        flows=flows,
        profile=network.profile(number),
        cycle=tuple(map(network.name, cycle)),
    )


def events_first(kind: str, views: Sequence[View]) -> bool:
    """Return whether an explanation begins with what the node did: where its events are unusual."""
    return kind not in ("cycle", "clique") and any(one.name == "flow" and one.p < NOTABLE for one in views)


def _flows(context: Context, number: int, *, unusual: bool, first: bool) -> tuple[NodeFlows | None, list[int]]:
    """Say what the events of a node tell, and return the nodes of the first cycle that it is on."""
    events, cycles = context.held.graph.events, context.held.cycles
    if events is None:
        return None, []
    values, rare = context.columns.flows(number), first and context.columns.is_among_highest(PASSING, number)
    facts = fact_sentences(context.held.facts if unusual else None, number)
    flows = node_flows(events, number, values, facts=facts, first=first, passing_is_rare=rare)
    if cycles is None or not cycles.counts[number]:
        return flows, []
    sent = cycles.sent
    steps = cycle_from(sent, int(cycles.first[number]))
    sources = np.searchsorted(sent.indptr, steps, side="right") - 1
    on_it = sources.tolist()
    names = " → ".join(str(context.network.name(node)) for node in (*on_it, on_it[0]))
    amounts = ", ".join(said_number(float(amount)) for amount in sent.amounts[steps])
    of = f" ({events.columns.amounts[0]} {amounts})" if events.columns.amounts else ""
    count, usual = int(cycles.counts[number]), said_number(float(f"{cycles.expected[number]:.2g}"))
    earliest = f"{names}{of}{dates_of(sent.times[steps])}"
    start = "event starts" if count == 1 else "events start"
    many = (
        f"{count:,} {start} a cycle through this node. With shuffled event times, {usual} events would on average "
        "start a cycle through this node"
    )
    return replace(flows, sentences=(*flows.sentences, f"{many}. The earliest cycle is {earliest}.")), on_it


def _surroundings(held: FixedNetwork, number: int, kind: str, *, in_a_group: bool) -> _Surroundings:
    nodes, f = held.neighbours(number), held.strangeness(number)
    surprise = surprises(held.graph, held.ties, number)
    rarity = np.full(nodes.size, np.nan) if held.fitted.homophily.silent else held.rarity(f)
    members = (surprise >= MEMBER * surprise.max()) & (surprise > 0) & in_a_group
    order = np.lexsort((-f, -surprise)) if kind == "clique" else np.argsort(-f, kind="stable")
    return _Surroundings(nodes, f, rarity, surprise, members, order)


def neighbour_of(
    network: Network, number: int, node: int, f: float, rarity: float, *, member: bool, effect: float | None = None
) -> Neighbour:
    """Describe a neighbour of a node by f and the rarity of the edge, which is NaN where it is not known."""
    events = network.graph.events
    return Neighbour(
        id=network.name(node),
        hops=float(drawn_at(rarity)),
        spread=0.0,
        score=f,
        effect=effect,
        rarity=None if np.isnan(rarity) else rarity,
        member=member,
        flow="" if events is None else with_neighbour(events, number, node),
        profile=network.profile(node),
        node_kind=network.kind_of(node) or "",
    )


def drawn_at(rarity: Floats | float) -> Floats:
    """Return how far out neighbours are drawn: at 1, 2, 3, 4 where 1 in 2, 10, 100, 1,000 edges look as far.

    An unknown share, NaN, counts as 1 in 2.
    """
    return np.asarray(np.interp(-np.log(np.nan_to_num(rarity, nan=0.5)), -np.log(RINGS), RADII))


def _column_differences(node: Node, telling: TellingColumns) -> tuple[ColumnDifference, ...]:
    """Return the columns with the largest effect: values that the node has first, then values that it lacks."""
    columns = node.context.columns
    lacked = columns.lacked(columns.rows(np.array([node.number]))[0])
    rare = lacked[[columns.span_of[one.start] for one in telling.spans]]
    return tuple(
        columns.difference(span, node.number, node.company, typical_value(node, span), float(telling.worth[k]))
        for k in np.lexsort((telling.moves, rare))[:COLUMNS_TOLD]
        for span in [telling.spans[k]]
    )


def _ties(held: FixedNetwork, shown: Ints, members: Bools) -> tuple[tuple[int, int], ...]:
    """Return the pairs of listed members, by their places, that are tied to each other."""
    places = np.flatnonzero(members).tolist()
    rows = {k: set(held.neighbours(int(shown[k])).tolist()) for k in places}
    return tuple((a, b) for a, b in combinations(places, 2) if int(shown[b]) in rows[a])
