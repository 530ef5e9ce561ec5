"""The facts that are shares: what the ends of a node are, beyond those of others in their place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from oddhop.base.arrays import Floats, Ints
from oddhop.graph.events import DAY, HOUR, NO_TIME
from oddhop.odd.facts.ends import Ends, Setting
from oddhop.odd.facts.kernels import LIMITS, count_others, match_amounts, near_limits
from oddhop.odd.facts.share import PRIOR, Share, compared, within_kind

EIGHTHS, SLOTS, AGES = 8, 48, 1_024  # of the period; hours of a weekday or of the weekend; steps of age
WITHIN, ALIKE = 3 * DAY, 0.2  # what is sent so long after it was received may be passed on, and so much less of it
NEAR = 0.1  # how near to 1, 2 or 5 times a power of ten
POWERS = 12  # of ten, from a hundredth


@dataclass(frozen=True, eq=False)
class Known:
    """All that facts are made of.

    Attributes
    ----------
    setting : what is known of all nodes.
    hours : how many events there are, by kind and hour.
    ages : how many there are by kind, side and eighth of the period, and by how long the partner had been seen.
    beyond : what judged nodes sent and received beyond what their columns foretell, (2, nodes), in logarithms.
    """

    setting: Setting
    hours: Floats
    ages: Floats
    beyond: Floats


def learn_known(setting: Setting, beyond: Floats) -> Known:
    """Count events by hour, and by the age of their partner."""
    hours, ages = np.zeros(setting.kinds * SLOTS), np.zeros(2 * setting.kinds * EIGHTHS * AGES)
    if setting.timed:
        for ends in setting.blocks():
            hours += np.bincount(slots(ends)[ends.known], minlength=hours.size)
            ages += np.bincount(ages_of(setting, ends)[ends.known], minlength=ages.size)
    return Known(setting, hours, ages, beyond)


def eighth(setting: Setting, ends: Ends) -> Ints:
    """Return the eighth of the period that every end is in."""
    if not setting.timed:
        return np.zeros(ends.node.size, dtype=np.int64)
    place = (ends.time - setting.begin) / (setting.end - setting.begin) * EIGHTHS
    return np.where(ends.known, np.clip(place, 0, EIGHTHS - 1), 0).astype(np.int64)


def slots(ends: Ends) -> Ints:
    """Return the kind and the hour of every end, weekdays and weekends apart."""
    day = ends.time // DAY
    weekend = day + 3 - (day + 3) // 7 * 7 >= 5  # the first of 1970 was a Thursday; a remainder takes longer
    return np.asarray(ends.kind * SLOTS + np.where(ends.known, weekend * 24 + ends.time // HOUR - day * 24, 0))


def ages_of(setting: Setting, ends: Ends) -> Ints:
    """Return kind, side, eighth of the period, and how long the partner had been seen, of every end."""
    seen = setting.seen[ends.partner]
    age = np.where(ends.known & (seen != NO_TIME), ends.time - seen, 0) / max(setting.end - setting.begin, 1)
    step = np.clip(age * AGES, 0, AGES - 1).astype(np.int64)
    return np.asarray(((2 * ends.kind + ends.side) * EIGHTHS + eighth(setting, ends)) * AGES + step)


def new_partners(side: int) -> Callable[[Known, Ends], Share]:
    """Ask how much a node sent to, or received from, partners it had not dealt with before."""

    def share(known: Known, ends: Ends) -> Share:
        setting = known.setting
        fresh = ends.opens if setting.timed else np.bincount(ends.pair)[ends.pair] == 1
        return compared(setting, ends, fresh, ends.side == side, eighth(setting, ends), EIGHTHS)

    return share


def known_by_it_alone(known: Known, ends: Ends) -> Share:
    """Ask which part of all that partners received, or sent, came from a node or went to it."""
    theirs = known.setting.volume[1 - ends.side if known.setting.events.columns.directed else 0, ends.partner]
    return compared(known.setting, ends, ends.by_arc(ends.amount) / np.maximum(theirs, 1e-9))


def young_partners(known: Known, ends: Ends) -> Share:
    """Ask for how long partners had been seen, by the rank of that among such events."""
    cell, ages = ages_of(known.setting, ends), known.ages.reshape(-1, AGES)
    rank = (np.cumsum(ages, axis=1).ravel()[cell] - known.ages[cell] / 2) / ages.sum(axis=1)[cell // AGES]
    apart = eighth(known.setting, ends)
    return compared(known.setting, ends, -np.log(np.where(ends.known, rank, 1.0)), ends.known, apart, EIGHTHS)


def large_amounts(side: int) -> Callable[[Known, Ends], Share]:
    """Ask how large the amounts are that a node sent, or received."""

    def share(known: Known, ends: Ends) -> Share:
        x = np.log(np.maximum(ends.amount, 1e-9))
        return within_kind(known.setting, ends, x, ends.side == side, np.ones(x.size), known.setting.strata_of(ends))

    return share


def round_amounts(known: Known, ends: Ends) -> Share:
    """Ask how many amounts have at most two digits that are not zero."""
    return compared(known.setting, ends, ends.is_round)


def equal_amounts(known: Known, ends: Ends) -> Share:
    """Ask how many amounts another partner had, too."""
    return compared(known.setting, ends, ends.repeated, apart=ends.is_round.astype(np.int64), levels=2)


def below_limit(known: Known, ends: Ends) -> Share:
    """Ask how many of the amounts near 1, 2 or 5 times a power of ten are below it."""
    limit, under = near_limits(ends.amount, NEAR, POWERS)
    apart, levels = np.maximum(limit, 0), POWERS * len(LIMITS)
    return compared(known.setting, ends, under, limit >= 0, apart, levels, np.ones(under.size))


def odd_hours(known: Known, ends: Ends) -> Share:
    """Ask how rare the hour is for the kind of event, among other nodes."""
    at_hour = count_others(ends.start, ends.known, slots(ends), known.hours)
    at_all = count_others(ends.start, ends.known, ends.kind, known.hours.reshape(-1, SLOTS).sum(axis=1))
    rare = -np.log((at_hour + PRIOR / SLOTS) / (at_all + PRIOR))
    return within_kind(known.setting, ends, rare, ends.known, ends.root)


def matched_amounts(known: Known, ends: Ends) -> Share:
    """Ask how many amounts were received and sent on to somebody else soon after, whole or a little less."""
    matched = match_amounts(ends.start, ends.side, ends.partner, ends.time, ends.amount, WITHIN, ALIKE)
    return compared(known.setting, ends, matched)
