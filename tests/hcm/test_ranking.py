from __future__ import annotations

import tracemalloc
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import spearmanr

pytest.importorskip("torch")

from oddhop.hcm.diagnostics import kept_by_another_seed
from oddhop.hcm.ranking import Agreement, agreement, rank_nodes
from oddhop.hcm.scoring import Scores


def _scores(truth: np.ndarray, noise: float, seed: int, chains: int = 4) -> Scores:
    """Scores of a made-up run: each chain sees the truth, an offset and a scale of its own, and noise."""
    rng = np.random.default_rng(seed)
    scale, offset = rng.uniform(0.8, 1.2, (chains, 1)), rng.normal(0, 0.5, (chains, 1))
    ahp = 2 + offset + scale * truth + rng.normal(0, noise, (chains, truth.size))
    judged, none = np.ones(truth.size, dtype=bool), np.zeros_like(ahp)
    return Scores(ahp, none, none, none, judged, maxima=(float(ahp.mean(0).max()), 0.0))


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
    scores.chain_ahp[:, 7] = 0.0
    judged = scores.judged.copy()
    judged[7] = False
    ranking = rank_nodes(replace(scores, judged=judged), "ahp", 5)
    assert ranking.rank[7] == ranking.low[7] == ranking.high[7] == 50
    assert ranking.top_probability[7] == 0
    assert ranking.std[7] == 0


def test_nodes_all_alike_are_ranked_without_a_warning() -> None:
    ranking = rank_nodes(_scores(np.zeros(10), 0.0, 0), "ahp", 3)
    assert sorted(ranking.rank) == list(range(1, 11))
    assert np.isfinite(ranking.top_probability).all()


@pytest.mark.parametrize("chains", [4, 8, 16])
@pytest.mark.parametrize("noise", [0.1, 0.5, 2.0])
def test_another_seed_keeps_what_was_said(noise: float, chains: int) -> None:
    """Forty runs, each beside the next: the standard error of what is kept is under .02."""
    truth = np.random.default_rng(0).gamma(2.0, 1.0, size=1000)
    runs = [_scores(truth, noise, seed, chains) for seed in range(40)]
    said = [agreement(one, "ahp") for one in runs]
    firsts = [set(np.argsort(-one.ahp)[:20].tolist()) for one in runs]
    kept = np.mean([len(one & other) / 20 for one, other in pairwise(firsts)])
    alike = np.mean([spearmanr(one.ahp, other.ahp)[0] for one, other in pairwise(runs)])
    assert np.mean([one.kept for one in said]) == pytest.approx(kept, abs=0.07)
    assert np.mean([one.correlation for one in said]) == pytest.approx(alike, abs=0.02)


@pytest.mark.parametrize(("shared", "kept"), [(20, 1.0), (18, 0.929), (10, 0.646), (4, 0.333)])
def test_of_the_first_nodes_twice_as_many_chains_lose_less(shared: int, kept: float) -> None:
    # 1 - (1 - share) / 2**.5, and no more than 2 share / (1 + share).
    one = np.arange(100.0, 0.0, -1.0)
    other = one.copy()
    swapped = np.arange(20 - shared)
    other[swapped], other[20 + swapped] = one[20 + swapped], one[swapped]
    scores = replace(_scores(np.zeros(100), 1.0, 0, chains=2), chain_ahp=np.stack([one, other]))
    found = agreement(scores, "ahp")
    assert found is not None
    assert (found.first, round(found.kept, 3)) == (20, kept)


def test_parts_of_one_chain_do_not_say_what_another_seed_would_keep() -> None:
    scores = _scores(np.arange(50.0), 0.1, 0)
    assert agreement(scores, "ahp") is not None
    assert agreement(replace(scores, single=True), "ahp") is None
    assert agreement(_scores(np.arange(50.0), 0.1, 0, chains=1), "ahp") is None


def test_chains_that_share_nothing_are_not_said_to_agree() -> None:
    agreed = agreement(_scores(np.zeros(1000), 1.0, 0), "ahp")
    assert agreed is not None
    assert agreed.kept < 0.15
    assert abs(agreed.correlation) < 0.15


def test_what_another_seed_keeps_is_said_and_where_it_is_little_what_to_do() -> None:
    fine = kept_by_another_seed(Agreement(20, 0.86, 0.97), 8)
    assert (fine.level, "about 17 of the first 20 nodes" in fine.sentence) == ("fine", True)
    poor = kept_by_another_seed(Agreement(20, 0.4, 0.6), 16)
    assert poor.level == "warning"
    for words in ("about 8 of the first 20", "Check the rank intervals", "--set hcm.chains=64"):
        assert words in poor.sentence
    alone = kept_by_another_seed(None, 1)
    assert (alone.level, "set chains=4" in alone.sentence) == ("warning", True)
    nothing = kept_by_another_seed(None, 4)
    assert (nothing.level, "chain" in nothing.sentence) == ("fine", False)


@pytest.mark.parametrize("chains", [2, 4])
@pytest.mark.parametrize("kind", ["ahp", "hav"])
def test_chains_are_ranked_in_blocks_as_they_are_at_once(
    kind: str, chains: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = _scores(np.random.default_rng(3).normal(size=500), 0.3, 1, chains=chains)
    made.chain_ahp[:, 20:60], judged = 0.0, np.ones(500, dtype=bool)
    judged[20:60] = False
    scores = replace(made, chain_within=np.abs(made.chain_ahp) / 9, judged=judged, maxima=(made.maxima[0], 0.4))
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
