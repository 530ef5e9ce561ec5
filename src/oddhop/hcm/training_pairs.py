"""What HCM learns from: what the model sees, labelled pairs, and how the chains run on them."""

from __future__ import annotations

from dataclasses import dataclass

from oddhop.base.parallel import Progress, silent
from oddhop.detector.contract import FitRun
from oddhop.graph.graph import Graph
from oddhop.graph.preparation import Preparation
from oddhop.hcm.chains import Plan
from oddhop.hcm.hop_pairs import HopPairs, list_pairs, sample_pairs
from oddhop.hcm.model import Inputs
from oddhop.hcm.purify import Purified, purify
from oddhop.hcm.sampler import Rule
from oddhop.hcm.settings import HCMSettings

# The paper's prior is all but flat. At 1 / N a network of a few pairs would leave its weights free to
# wander wherever the softmax is extreme (a loss of 30 where chance has 1.4 was seen on 11 nodes).
HOTTEST = 1e-4


@dataclass(frozen=True)
class LeftOut:
    """Which edges hop labels were made without, how many by a tie, by which similarity; and the hubs passed over."""

    dropped: int
    tied: int
    similarity: str
    hubs: int


def training_data(graph: Graph, preparation: Preparation, run: FitRun) -> tuple[Inputs, HopPairs, LeftOut]:
    """Prepare the attributes, purify the network, and label pairs; what is only needed on the way ends here."""
    settings: HCMSettings = run.settings
    prepared = preparation.apply(graph, settings.dtype)
    most = settings.most_neighbours(graph.node_count)
    inputs = Inputs.of(prepared, settings.dtype, most=most, seed=run.seed, normalised=settings.normalised_input)
    purified = purify(prepared, settings.drop_ratio, seed=run.seed, workers=run.workers, directed=settings.directed)
    run.progress("preparing", 1, 1)
    pairs = labelled_pairs(purified, settings, run.seed, run.workers, run.progress)
    return inputs, pairs, LeftOut(purified.dropped, purified.tied, purified.measure, purified.hubs)


def labelled_pairs(
    purified: Purified, settings: HCMSettings, seed: int, workers: int = 1, progress: Progress = silent
) -> HopPairs:
    """Draw or list the pairs that the settings ask for."""
    if settings.pair_labels == "exhaustive":
        return list_pairs(purified, settings.hop_classes, workers=workers, progress=progress)
    return sample_pairs(purified, settings.hop_classes, seed=seed, workers=workers, progress=progress)


def plan_chains(pairs: HopPairs, settings: HCMSettings, seed: int, device: str = "cpu") -> Plan:
    """Say how the chains run on these pairs."""
    classes = pairs.present.size
    temperature = settings.temperature
    if temperature is None:
        temperature = min(1.0 / (classes * pairs.smallest), HOTTEST)
    rule = Rule(
        step_size=settings.step_size,
        burn_in=settings.steps_before(pairs.smallest, classes),
        temperature=temperature if settings.sampler == "sgld" else 0.0,
        weight_decay=settings.weight_decay,
        warm=settings.initial_step_factor,
        preconditioned=settings.preconditioned,
    )
    return Plan(
        rule,
        settings.rounds(pairs.smallest, classes)[-1],
        settings.samples,
        settings.thin,
        settings.pairs_a_class(pairs.smallest, classes),
        seed,
        device=device,
    )
