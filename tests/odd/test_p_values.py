from __future__ import annotations

import numpy as np
import pytest

from oddhop.odd.p_values import FLOOR, learn_bulk


@pytest.mark.parametrize("shape", [0.5, 1.0, 2.0])
def test_tails_that_fall_as_the_bulk_does_are_foretold(shape: float) -> None:
    rng = np.random.default_rng(0)
    figures = np.concatenate([-rng.random(100_000), rng.weibull(shape, 100_000)])
    bulk = learn_bulk(figures)
    for p in (0.2, 0.01, 1e-4):
        x = (-np.log(2 * p)) ** (1 / shape)
        assert np.exp(bulk.log_p(np.array([x]))[0]) == pytest.approx(p, rel=0.25)


def test_without_a_group_apart_no_q_is_small() -> None:
    figures = np.random.default_rng(1).exponential(size=20_000)
    bulk = learn_bulk(figures)
    q = np.exp(bulk.log_q(bulk.log_p(figures)))
    assert (q < 0.2).mean() < 1e-3
    assert np.median(q) > 0.9


def test_a_group_apart_has_small_q_and_the_others_keep_theirs() -> None:
    rng = np.random.default_rng(1)
    figures = np.concatenate([rng.exponential(size=20_000), np.full(100, 25.0)])
    bulk = learn_bulk(figures)
    q = np.exp(bulk.log_q(bulk.log_p(figures)))
    assert q[-100:].max() < 1e-6
    assert np.median(q[:-100]) > 0.9


def test_p_never_rises_with_the_figure_and_stays_above_the_floor() -> None:
    bulk = learn_bulk(np.random.default_rng(2).normal(size=5_000))
    log_p = bulk.log_p(np.linspace(-10, 1e6, 10_001))
    assert (np.diff(log_p) <= 1e-12).all()
    assert log_p[0] == 0.0
    assert log_p[-1] == FLOOR


def test_a_heap_of_equal_figures_is_not_rare() -> None:
    figures = np.concatenate([np.zeros(900), np.random.default_rng(0).exponential(size=100)])
    bulk = learn_bulk(figures)
    log_p = bulk.log_p(figures)
    np.testing.assert_array_equal(log_p[:900], 0.0)
    assert (log_p[900:] <= np.log(0.1)).all()


@pytest.mark.parametrize("figures", [np.zeros(100), np.arange(4.0), np.repeat([0.0, 1.0], 50), np.zeros(0)])
def test_where_there_is_nothing_to_judge_by_the_view_is_silent(figures: np.ndarray) -> None:
    bulk = learn_bulk(figures)
    assert bulk.silent
    np.testing.assert_array_equal(bulk.log_p(figures), 0.0)
    np.testing.assert_array_equal(bulk.log_q(bulk.log_p(figures)), 0.0)


def test_figures_below_the_resolution_do_not_make_a_tail_heavy() -> None:
    rng = np.random.default_rng(3)
    figures = np.concatenate([np.zeros(1_200), 10.0 ** rng.uniform(-7, -1, 300), np.full(7, 1.0)])
    heavy, resolved = learn_bulk(figures), learn_bulk(figures, resolution=0.02)
    assert heavy.log_p(np.ones(1))[0] > np.log(1e-3)
    assert resolved.log_p(np.ones(1))[0] < np.log(1e-5)
    assert (resolved.log_p(figures[:-7]) >= np.log(1e-3)).all()


@pytest.mark.parametrize("odd", [1, 7, 90, 150])
def test_few_figures_above_the_median_do_not_vouch_for_each_other(odd: int) -> None:
    figures = np.concatenate([np.zeros(1_000), np.full(odd, 0.5)])
    assert learn_bulk(figures, resolution=0.02).log_p(np.array([0.0, 0.5])).tolist() == [0.0, FLOOR]


@pytest.mark.parametrize("heavy", [False, True])
def test_figures_above_the_resolution_are_judged_as_without(heavy: bool) -> None:
    rng = np.random.default_rng(4)
    figures = rng.standard_cauchy(5_000) ** 2 if heavy else rng.exponential(size=5_000)
    plain, resolved = learn_bulk(figures), learn_bulk(figures, resolution=0.02)
    assert (plain.scale, plain.shape) == (resolved.scale, resolved.shape)
