"""The ranking that works in blocks against one that is written down plainly; and what it takes."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, special, stats

from oddhop.detector import ranking as module
from oddhop.detector.ranking import Ranking, rank_scores


def plain(score: np.ndarray, replicates: np.ndarray, judged: np.ndarray, top: int, inflation: float) -> Ranking:
    """Rank with whole arrays, one formula after the other."""
    nodes, count = score.size, int(judged.sum())
    together = np.vstack([score, replicates]).astype(np.float64)
    seen = together[:, judged]
    spread, unit = seen.std(axis=1, keepdims=True), 1.0
    aligned = together
    if np.all(spread > 1e-12 * np.abs(seen).max()):
        aligned = (together - seen.mean(axis=1, keepdims=True)) / spread
        aligned[:, ~judged] = aligned.min() - 1.0
        unit = float(spread.mean())
    centre = aligned[0]
    reach = np.full(count, max(25, count // 20))
    variance, freedom = _joined(aligned[1:][:, judged], centre[judged], reach, 3)
    std = np.zeros(nodes)
    std[judged] = np.sqrt(inflation * variance)
    order = np.argsort(-score, kind="stable")
    rank = np.empty(nodes, dtype=int)
    rank[order] = np.arange(1, nodes + 1)
    half, ladder = stats.t.ppf(0.95, freedom) * std, np.sort(centre)
    low = np.clip(nodes - np.searchsorted(ladder, centre + half, side="right") + 1, 1, rank)
    high = np.clip(nodes - np.searchsorted(ladder, centre - half, side="left"), rank, nodes)

    ranks = stats.rankdata(-seen, axis=1)
    places = np.log((count + 1 - ranks) / ranks)
    ends = np.minimum(np.arange(count), np.arange(count)[::-1])
    nearby = np.minimum(np.maximum(ends // 2, 12), max(count // 20, 1))
    by_rank, more = _joined(places[1:], places[0], nearby, 30)
    half = stats.t.ppf(0.95, more) * np.sqrt(inflation * by_rank)
    least = np.floor((count + 1) * special.expit(-(places[0] + half))).astype(int)
    most = np.ceil((count + 1) * special.expit(-(places[0] - half))).astype(int)
    low[judged] = np.clip(least, low[judged], rank[judged])
    high[judged] = np.maximum(np.minimum(most, high[judged]), rank[judged])
    low[~judged], high[~judged] = rank[~judged], rank[~judged]
    return Ranking(score, rank, low, high, _over_the_bar(centre, std, freedom, judged, top), std * unit, top)


def _joined(rows: np.ndarray, centre: np.ndarray, reach: np.ndarray, pooled: int) -> tuple[np.ndarray, int]:
    own, freedom = rows.var(axis=0, ddof=1), rows.shape[0] - 1
    order = np.argsort(centre, kind="stable")
    sums = np.concatenate([[0.0], np.cumsum(own[order])])
    similar = np.empty(own.size)
    for place, node in enumerate(order):
        first, last = max(place - reach[place], 0), min(place + reach[place] + 1, own.size)
        similar[node] = (sums[last] - sums[first]) / (last - first)
    return (freedom * own + pooled * similar) / (freedom + pooled), freedom + pooled


def _over_the_bar(centre: np.ndarray, std: np.ndarray, freedom: int, judged: np.ndarray, top: int) -> np.ndarray:
    chance, middle = np.zeros(centre.size), centre[judged]
    unsure = np.maximum(std[judged], 1e-9 * (np.ptp(middle) or 1.0))
    if top >= middle.size:
        chance[judged] = 1.0
        return chance

    def surplus(bar: float) -> float:
        return special.stdtr(freedom, (middle - bar) / unsure).sum() - top

    reach = 1e3 * unsure.max()
    bar = optimize.brentq(surplus, middle.min() - reach, middle.max() + reach, xtol=1e-16 * reach, rtol=1e-15)
    chance[judged] = special.stdtr(freedom, (middle - bar) / unsure)
    return chance


def made_up(
    nodes: int, count: int, seed: int, *, digits: int = 15, judged: float = 1.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores, replicates of them and who is judged; few digits make ties."""
    rng = np.random.default_rng(seed)
    score = rng.gamma(2.0, 1.0, nodes)
    replicates = np.round(score + rng.normal(0, 0.3, (count, nodes)), digits)
    seen = rng.random(nodes) < judged
    seen[:2] = True
    return np.where(seen, np.round(score, digits), 0.0), replicates, seen


def assert_alike(ours: Ranking, expected: Ranking) -> None:
    for name in ("score", "rank", "low", "high"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(expected, name), err_msg=name)
    # Two nodes align whatever their scores: what is left of the spread is rounding.
    np.testing.assert_allclose(ours.std, expected.std, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(ours.top_probability, expected.top_probability, rtol=1e-12, atol=1e-12)


@pytest.mark.kernels
@settings(deadline=None, max_examples=60)
@given(
    nodes=st.integers(2, 400),
    count=st.integers(2, 9),
    seed=st.integers(0, 2**32 - 1),
    digits=st.sampled_from([0, 1, 15]),
    judged=st.sampled_from([0.3, 0.9, 1.0]),
    share=st.floats(0.0, 1.0),
    block=st.sampled_from([7, 100, 65_536]),
)
def test_blocks_give_the_ranking_that_whole_arrays_give(
    nodes: int, count: int, seed: int, digits: int, judged: float, share: float, block: int
) -> None:
    score, replicates, seen = made_up(nodes, count, seed, digits=digits, judged=judged)
    top = max(int(share * nodes), 1)
    expected = plain(score, replicates, seen, top, 8.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "NODES_AT_ONCE", block)
        assert_alike(rank_scores(score, list(replicates), seen, top, inflation=8.0), expected)


@pytest.mark.parametrize("digits", [2, 15])
def test_many_nodes_in_single_precision_are_ranked_alike(digits: int) -> None:
    score, replicates, seen = made_up(150_000, 4, 0, digits=digits, judged=0.95)
    single = replicates.astype(np.float32)
    assert_alike(rank_scores(score, single, seen, 500, inflation=8.0), plain(score, single, seen, 500, 8.0))


def test_where_a_replicate_tells_no_node_from_another_nothing_is_aligned() -> None:
    score, replicates, seen = made_up(50, 3, 0, judged=0.8)
    replicates[1] = 2.0
    expected = plain(score, replicates, seen, 5, 8.0)
    assert_alike(rank_scores(score, replicates, seen, 5, inflation=8.0), expected)


@pytest.mark.parametrize("freedom", [1, 2, 3, 6, 7, 12, 33])
def test_student_is_the_distribution_that_scipy_has(freedom: int) -> None:
    t = np.concatenate([np.linspace(-9, 9, 999), [-1e9, 1e9]])
    np.testing.assert_allclose(module._student(t, freedom), special.stdtr(freedom, t), rtol=0, atol=1e-14)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_ranking_takes_few_bytes_a_node(kind: type) -> None:
    score, replicates, seen = made_up(200_000, 4, 0, judged=0.97)
    replicates = replicates.astype(kind)
    rank_scores(score[:9], replicates[:, :9], seen[:9], 1, inflation=8.0)  # compiles
    tracemalloc.start()
    rank_scores(score, replicates, seen, 500, inflation=8.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 120 * score.size  # 77, and blocks of 65,536 nodes, which are a third of these
