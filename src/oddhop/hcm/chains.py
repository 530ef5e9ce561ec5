"""Chains: train from a random start, burn in, and keep posterior samples of the weights.

A chain runs on one thread and draws its random numbers by (seed, chain, step), so it gives the same
samples alone or beside others, straight through or resumed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import torch

from oddhop.base.arrays import Floats
from oddhop.base.checkpoints import RunFolder
from oddhop.base.parallel import Mapper, Progress, silent, threads
from oddhop.base.randomness import NOISE, START, STEP, generator, torch_generator
from oddhop.errors import ModelFileError, TrainingDivergedError
from oddhop.hcm.hop_pairs import draw_batch
from oddhop.hcm.material import Place
from oddhop.hcm.model import Shape, pair_loss
from oddhop.hcm.sampler import Rule, State, start, update
from oddhop.hcm.settings import replicate_count

RETRIES = 3


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

    @property
    def steps(self) -> int:
        """The steps of one chain."""
        return self.rule.burn_in + self.samples * self.thin


@dataclass(frozen=True)
class Posterior:
    """Posterior samples of the weights, (chains, samples, weights), and the last training losses."""

    weights: Floats
    shape: Shape
    losses: Floats

    @property
    def replicates(self) -> Floats:
        """The samples by chain; those of a single chain in equal parts, which stand in for chains."""
        chains, samples, size = self.weights.shape
        return self.weights.reshape(replicate_count(chains, samples), -1, size)


@dataclass(frozen=True)
class Chain:
    """A chain under way: its state, the samples so far, the running mean of its loss."""

    state: State
    kept: torch.Tensor
    loss: float
    halvings: int = 0


def run_chains(
    plan: Plan,
    shape: Shape,
    place: Place,
    *,
    folder: RunFolder | None = None,
    mapper: Mapper | None = None,
    workers: int = 1,
    progress: Progress = silent,
) -> Posterior:
    """Run all chains: by a mapper as tasks, or on so many threads of this process."""
    total = plan.steps * plan.chains
    if mapper is None:
        run = partial(_run_chain, plan, shape, place, folder, _Steps(plan, progress).report)
        finished = threads(workers)(run, range(plan.chains), lambda _: None)
    else:
        run = partial(_run_chain, plan, shape, place, folder, _unheard)
        finished = mapper(run, range(plan.chains), lambda done: progress("training", done * plan.steps, total))
    return Posterior(
        weights=np.stack([kept for kept, _ in finished]), shape=shape, losses=np.array([loss for _, loss in finished])
    )


@dataclass(frozen=True)
class _Steps:
    """Adds up the steps of all chains."""

    plan: Plan
    progress: Progress
    done: dict[int, int] = field(default_factory=dict)

    def report(self, number: int, step: int) -> None:
        self.done[number] = step
        self.progress("training", sum(self.done.values()), self.plan.steps * self.plan.chains)


def _unheard(number: int, step: int) -> None:
    """Report no step: a task elsewhere cannot."""


def _run_chain(
    plan: Plan,
    shape: Shape,
    place: Place,
    folder: RunFolder | None,
    report: Callable[[int, int], None],
    number: int,
) -> tuple[Floats, float]:
    """Run one chain to its end, from its last checkpoint where the folder has one; give its samples and its loss."""
    name = f"chain-{number}"
    material = place.open()
    pairs, inputs = material.pairs, material.inputs
    chain = _begun(number, plan, shape, inputs.convolved.dtype)
    chain = _restored(folder, name, chain, plan.steps) or chain
    while chain.state.step < plan.steps:
        step = chain.state.step
        weights = chain.state.weights.clone().requires_grad_(True)
        batch = draw_batch(pairs, plan.pairs_per_class, generator(plan.seed, STEP, number, step))
        loss = pair_loss(weights, shape, inputs, batch)
        (gradient,) = torch.autograd.grad(loss, weights)
        if not bool(torch.isfinite(gradient).all() and torch.isfinite(loss)):
            # Not from a state shortly before: weights grow for several steps before the loss is not finite.
            chain = _started_again(chain, _begun(number, plan, shape, inputs.convolved.dtype), plan, name)
            continue
        rule = replace(plan.rule, step_size=plan.rule.step_size / 2**chain.halvings)
        state = update(chain.state, gradient, rule, torch_generator(plan.seed, NOISE, number, step))
        smooth = float(loss.detach()) if step == 0 else 0.95 * chain.loss + 0.05 * float(loss.detach())
        sample = state.step - plan.rule.burn_in
        if sample > 0 and sample % plan.thin == 0:
            chain.kept[sample // plan.thin - 1] = state.weights
        chain = replace(chain, state=state, loss=smooth)
        if folder and (state.step % plan.checkpoint_every == 0 or state.step == plan.steps):
            _keep(folder, name, chain)
        report(number, state.step)
    return chain.kept.numpy(), chain.loss


def _begun(number: int, plan: Plan, shape: Shape, dtype: torch.dtype) -> Chain:
    weights = shape.start(torch_generator(plan.seed, START, number), dtype)
    return Chain(start(weights), torch.zeros((plan.samples, shape.size), dtype=dtype), loss=0.0)


def _started_again(diverged: Chain, begun: Chain, plan: Plan, name: str) -> Chain:
    if diverged.halvings == RETRIES:
        raise TrainingDivergedError(
            f"the loss of {name} was not finite at step {diverged.state.step}, and {RETRIES} restarts with half the "
            f"step did not help (step_size={plan.rule.step_size})",
            "set a tenth of this step_size, or scale='standard'",
        )
    return replace(begun, halvings=diverged.halvings + 1)


def _keep(folder: RunFolder, name: str, chain: Chain) -> None:
    state = chain.state
    arrays = {"weights": state.weights.numpy(), "square": state.square.numpy(), "kept": chain.kept.numpy()}
    folder.save(name, arrays, {"step": state.step, "loss": chain.loss, "halvings": chain.halvings})


def _restored(folder: RunFolder | None, name: str, begun: Chain, steps: int) -> Chain | None:
    """Return the chain as it was kept, if it was; it must be one that could have come of ``begun``."""
    found = folder.load(name) if folder else None
    if found is None:
        return None
    arrays, info = found
    expected = {"weights": begun.state.weights, "square": begun.state.square, "kept": begun.kept}
    fits = arrays.keys() == expected.keys() and all(
        array.shape == expected[part].shape and array.dtype == expected[part].numpy().dtype
        for part, array in arrays.items()
    )
    counts = type(info.get("step")), type(info.get("halvings")), type(info.get("loss"))
    if not fits or counts != (int, int, float) or not (0 <= info["step"] <= steps and 0 <= info["halvings"] <= RETRIES):
        raise ModelFileError(f"the checkpoint of {name} does not match its run", "start again in another folder")
    state = State(torch.from_numpy(arrays["weights"]), torch.from_numpy(arrays["square"]), info["step"])
    return Chain(state, torch.from_numpy(arrays["kept"]), info["loss"], info["halvings"])
