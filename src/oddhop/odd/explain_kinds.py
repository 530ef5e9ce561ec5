"""One node among several kinds of nodes: whom it is joined to, with whom it shares that, and which columns matter.

The attributes of a node change f of its edges to other kinds and its outlyingness. They change nothing that
its neighbours borrow in these edges, for it is left out there. So a node with another value in a column is judged again
in closed form. What its edges within the kind say, and what communities explain, is held as it is, and no edge is taken
away.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from oddhop.base.arrays import Floats, Ints
from oddhop.explain.columns import Columns
from oddhop.explain.explanation import COLUMNS_SHOWN, ColumnDifference
from oddhop.graph.graph import Graph
from oddhop.odd.butterfly import Common, common_neighbours, partners
from oddhop.odd.clique import Ties, surprises, ties_of
from oddhop.odd.combine import Evidence
from oddhop.odd.communities import folded
from oddhop.odd.cycle import Cycles
from oddhop.odd.facts.find import EventFacts
from oddhop.odd.kinds import OtherKind
from oddhop.odd.outlier import OUTLIER, outlyingness
from oddhop.odd.rate import joint_strangeness
from oddhop.odd.relation import mean_ratios_with
from oddhop.odd.seen import MEMBER, Seen, is_notable, kind_of
from oddhop.odd.stranger import STRANGER, Ratio, share_as_far
from oddhop.odd.views import Figures, FittedViews, Measured, ViewData, evidence_of, measure
from oddhop.odd.what_if import with_typical
from oddhop.tables.network import Network

PARTNERS = 12
COMPANY = 1_000
OTHERS = "nodes with a common neighbour"


@dataclass(frozen=True, eq=False)
class SeveralKinds:
    """A network with several kinds of nodes.

    Attributes
    ----------
    fitted, network : what was learned, and the network.
    data, own, measured, evidence : the network as the views see it, the edges within the kind, and what views say.
    usual : f of the edges to every other kind, sorted.
    within : what the edges within the kind say of every judged node, in nats; ``variates`` are canonical variates, and
        ``usual_within`` is f of these edges, sorted.
    ties : what communities and looks leave of the edges within the kind.
    common : the same edges, as common neighbours are counted over them.
    columns : of the judged kind.
    """

    fitted: FittedViews
    network: Network
    data: ViewData
    own: Graph
    measured: Measured
    evidence: Evidence
    usual: tuple[Floats, ...]
    within: Floats
    variates: Floats
    usual_within: Floats
    ties: Ties
    common: tuple[Common, ...]
    columns: Columns

    @property
    def others(self) -> tuple[OtherKind, ...]:
        """What was learned of every other kind, in the order of the edges."""
        known = {one.kind: one for one in self.fitted.others}
        return tuple(known[pairs.kind] for pairs in self.data.edges.joined)

    def see(self, number: int) -> Seen:
        """Look at one judged node that has neighbours."""
        place = number - self.network.graph.judged.start
        evidence = Evidence(self.evidence.log_p[:, [place]], self.evidence.parts[:, [place]])
        nodes, f, rarity = self._edges(number)
        group = self._group(number, nodes) if is_notable(evidence, "clique") else _Group()
        inside = np.isin(nodes, group.shared)
        order = np.lexsort((-f, ~inside)) if kind_of(evidence) == "clique" else np.argsort(-f, kind="stable")
        return Seen(
            evidence=evidence,
            nodes=nodes,
            f=f,
            rarity=rarity,
            members=inside,
            order=order,
            looked_at=nodes.size,
            columns=self._differences(place, float(evidence.score[0])),
            partners=group.members,
        )

    def _edges(self, number: int) -> tuple[Ints, Floats, Floats]:
        """Return the neighbours of a node, and f and the rarity of every edge; 0 and unknown where it says nothing."""
        graph, kinds = self.network.graph, self.network.graph.kinds
        assert kinds is not None  # noqa: S101 - there are several
        nodes = np.asarray(graph.indices[graph.indptr[number] : graph.indptr[number + 1]], dtype=np.int64)
        place = number - graph.judged.start
        f, rarity = np.zeros(nodes.size), np.full(nodes.size, np.nan)
        for other, ratios, usual in zip(self.others, self.measured.informed, self.usual, strict=True):
            if other.relation.silent:
                continue
            wiring, first = ratios.ends.near.wiring, kinds.nodes(kinds.names.index(other.kind)).start
            row = slice(*wiring.indptr.read()[place : place + 2])
            where = np.searchsorted(nodes, wiring.indices.read()[row].astype(np.int64) + first)
            f[where] = ratios.f.read()[row]
            rarity[where] = share_as_far(usual, f[where])
        mine = kinds.of(nodes) == kinds.judged
        if mine.any() and not self.fitted.homophily.silent:
            there = self.variates[nodes[mine] - graph.judged.start]
            ratio = Ratio.of(self.fitted.homophily.correlation)
            f[mine] = ratio(np.broadcast_to(self.variates[place], there.shape), there)
            rarity[mine] = share_as_far(self.usual_within, f[mine])
        return nodes, f, rarity

    def _group(self, number: int, around: Ints) -> _Group:
        """Return who shares neighbours with a node beyond chance, the closest first, and what they share."""
        graph = self.network.graph
        start, surprise = graph.judged.start, np.zeros(graph.judged.stop - graph.judged.start)
        for common in self.common:
            who, found = partners(common, number - start)
            surprise[who] = np.maximum(surprise[who], found)
        own = self.own
        direct = surprises(own, self.ties, number - start)
        most = max(surprise.max(initial=0.0), direct.max(initial=0.0))
        if most <= 0:
            return _Group()
        row = own.indices[own.indptr[number - start] : own.indptr[number - start + 1]]
        tied = row[direct >= MEMBER * most] + start
        members = np.flatnonzero(surprise >= MEMBER * most)
        members = members[np.argsort(-surprise[members], kind="stable")] + start
        counts = np.zeros(around.size, dtype=np.int64)
        for one in members[:PARTNERS]:
            counts += np.isin(around, graph.indices[graph.indptr[one] : graph.indptr[one + 1]])
        often = around[(counts > 0) & (2 * counts >= min(members.size, PARTNERS))]
        return _Group(tuple(members[:PARTNERS].tolist()), (*often.tolist(), *tied.tolist()))

    def _differences(self, place: int, score: float) -> tuple[ColumnDifference, ...]:
        """Judge the node again with one column after the other as it is among its company, and tell those that help."""
        columns, company = self.columns, self._company(place)
        if not company.size or not columns.spans:
            return ()
        row, typical = columns.rows(np.array([place]))[0], columns.typical(company)
        spans = [one for one in columns.spans if (typical[one.start : one.stop] != row[one.start : one.stop]).any()]
        if not spans:
            return ()
        effects = self._scores_with(place, np.stack([with_typical(row, typical, [span]) for span in spans])) - score
        order = [int(k) for k in np.argsort(effects, kind="stable")[:COLUMNS_SHOWN] if effects[k] < 0]
        instead = {k: columns.say(spans[k], typical[spans[k].start : spans[k].stop]) for k in order}
        found = (columns.difference(spans[k], place, company, instead[k], float(effects[k])) for k in order)
        return tuple(replace(one, others=OTHERS) for one in found)

    def _company(self, place: int) -> Ints:
        """Return judged nodes that share a neighbour with one, an even draw of very many, hubs left out."""
        found: list[Ints] = []
        for common in self.common:
            (indptr, near), (starts, far) = (
                (side.wiring.indptr.read(), side.wiring.indices.read()) for side in common.pairs.sides
            )
            row = near[indptr[place] : indptr[place + 1]]
            found += [far[starts[b] : starts[b + 1]] for b in row[~common.hubs[row]].tolist()]
        every: Ints = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *found]))
        every = every[every != place]
        if every.size > COMPANY:
            every = every[np.linspace(0, every.size - 1, COMPANY).astype(np.int64)]
        return every

    def _scores_with(self, place: int, rows: Floats) -> Floats:
        """Return the scores of a node with other attributes, a row each."""
        fitted, count = self.fitted, len(rows)
        coordinates = fitted.blocks.coordinates(rows, 0, count)
        nats = [] if fitted.rate is None else [np.full(count, self.within[place])]
        for other, ratios in zip(self.others, self.measured.informed, strict=True):
            if other.rate is not None:
                nats.append(other.rate.nats(*mean_ratios_with(ratios, other.relation, place, coordinates)))
        as_it_is = self.measured.figures.at(np.full(count, place))
        changed = {name: np.full(count, figure[place]) for name, figure in self.data.known.items()}
        changed[OUTLIER.name] = outlyingness(fitted.blocks, rows, 0, count)
        values = {**as_it_is.values, **{name: changed[name] for name in changed.keys() & as_it_is.values.keys()}}
        values[STRANGER.name] = joint_strangeness(count, nats)
        return evidence_of(Figures(values, as_it_is.by_chance), changed, fitted).score


@dataclass(frozen=True)
class _Group:
    """Judged nodes that share neighbours with one, the closest first; and what they share, or whom it is tied to."""

    members: tuple[int, ...] = ()
    shared: tuple[int, ...] = ()


def several_kinds(
    fitted: FittedViews,
    network: Network,
    residuals: Floats | None = None,
    facts: EventFacts | None = None,
    cycles: Cycles | None = None,
    *,
    workers: int = 1,
) -> SeveralKinds:
    """Bring a network with several kinds to the form in which single nodes are looked at."""
    measured, data = measure(fitted, network.graph, left=residuals, facts=facts, cycles=cycles, workers=workers)
    own, ratios, known = data.own_graph, measured.ratios, {one.kind: one for one in fitted.others}
    means = ratios.sums.all() / np.maximum(own.degrees, 1)
    return SeveralKinds(
        fitted=fitted,
        network=network,
        data=data,
        own=own,
        measured=measured,
        evidence=evidence_of(measured.figures, data.known, fitted),
        usual=tuple(np.sort(one.f.read()) for one in measured.informed),
        within=np.zeros(own.node_count) if fitted.rate is None else fitted.rate.nats(means, own.degrees),
        variates=ratios.variates.all(),
        usual_within=np.sort(folded(data.edges.own.wiring, ratios.f)),
        ties=ties_of(data.edges.own.residuals, measured.unexplained),
        common=tuple(
            common_neighbours(pairs, known[pairs.kind].chance_for(pairs.far.wiring.nodes))
            for pairs in data.edges.joined
        ),
        columns=Columns(network.of_judged()),
    )
