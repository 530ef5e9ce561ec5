"""The facts that compare a node with its own past, its two sides with each other, or its volume with its columns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from oddhop.base.arrays import Floats
from oddhop.odd.facts.ends import Ends
from oddhop.odd.facts.kernels import busiest, cover, longest_gap
from oddhop.odd.facts.of_ends import WITHIN, Known

WEEKS = 13  # parts of the period; a week of three months

Made = tuple[Floats, Floats]
"""The figure of every node, NaN where it has no such events, and how much every end adds to it."""


def return_flow(known: Known, ends: Ends) -> Made:
    """Ask how much went back and forth with the same partners."""
    setting, mine = known.setting, known.setting.places(ends)
    sent, received = (np.bincount(ends.pair, ends.amount * (ends.side == side)) for side in (0, 1))
    back = np.minimum(sent, received)[ends.pair]
    volumes = setting.volumes[:, mine]
    usual = setting.typical_both[mine] if setting.valued else volumes.max(axis=0) + 2
    figure = np.log1p(ends.by_node(back * ends.opens) / usual)
    return np.where((volumes > 0).all(axis=0), figure, np.nan), ends.amount * (back > 0)


def busiest_week(known: Known, ends: Ends) -> Made:
    """Ask how much of a node's volume falls into its busiest week, on the side where that is more."""
    setting, mine = known.setting, known.setting.places(ends)
    most, spans = np.zeros((2, ends.nodes)), np.zeros((2, ends.nodes, 2), dtype=np.int64)
    length = (setting.end - setting.begin) // WEEKS
    busiest(ends.start, ends.side, ends.time, ends.amount, length, most, spans)
    best, adds, place = np.full(ends.nodes, np.nan), np.zeros(ends.node.size), np.arange(ends.node.size)
    for side in (0, 1):
        volume, usual = setting.volumes[side, mine], setting.typical_sides[side, mine] / WEEKS
        rest = np.maximum(volume - most[side], 0.0) / WEEKS
        ratio = np.where(volume > 0, np.log((most[side] + usual) / (rest + usual)), np.nan)
        better = ~np.isnan(ratio) & ~(best >= ratio)
        first, last = spans[side, ends.node].T
        inside = (place >= first) & (place < last) & (ends.side == side)
        best, adds = np.where(better, ratio, best), np.where(better[ends.node], ends.amount * inside, adds)
    return best, adds


def change(known: Known, ends: Ends) -> Made:
    """Ask how much more a node did in the second half of the period than in the first."""
    setting = known.setting
    after = ends.known & (ends.time > (setting.begin + setting.end) // 2)
    new, old = ends.by_node(ends.amount * after), ends.by_node(ends.amount * (ends.known & ~after))
    usual = setting.typical_whole[setting.places(ends)] / 2
    return np.where(new + old > 0, np.log((new + usual) / (old + usual)), np.nan), ends.amount * after


def silence(known: Known, ends: Ends) -> Made:
    """Ask how long a node was silent, for one with so many events in the time until its last."""
    setting, count = known.setting, np.diff(ends.start)
    length = (setting.end - setting.begin) // WEEKS
    gap, ended, lived = (np.full(ends.nodes, value) for value in (0, -1, 0))
    longest_gap(ends.start, ends.time, setting.begin, gap, ended, lived)
    figure = -count * np.log1p(-gap / (np.maximum(lived, gap) + length)) - np.log(np.maximum(count, 1))
    woke = ends.time[np.maximum(ended, 0)][ends.node] if ends.time.size else ends.time
    follows = ends.known & (ends.time >= woke) & (ends.time <= woke + length) & (ended[ends.node] >= 0)
    return np.where(ended >= 0, figure, np.nan), ends.amount * follows


def passed_on(known: Known, ends: Ends) -> Made:
    """Ask which part of what a node received went on to one partner soon after."""
    setting, mine = known.setting, known.setting.places(ends)
    covered = cover(ends.start, ends.side, ends.time, ends.amount, WITHIN)
    of_partner = ends.by_arc(covered)
    most, volumes = ends.largest(of_partner), setting.volumes[:, mine]
    usual = setting.typical_sides[1, mine]
    figure = np.where((volumes > 0).all(axis=0), most / np.maximum(volumes[1] + usual, 1e-300), np.nan)
    return figure, covered * (of_partner >= most[ends.node])


def volume(side: int) -> Callable[[Known, Ends], Made]:
    """Ask how much more a node sent, or received, than its columns foretell."""

    def made(known: Known, ends: Ends) -> Made:
        return known.beyond[side, known.setting.places(ends)], ends.amount * (ends.side == side)

    return made
