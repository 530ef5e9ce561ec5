"""The searches behind the hop labels, as numba kernels over blocks of sources."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from oddhop.arrays import Floats, Ints
from oddhop.randomness import mix, unit


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def forget(mark: Ints, queue: Ints, end: int) -> None:
    """Take the marks of a search back."""
    for k in range(end):
        mark[queue[k]] = 0


@njit(cache=True, nogil=True)
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
        rim_edges += _edges_of(indptr, queue[ends[classes - 3] if classes > 2 else 0 : ends[classes - 2]])
        forget(mark, queue, ends[classes - 1])
    return counts, rim_edges


@njit(cache=True, nogil=True)
def list_block(indptr: Ints, indices: Ints, sources: Ints, classes: int) -> tuple[Ints, Ints, Ints]:
    """List every pair (source, higher node) with its class."""
    nodes = indptr.size - 1
    mark = np.zeros(nodes, dtype=np.uint8)
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
        search(indptr, indices, sources[k], classes - 1, mark, queue, ends)
        for node in range(sources[k] + 1, nodes):
            left[end] = sources[k]
            right[end] = node
            labels[end] = mark[node] - 2 if mark[node] > 0 else classes - 1
            end += 1
        forget(mark, queue, ends[classes - 1])
    return left, right, labels


@njit(cache=True, nogil=True)
def draw_block(
    indptr: Ints, indices: Ints, sources: Ints, classes: int, rates: Floats, expand: bool, key: np.uint64
) -> tuple[Ints, Ints, Ints]:
    """Draw pairs (source, node) by the law of hops.py: Poisson(rate) times each, once at rate >= 1.

    The candidates of a class stand in a row: the nodes of a level, the edges of the rim, or all
    nodes. Striding along the row with exponential steps of mean 1 / rate lands on every candidate
    Poisson(rate) times. What was proposed but is not of the class is passed over.
    """
    nodes = indptr.size - 1
    mark = np.zeros(nodes, dtype=np.uint8)
    queue = np.empty(nodes, dtype=indices.dtype)
    ends = np.zeros(classes, dtype=np.int64)
    left = np.empty(1024, dtype=indices.dtype)
    right = np.empty(1024, dtype=indices.dtype)
    labels = np.empty(1024, dtype=np.int8)
    stream = np.empty(1, dtype=np.uint64)
    end = 0
    depth = classes - 1 if expand else classes - 2
    for source in sources:
        stream[0] = mix(key, source)
        search(indptr, indices, source, depth, mark, queue, ends)
        for label in range(classes):
            listed = label < depth
            rim, passed = ends[classes - 3] if classes > 2 else 0, 0  # a rim node, and the edges before its own
            if listed:
                size = ends[label + 1] - ends[label]
            elif label == classes - 2:
                size = _edges_of(indptr, queue[rim : ends[label]])
            else:
                size = nodes
            place = _stride(-1.0, rates[label], stream)
            while place < size:
                k = int(place)
                place = _stride(place, rates[label], stream)
                if listed:
                    target = queue[ends[label] + k]
                elif label == classes - 2:
                    while passed + indptr[queue[rim] + 1] - indptr[queue[rim]] <= k:
                        passed += indptr[queue[rim] + 1] - indptr[queue[rim]]
                        rim += 1
                    target = indices[indptr[queue[rim]] + k - passed]
                    # A node with several neighbours on the rim is met from each: take one in so many.
                    most = 1.0 / max(_next(stream), 1e-300)
                    if mark[target] > 0 or _rim_neighbours(indptr, indices, target, depth + 1, mark, most) > most:
                        continue
                else:
                    target = k
                    if mark[k] > 0 or (not expand and _rim_neighbours(indptr, indices, k, depth + 1, mark, 0.0) > 0):
                        continue
                if end == left.size:
                    left, right, labels = _doubled(left), _doubled(right), _doubled(labels)
                left[end], right[end], labels[end] = source, target, label
                end += 1
        forget(mark, queue, ends[depth])
    return left[:end].copy(), right[:end].copy(), labels[:end].copy()


@njit(cache=True, nogil=True)
def _edges_of(indptr: Ints, nodes: Ints) -> int:
    total = 0
    for node in nodes:
        total += indptr[node + 1] - indptr[node]
    return total


@njit(cache=True, nogil=True)
def _rim_neighbours(indptr: Ints, indices: Ints, node: int, rim_mark: int, mark: Ints, most: float) -> int:
    """Count the neighbours on the rim, but no further than it takes to know there are more than ``most``."""
    count = 0
    for place in range(indptr[node], indptr[node + 1]):
        if mark[indices[place]] == rim_mark:
            count += 1
            if count > most:
                break
    return count


@njit(cache=True, nogil=True)
def _doubled(array: Any) -> Any:
    bigger = np.empty(2 * array.size, dtype=array.dtype)
    bigger[: array.size] = array
    return bigger


@njit(cache=True, nogil=True)
def _stride(place: float, rate: float, stream: Ints) -> float:
    """Give the next place to land on, from before the row (-1) or from within it."""
    if rate >= 1.0:
        return place + 1.0
    if rate == 0.0:
        return np.inf
    return float(max(place, 0.0) - np.log(1.0 - _next(stream)) / rate)


@njit(cache=True, nogil=True)
def _next(stream: Ints) -> float:
    stream[0] = mix(stream[0], 1)
    return unit(stream[0])
