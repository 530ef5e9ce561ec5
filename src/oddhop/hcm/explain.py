"""Why HCM finds a node odd: how far each of its neighbours looks to the model, over all posterior samples."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import torch

from oddhop.base.arrays import Floats, Ints
from oddhop.base.parallel import Progress, map_blocks, silent
from oddhop.base.randomness import EXPLAIN, generator
from oddhop.explain.explanation import SHOWN, Baseline, Explanation, Neighbour
from oddhop.graph.graph import Graph
from oddhop.hcm.arrows import arrows, arrows_of
from oddhop.hcm.model import HopModel, Inputs, receptive
from oddhop.hcm.model_file import HCMModel
from oddhop.hcm.scoring import hav, pair_hops
from oddhop.tables.network import Network

LOOKED_AT = 512


def explain_nodes(
    model: HCMModel,
    network: Network,
    nodes: Ints,
    baseline: Baseline,
    *,
    workers: int = 1,
    progress: Progress = silent,
) -> Iterator[Explanation]:
    """Explain some nodes of a network, given by their numbers, one after the other."""
    if model.settings.directed:
        arrows(network.graph)  # refuses a network without
    prepared = model.learned.preparation.apply(network.graph, model.settings.dtype)
    inputs = Inputs.of(prepared, model.settings.dtype, normalised=model.settings.normalised_input)
    explain = partial(_explain, model, network, inputs, baseline)
    for done, why in enumerate(map_blocks(explain, nodes.tolist(), workers=workers), 1):
        progress("explain", done, nodes.size)
        yield why


def _explain(model: HCMModel, network: Network, inputs: Inputs, baseline: Baseline, node: int) -> Explanation:
    degree = int(network.graph.degrees[node])
    if degree == 0:
        return Explanation(network.name(node), 0.0, 0, baseline)
    neighbours = network.graph.indices[network.graph.indptr[node] :][:degree].astype(np.int64)
    if degree > LOOKED_AT:
        neighbours = np.sort(generator(model.seed, EXPLAIN, node).choice(neighbours, LOOKED_AT, replace=False))
    hops = _hops(model, network.graph, inputs, node, neighbours)
    mean, spread = hops.mean(axis=0), hops.std(axis=0)
    edges = mean
    if model.settings.score == "hav":
        edges = hav(model.learned.maxima, mean, spread**2)
    # By distance, not by score: where the model is merely unsure it says little about this edge.
    order = np.argsort(-mean, kind="stable")[:SHOWN].tolist()
    return Explanation(
        id=network.name(node),
        score=float(edges.mean()),
        degree=degree,
        baseline=baseline,
        neighbours=tuple(
            Neighbour(network.name(int(neighbours[k])), float(edges[k]), hops=float(mean[k]), spread=float(spread[k]))
            for k in order
        ),
        looked_at=neighbours.size,
        hops=float(mean.mean()),
        spread=float((spread**2).mean()) ** 0.5,
    )


def _hops(model: HCMModel, graph: Graph, inputs: Inputs, node: int, neighbours: Ints) -> Floats:
    """Return the predicted hops to the neighbours by every sample, (samples, neighbours)."""
    posterior, rows = model.learned.posterior, np.union1d(neighbours, node)
    here, there = (np.searchsorted(rows, ends) for ends in (np.full_like(neighbours, node), neighbours))
    ways = arrows_of(graph, node, neighbours) if posterior.shape.directed else None
    seen, blocks = receptive(inputs, rows, posterior.shape.layers)
    out = []
    for flat in torch.from_numpy(posterior.weights.reshape(-1, posterior.shape.size)):
        hop_model = HopModel(posterior.shape, flat)
        with torch.no_grad():
            z = hop_model.vectors(seen, blocks)
        out.append(pair_hops(hop_model, z, here, there, ways))
    return np.stack(out).astype(np.float64)
