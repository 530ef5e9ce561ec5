"""The searches behind the hop labels, as numba kernels over blocks of sources."""

from __future__ import annotations

from typing import Any

import numpy as np

from oddhop.base.arrays import Floats, Ints
from oddhop.base.kernels import compiled
from oddhop.base.randomness import mix, unit


@compiled
def search(indptr: Ints, indices: Ints, source: int, depth: int, mark: Ints, queue: Ints, ends: Ints) -> None:
    """Search breadth first from a source, to a depth.

    ``queue[:ends[d]]`` are the nodes within d hops, in order of distance; their mark is d + 1. All
    marks must be 0 before. A mark is one byte: looking them up is most of the work, and the
    fewer bytes they take, the more of them stay in the cache.
    """
    mark[source] = 1
    queue[0] = source
    ends[0] = 1
    for d in range(1, depth + 1):
        end = ends[d - 1]
        for k in range(ends[d - 2] if d > 1 else 0, ends[d - 1]):
            for place in range(indptr[queue[k]], indptr[queue[k] + 1]):
                node = indices[place]
                if mark[node] == 0:
                    mark[node] = d + 1
                    queue[end] = node
                    end += 1
        ends[d] = end


@compiled
def count_block(indptr: Ints, indices: Ints, sources: Ints, classes: int) -> tuple[Ints, int]:
    """Count the nodes of every class around the sources, and the edges that the last search reads."""
    nodes = indptr.size - 1
    mark = np.zeros(nodes, dtype=np.uint8)
    queue = np.empty(nodes, dtype=indices.dtype)
    ends = np.zeros(classes, dtype=np.int64)
    counts = np.zeros(classes, dtype=np.int64)
    rim_edges = 0
    for k in range(sources.size):
        search(indptr, indices, sources[k], classes - 1, mark, queue, ends)
        for d in range(1, classes):
            counts[d - 1] += ends[d] - ends[d - 1]
        counts[classes - 1] += nodes - ends[classes - 1]
        for node in queue[ends[classes - 3] if classes > 2 else 0 : ends[classes - 2]]:
            rim_edges += indptr[node + 1] - indptr[node]
        mark[queue[: ends[classes - 1]]] = 0
    return counts, rim_edges


@compiled
def draw_block(
    indptr: Ints,
    indices: Ints,
    backwards: tuple[Ints, Ints],
    sources: Ints,
    classes: int,
    rates: Floats,
    expand: bool,
    key: np.uint64,
) -> tuple[Ints, Ints, Ints]:
    """Draw pairs (source, node) by the law of hop_pairs.py: Poisson(rate) times each, once at rate >= 1.

    The candidates of a class stand in a row: the nodes of a level, the edges of the rim, or all
    nodes. Striding along the row with exponential steps of mean 1 / rate lands on every candidate
    Poisson(rate) times. What was proposed but is not of the class is passed over. ``backwards`` is the adjacency
    against the arrows, or the same again where edges have no direction.
    """
    nodes = indptr.size - 1
    mark = np.zeros(nodes, dtype=np.uint8)
    queue = np.empty(nodes, dtype=indices.dtype)
    ends = np.zeros(classes, dtype=np.int64)
    left = np.empty(1024, dtype=indices.dtype)
    right = np.empty(1024, dtype=indices.dtype)
    labels = np.empty(1024, dtype=np.int8)
    places: Ints = np.empty(1024, dtype=np.int64)
    stream = np.empty(1, dtype=np.uint64)
    end = 0
    depth = classes - 1 if expand else classes - 2
    rim_mark = classes - 1
    for source in sources:
        stream[0] = mix(key, source)
        search(indptr, indices, source, depth, mark, queue, ends)
        for label in range(classes):
            row, candidates, by_edge = queue[:0], nodes, label >= depth and label == classes - 2
            if label < depth:
                row = queue[ends[label] : ends[label + 1]]
                candidates = row.size
            elif by_edge:
                row = queue[ends[label - 1] if label > 0 else 0 : ends[label]]
                candidates = (indptr[row + 1] - indptr[row]).sum()
            # Propose first and look the proposals up afterwards: the look-ups then wait for memory together.
            size, places = _strides(candidates, rates[label], stream, places)
            if end + size > left.size:
                room = max(end + size, 2 * left.size)
                left, right, labels = _grown(left, room), _grown(right, room), _grown(labels, room)
            at, passed = 0, 0
            for k in range(size):
                node, via = places[k], -1
                if label < depth:
                    node = row[node]
                elif by_edge:
                    while node - passed >= indptr[row[at] + 1] - indptr[row[at]]:
                        passed += indptr[row[at] + 1] - indptr[row[at]]
                        at += 1
                    via = row[at]
                    node = indices[indptr[via] + node - passed]
                if label >= depth:
                    if mark[node] > 0:
                        continue
                    # Nobody of the far class touches the rim. A node with several neighbours there is met from
                    # each, and only the first of them may propose it.
                    if not expand and _first_on_rim(backwards[0], backwards[1], node, rim_mark, mark) != via:
                        continue
                left[end], right[end], labels[end] = source, node, label
                end += 1
        mark[queue[: ends[depth]]] = 0
    return left[:end].copy(), right[:end].copy(), labels[:end].copy()


@compiled
def _strides(candidates: int, rate: float, stream: Ints, places: Ints) -> tuple[int, Ints]:
    """Stride along so many candidates, with steps of 1 where the rate is 1 or more; return where it lands, in order."""
    end, place = 0, 0.0
    while rate > 0.0:
        if rate < 1.0:
            stream[0] = mix(stream[0], 1)
            place -= np.log(1.0 - unit(stream[0])) / rate
        elif end > 0:
            place += 1.0
        if place >= candidates:
            break
        if end == places.size:
            places = _grown(places, 2 * places.size)
        places[end] = int(place)
        end += 1
    return end, places


@compiled
def _first_on_rim(indptr: Ints, indices: Ints, node: int, rim_mark: int, mark: Ints) -> int:
    for place in range(indptr[node], indptr[node + 1]):
        if mark[indices[place]] == rim_mark:
            return int(indices[place])
    return -1


@compiled
def _grown(array: Any, size: int) -> Any:
    bigger = np.empty(size, dtype=array.dtype)
    bigger[: array.size] = array
    return bigger
