"""The user's columns behind the attributes: which attributes each gave, what is typical in it, how to say a value."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.explain.explanation import ColumnDifference
from oddhop.explain.phrases import counted, said_number, share
from oddhop.graph.checks import is_sparse
from oddhop.graph.graph import Graph
from oddhop.tables.encode.columns import words_of
from oddhop.tables.encode.encoders import (
    CategoryColumn,
    DateColumn,
    Encoder,
    FlowNumber,
    NumberColumn,
    TextColumn,
)
from oddhop.tables.flows import flow_columns, flow_values
from oddhop.tables.network import Network

LONGEST = 80
WORDS_NAMED = 4
UNKNOWN = "unknown"


@dataclass(frozen=True)
class ColumnSpan:
    """One column of the user's: its name, the attributes it became, and how, where that is known."""

    name: str
    start: int
    stop: int
    encoder: Encoder | None = None


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns behind the attributes of a network.

    The encoding of the network groups the attributes by the column they came from; without it each attribute is a
    column of its own. Its originals have the values as they were, one row a node, for those that an encoding loses.
    """

    network: Network
    _shares: dict[int, float | None] = field(default_factory=dict, repr=False)

    @property
    def graph(self) -> Graph:
        """The graph of the network."""
        return self.network.graph

    @cached_property
    def spans(self) -> tuple[ColumnSpan, ...]:
        """One span a column, in the order of the attributes."""
        if self.network.encoding is None:
            names = self.graph.attribute_names or [f"attribute {k}" for k in range(self.graph.attribute_count)]
            return tuple(ColumnSpan(name, k, k + 1) for k, name in enumerate(names))
        stops = np.cumsum([len(one.names) for one in self.network.encoding.columns])
        starts = [0, *stops[:-1]]
        return tuple(
            ColumnSpan(one.name, int(a), int(b), one)
            for one, a, b in zip(self.network.encoding.columns, starts, stops, strict=True)
        )

    @cached_property
    def _share_of(self) -> dict[str, tuple[str, ...]]:
        events = self.graph.events
        return {} if events is None else {one.name: one.share_of for one in flow_columns(events.columns)}

    @cached_property
    def span_of(self) -> Ints:
        """The column that every attribute came from, by its place among the spans."""
        return np.repeat(np.arange(len(self.spans)), [one.stop - one.start for one in self.spans])

    def rows(self, nodes: Ints, span: ColumnSpan | None = None) -> Floats:
        """Return the attributes of some nodes, dense, all of them or those of one column."""
        rows = self.graph.attributes[nodes]
        if span is not None:
            rows = rows[:, span.start : span.stop]
        return np.asarray(rows.toarray() if is_sparse(rows) else rows, dtype=np.float64)

    def typical(self, nodes: Ints) -> Floats:
        """Return the values that stand for some nodes: medians of numbers, the commonest of all else."""
        if self.network.encoding is None and is_sparse(self.graph.attributes):
            # A median is not zero only where at least half of the values are not.
            few = self.graph.attributes[nodes]
            usual = np.zeros(few.shape[1])
            often = np.flatnonzero(2 * np.bincount(few.indices, minlength=few.shape[1]) >= nodes.size)
            usual[often] = _middle(few[:, often].toarray())
            return usual
        rows = self.rows(nodes)
        usual = _middle(rows)
        for span in self.spans:
            part = slice(span.start, span.stop)
            if isinstance(span.encoder, CategoryColumn):
                usual[part] = np.eye(span.stop - span.start)[np.argmax(rows[:, part].sum(axis=0))]
            elif isinstance(span.encoder, TextColumn):
                usual[part] = rows[:, part].mean(axis=0) >= 0.5
        return usual

    def lacked(self, row: Floats) -> Bools:
        """Tell the columns in which a node has nothing, as most nodes have: that by itself sets nobody apart.

        A column of the user's with a kind always has something, a gap at least.
        """
        if self.network.encoding is not None:
            return np.zeros(len(self.spans), dtype=bool)
        return np.asarray((row == 0) & (2 * self._filled < self.graph.node_count))

    def own(self, span: ColumnSpan, node: int) -> str:
        """Say the value of one node."""
        if self.network.originals is not None and isinstance(span.encoder, TextColumn | DateColumn):
            value = self.network.originals.column(span.name)[node].as_py()
            return UNKNOWN if value is None else shortened(str(value))
        said = self.say(span, self.rows(np.array([node]), span)[0])
        return self._flow_said(span.name, node, said)

    def usual(self, span: ColumnSpan, node: int, nodes: Ints) -> str:
        """Say what is usual among some nodes, the neighbours of one; of texts, what that one lacks."""
        rows = self.rows(nodes, span)
        encoder = span.encoder
        if isinstance(encoder, CategoryColumn):
            counts = rows.sum(axis=0)
            best = int(np.argmax(counts))
            return f"{self.say(span, np.eye(rows.shape[1])[best])} ({int(counts[best]):,} of {len(rows):,})"
        if isinstance(encoder, TextColumn):
            return self._usual_words(span, node, nodes)
        if encoder is None and self._is_flag(span):
            return f"{int(rows.sum()):,} of {len(rows):,} have it"
        known = rows[rows[:, -1] < 0.5] if encoder is not None and encoder.mark else rows
        unknown = len(rows) - len(known)
        if not len(known):
            return f"{unknown:,} unknown"
        three = np.quantile(known, (0, 0.5, 1), axis=0, method="nearest")
        low, middle, high = (self.say(span, values) for values in three)
        more = [f"range {low} to {high}"] * (low != high) + [f"{unknown:,} unknown"] * (unknown > 0)
        beside = f" ({', '.join(more)})" if more else ""
        return f"{'median ' * (low != high)}{middle}{beside}"

    def elsewhere(self, span: ColumnSpan, node: int) -> str:
        """Say how the value of a node stands in the whole network."""
        row = self.rows(np.array([node]), span)[0]
        if isinstance(span.encoder, CategoryColumn):
            return f"{share(self._share(span.start + int(np.argmax(row))) or 0.0)} have the same"
        if isinstance(span.encoder, TextColumn):
            return ""
        part = self._share(span.start)
        if span.encoder is None and part is not None:
            return f"{share(part)} have it"
        values = self._values(span.start)
        not_stored = self.graph.node_count - values.size  # zeros, all of them
        lower = int((values < row[0]).sum()) + not_stored * bool(row[0] > 0)
        return f"{share(lower / self.graph.node_count)} have less"

    def _flow_said(self, name: str, node: int, said: str) -> str:
        """Say a value that was computed from events: unknown where it was filled in, a share with its events."""
        if name not in self._share_of or self.graph.events is None:
            return said
        own = self.graph.events.of_nodes(node, node + 1)
        values = dict(zip((one.name for one in flow_columns(own.columns)), flow_values(own)[0].tolist(), strict=True))
        if np.isnan(values[name]):
            return UNKNOWN
        events = int(sum(values[one] for one in self._share_of[name]))
        return f"{said} ({counted(events, 'event')})" if self._share_of[name] else said

    def difference(
        self, span: ColumnSpan, node: int, neighbours: Ints, instead: str, effect: float
    ) -> ColumnDifference:
        """Say all about a node in one column: its value, that of others, and what another value would do."""
        own, usual = self.own(span, node), self.usual(span, node, neighbours)
        elsewhere = "" if own == UNKNOWN else self.elsewhere(span, node)
        return ColumnDifference(span.name, own, usual, elsewhere, instead, effect)

    def say(self, span: ColumnSpan, values: Floats) -> str:
        """Say encoded values as the user would."""
        encoder = span.encoder
        if encoder is None:
            if self._is_flag(span):
                return "yes" if values[0] >= 0.5 else "no"
            return f"{values[0]:.4g}"
        if encoder.mark and values[-1] >= 0.5:
            return UNKNOWN
        if isinstance(encoder, CategoryColumn):
            place = int(np.argmax(values))
            return shortened(encoder.levels[place]) if place < len(encoder.levels) else "a rare value"
        if isinstance(encoder, TextColumn):
            return "typical of the neighbours"
        if isinstance(encoder, FlowNumber):
            return said_number(encoder.decode(float(values[0])))
        if not encoder.values:
            return "present"
        return _said_number(encoder, float(encoder.scale.inverse(values[:1])[0]))

    def _usual_words(self, span: ColumnSpan, node: int, nodes: Ints) -> str:
        if self.network.originals is None:
            return "other words"
        column = self.network.originals.column(span.name)
        own = _words(column.slice(node, 1))
        counts = Counter(_words(column.take(pa.array(nodes)))) - Counter(dict.fromkeys(own, nodes.size))
        top = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:WORDS_NAMED]
        return ", ".join(f"{word} ({n:,} of {nodes.size:,})" for word, n in top) or "no other words"

    def _is_flag(self, span: ColumnSpan) -> bool:
        return self._share(span.start) is not None

    def _share(self, column: int) -> float | None:
        """Return the share of ones in a column of zeros and ones; None for any other."""
        if column not in self._shares:
            values = self._values(column)
            flags = bool(np.isin(values, (0.0, 1.0)).all())
            self._shares[column] = float(values.sum()) / self.graph.node_count if flags else None
        return self._shares[column]

    def _values(self, column: int) -> Floats:
        """Return the values of a column, of a sparse one those that are stored."""
        matrix = self._by_column
        if is_sparse(matrix):
            return np.asarray(matrix.data[matrix.indptr[column] : matrix.indptr[column + 1]])
        return np.asarray(matrix[:, column])

    @cached_property
    def _filled(self) -> Ints:
        """How many nodes have a value other than zero, by attribute."""
        x = self.graph.attributes
        return np.bincount(x.indices, minlength=x.shape[1]) if is_sparse(x) else np.count_nonzero(x, axis=0)

    @cached_property
    def _by_column(self) -> Any:
        attributes = self.graph.attributes
        return attributes.tocsc() if is_sparse(attributes) else attributes


def shortened(text: str) -> str:
    """Cut a long text."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _words(texts: Any) -> dict[str, int]:
    """Count in how many texts of a column each word occurs."""
    counts: Counter[str] = Counter()
    for _, sizes, words, places in words_of(texts):
        rows = np.repeat(np.arange(sizes.size), sizes)
        once = np.unique(rows * len(words) + places) % max(len(words), 1)
        counts.update({word: int(n) for word, n in zip(words, np.bincount(once, minlength=len(words)), strict=True)})
    counts.pop("", None)
    return counts


def _middle(rows: Floats) -> Floats:
    """Return medians that occur."""
    return np.asarray(np.quantile(rows, 0.5, axis=0, method="nearest"))


def _said_number(encoder: NumberColumn | DateColumn, value: float) -> str:
    if isinstance(encoder, DateColumn):
        days = round(float(np.clip(value, -700_000, 2_900_000)))
        return str(date(1970, 1, 1) + timedelta(days=days))
    if encoder.kind == "boolean":
        return "true" if value >= 0.5 else "false"
    if encoder.kind == "time":
        minutes = round(value * 24 * 60)
        return f"{minutes // 60:02d}:{minutes % 60:02d}"
    return said_number(value)
