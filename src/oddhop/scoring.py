"""Scores: the posterior over every edge, and from the edges to the nodes.

With y_t(e) the hop count that sample t predicts for the ends of edge e, over T samples,

    AHP(i) = mean over the edges of i of  mean_t y_t(e)
    IV(i)  = mean over the edges of i of  mean_t (y_t(e) - mean_t y_t(e))^2
    HAV(i) = AHP(i) / max AHP + IV(i) / max IV

Samples go one after the other over blocks of edges, with running moments, so memory does not grow
with T. Both AHP and IV are means over the chains: AHP of AHP_c, and IV of

    IV_c(i) = mean over the edges of i of  var_c(e) + (mean_c(e) - mean(e))^2,

which is what the uncertainty of a score is told from (see ranks.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numba import njit

from oddhop.adjacency import upper_edges
from oddhop.arrays import Bools, Floats, Ints
from oddhop.chains import Posterior
from oddhop.engine.local import Progress, map_blocks, silent
from oddhop.graph import Graph
from oddhop.model import Inputs, embed, expected_hops
from oddhop.runs import Arrays, RunFolder

EDGES_AT_ONCE = 4_096
CHECKPOINT = "scoring"


@dataclass(frozen=True)
class Scores:
    """What the posterior says of every node.

    Attributes
    ----------
    chain_ahp, chain_iv : (chains, nodes); their means over the chains are AHP and IV.
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
        return np.asarray(self.chain_scores("hav").mean(axis=0))

    def chain_scores(self, kind: str) -> Floats:
        """Give "ahp" or "hav" by chain, (chains, nodes); the mean over the chains is the score."""
        if kind == "ahp":
            return self.chain_ahp
        far, unsure = (1.0 / peak if peak > 0 else 0.0 for peak in (self.max_ahp, self.max_iv))
        return np.asarray(far * self.chain_ahp + unsure * self.chain_iv)


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
    """Score every node of a graph by all posterior samples."""
    chains, samples = posterior.weights.shape[:2]
    nodes, edges = graph.node_count, graph.edge_count
    dtype = posterior.weights.dtype
    found = folder.load(CHECKPOINT) if folder else None
    if found:
        moments, first = found[0], int(found[1]["chains_done"])
    else:
        moments, first = _empty_moments(chains, samples, nodes, edges, dtype), 0
    for chain in range(first, chains):
        square = np.zeros(edges, dtype=dtype)
        for sample in range(samples):
            weights = torch.from_numpy(posterior.weights[chain, sample])
            sums = _add_sample(weights, sample, posterior, inputs, graph, moments["mean"][chain], square, workers)
            moments["draws"][chain, sample] = _over_degree(sums, graph)
            progress("scoring", chain * samples + sample + 1, chains * samples)
        moments["within"][chain] = _node_means(square / samples, graph)
        if folder:
            folder.save(CHECKPOINT, moments, {"chains_done": chain + 1})
    return _scores_of(moments, graph, maxima)


def _empty_moments(chains: int, samples: int, nodes: int, edges: int, dtype: np.dtype[np.floating]) -> Arrays:
    return {
        "mean": np.zeros((chains, edges), dtype=dtype),
        "within": np.zeros((chains, nodes)),
        "draws": np.zeros((chains, samples, nodes), dtype=dtype),
    }


def _add_sample(
    weights: torch.Tensor,
    sample: int,
    posterior: Posterior,
    inputs: Inputs,
    graph: Graph,
    mean: Floats,
    square: Floats,
    workers: int,
) -> Floats:
    """Move the running moments of every edge by one sample; give the sums over each node's edges."""
    z = embed(weights, posterior.shape, inputs, workers=workers)

    def predict(start: int) -> tuple[Ints, Ints, Floats]:
        stop = min(start + EDGES_AT_ONCE, graph.edge_count)
        left, right = upper_edges(graph.indptr, graph.indices, graph.upper, start, stop)
        hops = expected_hops(weights, posterior.shape, z, torch.from_numpy(left), torch.from_numpy(right)).numpy()
        _welford(hops, sample + 1, mean[start:stop], square[start:stop])
        return left, right, hops

    sums = np.zeros(graph.node_count)
    blocks = range(0, graph.edge_count, EDGES_AT_ONCE)
    for left, right, hops in map_blocks(predict, blocks, workers=workers):
        _add_to_ends(left, right, hops, sums)
    return sums


def _scores_of(moments: Arrays, graph: Graph, maxima: tuple[float, float] | None) -> Scores:
    # Counted from the first chain, so that chains that agree to the bit have a variance of just 0.
    first = moments["mean"][0]
    mean = first + (moments["mean"] - first).mean(axis=0)
    chain_ahp = np.stack([_node_means(chain, graph) for chain in moments["mean"]])
    between = np.stack([_node_means((chain - mean) ** 2, graph) for chain in moments["mean"]])
    chain_iv = moments["within"] + between
    if maxima is None:
        maxima = float(chain_ahp.mean(axis=0).max()), float(chain_iv.mean(axis=0).max())
    return Scores(chain_ahp, chain_iv, moments["draws"], graph.degrees > 0, *maxima)


def _node_means(edge_values: Floats, graph: Graph) -> Floats:
    """Give the mean over the edges of every node; 0 where there are none."""
    sums = np.zeros(graph.node_count)
    for start in range(0, graph.edge_count, EDGES_AT_ONCE):
        stop = min(start + EDGES_AT_ONCE, graph.edge_count)
        left, right = upper_edges(graph.indptr, graph.indices, graph.upper, start, stop)
        _add_to_ends(left, right, edge_values[start:stop], sums)
    return _over_degree(sums, graph)


def _over_degree(sums: Floats, graph: Graph) -> Floats:
    return np.asarray(sums / np.maximum(graph.degrees, 1))


@njit(cache=True, nogil=True)
def _welford(values: Floats, count: int, mean: Floats, square: Floats) -> None:
    for k in range(values.size):
        step = values[k] - mean[k]
        mean[k] += step / count
        square[k] += step * (values[k] - mean[k])


@njit(cache=True, nogil=True)
def _add_to_ends(left: Ints, right: Ints, values: Floats, sums: Floats) -> None:
    for k in range(values.size):
        sums[left[k]] += values[k]
        sums[right[k]] += values[k]
