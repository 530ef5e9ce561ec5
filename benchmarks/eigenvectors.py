"""The block Krylov method beside ARPACK: scores of Odd on both, and seconds on one thread.

    ODDHOP_DATA=... python -m benchmarks.eigenvectors scores                    # the development networks, npm_2016
    ODDHOP_DATA=... python -m benchmarks.eigenvectors scores cora facebook_tam  # these only
    python -m benchmarks.eigenvectors seconds 1000000                           # edges of a made-up network

ARPACK searches to a tolerance of 1e-6. A network with other labels than 0 and 1 gets one plain and one leak-controlled
injection. ``seconds`` also times the bare work of the same passes: the products of the adjacency with a block of 16,
and for every step one projection on the basis, one subtraction and two Gram matrices.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator

import numpy as np
from scipy import stats
from scipy.sparse.linalg import eigsh
from sklearn.metrics import average_precision_score, roc_auc_score

from benchmarks.inject import inject
from benchmarks.networks import load_network
from benchmarks.odd import DEVELOPMENT
from benchmarks.synthetic import synthetic
from oddhop import Graph
from oddhop.arrays.handles import CHUNK
from oddhop.arrays.run import on_threads
from oddhop.arrays.stores import MemoryStore
from oddhop.arrays.wiring import Wiring
from oddhop.base.parallel import single_threaded
from oddhop.base.randomness import START_VECTOR, generator
from oddhop.odd import eigenvectors, views
from oddhop.odd.communities import residuals
from oddhop.odd.eigenvectors import EIGENVECTORS, FEWEST_NODES, Eigenpairs, leading_eigenpairs
from oddhop.odd.source import Source

TOP = 100


Found = tuple[Wiring, Eigenpairs]


def by_krylov(graph: Graph, *, workers: int = 1) -> Found:
    """Search the leading eigenvectors as Odd does."""
    wiring = Wiring(MemoryStore(graph.indptr, graph.indices), on_threads(workers))
    with single_threaded():
        return wiring, leading_eigenpairs(wiring)


def by_arpack(graph: Graph) -> Found:
    """Search the leading eigenvectors as Odd did before."""
    wiring = Wiring(MemoryStore(graph.indptr, graph.indices), on_threads(1))
    count = min(EIGENVECTORS, graph.node_count // 4)
    if graph.node_count < FEWEST_NODES:
        return wiring, Eigenpairs(np.zeros(0), None)
    start = generator(0, START_VECTOR).random(graph.node_count) + 0.5
    with single_threaded():
        values, vectors = eigsh(graph.adjacency(), k=count, which="LM", v0=start, tol=1e-6)
    return wiring, Eigenpairs(values, wiring.given(vectors))


def scores(graph: Graph, found: Found) -> np.ndarray:
    """Score the nodes as ``Odd.fit`` does, with these eigenvectors."""
    source = Source.of_graph(graph, on_threads(1))
    blocks = {name: table.learn_blocks() for name, table in source.tables.items()}
    seen = views.see(source, blocks, left=residuals(*found).read())
    evidence = views.learn_views(seen.edges, blocks, source.name, seen.known)[1]
    return np.where(graph.degrees > 0, evidence.score, 0.0)


def networks(name: str) -> Iterator[tuple[str, Graph, np.ndarray | None]]:
    network = load_network(name)
    graph = network.graph
    if network.anomalous is not None or name not in DEVELOPMENT:
        yield name, graph, network.anomalous
        return
    cliques = 10 if graph.node_count >= 4_000 else 5
    for way, scheme in (("plain", "dominant"), ("controlled", "leak-controlled")):
        put = inject(graph, random_state=0, cliques=cliques, scheme=scheme)  # type: ignore[arg-type]
        yield f"{name}, {way}", put.graph, put.structural | put.contextual


def compare(names: list[str]) -> None:
    heads = "ROC-AUC, ARPACK | Krylov | AP, ARPACK | Krylov | rank correlation | of the first 100 | largest residual"
    print(f"| network | {heads} | s, ARPACK | s, Krylov |\n|{'---|' * 10}", flush=True)
    changes = []
    by_krylov(synthetic(1_000, 5_000, 1))  # compiles
    for name in names:
        for title, graph, labels in networks(name):
            start = time.process_time()
            before = by_arpack(graph)
            middle = time.process_time()
            after = by_krylov(graph)
            end = time.process_time()
            one, two = scores(graph, before), scores(graph, after)
            both = " | | | "
            if labels is not None:
                areas = [roc_auc_score(labels, score) for score in (one, two)]
                precisions = [average_precision_score(labels, score) for score in (one, two)]
                changes.append((areas[1] - areas[0], precisions[1] - precisions[0]))
                both = f"{areas[0]:.4f} | {areas[1]:.4f} | {precisions[0]:.4f} | {precisions[1]:.4f}"
            top = min(TOP, one.size)
            common = np.intersect1d(np.argsort(-one)[:top], np.argsort(-two)[:top]).size
            residual = largest_residual(graph, after[1]) / np.abs(after[1].values).max(initial=1e-30)
            print(
                f"| {title} | {both} | {stats.spearmanr(one, two)[0]:.5f} | {common} | {residual:.1e} "
                f"| {middle - start:.2f} | {end - middle:.2f} |",
                flush=True,
            )
    if changes:
        worst = np.abs(changes).max(axis=0)
        print(f"\nLargest change: {worst[0]:.4f} of ROC-AUC, {worst[1]:.4f} of AP.")


def largest_residual(graph: Graph, pairs: Eigenpairs) -> float:
    """Return the largest norm of A v - value v."""
    if pairs.vectors is None:
        return 0.0
    vectors = pairs.vectors.read().astype(float)
    return float(np.linalg.norm(graph.adjacency() @ vectors - vectors * pairs.values, axis=0).max())


def bare(graph: Graph) -> None:
    """Do the products and the orthogonalisations of all steps, with nothing between."""
    rng = np.random.default_rng(0)
    basis = rng.standard_normal((eigenvectors.STEPS, 1, eigenvectors.WIDTH), dtype=np.float32)
    basis = np.repeat(basis, graph.node_count, axis=1)
    small = np.zeros((eigenvectors.STEPS, eigenvectors.WIDTH, eigenvectors.WIDTH), dtype=np.float32)
    wiring = Wiring(MemoryStore(graph.indptr, graph.indices), on_threads(1))
    with single_threaded():
        for filled in [*range(1, eigenvectors.STEPS + 1), *range(eigenvectors.KEPT + 1, eigenvectors.STEPS + 1)]:
            block = np.array(wiring.around(wiring.given(basis[filled - 1])).all())
            for start in range(0, graph.node_count, CHUNK):
                part = slice(start, start + CHUNK)
                for slab, own in zip(basis[:filled], small, strict=False):
                    slab[part].T @ block[part]
                    block[part] -= slab[part] @ own
                block[part].T @ block[part]
                block[part].T @ block[part]


def seconds(sizes: list[int]) -> None:
    """Time both searches and the bare work in turns; the least of three counts, for others use the machine too."""
    print("Processor seconds on one thread; with two workers, seconds by the clock.\n")
    print(f"| edges | nodes | ARPACK | Krylov | bare | Krylov / bare | two workers |\n|{'---|' * 7}", flush=True)
    by_krylov(synthetic(1_000, 5_000, 1))  # compiles
    for size in sizes:
        graph = synthetic(size // 10, size, 1)
        before = _seconds(lambda: by_arpack(graph), time.process_time)  # noqa: B023 - called at once
        rounds = [
            (
                _seconds(lambda: by_krylov(graph), time.process_time),  # noqa: B023
                _seconds(lambda: bare(graph), time.process_time),  # noqa: B023
                _seconds(lambda: by_krylov(graph, workers=2), time.perf_counter),  # noqa: B023
            )
            for _ in range(3)
        ]
        own, floor, two = np.min(rounds, axis=0)
        cells = f"{before:.2f} | {own:.2f} | {floor:.2f} | {own / floor:.2f} | {two:.2f}"
        print(f"| {graph.edge_count:,} | {graph.node_count:,} | {cells} |", flush=True)


def _seconds(work: Callable[[], object], clock: Callable[[], float]) -> float:
    start = clock()
    work()
    return clock() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["scores", "seconds"])
    parser.add_argument("given", nargs="*", help="networks, or numbers of edges")
    args = parser.parse_args()
    if args.what == "scores":
        compare(args.given or [*DEVELOPMENT, "npm_2016"])
    else:
        seconds([int(size) for size in args.given] or [1_000_000])


if __name__ == "__main__":
    main()
