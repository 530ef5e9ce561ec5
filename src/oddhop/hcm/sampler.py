"""Samplers of the weights: stochastic gradient Langevin dynamics, and plain descent for comparison.

With U(w) = mean loss + weight decay |w|^2 / 2 and temperature T, the posterior is exp(-U / T), and

    w <- w - (step / 2) G grad U + sqrt(step G T) noise        (sgld)
    w <- w - (step / 2) G grad U                               (sgd)

G is a diagonal preconditioner, 1 / (root mean square of the gradient), adapted during burn-in and
frozen afterwards: one that still moves needs a correction term, or the variance comes out wrong.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch


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


class SGLD(torch.optim.Optimizer):
    """Stochastic gradient Langevin dynamics; descent where the temperature is 0.

    The noise is drawn from a generator of the processor, so that it is the same on every device.
    """

    def __init__(self, parameters: Iterable[torch.nn.Parameter], rule: Rule) -> None:
        self._parameters = list(parameters)
        super().__init__(self._parameters, {})
        self.rule = rule
        self.steps = 0
        self._squares = [torch.zeros_like(parameter, requires_grad=False) for parameter in self._parameters]

    @torch.no_grad()
    def step(self, generator: torch.Generator) -> None:  # type: ignore[override]
        """Take one step with the gradients of the mean loss."""
        rule, size = self.rule, self.rule.step_at(self.steps)
        for parameter, square in zip(self._parameters, self._squares, strict=True):
            assert parameter.grad is not None  # noqa: S101 - every weight has a part in the loss
            slope = parameter.grad.add(parameter, alpha=rule.weight_decay)
            if rule.preconditioned and self.steps < rule.burn_in:
                square.mul_(rule.decay).addcmul_(slope, slope, value=1.0 - rule.decay)
            scale = preconditioner(square, rule, self.steps)
            parameter.addcmul_(scale, slope, value=-0.5 * size)
            if rule.temperature > 0:
                noise = torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype)
                parameter.addcmul_(scale.mul_(size * rule.temperature).sqrt_(), noise.to(parameter.device))
        self.steps += 1

    def squares(self) -> torch.Tensor:
        """Return a copy of the running mean squares of all gradients as one vector."""
        return torch.nn.utils.parameters_to_vector(self._squares)

    def restore(self, squares: torch.Tensor, steps: int) -> None:
        """Continue where another run was."""
        torch.nn.utils.vector_to_parameters(squares.to(self._squares[0].device, copy=True), self._squares)
        self.steps = steps


def preconditioner(square: torch.Tensor, rule: Rule, step: int) -> torch.Tensor:
    """Return G; the running mean is corrected for having begun at zero."""
    if not rule.preconditioned or rule.burn_in == 0:
        return torch.ones_like(square)
    seen = 1.0 - rule.decay ** min(step + 1, rule.burn_in)
    return (square / seen).sqrt_().add_(rule.floor).reciprocal_()
