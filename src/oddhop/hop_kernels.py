"""The searches behind the hop labels, as numba kernels over blocks of sources."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from oddhop.arrays import Floats, Ints
from oddhop.randomness import mix, unit


@njit(cache=True, nogil=True)
def search(
    indptr: Ints, indices: Ints, source: int, depth: int, base: int, mark: Ints, queue: Ints, ends: Ints
) -> None:
    """Search breadth first from a source, to a depth.

    ``queue[:ends[d]]`` are the nodes within d hops, in order of distance; their mark is base + d.
    A base above every earlier mark makes clearing the marks between sources unnecessary.
    """
    mark[source] = base
    queue[0] = source
    ends[0] = 1
    for d in range(1, depth + 1):
        ends[d] = widen(indptr, indices, queue, ends[d - 2] if d > 1 else 0, ends[d - 1], base, d, mark)


@njit(cache=True, nogil=True)
def widen(indptr: Ints, indices: Ints, queue: Ints, start: int, stop: int, base: int, depth: int, mark: Ints) -> int:
    """Append the unmarked neighbours of ``queue[start:stop]``; give the new end of the queue."""
    end = stop
    for k in range(start, stop):
        for place in range(indptr[queue[k]], indptr[queue[k] + 1]):
            node = indices[place]
            if mark[node] < base:
                mark[node] = base + depth
                queue[end] = node
                end += 1
    return end


@njit(cache=True, nogil=True)
def count_block(indptr: Ints, indices: Ints, sources: Ints, classes: int) -> tuple[Ints, int]:
    """Count the nodes of every class around the sources, and the edges that the last search reads."""
    nodes = indptr.size - 1
    mark = np.full(nodes, -1, dtype=np.int32)
    queue = np.empty(nodes, dtype=indices.dtype)
    ends = np.zeros(classes, dtype=np.int64)
    counts = np.zeros(classes, dtype=np.int64)
    rim_edges = 0
    for k in range(sources.size):
        search(indptr, indices, sources[k], classes - 1, k * classes, mark, queue, ends)
        for d in range(1, classes):
            counts[d - 1] += ends[d] - ends[d - 1]
        counts[classes - 1] += nodes - ends[classes - 1]
        rim_start = ends[classes - 3] if classes > 2 else 0
        for place in range(rim_start, ends[classes - 2]):
            rim_edges += indptr[queue[place] + 1] - indptr[queue[place]]
    return counts, rim_edges


@njit(cache=True, nogil=True)
def list_block(indptr: Ints, indices: Ints, sources: Ints, classes: int) -> tuple[Ints, Ints, Ints]:
    """List every pair (source, higher node) with its class."""
    nodes = indptr.size - 1
    mark = np.full(nodes, -1, dtype=np.int32)
    queue = np.empty(nodes, dtype=indices.dtype)
    ends = np.zeros(classes, dtype=np.int64)
    size = 0
    for k in range(sources.size):
        size += nodes - 1 - sources[k]
    left = np.empty(size, dtype=indices.dtype)
    right = np.empty(size, dtype=indices.dtype)
    labels = np.empty(size, dtype=np.int8)
    end = 0
    for k in range(sources.size):
        base = k * classes
        search(indptr, indices, sources[k], classes - 1, base, mark, queue, ends)
        for node in range(sources[k] + 1, nodes):
            left[end] = sources[k]
            right[end] = node
            labels[end] = mark[node] - base - 1 if mark[node] >= base else classes - 1
            end += 1
    return left, right, labels


@njit(cache=True, nogil=True)
def draw_block(
    indptr: Ints, indices: Ints, sources: Ints, classes: int, rates: Floats, expand: bool, key: np.uint64
) -> tuple[Ints, Ints, Ints]:
    """Draw pairs (source, node) by the law of hops.py: Poisson(rate) times each, once at rate >= 1."""
    nodes = indptr.size - 1
    mark = np.full(nodes, -1, dtype=np.int32)
    queue = np.empty(nodes, dtype=indices.dtype)
    ends = np.zeros(classes, dtype=np.int64)
    reach = np.zeros(1, dtype=np.int64)  # running count of the rim's edges, for picking one of them
    left = np.empty(1024, dtype=indices.dtype)
    right = np.empty(1024, dtype=indices.dtype)
    labels = np.empty(1024, dtype=np.int8)
    stream = np.empty(1, dtype=np.uint64)
    end = 0
    for k in range(sources.size):
        source = sources[k]
        base = k * classes
        stream[0] = mix(key, source)
        depth = classes - 1 if expand else classes - 2
        search(indptr, indices, source, depth, base, mark, queue, ends)
        rim_start = ends[classes - 3] if classes > 2 else 0
        rim_stop, rim_mark = ends[classes - 2], base + classes - 2
        if not expand:
            reach = np.zeros(rim_stop - rim_start + 1, dtype=np.int64)
            for place in range(rim_start, rim_stop):
                node = queue[place]
                reach[place - rim_start + 1] = reach[place - rim_start] + indptr[node + 1] - indptr[node]
        for label in range(classes):
            listed = label < classes - 2 or (expand and label < classes - 1)
            start = ends[label]
            if listed:
                size = ends[label + 1] - start
            elif expand:
                size = nodes - ends[classes - 1]
            elif label == classes - 2:
                size = reach[-1]
            else:
                size = nodes
            whole = rates[label] >= 1.0
            draws = size if whole else _poisson(rates[label] * size, stream)
            if end + draws > left.size:
                room = max(end + draws, 2 * left.size)
                left, right, labels = _grown(left, room), _grown(right, room), _grown(labels, room)
            cursor = 0
            for draw in range(draws):
                if listed:
                    target = queue[start + (draw if whole else _below(size, stream))]
                elif expand and whole:
                    target = _next_unmarked(mark, base, cursor)
                    cursor = target + 1
                elif expand:
                    target = _any_unmarked(mark, base, stream)
                elif label == classes - 2:
                    target = _beyond_rim(
                        indptr, indices, queue[rim_start:rim_stop], reach, base, rim_mark, mark, stream
                    )
                else:
                    target = _far_off(indptr, indices, base, rim_mark, mark, stream)
                if target >= 0:
                    left[end] = source
                    right[end] = target
                    labels[end] = label
                    end += 1
    return left[:end].copy(), right[:end].copy(), labels[:end].copy()


@njit(cache=True, nogil=True)
def _next_unmarked(mark: Ints, base: int, cursor: int) -> int:
    while mark[cursor] >= base:
        cursor += 1
    return cursor


@njit(cache=True, nogil=True)
def _any_unmarked(mark: Ints, base: int, stream: Ints) -> int:
    node = _below(mark.size, stream)
    while mark[node] >= base:
        node = _below(mark.size, stream)
    return node


@njit(cache=True, nogil=True)
def _beyond_rim(
    indptr: Ints, indices: Ints, rim: Ints, reach: Ints, base: int, rim_mark: int, mark: Ints, stream: Ints
) -> int:
    """Propose the other end of one of the rim's edges; give -1 when it is not to be taken."""
    pick = _below(reach[-1], stream)
    place = np.searchsorted(reach, pick, side="right") - 1
    node = indices[indptr[rim[place]] + pick - reach[place]]
    if mark[node] >= base:
        return -1
    # A node with several neighbours on the rim is proposed by each of them.
    if _next(stream) * _rim_neighbours(indptr, indices, node, rim_mark, mark) >= 1.0:
        return -1
    return int(node)


@njit(cache=True, nogil=True)
def _far_off(indptr: Ints, indices: Ints, base: int, rim_mark: int, mark: Ints, stream: Ints) -> int:
    """Propose any node; give -1 when it lies in the ball or touches its rim."""
    node = _below(mark.size, stream)
    if mark[node] >= base or _rim_neighbours(indptr, indices, node, rim_mark, mark) > 0:
        return -1
    return node


@njit(cache=True, nogil=True)
def _rim_neighbours(indptr: Ints, indices: Ints, node: int, rim_mark: int, mark: Ints) -> int:
    count = 0
    for place in range(indptr[node], indptr[node + 1]):
        if mark[indices[place]] == rim_mark:
            count += 1
    return count


@njit(cache=True, nogil=True)
def _grown(array: Any, size: int) -> Any:
    bigger = np.empty(size, dtype=array.dtype)
    bigger[: array.size] = array
    return bigger


@njit(cache=True, nogil=True)
def _next(stream: Ints) -> float:
    stream[0] = mix(stream[0], 1)
    return unit(stream[0])


@njit(cache=True, nogil=True)
def _below(size: int, stream: Ints) -> int:
    return int(_next(stream) * size)


@njit(cache=True, nogil=True)
def _poisson(mean: float, stream: Ints) -> int:
    # Multiplying uniforms is exact for a small mean; a large one is the sum of small ones.
    total = 0
    while mean > 0.0:
        piece = min(mean, 16.0)
        mean -= piece
        limit, product = np.exp(-piece), _next(stream)
        while product > limit:
            total += 1
            product *= _next(stream)
    return total
