"""Samplers of the weights: stochastic gradient Langevin dynamics, and plain descent for comparison.

With U(w) = mean loss + weight decay |w|^2 / 2 and temperature T, the posterior is exp(-U / T), and

    w <- w - (step / 2) G grad U + sqrt(step G T) noise        (sgld)
    w <- w - (step / 2) G grad U                               (sgd)

G is a diagonal preconditioner, 1 / (root mean square of the gradient), adapted during burn-in and
frozen afterwards: one that still moves needs a correction term, or the variance comes out wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch


@dataclass(frozen=True)
class State:
    """Where a chain is: its weights, the running mean square of its gradients, its step number."""

    weights: torch.Tensor
    square: torch.Tensor
    step: int = 0


@dataclass(frozen=True)
class Rule:
    """How a chain moves.

    Attributes
    ----------
    step_size : the step after burn-in; it starts ``warm`` times as large and falls to it.
    burn_in : steps before the preconditioner is frozen and samples count.
    temperature : scales the variance of the posterior; 0 is plain descent.
    weight_decay : the precision of the prior, in units of the mean loss.
    preconditioned : False keeps G at 1.
    """

    step_size: float
    burn_in: int
    temperature: float
    weight_decay: float
    preconditioned: bool = True
    warm: float = 1.0
    decay: float = 0.99
    floor: float = 1e-4

    def step_at(self, step: int) -> float:
        """Return the step size: falling along a line during burn-in, constant afterwards."""
        left = max(0.0, 1.0 - step / self.burn_in) if self.burn_in else 0.0
        return self.step_size * (1.0 + (self.warm - 1.0) * left)


def start(weights: torch.Tensor) -> State:
    """Begin a chain."""
    return State(weights, torch.zeros_like(weights))


def update(state: State, gradient: torch.Tensor, rule: Rule, generator: torch.Generator) -> State:
    """Take one step with the gradient of the mean loss at the state's weights."""
    step = rule.step_at(state.step)
    slope = gradient + rule.weight_decay * state.weights
    square = state.square
    if rule.preconditioned and state.step < rule.burn_in:
        square = rule.decay * square + (1.0 - rule.decay) * slope * slope
    scale = preconditioner(square, rule, state.step)
    weights = state.weights - (0.5 * step) * scale * slope
    if rule.temperature > 0:
        noise = torch.randn(weights.shape, generator=generator, dtype=weights.dtype)
        weights = weights + (step * rule.temperature * scale).sqrt() * noise
    return replace(state, weights=weights, square=square, step=state.step + 1)


def preconditioner(square: torch.Tensor, rule: Rule, step: int) -> torch.Tensor:
    """Return G; the running mean is corrected for having begun at zero."""
    if not rule.preconditioned or rule.burn_in == 0:
        return torch.ones_like(square)
    seen = 1.0 - rule.decay ** min(step + 1, rule.burn_in)
    return 1.0 / ((square / seen).sqrt() + rule.floor)
