"""Changes to a node that Odd is asked about: edges taken away, columns with the value that its neighbours have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.explain.columns import Columns, ColumnSpan
from oddhop.explain.counterfactual import Step, search, worth_telling
from oddhop.explain.explanation import Baseline, Change, Counterfactual
from oddhop.graph.checks import is_sparse
from oddhop.odd.combine import KINDS
from oddhop.odd.p_values import FLOOR
from oddhop.odd.rescore import FixedNetwork, Rescored, rescore_node
from oddhop.odd.views import log_p_of
from oddhop.tables.network import Network

COLUMNS_TRIED = 512


@dataclass(frozen=True, eq=False)
class Context:
    """What is the same for all nodes that are explained."""

    held: FixedNetwork
    network: Network
    columns: Columns
    baseline: Baseline


@dataclass(frozen=True, eq=False)
class Situation:
    """The node with some changes made: its attributes, and the edges that are left, (degree,)."""

    row: Floats
    kept: Bools


@dataclass(frozen=True, eq=False)
class Node:
    """One node, its neighbours, or a draw of them, what is typical of those, and the edges that may be taken away.

    Edges are told by their place in the row of the node.
    """

    context: Context
    number: int
    company: Ints
    typical: Floats
    edges: Ints

    def rows(self, row: Floats, spans: Sequence[ColumnSpan]) -> Any:
        """Return rows that differ from a given one in one column each."""
        if is_sparse(self.context.held.graph.attributes):
            own = sp.csr_array(np.tile(row, (1, 1)))
            moves = [np.flatnonzero(self.typical[s.start : s.stop] - row[s.start : s.stop]) + s.start for s in spans]
            place = np.repeat(np.arange(len(spans)), [one.size for one in moves])
            column = np.concatenate(moves)
            shape = (len(spans), row.size)
            new, moved = (
                sp.csr_array((values, (place, column)), shape=shape)
                for values in (self.typical[column], np.ones(column.size))
            )
            same = sp.csr_array((np.ones(len(spans)), (np.arange(len(spans)), np.zeros(len(spans), int)))) @ own
            # To the last bit what is typical: adding the gap would round, and ranks tell.
            rows = sp.csr_array(same - same * moved + new)
            rows.eliminate_zeros()
            return rows
        rows = np.tile(row, (len(spans), 1))
        for k, span in enumerate(spans):
            rows[k, span.start : span.stop] = self.typical[span.start : span.stop]
        return rows

    def judged(self, rows: Any, kept: Bools) -> Rescored:
        """Judge it with other rows of attributes, or with other edges."""
        held = self.context.held
        return rescore_node(held, self.number, *held.of_attributes(rows), kept)

    def without(self, now: Situation, edges: Ints) -> Bools:
        """Return the edges that are left when one of some is taken away, too."""
        kept = np.tile(now.kept, (edges.size, 1))
        kept[np.arange(edges.size), edges] = False
        return kept


@dataclass(frozen=True, eq=False)
class TellingColumns:
    """The columns that make a node odd, the one that matters most for its score first.

    ``worth`` is what the value that is typical of its neighbours does to the score, and ``moves`` what it does to
    the figure of the view that speaks loudest, if attributes change it.
    """

    spans: list[ColumnSpan]
    worth: Floats
    moves: Floats


def telling_columns(node: Node, now: Situation, as_it_is: Rescored) -> TellingColumns:
    """Judge the node again with one column after the other changed, and give those that lower its score."""
    columns, unit = node.context.columns, node.context.held.fitted.unit
    gap = np.abs(node.typical - now.row) / unit
    size = np.zeros(len(columns.spans))
    np.maximum.at(size, columns.span_of, gap)
    largest = np.argsort(-size, kind="stable")[:COLUMNS_TRIED]
    spans = [columns.spans[k] for k in largest if size[k] > 0]
    if not spans:
        return TellingColumns([], np.zeros(0), np.zeros(0))
    again, loudest = node.judged(node.rows(now.row, spans), now.kept[None]), int(as_it_is.evidence.kind[0])
    worth = again.evidence.score - as_it_is.evidence.score[0]
    order = [int(k) for k in np.argsort(worth, kind="stable") if worth[k] < 0]
    of_attributes = loudest < KINDS.index("flow")
    moves = again.figures[loudest] - as_it_is.figures[loudest, 0] if of_attributes else worth
    return TellingColumns([spans[k] for k in order], worth[order], moves[order])


def typical_value(node: Node, span: ColumnSpan) -> str:
    """Say the value that is typical of the neighbours."""
    return node.context.columns.say(span, node.typical[span.start : span.stop])


def counterfactual(
    node: Node, now: Situation, spans: Sequence[ColumnSpan], as_it_is: Rescored
) -> Counterfactual | None:
    """Make the change that lowers the score most, and then the next, until it is no alert."""
    before = float(as_it_is.evidence.score[0])
    return search(before, node.context.baseline, _Greedy(node, now, spans, as_it_is, before).next_step)


class _Greedy:
    """Tries every change that is left, and makes the best one."""

    def __init__(
        self, node: Node, now: Situation, spans: Sequence[ColumnSpan], as_it_is: Rescored, before: float
    ) -> None:
        self.node, self.now, self.spans = node, now, list(spans)
        self.worth = worth_telling(before)
        self.at_floor = _at_floor(node, as_it_is, 0)

    def next_step(self, taken: Sequence[Change], after: float) -> Step | None:  # noqa: ARG002 - the situation has them
        node, now = self.node, self.now
        edges = node.edges[now.kept[node.edges]] if now.kept.sum() > 1 else node.edges[:0]
        outcomes: list[Rescored] = []
        if edges.size:
            outcomes.append(node.judged(now.row[None], node.without(now, edges)))
        if self.spans:
            outcomes.append(node.judged(node.rows(now.row, self.spans), now.kept[None]))
        if not outcomes:
            return None
        scores = np.concatenate([one.evidence.score for one in outcomes])
        beyond = np.concatenate([_beyond(node, one) for one in outcomes])
        # A p-value at its floor hides that a change helped; the figures show it, and the next change may, too.
        best = int(np.lexsort((scores, beyond) if self.at_floor else (beyond, scores.round(9)))[0])
        if scores[best] >= after - self.worth and not self.at_floor:
            return None
        if best < edges.size:
            self.at_floor = _at_floor(node, outcomes[0], best)
            return Step(self._without_edge(int(edges[best])), float(scores[best]))
        self.at_floor = _at_floor(node, outcomes[-1], best - edges.size)
        return Step(self._with_typical(self.spans.pop(best - edges.size)), float(scores[best]))

    def _without_edge(self, edge: int) -> Change:
        kept = self.now.kept.copy()
        kept[edge] = False
        self.now = Situation(self.now.row, kept)
        context = self.node.context
        return Change("edge", context.network.name(context.held.neighbours(self.node.number)[edge]))

    def _with_typical(self, span: ColumnSpan) -> Change:
        row = self.now.row.copy()
        row[span.start : span.stop] = self.node.typical[span.start : span.stop]
        self.now = Situation(row, self.now.kept)
        return Change("attribute", span.name, typical_value(self.node, span))


def _at_floor(node: Node, again: Rescored, place: int) -> bool:
    """Return whether a p-value is at its floor, of a view or of the raw clique score."""
    return any(bool(log_p[0] <= FLOOR) for log_p in log_p_of(again.figures[:, [place]], node.context.held.fitted))


def _beyond(node: Node, again: Rescored) -> Floats:
    """Return how far beyond the bulk the figures lie, together."""
    pairs = zip(node.context.held.fitted.bulks, again.figures[:-1], strict=True)
    return np.asarray(sum(np.maximum(figure - bulk.below[-1], 0.0) / bulk.scale for bulk, figure in pairs))
