"""Score one node again after a small change, looking at its surroundings only.

The score of a node rests on the embeddings of itself and of its neighbours. In a model of two layers a change
of its attributes moves only their own hidden vectors, so all else is a sum that stays:

    row r of a convolution = w_r (outside_r + sum over k in the surroundings, joined to r, of w_k h_k)

``outside`` is computed once from the whole network (``Frozen``), for many nodes together. What a removed edge does
further out is followed to the neighbours of its far end (``felt_by``). With more layers, what a change does two
steps away is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.base.kernels import compiled
from oddhop.base.parallel import Progress, map_blocks, silent
from oddhop.graph.events import Events
from oddhop.graph.graph import Graph
from oddhop.hcm.chains import Posterior
from oddhop.hcm.model import Inputs, receptive_fields

FELT_BY_AT_MOST = 1_000
VECTORS_AT_ONCE = 8_192
UNITS_AT_ONCE = 32  # of a hidden layer; so large a block goes back to the system at once, a smaller one may not


@dataclass(frozen=True, eq=False)
class Frozen:
    """What the convolutions give in some rows of the unchanged network, by layer: (samples, rows, hidden).

    ``weights`` are the parts of the model, samples first; ``directed`` says whether it follows arrows.
    """

    rows: Ints
    sums: tuple[torch.Tensor, ...]
    weights: tuple[torch.Tensor, ...]
    prepared: Graph
    inputs: Inputs
    directed: bool


def freeze(
    posterior: Posterior, inputs: Inputs, prepared: Graph, rows: Ints, *, workers: int = 1, progress: Progress = silent
) -> Frozen:
    """Convolve the unchanged network under every sample, and keep some rows (ascending, each once)."""
    flat = torch.from_numpy(posterior.weights.reshape(-1, posterior.shape.size))
    shape, convolution = posterior.shape, inputs.convolution
    fields = receptive_fields(convolution, rows, shape.layers)
    needed = [field.nodes for field in fields] + [rows]
    places = [torch.from_numpy(np.searchsorted(level, rows)) for level in needed[1:]]
    seen = inputs.convolved[torch.from_numpy(np.ascontiguousarray(needed[0]))]
    sums = tuple(torch.empty((len(flat), rows.size, shape.hidden), dtype=flat.dtype) for _ in fields)

    def fill(sample: int) -> None:
        layers = shape.read(flat[sample])[: shape.layers]
        source = seen
        for number, field in enumerate(fields):
            out = torch.empty((needed[number + 1].size, shape.hidden), dtype=flat.dtype)
            for a in range(0, shape.hidden, UNITS_AT_ONCE):
                units = slice(a, a + UNITS_AT_ONCE)
                hidden = (source @ layers[number][:, units]).relu_()
                out[:, units] = torch.from_numpy(convolution.rows(hidden.numpy(), needed[number + 1], field))
            sums[number][sample] = out[places[number]]
            source = out

    for done, _ in enumerate(map_blocks(fill, range(len(flat)), workers=workers), 1):
        progress("explaining", done, len(flat))
    parts = tuple(torch.stack(part) for part in zip(*(shape.read(one) for one in flat), strict=True))
    return Frozen(rows, sums, parts, prepared, inputs, shape.directed)


@dataclass(frozen=True, eq=False)
class Surroundings:
    """A node and its neighbours, cut out of the network.

    Attributes
    ----------
    nodes : the node itself first, then its neighbours, or an even draw of them where there are many.
    joined : which are joined to which, with themselves too, (nodes, nodes) of zeros and ones.
    degrees : in the whole network.
    x : prepared attributes.
    outside : what comes from the rest of the network, by layer.
    weights : the parts of the model, samples first.
    along : how much the prediction to a neighbour and that from it count, (2, neighbours); None without a direction.
    """

    nodes: Ints
    joined: torch.Tensor
    degrees: torch.Tensor
    x: torch.Tensor
    outside: tuple[torch.Tensor, ...]
    weights: tuple[torch.Tensor, ...]
    along: torch.Tensor | None


def surroundings(frozen: Frozen, nodes: Ints) -> Surroundings:
    """Cut a node (the first) and its neighbours out of the network."""
    graph = frozen.prepared
    joined = torch.from_numpy(_joined(graph.indptr, graph.indices, nodes, nodes)).to(frozen.inputs.convolved.dtype)
    degrees = torch.from_numpy(graph.degrees[nodes])
    weight = _weight(degrees, joined.dtype)[:, None]
    x = torch.from_numpy(np.ascontiguousarray(graph.attributes[nodes]))
    outside = [frozen.inputs.convolved[torch.from_numpy(nodes.astype(np.int64))] / weight - joined @ (weight * x)]
    places = torch.from_numpy(np.searchsorted(frozen.rows, nodes))
    layers = len(frozen.sums) + 1
    source = frozen.inputs.convolved[torch.from_numpy(nodes.astype(np.int64))]
    for sums, layer in zip(frozen.sums, frozen.weights[: layers - 1], strict=True):
        hidden = torch.relu(source @ layer)
        here = sums[:, places]
        outside.append(here / weight - joined @ (weight * hidden))
        source = here
    along = _along(graph.events, nodes).to(x.dtype) if frozen.directed and graph.events is not None else None
    return Surroundings(nodes, joined, degrees, x, tuple(outside), frozen.weights, along)


def _along(events: Events, nodes: Ints) -> torch.Tensor:
    own = events.of_nodes(int(nodes[0]), int(nodes[0]) + 1)
    sent, received = np.split(own.partners, own.indptr[1:2])
    there = np.stack([np.isin(nodes[1:], partners) for partners in (sent, received)])
    return torch.from_numpy(there / there.sum(axis=0))


def hops_after(
    around: Surroundings,
    deltas: torch.Tensor,
    removed: Bools,
    felt: Sequence[torch.Tensor | None] | None = None,
) -> torch.Tensor:
    """Return the expected hops to the neighbours after changes, shape (samples, changes, neighbours).

    ``deltas`` are added to the node's prepared attributes, one row a change; ``removed`` marks the
    neighbours (changes, neighbours) whose edge is taken away. Their hops are given too, and mean nothing.
    """
    samples, size = around.weights[0].shape[0], around.nodes.size
    step = max(1, VECTORS_AT_ONCE // (samples * size))
    parts = [
        _hops(around, deltas[a : a + step], removed[a : a + step], felt[a : a + step] if felt else None)
        for a in range(0, len(deltas), step)
    ]
    return torch.cat(parts, dim=1)


def _hops(
    around: Surroundings, deltas: torch.Tensor, removed: Bools, felt: Sequence[torch.Tensor | None] | None
) -> torch.Tensor:
    *layers, v0, b0, v1, b1 = around.weights
    samples, changes, size = len(v0), len(deltas), around.nodes.size
    gone = torch.from_numpy(removed)
    joined = around.joined.repeat(changes, 1, 1)
    joined[:, 0, 1:][gone] = 0
    joined[:, 1:, 0][gone] = 0
    degrees = around.degrees.repeat(changes, 1)
    degrees[:, 1:] -= gone.to(degrees.dtype)
    degrees[:, 0] -= gone.sum(dim=1)
    weight = _weight(degrees, joined.dtype)[..., None]
    first = torch.zeros((size, 1), dtype=joined.dtype)
    first[0] = 1
    hidden = (around.x + first * deltas[:, None])[None]  # (1 or samples, changes, size, width)
    for number, layer in enumerate(layers):
        outside = around.outside[number]
        outside = outside[:, None] if outside.dim() == 3 else outside[None, None]
        if number == 1 and felt is not None:
            more = [torch.zeros_like(outside[:, 0]) if one is None else one for one in felt]
            outside = outside + torch.stack(more, dim=1)
        convolved = weight * (outside + joined @ (weight * hidden))
        flat = convolved.expand(samples, -1, -1, -1).reshape(samples, changes * size, -1)
        hidden = torch.bmm(flat, layer).view(samples, changes, size, -1)
        if number + 1 < len(layers):
            hidden = torch.relu(hidden)
    gaps = (hidden[:, :, 1:] - hidden[:, :, :1]).reshape(samples, changes * (size - 1), -1)

    def expected(gaps: torch.Tensor) -> torch.Tensor:
        units = torch.relu(torch.baddbmm(b0[:, None], gaps, v0))
        logits = torch.baddbmm(b1[:, None], units, v1)
        classes = torch.arange(1, logits.shape[2] + 1, dtype=logits.dtype)
        return (torch.softmax(logits, dim=2) @ classes).view(samples, changes, size - 1)

    if around.along is None:
        return expected(gaps.abs())
    return around.along[0] * expected(-gaps) + around.along[1] * expected(gaps)


def felt_by(frozen: Frozen, around: Surroundings, removed: Bools) -> torch.Tensor | None:
    """Return what removed edges change further out: the neighbours of their far ends now hear these a little louder.

    ``removed`` marks the neighbours of one change. Ends of very many edges are left out: one edge less
    changes what they say by less than 1 in 2,000.
    """
    graph = frozen.prepared
    layers = len(frozen.sums) + 1
    ends = around.nodes[1:][removed]
    ends = ends[graph.degrees[ends] <= FELT_BY_AT_MOST]
    if layers < 2 or not ends.size:
        return None
    rows = np.concatenate([graph.indices[graph.indptr[j] : graph.indptr[j + 1]] for j in ends])
    others = np.setdiff1d(rows, around.nodes)
    if not others.size:
        return None
    dtype = around.x.dtype
    hears = torch.from_numpy(_joined(graph.indptr, graph.indices, ends, others)).to(dtype)
    degrees = torch.from_numpy(graph.degrees[ends])
    louder = _weight(degrees - 1, dtype) - _weight(degrees, dtype)
    x = torch.from_numpy(np.ascontiguousarray(graph.attributes[ends]))
    weight = _weight(torch.from_numpy(graph.degrees[others]), dtype)[:, None]
    before = frozen.inputs.convolved[torch.from_numpy(others.astype(np.int64))]
    after = before + weight * (hears.T @ (louder[:, None] * x))
    passed_on = torch.from_numpy(_joined(graph.indptr, graph.indices, around.nodes, others)).to(dtype)
    some = max(1, VECTORS_AT_ONCE // others.size)
    return torch.cat(
        [
            passed_on @ (weight * (torch.relu(after @ layer) - torch.relu(before @ layer)))
            for layer in torch.split(around.weights[0], some)
        ]
    )


def _weight(degrees: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return (1.0 / torch.sqrt(degrees + 1.0)).to(dtype)


def _joined(indptr: Ints, indices: Ints, rows: Ints, columns: Ints) -> Floats:
    order = np.argsort(columns, kind="stable")
    out = np.zeros((rows.size, columns.size), dtype=np.float32)
    _mark_joined(indptr, indices, rows, columns[order], order, out)
    return out


@compiled
def _mark_joined(indptr: Ints, indices: Ints, rows: Ints, columns: Ints, order: Ints, out: Floats) -> None:
    for r in range(rows.size):
        row = indices[indptr[rows[r]] : indptr[rows[r] + 1]]
        for c in range(columns.size):
            if columns[c] == rows[r]:
                out[r, order[c]] = 1.0
            else:
                at = np.searchsorted(row, columns[c])
                out[r, order[c]] = 1.0 if at < row.size and row[at] == columns[c] else 0.0
