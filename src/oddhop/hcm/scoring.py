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

import numpy as np
import torch

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.base.checkpoints import RunFolder
from oddhop.base.files import digest
from oddhop.base.kernels import compiled
from oddhop.base.parallel import Mapper, Progress, silent, threads
from oddhop.detector.ranking import spans
from oddhop.errors import ModelFileError
from oddhop.graph.graph import Graph
from oddhop.hcm.arrows import BACKWARD, FORWARD, arrows
from oddhop.hcm.chains import Posterior
from oddhop.hcm.material import InProcess, Material, Place, put, written
from oddhop.hcm.model import ROWS_AT_ONCE, HopModel, Inputs, Shape

EDGES_AT_ONCE, EDGES_OF_A_TASK = 4_096, 65_536
WEIGHTS, ARROWS = "weights", "arrows"
OF_NODES = ("ahp", "within", "moved")
ALL = slice(None)


@dataclass(frozen=True, eq=False)
class ChainScores:
    """What one chain says; equal parts of a single chain stand in for chains.

    Attributes
    ----------
    mean : of every edge, the mean predicted hop count; in a file where the run has a folder.
    ahp, within : of every node, average hop prediction and the variance of the predictions of its edges.
    moved : of every node, the variance of its mean predicted hop count from sample to sample.
    """

    mean: Floats
    ahp: Floats
    within: Floats
    moved: Floats


@dataclass(frozen=True, eq=False)
class Scores:
    """What all chains say of every node.

    Attributes
    ----------
    chain_ahp, chain_within, chain_between : (chains, nodes); means over the chains are AHP and the two parts of IV.
    moved : of every node, the variance of its mean predicted hop count from sample to sample of a chain.
    judged : False for nodes without neighbours, whose figures are all 0.
    max_ahp, max_iv : what HAV divides by; of the training network, also when another is scored.
    chains : what they are made of.
    single : whether they are parts of a single chain, which does not say what another would.
    """

    chain_ahp: Floats
    chain_within: Floats
    chain_between: Floats
    moved: Floats
    judged: Bools
    max_ahp: float
    max_iv: float
    chains: tuple[ChainScores, ...] = ()
    single: bool = False

    @property
    def ahp(self) -> Floats:
        """Average hop prediction."""
        return np.asarray(self.chain_ahp.mean(axis=0))

    @property
    def iv(self) -> Floats:
        """Inferred variance: within the chains and between them."""
        return np.asarray(self.chain_within.mean(axis=0) + self.chain_between.mean(axis=0))

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
        far, unsure = (1.0 / peak if peak > 0 else 0.0 for peak in (self.max_ahp, self.max_iv))
        return np.asarray(
            far * self.chain_ahp[:, span] + unsure * (self.chain_within[:, span] + self.chain_between[:, span])
        )


def score_nodes(
    posterior: Posterior,
    inputs: Inputs,
    graph: Graph,
    *,
    before: Scores | None = None,
    maxima: tuple[float, float] | None = None,
    folder: RunFolder | None = None,
    place: Place | None = None,
    mapper: Mapper | None = None,
    device: str = "cpu",
    workers: int = 1,
    progress: Progress = silent,
) -> Scores:
    """Score every node of a graph by all samples; of chains that were scored ``before`` only the new ones.

    With a folder the figures of the edges are kept in files there rather than in memory. They are read and
    written from beginning to end, which a disk does well. A mapper runs blocks as tasks on what is in ``place``.
    """
    if place is None:
        place = InProcess(Material(graph, inputs), folder)
    work = _Work(place, posterior.shape, device, posterior.weights.dtype.name)
    mapper = mapper or threads(workers if device == "cpu" else 1)
    if posterior.shape.directed:
        put(place, ARROWS, arrows(graph))
    replicates = posterior.replicates
    found = [] if before is None else [*before.chains]
    for chain, samples in enumerate(replicates[len(found) :], start=len(found)):
        one = _kept(place.folder, chain, graph, samples.dtype)
        if one is None:
            one = _score_chain(work, mapper, graph, samples, chain, progress, len(replicates) * len(samples))
        found.append(one)
    return _together(tuple(found), graph, maxima, single=len(posterior.weights) == 1)


@dataclass(frozen=True)
class _Work:
    """What a task of scoring is handed."""

    place: Place
    shape: Shape
    device: str
    dtype: str

    @property
    def model(self) -> HopModel:
        """The model of the sample."""
        flat = np.array(self.place.array(WEIGHTS, (self.shape.size,), self.dtype, fresh=False))
        return HopModel(self.shape, torch.from_numpy(flat).to(self.device))

    def layer_array(self, layer: int, nodes: int, *, fresh: bool = False) -> Floats:
        """Return the vectors of all nodes after a layer; those of one layer are gone when the next but one is made."""
        return self.place.array(f"layer-{layer % 2}", (nodes, self.shape.hidden), self.dtype, fresh=fresh)


def _hops(work: _Work, mapper: Mapper, graph: Graph, weights: Floats) -> Iterator[tuple[int, Floats]]:
    """Return the hop counts of all edges as one sample predicts them, block by block with the first edge of each."""
    put(work.place, WEIGHTS, weights)
    # On another device than the processor a transfer takes longer than the work: all rows at once.
    step = ROWS_AT_ONCE if work.device == "cpu" else max(graph.node_count, 1)
    rows = [(start, min(start + step, graph.node_count)) for start in range(0, graph.node_count, step)]
    for layer in range(work.shape.layers):
        work.layer_array(layer, graph.node_count, fresh=True)
        mapper(partial(fill_layer, work, layer), rows, _unheard)
    starts = range(0, graph.edge_count, EDGES_OF_A_TASK)
    return zip(starts, mapper(partial(edge_hops, work), starts, _unheard), strict=True)


def _unheard(done: int) -> None:
    """Report nothing of a single sample."""


def fill_layer(work: _Work, layer: int, rows: tuple[int, int]) -> None:
    """Work out the vectors of some nodes after a layer."""
    material = work.place.open()
    nodes = material.graph.node_count
    with torch.no_grad():
        if layer == 0:
            convolved = torch.from_numpy(np.ascontiguousarray(material.inputs.convolved[slice(*rows)])).to(work.device)
        else:
            below = torch.from_numpy(np.asarray(work.layer_array(layer - 1, nodes))).to(work.device)
            convolved = material.inputs.convolution.rows(*rows).to(work.device).times(below)
        vectors = work.model.layer(layer, convolved)
    out = work.layer_array(layer, nodes)
    out[slice(*rows)] = vectors.cpu().numpy()
    written(out)


def edge_hops(work: _Work, first: int) -> Floats:
    """Return the predicted hop counts of some edges, along their arrows where there is a direction."""
    material, model = work.place.open(), work.model
    z = torch.from_numpy(np.asarray(work.layer_array(work.shape.layers - 1, material.graph.node_count)))

    def predicted(left: Ints, right: Ints) -> Floats:
        ends = (z.index_select(0, torch.from_numpy(side)).to(work.device) for side in (left, right))
        with torch.no_grad():
            hops: Floats = model.hops(*ends).cpu().numpy()
        return hops

    edges = material.graph.edge_count
    all_ways = work.place.array(ARROWS, (edges,), np.uint8, fresh=False) if work.shape.directed else np.empty(0)
    out = []
    last = min(first + EDGES_OF_A_TASK, edges)
    for start in range(first, last, EDGES_AT_ONCE):
        left, right = material.graph.ends(start, min(start + EDGES_AT_ONCE, last))
        if not work.shape.directed:
            out.append(predicted(left, right))
            continue
        ways = all_ways[start : start + left.size]
        against, both = ways == BACKWARD, ways == FORWARD | BACKWARD
        hops = predicted(np.where(against, right, left), np.where(against, left, right))
        hops[both] = (hops[both] + predicted(right[both], left[both])) / 2
        out.append(hops)
    return np.concatenate(out)


def _score_chain(
    work: _Work, mapper: Mapper, graph: Graph, samples: Floats, number: int, progress: Progress, total: int
) -> ChainScores:
    folder = work.place.folder
    mean, square = (_zeros(folder, name, graph.edge_count, samples.dtype) for name in (f"mean-{number}", "square"))
    ahp, moved = np.zeros((2, graph.node_count))
    for count, weights in enumerate(samples, 1):
        sums = np.zeros(graph.node_count)
        for start, hops in _hops(work, mapper, graph, weights):
            span = slice(start, start + hops.size)
            welford(hops, count, mean[span], square[span])
            _add_to_ends(*graph.ends(span.start, span.stop), hops, sums)
        welford(_over_degree(sums, graph), count, ahp, moved)
        progress("scoring", number * len(samples) + count, total)
    (within,) = _node_means(lambda span: [square[span]], 1, graph)
    found = ChainScores(mean, ahp, within / len(samples), moved / len(samples))
    if folder:
        written(mean)
        folder.save(f"scores-{number}", {part: getattr(found, part) for part in OF_NODES}, {"sha256": digest(mean)})
    return found


def _zeros(folder: RunFolder | None, name: str, size: int, dtype: np.dtype[np.floating]) -> Floats:
    return folder.array(name, (size,), dtype, fresh=True) if folder else np.zeros(size, dtype=dtype)


def _kept(folder: RunFolder | None, number: int, graph: Graph, dtype: np.dtype[np.floating]) -> ChainScores | None:
    """Return what a run that was killed had found of a chain."""
    kept = folder.load(f"scores-{number}") if folder else None
    if folder is None or kept is None:
        return None
    arrays, info = kept
    if {part: array.shape for part, array in arrays.items()} != dict.fromkeys(OF_NODES, (graph.node_count,)):
        raise ModelFileError("the checkpoint of scoring does not match its run", "start again in another folder")
    mean = folder.array(f"mean-{number}", (graph.edge_count,), dtype, fresh=False)
    if digest(mean) != info.get("sha256"):
        raise ModelFileError(
            "the values of the edges in the run folder were changed after they were written",
            "start again in another folder",
        )
    return ChainScores(mean, **arrays)


def _together(
    chains: tuple[ChainScores, ...], graph: Graph, maxima: tuple[float, float] | None, *, single: bool
) -> Scores:
    between = _node_means(lambda span: from_the_mean(np.stack([one.mean[span] for one in chains])), len(chains), graph)
    ahp, within = (np.stack([getattr(one, part) for one in chains]) for part in ("ahp", "within"))
    moved = np.asarray(sum(one.moved for one in chains) / len(chains))
    chains = tuple(replace(one, ahp=ahp[k], within=within[k]) for k, one in enumerate(chains))  # not twice in memory
    scores = Scores(ahp, within, between, moved, graph.degrees > 0, 0.0, 0.0, chains, single)
    max_ahp, max_iv = maxima or (float(scores.ahp.max()), float(scores.iv.max()))
    return replace(scores, max_ahp=max_ahp, max_iv=max_iv)


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
