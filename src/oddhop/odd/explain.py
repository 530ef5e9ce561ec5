"""Why Odd finds a node odd: which view speaks, the neighbours and columns behind it, what would change it.

Every figure is had by judging the node again after a change, in closed form: an edge taken away, or the value of a
column replaced by what is typical of the neighbours. Nothing is fitted to the scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations

import numpy as np
import pyarrow as pa

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.base.parallel import Progress, map_blocks, silent
from oddhop.explain.columns import Columns
from oddhop.explain.explanation import (
    SHOWN,
    TRAITS_TOLD,
    Explanation,
    Neighbour,
    Trait,
    View,
    Yardstick,
    alert_line,
)
from oddhop.graph.checks import checked_nodes
from oddhop.graph.graph import Graph
from oddhop.odd.changes import Bench, Node, Situation, Telling, counterfactual, said, telling_columns
from oddhop.odd.combine import KINDS
from oddhop.odd.phrases import NOTABLE, reasons
from oddhop.odd.rescore import Held, hold, judge_again
from oddhop.odd.ring import surprises
from oddhop.odd.views import Panel
from oddhop.tables.encode import Encoding

MANY = 512  # neighbours; of more an even draw tells what is typical, and no edge is taken away
COLUMNS_CHANGED = 12
RINGS = np.array([1.0, 0.5, 0.1, 0.01, 0.001])  # the shares of edges that look as far, at ...
RADII = np.array([0.6, 1.0, 2.0, 3.0, 4.0])  # ... these distances in the picture
MEMBER = 0.5  # of the largest surprise
HELD = "The communities of the network, and what is usual in it, were held as they are."
MANY_EDGES = (
    "Of its {degree:,} neighbours an even draw tells what is typical, and none was taken away to see what changes."
)
SILENT = "The wiring of this network says nothing about its columns, so no neighbour looks near or far."


def odd_yardstick(result: pa.Table, threshold: float, top: int) -> Yardstick:
    """Give what is usual in a result table; where nothing is flagged the first ``top`` nodes make the alert line.

    The neighbour that half of all edges look as far as is drawn at 1.
    """
    judged = result.filter(result["judged"])
    return Yardstick(alert_line(judged["score"].to_numpy(), threshold, top), 1.0, 0.0)


def explain_odd_nodes(
    panel: Panel,
    graph: Graph,
    nodes: Sequence[int] | Ints,
    measure: Yardstick,
    *,
    ids: pa.Array | None = None,
    encoding: Encoding | None = None,
    originals: pa.Table | None = None,
    apart: Floats | None = None,
    workers: int = 1,
    progress: Progress = silent,
) -> Iterator[Explanation]:
    """Explain some nodes of a network, one after the other.

    Parameters
    ----------
    panel : a fitted one: ``model_.panel`` of :class:`oddhop.Odd`.
    graph : the network, with the attributes that the panel was fitted on.
    nodes : by their number in the graph.
    measure : what is usual in the network, see :func:`odd_yardstick`.
    ids : what the nodes are called, in the order of their numbers; left out, as the graph calls them.
    encoding : how columns of a table became the attributes, to speak of these columns.
    originals : the columns as they were, one row a node, to quote texts from.
    apart : what communities leave of every edge, see ``hold`` in ``oddhop.odd.rescore``.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph, Odd
    >>> from oddhop.odd.explain import explain_odd_nodes, odd_yardstick
    >>> rng = np.random.default_rng(0)
    >>> community = np.arange(400) % 5
    >>> members = [np.flatnonzero(community == c) for c in range(5)]
    >>> edges = np.concatenate([rng.choice(group, (2, 400)) for group in members], axis=1)
    >>> looks_like = np.where(np.arange(400) == 7, 0, community)  # node 7 has the looks of another community
    >>> x = rng.normal(size=(5, 6))[looks_like] + 0.3 * rng.normal(size=(400, 6))
    >>> graph = Graph.from_arrays(edges, x)
    >>> fitted = Odd(top_k=1, random_state=0).fit(graph)
    >>> measure = odd_yardstick(fitted.result_, fitted.threshold_, 1)
    >>> [why] = explain_odd_nodes(fitted.model_.panel, graph, [7], measure)
    >>> why.kind, why.counterfactual.after < why.score
    ('stranger', True)
    """
    wanted = checked_nodes(nodes, graph.node_count)
    bench = Bench(hold(panel, graph, apart, workers=workers), Columns(graph, encoding, originals), measure, ids)
    for done, why in enumerate(map_blocks(partial(_explain, bench), wanted.tolist(), workers=workers), 1):
        progress("explain", done, wanted.size)
        yield why


def _explain(bench: Bench, number: int) -> Explanation:
    held, graph = bench.held, bench.held.graph
    degree = int(graph.degrees[number])
    if degree == 0:
        return Explanation(bench.name(number), 0.0, 0, 0.0, 0.0, bench.measure, None, (), 0, 0, (), None)
    neighbours = held.neighbours(number)
    f, surprise = held.strangeness(number), surprises(graph, held.ties, number)
    speechless = held.panel.kinship.silent
    rarity = np.full(degree, 0.5) if speechless else held.rarity(f)
    own = bench.columns.rows(np.array([number]))[0]
    now = Situation(own, np.ones(degree, dtype=bool))
    as_it_is = judge_again(held, number, *held.seen(graph.attributes[[number]]), now.kept[None])
    score, kind = float(as_it_is.evidence.score[0]), KINDS[int(as_it_is.evidence.kind[0])]
    p = np.exp(as_it_is.evidence.log_p[:, 0])
    views = tuple(View(*one) for one in zip(KINDS, p.tolist(), as_it_is.evidence.parts[:, 0].tolist(), strict=True))
    members = (surprise >= MEMBER * surprise.max()) & (surprise > 0) & (p[2] < NOTABLE)
    order = np.lexsort((-f, -surprise)) if kind == "ring" else np.argsort(-f, kind="stable")
    shown = order[:SHOWN]
    tried = shown if 1 < degree <= MANY else shown[:0]  # without its last edge a node is not judged at all
    company = neighbours if degree <= MANY else neighbours[np.linspace(0, degree - 1, MANY).astype(np.int64)]
    node = Node(bench, number, company, bench.columns.typical(company), tried)
    effects: Floats = np.zeros(0)
    if tried.size:
        effects = node.judged(own[None], node.without(now, tried)).evidence.score - score
    telling = telling_columns(node, now, as_it_is)
    ties = _ties(held, neighbours[shown], members[shown])
    far = 0 if speechless else int((rarity <= NOTABLE).sum())
    lost = dict(zip(tried.tolist(), effects.tolist(), strict=True))
    changed = counterfactual(node, now, telling.spans[:COLUMNS_CHANGED], as_it_is)
    notes = (
        [HELD] * (changed is not None) + [MANY_EDGES.format(degree=degree)] * (degree > MANY) + [SILENT] * speechless
    )
    listed = tuple(
        Neighbour(
            bench.name(neighbours[k]),
            drawn_at(float(rarity[k])),
            0.0,
            float(f[k]),
            lost.get(int(k)),
            None if speechless else float(rarity[k]),
            bool(members[k]),
        )
        for k in shown
    )
    return Explanation(
        id=bench.name(number),
        score=score,
        degree=degree,
        hops=float(np.mean([drawn_at(one) for one in rarity.tolist()])),
        spread=0.0,
        yardstick=bench.measure,
        kind=kind,
        neighbours=listed,
        far=far,
        looked_at=degree,
        traits=_traits(node, telling),
        counterfactual=changed,
        notes=tuple(notes),
        views=views,
        reasons=reasons(kind, views, listed, degree, far, int(members.sum()), len(ties)),
        ties=ties,
    )


def drawn_at(rarity: float) -> float:
    """Give how far out a neighbour is drawn: at 1, 2, 3, 4 where 1 in 2, 10, 100, 1,000 edges look as far.

    Examples
    --------
    >>> from oddhop.odd.explain import drawn_at
    >>> [round(drawn_at(share), 1) for share in (0.5, 0.05, 0.01, 1e-6)]
    [1.0, 2.3, 3.0, 4.0]
    """
    return float(np.interp(-np.log(rarity), -np.log(RINGS), RADII))


def _traits(node: Node, telling: Telling) -> tuple[Trait, ...]:
    """Say what sets the node apart: what it has before what it lacks as most do, and what the loudest view heeds."""
    columns = node.bench.columns
    lacked = columns.lacked(columns.rows(np.array([node.number]))[0])
    rare = lacked[[columns.span_of[one.start] for one in telling.spans]]
    return tuple(
        columns.trait(span, node.number, node.company, said(node, span), float(telling.worth[k]))
        for k in np.lexsort((telling.moves, rare))[:TRAITS_TOLD]
        for span in [telling.spans[k]]
    )


def _ties(held: Held, shown: Ints, members: Bools) -> tuple[tuple[int, int], ...]:
    """Give the pairs of listed members, by their places, that are tied to each other."""
    places = np.flatnonzero(members).tolist()
    rows = {k: set(held.neighbours(int(shown[k])).tolist()) for k in places}
    return tuple((a, b) for a, b in combinations(places, 2) if int(shown[b]) in rows[a])
