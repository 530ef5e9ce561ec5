"""Loops over the ends of every node, in their order, so that the bits are always the same."""

from __future__ import annotations

import numpy as np

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.base.kernels import compiled
from oddhop.graph.events import DAY, NO_TIME

LOOKED_AT = 64  # events after one that was received
SHORTEST, SLACK = 5 * DAY, 2 * DAY  # of a regular interval, and how much two of them may differ, with a tenth of it
FEWEST_TURNS = 4
LIMITS = (1.0, 2.0, 5.0)  # times a power of ten


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
def count_partners(indptr: Ints, partners: Ints, stratum: Ints, strata: int) -> tuple[Ints, Ints, Ints]:
    """Count the different partners of every row by their stratum: where rows begin, and strata and counts there."""
    begin, found = np.zeros(indptr.size, dtype=np.int64), 0
    levels, counts = np.empty(partners.size, dtype=np.int32), np.empty(partners.size, dtype=np.int32)
    seen_in, number = np.full(indptr.size // 2, -1), np.zeros(strata, dtype=np.int64)
    for row in range(indptr.size - 1):
        for e in range(indptr[row], indptr[row + 1]):
            if seen_in[partners[e]] == row:
                continue
            seen_in[partners[e]] = row
            level = stratum[partners[e]]
            if number[level] == 0:
                levels[found] = level
                found += 1
            number[level] += 1
        for k in range(begin[row], found):
            counts[k] = number[levels[k]]
            number[levels[k]] = 0
        begin[row + 1] = found
    return begin, levels[:found].copy(), counts[:found].copy()


@compiled
def count_alike(begin: Ints, levels: Ints, counts: Ints, row: Ints, stratum: Ints) -> Ints:
    """Give for every end how many partners of its stratum a row has."""
    out = np.zeros(row.size, dtype=np.int64)
    for e in range(row.size):
        for k in range(begin[row[e]], begin[row[e] + 1]):
            if levels[k] == stratum[e]:
                out[e] = counts[k]
    return out


@compiled
def add_moments(cells: Ints, use: Bools, x: Floats, moments: Floats) -> None:
    """Add the number, the sum and the sum of squares of x to those of the cell of every end."""
    for e in range(cells.size):
        if use[e]:
            _add(moments, cells[e], x[e])


@compiled
def _add(moments: Floats, cell: int, x: float) -> None:
    moments[cell, 0] += 1.0
    moments[cell, 1] += x
    moments[cell, 2] += x * x


@compiled
def _others(moments: Floats, own: Floats, cell: int, prior: float, mean: float, square: float) -> tuple[float, float]:
    """Give mean and mean square of other nodes in a cell; those of a coarser one are worth ``prior`` ends."""
    count = moments[cell, 0] - own[cell, 0] + prior
    mean = (moments[cell, 1] - own[cell, 1] + prior * mean) / count
    return mean, (moments[cell, 2] - own[cell, 2] + prior * square) / count


@compiled
def rates_of(
    start: Ints,
    use: Bools,
    x: Floats,
    weight: Floats,
    amount: Floats,
    coarse: Ints,
    broad: Floats,
    cell: Ints,
    fine: Floats,
    prior: float,
) -> tuple[Floats, Floats, Floats]:
    """Give by how much every node is beyond others in its cells, the variance of that by chance, what each end adds.

    ``broad`` and ``fine`` are number, sum and sum of squares of x in every coarse cell and cell. All ends are worth
    ``prior`` ends of a coarse cell, and those of the coarse cell as many of a cell.
    """
    count = max(broad[:, 0].sum(), 1.0)
    first, second = broad[:, 1].sum() / count, broad[:, 2].sum() / count
    least = 1e-3 * max(second - first**2, 1e-9)
    own_broad, own_fine = np.zeros(broad.shape), np.zeros(fine.shape)
    rate, chance = np.full(start.size - 1, np.nan), np.full(start.size - 1, np.nan)
    adds = np.zeros(x.size)
    for v in range(start.size - 1):
        for e in range(start[v], start[v + 1]):
            if use[e]:
                _add(own_broad, coarse[e], x[e])
                _add(own_fine, cell[e], x[e])
        power = beyond = noise = 0.0
        for e in range(start[v], start[v + 1]):
            if not use[e]:
                continue
            mean, square = _others(broad, own_broad, coarse[e], prior, first, second)
            mean, square = _others(fine, own_fine, cell[e], prior, mean, square)
            over = x[e] - mean
            power += weight[e]
            beyond += weight[e] * over
            noise += weight[e] ** 2 * max(square - mean**2, least)
            adds[e] = max(over, 0.0) * amount[e]
        for e in range(start[v], start[v + 1]):
            for k in range(3):
                own_broad[coarse[e], k] = own_fine[cell[e], k] = 0.0
        if power > 0:
            rate[v], chance[v] = beyond / power, noise / power**2
    return rate, chance, adds


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
def near_limits(amount: Floats, near: float, powers: int) -> tuple[Ints, Bools]:
    """Give the number of the limit that an amount is near to, -1 for none, and whether it is below it."""
    limit, under = np.full(amount.size, -1), np.zeros(amount.size, dtype=np.bool_)
    for e in range(amount.size):
        if amount[e] <= 0:
            continue
        power = np.floor(np.log10(amount[e] / (1 - near)))  # so 9.5 is 0.95 of the next power
        for k in range(len(LIMITS)):
            off = amount[e] / 10.0**power / LIMITS[k] - 1
            if limit[e] < 0 and abs(off) < near:
                place = min(max(int(power) + 2, 0), powers - 1)
                limit[e], under[e] = place * len(LIMITS) + k, off < 0
    return limit, under


@compiled
def number_groups(start: Ints, value: Ints | Floats) -> Ints:
    """Give the ends of a node with the same value one number, in the order of nodes and values."""
    group, number = np.empty(value.size, dtype=np.int64), -1
    for v in range(start.size - 1):
        order = start[v] + np.argsort(value[start[v] : start[v + 1]])
        for k in range(order.size):
            if k == 0 or value[order[k]] != value[order[k - 1]]:
                number += 1
            group[order[k]] = number
    return group


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


@compiled
def mark_regular(arc: Ints, time: Ints, amount: Floats) -> Floats:
    """Mark three or more events in a row on an arc with equal amounts and nearly equal intervals."""
    marked = np.zeros(arc.size)
    size = arc.max() + 1 if arc.size else 0
    last, before = np.full(size, -1), np.full(size, -1)
    for e in range(arc.size):
        if time[e] == NO_TIME:
            continue
        i, j = before[arc[e]], last[arc[e]]
        if i >= 0 and amount[i] == amount[j] == amount[e]:
            one, two = time[j] - time[i], time[e] - time[j]
            if min(one, two) >= SHORTEST and abs(two - one) <= SLACK + one // 10:
                marked[i] = marked[j] = marked[e] = 1.0
        before[arc[e]], last[arc[e]] = j, e
    return marked


@compiled
def mark_turns(pair: Ints, side: Ints) -> Floats:
    """Mark the events of pairs in which the sides always take turns."""
    size = pair.max() + 1 if pair.size else 0
    last, count, turns = np.full(size, -1), np.zeros(size, dtype=np.int64), np.ones(size, dtype=np.bool_)
    for e in range(pair.size):
        turns[pair[e]] &= side[e] != last[pair[e]]
        last[pair[e]] = side[e]
        count[pair[e]] += 1
    return (turns & (count >= FEWEST_TURNS))[pair].astype(np.float64)


@compiled
def weeks_of_new_partners(start: Ints, cell: Ints, week: Ints, fresh: Bools) -> Floats:
    """Give for every end in how many weeks but one its node has new partners in its cell."""
    size = cell.max() + 1 if cell.size else 0
    weeks, last, out = np.zeros(size), np.full(size, -1), np.zeros(cell.size)
    for v in range(start.size - 1):
        for e in range(start[v], start[v + 1]):
            if fresh[e] and week[e] != last[cell[e]]:
                weeks[cell[e]] += 1.0
                last[cell[e]] = week[e]
        for e in range(start[v], start[v + 1]):
            out[e] = max(weeks[cell[e]] - 1.0, 0.0)
        for e in range(start[v], start[v + 1]):
            weeks[cell[e]], last[cell[e]] = 0.0, -1
    return out


@compiled
def lower(start: Ints, adds: Floats, explained: Floats, used: Bools) -> tuple[Floats, Floats]:
    """Give how much every node adds, and which share each excuse explains; NaN is the share of the event itself."""
    carried, shares = np.zeros(start.size - 1), np.zeros((used.size, start.size - 1))
    for v in range(start.size - 1):
        for e in range(start[v], start[v + 1]):
            carried[v] += adds[e]
        for e in range(start[v], start[v + 1]):
            if adds[e] > 0:
                share = adds[e] / carried[v]
                for k in range(used.size):
                    by = explained[e, k]
                    if used[k] and by != 0:
                        shares[k, v] += (share if np.isnan(by) else by) * share
    return carried, shares
