"""One node judged again with another column or without an edge, and the few changes that make it no alert."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.explain.columns import Columns, ColumnSpan
from oddhop.explain.explanation import Baseline, Change, Counterfactual
from oddhop.graph.checks import is_sparse
from oddhop.odd.combine import KINDS
from oddhop.odd.p_values import FLOOR
from oddhop.odd.rescore import FixedNetwork, Rescored, rescore_node

COLUMNS_TRIED = 512
MOST_CHANGES = 5
WORTH_IT = 0.005  # of the score: a change that lowers it less is not made


@dataclass(frozen=True, eq=False)
class Node:
    """One node, what is typical of its neighbours, and the edges that may be taken away, by their place in its row."""

    held: FixedNetwork
    columns: Columns
    number: int
    typical: Floats
    edges: Ints

    def judged(self, rows: Any, kept: Bools) -> Rescored:
        """Judge it with other rows of attributes, or with other edges."""
        return rescore_node(self.held, self.number, *self.held.of_attributes(rows), kept)

    def rows(self, row: Floats, spans: Sequence[ColumnSpan]) -> Any:
        """Return rows that are typical in one column each, and else as a given one."""
        rows = [with_typical(row, self.typical, [span]) for span in spans]
        if is_sparse(self.held.graph.attributes):
            return sp.vstack([sp.csr_array(one[None]) for one in rows], format="csr")
        return np.stack(rows)

    def without(self, kept: Bools, edges: Ints) -> Bools:
        """Return the edges that are left when one of some is taken away, too."""
        left = np.tile(kept, (edges.size, 1))
        left[np.arange(edges.size), edges] = False
        return left


def with_typical(row: Floats, typical: Floats, spans: Sequence[ColumnSpan]) -> Floats:
    """Return a row of attributes with what is typical in some columns."""
    out = row.copy()
    for span in spans:
        out[span.start : span.stop] = typical[span.start : span.stop]
    return out


@dataclass(frozen=True, eq=False)
class ChangedColumns:
    """The columns that make a node odd, the one that matters most for its score first.

    ``worth`` is what the value that is typical of its neighbours does to the score, and ``moves`` what it does to
    the figure of the view that adds most to it, if attributes change it.
    """

    spans: list[ColumnSpan]
    worth: Floats
    moves: Floats


def change_columns(node: Node, row: Floats, kept: Bools, as_it_is: Rescored) -> ChangedColumns:
    """Judge the node again with one column after the other changed, and give those that lower its score."""
    gap = np.abs(node.typical - row) / node.held.fitted.unit
    size = np.zeros(len(node.columns.spans))
    np.maximum.at(size, node.columns.span_of, gap)
    largest = np.argsort(-size, kind="stable")[:COLUMNS_TRIED]
    spans = [node.columns.spans[k] for k in largest if size[k] > 0]
    if not spans:
        return ChangedColumns([], np.zeros(0), np.zeros(0))
    again, first = node.judged(node.rows(row, spans), kept[None]), int(as_it_is.evidence.kind[0])
    worth = again.evidence.score - as_it_is.evidence.score[0]
    order = [int(k) for k in np.argsort(worth, kind="stable") if worth[k] < 0]
    figures, before = again.figures.values.get(KINDS[first]), as_it_is.figures.values.get(KINDS[first])
    moves = worth if figures is None or before is None else figures - before[0]
    return ChangedColumns([spans[k] for k in order], worth[order], moves[order])


def counterfactual(
    node: Node, row: Floats, kept: Bools, spans: Sequence[ColumnSpan], as_it_is: Rescored, baseline: Baseline
) -> Counterfactual | None:
    """Make the change that lowers the score most, and then the next, until the node is no alert.

    The changes up to the lowest score are returned; None where the node is no alert, or nothing lowers its score.
    """
    before = after = float(as_it_is.evidence.score[0])
    worth, left, changes = WORTH_IT * before, list(spans), list[Change]()
    best, lowest, at_floor = 0, before - worth, _at_floor(node, as_it_is, 0)
    while len(changes) < MOST_CHANGES and baseline.alerts(after):
        edges = node.edges[kept[node.edges]] if kept.sum() > 1 else node.edges[:0]
        tried = [node.judged(row[None], node.without(kept, edges))] if edges.size else []
        tried += [node.judged(node.rows(row, left), kept[None])] if left else []
        if not tried:
            break
        scores = np.concatenate([one.evidence.score for one in tried])
        beyond = np.concatenate([_beyond(node, one) for one in tried])
        # A p-value at its floor hides that a change helped; the figures show it, and the next change may, too.
        place = int(np.lexsort((scores, beyond) if at_floor else (beyond, scores.round(9)))[0])
        if scores[place] >= after - worth and not at_floor:
            break
        after = float(scores[place])
        if place < edges.size:
            at_floor = _at_floor(node, tried[0], place)
            kept = node.without(kept, edges[[place]])[0]
            changes.append(Change("edge", node.columns.network.name(node.held.neighbours(node.number)[edges[place]])))
        else:
            at_floor = _at_floor(node, tried[-1], place - edges.size)
            span = left.pop(place - edges.size)
            row = with_typical(row, node.typical, [span])
            changes.append(Change("attribute", span.name, typical_value(node, span)))
        if after < lowest:
            best, lowest = len(changes), after
    return Counterfactual(tuple(changes[:best]), before, lowest, baseline) if best else None


def typical_value(node: Node, span: ColumnSpan) -> str:
    """Say the value that is typical of the neighbours."""
    return node.columns.say(span, node.typical[span.start : span.stop])


def _at_floor(node: Node, again: Rescored, place: int) -> bool:
    """Return whether a p-value is at its floor, of a view or of the raw clique score."""
    figures = again.figures.at(np.array([place]))
    return any(bool(log_p[0] <= FLOOR) for log_p in figures.log_p(node.held.fitted).values())


def _beyond(node: Node, again: Rescored) -> Floats:
    """Return how far beyond the bulk the figures lie, together."""
    pairs = [(node.held.fitted.bulks[name], figure) for name, figure in again.figures.values.items()]
    return np.asarray(sum(np.maximum(figure - bulk.below[-1], 0.0) / bulk.scale for bulk, figure in pairs))
