"""Changes to a node that Odd is asked about: edges taken away, columns with the value that its neighbours have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.explain.columns import Columns, ColumnSpan, called
from oddhop.explain.explanation import MOST_CHANGES, WORTH_TELLING, Change, Counterfactual, Id, Yardstick
from oddhop.graph.checks import is_sparse
from oddhop.odd.p_values import FLOOR
from oddhop.odd.rescore import Again, Held, judge_again

COLUMNS_TRIED = 512


@dataclass(frozen=True, eq=False)
class Bench:
    """What is the same for all nodes."""

    held: Held
    columns: Columns
    measure: Yardstick
    ids: pa.Array | None

    def name(self, node: int) -> Id:
        """Give what a node is called."""
        return called(self.held.graph, self.ids, int(node))


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

    bench: Bench
    number: int
    company: Ints
    typical: Floats
    edges: Ints

    def rows(self, row: Floats, spans: Sequence[ColumnSpan]) -> Any:
        """Give rows that differ from a given one in one column each."""
        if is_sparse(self.bench.held.graph.attributes):
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

    def judged(self, rows: Any, kept: Bools) -> Again:
        """Judge it with other rows of attributes, or with other edges."""
        held = self.bench.held
        return judge_again(held, self.number, *held.seen(rows), kept)

    def without(self, now: Situation, edges: Ints) -> Bools:
        """Give the edges that are left when one of some is taken away, too."""
        kept = np.tile(now.kept, (edges.size, 1))
        kept[np.arange(edges.size), edges] = False
        return kept


@dataclass(frozen=True, eq=False)
class Telling:
    """The columns that make a node odd, the one that matters most for its score first.

    ``worth`` is what the value that is typical of its neighbours does to the score, and ``moves`` what it does to
    the figure of the view that speaks loudest.
    """

    spans: list[ColumnSpan]
    worth: Floats
    moves: Floats


def telling_columns(node: Node, now: Situation, as_it_is: Again) -> Telling:
    """Judge the node again with one column after the other changed, and give those that lower its score."""
    columns, unit = node.bench.columns, node.bench.held.panel.preparation.unit
    gap = np.abs(node.typical - now.row) / unit
    size = np.zeros(len(columns.spans))
    np.maximum.at(size, columns.span_of, gap)
    largest = np.argsort(-size, kind="stable")[:COLUMNS_TRIED]
    spans = [columns.spans[k] for k in largest if size[k] > 0]
    if not spans:
        return Telling([], np.zeros(0), np.zeros(0))
    again, loudest = node.judged(node.rows(now.row, spans), now.kept[None]), int(as_it_is.evidence.kind[0])
    worth = again.evidence.score - as_it_is.evidence.score[0]
    order = [int(k) for k in np.argsort(worth, kind="stable") if worth[k] < 0]
    moves = again.figures[loudest] - as_it_is.figures[loudest, 0]
    return Telling([spans[k] for k in order], worth[order], moves[order])


def said(node: Node, span: ColumnSpan) -> str:
    """Say the value that is typical of the neighbours."""
    return node.bench.columns.say(span, node.typical[span.start : span.stop])


def counterfactual(node: Node, now: Situation, spans: Sequence[ColumnSpan], as_it_is: Again) -> Counterfactual | None:
    """Make the change that lowers the score most, and then the next, until it is no alert."""
    measure = node.bench.measure
    before = after = float(as_it_is.evidence.score[0])
    if not measure.alerts(before):
        return None
    changes: list[Change] = []
    best, enough = 0, before * (1 - WORTH_TELLING)
    edges, columns = node.edges, list(spans)
    floor = _lowest(node, as_it_is, 0)
    while len(changes) < MOST_CHANGES and measure.alerts(after):
        options = edges[now.kept[edges]] if now.kept.sum() > 1 else edges[:0]
        outcomes: list[Again] = []
        if options.size:
            outcomes.append(node.judged(now.row[None], node.without(now, options)))
        if columns:
            outcomes.append(node.judged(node.rows(now.row, columns), now.kept[None]))
        if not outcomes:
            break
        scores = np.concatenate([one.evidence.score for one in outcomes])
        depth = np.concatenate([_beyond(node, one) for one in outcomes])
        # A p-value at its floor hides that a change helped; the figures show it, and the next change may, too.
        place = int(np.lexsort((scores, depth) if floor else (depth, scores.round(9)))[0])
        if scores[place] >= after - WORTH_TELLING * before and not floor:
            break
        after = float(scores[place])
        edge = place < options.size
        floor = _lowest(node, outcomes[0 if edge else -1], place if edge else place - options.size)
        if edge:
            kept = now.kept.copy()
            kept[options[place]] = False
            now = Situation(now.row, kept)
            changes.append(Change("edge", node.bench.name(node.bench.held.neighbours(node.number)[options[place]])))
        else:
            span = columns.pop(place - options.size)
            row = now.row.copy()
            row[span.start : span.stop] = node.typical[span.start : span.stop]
            now = Situation(row, now.kept)
            changes.append(Change("attribute", span.name, said(node, span)))
        if after < enough:
            best, enough = len(changes), after
    return Counterfactual(tuple(changes[:best]), before, enough, measure) if best else None


def _lowest(node: Node, again: Again, place: int) -> bool:
    """Tell whether a p-value is at its floor, of a view or of the knot."""
    pairs = zip(node.bench.held.panel.bulks, again.figures[:, [place]], strict=True)
    return any(bool(bulk.log_p(figure)[0] <= FLOOR) for bulk, figure in pairs)


def _beyond(node: Node, again: Again) -> Floats:
    """Give how far beyond the bulk the figures lie, together."""
    pairs = zip(node.bench.held.panel.bulks, again.figures, strict=True)
    return np.asarray(sum(np.maximum(figure - bulk.below[-1], 0.0) / bulk.scale for bulk, figure in pairs))
