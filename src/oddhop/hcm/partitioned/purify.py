"""Purify over partitions: similarities, the threshold that drops the right number, and the rows that are left.

The owner of a row works out the similarity of every entry of it. An edge stands in two rows, so it is worked out twice,
to the same bits, and nothing has to be sent. The threshold is found by counting: sixteen bits of the
similarity at a time, so two counts over all partitions give it exactly; ties are cut by their hashes likewise.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from oddhop.base.arrays import Bools, Ints
from oddhop.base.kernels import compiled
from oddhop.base.randomness import PURIFY, mix, word
from oddhop.graph.disk import Partition
from oddhop.hcm.partitioned.prepare import side_of
from oddhop.hcm.purify import HUB, similarity_between
from oddhop.partitions.cross_edges import by_peer
from oddhop.partitions.task import Task, TaskRunner

ENTRIES_AT_ONCE = 262_144
STAGE = "purifying"
BINS = 2**16
STEPS = 9  # similarities, two counts of them, four of hashes, whether anything stays, and what does


@dataclass(frozen=True)
class Cut:
    """Which edges go.

    Those below ``similarity`` (as sortable bits) do, and of those at it the ones with hashes up to ``tie``, or all
    where it is None. No edge of a hub stays.
    """

    similarity: int
    tie: int | None
    hubs: tuple[int, ...]


@dataclass(frozen=True)
class Left:
    """What is left in a partition: entries, and the sum of the squared degrees."""

    entries: int
    squares: int


@dataclass(frozen=True)
class Purge:
    """What was left out of the whole network, and what is left."""

    dropped: int
    tied: int
    hubs: int
    entries: int
    squares: int


def purify(work: Task, measure: str, runner: TaskRunner) -> Purge:
    """Drop exactly floor(drop_ratio x edges) edges, the least similar first; write the rows that are left."""
    _, told = work.remembered("purge", lambda: ({}, _purify(work, measure, runner)))
    return Purge(**told)


def _purify(work: Task, measure: str, runner: TaskRunner) -> dict[str, int]:
    drop = int(np.floor(work.settings.drop_ratio * work.stored.manifest.edges + 1e-9))
    threshold, tie, tied = -1, None, 0
    if drop:
        runner.each(STAGE, partial(_similarity, work, measure), work.partitions, 0, STEPS)
        threshold, below, equal = _smallest(work, runner, drop, None, step=1)
        if below + equal > drop:
            tied = drop - below
            tie, _, _ = _smallest(work, runner, tied, threshold, step=3)
    hubs = tuple(int(node) for node in np.concatenate([_hubs(work, number) for number in work.partitions]))
    cut = Cut(threshold, tie, hubs)
    if hubs and not any(runner.each(STAGE, partial(_leaves_any, work, cut), work.partitions, STEPS - 2, STEPS)):
        cut = Cut(threshold, tie, ())  # of a star nothing would be left
    left = runner.each(STAGE, partial(_leave_rows, work, cut), work.partitions, STEPS - 1, STEPS)
    entries, squares = sum(one.entries for one in left), sum(one.squares for one in left)
    return {"dropped": drop, "tied": tied, "hubs": len(cut.hubs), "entries": entries, "squares": squares}


def _hubs(work: Task, number: int) -> Ints:
    start, stop = work.span(number)
    return np.asarray(np.flatnonzero(np.diff(work.stored.rows("indptr", start, stop + 1)) > HUB) + start)


def _smallest(work: Task, runner: TaskRunner, rank: int, tie: int | None, step: int) -> tuple[int, int, int]:
    """Return the key of that rank, counted from 1, how many keys are smaller, and how many are the same.

    Keys are similarities, of 32 bits, or the hashes of edges that are as similar as ``tie``, of 64.
    """
    key, below, equal = 0, 0, 0
    bits = 32 if tie is None else 64
    for passes, shift in enumerate(range(bits - 16, -1, -16)):
        top = shift == bits - 16
        count = partial(_counts, work, tie, shift, None if top else key)
        counts = np.sum(runner.each(STAGE, count, work.partitions, step + passes, STEPS), axis=0)
        upto = np.cumsum(counts)
        digit = int(np.searchsorted(upto, rank - below))
        equal = int(counts[digit])
        below += int(upto[digit]) - equal
        key = (key << 16) | digit
    return key, below, equal


def _similarity(work: Task, measure: str, number: int) -> None:
    if work.has("similarity", number):
        return
    part, own = work.stored.partition(number), side_of(work, number)
    out = np.empty(part.indices.size, dtype=np.float32)
    for peer, entries in by_peer(part.indptr, part.indices, work.bounds, ENTRIES_AT_ONCE):
        other = side_of(work, peer)
        for some in entries:
            out[some.places] = similarity_between(own, some.rows, other, some.columns, measure)
    work.write("similarity", number, _sortable(out + np.float32(0)))  # no -0, which is no less than 0


def _sortable(values: np.ndarray[tuple[int], np.dtype[np.float32]]) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    """Return the bits of numbers so that they sort as the numbers do."""
    bits = values.view(np.uint32)
    return np.where(bits >> 31, ~bits, bits | np.uint32(1 << 31))


def _counts(work: Task, tie: int | None, shift: int, prefix: int | None, number: int) -> Ints:
    part = work.stored.partition(number)
    key = word(work.seed, PURIFY)
    counts = np.zeros(BINS, dtype=np.int64)
    _count(
        part.indptr,
        part.indices,
        part.start,
        work.read("similarity", number),
        -1 if tie is None else tie,
        key,
        shift,
        prefix is not None,
        np.uint64(prefix or 0),
        counts,
    )
    return counts


def _leaves_any(work: Task, cut: Cut, number: int) -> bool:
    return bool(_staying(work, cut, number, work.stored.partition(number)).any())


def _staying(work: Task, cut: Cut, number: int, part: Partition) -> Bools:
    """Tell which entries of a partition stay."""
    bits = work.read("similarity", number) if cut.similarity >= 0 else np.zeros(part.indices.size, dtype=np.uint32)
    stays: Bools = _kept(
        part.indptr,
        part.indices,
        part.start,
        bits,
        cut.similarity,
        cut.tie is not None,
        np.uint64(cut.tie or 0),
        word(work.seed, PURIFY),
        np.array(cut.hubs, dtype=np.int64),
    )
    return stays


def _leave_rows(work: Task, cut: Cut, number: int) -> Left:
    if not work.has("left_indices", number):
        part = work.stored.partition(number)
        keep = _staying(work, cut, number, part)
        before = np.concatenate([[0], np.cumsum(keep)])
        work.write("left_indptr", number, before[part.indptr])
        work.write("left_indices", number, part.indices[keep])
    degrees = np.diff(work.read("left_indptr", number))
    return Left(int(degrees.sum()), int((degrees * degrees).sum()))


@compiled
def _count(
    indptr: Ints,
    indices: Ints,
    start: int,
    similarity: Ints,
    tie: int,
    key: np.uint64,
    shift: int,
    narrowed: bool,
    prefix: np.uint64,
    counts: Ints,
) -> None:
    for r in range(indptr.size - 1):
        u = start + r
        for p in range(indptr[r], indptr[r + 1]):
            v = indices[p]
            if v < u or (tie >= 0 and similarity[p] != tie):
                continue
            bits = mix(mix(key, u), v) if tie >= 0 else np.uint64(similarity[p])
            if not narrowed or bits >> np.uint64(shift + 16) == prefix:
                counts[(bits >> np.uint64(shift)) & np.uint64(0xFFFF)] += 1


@compiled
def _kept(
    indptr: Ints,
    indices: Ints,
    start: int,
    similarity: Ints,
    threshold: int,
    cuts_ties: bool,
    tie: np.uint64,
    key: np.uint64,
    hubs: Ints,
) -> Bools:
    keep = np.zeros(indices.size, dtype=np.bool_)
    for r in range(indptr.size - 1):
        node = start + r
        if _is_among(hubs, node):
            continue
        for p in range(indptr[r], indptr[r + 1]):
            other = indices[p]
            stays = np.int64(similarity[p]) > threshold
            if cuts_ties and np.int64(similarity[p]) == threshold:
                stays = mix(mix(key, min(node, other)), max(node, other)) > tie
            keep[p] = stays and not _is_among(hubs, other)
    return keep


@compiled
def _is_among(hubs: Ints, node: int) -> bool:
    place = np.searchsorted(hubs, node)
    return bool(place < hubs.size and hubs[place] == node)
