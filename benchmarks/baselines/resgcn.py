"""ResGCN (Pei, Huang, van Ipenburg and Pechenizkiy 2020): what a network does not explain of a node is its residual.

    R = relu(X V0) V1                                     the residual, one row a node, as wide as the attributes
    R_l = relu(R_(l-1) U_l),  R_0 = R                     its attention for layer l
    H_1 = relu(S X W1),  H_2 = relu(S (H_1 o exp(-g R_1)) W2),  Z = S (H_2 o exp(-g R_2)) W3
    loss = a mean_i ||a_i - sigmoid(Z z_i)||^2 + (1 - a) mean_i ||x_i - decoder(z_i) - b r_i||^2

with S the normalised adjacency, a = .5, g = .1, b = .1, and 100 steps of Adam. The score is ||r_i||. X is divided by
its root mean square: in other units one of the two losses would drown the other. Nothing is rectified after the last
layer: where Z cannot be negative no pair is less likely joined than not, and all of Z dies at 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from oddhop.base.arrays import Floats
from oddhop.base.parallel import single_threaded
from oddhop.graph.checks import is_sparse
from oddhop.graph.graph import Graph
from oddhop.hcm.convolution import Convolution, product

EPOCHS, LEARNING_RATE = 100, 0.005
WIRING, ATTENTION, RESIDUAL = 0.5, 0.1, 0.1
RESIDUAL_UNITS, UNITS, EMBEDDING = 128, 64, 32
ROWS_AT_ONCE = 1_024


def resgcn(graph: Graph, *, seed: int = 0) -> Floats:
    """Return the length of every node's residual.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph
    >>> from benchmarks.baselines.resgcn import resgcn
    >>> x = np.tile([1.0, 0.0, 0.0], (20, 1))
    >>> x[7] = [0.0, 0.0, 1.0]
    >>> ring = Graph.from_arrays([np.arange(20), (np.arange(20) + 1) % 20], x)
    >>> int(resgcn(ring, seed=0).argmax())
    7
    """
    residual, _ = trained(graph, seed)
    return np.asarray(residual.norm(dim=1).double().numpy())


def trained(graph: Graph, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return R and Z after training."""
    rows = np.array(graph.attributes.toarray() if is_sparse(graph.attributes) else graph.attributes, dtype=np.float32)
    unit = float(np.sqrt(np.mean(rows.astype(np.float64) ** 2)))
    x = torch.from_numpy(rows / unit if unit > 0 else rows)
    _, whole = Convolution.of(graph, np.float32).block(np.arange(graph.node_count))
    with torch.random.fork_rng(devices=[]), single_threaded():
        torch.manual_seed(seed)
        wide = x.shape[1]
        residual = _layers(wide, RESIDUAL_UNITS, wide)
        attention = nn.ModuleList([nn.Linear(wide, UNITS), nn.Linear(UNITS, UNITS)])
        encoder = nn.ModuleList([nn.Linear(wide, UNITS), nn.Linear(UNITS, UNITS), nn.Linear(UNITS, EMBEDDING)])
        decoder = _layers(EMBEDDING, UNITS, wide)
        parts = nn.ModuleList([residual, attention, encoder, decoder])
        optimizer = torch.optim.Adam(parts.parameters(), lr=LEARNING_RATE)
        for _ in range(EPOCHS):
            r = residual(x)
            focus = r
            # (S X) W = S (X W), and X W is the narrower one.
            z = product(whole, encoder[0](x))
            for weaken, layer in zip(attention, encoder[1:], strict=True):
                focus = torch.relu(weaken(focus))
                z = product(whole, layer(torch.relu(z) * torch.exp(-ATTENTION * focus)))
            wiring: torch.Tensor = WiringLoss.apply(z, graph)  # type: ignore[no-untyped-call]
            attributes = (x - decoder(z) - RESIDUAL * r).square().sum() / x.shape[0]
            loss = WIRING * wiring + (1 - WIRING) * attributes
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            return residual(x), z.detach()


def _layers(first: int, middle: int, last: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(first, middle), nn.ReLU(), nn.Linear(middle, last))


class WiringLoss(torch.autograd.Function):
    """Mean over nodes of ||a_i - sigmoid(Z z_i)||^2, some rows at a time, so that no nodes x nodes array is held."""

    @staticmethod
    def forward(ctx: Any, z: torch.Tensor, graph: Graph) -> torch.Tensor:
        """Return the loss, and keep its gradient for the backward pass."""
        nodes = graph.node_count
        gradient, loss = torch.zeros_like(z), 0.0
        for start in range(0, nodes, ROWS_AT_ONCE):
            stop = min(start + ROWS_AT_ONCE, nodes)
            first, last = int(graph.indptr[start]), int(graph.indptr[stop])
            rows = np.repeat(np.arange(stop - start), np.diff(graph.indptr[start : stop + 1]))
            likely = torch.sigmoid(z[start:stop] @ z.t())
            off = likely.clone()
            off[torch.from_numpy(rows), torch.from_numpy(graph.indices[first:last].astype(np.int64))] -= 1.0
            loss += float(off.square().sum())
            slope = off.mul_(likely).mul_(1.0 - likely).mul_(2.0)
            gradient[start:stop] += slope @ z
            gradient += slope.t() @ z[start:stop]
        ctx.gradient = gradient / nodes
        return torch.tensor(loss / nodes, dtype=z.dtype)

    @staticmethod
    def backward(ctx: Any, *upstream: torch.Tensor) -> tuple[torch.Tensor, None]:
        """Hand over the gradient found on the way forward."""
        return ctx.gradient * upstream[0], None
