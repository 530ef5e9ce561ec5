"""The model: a graph convolutional network, and a head that tells hop classes from two of its vectors.

    H(1) = relu(S X W0),  H(l+1) = relu(S H(l) Wl),  Z = S H(L-1) W(L-1)     (no relu after the last)
    logits(m, n) = relu(|Z_m - Z_n| V0 + b0) V1 + b1     (with a direction, without the absolute value)

S is the normalised adjacency. S X does not depend on the weights: it is computed once. A posterior sample is one flat
vector of all weights. What the paper prints otherwise has a switch, see ``Shape``.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from oddhop.base.arrays import Floats, Ints
from oddhop.base.parallel import single_threaded
from oddhop.errors import SettingsError
from oddhop.graph.graph import Graph
from oddhop.hcm.convolution import Block, Convolution, product
from oddhop.hcm.hop_pairs import Batch
from oddhop.hcm.settings import HCMSettings

HEAD_UNITS = 256  # the paper's
ROWS_AT_ONCE = 16_384


@dataclass(frozen=True)
class Shape:
    """The sizes of the model, and how it reads its figures.

    Attributes
    ----------
    directed : whether the head tells a pair from its reverse.
    relu_vectors, relu_logits : whether the last layer, and the logits, go through a ReLU, as the paper prints it.
    most_likely : whether a predicted hop count is that of the most likely class; else the expected one, where the last
        class counts as C.
    """

    attributes: int
    hidden: int
    layers: int
    classes: int
    directed: bool = False
    relu_vectors: bool = False
    relu_logits: bool = False
    most_likely: bool = False

    @classmethod
    def of(cls, settings: HCMSettings, attributes: int) -> Shape:
        """Return what the settings ask for, on so many attributes."""
        sizes = attributes, settings.hidden, settings.layers, settings.hop_classes
        relus, likeliest = (settings.relu_vectors, settings.relu_logits), settings.prediction == "most_likely"
        return cls(*sizes, settings.directed, *relus, likeliest)

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
    convolved: Floats

    @classmethod
    def of(
        cls,
        graph: Graph,
        dtype: type[np.floating],
        *,
        most: int | None = None,
        seed: int = 0,
        normalised: bool = True,
    ) -> Inputs:
        """Convolve the attributes of a graph."""
        convolution = Convolution.of(graph, dtype, most=most, seed=seed)
        x = torch.from_numpy(np.array(graph.attributes, dtype=dtype, order="C"))
        out = np.empty(tuple(x.shape), dtype=dtype)
        with single_threaded():  # a pool of torch's threads would hang every process that is forked later
            for start in range(0, graph.node_count, ROWS_AT_ONCE):
                stop = min(start + ROWS_AT_ONCE, graph.node_count)
                out[start:stop] = convolution.rows(start, stop, normalised=normalised).times(x).numpy()
        return cls(convolution, out)


@dataclass(frozen=True, eq=False)
class Step:
    """What one step learns from: the vectors that the pairs depend on, the blocks to convolve them with, the pairs."""

    seen: torch.Tensor
    blocks: tuple[Block, ...]
    left: torch.Tensor
    right: torch.Tensor
    labels: torch.Tensor

    @classmethod
    def of(cls, inputs: Inputs, batch: Batch, layers: int) -> Step:
        """Take the part of the network that the pairs depend on."""
        ends, place = np.unique(np.concatenate([batch.left, batch.right]), return_inverse=True)
        seen, blocks = receptive(inputs, ends, layers)
        left, right = (torch.from_numpy(side) for side in np.split(place.ravel(), [batch.left.size]))
        return cls(seen, blocks, left, right, torch.from_numpy(batch.labels))

    def to(self, device: str) -> Step:
        """Return it on a device."""
        blocks = tuple(block.to(device) for block in self.blocks)
        return Step(self.seen.to(device), blocks, *(part.to(device) for part in (self.left, self.right, self.labels)))


def receptive(inputs: Inputs, ends: Ints, layers: int) -> tuple[torch.Tensor, tuple[Block, ...]]:
    """Return the convolved attributes that the vectors of some nodes depend on, and the blocks, first layer first."""
    blocks: list[Block] = []
    nodes = ends
    for _ in range(layers - 1):
        nodes, block = inputs.convolution.block(nodes)
        blocks.insert(0, block)
    return torch.from_numpy(np.ascontiguousarray(inputs.convolved[nodes])), tuple(blocks)


def device_of(settings: HCMSettings, *, tasks: bool = False) -> str:
    """Return where the model runs; ``auto`` is a GPU where torch sees one that holds the numbers.

    The machines of a cluster, which run it as tasks, compute alike on their processors alone.
    """
    asked, single = settings.device, settings.precision == "float32"
    if tasks and asked not in ("auto", "cpu"):
        raise SettingsError(f"device={asked!r} is for one machine", "set device='cpu' for a run over tasks")
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available() and single, "cpu": True}
    if asked == "auto":
        return "cpu" if tasks else next(name for name, found in there.items() if found)
    if not there[asked]:
        raise SettingsError(
            f"device={asked!r}, and torch finds none on this machine",
            "set device='cpu' (of a fitted detector by set_params), or install a build of torch that supports it",
            command="add --device cpu; for a model that was fitted there, score it there or fit it with --device auto",
        )
    return asked


class HopModel(nn.Module):
    """The network and its head."""

    def __init__(self, shape: Shape, flat: torch.Tensor) -> None:
        super().__init__()
        self.shape = shape
        sizes = [int(np.prod(part)) for part in shape.parts]
        pieces = zip(torch.split(flat, sizes), shape.parts, strict=True)
        self.weights = nn.ParameterList([nn.Parameter(piece.reshape(part).clone()) for piece, part in pieces])

    def layer(self, number: int, convolved: torch.Tensor) -> torch.Tensor:
        """Return the vectors after a layer, from those before it that were convolved."""
        vectors = convolved @ self.weights[number]
        return torch.relu(vectors) if number + 1 < self.shape.layers or self.shape.relu_vectors else vectors

    def vectors(self, seen: torch.Tensor, blocks: tuple[Block, ...]) -> torch.Tensor:
        """Return Z of the rows of the last block, from convolved attributes."""
        z = self.layer(0, seen)
        for number, block in enumerate(blocks, start=1):
            z = self.layer(number, product(block, z))
        return z

    def logits(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        """Return the logits of the hop classes of pairs, from the vectors of their ends."""
        v0, b0, v1, b1 = list(self.weights)[self.shape.layers :]
        gap = left - right if self.shape.directed else (left - right).abs()
        logits = torch.addmm(b1, torch.relu(torch.addmm(b0, gap, v0)), v1)
        return torch.relu(logits) if self.shape.relu_logits else logits

    def hops(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        """Return the predicted hop counts of pairs, from the vectors of their ends."""
        logits = self.logits(left, right)
        if self.shape.most_likely:
            return (logits.argmax(dim=1) + 1).to(logits.dtype)
        counts = torch.arange(1, self.shape.classes + 1, dtype=logits.dtype, device=logits.device)
        return torch.softmax(logits, dim=1) @ counts

    def loss(self, step: Step) -> torch.Tensor:
        """Return the mean cross-entropy of the hop classes of a step's pairs."""
        z = self.vectors(step.seen, step.blocks)
        logits = self.logits(z.index_select(0, step.left), z.index_select(0, step.right))
        return functional.cross_entropy(logits, step.labels)

    def flat(self) -> torch.Tensor:
        """Return a copy of all weights as one vector."""
        return nn.utils.parameters_to_vector(self.parameters()).detach().clone()
