"""Reading a network from the data folder, and injecting anomalies: in DOMINANT's direction, and leak-controlled."""

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


def inject_controlled(
    edges: np.ndarray, x: Any, seed: int, *, clique: int = 15, cliques: int = 10, drawn: int = 500, alike: int = 10
) -> tuple[Graph, np.ndarray]:
    """Inject as many anomalies as :func:`inject`, without a trace in degree or norm; labels 1 and 2.

    Members of a group are joined by swaps: the edges (a, c) and (b, d) become (a, b) and (c, d), so that every degree
    stays what it was; where no such edges are left, a pair stays unjoined. An attribute anomaly takes over the
    attributes of that node which is farthest by cosine among the ten, of 500 drawn, that are nearest in
    their number of attributes.
    """
    rng = np.random.default_rng(seed)
    x = sp.csr_array(x)
    nodes, size = x.shape[0], clique * cliques
    neighbours: list[set[int]] = [set() for _ in range(nodes)]
    for a, b in edges.T.tolist():
        neighbours[a].add(b)
        neighbours[b].add(a)
    tied = rng.permutation([i for i in range(nodes) if neighbours[i]])[:size]
    exchanged = rng.permutation(np.setdiff1d(np.arange(nodes), tied))[:size]
    everyone = set(tied.tolist())
    for group in tied.reshape(cliques, clique).tolist():
        pairs = [(a, b) for k, a in enumerate(group) for b in group[k + 1 :]]
        for k in rng.permutation(len(pairs)):
            _swap(*pairs[k], neighbours, everyone, rng)
    wired = np.array([(a, b) for a in range(nodes) for b in sorted(neighbours[a]) if a < b]).T
    length = np.sqrt(np.asarray(x.multiply(x).sum(axis=1)).ravel())
    counts = np.diff(x.indptr)
    takes_from = np.arange(nodes)
    for node in exchanged:
        others = rng.choice(nodes, min(drawn, nodes), replace=False)
        others = others[others != node]
        others = others[np.argsort(np.abs(counts[others] - counts[node]), kind="stable")[:alike]]
        cosine = (x[others] @ x[[node]].T).toarray().ravel() / np.maximum(length[others], 1e-12)
        takes_from[node] = others[np.argmin(cosine)]
    labels = np.zeros(nodes, dtype=int)
    labels[tied], labels[exchanged] = 1, 2
    return Graph.from_arrays(wired, x[takes_from]), labels


def _swap(a: int, b: int, neighbours: list[set[int]], tied: set[int], rng: np.random.Generator) -> None:
    from_a, from_b = (sorted(neighbours[end] - tied) for end in (a, b))
    if b in neighbours[a] or not from_a or not from_b:
        return
    for _ in range(10):
        c, d = from_a[rng.integers(len(from_a))], from_b[rng.integers(len(from_b))]
        if c != d and d not in neighbours[c]:
            for one, two in ((a, c), (b, d)):
                neighbours[one].remove(two)
                neighbours[two].remove(one)
            for one, two in ((a, b), (c, d)):
                neighbours[one].add(two)
                neighbours[two].add(one)
            return
