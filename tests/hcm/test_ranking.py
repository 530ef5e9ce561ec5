from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

from oddhop.hcm.diagnostics import mixing
from oddhop.hcm.phrases import convergence
from oddhop.hcm.ranking import rank_nodes
from oddhop.hcm.scoring import Scores


def _scores(truth: np.ndarray, noise: float, seed: int, chains: int = 4, samples: int = 10) -> Scores:
    """Scores of a made-up run: each chain sees the truth, an offset and a scale of its own, and noise."""
    rng = np.random.default_rng(seed)
    scale, offset = rng.uniform(0.8, 1.2, (chains, 1)), rng.normal(0, 0.5, (chains, 1))
    ahp = 2 + offset + scale * truth + rng.normal(0, noise, (chains, truth.size))
    draws = ahp[:, None] + rng.normal(0, noise, (chains, samples, truth.size))
    judged = np.ones(truth.size, dtype=bool)
    return Scores(ahp, np.zeros_like(ahp), draws, judged, max_ahp=float(ahp.mean(0).max()), max_iv=0.0)


def test_intervals_hold_the_rank_of_a_fresh_run_nine_times_in_ten() -> None:
    """2,000 nodes x 10 pairs of runs: the standard error of the coverage is under .005."""
    truth = np.random.default_rng(0).normal(size=2000)
    held = []
    for seed in range(10):
        ours, fresh = (rank_nodes(_scores(truth, 0.3, 2 * seed + k), "ahp", 20) for k in (0, 1))
        held.append(np.mean((fresh.rank >= ours.low) & (fresh.rank <= ours.high)))
    assert 0.87 < np.mean(held) < 0.94


def test_top_probabilities_are_frequencies() -> None:
    truth = np.random.default_rng(0).normal(size=2000)
    predicted, happened = [], []
    for seed in range(10):
        ours, fresh = (rank_nodes(_scores(truth, 0.3, 2 * seed + k), "ahp", 100) for k in (0, 1))
        predicted.append(ours.top_probability)
        happened.append(fresh.rank <= 100)
    predicted, happened = np.concatenate(predicted), np.concatenate(happened)
    assert predicted.sum() == pytest.approx(happened.sum(), rel=0.1)
    for low, high in ((0.05, 0.3), (0.3, 0.7), (0.7, 0.95)):
        some = (predicted > low) & (predicted < high)
        assert happened[some].mean() == pytest.approx(predicted[some].mean(), abs=0.1)


def test_more_noise_widens_the_intervals() -> None:
    truth = np.random.default_rng(0).normal(size=500)
    widths = [np.mean(r.high - r.low) for r in (rank_nodes(_scores(truth, n, 0), "ahp", 5) for n in (0.01, 0.1, 1.0))]
    assert widths[0] < widths[1] < widths[2]


def test_a_node_that_was_not_judged_is_surely_last() -> None:
    scores = _scores(np.arange(50.0), 0.1, 0)
    for array in (scores.chain_ahp, scores.draws):
        array[..., 7] = 0.0
    judged = scores.judged.copy()
    judged[7] = False
    ranking = rank_nodes(Scores(scores.chain_ahp, scores.chain_iv, scores.draws, judged, 1.0, 0.0), "ahp", 5)
    assert ranking.rank[7] == ranking.low[7] == ranking.high[7] == 50
    assert ranking.top_probability[7] == 0
    assert ranking.std[7] == 0


def test_nodes_all_alike_are_ranked_without_a_warning() -> None:
    ranking = rank_nodes(_scores(np.zeros(10), 0.0, 0), "ahp", 3)
    assert sorted(ranking.rank) == list(range(1, 11))
    assert np.isfinite(ranking.top_probability).all()


def test_independent_draws_mix_and_stuck_chains_do_not() -> None:
    rng = np.random.default_rng(0)
    draws = rng.normal(size=(4, 200, 300))
    good = mixing(draws)
    assert np.median(good.r_hat) == pytest.approx(1.0, abs=0.01)
    assert np.median(good.effective) == pytest.approx(800, rel=0.15)
    stuck = mixing(draws + 5 * rng.normal(size=(4, 1, 300)))
    assert np.median(stuck.r_hat) > 1.5
    assert np.median(stuck.effective) < 40


def test_chains_that_have_not_converged_are_a_warning_with_the_settings_to_change() -> None:
    [found] = convergence(1.62, chains=4, samples=10, thin=10)
    assert (found.level, found.figure) == ("warning", 1.62)
    for words in ("R-hat of the nodes is 1.62", "--set hcm.samples=20", "--set hcm.thin=20"):
        assert words in found.sentence
    [found] = convergence(1.1, chains=2, samples=2, thin=1)
    assert (found.level, "1.10" in found.sentence) == ("fine", True)
    assert convergence(9.0, chains=1, samples=10, thin=1) == ()  # halves of one chain are no other chain
    assert convergence(1.0, chains=4, samples=1, thin=1) == ()  # R-hat cannot be computed


def test_the_effective_size_of_an_autoregressive_chain_is_the_known_one() -> None:
    """AR(1) with coefficient .6 keeps (1 - .6) / (1 + .6) = 1/4 of its draws."""
    rng = np.random.default_rng(1)
    draws = rng.normal(size=(4, 400, 500))
    for t in range(1, 400):
        draws[:, t] = 0.6 * draws[:, t - 1] + 0.8 * draws[:, t]
    assert np.median(mixing(draws).effective) == pytest.approx(1600 / 4, rel=0.15)


@pytest.mark.parametrize("shape", [(1, 1, 3), (4, 1, 3), (1, 3, 3)])
def test_too_few_draws_are_no_error(shape: tuple[int, ...]) -> None:
    told = mixing(np.random.default_rng(0).normal(size=shape))
    assert np.isfinite(told.r_hat).all()
    assert np.isfinite(told.effective).all()


def test_draws_that_never_move_are_no_error() -> None:
    told = mixing(np.full((4, 6, 2), 1.5))
    np.testing.assert_array_equal(told.r_hat, 1.0)
    np.testing.assert_array_equal(told.effective, 24)


@pytest.mark.parametrize("chains", [2, 4])
@pytest.mark.parametrize("kind", ["ahp", "hav"])
def test_chains_are_ranked_in_blocks_as_they_are_at_once(
    kind: str, chains: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = _scores(np.random.default_rng(3).normal(size=500), 0.3, 1, chains=chains)
    made.chain_ahp[:, 20:60], judged = 0.0, np.ones(500, dtype=bool)
    judged[20:60] = False
    scores = replace(made, chain_iv=np.abs(made.chain_ahp) / 9, judged=judged, max_iv=0.4)
    whole = rank_nodes(scores, kind, 25)
    replicates = scores.chain_scores(kind)
    np.testing.assert_array_equal(whole.score, replicates.mean(axis=0))
    seen = replicates[:, judged]
    spread = seen.std(axis=1, keepdims=True)
    aligned = (seen - seen.mean(axis=1, keepdims=True)) / spread
    own, count = aligned.var(axis=0, ddof=1), len(aligned)
    order = np.argsort(aligned.mean(axis=0), kind="stable")
    similar = np.empty(own.size)
    for place, node in enumerate(order):
        similar[node] = own[order][max(place - 25, 0) : place + 26].mean()
    variance = ((count - 1) * own + 3 * similar) / (count + 2)
    np.testing.assert_allclose(whole.std[judged], np.sqrt(2 * variance / count) * spread.mean(), rtol=1e-12)
    assert whole.top_probability.sum() == pytest.approx(25)
    monkeypatch.setattr("oddhop.detector.ranking.NODES_AT_ONCE", 64)
    blocks = rank_nodes(scores, kind, 25)
    for name in ("score", "rank", "low", "high"):
        np.testing.assert_array_equal(getattr(blocks, name), getattr(whole, name))
    np.testing.assert_allclose(blocks.std, whole.std, rtol=1e-12)
    np.testing.assert_allclose(blocks.top_probability, whole.top_probability, rtol=1e-11)


@pytest.mark.parametrize("chains", [2, 4])
def test_a_ranking_of_chains_takes_few_bytes_a_node(chains: int) -> None:
    scores = _scores(np.random.default_rng(0).normal(size=200_000), 0.3, 0, chains=chains)
    tracemalloc.start()
    rank_nodes(scores, "hav", 1_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 130 * 200_000  # 70, and blocks of 65,536 nodes, which are a third of these
