"""HCM as its authors' released script reads it, for comparison only: nothing else in the package uses any of this.

Where it differs from the paper's text, and so from :class:`oddhop.HCM`:

- Adam without weight decay instead of SGLD; dropout of one half stays on while scoring, and the "posterior" is what
  epochs 40 and later predict;
- three classes, and a fifth of the smallest class an epoch (the paper: 4, .3);
- the predicted hop count is the most likely class, counted from 0, not the expected hop count;
- a standard deviation over those epochs, not a variance; it is computed in column-major and written in row-major order.
  Where the matrix is symmetric, each edge gets the deviation of its other direction; where it is not, of another edge;
- edges are alike by exp(-distance / 10,000), and every edge at or under the threshold is dropped, ties and all;
- the class "farther" is numbered one above the largest distance seen;
- attributes are taken as they are: no scaling and no PCA. On Amazon alone rows are divided by their sums, and there are
  300 epochs instead of 100;
- on Amazon and Enron the convolution and the scores follow edges in the one direction of the file. Every edge (u, v)
  with u > v is dropped before the labels, and what is left is searched in both directions.

The script reads injected networks from files that are not published. Whether those hold all columns or the 20
components that the paper speaks of is not known. All columns are taken here, since the script can be run on them;
``components=20`` is the other reading. What its loader does to Amazon and Enron is not known either: nothing, here.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
import torch
from scipy.sparse.linalg import norm
from torch import nn
from torch.nn.functional import cross_entropy, dropout

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.base.parallel import single_threaded
from oddhop.graph.graph import Graph
from oddhop.graph.preparation import learn_preparation

Deviations: TypeAlias = Literal["as written", "on their edges"]
FIRST_SCORED, LEARNING_RATE, HEAD, EDGES_AT_ONCE = 40, 0.01, 256, 16_384


def authors_script(
    graph: Graph,
    *,
    seed: int,
    directed_edges: Ints | None = None,
    deviations: Deviations = "as written",
    row_sums: bool = False,
    components: int | None = None,
    epochs: int = 100,
    hop_classes: int = 3,
    drop_ratio: float = 0.2,
    sampling_ratio: float = 0.2,
    layers: int = 2,
    hidden: int = 128,
) -> dict[str, Floats]:
    """Return "ahp", "iv" and "hav" by the script's reading.

    With ``directed_edges`` edges have one direction. ``deviations`` says where the standard deviations of edges go,
    ``row_sums`` whether attributes are divided by the sum of their row, ``components`` to how many more than 100
    columns are reduced (None: they are not).

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph
    >>> from benchmarks.comparison.authors_script import authors_script
    >>> rng = np.random.default_rng(0)
    >>> graph = Graph.from_arrays(rng.integers(0, 40, (2, 120)), rng.normal(size=(40, 3)))
    >>> sorted(authors_script(graph, seed=0, hidden=8))
    ['ahp', 'hav', 'iv']
    """
    rng = np.random.default_rng(seed)
    x = _attributes(graph, row_sums=row_sums, components=components)
    rows, columns = directed_edges if directed_edges is not None else (graph.entry_nodes, graph.indices)
    by_column = np.lexsort((rows, columns))
    rows, columns = rows[by_column].astype(np.int64), columns[by_column].astype(np.int64)
    kept = _purified(x, rows, columns, drop_ratio)
    pairs = _labelled(graph.node_count, rows[kept], columns[kept], hop_classes)
    each = max(1, int(sampling_ratio * min(group.size for group in pairs)))
    labels = torch.from_numpy(np.repeat(np.arange(len(pairs)), each))
    total, squares = np.zeros((2, rows.size))
    with torch.random.fork_rng(devices=[]), single_threaded():
        torch.manual_seed(seed)
        model = _Model(x, rows, columns, layers, hidden, hop_classes)
        optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
        for epoch in range(epochs):
            drawn = np.concatenate([rng.choice(group, each, replace=False) for group in pairs])
            loss = cross_entropy(model.logits(model.embed(), *np.divmod(drawn, graph.node_count)), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if epoch >= FIRST_SCORED:
                predicted = _most_likely(model, rows, columns)
                total, squares = total + predicted, squares + predicted**2
    mean = total / (epochs - FIRST_SCORED)
    spread = np.sqrt(np.maximum(squares / (epochs - FIRST_SCORED) - mean**2, 0.0))
    ahp = _row_means(mean, rows, graph.node_count)
    # Sorted, the rows are those of the entries in row-major order.
    iv = _row_means(spread, np.sort(rows) if deviations == "as written" else rows, graph.node_count)
    return {"ahp": ahp, "iv": iv, "hav": _joined(ahp, iv)}


class _Model(nn.Module):
    def __init__(self, x: Any, rows: Ints, columns: Ints, layers: int, hidden: int, classes: int) -> None:
        super().__init__()
        nodes = x.shape[0]
        adjacency = sp.eye_array(nodes) + sp.coo_array((np.ones(rows.size), (rows, columns)), shape=(nodes, nodes))
        scale = sp.diags_array(1.0 / np.sqrt(adjacency.sum(axis=1)))
        self.adjacency, self.x = _tensor(scale @ adjacency @ scale), _tensor(x)
        bound = hidden**-0.5
        widths = [x.shape[1], *[hidden] * layers]
        self.weights = nn.ParameterList([torch.empty(a, b).uniform_(-bound, bound) for a, b in pairwise(widths)])
        self.biases = nn.ParameterList([torch.empty(hidden).uniform_(-bound, bound) for _ in range(layers)])
        self.first, self.last = nn.Linear(hidden, HEAD), nn.Linear(HEAD, classes)

    def embed(self) -> torch.Tensor:
        z = self.x
        for number, (weights, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            if number:
                z = dropout(torch.relu(z), 0.5, training=True)
            z = self.adjacency @ (z @ weights) + bias
        return z

    def logits(self, z: torch.Tensor, left: Ints, right: Ints) -> torch.Tensor:
        gap = (z[torch.from_numpy(left)] - z[torch.from_numpy(right)]).abs()
        out: torch.Tensor = self.last(dropout(torch.relu(self.first(gap)), 0.5, training=True))
        return out


def _attributes(graph: Graph, *, row_sums: bool, components: int | None) -> Any:
    x = graph.attributes
    if components is not None:
        x = (
            learn_preparation(graph.attributes, scale="none", pca_components=components, pca_above=100)
            .apply(graph)
            .attributes
        )
    x = sp.csr_array(x, dtype=np.float64)
    if not row_sums:
        return x
    sums = x.sum(axis=1)
    return sp.diags_array(np.divide(1.0, sums, out=np.zeros(sums.size), where=sums != 0)) @ x


def _tensor(matrix: Any) -> torch.Tensor:
    parts = matrix.tocoo()
    places = torch.from_numpy(np.stack(parts.coords).astype(np.int64))
    values = torch.from_numpy(parts.data.astype(np.float32))
    return torch.sparse_coo_tensor(places, values, parts.shape, check_invariants=False).coalesce()


def _purified(x: Any, rows: Ints, columns: Ints, drop_ratio: float) -> Bools:
    """Tell which entries stay; those under the diagonal only as the mirror image of one above that stays."""
    alike = np.empty(rows.size)
    for start in range(0, rows.size, EDGES_AT_ONCE):
        block = slice(start, start + EDGES_AT_ONCE)
        alike[block] = np.exp(-norm(x[rows[block]] - x[columns[block]], axis=1) / 10_000)
    above = rows < columns
    threshold = np.sort(alike[above])[int(drop_ratio * np.count_nonzero(above))]
    # The search goes both ways, so that an image adds nothing; without it, an entry below has no similarity.
    return np.asarray(above & (alike > threshold))


def _labelled(nodes: int, rows: Ints, columns: Ints, hop_classes: int) -> list[Ints]:
    """Return pairs u < v as u * nodes + v by class, nearest first; the script's numbering has no empty class."""
    entries = (np.concatenate([rows, columns]), np.concatenate([columns, rows]))
    wiring = sp.csr_array((np.ones(2 * rows.size, dtype=bool), entries), shape=(nodes, nodes))
    walks = [wiring]
    while len(walks) < hop_classes - 1:
        walks.append(walks[-1] @ wiring)
    hops = np.full((nodes, nodes), hop_classes, dtype=np.int8)
    for length in range(len(walks), 0, -1):
        hops[walks[length - 1].toarray()] = length
    hops[np.tri(nodes, dtype=bool)] = 0
    groups = [np.flatnonzero(hops == hop) for hop in range(1, hop_classes + 1)]
    return [group for group in groups if group.size]


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


def _joined(ahp: Floats, iv: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nan_to_num(ahp / ahp.max() + iv / iv.max(), nan=0.0))
