"""Hop labels: pairs of nodes with their distance on the purified network, as many from every class.

The classes are 1, 2, ..., C-1 hops and "C or more"; the last holds every pair that is not reached
within C-1 hops, so no search ever goes deeper. Pairs are taken from sampled sources. Around a
source, one search runs to depth C-2. What lies farther is told from the other end: a node
outside that ball is C-1 hops away when one of its neighbours lies on the ball's rim, else farther.
With a direction, hops follow the arrows from the first node of a pair to the second.

The law of a draw: **every ordered pair of class c whose first node is a sampled source is drawn
Poisson(rate of c) times, independently of every other; where the rate would be 1 or more, exactly
once.** So a class is represented without bias, hubs and all, however few pairs are drawn from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np

from oddhop.base.arrays import Floats, Ints
from oddhop.base.parallel import Progress, silent, threads
from oddhop.base.randomness import HOPS, generator, word
from oddhop.errors import NothingToLearnError
from oddhop.hcm.hop_search import count_block, draw_block
from oddhop.hcm.purify import Purified
from oddhop.hcm.settings import HCMSettings

SOURCES_AT_ONCE = 64
PILOT_SOURCES = 256
POOL_PAIRS = 2**19  # of every class, for a whole run
MAX_SOURCES = 2**14
NO_EDGES = "the network has no edges, and hop counts are learned from edges; give at least one edge"

Part = TypeVar("Part")
Drawn: TypeAlias = tuple[Ints, Ints, Ints]
"""Pairs of a block: first nodes, second nodes, classes."""


@dataclass(frozen=True)
class HopPairs:
    """Labelled pairs, grouped by class.

    Attributes
    ----------
    left, right : the two nodes of every pair; with a direction, the hops lead from left to right.
    starts : where the pairs of each class begin; class c (counted from 0, so c+1 hops) is
        ``left[starts[c]:starts[c + 1]]``.
    class_sizes : how many unordered pairs of each class the whole network has, or with a direction ordered ones,
        exact or estimated.
    exact : whether ``class_sizes`` was counted over all sources.
    """

    left: Ints
    right: Ints
    starts: Ints
    class_sizes: Floats
    exact: bool

    @property
    def present(self) -> Ints:
        """The classes that have pairs."""
        return np.flatnonzero(np.diff(self.starts) > 0)

    @property
    def smallest(self) -> float:
        """The size of the smallest class that has pairs."""
        return float(self.class_sizes[self.present].min())


@dataclass(frozen=True)
class Batch:
    """The pairs of one training step."""

    left: Ints
    right: Ints
    labels: Ints


def labelled_pairs(
    purified: Purified, settings: HCMSettings, seed: int, workers: int = 1, progress: Progress = silent
) -> HopPairs:
    """Draw or list the pairs that the settings ask for."""
    if settings.pair_labels == "exhaustive":
        return list_pairs(purified, settings.hop_classes, workers=workers, progress=progress)
    return sample_pairs(purified, settings.hop_classes, seed=seed, workers=workers, progress=progress)


def sample_pairs(
    network: Purified,
    classes: int,
    *,
    seed: int,
    pairs_per_class: int = POOL_PAIRS,
    max_sources: int = MAX_SOURCES,
    workers: int = 1,
    progress: Progress = silent,
) -> HopPairs:
    """Draw about ``pairs_per_class`` pairs from every class that exists."""
    if network.indices.size == 0:
        raise NothingToLearnError(NO_EDGES)
    indptr, indices, key = network.indptr, network.indices, word(seed, HOPS)
    order = order_of_sources(np.diff(indptr), seed)
    sources, pilots = order[:max_sources], order[:PILOT_SOURCES]
    seen = _by_block(lambda block: count_block(indptr, indices, block, classes), pilots, workers, silent)
    counts, rim_edges = np.sum([count for count, _ in seen], axis=0, dtype=float), sum(edges for _, edges in seen)
    rates, sizes, expand = plan_draw(network, sources.size, order.size, counts, rim_edges, pairs_per_class)

    def draw_some(block: Ints) -> Drawn:
        drawn: Drawn = draw_block(indptr, indices, network.backwards, block, classes, rates, expand, key)
        return drawn

    drawn = _by_block(draw_some, sources, workers, progress)
    return _grouped(drawn, sizes, exact=pilots.size == indptr.size - 1)


def list_pairs(network: Purified, classes: int, *, workers: int = 1, progress: Progress = silent) -> HopPairs:
    """List every pair of nodes with its class, as the paper does: for small networks."""
    nodes = np.arange(network.indptr.size - 1, dtype=network.indices.dtype)

    def list_all(block: Ints) -> Drawn:
        # At a rate of 1 every pair is drawn once, from either end where there is no direction.
        left, right, labels = draw_block(
            network.indptr, network.indices, network.backwards, block, classes, np.ones(classes), True, np.uint64(0)
        )
        table = np.empty((block.size, nodes.size), dtype=labels.dtype)
        table[left - block[0], right] = labels
        asked = nodes > block[:, None] if network.into is None else nodes != block[:, None]
        left, right = np.nonzero(asked)
        return nodes[left + block[0]], nodes[right], table[asked]

    parts = _by_block(list_all, nodes, workers, progress)
    counts = [np.bincount(labels, minlength=classes) for _, _, labels in parts]
    return _grouped(parts, np.sum(counts, axis=0, dtype=float), exact=True)


def draw_batch(pairs: HopPairs, per_class: int, rng: np.random.Generator) -> Batch:
    """Draw as many pairs from every class that has any; with replacement where it has too few."""
    picks, labels = [], []
    for label in pairs.present:
        start, size = pairs.starts[label], pairs.starts[label + 1] - pairs.starts[label]
        replace = bool(size < per_class)
        picks.append(start + rng.choice(size, per_class, replace=replace, shuffle=False))
        labels.append(np.full(per_class, label))
    pick = np.concatenate(picks)
    return Batch(pairs.left[pick], pairs.right[pick], np.concatenate(labels))


def order_of_sources(degrees: Ints, seed: int) -> Ints:
    """Return the nodes in the order in which they become sources; those with edges, if none of the first has one."""
    order = generator(seed, HOPS).permutation(degrees.size)
    return order if np.any(degrees[order[:PILOT_SOURCES]]) else np.flatnonzero(degrees)


def plan_draw(
    network: Purified, sources: int, population: int, counts: Floats, rim_edges: int, pairs_per_class: int
) -> tuple[Floats, Floats, bool]:
    """Say how pairs are drawn, from what the pilots saw: pairs by class, and the edges at the rim.

    Return how often every pair of a class is drawn, how many pairs it has, and whether the last two classes are told
    apart by reading all the rim's edges.
    """
    pilots = min(PILOT_SOURCES, population)
    rates = np.zeros(counts.size)
    np.divide(pairs_per_class * pilots, counts * sources, out=rates, where=counts > 0)
    seen = 2 if network.into is None else 1  # how often a pair is met when all nodes are sources
    sizes = counts * population / (seen * pilots)
    sizes[0] = network.indices.size / seen  # this class is known: the edges
    return rates, sizes, _reading_the_rim_is_cheaper(network, rates, rim_edges / pilots)


def _reading_the_rim_is_cheaper(network: Purified, rates: Floats, rim_edges: float) -> bool:
    # The last two classes are told apart by reading all the rim's edges, or the neighbours of
    # proposals only. Both follow the same law; a class that is wanted whole needs the first.
    if rates[-2:].max() >= 1.0:
        return True
    entries = network.indices.size
    mean_at_an_edges_end = float((np.diff(network.backwards[0]).astype(float) ** 2).sum()) / entries
    proposals = rates[-2] * rim_edges * mean_at_an_edges_end + rates[-1] * entries
    return bool(rim_edges <= proposals)


def _by_block(function: Callable[[Ints], Part], nodes: Ints, workers: int, progress: Progress) -> list[Part]:
    blocks = [nodes[start : start + SOURCES_AT_ONCE] for start in range(0, nodes.size, SOURCES_AT_ONCE)]
    return threads(workers)(function, blocks, lambda done: progress("hop pairs", done, len(blocks)))


def _grouped(parts: Iterable[Drawn], sizes: Floats, *, exact: bool) -> HopPairs:
    """Put the pairs of all blocks together, class by class."""
    left, right, labels = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    order = np.argsort(labels, kind="stable")
    starts = np.zeros(sizes.size + 1, dtype=np.int64)
    np.cumsum(np.bincount(labels, minlength=sizes.size), out=starts[1:])
    return HopPairs(left[order], right[order], starts, sizes, exact)
