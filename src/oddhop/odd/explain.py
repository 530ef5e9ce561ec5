"""Why Odd gives a node a high score: the views, the neighbours and columns behind them, and what would change it.

Every figure comes from scoring the node again after a change, in closed form: an edge taken away, or the value of a
column replaced by what is typical of the neighbours. Nothing is fitted to the scores. What communities explain, and
what is typical of the network, is held as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from oddhop.base.arrays import Floats, Ints
from oddhop.base.parallel import Progress, silent, single_threaded
from oddhop.explain.columns import Columns
from oddhop.explain.explanation import (
    COLUMNS_SHOWN,
    NOTABLE,
    SHOWN,
    Baseline,
    ColumnDifference,
    Explanation,
    Neighbour,
    View,
)
from oddhop.odd.clique import surprises
from oddhop.odd.combine import KINDS
from oddhop.odd.cycle import Cycles, cycle_from
from oddhop.odd.explain_kinds import several_kinds
from oddhop.odd.facts.find import EventFacts
from oddhop.odd.rescore import FixedNetwork, fix_network
from oddhop.odd.seen import MEMBER, Seen, is_notable, kind_of
from oddhop.odd.views import FittedViews
from oddhop.odd.what_if import ChangedColumns, Node, change_columns, counterfactual, typical_value
from oddhop.tables.network import Network

MANY = 512  # neighbours; of more an even draw tells what is typical, and no edge is taken away
COLUMNS_CHANGED = 12


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
    """Explain some judged nodes of a network, given by their numbers, one after the other.

    ``residuals`` is what communities leave of every edge, and ``facts`` and ``cycles`` those of the events, where they
    are known: to find them takes longest. Not on threads: most of it is Python, and they would wait.
    """
    see: Callable[[int], Seen]
    if network.graph.kinds is None:
        held = fix_network(fitted, network.graph, residuals, facts, cycles, workers=workers)
        see = OneKind(held, Columns(network), baseline).see
    else:
        see = several_kinds(fitted, network, residuals, facts, cycles, workers=workers).see
    for done, number in enumerate(nodes.tolist(), 1):
        with single_threaded():  # at other thread counts a product has other bits
            why = _explanation(network, number, baseline, see)
        progress("explain", done, nodes.size)
        yield why


def _explanation(network: Network, number: int, baseline: Baseline, see: Callable[[int], Seen]) -> Explanation:
    degree = int(network.graph.degrees[number])
    if degree == 0:
        return Explanation(network.name(number), 0.0, 0, baseline)
    seen = see(number)
    evidence, shown = seen.evidence, seen.order[:SHOWN]
    neighbours = tuple(_neighbour(network, seen, k) for k in shown.tolist())
    own = network.kind_of(number) or ""
    members = [one.id for one in neighbours if one.member and one.node_kind == own]
    others = map(network.name, (*seen.partners, *seen.cycle))
    return Explanation(
        id=network.name(number),
        score=float(evidence.score[0]),
        degree=degree,
        baseline=baseline,
        kind=kind_of(evidence),
        views=tuple(
            View(*one)
            for one in zip(KINDS, np.exp(evidence.log_p[:, 0]).tolist(), evidence.parts[:, 0].tolist(), strict=True)
        ),
        neighbours=neighbours,
        far=int((seen.rarity <= NOTABLE).sum()),
        looked_at=seen.looked_at,
        columns=seen.columns,
        counterfactual=seen.counterfactual,
        group=tuple(dict.fromkeys((*members, *others))),
        cycle=tuple(map(network.name, seen.cycle)),
    )


def _neighbour(network: Network, seen: Seen, place: int) -> Neighbour:
    node, rarity = int(seen.nodes[place]), float(seen.rarity[place])
    return Neighbour(
        id=network.name(node),
        score=float(seen.f[place]),
        rarity=None if np.isnan(rarity) else rarity,
        member=bool(seen.members[place]),
        node_kind=network.kind_of(node) or "",
    )


@dataclass(frozen=True, eq=False)
class OneKind:
    """A network whose nodes are of one kind, with its columns and what is usual."""

    held: FixedNetwork
    columns: Columns
    baseline: Baseline

    def see(self, number: int) -> Seen:
        """Look at one node that has neighbours."""
        held, columns = self.held, self.columns
        nodes, f, row = held.neighbours(number), held.strangeness(number), columns.rows(np.array([number]))[0]
        company = nodes if nodes.size <= MANY else nodes[np.linspace(0, nodes.size - 1, MANY).astype(np.int64)]
        kept = np.ones(nodes.size, dtype=bool)
        as_it_is = Node(held, columns, number, row, nodes[:0]).judged(held.graph.attributes[[number]], kept[None])
        kind = kind_of(as_it_is.evidence)
        surprise = surprises(held.graph, held.ties, number)
        order = np.lexsort((-f, -surprise)) if kind == "clique" else np.argsort(-f, kind="stable")
        # Without its last edge a node is not judged at all.
        edges = order[:SHOWN] if 1 < nodes.size <= MANY else order[:0]
        node = Node(held, columns, number, columns.typical(company), edges)
        changed, instead = change_columns(node, row, kept, as_it_is), None
        if kind != "cycle":  # without an edge of a cycle its events are no cycle: that effect is not computed
            spans = changed.spans[:COLUMNS_CHANGED]
            instead = counterfactual(node, row, kept, spans, as_it_is, self.baseline)
        in_a_group = is_notable(as_it_is.evidence, "clique")
        return Seen(
            evidence=as_it_is.evidence,
            nodes=nodes,
            f=f,
            rarity=np.full(nodes.size, np.nan) if held.fitted.homophily.silent else held.rarity(f),
            members=(surprise >= MEMBER * surprise.max()) & (surprise > 0) & in_a_group,
            order=order,
            looked_at=company.size,
            columns=_differences(node, row, company, changed),
            counterfactual=instead,
            cycle=_first_cycle(held.cycles, number),
        )


def _differences(node: Node, row: Floats, company: Ints, changed: ChangedColumns) -> tuple[ColumnDifference, ...]:
    """Return the columns with the largest effect: values that the node has first, then values that it lacks."""
    columns = node.columns
    lacked = columns.lacked(row)
    rare = lacked[[columns.span_of[one.start] for one in changed.spans]]
    return tuple(
        columns.difference(span, node.number, company, typical_value(node, span), float(changed.worth[k]))
        for k in np.lexsort((changed.moves, rare))[:COLUMNS_SHOWN]
        for span in [changed.spans[k]]
    )


def _first_cycle(cycles: Cycles | None, number: int) -> tuple[int, ...]:
    """Return the nodes of the first cycle of events that a node is on."""
    if cycles is None or not cycles.counts[number]:
        return ()
    steps = cycle_from(cycles.sent, int(cycles.first[number]))
    return tuple((np.searchsorted(cycles.sent.indptr, steps, side="right") - 1).tolist())
