"""HCM as its authors' released script reads it, for comparison only: nothing else in the package uses any of this.

Where it differs from the paper's text, and so from :class:`oddhop.HCM`:

- Adam instead of SGLD; dropout of one half stays on while scoring, and the "posterior" is what epochs 40 and later
  predict;
- the predicted hop count is the most likely class, counted from 0, not the expected hop count;
- a standard deviation over those epochs, not a variance;
- edges are alike by exp(-distance / 10,000), and every edge at or under the threshold is dropped, ties and all;
- the class "farther" is numbered one above the largest distance seen;
- on Amazon and Enron edges keep the one direction of the file, and every edge (u, v) with u > v is dropped too.

What the script leaves to its data, we set: 100 epochs, pairs from at most 2,000 sources, at most 65,536 pairs an epoch,
attributes prepared as for HCM.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import scipy.sparse as sp
import torch
from scipy.sparse.csgraph import dijkstra
from torch import nn
from torch.nn.functional import cross_entropy, dropout

from oddhop.base.arrays import Floats, Ints
from oddhop.base.parallel import single_threaded
from oddhop.graph.graph import Graph
from oddhop.graph.preparation import learn_preparation

EPOCHS, FIRST_SCORED = 100, 40
LEARNING_RATE, WEIGHT_DECAY = 0.01, 5e-8
MAX_SOURCES, PAIRS_AN_EPOCH, EDGES_AT_ONCE, SOURCES_AT_ONCE = 2_000, 65_536, 16_384, 64


def authors_script(
    graph: Graph,
    *,
    seed: int,
    directed_edges: Ints | None = None,
    hops: int = 4,
    drop_ratio: float = 0.2,
    sampling_ratio: float = 0.3,
    layers: int = 2,
    hidden: int = 128,
) -> dict[str, Floats]:
    """Give "ahp" and "hav" by the script's reading; with ``directed_edges``, on edges of one direction.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph
    >>> from oddhop.bench.authors_script import authors_script
    >>> rng = np.random.default_rng(0)
    >>> graph = Graph.from_arrays(rng.integers(0, 40, (2, 120)), rng.normal(size=(40, 3)))
    >>> sorted(authors_script(graph, seed=0, hidden=8))
    ['ahp', 'hav']
    """
    rng = np.random.default_rng(seed)
    prepared = learn_preparation(graph, scale="standard", pca_components=20, pca_above=100).apply(graph, np.float32)
    plain = learn_preparation(graph, scale="none", pca_components=20, pca_above=100).apply(graph)
    rows, columns = directed_edges if directed_edges is not None else (graph.entry_nodes, graph.indices)
    nodes = graph.node_count
    kept = _purified(np.asarray(plain.attributes), rows, columns, drop_ratio, one_way=directed_edges is not None)
    wiring = sp.csr_array((np.ones(int(kept.sum())), (rows[kept], columns[kept])), shape=(nodes, nodes))
    pairs = _labelled(wiring, hops, rng)
    with torch.random.fork_rng(devices=[]), single_threaded():
        torch.manual_seed(seed)
        model = _Model(np.asarray(prepared.attributes), rows, columns, layers, hidden, len(pairs))
        optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)
        smallest = min(len(group) for group in pairs)
        each = max(1, min(int(sampling_ratio * smallest), PAIRS_AN_EPOCH // len(pairs)))
        total, squares, scored = np.zeros(rows.size), np.zeros(rows.size), 0
        for epoch in range(EPOCHS):
            batch = np.concatenate([group[rng.choice(len(group), each, replace=False)] for group in pairs])
            labels = torch.from_numpy(np.repeat(np.arange(len(pairs)), each))
            loss = cross_entropy(model.logits(model.embed(), batch[:, 0], batch[:, 1]), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if epoch >= FIRST_SCORED:
                predicted = _most_likely(model, rows, columns)
                total, squares, scored = total + predicted, squares + predicted**2, scored + 1
    mean = total / scored
    spread = np.sqrt(np.maximum(squares / scored - mean**2, 0.0))
    ahp, iv = (_row_means(values, rows, nodes) for values in (mean, spread))
    return {"ahp": ahp, "hav": _over_peak(ahp) + _over_peak(iv)}


class _Model(nn.Module):
    def __init__(self, x: Floats, rows: Ints, columns: Ints, layers: int, hidden: int, classes: int) -> None:
        super().__init__()
        nodes = x.shape[0]
        loops = np.arange(nodes)
        entries = np.stack([np.concatenate([rows, loops]), np.concatenate([columns, loops])]).astype(np.int64)
        scale = 1.0 / np.sqrt(np.bincount(entries[0], minlength=nodes))
        values = (scale[entries[0]] * scale[entries[1]]).astype(np.float32)
        self.adjacency = torch.sparse_coo_tensor(
            torch.from_numpy(entries), torch.from_numpy(values), (nodes, nodes), check_invariants=False
        ).coalesce()
        self.x = torch.from_numpy(np.array(x))
        widths = [x.shape[1], *[hidden] * layers]
        self.convolutions = nn.ModuleList([nn.Linear(a, b) for a, b in pairwise(widths)])
        self.first, self.last = nn.Linear(hidden, 256), nn.Linear(256, classes)

    def embed(self) -> torch.Tensor:
        z = self.x
        for number, convolution in enumerate(self.convolutions):
            if number:
                z = dropout(torch.relu(z), 0.5, training=True)
            z = torch.sparse.mm(self.adjacency, convolution(z))
        return z

    def logits(self, z: torch.Tensor, left: Ints, right: Ints) -> torch.Tensor:
        gap = (z[torch.from_numpy(left.astype(np.int64))] - z[torch.from_numpy(right.astype(np.int64))]).abs()
        out: torch.Tensor = self.last(dropout(torch.relu(self.first(gap)), 0.5, training=True))
        return out


def _purified(x: Floats, rows: Ints, columns: Ints, drop_ratio: float, *, one_way: bool) -> np.ndarray:
    alike = np.empty(rows.size)
    for start in range(0, rows.size, EDGES_AT_ONCE):
        block = slice(start, start + EDGES_AT_ONCE)
        alike[block] = np.exp(-np.linalg.norm(x[rows[block]] - x[columns[block]], axis=1) / 10_000)
    drop = int(drop_ratio * rows.size)
    kept = alike > np.partition(alike, drop - 1)[drop - 1] if drop else np.ones(rows.size, dtype=bool)
    return np.asarray(kept & (rows < columns)) if one_way else np.asarray(kept)


def _labelled(wiring: sp.csr_array, hops: int, rng: np.random.Generator) -> list[Ints]:
    """Give pairs by class, nearest first; a class without pairs is left out, as in the script's numbering."""
    nodes = wiring.shape[0]
    sources = rng.permutation(nodes)[:MAX_SOURCES]
    groups: list[list[Ints]] = [[] for _ in range(hops)]
    for start in range(0, sources.size, SOURCES_AT_ONCE):
        block = sources[start : start + SOURCES_AT_ONCE]
        far = np.minimum(dijkstra(wiring, unweighted=True, indices=block, limit=hops - 1), hops)
        for hop in range(1, hops + 1):
            source, target = np.nonzero(far == hop)
            # The farther classes hold nearly all pairs; a share of them is plenty to draw from.
            take = rng.random(source.size) < PAIRS_AN_EPOCH * SOURCES_AT_ONCE / max(source.size * 16, 1)
            groups[hop - 1].append(np.stack([block[source[take]], target[take]], axis=1))
    joined = [np.concatenate(group) for group in groups]
    return [group for group in joined if len(group)]


@torch.no_grad()
def _most_likely(model: _Model, rows: Ints, columns: Ints) -> Floats:
    z = model.embed()
    out = np.empty(rows.size)
    for start in range(0, rows.size, EDGES_AT_ONCE):
        block = slice(start, start + EDGES_AT_ONCE)
        out[block] = model.logits(z, rows[block], columns[block]).argmax(dim=1).numpy()
    return out


def _row_means(values: Floats, rows: Ints, nodes: int) -> Floats:
    counts = np.bincount(rows, minlength=nodes)
    return np.asarray(np.bincount(rows, values, minlength=nodes) / np.maximum(counts, 1))


def _over_peak(values: Floats) -> Floats:
    return values / values.max() if values.max() > 0 else values
