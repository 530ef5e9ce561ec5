"""Stores of a network for tests, in memory and in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

from oddhop import Graph
from oddhop.odd.clique import raw_clique_scores
from oddhop.odd.communities import RESIDUALS, folded, leading, unfolded, write_residuals
from oddhop.odd.homophily import COORDINATES, RATIOS, learn_homophily
from oddhop.odd.pairs import Pairs
from oddhop.odd.rate import Rate, learn_rate
from oddhop.odd.stranger import Homophily
from oddhop.partitions.files import InFiles
from oddhop.partitions.store import InMemory
from oddhop.partitions.task import on_threads
from oddhop.tables.ingest import ingest
from oddhop.tables.settings import ReadSettings

NO_LOOKS = 60.0  # f so large that looks explain nothing: the chance that they are no reason is 1 in double precision


def in_memory(graph: Graph, **arrays: Any) -> InMemory:
    """Return the wiring of a network, and arrays over its nodes."""
    return InMemory(graph.indptr, graph.indices, arrays)


def in_files(graph: Graph, home: Path, partitions: int, **arrays: Any) -> InFiles:
    """Write the wiring of a network to a folder of so many partitions or a few more, and arrays over its nodes."""
    home.mkdir(parents=True)
    left, right = graph.ends(0, graph.edge_count)
    pq.write_table(pa.table({"source": left, "target": right}), home / "edges.parquet")
    ids = np.arange(graph.node_count)
    pq.write_table(pa.table({"id": ids, "wave": np.sin(ids)}), home / "nodes.parquet")
    stored = ingest(
        home / "edges.parquet",
        home / "nodes.parquet",
        home / "graph",
        ReadSettings(flows=False),
        partition_entries=-(-graph.indices.size // partitions),
    )
    np.testing.assert_array_equal(stored.rows("indices"), graph.indices)
    (home / "run").mkdir()
    store = InFiles(home / "graph", home / "run", 0, str(home))
    for name, array in arrays.items():
        for number in store.ranges:
            store.write(name, number, array[slice(*store.span(number))])
    return store


def pairs_of(matrix: sp.csr_array, near: Any = None, far: Any = None) -> Pairs:
    """Return edges between judged nodes, the rows of a matrix, and others; its values are what communities leave."""
    sides = []
    for one, coordinates in ((matrix, near), (matrix.T.tocsr(), far)):
        one.sort_indices()
        x = np.empty((one.shape[0], 0)) if coordinates is None else coordinates
        indptr = one.indptr.astype(np.int64)
        sides.append(InMemory(indptr, one.indices, {COORDINATES: x}, {RESIDUALS: one.data}))
    return Pairs.of("device", *sides)


def rate_of(f: np.ndarray, homophily: Homophily, **how: Any) -> Rate:
    """Learn the rate of edges whose f is given."""
    edges = np.arange(f.size)
    return learn_rate(InMemory(np.array([0, f.size]), edges, {}, {RATIOS: f}), on_threads(1), homophily, **how)


def clique_scores_of(graph: Graph, no_reason: np.ndarray | None = None, *, workers: int = 1) -> np.ndarray:
    """Return the raw clique scores of a network whose looks leave so much of every edge, all of it by default."""
    store, runner = in_memory(graph), on_threads(workers)
    write_residuals(store, runner, leading(store, runner))
    f = np.full(graph.edge_count, NO_LOOKS)
    if no_reason is not None:
        with np.errstate(divide="ignore"):
            f = np.minimum(np.log(no_reason) - np.log1p(-no_reason), NO_LOOKS)
    store.of_entries[RATIOS] = unfolded(graph, f.astype(np.float32))
    return raw_clique_scores(store, runner)[0]


def residuals_of(graph: Graph) -> np.ndarray:
    """Return what communities leave of every entry."""
    store, runner = in_memory(graph), on_threads(1)
    write_residuals(store, runner, leading(store, runner))
    return store.of_entries[RESIDUALS]


def homophily_of(graph: Graph, coordinates: np.ndarray, *, workers: int = 1) -> tuple[Homophily, np.ndarray, InMemory]:
    """Learn how neighbours go together; give that, f of every edge, and the store that it was written to."""
    store = in_memory(graph, **{COORDINATES: coordinates})
    homophily = learn_homophily(store, on_threads(workers))
    return homophily, folded(graph, store.of_entries[RATIOS]), store
