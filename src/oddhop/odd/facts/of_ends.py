"""The facts that are shares: what the ends of a node are, beyond those of others in their place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from oddhop.base.arrays import Floats, Ints
from oddhop.graph.events import DAY, NO_TIME
from oddhop.odd.facts.ends import EIGHTHS, POWERS, SLOTS, Blocks, Ends, Setting
from oddhop.odd.facts.kernels import LIMITS, count_others, match_amounts
from oddhop.odd.facts.share import PRIOR, Share, compared

AGES = 1_024  # steps of age
WITHIN, ALIKE = 3 * DAY, 0.2  # what is sent so long after it was received may be passed on, and so much less of it


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


def learn_known(blocks: Blocks, beyond: Floats) -> Known:
    """Count events by hour, and by the age of their partner."""
    setting = blocks.setting
    hours, ages = np.zeros(setting.kinds * SLOTS), np.zeros(2 * setting.kinds * EIGHTHS * AGES)
    if setting.timed:
        for ends in blocks:
            hours += np.bincount(ends.slot[ends.known], minlength=hours.size)
            ages += np.bincount(ages_of(setting, ends)[ends.known], minlength=ages.size)
    return Known(setting, hours, ages, beyond)


def ages_of(setting: Setting, ends: Ends) -> Ints:
    """Return kind, side, eighth of the period, and how long the partner had been seen, of every end."""
    seen = setting.seen[ends.partner]
    age = np.where(ends.known & (seen != NO_TIME), ends.time - seen, 0) / max(setting.end - setting.begin, 1)
    step = np.clip(age * AGES, 0, AGES - 1).astype(np.int64)
    return np.asarray((ends.form * EIGHTHS + ends.eighth) * AGES + step)


def new_partners(side: int) -> Callable[[Known, Ends], Share]:
    """Ask how much a node sent to, or received from, partners it had not dealt with before."""

    def share(known: Known, ends: Ends) -> Share:
        setting = known.setting
        fresh = ends.opens if setting.timed else np.bincount(ends.pair)[ends.pair] == 1
        return compared(setting, ends, fresh, ends.side == side, ends.eighth, EIGHTHS)

    return share


def known_by_it_alone(known: Known, ends: Ends) -> Share:
    """Ask which part of all that partners received, or sent, came from a node or went to it."""
    theirs = known.setting.volume[1 - ends.side if known.setting.events.columns.directed else 0, ends.partner]
    return compared(known.setting, ends, ends.by_arc(ends.amount) / np.maximum(theirs, 1e-9))


def young_partners(known: Known, ends: Ends) -> Share:
    """Ask for how long partners had been seen, by the rank of that among such events."""
    cell, ages = ages_of(known.setting, ends), known.ages.reshape(-1, AGES)
    rank = (np.cumsum(ages, axis=1).ravel()[cell] - known.ages[cell] / 2) / ages.sum(axis=1)[cell // AGES]
    return compared(known.setting, ends, -np.log(np.where(ends.known, rank, 1.0)), ends.known, ends.eighth, EIGHTHS)


def large_amounts(side: int) -> Callable[[Known, Ends], Share]:
    """Ask how large the amounts are that a node sent, or received."""

    def share(known: Known, ends: Ends) -> Share:
        x = np.log(np.maximum(ends.amount, 1e-9))
        return compared(known.setting, ends, x, ends.side == side, weight=np.ones(x.size), by_size=False)

    return share


def round_amounts(known: Known, ends: Ends) -> Share:
    """Ask how many amounts have at most two digits that are not zero."""
    return compared(known.setting, ends, ends.is_round)


def equal_amounts(known: Known, ends: Ends) -> Share:
    """Ask how many amounts another partner had, too."""
    return compared(known.setting, ends, ends.repeated, apart=ends.is_round.astype(np.int64), levels=2)


def below_limit(known: Known, ends: Ends) -> Share:
    """Ask how many of the amounts near 1, 2 or 5 times a power of ten are below it."""
    limit, under = ends.limit
    apart, levels = np.maximum(limit, 0), POWERS * len(LIMITS)
    return compared(known.setting, ends, under, limit >= 0, apart, levels, np.ones(under.size))


def odd_hours(known: Known, ends: Ends) -> Share:
    """Ask how rare the hour is for the kind of event, among other nodes."""
    at_hour = count_others(ends.start, ends.known, ends.slot, known.hours)
    at_all = count_others(ends.start, ends.known, ends.kind, known.hours.reshape(-1, SLOTS).sum(axis=1))
    rare = -np.log((at_hour + PRIOR / SLOTS) / (at_all + PRIOR))
    return compared(known.setting, ends, rare, ends.known, by_stratum=False, by_size=False)


def matched_amounts(known: Known, ends: Ends) -> Share:
    """Ask how many amounts were received and sent on to somebody else soon after, whole or a little less."""
    matched = match_amounts(ends.start, ends.side, ends.partner, ends.time, ends.amount, WITHIN, ALIKE)
    return compared(known.setting, ends, matched)
