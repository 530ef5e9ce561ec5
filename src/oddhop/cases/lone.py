"""Cases that no events carry: a group, a stranger, an outlier; in sentences of their columns and ties."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from oddhop.cases.case import Fact, Pattern
from oddhop.cases.nouns import Words, plural
from oddhop.cases.technical import CLOSE, among_all, linked
from oddhop.explain.columns import UNKNOWN, Columns
from oddhop.explain.explanation import TELLING, ColumnDifference, Explanation
from oddhop.explain.phrases import spoken
from oddhop.tables.encode.encoders import CategoryColumn, TextColumn
from oddhop.tables.network import Network

RARE, COMMON = 5.0, 20.0  # percent of nodes with less, or more, and with the same value
ALL_BUT, FEW = 0.25, 0.05  # of its partners that are unlike it; of the nodes with such a combination of values
VIEWS = {
    "flow": "what it sent and received",
    "stranger": "its partners",
    "clique": "how its partners are tied to each other",
    "place": "its place in the network",
}
MOST_TIES = 12  # members whose ties are drawn
TOGETHER = ("clique", "cycle")  # the kinds of anomaly that several nodes share
PATTERNS: dict[str | None, Pattern] = {"clique": "group", "stranger": "stranger", "outlier": "outlier"}


def groups_of(explanations: Sequence[Explanation], nodes: Sequence[int]) -> dict[int, list[int]]:
    """Return for the nodes whose kind of anomaly several share the others of it, by number, among those explained."""
    numbers = {why.id: node for why, node in zip(explanations, nodes, strict=True) if why.kind in TOGETHER}
    return {
        numbers[why.id]: [numbers[other] for other in why.group if other in numbers]
        for why in explanations
        if why.kind in TOGETHER
    }


def ties_among(network: Network, members: Sequence[int]) -> list[tuple[int, int]]:
    """Return the pairs of some nodes that are joined."""
    graph = network.graph
    near = {node: set(graph.indices[graph.indptr[node] : graph.indptr[node + 1]].tolist()) for node in members}
    return [(one, other) for one, other in combinations(members, 2) if other in near[one]]


def shared_by(network: Network, members: Sequence[int]) -> list[int]:
    """Return the nodes of other kinds that at least half of some nodes are joined to."""
    graph = network.graph
    if graph.kinds is None or len(members) < 2:
        return []
    own = np.concatenate([graph.indices[graph.indptr[node] : graph.indptr[node + 1]] for node in members])
    found, counts = np.unique(own, return_counts=True)
    other = (found < graph.judged.start) | (found >= graph.judged.stop)
    return [int(node) for node in found[other & (2 * counts >= len(members)) & (counts > 1)]]


def group_headline(words: Words, network: Network, members: Sequence[int]) -> tuple[str, str]:
    """Say who is tied to each other, or what they share."""
    who = words.who(members)
    shared = shared_by(network, members)
    if shared:
        said = f"{who} share {words.who(shared)}"
        return said, said
    ties, pairs = len(ties_among(network, members)), len(members) * (len(members) - 1) // 2
    verb = words.nouns.sends.removesuffix("s") if words.nouns.sends in ("cites", "follows", "calls", "rates") else ""
    how = f"{verb} each other" if verb else "belong together"
    if ties == pairs:
        return f"{who} {how}: all {pairs:,} pairs of them are linked", f"{who}, all linked to each other"
    return f"{who} {how}: {ties:,} of their {pairs:,} pairs are linked", f"{who}, {ties:,} of {pairs:,} pairs linked"


def lone_headline(
    words: Words, columns: Columns, node: int, why: Explanation, pattern: Pattern, facts: Sequence[Fact]
) -> tuple[str, str]:
    """Say what sets one node apart."""
    name, nouns = str(why.id), words.nouns
    column = why.columns[0] if why.columns else None
    if pattern == "stranger":
        if column and why.far < ALL_BUT * why.degree:  # hardly any of them is unlike it; all together are
            usual = _plain_value(column.usual).partition(" (")[0].removeprefix("median ")
            base = f"{name} differs from the {why.degree:,} {nouns.nodes} it {linked(nouns)}"
            usual = "" if usual.endswith("have it") else f", usually {usual}"
            return f"{base}: {_named_value(column)}{usual}", base
        whole = {1: f"the one {nouns.node}", 2: f"both {nouns.nodes}"}
        all_of_them = whole.get(why.degree, f"all {why.degree:,} {nouns.nodes}")
        far = all_of_them if why.far == why.degree else f"{why.far:,} of the {why.degree:,} {nouns.nodes}"
        base = f"{name} is unlike {far if why.far else 'the ' + nouns.nodes} it {linked(nouns)}"
        if column and why.telling:
            return f"{base}: its {column.column.replace('_', ' ')} is {_plain_value(column.own)}", base
        return base, base
    if pattern == "outlier" and why.columns:
        rare = [one for one in why.columns if _is_rare(one.elsewhere)]
        if rare:
            said = spoken([_named_value(one) for one in rare[:2]])
            return f"{name} has values that are rare here: {said}", f"{name} has rare values"
        said = spoken([_named_value(one) for one in why.columns[:2]])
        alike, every = like_it(columns, node, [one.column for one in why.columns[:2]])
        if alike > FEW * every or len(why.columns) < 2:
            return f"{name} is a little unusual: {said}", f"{name} is a little unusual"
        base = f"{name} has a rare combination of values"
        return f"{base}: {said} ({alike:,} of {every:,} {nouns.nodes})", base
    if pattern == "group":
        kinds = words.network.graph.kinds
        if kinds is not None:
            others = [plural(kind) for k, kind in enumerate(kinds.names) if k != kinds.judged]
            base = f"{name} shares {others[0] if len(others) == 1 else 'partners'} with some {nouns.nodes}"
            return f"{base} more often than chance explains", base
        return f"{name} has closer ties with some {nouns.nodes} than chance explains", f"{name} has close ties"
    if facts:
        here, usual = facts[0].here.removesuffix("."), facts[0].usual.removesuffix(".")
        beside = f"; {usual[0].lower()}{usual[1:]}" if usual.startswith("Usually it is") else ""
        return f"{here}{beside}", f"{name}: {facts[0].measure}"
    small = [*map(_named_value, why.columns[:2]), *(VIEWS[one.name] for one in why.views if one.name in VIEWS)]
    if why.views and small:
        return f"{name} is a little unusual in several ways: {spoken(small[:3])}", f"{name} is a little unusual"
    return f"Nothing by itself sets {name} apart", f"{name}: nothing by itself"


def like_it(columns: Columns, node: int, names: Sequence[str]) -> tuple[int, int]:
    """Count the judged nodes with such values in some columns as one has, and all of them.

    Such a value is the same category, as high a number where it is above the median, as low a one below, or none.
    """
    judged = columns.graph.judged
    every = np.arange(judged.start, judged.stop)
    alike = np.ones(every.size, dtype=bool)
    for span in (one for one in columns.spans if one.name in names):
        rows, mark = columns.rows(every, span), span.encoder is not None and span.encoder.mark
        own = rows[node - judged.start]
        if isinstance(span.encoder, CategoryColumn | TextColumn) or (mark and own[-1] >= 0.5):
            alike &= (rows == own).all(axis=1)
        else:
            middle = np.median(rows[rows[:, -1] < 0.5, 0] if mark else rows[:, 0])
            alike &= (rows[:, 0] >= own[0]) if own[0] >= middle else (rows[:, 0] <= own[0])
            alike &= (rows[:, -1] < 0.5) if mark else True
    return int(alike.sum()), every.size


def column_facts(words: Words, why: Explanation) -> tuple[Fact, ...]:
    """Return the columns that set a node apart and in which hardly any node is like it."""
    telling = [one for one in why.columns if -one.effect >= TELLING * why.score and _is_rare(one.elsewhere)]
    return tuple(_column_fact(words, why, one) for one in telling[:3])


def _is_rare(elsewhere: str) -> bool:
    """Tell by the words of :mod:`oddhop.explain.columns` whether few nodes have such a value."""
    part = re.match(r"(none|under|over)|([\d.]+) %", elsewhere)
    if part is None:
        return False
    percent = float(part[2]) if part[2] else 100.0 * (part[1] == "over")
    if elsewhere.endswith("less"):
        return not RARE <= percent <= 100 - RARE
    return percent < COMMON


def _column_fact(words: Words, why: Explanation, one: ColumnDifference) -> Fact:
    others = f"the {words.node_count(why.degree)} it deals with" if one.others == CLOSE else one.others
    name, own, usual = one.column.replace("_", " "), _plain_value(one.own), _plain_value(one.usual)
    return Fact(
        one.column,
        f"The “{name}” of {why.id} is {own}.",
        f"Usually it is {usual}; {among_all(words.nouns, one)}.",
        others,
        why.degree,
    )


def _named_value(one: ColumnDifference) -> str:
    name = one.column.replace("_", " ")
    return f"no {name}" if one.own == UNKNOWN else f"{name} {_plain_value(one.own)}"


def _plain_value(text: str) -> str:
    """Leave out a time of day that says nothing."""
    return text.replace(" 00:00:00", "")
