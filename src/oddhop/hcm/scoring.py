"""Scores: all samples over every edge, and from the edges to the nodes.

With y_t(e) the hop count that sample t predicts for the ends of edge e, over T samples of all chains,

    AHP(i) = mean over the edges of i of  mean_t y_t(e)
    IV(i)  = mean over the edges of i of  mean_t (y_t(e) - mean_t y_t(e))^2
    HAV(i) = AHP(i) / max AHP + IV(i) / max IV

Samples go one after the other over blocks of edges, with running moments, so memory does not grow
with T. Both AHP and IV are means over the chains: AHP of AHP_c, and IV of

    IV_c(i) = mean over the edges of i of  var_c(e) + (mean_c(e) - mean(e))^2,

within a chain and between the chains. How they differ says how sure a score is (see ``ranking.py``). With a direction,
y_t(e) is the prediction along the arrow of e, and the mean of both where e has two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np
import torch

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.base.files import digest
from oddhop.base.kernels import compiled
from oddhop.base.parallel import Mapper, Progress, silent, threads
from oddhop.detector.ranking import spans
from oddhop.errors import ModelFileError
from oddhop.graph.graph import Graph
from oddhop.hcm.arrows import BACKWARD, FORWARD, arrows
from oddhop.hcm.chains import Posterior
from oddhop.hcm.material import Material, checkpoint, written
from oddhop.hcm.model import ROWS_AT_ONCE, HopModel, Shape

EDGES_AT_ONCE, EDGES_OF_A_TASK = 4_096, 65_536
WEIGHTS, ARROWS = "weights", "arrows"
OF_NODES = ("ahp", "within", "moved")
ALL = slice(None)
OfChain: TypeAlias = tuple[Floats, ...]
"""The mean predicted hop count of every edge, and of every node the figures named in ``OF_NODES``."""


@dataclass(frozen=True, eq=False)
class Scores:
    """What all chains say of every node; equal parts of a single chain stand in for chains.

    Attributes
    ----------
    chain_ahp, chain_within, chain_between : (chains, nodes); means over the chains are AHP and the two parts of IV.
    chain_moved : (chains, nodes); the variance of a node's mean predicted hop count from sample to sample.
    judged : False for nodes without neighbours, whose figures are all 0.
    maxima : of AHP and of IV, what HAV divides by; of the training network, also when another is scored.
    edges : by chain, the mean predicted hop count of every edge; in files where the run has a folder.
    single : whether they are parts of a single chain, which does not say what another would.
    """

    chain_ahp: Floats
    chain_within: Floats
    chain_between: Floats
    chain_moved: Floats
    judged: Bools
    maxima: tuple[float, float] = (0.0, 0.0)
    edges: tuple[Floats, ...] = ()
    single: bool = False

    @property
    def ahp(self) -> Floats:
        """Average hop prediction."""
        return np.asarray(self.chain_ahp.mean(axis=0))

    @property
    def iv(self) -> Floats:
        """Inferred variance."""
        return np.asarray(np.sum(self.iv_parts, axis=0))

    @property
    def iv_parts(self) -> tuple[Floats, Floats]:
        """Inferred variance within the chains and between them; parts of a single chain differ within it."""
        within, between = self.chain_within.mean(axis=0), self.chain_between.mean(axis=0)
        return (within + between, np.zeros_like(between)) if self.single else (within, between)

    @property
    def hav(self) -> Floats:
        """Both, each divided by its maximum."""
        return self.score("hav")

    def score(self, kind: str) -> Floats:
        """Return "ahp" or "hav" of every node: the mean over the chains."""
        out = np.empty(self.judged.size)
        for span in spans(out.size):
            out[span] = self.chain_scores(kind, span).mean(axis=0)
        return out

    def chain_scores(self, kind: str, span: slice = ALL) -> Floats:
        """Return "ahp" or "hav" of some nodes by chain, (chains, nodes)."""
        if kind == "ahp":
            return self.chain_ahp[:, span]
        return hav(self.maxima, self.chain_ahp[:, span], self.chain_within[:, span] + self.chain_between[:, span])


def hav(maxima: tuple[float, float], ahp: Floats, iv: Floats) -> Floats:
    """Return AHP and IV together, each divided by its maximum."""
    far, unsure = (1.0 / peak if peak > 0 else 0.0 for peak in maxima)
    return np.asarray(far * ahp + unsure * iv)


def score_nodes(
    posterior: Posterior,
    material: Material,
    *,
    before: Scores | None = None,
    maxima: tuple[float, float] | None = None,
    mapper: Mapper | None = None,
    device: str = "cpu",
    workers: int = 1,
    progress: Progress = silent,
) -> Scores:
    """Score every node of a network by all samples; of chains that were scored ``before`` only the new ones.

    With a folder the figures of the edges are kept in files there rather than in memory. They are read and
    written from beginning to end, which a disk does well. A mapper runs blocks as tasks.
    """
    graph, replicates = material.graph, posterior.replicates
    work, total = _Work(material, posterior.shape, device), len(replicates) * len(replicates[0])
    mapper = mapper or threads(workers if device == "cpu" else 1)
    if posterior.shape.directed:
        material.put(ARROWS, arrows(graph))
    found: list[OfChain] = []
    if before is not None:
        found += zip(before.edges, before.chain_ahp, before.chain_within, before.chain_moved, strict=True)
    for chain, samples in enumerate(replicates[len(found) :], start=len(found)):
        found.append(_kept(material, chain) or _score_chain(work, mapper, samples, chain, progress, total))
    edges, *of_nodes = zip(*found, strict=True)
    ahp, within, moved = map(np.stack, of_nodes)
    between = _node_means(lambda span: from_the_mean(np.stack([one[span] for one in edges])), len(edges), graph)
    single = len(posterior.weights) == 1
    scores = Scores(ahp, within, between, moved, graph.degrees > 0, edges=edges, single=single)
    return replace(scores, maxima=maxima or (float(scores.ahp.max()), float(scores.iv.max())))


@dataclass(frozen=True)
class _Work:
    """What a task of scoring is handed."""

    material: Material
    shape: Shape
    device: str

    @property
    def model(self) -> HopModel:
        """The model of the sample."""
        dtype = self.material.inputs.convolved.dtype
        flat = np.array(self.material.array(WEIGHTS, (self.shape.size,), dtype, fresh=False))
        return HopModel(self.shape, torch.from_numpy(flat).to(self.device))

    def vectors(self, layer: int, *, fresh: bool = False) -> Floats:
        """Return the vectors of all nodes after a layer; those of one layer are gone when the next but one is made."""
        size = self.material.graph.node_count, self.shape.hidden
        return self.material.array(f"layer-{layer % 2}", size, self.material.inputs.convolved.dtype, fresh=fresh)


def _hops(work: _Work, mapper: Mapper, weights: Floats) -> Iterator[tuple[int, Floats]]:
    """Return the hop counts of all edges as one sample predicts them, block by block with the first edge of each."""
    graph = work.material.graph
    work.material.put(WEIGHTS, weights)
    # On another device than the processor a transfer takes longer than the work: all rows at once.
    step = ROWS_AT_ONCE if work.device == "cpu" else max(graph.node_count, 1)
    rows = [(start, min(start + step, graph.node_count)) for start in range(0, graph.node_count, step)]
    for layer in range(work.shape.layers):
        work.vectors(layer, fresh=True)
        mapper(partial(fill_layer, work, layer), rows, lambda _: None)
    starts = range(0, graph.edge_count, EDGES_OF_A_TASK)
    return zip(starts, mapper(partial(edge_hops, work), starts, lambda _: None), strict=True)


def fill_layer(work: _Work, layer: int, rows: tuple[int, int]) -> None:
    """Work out the vectors of some nodes after a layer."""
    inputs = work.material.inputs
    with torch.no_grad():
        if layer == 0:
            convolved = torch.from_numpy(np.ascontiguousarray(inputs.convolved[slice(*rows)])).to(work.device)
        else:
            below = torch.from_numpy(np.asarray(work.vectors(layer - 1))).to(work.device)
            convolved = inputs.convolution.rows(*rows).to(work.device).times(below)
        vectors = work.model.layer(layer, convolved)
    out = work.vectors(layer)
    out[slice(*rows)] = vectors.cpu().numpy()
    written(out)


def edge_hops(work: _Work, first: int) -> Floats:
    """Return the predicted hop counts of some edges, along their arrows where there is a direction."""
    material, model, out = work.material, work.model, []
    graph, z = material.graph, torch.from_numpy(np.asarray(work.vectors(work.shape.layers - 1)))
    ways = material.array(ARROWS, (graph.edge_count,), np.uint8, fresh=False) if work.shape.directed else None
    last = min(first + EDGES_OF_A_TASK, graph.edge_count)
    for start in range(first, last, EDGES_AT_ONCE):
        stop = min(start + EDGES_AT_ONCE, last)
        out.append(pair_hops(model, z, *graph.ends(start, stop), None if ways is None else ways[start:stop]))
    return np.concatenate(out)


def pair_hops(model: HopModel, z: torch.Tensor, left: Ints, right: Ints, ways: Ints | None) -> Floats:
    """Return the predicted hop counts of pairs, given their rows in ``z`` and which way their arrows go, if any."""

    def predicted(left: Ints, right: Ints) -> Floats:
        ends = (z.index_select(0, torch.from_numpy(side)).to(model.weights[0].device) for side in (left, right))
        with torch.no_grad():
            hops: Floats = model.hops(*ends).cpu().numpy()
        return hops

    if ways is None:
        return predicted(left, right)
    against, both = ways == BACKWARD, ways == FORWARD | BACKWARD
    hops = predicted(np.where(against, right, left), np.where(against, left, right))
    hops[both] = (hops[both] + predicted(right[both], left[both])) / 2
    return hops


def _score_chain(work: _Work, mapper: Mapper, samples: Floats, number: int, progress: Progress, total: int) -> OfChain:
    material, graph = work.material, work.material.graph
    names = f"mean-{number}", "square"
    mean, square = (material.array(name, (graph.edge_count,), samples.dtype, fresh=True) for name in names)
    ahp, moved = np.zeros((2, graph.node_count))
    for count, weights in enumerate(samples, 1):
        sums = np.zeros(graph.node_count)
        for start, hops in _hops(work, mapper, weights):
            span = slice(start, start + hops.size)
            welford(hops, count, mean[span], square[span])
            _add_to_ends(*graph.ends(span.start, span.stop), hops, sums)
        welford(_over_degree(sums, graph), count, ahp, moved)
        progress("scoring", number * len(samples) + count, total)
    (within,) = _node_means(lambda span: [square[span]], 1, graph)
    found = dict(zip(OF_NODES, (ahp, within / len(samples), moved / len(samples)), strict=True))
    if material.folder:
        written(mean)
        material.folder.save(f"scores-{number}", found, {"sha256": digest(mean)})
    return (mean, *found.values())


def _kept(material: Material, number: int) -> OfChain | None:
    """Return what a run that was killed had found of a chain."""
    graph = material.graph
    like = dict.fromkeys(OF_NODES, np.broadcast_to(0.0, graph.node_count))
    kept = checkpoint(material.folder, f"scores-{number}", like)
    if kept is None:
        return None
    mean = material.array(f"mean-{number}", (graph.edge_count,), material.inputs.convolved.dtype, fresh=False)
    if digest(mean) != kept[1].get("sha256"):
        raise ModelFileError(
            "the values of the edges in the run folder were changed after they were written",
            "start again in another folder",
        )
    return (mean, *(kept[0][name] for name in OF_NODES))


def _node_means(values: Callable[[slice], Iterable[Floats]], count: int, graph: Graph) -> Floats:
    """Return the means over the edges of every node, of several figures of the edges; 0 where there are none."""
    sums = np.zeros((count, graph.node_count))
    for start in range(0, graph.edge_count, EDGES_AT_ONCE):
        left, right = graph.ends(start, start + EDGES_AT_ONCE)
        for row, figures in zip(sums, values(slice(start, start + left.size)), strict=True):
            _add_to_ends(left, right, figures, row)
    return _over_degree(sums, graph)


def _over_degree(sums: Floats, graph: Graph) -> Floats:
    """Divide sums over the edges of every node by how many there are, in place."""
    sums /= np.maximum(graph.degrees, 1)
    return sums


def from_the_mean(block: Floats) -> Floats:
    """Return the squared distances of the chains from their mean, (chains, edges)."""
    # Counted from the first chain, so that chains that agree to the bit have a variance of just 0.
    return np.asarray((block - (block[0] + (block - block[0]).mean(axis=0))) ** 2)


@compiled
def welford(values: Floats, count: int, mean: Floats, square: Floats) -> None:
    """Move running means and sums of squares by the next value of each."""
    for k in range(values.size):
        step = values[k] - mean[k]
        mean[k] += step / count
        square[k] += step * (values[k] - mean[k])


@compiled
def _add_to_ends(left: Ints, right: Ints, values: Floats, sums: Floats) -> None:
    for k in range(values.size):
        sums[left[k]] += values[k]
        sums[right[k]] += values[k]
