"""The cycle: a node on more time-respecting cycles of events than chance explains.

A cycle has 3 to 6 events, each from where the one before went and not before it, all within 7 days, each amount within
20 % of the one before; the last one goes to where the first came from. For every event it is found out whether a cycle
begins with it, and the nodes of the first one found count it. A node of which cycles carry less than a fifth of what it
sent is on none: friends who repay each other small sums are no case.

Chance is the same network with the times of its events permuted. A node with c cycles, and s in all of B permutations,
has as its p-value the chance of c or more under the predictive distribution of a Poisson rate with a gamma prior, the
prior being worth B more permutations with the mean of all nodes: negative binomial.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import betainc

from oddhop.arrays.kernels import row_sums
from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.base.kernels import compiled
from oddhop.base.randomness import PERMUTED_TIMES, generator
from oddhop.graph.adjacency import first_not_below
from oddhop.graph.events import DAY, NO_TIME, Events
from oddhop.odd.p_values import FLOOR

FEWEST_STEPS, MOST_STEPS = 3, 6
WITHIN = 7 * DAY
ALIKE = 0.2
LEAST_SHARE = 0.2  # of what a node sent
MOST_SUCCESSORS, MOST_LOOKED_AT = 64, 10_000  # of an event; what lies beyond is not searched, and counted
PERMUTATIONS = 20
STARTS_PERMUTED = 1_000_000  # of more events, so many are tried as the first of a cycle in every permutation


@dataclass(frozen=True, eq=False)
class Sent:
    """What every node sent, in the order of time.

    Attributes
    ----------
    indptr, partners, times, amounts : as in :class:`~oddhop.graph.events.Events`, what was sent alone.
    components : the strongly connected component of every node; no cycle leaves one.
    """

    indptr: Ints
    partners: Ints
    times: Ints
    amounts: Floats
    components: Ints

    @property
    def arrays(self) -> tuple[Any, ...]:
        """All of them, for a kernel."""
        return self.indptr, self.partners, self.times, self.amounts, self.components


@dataclass(frozen=True, eq=False)
class Cycles:
    """The cycles of a network.

    Attributes
    ----------
    events : those that were searched.
    sent : what every node sent.
    log_p : of every node; 0 for those on no cycle.
    counts : how many events begin a cycle through a node.
    first : the earliest event that does, by its place in :class:`Sent`; -1 where there is none.
    expected : the mean count over the permutations.
    permuted : the counts in every permutation, (permutations, nodes), sparse.
    truncated : how many events have more successors, or longer searches, than were followed.
    """

    events: Events
    sent: Sent
    log_p: Floats
    counts: Ints
    first: Ints
    expected: Floats
    permuted: sp.csr_array
    truncated: int

    def permuted_log_p(self, turn: int) -> Floats:
        """Return what cycles say of every node in one of the permutations."""
        own = self.permuted[[turn % PERMUTATIONS]].toarray()[0]
        return _log_p(np.asarray(own), self.expected, PERMUTATIONS)


def find_cycles(events: Events | None, nodes: int, known: Cycles | None = None) -> Cycles | None:
    """Find the cycles of a network, and how many there are by chance; None where events have no direction or time.

    ``known`` is returned if it has the cycles of the same events, for the search takes long.
    """
    if events is None or events.columns.time is None or not events.columns.directed:
        return None
    if known is not None and known.events is events:
        return known
    sent = sent_events(events)
    every = np.ones(sent.partners.size, dtype=bool)
    counts, first, truncated = _count(sent, every)
    table = sp.csr_array((PERMUTATIONS, nodes))
    if counts.any():  # a row at a time: hardly any node is on a cycle by chance
        table = sp.vstack([sp.csr_array(_count_permuted(sent, turn)[None]) for turn in range(PERMUTATIONS)], "csr")
    expected = np.asarray(table.sum(axis=0)) / PERMUTATIONS
    return Cycles(events, sent, _log_p(counts, expected, PERMUTATIONS), counts, first, expected, table, truncated)


def sent_events(events: Events) -> Sent:
    """Return what every node sent."""
    from scipy.sparse.csgraph import connected_components

    nodes = events.node_count
    sizes = np.diff(events.indptr)[::2]
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    where = np.repeat(events.indptr[:-1:2] - indptr[:-1], sizes) + np.arange(indptr[-1])
    partners = np.asarray(events.partners[where], dtype=np.int64)
    amounts = events.amounts[where, 0] if events.columns.amounts else np.ones(where.size)
    ties = sp.csr_array((np.ones(where.size, dtype=np.int8), partners, indptr), shape=(nodes, nodes))
    components = connected_components(ties, connection="strong")[1]
    return Sent(indptr, partners, np.asarray(events.times[where]), np.asarray(amounts), components.astype(np.int64))


def cycle_from(sent: Sent, first: int) -> list[int]:
    """Return the events of the cycle that begins with an event, by their places; empty where none does."""
    path, steps = np.empty(MOST_STEPS, dtype=np.int64), np.empty(MOST_STEPS, dtype=np.int64)
    source = int(np.searchsorted(sent.indptr, first, side="right")) - 1
    length, _ = _search(sent.arrays, source, first, path, steps)
    return [int(step) for step in steps[:length]]


def _log_p(counts: Ints, expected: Floats, permutations: int) -> Floats:
    shape = permutations * (expected + expected.mean()) + 1e-12
    # The upper tail of the negative binomial distribution; scipy.stats has it too, and takes long to import.
    with np.errstate(divide="ignore"):  # beyond what a float holds the logarithm is the floor
        log_p = np.log(betainc(np.maximum(counts, 1), shape, 1 - 2 * permutations / (2 * permutations + 1)))
    return np.where(counts > 0, np.maximum(log_p, FLOOR), 0.0)


def _count_permuted(sent: Sent, turn: int) -> Ints:
    rng = generator(0, PERMUTED_TIMES, turn)
    times = sent.times.copy()
    known = np.flatnonzero(times != NO_TIME)
    times[known] = times[rng.permutation(known)]
    order = np.empty(times.size, dtype=np.int64)
    _order_rows(sent.indptr, times, sent.partners, sent.amounts, order)
    share = min(1.0, STARTS_PERMUTED / max(order.size, 1))
    starts = rng.random(order.size) < share
    again = Sent(sent.indptr, sent.partners[order], times[order], sent.amounts[order], sent.components)
    return np.round(_count(again, starts, share)[0] / share).astype(np.int64)


def _count(sent: Sent, starts: Bools, tried: float = 1.0) -> tuple[Ints, Ints, int]:
    """Count the cycles through every node; ``tried`` is the share of the events that are tried as the first."""
    nodes = sent.indptr.size - 1
    counts, first = np.zeros(nodes, dtype=np.int64), np.full(nodes, -1, dtype=np.int64)
    on_cycle = np.zeros(sent.partners.size, dtype=bool)
    truncated = _count_cycles(sent.arrays, starts, counts, first, on_cycle)
    sizes = np.nan_to_num(np.abs(sent.amounts))
    small = row_sums(sent.indptr, sizes * on_cycle) < LEAST_SHARE * tried * row_sums(sent.indptr, sizes)
    counts[small], first[small] = 0, -1
    return counts, first, int(truncated)


@compiled
def _order_rows(indptr: Ints, times: Ints, partners: Ints, amounts: Floats, order: Ints) -> None:
    """Sort what every node sent by time, then as in ``Sent``; rows are short, and Shell's method needs no room."""
    for node in range(indptr.size - 1):
        start, stop = indptr[node], indptr[node + 1]
        for k in range(start, stop):
            order[k] = k
        gap = 1
        while 9 * gap < 4 * (stop - start):
            gap = (9 * gap) // 4 + 1
        while gap > 0:
            for k in range(start + gap, stop):
                one, place = order[k], k
                while place >= start + gap and _before(times, partners, amounts, one, order[place - gap]):
                    order[place] = order[place - gap]
                    place -= gap
                order[place] = one
            gap = 4 * gap // 9


@compiled
def _before(times: Ints, partners: Ints, amounts: Floats, one: int, other: int) -> bool:
    if times[one] != times[other]:
        return bool(times[one] < times[other])
    if partners[one] != partners[other]:
        return bool(partners[one] < partners[other])
    known, other_known = not np.isnan(amounts[one]), not np.isnan(amounts[other])
    if known != other_known:
        return known  # missing amounts come last
    if known and amounts[one] != amounts[other]:
        return bool(amounts[one] < amounts[other])
    return one < other


@compiled
def _count_cycles(sent: tuple[Any, ...], starts: Bools, counts: Ints, first: Ints, on_cycle: Bools) -> int:
    indptr, partners, times, _, components = sent
    path, steps = np.empty(MOST_STEPS, dtype=np.int64), np.empty(MOST_STEPS, dtype=np.int64)
    truncated = 0
    for source in range(indptr.size - 1):
        for e in range(indptr[source], indptr[source + 1]):
            if not starts[e] or times[e] == NO_TIME or components[source] != components[partners[e]]:
                continue
            length, cut = _search(sent, source, e, path, steps)
            truncated += cut
            for k in range(length):
                node = path[k]
                counts[node] += 1
                on_cycle[steps[k]] = True
                if first[node] < 0 or times[e] < times[first[node]]:
                    first[node] = e
    return truncated


@compiled
def _search(sent: tuple[Any, ...], source: int, start: int, path: Ints, steps: Ints) -> tuple[int, bool]:
    """Search depth first for a cycle that begins with an event; give how many steps it has, 0 for none."""
    indptr, partners, times, amounts, components = sent
    cursor, followed = np.empty(MOST_STEPS, dtype=np.int64), np.zeros(MOST_STEPS, dtype=np.int64)
    until, component = times[start] + WITHIN, components[source]
    path[0], steps[0] = source, start
    path[1] = partners[start]
    cursor[1] = first_not_below(times, indptr[path[1]], indptr[path[1] + 1], times[start])
    depth, looked_at, cut = 1, 0, False
    while depth > 0:
        k = cursor[depth]
        if k >= indptr[path[depth] + 1] or times[k] > until or followed[depth] >= MOST_SUCCESSORS:
            cut = cut or (k < indptr[path[depth] + 1] and times[k] <= until)
            depth -= 1
            continue
        cursor[depth] += 1
        looked_at += 1
        if looked_at > MOST_LOOKED_AT:
            return 0, True
        before, to = amounts[steps[depth - 1]], partners[k]
        if components[to] != component or not abs(amounts[k] - before) <= ALIKE * abs(before):
            continue
        steps[depth] = k
        if to == source:
            if depth + 1 >= FEWEST_STEPS:
                return depth + 1, cut
            continue
        seen = depth + 1 >= MOST_STEPS
        for i in range(1, depth + 1):
            seen = seen or path[i] == to
        if seen:
            continue
        followed[depth] += 1
        depth += 1
        path[depth], followed[depth] = to, 0
        cursor[depth] = first_not_below(times, indptr[to], indptr[to + 1], times[k])
    return 0, cut
