"""Whom a node is compared with: nodes of its category, and with about as many events."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from oddhop.base.arrays import Floats, Ints
from oddhop.base.parallel import single_threaded
from oddhop.graph.rows import AttributeRows, blocks, dense, spans
from oddhop.odd.facts.ends import Setting

FEWEST = 200  # nodes in a class
CLASSES = 4  # of how many events nodes have, within a stratum
LEAST_SPREAD = 0.1  # of log volumes
MOST_FLAGS = 512  # columns of zeros and ones that are looked at


def categories(x: AttributeRows) -> list[Ints]:
    """Return the codes of every category: neighbouring columns of zeros and ones of which each node has exactly one."""
    flags = np.ones(x.shape[1], dtype=bool)
    for rows in blocks(x):
        own = dense(rows)
        flags &= ((own == 0) | (own == 1)).all(axis=0)
    chosen = np.flatnonzero(flags)[:MOST_FLAGS]
    together = np.zeros(2 * (chosen.size,))  # how many nodes have both
    for rows in blocks(x):
        own = dense(rows)[:, chosen]
        together += own.T @ own
    found, first = [], 0
    for last in range(chosen.size):
        while first < last and (together[first:last, last].any() or chosen[last] - chosen[first] != last - first):
            first += 1
        if last > first and np.trace(together[first : last + 1, first : last + 1]) == x.shape[0]:
            found.append(chosen[first : last + 1])
            first = last + 1
    return [np.concatenate([dense(rows)[:, one].argmax(axis=1) for rows in blocks(x)]) for one in found]


def guess_stratum(levels: Sequence[Ints], volume: Floats) -> Ints:
    """Return the codes of the category that explains most of the variance of log volume; all are alike without one."""
    y = np.log1p(volume)
    best = 0.0
    found: Ints = np.zeros(y.size, dtype=np.int64)
    whole = float(((y - y.mean()) ** 2).sum()) if y.size else 0.0
    for codes in levels:
        count = np.bincount(codes)
        means = np.bincount(codes, y) / np.maximum(count, 1)
        # More levels explain more by chance.
        left = float(((y - means[codes]) ** 2).sum()) * (y.size - 1) / max(y.size - count.size, 1)
        if whole - left > best:
            best, found = whole - left, codes
    return found


def classes(stratum: Ints, counts: Ints) -> Ints:
    """Divide the strata by how many events nodes have; small strata, and nodes without events, are put together."""
    live = counts > 0
    sizes = np.bincount(stratum[live], minlength=int(stratum.max(initial=0)) + 1)
    out = np.where(sizes[stratum] >= FEWEST, stratum + 1, 0)
    for one in np.unique(out[live]):
        own = np.flatnonzero(live & (out == one))
        parts = min(CLASSES, own.size // FEWEST)
        if parts > 1:
            cuts = np.quantile(counts[own], np.arange(1, parts) / parts)
            out[own] = out.max() + 1 + np.searchsorted(cuts, counts[own])
    return out


def unexplained_volumes(setting: Setting, coordinates: AttributeRows) -> Floats:
    """Return the logarithms of what nodes sent, and received, beyond what their columns foretell by least squares.

    They are measured in spreads of the stratum; NaN for nodes without events.
    """
    live, parts = setting.counts > 0, list(spans(0, coordinates.shape[0]))
    left = np.log1p(setting.volumes / setting.typical_sides).T
    count, width = max(int(live.sum()), 1), coordinates.shape[1]
    left -= left[live].sum(axis=0) / count

    def block(first: int, last: int) -> Floats:
        return np.asarray(dense(coordinates[first:last]), dtype=np.float64)

    with single_threaded():  # at other thread counts a product has other bits
        origin = sum((block(*part)[live[slice(*part)]].sum(axis=0) for part in parts), np.zeros(width)) / count
        own, together = np.zeros((width, width)), np.zeros((width, 2))
        for part in parts:
            some = live[slice(*part)]
            x = block(*part)[some] - origin
            own, together = own + x.T @ x, together + x.T @ left[slice(*part)][some]
        slopes = np.linalg.lstsq(own, together, rcond=1e-9)[0]
        for part in parts:
            left[slice(*part)] -= (block(*part) - origin) @ slopes
    for one in range(setting.strata):
        mine = live & (setting.stratum == one)
        if mine.any():
            low, middle, high = np.quantile(left[mine], [0.1, 0.5, 0.9], axis=0)
            left[mine] = (left[mine] - middle) / np.maximum(high - low, LEAST_SPREAD)
    known = live[:, None] & setting.volumes.any(axis=1)
    return np.ascontiguousarray(np.where(known, left, np.nan).T)
