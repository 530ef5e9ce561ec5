"""Hop labels over partitions: the law of hops.py, and the very pairs that it draws on one machine.

The pilot sources are followed all together: a node holds one bit for each, and a level is one pass over the
partitions, each node taking the bits of its neighbours. Pairs are drawn from a few sources at a time, whose
searches go on in step, so that rows are fetched for all of them at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from oddhop.base.arrays import Ints
from oddhop.base.kernels import compiled
from oddhop.base.randomness import mix
from oddhop.errors import NothingToLearnError
from oddhop.hcm.hop_pairs import (
    MAX_SOURCES,
    NO_EDGES,
    SOURCES_AT_ONCE,
    Choice,
    Draw,
    Drawn,
    HopPairs,
    Pilot,
    Wiring,
    grouped,
    plan_draw,
    pool_pairs,
)
from oddhop.hcm.hop_search import strides
from oddhop.hcm.partitioned.node_set import NodeSet
from oddhop.hcm.partitioned.purify import Purge
from oddhop.hcm.partitioned.rows import LeftRows
from oddhop.partitions.cross_edges import by_peer
from oddhop.partitions.task import Task, TaskRunner

STAGE = "hop pairs"
IN_STEP, LISTED_AT_ONCE = 16, 2**22  # searches that go on in step, and nodes that they may list together
ENTRIES_AT_ONCE = 2**22


def sample_pairs(work: Task, purge: Purge, runner: TaskRunner) -> HopPairs:
    """Draw about as many pairs from every class that exists as ``hops.sample_pairs`` does: the same ones."""
    if purge.entries == 0:
        raise NothingToLearnError(NO_EDGES)
    nodes, classes = work.stored.manifest.nodes, work.settings.hop_classes
    choice = Choice.of_all(nodes, MAX_SOURCES, work.seed)
    if not LeftRows(work).degrees(choice.pilot).any():
        found = runner.each(STAGE, partial(_wired, work), work.partitions, 0, 2 * classes)
        wired = np.concatenate([some for some, _ in found])
        choice = Choice.of_wired(wired, sum(count for _, count in found), MAX_SOURCES)
    _, seen = work.remembered("pilot", lambda: ({}, _pilot(work, choice.pilot, runner)))
    pilot = Pilot(np.array(seen["counts"], dtype=np.float64), seen["rim_edges"])
    wiring = Wiring(nodes, purge.entries, float(purge.squares))
    draw = plan_draw(wiring, choice, pilot, pool_pairs(work.settings, nodes), work.seed)
    blocks = range(0, choice.sources.size, SOURCES_AT_ONCE)
    tasks = [(number, choice.sources[start : start + SOURCES_AT_ONCE]) for number, start in enumerate(blocks)]
    listed = pilot.counts[:-1].sum() / choice.pilot.size + draw.rates[-1] * nodes  # around a source, on average
    in_step = int(np.clip(LISTED_AT_ONCE / listed, 1, IN_STEP))
    runner.each(STAGE, partial(_draw_block, work, draw, classes, in_step), tasks, 1, 2)
    drawn = (work.read("pairs", number) for number, _ in tasks)
    parts = ((pairs[0], pairs[1], pairs[2]) for pairs in drawn)
    return grouped(parts, draw.class_sizes, exact=draw.exact)


def _wired(work: Task, number: int) -> tuple[Ints, int]:
    """Return the first nodes of a partition that have an edge, and how many have one."""
    wired = np.flatnonzero(np.diff(work.read("left_indptr", number))) + work.bounds[number]
    return wired[:MAX_SOURCES], wired.size


def _pilot(work: Task, pilot: Ints, runner: TaskRunner) -> dict[str, object]:
    classes, nodes = work.settings.hop_classes, work.stored.manifest.nodes
    reached, rim_edges = [], 0
    for level in range(classes):
        told = runner.each(STAGE, partial(_reach, work, pilot, level), work.partitions, level, 2 * classes)
        reached.append(sum(one for one, _ in told))
        if level == max(classes - 2, 0):
            rim_edges = sum(edges for _, edges in told)
    for level in range(classes):
        work.forget(f"reach_{level}")
    counts = [*np.diff(reached).tolist(), pilot.size * nodes - reached[-1]]
    return {"counts": counts, "rim_edges": rim_edges}


def _reach(work: Task, pilot: Ints, level: int, number: int) -> tuple[int, int]:
    """Say which sources reach a node within so many hops; count these, and the edges of the newly reached."""
    name, before = f"reach_{level}", f"reach_{level - 1}"
    start, stop = work.span(number)
    indptr = work.read("left_indptr", number)
    old = work.read(before, number) if level else np.zeros((stop - start, -(-pilot.size // 64)), dtype=np.uint64)
    if not work.has(name, number):
        new = old.copy()
        if level == 0:
            here = np.flatnonzero((pilot >= start) & (pilot < stop))
            _set_bits(new, pilot[here] - start, here)
        else:
            indices = work.read("left_indices", number)
            for peer, entries in by_peer(indptr, indices, work.bounds, ENTRIES_AT_ONCE):
                theirs = work.read(before, peer)
                for some in entries:
                    _take_bits(theirs, some.rows, some.columns, new)
        work.write(name, number, new)
    new = work.read(name, number)
    total, edges = _count_bits(new, old, indptr)
    return int(total), int(edges)


@dataclass
class Search:
    """The ball around a source as far as it is known: nodes in order of distance, and where each level ends."""

    source: int
    nodes: Ints
    ends: list[int]

    def level(self, distance: int) -> Ints:
        """Return the nodes at some distance."""
        return self.nodes[self.ends[distance - 1] if distance else 0 : self.ends[distance]]


def _draw_block(work: Task, draw: Draw, classes: int, in_step: int, task: tuple[int, Ints]) -> None:
    number, sources = task
    if work.has("pairs", number):
        return
    rows, nodes = LeftRows(work), work.stored.manifest.nodes
    starts = range(0, sources.size, in_step)
    parts = [_draw_some(rows, sources[k : k + in_step], draw, classes, nodes) for k in starts]
    work.write("pairs", number, np.stack([np.concatenate(column) for column in zip(*parts, strict=True)]))


def _draw_some(rows: LeftRows, sources: Ints, draw: Draw, classes: int, nodes: int) -> Drawn:
    depth = classes - 1 if draw.expand else classes - 2
    searches = [Search(int(source), np.array([source], dtype=np.int64), [1]) for source in sources]
    for _ in range(depth):
        _step(rows, searches)
    made = _propose(rows, searches, draw, classes, depth, nodes)
    owner, target = made.owner, made.target
    keep = made.labels < depth
    for number, search in enumerate(searches):
        mine = np.flatnonzero((owner == number) & ~keep)
        keep[mine] = ~NodeSet(search.nodes).holds(target[mine])
    if not draw.expand:
        unsure = np.flatnonzero(keep & (made.labels >= depth))
        keep[unsure] = _first_on_rim(rows, searches, owner[unsure], target[unsure], classes) == made.via[unsure]
    return sources[owner[keep]], target[keep], made.labels[keep]


def _step(rows: LeftRows, searches: list[Search]) -> None:
    """Take every search one level further; nodes are reached in the order of a search that reads row after row."""
    frontiers = [search.level(len(search.ends) - 1) for search in searches]
    owner = np.repeat(np.arange(len(searches)), [frontier.size for frontier in frontiers])
    found: list[list[Ints]] = [[] for _ in searches]
    current, visited = -1, NodeSet(np.empty(0, dtype=np.int64))
    for start, stop, degrees, neighbours in rows.pieces(np.concatenate(frontiers), ENTRIES_AT_ONCE):
        owners, first = np.unique(owner[start:stop], return_index=True)
        ends = np.cumsum(degrees)
        cuts = [int(ends[place - 1]) for place in first[1:]]
        for number, some in zip(owners.tolist(), np.split(neighbours, cuts), strict=True):
            if number != current:
                current, visited = number, NodeSet(searches[number].nodes)
            found[number].append(visited.add(some))
    for search, new in zip(searches, found, strict=True):
        search.nodes = np.concatenate([search.nodes, *new])
        search.ends.append(search.nodes.size)


@dataclass(frozen=True)
class Proposals:
    """Pairs that may be of a class: by number of the source, the target node, via whom or -1, and the class."""

    owner: Ints
    target: Ints
    via: Ints
    labels: Ints


def _propose(rows: LeftRows, searches: list[Search], draw: Draw, classes: int, depth: int, nodes: int) -> Proposals:
    """Stride along the candidates of every class around every source, as ``hop_search.draw_block`` does."""
    rims = [search.level(classes - 2) for search in searches] if not draw.expand else []
    degrees = np.split(rows.degrees(np.concatenate(rims)), np.cumsum([rim.size for rim in rims])[:-1]) if rims else []
    parts = []
    for number, search in enumerate(searches):
        stream = np.array([mix(np.uint64(draw.key), search.source)], dtype=np.uint64)
        for label in range(classes):
            rate = float(draw.rates[label])
            if label < depth:
                level = search.level(label + 1)
                target = level[strides(level.size, rate, stream)]
                via = np.full(target.size, -1)
            elif label == classes - 2:
                upto = np.cumsum(degrees[number])
                target = strides(int(degrees[number].sum()), rate, stream)
                at = np.searchsorted(upto, target, side="right")
                via, target = rims[number][at], target - (upto[at] - degrees[number][at])  # for now, a place in its row
            else:
                target = strides(nodes, rate, stream)
                via = np.full(target.size, -1)
            parts.append((np.full(target.size, number), target, via, np.full(target.size, label)))
    owner, target, via, labels = (np.concatenate(column) for column in zip(*parts, strict=True))
    over_rim = via >= 0
    target[over_rim] = rows.pick(via[over_rim], target[over_rim])
    return Proposals(owner, target, via, labels)


def _first_on_rim(rows: LeftRows, searches: list[Search], owner: Ints, nodes: Ints, classes: int) -> Ints:
    """Return the first neighbour of each node that lies on its source's rim, or -1; owners ascend."""
    out = np.full(nodes.size, -1, dtype=np.int64)
    for start, stop, degrees, neighbours in rows.pieces(nodes, ENTRIES_AT_ONCE):
        ends = np.concatenate([[0], np.cumsum(degrees)])
        for number in np.unique(owner[start:stop]).tolist():
            rim = NodeSet(searches[number].level(classes - 2))
            mine = np.flatnonzero(owner[start:stop] == number)
            out[start + mine] = rim.first_in_rows(neighbours, ends, mine)
    return out


@compiled
def _set_bits(reach: Ints, rows: Ints, bits: Ints) -> None:
    for k in range(rows.size):
        reach[rows[k], bits[k] // 64] |= np.uint64(1) << np.uint64(bits[k] % 64)


@compiled
def _take_bits(theirs: Ints, rows: Ints, columns: Ints, ours: Ints) -> None:
    for k in range(rows.size):
        for w in range(ours.shape[1]):
            ours[rows[k], w] |= theirs[columns[k], w]


@compiled
def _count_bits(new: Ints, old: Ints, indptr: Ints) -> tuple[int, int]:
    total, edges = 0, 0
    for r in range(new.shape[0]):
        fresh = 0
        for w in range(new.shape[1]):
            total += _ones(new[r, w])
            fresh += _ones(new[r, w] & ~old[r, w])
        edges += fresh * (indptr[r + 1] - indptr[r])
    return total, edges


@compiled
def _ones(bits: np.uint64) -> int:
    count = 0
    while bits:
        bits &= bits - np.uint64(1)
        count += 1
    return count
