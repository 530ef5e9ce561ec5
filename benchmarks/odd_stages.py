"""Every stage of Odd beside the bare kernel of the same work, in one run.

    python benchmarks/odd_stages.py 1e5 1e6        # edges of made-up networks, one thread; a minute

The bare kernels do an edge once and nothing else: a SciPy product for sums over neighbours, dot products of the two
rows of an edge for f and residuals, forward counting (arcs from the lower degree to the higher) for triangles. Odd
works out f and residuals for both entries of an edge. Figures are processor seconds, the least of three in turns.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from numba import njit

from oddhop.base.parallel import single_threaded
from oddhop.bench.synthetic import synthetic
from oddhop.odd.blocks import learn_blocks
from oddhop.odd.communities import leading, write_residuals
from oddhop.odd.kinship import COORDINATES, FACES, _neighbour_products, _write_faces, _write_ratios, learn_kinship
from oddhop.odd.krylov import VECTORS
from oddhop.odd.triangles import unexplained, write_largest
from oddhop.partitions.store import InMemory
from oddhop.partitions.task import on_threads


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
    graph, runner = synthetic(edges // 10, edges, 20), on_threads(1)
    store = InMemory(graph.indptr, graph.indices)
    store.of_nodes[COORDINATES] = learn_blocks(graph.attributes, 0).coordinates(graph.attributes, 0, graph.node_count)
    eigenvalues = leading(store, runner)
    kinship = learn_kinship(store, runner)
    write_residuals(store, runner, eigenvalues)
    chance = unexplained(store, runner)
    _write = partial(_write_faces, store, kinship, 0, "white")
    runner.each("", _write, store.ranges)
    white, adjacency = store.of_nodes["white"], graph.adjacency().astype(np.float32)
    out = np.empty(graph.edge_count)
    faces, vectors = store.of_nodes[FACES], store.of_nodes[VECTORS]
    degree, rows = graph.degrees, graph.entry_nodes
    forward = (degree[rows] < degree[graph.indices]) | (
        (degree[rows] == degree[graph.indices]) & (rows < graph.indices)
    )
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows[forward], minlength=graph.node_count))])
    heads, weights = graph.indices[forward], store.of_entries["left"][forward].astype(np.float64)
    compared = {
        "sums over neighbours, 20 columns": (
            lambda: runner.each("", partial(_neighbour_products, store, "white"), store.ranges),
            lambda: adjacency @ white,
        ),
        "f": (
            lambda: runner.each("", partial(_write_ratios, store, kinship), store.ranges),
            lambda: bare_products(graph.indptr, graph.indices, faces, np.ones(faces.shape[1]), out),
        ),
        "residuals, 64 eigenvectors": (
            lambda: write_residuals(store, runner, eigenvalues),
            lambda: bare_products(graph.indptr, graph.indices, vectors, eigenvalues.values.astype(np.float32), out),
        ),
        "triangles and the largest surprises": (
            lambda: write_largest(store, runner, chance),
            lambda: bare_triangles(starts, heads, weights, np.zeros(weights.size)),
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
