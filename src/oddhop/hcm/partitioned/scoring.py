"""Scores over partitions: the owner of a node works out all that is said of it.

For every chain, embeddings are written partition by partition, for all its samples; then every partition reads, peer by
peer, those of its neighbours, and works out the hop counts of its entries. An edge stands in two rows, and both
owners work it out: that is twice the work of the head, and no figure of an edge has to be sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import torch

from oddhop.base.arrays import Floats, Ints
from oddhop.base.kernels import compiled
from oddhop.hcm.chains import Posterior
from oddhop.hcm.model import Shape, expected_hops
from oddhop.hcm.partitioned.prepare import add_rows
from oddhop.hcm.scoring import Scores, from_the_mean, welford
from oddhop.partitions.cross_edges import by_peer
from oddhop.partitions.task import Task, TaskRunner

STAGE = "scoring"
HIDDEN_AT_ONCE = 2_048  # entries whose hidden vectors are computed again; they stay in the cache
ENTRIES_AT_ONCE = 4_096
ROWS_AT_ONCE = 16_384


def score_nodes(work: Task, posterior: Posterior, runner: TaskRunner) -> Scores:
    """Score every node of the network by all posterior samples."""
    replicates = posterior.replicates
    chains, samples = replicates.shape[:2]
    layers = max(posterior.shape.layers - 1, 1)
    steps, done = chains * (layers + 1) + 1, 0
    for chain in range(chains):
        if not all(work.has(f"told_{chain}", number) for number in work.partitions):
            work.write("posterior", chain, replicates[chain])  # for the tasks: too large to travel with each
            for layer in range(1, layers + 1):
                embed = partial(_embed, work, posterior.shape, chain, layer)
                runner.each(STAGE, embed, work.partitions, done + layer - 1, steps)
                if layer > 1:
                    work.forget(f"hidden_{chain}_{layer - 1}")
            judge = partial(_judge, work, posterior.shape, chain, layers)
            runner.each(STAGE, judge, work.partitions, done + layers, steps)
        work.forget(f"hidden_{chain}_{layers}")
        done += layers + 1
    runner.each(STAGE, partial(_vary, work, chains), work.partitions, done, steps)
    nodes = work.stored.manifest.nodes
    draws = work.run.array("draws", (chains, samples, nodes), posterior.weights.dtype, fresh=True)
    told = work.run.array("told", (2, chains, nodes), np.float64, fresh=True)
    largest = np.zeros(2)  # neither figure is negative
    for number in work.partitions:
        start, stop = work.span(number)
        for chain in range(chains):
            draws[chain, :, start:stop] = work.read(f"draws_{chain}", number)
        told[:, :, start:stop] = work.read("told", number)
        largest = np.maximum(largest, told[:, :, start:stop].mean(axis=1).max(axis=1))
    judged = np.diff(work.stored.rows("indptr")) > 0
    by_chain = draws.reshape(posterior.weights.shape[0], -1, nodes)
    return Scores(told[0], told[1], by_chain, judged, float(largest[0]), float(largest[1]))


def _embed(work: Task, shape: Shape, chain: int, layer: int, number: int) -> None:
    """Write the vectors of a partition after some convolutions (the first was done before), sample by sample."""
    name, below = f"hidden_{chain}_{layer}", f"hidden_{chain}_{layer - 1}"
    if work.has(name, number) or work.has(f"told_{chain}", number):
        return
    last = layer >= shape.layers - 1
    start, stop = work.span(number)
    coarse = work.settings.coarse and last
    weights = work.read("posterior", chain)

    def blocks() -> Iterator[Floats]:
        for sample, flat in enumerate(weights):
            parts = shape.read(torch.from_numpy(flat))[: shape.layers]
            if shape.layers == 1:
                seen, matrix = work.read("convolved", number), parts[0]
            else:
                seen, matrix = _convolved(work, number, below if layer > 1 else None, sample, parts[0]), parts[layer]
            for first in range(0, stop - start, ROWS_AT_ONCE):
                block = torch.from_numpy(np.array(seen[first : first + ROWS_AT_ONCE])) @ matrix
                block = block if last else torch.relu_(block)
                yield (block.to(torch.bfloat16).view(torch.uint16) if coarse else block).numpy()

    shape_of_all = len(weights), stop - start, shape.hidden
    work.write_parts(name, number, shape_of_all, np.uint16 if coarse else weights.dtype, blocks())


def _convolved(work: Task, number: int, below: str | None, sample: int, first_layer: torch.Tensor) -> Floats:
    """Convolve the vectors below; those of the first layer are computed again from the attributes convolved once."""

    def vectors(of: int) -> Floats:
        return work.read("convolved", of) if below is None else work.read(below, of)[sample]

    def hidden(rows: Floats) -> Floats:
        return torch.relu_(torch.from_numpy(rows) @ first_layer).numpy() if below is None else rows

    weights, own = work.read("weights", number), vectors(number)
    out = np.concatenate([hidden(np.array(own[k : k + ROWS_AT_ONCE])) for k in range(0, len(own), ROWS_AT_ONCE)])
    out *= weights[:, None]
    every = np.arange(HIDDEN_AT_ONCE)
    part = work.stored.partition(number)
    for peer, entries in by_peer(part.indptr, part.indices, work.bounds, HIDDEN_AT_ONCE):
        other, other_weights = vectors(peer), work.read("weights", peer)
        for some in entries:
            seen = hidden(other[some.columns])
            add_rows(seen, other_weights[some.columns], some.rows, every[: len(seen)], out)
    out *= weights[:, None]
    return out


def _judge(work: Task, shape: Shape, chain: int, layer: int, number: int) -> None:
    """Compute the figures of the nodes of a partition from one chain."""
    if work.has(f"told_{chain}", number):
        return
    part, weights = work.stored.partition(number), work.read("posterior", chain)
    samples, nodes = len(weights), part.stop - part.start
    flat = [torch.from_numpy(one) for one in weights]
    own = _embeddings(work, chain, layer, number)
    means = np.empty(part.indices.size, dtype=weights.dtype)
    sums, ahp, within = np.zeros((samples, nodes)), np.zeros(nodes), np.zeros(nodes)
    for peer, entries in by_peer(part.indptr, part.indices, work.bounds, ENTRIES_AT_ONCE):
        other = _embeddings(work, chain, layer, peer)
        for some in entries:
            mean, square = (np.zeros(some.rows.size, dtype=weights.dtype) for _ in range(2))
            left, right = torch.from_numpy(some.rows), torch.from_numpy(some.columns)
            for sample in range(samples):
                hops = expected_hops(flat[sample], shape, own[sample], left, right, other[sample]).numpy()
                welford(hops, sample + 1, mean, square)
                _add_to(some.rows, hops, sums[sample])
            means[some.places] = mean
            _add_to(some.rows, mean, ahp)
            _add_to(some.rows, square / samples, within)
    degrees = np.maximum(np.diff(part.indptr), 1)
    work.write(f"means_{chain}", number, means)
    work.write(f"draws_{chain}", number, (sums / degrees).astype(weights.dtype))
    work.write(f"told_{chain}", number, np.stack([ahp / degrees, within / degrees]))


def _vary(work: Task, chains: int, number: int) -> None:
    """Put the chains of a partition together: AHP, and IV with what the chains differ by, (2, chains, nodes)."""
    if work.has("told", number):
        return
    part = work.stored.partition(number)
    told = np.stack([work.read(f"told_{chain}", number) for chain in range(chains)], axis=1)
    means = [work.read(f"means_{chain}", number) for chain in range(chains)]
    between = np.zeros((chains, part.stop - part.start))
    for first in range(0, part.indices.size, ENTRIES_AT_ONCE):
        block = np.stack([mean[first : first + ENTRIES_AT_ONCE] for mean in means])
        rows = np.searchsorted(part.indptr, np.arange(first, first + block.shape[1]), side="right") - 1
        for chain, figures in enumerate(from_the_mean(block)):
            _add_to(rows, figures, between[chain])
    told[1] += between / np.maximum(np.diff(part.indptr), 1)
    work.write("told", number, told)


def _embeddings(work: Task, chain: int, layer: int, number: int) -> torch.Tensor:
    kept = torch.from_numpy(work.read(f"hidden_{chain}_{layer}", number))
    return kept.view(torch.bfloat16) if kept.dtype == torch.uint16 else kept


@compiled
def _add_to(rows: Ints, values: Floats, sums: Floats) -> None:
    for k in range(rows.size):
        sums[rows[k]] += values[k]
