"""The model: a graph convolutional network and a hop head, over one flat vector of weights.

    H(1) = relu(S X W0),  H(l+1) = relu(S H(l) Wl),  Z = S H(L-1) W(L-1)     (no relu after the last)
    logits(m, n) = relu(|Z_m - Z_n| V0 + b0) V1 + b1     (with a direction, without the absolute value)

S is the normalised adjacency. S X does not depend on the weights: it is computed once. The flat
vector keeps samplers simple: a state is a vector, a posterior sample is a copy of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from oddhop.base.arrays import Floats, Ints
from oddhop.base.kernels import compiled
from oddhop.base.parallel import map_blocks
from oddhop.graph.graph import Graph
from oddhop.hcm.convolution import Convolution, Field, convolve
from oddhop.hcm.hop_pairs import Batch

HEAD_UNITS = 256  # the paper's
ROWS_AT_ONCE = 16_384
PAIRS_AT_ONCE = 4_096
LEAN_ABOVE = 2**27  # values of a hidden layer (half a gigabyte); larger ones are not kept


@dataclass(frozen=True)
class Shape:
    """The sizes that fix how a flat weight vector is read, and whether the head tells a pair from its reverse.

    Examples
    --------
    >>> from oddhop.hcm.model import Shape
    >>> Shape(attributes=20, hidden=128, layers=2, classes=4).size
    52996
    """

    attributes: int
    hidden: int
    layers: int
    classes: int
    directed: bool = False

    @property
    def parts(self) -> list[tuple[int, ...]]:
        """The shapes of W0 ... W(L-1), V0, b0, V1, b1."""
        widths = [self.attributes] + [self.hidden] * self.layers
        head = [(self.hidden, HEAD_UNITS), (HEAD_UNITS,), (HEAD_UNITS, self.classes), (self.classes,)]
        return [*pairwise(widths), *head]

    @property
    def size(self) -> int:
        """The number of weights."""
        return sum(int(np.prod(part)) for part in self.parts)

    def read(self, weights: torch.Tensor) -> list[torch.Tensor]:
        """See a flat vector as its parts."""
        sizes = [int(np.prod(part)) for part in self.parts]
        return [piece.view(part) for piece, part in zip(torch.split(weights, sizes), self.parts, strict=True)]

    def start(self, generator: torch.Generator, dtype: torch.dtype) -> torch.Tensor:
        """Draw starting weights (Glorot, uniform); biases begin at zero."""
        pieces = []
        for part in self.parts:
            bound = (6.0 / sum(part)) ** 0.5 if len(part) == 2 else 0.0
            pieces.append((torch.rand(part, generator=generator, dtype=torch.float64) * 2 - 1) * bound)
        return torch.cat([piece.flatten() for piece in pieces]).to(dtype)


@dataclass(frozen=True)
class Inputs:
    """What the model sees of a network: the wiring, and the attributes convolved once."""

    convolution: Convolution
    convolved: torch.Tensor

    @classmethod
    def of(cls, graph: Graph, dtype: type[np.floating]) -> Inputs:
        """Convolve the attributes of a graph."""
        convolution = Convolution.of(graph, dtype)
        x = np.ascontiguousarray(graph.attributes, dtype=dtype)
        return cls(convolution, torch.from_numpy(convolution.rows(x, np.arange(graph.node_count))))


def pair_loss(weights: torch.Tensor, shape: Shape, inputs: Inputs, batch: Batch) -> torch.Tensor:
    """Return the mean cross-entropy of the hop classes of some pairs."""
    *_, v0, b0, v1, b1 = shape.read(weights)
    ends, place = np.unique(np.concatenate([batch.left, batch.right]), return_inverse=True)
    z = embed_rows(weights, shape, inputs, ends)
    places = torch.from_numpy(place)
    loss: torch.Tensor = HeadLoss.apply(  # type: ignore[no-untyped-call]
        z,
        v0,
        b0,
        v1,
        b1,
        places[: batch.left.size],
        places[batch.left.size :],
        torch.from_numpy(batch.labels),
        shape.directed,
    )
    return loss


def embed_rows(weights: torch.Tensor, shape: Shape, inputs: Inputs, ends: Ints) -> torch.Tensor:
    """Return Z for some nodes, differentiable by the weights."""
    first, *others = shape.read(weights)[: shape.layers]
    fields = receptive_fields(inputs.convolution, ends, shape.layers)
    rows = [field.nodes for field in fields] + [ends]
    seen = inputs.convolved if rows[0].size == len(inputs.convolved) else inputs.convolved[torch.from_numpy(rows[0])]
    z = seen @ first
    for number, layer in enumerate(others):
        z = convolve(torch.relu_(z), inputs.convolution, fields[number], rows[number + 1]) @ layer
    return z


def receptive_fields(convolution: Convolution, ends: Ints, layers: int) -> list[Field]:
    """Return what each convolution but the first has to see so that the ends come out right, first layer first."""
    fields: list[Field] = []
    for _ in range(layers - 1):
        fields.insert(0, convolution.field(fields[0].nodes if fields else ends))
    return fields


class HeadLoss(torch.autograd.Function):
    """Mean cross-entropy of the hop head, forward and backward together, a few pairs at a time.

    All pairs at once would hold several arrays of pairs x 256; in blocks that stay in the cache
    it takes under half the time and almost no memory.
    """

    @staticmethod
    def forward(
        ctx: Any,
        z: torch.Tensor,
        v0: torch.Tensor,
        b0: torch.Tensor,
        v1: torch.Tensor,
        b1: torch.Tensor,
        left: torch.Tensor,
        right: torch.Tensor,
        labels: torch.Tensor,
        directed: bool,
    ) -> torch.Tensor:
        """Return the loss, and keep its gradients for the backward pass."""
        grad_z, grad_v0, grad_b0, grad_v1, grad_b1 = grads = [torch.zeros_like(t) for t in (z, v0, b0, v1, b1)]
        loss = torch.zeros((), dtype=z.dtype)
        for a in range(0, labels.numel(), PAIRS_AT_ONCE):
            m, n, label = (t[a : a + PAIRS_AT_ONCE] for t in (left, right, labels))
            gap = pair_gaps(z, m, n)
            distance = gap if directed else gap.abs()
            units = torch.addmm(b0, distance, v0).relu_()
            log_p = torch.log_softmax(torch.addmm(b1, units, v1), dim=1)
            loss -= log_p.gather(1, label[:, None]).sum()
            # The gradient of the cross-entropy is the probabilities minus the truth.
            g = log_p.exp_()
            g.scatter_add_(1, label[:, None], torch.full((label.numel(), 1), -1.0, dtype=z.dtype))
            grad_v1.addmm_(units.t(), g)
            grad_b1 += g.sum(0)
            g_units = torch.ops.aten.threshold_backward(g @ v1.t(), units, 0)
            grad_v0.addmm_(distance.t(), g_units)
            grad_b0 += g_units.sum(0)
            g_gap = g_units @ v0.t()
            if not directed:
                g_gap.mul_(gap.sign_())
            grad_z.index_add_(0, m, g_gap)
            grad_z.index_add_(0, n, g_gap, alpha=-1.0)
        ctx.grads = [grad.div_(labels.numel()) for grad in grads]
        return loss / labels.numel()

    @staticmethod
    def backward(ctx: Any, *upstream: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Hand over the gradients found on the way forward."""
        return (*(grad * upstream[0] for grad in ctx.grads), None, None, None, None)


def embed(weights: torch.Tensor, shape: Shape, inputs: Inputs, *, workers: int = 1) -> torch.Tensor:
    """Return Z for every node, layer by layer, in fixed blocks of rows."""
    layers = shape.read(weights)[: shape.layers]
    nodes = inputs.convolution.weights.size
    lean = shape.layers > 1 and nodes * shape.hidden > LEAN_ABOVE
    convolved: Floats = inputs.convolved.numpy()
    hidden = convolved
    everywhere = inputs.convolution.everywhere
    for number, layer in enumerate(layers):
        if number == 0 and lean:  # computed again where the second layer needs it
            continue
        is_last = number == shape.layers - 1
        out = torch.empty((nodes, layer.shape[1]), dtype=weights.dtype)

        def fill(
            start: int,
            hidden: Floats = hidden,
            out: torch.Tensor = out,
            layer: torch.Tensor = layer,
            number: int = number,
            is_last: bool = is_last,
        ) -> None:
            stop = min(start + ROWS_AT_ONCE, nodes)
            if number == 0:
                source = hidden[start:stop]
            elif number == 1 and lean:
                source = inputs.convolution.rows_of_first(convolved, layers[0].numpy(), start, stop)
            else:
                source = inputs.convolution.rows(hidden, np.arange(start, stop), everywhere)
            product = torch.from_numpy(source) @ layer
            out[start:stop] = product if is_last else torch.relu_(product)

        for _ in map_blocks(fill, range(0, nodes, ROWS_AT_ONCE), workers=workers):
            pass
        if not is_last:
            hidden = out.numpy()
    return out


def expected_hops(
    weights: torch.Tensor,
    shape: Shape,
    z: torch.Tensor,
    left: torch.Tensor,
    right: torch.Tensor,
) -> torch.Tensor:
    """Return the expected hop count of some pairs under the softmax; the last class counts as C."""
    *_, v0, b0, v1, b1 = shape.read(weights)
    distance = pair_gaps(z, left, right)
    distance = distance if shape.directed else distance.abs_()
    logits = torch.addmm(b1, torch.addmm(b0, distance, v0).relu_(), v1)
    hops = torch.arange(1, shape.classes + 1, dtype=weights.dtype)
    return torch.softmax(logits, dim=1) @ hops


def pair_gaps(z: torch.Tensor, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Return Z_m - Z_n for some pairs."""
    out = torch.empty((left.numel(), z.shape[1]), dtype=z.dtype)
    _gaps(z.numpy(), left.numpy(), right.numpy(), out.numpy())
    return out


@compiled
def _gaps(z: Floats, left: Ints, right: Ints, out: Floats) -> None:
    for k in range(left.size):
        m, n = left[k], right[k]  # outside of the loop, or it cannot be done eight numbers at a time
        for c in range(z.shape[1]):
            out[k, c] = z[m, c] - z[n, c]
