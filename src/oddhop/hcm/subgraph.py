"""An excerpt: some labelled pairs and all that the model has to see of them, in numbers of their own.

A chain learns from pairs. Of the network it needs the rows of their ends, and of the nodes around these
the attributes convolved once. On a large network that is little, and it is all that training holds: its size
depends on how many pairs there are, never on the network.

Of a node with more than some number of neighbours as many are drawn, each alike and none twice. Each
then stands for degree / neighbours of them, so that a convolution over the drawn ones has the
expectation of the whole. Scores are never computed from an excerpt.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch

from oddhop.base.arrays import Floats, Ints
from oddhop.base.kernels import compiled
from oddhop.base.randomness import NEIGHBOURS, mix, unit, word
from oddhop.graph.adjacency import index_dtype
from oddhop.hcm.convolution import Convolution
from oddhop.hcm.hop_pairs import HopPairs
from oddhop.hcm.model import Inputs

FEWEST = 64
MOST_ENTRIES, MOST_SEEN = 2**26, 2**20
"""Neighbours drawn in all, and nodes that a step sees: what 64 neighbours of every end come to at most."""


@dataclass(frozen=True)
class TrainingSubgraph:
    """What chains train on, numbered from 0; ``nodes`` are those of the network behind the numbers."""

    nodes: Ints
    pairs: HopPairs
    inputs: Inputs


@dataclass(frozen=True)
class Neighbours:
    """How many neighbours each of some rows has, how many were drawn, and the drawn row after row."""

    degrees: Ints
    counts: Ints
    drawn: Ints


def training_subgraph(
    inputs: Inputs, pairs: HopPairs, *, layers: int, neighbours: int | None, at_once: int, seed: int
) -> TrainingSubgraph:
    """Gather what a model of some layers sees of the pairs, of which a step takes so many ``at_once``.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph
    >>> from oddhop.hcm.subgraph import training_subgraph
    >>> from oddhop.hcm.hop_pairs import HopPairs
    >>> from oddhop.hcm.model import Inputs
    >>> star = Graph.from_arrays([[0, 0, 0, 4], [1, 2, 3, 5]], np.arange(6.0)[:, None])
    >>> pairs = HopPairs(np.array([1]), np.array([0]), np.array([0, 1]), np.ones(1), True)
    >>> excerpt = training_subgraph(Inputs.of(star, np.float32), pairs, layers=2, neighbours=2, at_once=1, seed=0)
    >>> excerpt.nodes.size, excerpt.inputs.convolution.stand_for[:2].tolist()
    (4, [1.5, 1.0])
    """
    whole = inputs.convolution

    def draw(rows: Ints, count: int) -> Neighbours:
        return drawn_neighbours(whole.indptr, whole.indices, rows, rows, count, seed)

    def look(nodes: Ints) -> tuple[Floats, torch.Tensor]:
        return whole.weights[nodes], inputs.convolved[torch.from_numpy(nodes.astype(np.int64))]

    if neighbours is None:
        neighbours = enough_neighbours(pairs, draw, whole.weights.size, layers=layers, at_once=at_once)
    return gather_excerpt(pairs, draw, look, layers=layers, neighbours=neighbours)


def enough_neighbours(
    pairs: HopPairs, draw: Callable[[Ints, int], Neighbours], nodes: int, *, layers: int, at_once: int
) -> int:
    """Return how many neighbours of a node may be drawn so that training takes no more memory than with 64 it may.

    The fewer are drawn, the more a node's vector is off, and a model that learns from such vectors ranks otherwise. So
    a small network is seen whole, and one without hubs nearly so.
    """
    if layers != 2:
        return FEWEST
    degrees = draw(_ends(pairs), 0).degrees
    count = FEWEST
    while count < degrees.max(initial=0):
        entries = int(np.minimum(degrees, 2 * count).sum())
        field = min(nodes, 2 * at_once * (1 + entries / degrees.size))
        if entries > MOST_ENTRIES or field > MOST_SEEN:
            break
        count *= 2
    return count


def _ends(pairs: HopPairs) -> Ints:
    return np.unique(np.concatenate([pairs.left, pairs.right]))


def gather_excerpt(
    pairs: HopPairs,
    draw: Callable[[Ints, int], Neighbours],
    look: Callable[[Ints], tuple[Floats, torch.Tensor]],
    *,
    layers: int,
    neighbours: int,
) -> TrainingSubgraph:
    """Gather the same wherever the network lies.

    ``draw`` is given nodes in ascending order and draws that many neighbours of each at most; ``look`` gives the
    weights of nodes in a convolution and their attributes convolved once.
    """
    rows = _ends(pairs)  # the nodes whose neighbours are seen
    for _ in range(layers - 2):
        rows = np.union1d(rows, draw(rows, neighbours).drawn)
    found = draw(rows, neighbours if layers > 1 else 0)
    nodes = np.union1d(rows, found.drawn)
    weights, convolved = look(nodes)
    places = np.searchsorted(nodes, rows)
    indptr = np.zeros(nodes.size + 1, dtype=np.int64)
    indptr[places + 1] = found.counts
    stand_for = np.ones(nodes.size, dtype=weights.dtype)
    some = found.counts > 0
    stand_for[places[some]] = found.degrees[some] / found.counts[some]
    indices = np.searchsorted(nodes, found.drawn).astype(index_dtype(nodes.size))
    convolution = Convolution(np.cumsum(indptr), indices, weights, stand_for)
    local = replace(pairs, left=np.searchsorted(nodes, pairs.left), right=np.searchsorted(nodes, pairs.right))
    return TrainingSubgraph(nodes, local, Inputs(convolution, convolved))


def drawn_neighbours(indptr: Ints, indices: Ints, rows: Ints, names: Ints, count: int, seed: int) -> Neighbours:
    """Draw neighbours of some rows; ``names`` are the numbers of their nodes in the whole network."""
    degrees = indptr[rows + 1] - indptr[rows]
    counts = np.minimum(degrees, count)
    drawn: Ints = draw_neighbours(indptr, indices, rows, names, counts, word(seed, NEIGHBOURS))
    return Neighbours(degrees, counts, drawn)


@compiled
def draw_neighbours(indptr: Ints, indices: Ints, rows: Ints, names: Ints, counts: Ints, key: np.uint64) -> Ints:
    """Draw ``counts`` neighbours of every row, each once; the draw of a row depends on its name alone.

    Floyd's way: the k-th of n draws from the first (degree - n + k) places, and takes the last of
    these instead where the place was drawn before. A row of ten million costs no more than its n draws.
    """
    out = np.empty(counts.sum(), dtype=indices.dtype)
    end = 0
    for r in range(rows.size):
        start, degree = indptr[rows[r]], indptr[rows[r] + 1] - indptr[rows[r]]
        n = counts[r]
        taken = np.empty(n, dtype=np.int64)
        stream = mix(key, names[r])
        for k in range(n):
            last = degree - n + k
            place = min(np.int64(unit(mix(stream, k)) * (last + 1)), last)
            for before in range(k if degree > n else 0):
                if taken[before] == place:
                    place = last
                    break
            taken[k] = place if degree > n else k
        taken.sort()
        for k in range(n):
            out[end + k] = indices[start + taken[k]]
        end += n
    return out
