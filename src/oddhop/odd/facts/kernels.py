"""Loops over the ends of every node, in their order, so that the bits are always the same."""

from __future__ import annotations

import numpy as np

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.base.kernels import compiled
from oddhop.graph.events import NO_TIME

LOOKED_AT = 64  # events after one that was received


@compiled
def order_by_time(indptr: Ints, times: Ints) -> Ints:
    """Merge what every node sent with what it received by time, what was sent first where times are equal."""
    order = np.empty(times.size, dtype=np.int64)
    for node in range((indptr.size - 1) // 2):
        i, middle, stop = indptr[2 * node], indptr[2 * node + 1], indptr[2 * node + 2]
        j = middle
        for place in range(i, stop):
            if j == stop or (i < middle and times[i] <= times[j]):
                order[place] = i
                i += 1
            else:
                order[place] = j
                j += 1
    return order


@compiled
def add_volumes(indptr: Ints, times: Ints, amounts: Floats, usual: float, volume: Floats, seen: Ints) -> None:
    """Add up what every node sent and received, and find when it was first seen."""
    for row in range(indptr.size - 1):
        total, first = 0.0, NO_TIME
        for e in range(indptr[row], indptr[row + 1]):
            if amounts.size:
                total += usual if np.isnan(amounts[e]) else abs(amounts[e])
            else:
                total += 1.0
            if times.size and first == NO_TIME:
                first = times[e]
        volume[row % 2, row // 2] = total
        known = seen[row // 2]
        if first != NO_TIME and (known == NO_TIME or first < known):
            seen[row // 2] = first


@compiled
def add_moments(cells: Ints, use: Bools, x: Floats, moments: Floats) -> None:
    """Add the number, the sum and the sum of squares of x to those of the cell of every end."""
    for e in range(cells.size):
        if use[e]:
            moments[cells[e], 0] += 1.0
            moments[cells[e], 1] += x[e]
            moments[cells[e], 2] += x[e] * x[e]


@compiled
def mean_of_others(
    start: Ints, use: Bools, cells: Ints, x: Floats, moments: Floats, prior: float, mean: Floats, square: Floats
) -> None:
    """Replace mean and mean square by those of other nodes in the cell; what stood there is worth ``prior`` ends."""
    own = np.zeros((moments.shape[0], 3))
    for v in range(start.size - 1):
        for e in range(start[v], start[v + 1]):
            if use[e]:
                own[cells[e], 0] += 1.0
                own[cells[e], 1] += x[e]
                own[cells[e], 2] += x[e] * x[e]
        for e in range(start[v], start[v + 1]):
            c = cells[e]
            count = moments[c, 0] - own[c, 0] + prior
            mean[e] = (moments[c, 1] - own[c, 1] + prior * mean[e]) / count
            square[e] = (moments[c, 2] - own[c, 2] + prior * square[e]) / count
        for e in range(start[v], start[v + 1]):
            own[cells[e]] = 0.0


@compiled
def match_amounts(
    start: Ints, side: Ints, partner: Ints, time: Ints, amount: Floats, within: int, alike: float
) -> Floats:
    """Mark what a node received and sent on to somebody else soon after, whole or a little less, and what it sent."""
    matched = np.zeros(side.size)
    for v in range(start.size - 1):
        for i in range(start[v], start[v + 1]):
            if side[i] == 0 or amount[i] <= 0 or time[i] == NO_TIME:
                continue
            for j in range(i + 1, min(i + 1 + LOOKED_AT, start[v + 1])):
                if time[j] > time[i] + within:
                    break
                fits = amount[i] * (1 - alike) <= amount[j] <= amount[i]
                if side[j] == 0 and matched[j] == 0 and partner[j] != partner[i] and fits:
                    matched[i] = matched[j] = 1.0
                    break
    return matched


@compiled
def cover(start: Ints, side: Ints, time: Ints, amount: Floats, within: int) -> Floats:
    """Give how much of everything sent is covered by what was received shortly before, the oldest first."""
    covered = np.zeros(side.size)
    for v in range(start.size - 1):
        i, left = start[v], -1.0
        for j in range(start[v], start[v + 1]):
            if side[j] == 1 or time[j] == NO_TIME:
                continue
            going = amount[j]
            while i < j and going > 0:
                if side[i] == 0 or time[i] == NO_TIME or time[i] < time[j] - within:
                    i, left = i + 1, -1.0
                    continue
                if left < 0:
                    left = amount[i]
                taken = min(left, going)
                covered[j] += taken
                going -= taken
                left -= taken
                if left <= 0:
                    i, left = i + 1, -1.0
    return covered


@compiled
def busiest(start: Ints, side: Ints, time: Ints, amount: Floats, length: int, most: Floats, spans: Ints) -> None:
    """Find the span of a length with the largest sum on either side: the sum, and from which end to which."""
    for v in range(start.size - 1):
        for s in range(2):
            low, total = start[v], 0.0
            for high in range(start[v], start[v + 1]):
                if side[high] != s or time[high] == NO_TIME:
                    continue
                total += amount[high]
                while time[low] == NO_TIME or side[low] != s or time[low] < time[high] - length:
                    if side[low] == s and time[low] != NO_TIME:
                        total -= amount[low]
                    low += 1
                if total > most[s, v]:
                    most[s, v], spans[s, v, 0], spans[s, v, 1] = total, low, high + 1


@compiled
def longest_gap(start: Ints, time: Ints, begin: int, gap: Ints, after: Ints, lived: Ints) -> None:
    """Find the longest time without an event, the end that closes it, and the time from the beginning to the last."""
    for v in range(start.size - 1):
        before = begin
        for e in range(start[v], start[v + 1]):
            if time[e] == NO_TIME:
                continue
            if after[v] < 0 or time[e] - before > gap[v]:
                gap[v], after[v] = time[e] - before, e
            before = time[e]
        lived[v] = before - begin


@compiled
def mark_repeated(start: Ints, order: Ints, value: Floats, partner: Ints) -> Bools:
    """Mark the ends whose node has the same value with another partner; ``order`` has equal ones of a node together."""
    found = np.zeros(value.size, dtype=np.bool_)
    for v in range(start.size - 1):
        low, several = start[v], False
        for k in range(start[v], start[v + 1]):
            several = several or partner[order[k]] != partner[order[low]]
            if k + 1 == start[v + 1] or value[order[k + 1]] != value[order[k]]:
                for i in range(low, k + 1):
                    found[order[i]] = several
                low, several = k + 1, False
    return found


@compiled
def count_others(start: Ints, use: Bools, cells: Ints, counts: Floats) -> Floats:
    """Give for every end how many ends of other nodes are in its cell, among those that are used."""
    own, others = np.zeros(counts.size), np.zeros(cells.size)
    for v in range(start.size - 1):
        for e in range(start[v], start[v + 1]):
            own[cells[e]] += use[e]
        for e in range(start[v], start[v + 1]):
            others[e] = counts[cells[e]] - own[cells[e]]
        for e in range(start[v], start[v + 1]):
            own[cells[e]] = 0.0
    return others
