"""HCM looked at from the side: other readings of its posterior, and how good it is while it learns."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch

from benchmarks.metrics import roc_auc
from oddhop.base.arrays import Bools, Floats
from oddhop.errors import SettingsError
from oddhop.graph.graph import Graph
from oddhop.hcm.chains import Chain, Plan, Posterior, run_chains
from oddhop.hcm.hop_pairs import labelled_pairs
from oddhop.hcm.material import Material
from oddhop.hcm.model import Inputs, Shape
from oddhop.hcm.purify import learn_attributes, purify
from oddhop.hcm.scoring import score_nodes
from oddhop.hcm.settings import HCMSettings


@dataclass(frozen=True)
class TrainingInputs:
    """A network made ready to be learned from."""

    material: Material
    plan: Plan
    shape: Shape


def prepare(graph: Graph, settings: HCMSettings, seed: int, *, raw_similarity: bool = False) -> TrainingInputs:
    """Run the stages before training; with ``raw_similarity`` edges are dropped by the attributes as given."""
    if settings.directed:
        raise SettingsError("directed=True: readings have no direction", "run the detector HCM")
    preparation = learn_attributes(graph, settings)
    prepared = preparation.apply(graph, settings.dtype)
    purified = purify(graph if raw_similarity else prepared, settings.drop_ratio, seed=seed)
    pairs = labelled_pairs(purified, settings, seed)
    inputs = Inputs.of(prepared, settings.dtype, normalised=settings.normalised_input)
    plan, shape = Plan.of(settings, pairs, seed), Shape.of(settings, preparation.width)
    return TrainingInputs(Material(prepared, inputs, pairs), plan, shape)


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
    posterior = run_chains(ready.plan, ready.shape, ready.material)
    expected = score_nodes(posterior, ready.material)
    most_likely = replace(posterior, shape=replace(ready.shape, most_likely=True))
    other = score_nodes(most_likely, ready.material)
    return {"ahp": expected.ahp, "hav": expected.hav, "argmax ahp": other.ahp, "argmax hav": other.hav}


def training_curve(
    graph: Graph, anomalous: Bools, settings: HCMSettings, seed: int, *, every: int = 25
) -> dict[str, list[float]]:
    """Return the ROC-AUC of AHP, by the weights of the moment, every few steps of one chain."""
    ready = prepare(graph, settings, seed)
    chain = Chain(0, ready.plan, ready.shape, torch.float64 if settings.precision == "float64" else torch.float32)
    steps, areas, losses = [], [], []
    while chain.sampler.steps < ready.plan.steps:
        chain.step(ready.material)
        if chain.sampler.steps % every == 0:
            now = Posterior(chain.model.flat().numpy()[None, None], ready.shape, np.zeros(1))
            steps.append(float(chain.sampler.steps))
            losses.append(round(chain.loss, 4))
            areas.append(round(roc_auc(anomalous, score_nodes(now, ready.material).ahp)[0], 5))
    return {"steps": steps, "roc_auc": areas, "loss": losses}
