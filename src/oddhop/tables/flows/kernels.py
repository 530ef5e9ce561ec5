"""Sums over the events of every node, each in the order of its events, so that the bits are always the same."""

from __future__ import annotations

import numpy as np

from oddhop.base.arrays import Floats, Ints
from oddhop.base.kernels import compiled, sort_ascending
from oddhop.graph.events import DAY, HOUR, NO_TIME


@compiled
def count_partners(indptr: Ints, partners: Ints, out: Floats) -> None:
    """Count, for every row: events, different partners, and the largest share of the events with one partner."""
    for row in range(indptr.size - 1):
        own = partners[indptr[row] : indptr[row + 1]].astype(np.int64)
        sort_ascending(own)
        different, run, longest = 0, 0, 0
        for e in range(own.size):
            if e == 0 or own[e] != own[e - 1]:
                different += 1
                run = 0
            run += 1
            longest = max(longest, run)
        out[row, 0] = own.size
        out[row, 1] = different
        out[row, 2] = longest / own.size if own.size else np.nan


@compiled
def count_mutual(indptr: Ints, partners: Ints, out: Floats) -> None:
    """Count, for every node, the partners that it both sent to and received from."""
    for node in range(out.size):
        sent = partners[indptr[2 * node] : indptr[2 * node + 1]].astype(np.int64)
        got = partners[indptr[2 * node + 1] : indptr[2 * node + 2]].astype(np.int64)
        sort_ascending(sent)
        sort_ascending(got)
        i, j, both = 0, 0, 0
        while i < sent.size and j < got.size:
            if sent[i] < got[j]:
                i += 1
            elif sent[i] > got[j]:
                j += 1
            else:
                both += i == 0 or sent[i] != sent[i - 1]
                i += 1
        out[node] = both


@compiled
def sum_amounts(indptr: Ints, amounts: Floats, out: Floats) -> None:
    """Give, for every row: sum, mean, median and largest amount, and the share of round ones."""
    for row in range(indptr.size - 1):
        total, plain, known = 0.0, 0, 0
        own = amounts[indptr[row] : indptr[row + 1]].copy()
        for e in range(own.size):
            if not np.isnan(own[e]):
                own[known] = own[e]
                known += 1
                total += own[known - 1]
                plain += is_round(own[known - 1])
        out[row, 0] = total
        if known:
            ordered = own[:known]
            sort_ascending(ordered)
            out[row, 1] = total / known
            out[row, 2] = ordered[(known - 1) // 2]
            out[row, 3] = ordered[-1]
            out[row, 4] = plain / known
        else:
            for k in range(1, 5):
                out[row, k] = np.nan


@compiled
def is_round(amount: float) -> bool:
    """Return whether an amount has at most two digits that are not trailing or leading zeros."""
    size = abs(amount)
    if size < 1e-300:  # below, a power of ten is 0
        return size == 0.0
    leading = size / 10.0 ** (np.floor(np.log10(size)) - 1)
    return bool(abs(leading - np.floor(leading + 0.5)) < 1e-6)


@compiled
def spread_in_time(indptr: Ints, times: Ints, out: Floats) -> None:
    """Give, for every node, from its events of both rows.

    Days from the first to the last, the median gap in hours, the largest share of events within an hour and within a
    day, and the shares of those at night (UTC) and at weekends.
    """
    for node in range(out.shape[0]):
        known = 0
        own = times[indptr[2 * node] : indptr[2 * node + 2]].copy()
        sort_ascending(own)
        while known < own.size and own[known] == NO_TIME:
            known += 1
        own = own[known:]
        if not own.size:
            for k in range(6):
                out[node, k] = np.nan
            continue
        out[node, 0] = (own[-1] - own[0]) / DAY
        gaps = own[1:].copy()
        for e in range(gaps.size):
            gaps[e] -= own[e]
        sort_ascending(gaps)
        out[node, 1] = gaps[(gaps.size - 1) // 2] / HOUR if gaps.size else np.nan
        hour, day, night, weekend, first_h, first_d = 0, 0, 0, 0, 0, 0
        for e in range(own.size):
            while own[e] - own[first_h] >= HOUR:
                first_h += 1
            while own[e] - own[first_d] >= DAY:
                first_d += 1
            hour, day = max(hour, e + 1 - first_h), max(day, e + 1 - first_d)
            night += own[e] % DAY < 6 * HOUR
            weekend += (own[e] // DAY + 3) % 7 >= 5
        out[node, 2], out[node, 3] = hour / own.size, day / own.size
        out[node, 4], out[node, 5] = night / own.size, weekend / own.size


@compiled
def pass_through(indptr: Ints, times: Ints, amounts: Floats, out: Floats) -> None:
    """Give, for every node, the median hours from an event in to the next out, and the share passed on within a day.

    What goes out is taken from what came in within the day before, the oldest first.
    """
    for node in range(out.shape[0]):
        o, end_o, end_i = indptr[2 * node], indptr[2 * node + 1], indptr[2 * node + 2]
        waits = np.empty(end_i - end_o, dtype=np.int64)
        waiting, later, total, passed = 0, o, 0.0, 0.0
        for i in range(end_o, end_i):
            if times[i] == NO_TIME:
                continue
            total += 0.0 if np.isnan(amounts[i]) else abs(amounts[i])
            while later < end_o and (times[later] == NO_TIME or times[later] < times[i]):
                later += 1
            if later < end_o:
                waits[waiting] = times[later] - times[i]
                waiting += 1
        oldest, left = end_o, 0.0
        if oldest < end_i:
            left = 0.0 if np.isnan(amounts[oldest]) else abs(amounts[oldest])
        for e in range(o, end_o):
            if times[e] == NO_TIME or np.isnan(amounts[e]):
                continue
            going = abs(amounts[e])
            while oldest < end_i and times[oldest] <= times[e] and going > 0.0:
                taken = min(left, going) if times[oldest] != NO_TIME and times[e] - times[oldest] <= DAY else 0.0
                passed, going, left = passed + taken, going - taken, left - taken
                if going > 0.0:
                    oldest += 1
                    if oldest < end_i:
                        left = 0.0 if np.isnan(amounts[oldest]) else abs(amounts[oldest])
        sort_ascending(waits[:waiting])
        out[node, 0] = waits[(waiting - 1) // 2] / HOUR if waiting else np.nan
        out[node, 1] = passed / total if total > 0.0 else np.nan


@compiled
def share_kinds(indptr: Ints, kinds: Ints, out: Floats) -> None:
    """Give, for every node, the share of each kind among its events of both rows, and how many kinds it has."""
    levels = out.shape[1] - 1
    for node in range(out.shape[0]):
        first, last = indptr[2 * node], indptr[2 * node + 2]
        out[node] = 0.0 if last > first else np.nan
        out[node, levels] = 0.0
        for e in range(first, last):
            if kinds[e] >= 0:
                out[node, levels] += out[node, kinds[e]] == 0.0
                out[node, kinds[e]] += 1.0
        for k in range(levels):
            out[node, k] /= max(last - first, 1)
