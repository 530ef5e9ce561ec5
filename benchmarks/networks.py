"""Reading a network from the data folder, and injecting anomalies in DOMINANT's direction."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from oddhop import Graph


def load(name: str) -> tuple[np.ndarray, Any, np.ndarray | None]:
    """Give edges, attributes and labels of a network in the folder that ODDHOP_DATA names."""
    folder = os.environ.get("ODDHOP_DATA")
    if not folder:
        raise SystemExit("set ODDHOP_DATA to the folder with the networks")
    with np.load(Path(folder) / name / f"{name}.npz") as file:
        if "x" in file:
            x: Any = file["x"]
        else:
            columns = file["x_indices"].astype(np.int32)
            x = sp.csr_array((file["x_data"], columns, file["x_indptr"]), shape=tuple(file["x_shape"]))
        return file["edge_index"], x, file.get("y")


def inject(edges: np.ndarray, x: sp.csr_array, seed: int, *, clique: int = 15, cliques: int = 10, candidates: int = 50):
    """Add cliques x clique structural and as many attribute anomalies; labels 1 and 2.

    Members of a clique are all joined. An attribute anomaly takes over the attributes of the
    farthest of some randomly drawn nodes.
    """
    rng = np.random.default_rng(seed)
    nodes, size = x.shape[0], clique * cliques
    chosen = rng.permutation(nodes)[: 2 * size]
    u, v = np.triu_indices(clique, 1)
    groups = chosen[:size].reshape(cliques, clique)
    added = np.stack([groups[:, u].ravel(), groups[:, v].ravel()])
    takes_from = np.arange(nodes)
    squares = np.asarray(x.multiply(x).sum(axis=1)).ravel()
    for node in chosen[size:]:
        drawn = rng.choice(nodes, candidates, replace=False)
        products = (x[drawn] @ x[[node]].T).toarray().ravel()
        takes_from[node] = drawn[np.argmax(squares[drawn] - 2 * products)]
    labels = np.zeros(nodes, dtype=int)
    labels[chosen[:size]], labels[chosen[size:]] = 1, 2
    return Graph.from_arrays(np.concatenate([edges, added], axis=1), x[takes_from]), labels
