"""Every stage of Odd beside the bare kernel of the same work, in one run.

    python -m benchmarks.odd_stages 1e5 1e6        # edges of made-up networks, one thread; a minute

The bare kernels do an edge once and nothing else: a SciPy product for sums over neighbours, dot products of the two
rows of an edge for f and residuals, forward counting (arcs from the lower degree to the higher) for triangles. Odd
works out f and residuals for both entries of an edge. Triangles are compared twice: with counting alone, its arcs at
hand, and with all that the stage gives: arcs, counts and the twelve largest surprises of both ends. Figures are
processor seconds, the least of three in turns.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
from numba import njit

from benchmarks.synthetic import synthetic
from oddhop.arrays.run import on_threads
from oddhop.arrays.stores import MemoryStore
from oddhop.arrays.wiring import Wiring
from oddhop.base.parallel import single_threaded
from oddhop.odd.blocks import learn_blocks
from oddhop.odd.communities import residuals
from oddhop.odd.eigenvectors import leading_eigenpairs
from oddhop.odd.homophily import learn_homophily, make_ratios
from oddhop.odd.triangles import largest_surprises, unexplained


@njit(fastmath={"reassoc"})
def bare_products(indptr, indices, x, weights, out):  # type: ignore[no-untyped-def]
    place = 0
    for i in range(indptr.size - 1):
        for j in indices[indptr[i] : indptr[i + 1]]:
            if j > i:
                total = x[i, 0] - x[i, 0]
                for k in range(weights.size):
                    total += weights[k] * x[i, k] * x[j, k]
                out[place] = total
                place += 1


@njit
def bare_triangles(starts, heads, weights, common):  # type: ignore[no-untyped-def]
    place = np.full(starts.size - 1, -1)
    for u in range(starts.size - 1):
        for a in range(starts[u], starts[u + 1]):
            place[heads[a]] = a
        for a in range(starts[u], starts[u + 1]):
            v = heads[a]
            for b in range(starts[v], starts[v + 1]):
                c = place[heads[b]]
                if c >= 0:
                    common[a] += weights[c] * weights[b]
                    common[c] += weights[a] * weights[b]
                    common[b] += weights[a] * weights[c]
        for a in range(starts[u], starts[u + 1]):
            place[heads[a]] = -1


@njit
def bare_arcs(indptr, indices, left):  # type: ignore[no-untyped-def]
    starts, heads = np.zeros(indptr.size, np.int64), np.empty(indices.size // 2, indices.dtype)
    weights, count = np.empty(heads.size), 0
    for i in range(indptr.size - 1):
        degree = indptr[i + 1] - indptr[i]
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            other = indptr[j + 1] - indptr[j]
            if degree < other or (degree == other and i < j):
                heads[count], weights[count] = j, left[e]
                count += 1
        starts[i + 1] = count
    return starts, heads, weights


@njit
def bare_keep(row, surprise):  # type: ignore[no-untyped-def]
    place = 0
    while place < row.size and surprise > row[place]:
        if place > 0:
            row[place - 1] = row[place]
        row[place] = surprise
        place += 1


@njit
def bare_largest(indptr, indices, left, sums, chance):  # type: ignore[no-untyped-def]
    starts, heads, weights = bare_arcs(indptr, indices, left)
    common, largest = np.zeros(heads.size), np.zeros((sums.size, 12))
    bare_triangles(starts, heads, weights, common)
    for u in range(sums.size):
        for a in range(starts[u], starts[u + 1]):
            expected = weights[a] * sums[u] * sums[heads[a]] * chance
            surprise = (weights[a] * common[a] - expected) / np.sqrt(expected + 1.0)
            bare_keep(largest[u], surprise)
            bare_keep(largest[heads[a]], surprise)
    return largest


def least(ours: Callable[[], object], bare: Callable[[], object]) -> tuple[float, float]:
    ours(), bare()  # compiles
    times = []
    for _ in range(3):
        pair = []
        for work in (ours, bare):
            begun = time.process_time()
            work()
            pair.append(time.process_time() - begun)
        times.append(pair)
    own, floor = np.min(times, axis=0)
    return float(own), float(floor)


def stages(edges: int) -> None:
    graph = synthetic(edges // 10, edges, 20)
    wiring = Wiring(MemoryStore(graph.indptr, graph.indices), on_threads(1))
    x = wiring.given(learn_blocks(graph.attributes, 0).coordinates(graph.attributes, 0, graph.node_count))
    pairs = leading_eigenpairs(wiring)
    assert pairs.vectors is not None
    homophily, ratios = learn_homophily(wiring, x)
    left = residuals(wiring, pairs)
    bare_edges = unexplained(wiring, left, ratios.f)
    variates, vectors = ratios.variates.all(), pairs.vectors.read()
    narrow, adjacency = variates.astype(np.float32), graph.adjacency().astype(np.float32)
    white = wiring.given(narrow)
    out, sums = np.empty(graph.edge_count), bare_edges.sums.all()
    starts, heads, weights = bare_arcs(graph.indptr, graph.indices, bare_edges.left.read())
    compared = {
        "sums over neighbours, 20 columns": (
            lambda: wiring.make(wiring.around(white)),
            lambda: adjacency @ narrow,
        ),
        "f": (
            lambda: make_ratios(wiring, x, homophily),
            lambda: bare_products(graph.indptr, graph.indices, variates, np.ones(variates.shape[1]), out),
        ),
        "residuals, 64 eigenvectors": (
            lambda: residuals(wiring, pairs),
            lambda: bare_products(graph.indptr, graph.indices, vectors, pairs.values.astype(np.float32), out),
        ),
        "triangles and the largest surprises, against counting": (
            lambda: largest_surprises(wiring, bare_edges),
            lambda: bare_triangles(starts, heads, weights, np.zeros(weights.size)),
        ),
        "the same, against arcs, counting and the largest": (
            lambda: largest_surprises(wiring, bare_edges),
            lambda: bare_largest(graph.indptr, graph.indices, bare_edges.left.read(), sums, bare_edges.chance),
        ),
    }
    for stage, (ours, bare) in compared.items():
        own, floor = least(ours, bare)
        unit = 1e9 / graph.edge_count
        print(
            f"| {graph.edge_count:,} | {stage} | {own * unit:.0f} | {floor * unit:.0f} | {own / floor:.2f} |",
            flush=True,
        )


def main() -> None:
    print("| edges | stage | ours, ns an edge | bare, ns an edge | ratio |\n|---|---|---|---|---|", flush=True)
    with single_threaded():
        for edges in sys.argv[1:] or ["1e5", "1e6"]:
            stages(int(float(edges)))


if __name__ == "__main__":
    main()
