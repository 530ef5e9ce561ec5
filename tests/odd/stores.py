"""Networks for tests of single stages, in memory and in the files of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

from oddhop import Graph
from oddhop.arrays.handles import Handle
from oddhop.arrays.run import on_threads
from oddhop.arrays.stores import ENTRIES, FolderStore, MemoryStore
from oddhop.arrays.wiring import Wiring
from oddhop.base.checkpoints import RunFolder
from oddhop.odd import communities
from oddhop.odd.eigenvectors import leading_eigenpairs
from oddhop.odd.homophily import Ratios, learn_homophily
from oddhop.odd.kinds import Edges
from oddhop.odd.pairs import Pairs, Side
from oddhop.odd.rate import Rate, learn_rate
from oddhop.odd.stranger import Homophily
from oddhop.odd.views import clique_scores
from oddhop.tables.ingest import ingest
from oddhop.tables.settings import ReadSettings

NO_LOOKS = 60.0  # f so large that looks explain nothing: the chance that they are no reason is 1 in double precision


def wiring_of(indptr: Any, indices: Any, workers: int = 1) -> Wiring:
    """Return a wiring in memory."""
    return Wiring(MemoryStore(np.asarray(indptr, dtype=np.int64), np.asarray(indices)), on_threads(workers))


def in_memory(graph: Graph, workers: int = 1) -> Wiring:
    """Return the wiring of a network in memory."""
    return wiring_of(graph.indptr, graph.indices, workers)


def in_files(graph: Graph, home: Path, partitions: int, workers: int = 1) -> Wiring:
    """Write the wiring of a network to a folder of so many partitions or a few more."""
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
    return run_of(home, workers)


def run_of(home: Path, workers: int = 1) -> Wiring:
    """Open the files of a wiring, as the process does that goes on with a run."""
    return Wiring(FolderStore.of(home / "graph", RunFolder(home / "run", str(home))), on_threads(workers))


def pairs_of(matrix: sp.csr_array, near: Any = None, far: Any = None, *, workers: int = 1) -> Pairs:
    """Return edges between judged nodes, the rows of a matrix, and others; its values are what communities leave."""
    sides = []
    for one, coordinates in ((matrix, near), (matrix.T.tocsr(), far)):
        one.sort_indices()
        wiring = wiring_of(one.indptr, one.indices, workers)
        x = np.empty((one.shape[0], 0)) if coordinates is None else coordinates
        sides.append(Side(wiring, wiring.given(x), wiring.given(one.data, ENTRIES)))
    return Pairs("device", *sides)


def rate_of(f: np.ndarray, homophily: Homophily, **how: Any) -> Rate:
    """Learn the rate of edges whose f is given."""
    wiring = wiring_of(np.array([0, f.size]), np.arange(f.size))
    return learn_rate(wiring, wiring.given(f, ENTRIES), homophily, **how)


def with_residuals(graph: Graph, workers: int = 1) -> tuple[Wiring, Handle]:
    """Return the wiring of a network, and what communities leave of every entry."""
    wiring = in_memory(graph, workers)
    return wiring, communities.residuals(wiring, leading_eigenpairs(wiring))


def clique_scores_of(graph: Graph, no_reason: np.ndarray | None = None, *, workers: int = 1) -> np.ndarray:
    """Return the raw clique scores of a network whose looks leave so much of every edge, all of it by default."""
    wiring, left = with_residuals(graph, workers)
    f = np.full(graph.edge_count, NO_LOOKS)
    if no_reason is not None:
        with np.errstate(divide="ignore"):
            f = np.minimum(np.log(no_reason) - np.log1p(-no_reason), NO_LOOKS)
    return raw_scores(wiring, left, communities.unfolded(graph, f.astype(np.float32)))[0]


def raw_scores(wiring: Wiring, left: Handle, f: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the raw clique scores, the bound of their log p by chance, and the chance, by f of every entry."""
    entries = wiring.given(f, ENTRIES)
    edges = Edges(Side(wiring, entries, left))
    found, tied, by_chance = clique_scores(edges, Ratios(entries, entries, entries, entries))
    return tied, by_chance, found.chance


def residuals_of(graph: Graph) -> np.ndarray:
    """Return what communities leave of every entry."""
    return with_residuals(graph)[1].read()


def homophily_of(graph: Graph, coordinates: np.ndarray, *, workers: int = 1) -> tuple[Homophily, np.ndarray, Ratios]:
    """Learn how neighbours go together; give that, f of every edge, and f of every entry with its sums."""
    wiring = in_memory(graph, workers)
    homophily, ratios = learn_homophily(wiring, wiring.given(coordinates))
    return homophily, communities.folded(wiring, ratios.f), ratios
