from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp, rel_entr
from scipy.stats import binom

from oddhop import Graph
from oddhop.arrays.stores import ENTRIES
from oddhop.odd.communities import unfolded
from oddhop.odd.rate import Rate, joint_strangeness, learn_rate
from oddhop.odd.stranger import Homophily
from tests.odd.stores import in_memory, rate_of


def _homophily(between: float = 0.0, within: float = 1.0) -> Homophily:
    nothing = np.zeros(0)
    return Homophily(nothing, nothing, nothing, nothing, between=between, within=within)


def _two_values(share: float, low: float = -1.0, high: float = 3.0, edges: int = 100_000) -> np.ndarray:
    count = round(share * edges)
    return np.concatenate([np.full(edges - count, low), np.full(count, high)])


def _log_tail(count: int, edges: int, share: float) -> float:
    """Return log P(at least so many of these edges); scipy's own underflows."""
    return float(logsumexp(binom.logpmf(np.arange(count, edges + 1), edges, share)))


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("edges", [1, 3, 10, 40, 400])
def test_of_two_values_it_bounds_the_binomial_tail(share: float, edges: int) -> None:
    rate = rate_of(_two_values(share), _homophily())
    counts = np.arange(int(np.ceil(share * edges)), edges + 1)
    means = -1.0 + 4.0 * counts / edges
    nats = rate.nats(means, np.full(counts.size, edges))
    tail = np.array([_log_tail(one, edges, share) for one in counts.tolist()])
    assert (-nats >= tail - 1e-9 * np.maximum(nats, 1)).all()


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5])
def test_of_two_values_the_rate_is_the_relative_entropy(share: float) -> None:
    rate = rate_of(_two_values(share), _homophily())
    part = np.array([one for one in (0.05, 0.2, 0.4, 0.6, 0.8, 0.95) if one > 1.2 * share])
    expected = rel_entr(part, share) + rel_entr(1 - part, 1 - share)
    found = rate.nats(-1.0 + 4.0 * part, np.ones(part.size, dtype=np.int64))
    np.testing.assert_allclose(found, expected, rtol=0.03)
    # And it is what the logarithm of the binomial tail becomes, edge by edge.
    many = 20_000
    tail = np.array([_log_tail(round(one * many), many, share) for one in part.tolist()])
    np.testing.assert_allclose(found, -tail / many, rtol=0.04)


def test_it_is_the_largest_of_all_tilts() -> None:
    f = np.random.default_rng(0).exponential(size=5_000) - 2.0
    rate, mean = rate_of(f, _homophily()), 0.7
    tilts = np.linspace(0, 0.95, 2_000)
    more = np.append(f, f.max())  # one more edge at the largest f
    naive = max(tilt * mean - np.log(np.mean(np.exp(tilt * more))) for tilt in tilts.tolist())
    assert rate.nats(np.array([mean]), np.array([6]))[0] == pytest.approx(6 * naive, rel=0.02)


def test_for_a_normal_f_it_is_half_the_square_of_z() -> None:
    f = 2.0 + 3.0 * np.random.default_rng(1).normal(size=400_000)
    z, degrees = np.array([0.5, 1.0, 2.0, 4.0]), np.array([9, 16, 25, 64])
    nats = rate_of(f, _homophily()).nats(2.0 + 3.0 * z / np.sqrt(degrees), degrees)
    np.testing.assert_allclose(nats, z**2 / 2, rtol=0.05)
    np.testing.assert_allclose(joint_strangeness(4, [nats]), z, rtol=0.03)
    np.testing.assert_allclose(joint_strangeness(4, [nats, nats]), np.sqrt(2) * z, rtol=0.03)
    assert joint_strangeness(3, []).tolist() == [0.0] * 3


def test_ordinary_differences_between_nodes_take_from_the_edges() -> None:
    f = np.random.default_rng(1).normal(size=50_000)
    plain, spread = (rate_of(f, _homophily(between, 2.0)) for between in (0.0, 0.5))
    means, degrees = np.array([1.0, 1.0, 1.0]), np.array([1, 8, 1_000])
    expected = plain.nats(means, degrees) * 1.25 / (1 + degrees * 0.25)
    np.testing.assert_allclose(spread.nats(means, degrees), expected)


def test_what_lies_below_the_mean_or_has_no_edges_says_nothing() -> None:
    rate = rate_of(np.random.default_rng(0).normal(size=1_000), _homophily())
    found = rate.nats(np.array([-0.5, -30.0, 0.0, 2.0]), np.array([5, 5, 0, 0]))
    np.testing.assert_array_equal(found, 0.0)
    rising = rate.nats(np.linspace(-1, 6, 50), np.full(50, 3))
    assert (np.diff(rising) >= 0).all()
    assert np.isfinite(rising).all()


@pytest.mark.parametrize(
    "f",
    [np.zeros(10), np.full(3, 7.0), np.array([0.3, np.nextafter(0.3, 1.0)]), np.array([-1e6, 0.0]), np.array([2.0])],
)
def test_a_degenerate_f_gives_finite_figures(f: np.ndarray) -> None:
    rate = rate_of(f, _homophily())
    assert isinstance(rate, Rate)
    assert np.isfinite(rate.cumulants).all()
    assert np.isfinite(rate.nats(f, np.ones(f.size, dtype=np.int64))).all()


def test_f_of_single_precision_that_is_the_same_but_for_rounding_gives_a_rate() -> None:
    f = np.float32(1.7) + np.float32(1.2e-7) * np.arange(3, dtype=np.float32)
    assert np.unique(f).size > 1
    nothing = np.zeros(0)
    rate = rate_of(f, Homophily(nothing, nothing, nothing, nothing))
    one, four = rate.nats(np.array([1.8, 1.8]), np.array([1, 4]))
    assert np.isfinite(four)
    assert four == pytest.approx(4 * one)
    assert rate.nats(np.array([1.6]), np.array([3]))[0] == 0.0


def test_an_edge_with_two_entries_counts_once() -> None:
    rng = np.random.default_rng(0)
    graph = Graph.from_arrays(rng.integers(0, 80, (2, 500)), np.zeros((80, 1)))
    f = rng.normal(size=graph.edge_count).astype(np.float32)
    wiring = in_memory(graph)
    entries = wiring.given(unfolded(graph, f), ENTRIES)
    found, expected = learn_rate(wiring, entries, _homophily(), once=True), rate_of(f, _homophily())
    np.testing.assert_allclose(found.cumulants, expected.cumulants, rtol=1e-12)
    np.testing.assert_array_equal(found.tilts, expected.tilts)
