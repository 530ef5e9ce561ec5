"""Chains: train from a random start, burn in, and keep samples of the weights.

A chain runs on one thread and draws its random numbers by (seed, chain, step), so it gives the same
samples alone or beside others, before more are added or after, straight through or resumed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch

from oddhop.base.arrays import Floats
from oddhop.base.checkpoints import RunFolder
from oddhop.base.files import Arrays
from oddhop.base.parallel import Mapper, Progress, silent, threads
from oddhop.base.randomness import NOISE, START, STEP, generator, torch_generator
from oddhop.errors import TrainingDivergedError
from oddhop.hcm.hop_pairs import HopPairs, draw_batch
from oddhop.hcm.material import Material, checkpoint, misfit
from oddhop.hcm.model import HopModel, Shape, Step
from oddhop.hcm.sampler import SGLD, Rule
from oddhop.hcm.settings import HCMSettings, replicate_count

RETRIES = 3
# The paper's prior is all but flat. At 1 / N a network of a few pairs would leave its weights free to
# wander wherever the softmax is extreme (a loss of 30 where chance has 1.4 was seen on 11 nodes).
HOTTEST = 1e-4


@dataclass(frozen=True)
class Plan:
    """How long chains run and what they keep: ``samples`` of each, ``thin`` steps apart."""

    rule: Rule
    chains: int
    samples: int
    thin: int
    pairs_per_class: int
    seed: int
    checkpoint_every: int = 100
    device: str = "cpu"

    @classmethod
    def of(cls, settings: HCMSettings, pairs: HopPairs, seed: int, device: str = "cpu") -> Plan:
        """Return how the chains run on these pairs."""
        smallest, classes = pairs.smallest, pairs.present.size
        temperature = settings.temperature
        if temperature is None:
            temperature = min(1.0 / (classes * smallest), HOTTEST)
        rule = Rule(
            step_size=settings.step_size,
            burn_in=settings.steps_before(smallest, classes),
            temperature=temperature if settings.sampler == "sgld" else 0.0,
            weight_decay=settings.weight_decay,
            warm=settings.initial_step_factor,
            preconditioned=settings.preconditioned,
        )
        chains, per_class = settings.rounds(smallest, classes)[-1], settings.pairs_a_class(smallest, classes)
        return cls(rule, chains, settings.samples, settings.thin, per_class, seed, device=device)

    @property
    def steps(self) -> int:
        """The steps of one chain."""
        return self.rule.burn_in + self.samples * self.thin


@dataclass(frozen=True)
class Posterior:
    """Samples of the weights, (chains, samples, weights), and the last training losses."""

    weights: Floats
    shape: Shape
    losses: Floats

    @property
    def replicates(self) -> Floats:
        """The samples by chain; those of a single chain in equal parts, which stand in for chains."""
        chains, samples, size = self.weights.shape
        return self.weights.reshape(replicate_count(chains, samples), -1, size)


class Chain:
    """A chain under way: its model and sampler, the samples so far, the running mean of its loss."""

    def __init__(self, number: int, plan: Plan, shape: Shape, dtype: torch.dtype, halvings: int = 0) -> None:
        start = shape.start(torch_generator(plan.seed, START, number), dtype)
        self.number, self.plan, self.halvings = number, plan, halvings
        self.model = HopModel(shape, start.to(plan.device))
        rule = replace(plan.rule, step_size=plan.rule.step_size / 2**halvings)
        self.sampler = SGLD(self.model.parameters(), rule)
        self.kept = torch.zeros((plan.samples, shape.size), dtype=dtype)
        self.loss = 0.0

    @property
    def name(self) -> str:
        """What its checkpoints are called."""
        return f"chain-{self.number}"

    def step(self, material: Material) -> bool:
        """Take one step; return whether its loss and gradient were finite."""
        plan, step = self.plan, self.sampler.steps
        assert material.pairs is not None  # noqa: S101 - chains run where there is something to learn
        batch = draw_batch(material.pairs, plan.pairs_per_class, generator(plan.seed, STEP, self.number, step))
        taken = Step.of(material.inputs, batch, self.model.shape.layers).to(plan.device)
        loss, finite = descend(self.model, self.sampler, taken, torch_generator(plan.seed, NOISE, self.number, step))
        if not bool(finite):
            return False
        self.loss = float(loss) if step == 0 else 0.95 * self.loss + 0.05 * float(loss)
        sample = self.sampler.steps - plan.rule.burn_in
        if sample > 0 and sample % plan.thin == 0:
            self.kept[sample // plan.thin - 1] = self.model.flat()
        return True

    def arrays(self) -> Arrays:
        """Return its state, for a checkpoint."""
        parts = {"weights": self.model.flat(), "square": self.sampler.squares(), "kept": self.kept}
        return {name: part.cpu().numpy() for name, part in parts.items()}


def descend(model: HopModel, sampler: SGLD, step: Step, noise: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Take one step of the sampler; return the loss, and whether it and its gradient are finite.

    Nothing here leaves the device or waits for it.
    """
    sampler.zero_grad()
    loss = model.loss(step)
    loss.backward()
    finite = torch.isfinite(loss.detach())
    for parameter in model.parameters():
        assert parameter.grad is not None  # noqa: S101 - every weight has a part in the loss
        finite = finite & torch.isfinite(parameter.grad).all()
    sampler.step(noise)
    return loss.detach(), finite


def run_chains(
    plan: Plan,
    shape: Shape,
    material: Material,
    *,
    before: Posterior | None = None,
    mapper: Mapper | None = None,
    workers: int = 1,
    progress: Progress = silent,
) -> Posterior:
    """Run all chains but those that ran ``before``: by a mapper as tasks, or on so many threads of this process."""
    first = 0 if before is None else len(before.weights)
    steps = [plan.steps] * first + [0] * (plan.chains - first)

    def report(number: int, step: int) -> None:
        steps[number] = step
        progress("training", sum(steps), plan.steps * plan.chains)

    def ended(chains: int) -> None:
        if mapper:  # a task elsewhere cannot report its steps
            progress("training", plan.steps * (first + chains), plan.steps * plan.chains)

    run = partial(_run_chain, plan, shape, material, None if mapper else report)
    found = (mapper or threads(workers))(run, range(first, plan.chains), ended)
    weights, losses = (np.stack(part) for part in zip(*found, strict=True))
    if before is not None:
        weights, losses = np.concatenate([before.weights, weights]), np.concatenate([before.losses, losses])
    return Posterior(weights, shape, losses)


def _run_chain(
    plan: Plan, shape: Shape, material: Material, report: Callable[[int, int], None] | None, number: int
) -> tuple[Floats, float]:
    """Run one chain to its end, from its last checkpoint where there is one; give its samples and its loss."""
    dtype = torch.from_numpy(material.inputs.convolved[:1]).dtype
    chain = restored(material.folder, Chain(number, plan, shape, dtype))
    while chain.sampler.steps < plan.steps:
        if not chain.step(material):
            if chain.halvings == RETRIES:
                raise TrainingDivergedError(
                    f"the loss of {chain.name} was not finite at step {chain.sampler.steps - 1}, and {RETRIES} "
                    f"restarts with half the step did not help (step_size={plan.rule.step_size})",
                    "set a tenth of this step_size, or scale='standard'",
                )
            # Not from a state shortly before: weights grow for several steps before the loss is not finite.
            chain = Chain(number, plan, shape, dtype, chain.halvings + 1)
            continue
        step = chain.sampler.steps
        if material.folder and (step % plan.checkpoint_every == 0 or step == plan.steps):
            counts = {"step": step, "loss": chain.loss, "halvings": chain.halvings}
            material.folder.save(chain.name, chain.arrays(), counts)
        if report is not None:
            report(number, step)
    return chain.kept.numpy(), chain.loss


def restored(folder: RunFolder | None, begun: Chain) -> Chain:
    """Return a chain as it was kept, or as it begins; what was kept must be one that could have come of it."""
    found = checkpoint(folder, begun.name, begun.arrays())
    if found is None:
        return begun
    arrays, counts = found
    if {name: type(value) for name, value in counts.items()} != {"step": int, "loss": float, "halvings": int}:
        raise misfit(begun.name)
    if not 0 <= counts["step"] <= begun.plan.steps or not 0 <= counts["halvings"] <= RETRIES:
        raise misfit(begun.name)
    chain = Chain(begun.number, begun.plan, begun.model.shape, begun.kept.dtype, counts["halvings"])
    weights = torch.from_numpy(arrays["weights"]).to(begun.plan.device)
    torch.nn.utils.vector_to_parameters(weights, chain.model.parameters())
    chain.sampler.restore(torch.from_numpy(arrays["square"]), counts["step"])
    chain.kept[:] = torch.from_numpy(arrays["kept"])
    chain.loss = counts["loss"]
    return chain
