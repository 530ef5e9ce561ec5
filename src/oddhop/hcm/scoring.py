"""Scores: the posterior over every edge, and from the edges to the nodes.

With y_t(e) the hop count that sample t predicts for the ends of edge e, over T samples,

    AHP(i) = mean over the edges of i of  mean_t y_t(e)
    IV(i)  = mean over the edges of i of  mean_t (y_t(e) - mean_t y_t(e))^2
    HAV(i) = AHP(i) / max AHP + IV(i) / max IV

Samples go one after the other over blocks of edges, with running moments, so memory does not grow
with T. Both AHP and IV are means over the chains: AHP of AHP_c, and IV of

    IV_c(i) = mean over the edges of i of  var_c(e) + (mean_c(e) - mean(e))^2,

which is what the uncertainty of a score is told from (see ``ranking.py``). With a direction, y_t(e) is the prediction
along the arrow of e, and the mean of both where e has two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.base.checkpoints import RunFolder
from oddhop.base.files import Arrays, digest
from oddhop.base.kernels import compiled
from oddhop.base.parallel import Progress, map_blocks, silent
from oddhop.detector.ranking import spans
from oddhop.errors import ModelFileError
from oddhop.graph.graph import Graph
from oddhop.hcm.arrows import BACKWARD, FORWARD, arrows
from oddhop.hcm.chains import Posterior
from oddhop.hcm.model import Inputs, Shape, embed, expected_hops

EDGES_AT_ONCE = 4_096
CHECKPOINT = "scoring"
ALL = slice(None)


@dataclass(frozen=True)
class Scores:
    """What the posterior says of every node.

    Attributes
    ----------
    chain_ahp, chain_iv : (chains, nodes); their means over the chains are AHP and IV. Equal parts of a single chain
        stand in for chains.
    draws : (chains, samples, nodes), the mean predicted hop count to the neighbours, by sample.
    judged : False for nodes without neighbours, whose figures are all 0.
    max_ahp, max_iv : what HAV divides by; of the training network, also when another is scored.
    """

    chain_ahp: Floats
    chain_iv: Floats
    draws: Floats
    judged: Bools
    max_ahp: float
    max_iv: float

    @property
    def ahp(self) -> Floats:
        """Average hop prediction."""
        return np.asarray(self.chain_ahp.mean(axis=0))

    @property
    def iv(self) -> Floats:
        """Inferred variance."""
        return np.asarray(self.chain_iv.mean(axis=0))

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
        return np.asarray(far * self.chain_ahp[:, span] + unsure * self.chain_iv[:, span])


def score_nodes(
    posterior: Posterior,
    inputs: Inputs,
    graph: Graph,
    *,
    maxima: tuple[float, float] | None = None,
    folder: RunFolder | None = None,
    workers: int = 1,
    progress: Progress = silent,
) -> Scores:
    """Score every node of a graph by all posterior samples.

    With a folder the figures of the edges are kept in files there rather than in memory. They are read and
    written from beginning to end, which a disk does well.
    """
    replicates = posterior.replicates
    chains, samples = replicates.shape[:2]
    nodes, edges = graph.node_count, graph.edge_count
    dtype = posterior.weights.dtype
    ways = arrows(graph) if posterior.shape.directed else None
    within, sealed = _kept(folder, chains, nodes)
    first = len(sealed)
    shapes = {"mean": (chains, edges), "square": (1, edges), "draws": (chains, samples, nodes)}
    moments = {name: _begun(folder, name, shape, dtype, fresh=first == 0) for name, shape in shapes.items()}
    _check_moments(moments, sealed)
    for chain in range(first, chains):
        mean, square = moments["mean"][chain], moments["square"][0]
        mean[:], square[:] = 0, 0
        for sample in range(samples):
            weights = torch.from_numpy(replicates[chain, sample])
            z = embed(weights, posterior.shape, inputs, workers=workers)
            sums = _add_sample(weights, sample, posterior.shape, z, graph, ways, mean, square, workers)
            moments["draws"][chain, sample] = _over_degree(sums, graph)
            progress("scoring", chain * samples + sample + 1, chains * samples)
        (within[chain],) = _node_means(_variances(square, samples), 1, graph)
        if folder:
            for array in moments.values():
                if isinstance(array, np.memmap):
                    array.flush()
            sealed.append(_digests(moments, chain))
            folder.save(CHECKPOINT, {"within": within[: chain + 1]}, {"sha256": sealed})
    return _scores_of(moments, within, graph, maxima, posterior.weights.shape[0])


def _begun(
    folder: RunFolder | None, name: str, shape: tuple[int, ...], dtype: np.dtype[np.floating], *, fresh: bool
) -> Floats:
    return folder.array(name, shape, dtype, fresh=fresh) if folder else np.zeros(shape, dtype=dtype)


def _digests(moments: Arrays, chain: int) -> dict[str, str]:
    return {name: digest(moments[name][chain]) for name in ("mean", "draws")}


def _kept(folder: RunFolder | None, chains: int, nodes: int) -> tuple[Floats, list[dict[str, str]]]:
    """Return what a run that was killed had found within its chains, and the sha256 of the moments of each."""
    within = np.zeros((chains, nodes))
    found = folder.load(CHECKPOINT) if folder else None
    if found is None:
        return within, []
    arrays, info = found
    sealed: Any = info.get("sha256")
    done = len(sealed) if isinstance(sealed, list) else -1
    if not 0 <= done <= chains or [array.shape for array in arrays.values()] != [(done, nodes)]:
        raise ModelFileError("the checkpoint of scoring does not match its run", "start again in another folder")
    (within[:done],) = arrays.values()
    return within, sealed


def _check_moments(moments: Arrays, expected: list[dict[str, str]]) -> None:
    if [_digests(moments, chain) for chain in range(len(expected))] != expected:
        raise ModelFileError(
            "the values of the edges in the run folder were changed after they were written",
            "start again in another folder",
        )


def _add_sample(
    weights: torch.Tensor,
    sample: int,
    shape: Shape,
    z: torch.Tensor,
    graph: Graph,
    ways: Ints | None,
    mean: Floats,
    square: Floats,
    workers: int,
) -> Floats:
    """Move the running moments of every edge by one sample; give the sums over each node's edges."""

    def expected(left: Ints, right: Ints) -> Floats:
        hops: Floats = expected_hops(weights, shape, z, torch.from_numpy(left), torch.from_numpy(right)).numpy()
        return hops

    def predict(start: int) -> tuple[Ints, Ints, Floats]:
        left, right = graph.ends(start, start + EDGES_AT_ONCE)
        if ways is None:
            hops = expected(left, right)
        else:
            way = ways[start : start + left.size]
            against, both = way == BACKWARD, way == FORWARD | BACKWARD
            hops = expected(np.where(against, right, left), np.where(against, left, right))
            hops[both] = (hops[both] + expected(right[both], left[both])) / 2
        welford(hops, sample + 1, mean[start : start + left.size], square[start : start + left.size])
        return left, right, hops

    sums = np.zeros(graph.node_count)
    blocks = range(0, graph.edge_count, EDGES_AT_ONCE)
    for left, right, hops in map_blocks(predict, blocks, workers=workers):
        _add_to_ends(left, right, hops, sums)
    return sums


def _scores_of(
    moments: Arrays, within: Floats, graph: Graph, maxima: tuple[float, float] | None, chains: int
) -> Scores:
    mean = moments["mean"]
    chain_ahp = _node_means(lambda span: mean[:, span], len(mean), graph)
    chain_iv = _node_means(lambda span: from_the_mean(np.asarray(mean[:, span])), len(mean), graph)
    chain_iv += within
    if maxima is None:
        maxima = float(chain_ahp.mean(axis=0).max()), float(chain_iv.mean(axis=0).max())
    draws = moments["draws"].reshape(chains, -1, graph.node_count)
    return Scores(chain_ahp, chain_iv, draws, graph.degrees > 0, *maxima)


def _node_means(values: Callable[[slice], Iterable[Floats]], count: int, graph: Graph) -> Floats:
    """Return the means over the edges of every node, of several figures of the edges; 0 where there are none."""
    sums = np.zeros((count, graph.node_count))
    for start in range(0, graph.edge_count, EDGES_AT_ONCE):
        left, right = graph.ends(start, start + EDGES_AT_ONCE)
        for row, figures in zip(sums, values(slice(start, start + left.size)), strict=True):
            _add_to_ends(left, right, figures, row)
    return _over_degree(sums, graph)


def _variances(square: Floats, samples: int) -> Callable[[slice], list[Floats]]:
    return lambda span: [square[span] / samples]


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
