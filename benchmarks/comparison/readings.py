"""HCM looked at from the side: other readings of its posterior, and how good it is while it learns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from benchmarks.metrics import roc_auc
from oddhop.base.arrays import Bools, Floats
from oddhop.base.parallel import silent
from oddhop.base.randomness import NOISE, START, STEP, generator, torch_generator
from oddhop.errors import SettingsError
from oddhop.graph.adjacency import upper_edges
from oddhop.graph.graph import Graph
from oddhop.graph.preparation import learn_preparation
from oddhop.hcm.chains import Plan, run_chains
from oddhop.hcm.hop_pairs import HopPairs, draw_batch
from oddhop.hcm.material import Material
from oddhop.hcm.model import Inputs, Shape, embed, expected_hops, pair_gaps, pair_loss
from oddhop.hcm.purify import purify
from oddhop.hcm.sampler import start, update
from oddhop.hcm.scoring import EDGES_AT_ONCE, score_nodes
from oddhop.hcm.settings import HCMSettings
from oddhop.hcm.training_pairs import labelled_pairs, plan_chains


@dataclass(frozen=True)
class TrainingInputs:
    """A network made ready to be learned from."""

    graph: Graph
    inputs: Inputs
    pairs: HopPairs
    plan: Plan
    shape: Shape


def prepare(graph: Graph, settings: HCMSettings, seed: int, *, raw_similarity: bool = False) -> TrainingInputs:
    """Run the stages before training; with ``raw_similarity`` edges are dropped by the attributes as given."""
    if settings.directed:
        raise SettingsError("directed=True: readings have no direction", "run the detector HCM")
    preparation = learn_preparation(
        graph, scale=settings.scale, pca_components=settings.pca_components, pca_above=settings.pca_above
    )
    prepared = preparation.apply(graph, settings.dtype)
    purified = purify(graph if raw_similarity else prepared, settings.drop_ratio, seed=seed)
    pairs = labelled_pairs(purified, settings, seed, 1, silent)
    shape = Shape(preparation.width, settings.hidden, settings.layers, settings.hop_classes)
    return TrainingInputs(
        prepared, Inputs.of(prepared, settings.dtype), pairs, plan_chains(pairs, settings, seed), shape
    )


def read_posterior(
    graph: Graph, settings: HCMSettings, seed: int, *, raw_similarity: bool = False
) -> dict[str, Floats]:
    """Return AHP and HAV of one posterior, by the expected and by the most likely hop count.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph
    >>> from benchmarks.comparison.readings import read_posterior
    >>> from oddhop.hcm.settings import HCMSettings
    >>> rng = np.random.default_rng(0)
    >>> graph = Graph.from_arrays(rng.integers(0, 30, (2, 90)), rng.normal(size=(30, 3)))
    >>> sorted(read_posterior(graph, HCMSettings(burn_in=5, samples=2, thin=1), 0))
    ['ahp', 'argmax ahp', 'argmax hav', 'hav']
    """
    ready = prepare(graph, settings, seed, raw_similarity=raw_similarity)
    posterior = run_chains(ready.plan, ready.shape, Material(ready.pairs, ready.inputs))
    scores = score_nodes(posterior, ready.inputs, ready.graph)
    total, squares = np.zeros((2, graph.edge_count))
    samples = posterior.weights.reshape(-1, posterior.weights.shape[-1])
    for weights in map(torch.from_numpy, samples):
        z = embed(weights, ready.shape, ready.inputs)
        for first in range(0, graph.edge_count, EDGES_AT_ONCE):
            block = slice(first, first + EDGES_AT_ONCE)
            hops = _most_likely(weights, ready, z, first)
            total[block] += hops
            squares[block] += hops**2
    mean = total / len(samples)
    variance = np.maximum(squares / len(samples) - mean**2, 0.0)
    ahp, iv = (_node_means(values, graph) for values in (mean, variance))
    hav = sum(values / values.max() for values in (ahp, iv) if values.max() > 0)
    return {"ahp": scores.ahp, "hav": scores.hav, "argmax ahp": ahp, "argmax hav": np.asarray(hav)}


def training_curve(
    graph: Graph, anomalous: Bools, settings: HCMSettings, seed: int, *, every: int = 25
) -> dict[str, list[float]]:
    """Return the ROC-AUC of AHP, by the weights of the moment, every few steps of one chain."""
    ready = prepare(graph, settings, seed)
    plan = ready.plan
    state = start(ready.shape.start(torch_generator(seed, START, 0), ready.inputs.convolved.dtype))
    steps, areas, losses = [], [], []
    while state.step < plan.steps:
        weights = state.weights.clone().requires_grad_(True)
        batch = draw_batch(ready.pairs, plan.pairs_per_class, generator(seed, STEP, 0, state.step))
        loss = pair_loss(weights, ready.shape, ready.inputs, batch)
        (gradient,) = torch.autograd.grad(loss, weights)
        state = update(state, gradient, plan.rule, torch_generator(seed, NOISE, 0, state.step))
        if state.step % every == 0:
            steps.append(float(state.step))
            losses.append(round(loss.item(), 4))
            areas.append(round(roc_auc(anomalous, _expected(state.weights, ready))[0], 5))
    return {"steps": steps, "roc_auc": areas, "loss": losses}


def _expected(weights: torch.Tensor, ready: TrainingInputs) -> Floats:
    z = embed(weights, ready.shape, ready.inputs)
    graph = ready.graph
    hops = np.empty(graph.edge_count)
    for first in range(0, graph.edge_count, EDGES_AT_ONCE):
        left, right = _ends(graph, first)
        hops[first : first + EDGES_AT_ONCE] = expected_hops(weights, ready.shape, z, left, right).numpy()
    return _node_means(hops, graph)


def _most_likely(weights: torch.Tensor, ready: TrainingInputs, z: torch.Tensor, first: int) -> Floats:
    *_, v0, b0, v1, b1 = ready.shape.read(weights)
    distance = pair_gaps(z, *_ends(ready.graph, first)).abs_()
    logits = torch.addmm(b1, torch.addmm(b0, distance, v0).relu_(), v1)
    return np.asarray(logits.argmax(dim=1).numpy() + 1.0)


def _ends(graph: Graph, first: int) -> tuple[torch.Tensor, torch.Tensor]:
    stop = min(first + EDGES_AT_ONCE, graph.edge_count)
    left, right = upper_edges(graph.indptr, graph.indices, graph.upper, first, stop)
    return torch.from_numpy(left), torch.from_numpy(right)


def _node_means(edge_values: Floats, graph: Graph) -> Floats:
    left, right = upper_edges(graph.indptr, graph.indices, graph.upper, 0, graph.edge_count)
    nodes = graph.node_count
    sums = np.bincount(left, edge_values, minlength=nodes) + np.bincount(right, edge_values, minlength=nodes)
    return np.asarray(sums / np.maximum(graph.degrees, 1))
