"""The samplers against the closed form of a Gaussian posterior.

With U(w) = a (w - c)^2 / 2 + weight decay w^2 / 2 the discretised chain is linear, and its
stationary law is known without any limit of small steps:

    mean a c / p,  variance T / (p (1 - step G p / 4)),  p = a + weight decay.

One vector holds 100 independent copies of each of 10 posteriors, so that 10,000 steps are
1,000,000 draws of each. Every posterior is checked at 3 standard errors, taken between the copies:
20 checks for each of two chains and 10 of the temperature, 50 in all. A right sampler would fail
one such check with probability 0.0034 (Student's t, 99 degrees of freedom), so one of them for
about one seed in six. The seeds are fixed: the tests pass or fail the same way every time.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch")

import torch

from oddhop.base.parallel import single_threaded
from oddhop.hcm.sampler import SGLD, Rule, preconditioner

STEPS = 10_000
SETTLE = 200  # steps left out after burn-in
COPIES = 100
CURVATURES = torch.tensor([0.25, 0.5, 1.0, 2.0, 4.0], dtype=torch.float64).repeat(2)
CENTRES = torch.tensor([0.0, 3.0], dtype=torch.float64).repeat_interleave(5)
RULE = Rule(step_size=0.4, burn_in=1_000, temperature=0.7, weight_decay=0.5, warm=2.0)


@dataclass(frozen=True)
class Moments:
    """The mean and variance of every copy about the true mean, and the variance it should have."""

    mean: np.ndarray
    variance: np.ndarray
    true_variance: np.ndarray


def begun(weights: torch.Tensor, rule: Rule) -> tuple[torch.nn.Parameter, SGLD]:
    parameter = torch.nn.Parameter(weights.clone())
    return parameter, SGLD([parameter], rule)


def move(
    parameter: torch.nn.Parameter, sampler: SGLD, generator: torch.Generator, slope: torch.Tensor | None = None
) -> torch.Tensor:
    """Take a step by the slope, or by that of the Gaussian posteriors; return the weights."""
    weights = parameter.detach()
    parameter.grad = CURVATURES * (weights - CENTRES) if slope is None else slope
    sampler.step(generator)
    return parameter.detach()


@single_threaded()
def run_chain(rule: Rule, seed: int) -> Moments:
    generator = torch.Generator().manual_seed(seed)
    chain = begun(torch.full((COPIES, CENTRES.numel()), 5.0, dtype=torch.float64), rule)
    for _ in range(rule.burn_in + SETTLE):
        weights = move(*chain, generator)
    precision = CURVATURES + rule.weight_decay
    centre = CURVATURES * CENTRES / precision
    total, squares = torch.zeros_like(weights), torch.zeros_like(weights)
    for _ in range(STEPS):
        error = move(*chain, generator) - centre
        total += error
        squares += error * error
    scale = preconditioner(chain[1].squares().view_as(weights), rule, chain[1].steps)
    variance = rule.temperature / (precision * (1 - rule.step_size * scale * precision / 4))
    return Moments((total / STEPS).numpy(), (squares / STEPS).numpy(), variance.numpy())


def within_three_standard_errors(copies: np.ndarray) -> bool:
    return bool((abs(copies.mean(axis=0)) < 3 * copies.std(axis=0, ddof=1) / np.sqrt(COPIES)).all())


@pytest.fixture(scope="module", params=[True, False], ids=["preconditioned", "plain"])
def moments(request):
    return run_chain(replace(RULE, preconditioned=request.param), seed=1)


def test_the_chain_has_the_mean_of_the_posterior(moments):
    assert within_three_standard_errors(moments.mean)


def test_the_chain_has_the_variance_of_the_discretised_posterior(moments):
    assert within_three_standard_errors(moments.variance - moments.true_variance)


def test_four_times_the_temperature_is_four_times_the_variance():
    rule = replace(RULE, preconditioned=False)
    cool, hot = run_chain(rule, seed=2), run_chain(replace(rule, temperature=4 * rule.temperature), seed=3)
    assert within_three_standard_errors(hot.variance - 4 * cool.variance)


def test_without_temperature_the_chain_is_plain_descent_and_draws_nothing():
    rule = Rule(step_size=0.2, burn_in=0, temperature=0.0, weight_decay=0.5)
    generator = torch.Generator().manual_seed(0)
    before = generator.get_state()
    chain = begun(torch.ones_like(CENTRES), rule)
    for _ in range(20):
        weights = move(*chain, generator)
    precision = CURVATURES + 0.5
    goal = CURVATURES * CENTRES / precision
    torch.testing.assert_close(weights, goal + (1 - 0.1 * precision) ** 20 * (1 - goal))
    assert torch.equal(generator.get_state(), before)


def test_noise_comes_from_the_generator_alone():
    one, same, other = (
        move(*begun(torch.zeros(5), RULE), torch.Generator().manual_seed(seed), torch.ones(5)) for seed in (1, 1, 2)
    )
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def test_the_preconditioner_is_the_inverse_root_mean_square_of_the_gradients_seen():
    rule = Rule(step_size=0.1, burn_in=50, temperature=0.0, weight_decay=0.0, decay=0.9, floor=0.0)
    chain = begun(torch.zeros(2, dtype=torch.float64), rule)
    slopes = torch.tensor([[2.0, -0.5]], dtype=torch.float64) * torch.linspace(1, 2, 7, dtype=torch.float64)[:, None]
    for slope in slopes:
        move(*chain, torch.Generator(), slope)
    shares = 0.9 ** torch.arange(6, -1, -1, dtype=torch.float64)
    mean_square = (shares[:, None] * slopes**2).sum(dim=0) / shares.sum()
    torch.testing.assert_close(preconditioner(chain[1].squares(), rule, chain[1].steps - 1), mean_square.rsqrt())


def test_the_preconditioner_does_not_move_after_burn_in():
    rule = replace(RULE, burn_in=10)
    generator = torch.Generator().manual_seed(0)
    chain = begun(torch.zeros(3), rule)
    sampler, scales = chain[1], []
    for _ in range(20):
        scales.append(preconditioner(sampler.squares(), rule, sampler.steps))
        move(*chain, generator, torch.randn(3, generator=generator))
    assert all(torch.equal(scale, scales[10]) for scale in scales[11:])
    assert not torch.equal(scales[9], scales[10])
    before = sampler.squares()
    move(*chain, generator, torch.full((3,), 1e6))
    assert torch.equal(sampler.squares(), before)


@pytest.mark.parametrize("rule", [replace(RULE, preconditioned=False), replace(RULE, burn_in=0)])
def test_without_adaptation_the_preconditioner_is_one(rule):
    chain = begun(torch.zeros(3), rule)
    move(*chain, torch.Generator(), torch.full((3,), 9.0))
    assert torch.equal(preconditioner(chain[1].squares(), rule, chain[1].steps), torch.ones(3))


def test_a_step_leaves_the_gradient_alone():
    parameter, sampler = begun(torch.zeros(3), RULE)
    slope = torch.ones(3)
    move(parameter, sampler, torch.Generator(), slope)
    assert sampler.steps == 1
    assert torch.equal(slope, torch.ones(3))


def test_several_parameters_move_as_one_vector_would():
    slope, rule = torch.linspace(-1, 1, 6, dtype=torch.float64), replace(RULE, temperature=0.0)
    whole = begun(torch.zeros(6, dtype=torch.float64), rule)
    parts = [torch.nn.Parameter(torch.zeros(shape, dtype=torch.float64)) for shape in ((2, 2), (2,))]
    sampler = SGLD(parts, rule)
    for _ in range(5):
        for part, piece in zip(parts, torch.split(slope, [4, 2]), strict=True):
            part.grad = piece.view_as(part).clone()
        sampler.step(torch.Generator())
        weights = move(*whole, torch.Generator(), slope.clone())
    assert torch.equal(torch.cat([part.detach().flatten() for part in parts]), weights)
    assert torch.equal(sampler.squares(), whole[1].squares())


@given(st.integers(1, 1_000), st.floats(1, 10), st.integers(0, 2_000))
def test_the_step_falls_along_a_line_and_then_stays(burn_in, warm, step):
    rule = replace(RULE, burn_in=burn_in, warm=warm)
    expected = np.interp(step, [0, burn_in], [warm * RULE.step_size, RULE.step_size])
    assert rule.step_at(step) == pytest.approx(expected)
    assert rule.step_at(step + 1) <= rule.step_at(step)


def test_without_burn_in_the_step_is_never_warm():
    assert replace(RULE, burn_in=0).step_at(0) == RULE.step_size
