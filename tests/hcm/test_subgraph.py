from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch")

from oddhop import HCM, Graph
from oddhop.hcm import subgraph as excerpt
from oddhop.hcm.chains import Plan, run_chains
from oddhop.hcm.hop_pairs import HopPairs, sample_pairs
from oddhop.hcm.material import Material
from oddhop.hcm.model import Inputs, Shape
from oddhop.hcm.purify import purify
from oddhop.hcm.sampler import Rule
from oddhop.hcm.subgraph import draw_neighbours, training_subgraph
from tests.conftest import QUICK

pytestmark = pytest.mark.kernels

RULE = Rule(step_size=0.002, burn_in=8, temperature=1e-4, weight_decay=0.0)
PLAN = Plan(RULE, chains=2, samples=2, thin=2, pairs_per_class=8, seed=3)


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_with_all_neighbours_training_is_the_full_one_to_the_bit(small: Graph, layers: int) -> None:
    pairs = sample_pairs(purify(small, 0.2, seed=0), 3, pairs_per_class=12, max_sources=20, seed=0)
    inputs, shape = Inputs.of(small, np.float32), Shape(5, 8, layers, 3)
    excerpt = training_subgraph(inputs, pairs, layers=layers, neighbours=1_000, at_once=100, seed=0)
    full = run_chains(PLAN, shape, Material(pairs, inputs))
    told = run_chains(PLAN, shape, Material(excerpt.pairs, excerpt.inputs))
    assert np.array_equal(full.weights, told.weights)
    assert np.array_equal(excerpt.nodes[excerpt.pairs.left], pairs.left)


@settings(deadline=None)
@given(st.integers(1, 12), st.integers(0, 2**32))
def test_neighbours_are_drawn_once_each_and_are_neighbours(wanted: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = Graph.from_arrays(rng.integers(0, 15, (2, 60)), np.zeros((15, 1)))
    rows = np.flatnonzero(rng.random(15) < 0.6)
    counts = np.minimum(graph.degrees[rows], wanted)
    drawn = draw_neighbours(graph.indptr, graph.indices, rows, rows, counts, np.uint64(seed))
    for row, part in zip(rows, np.split(drawn, np.cumsum(counts)[:-1]), strict=False):
        neighbours = graph.indices[graph.indptr[row] : graph.indptr[row + 1]]
        assert part.size == np.unique(part).size == min(wanted, neighbours.size)
        assert np.isin(part, neighbours).all()


def test_every_neighbour_is_drawn_as_often() -> None:
    leaves, wanted, tries = 9, 3, 4_000
    star = Graph.from_arrays([np.zeros(leaves, int), np.arange(1, leaves + 1)], np.zeros((leaves + 1, 1)))
    seen = np.zeros(leaves + 1)
    for key in range(tries):
        seen[
            draw_neighbours(star.indptr, star.indices, np.array([0]), np.array([0]), np.array([wanted]), np.uint64(key))
        ] += 1
    expected = tries * wanted / leaves
    chi_square = ((seen[1:] - expected) ** 2 / (expected * (1 - wanted / leaves))).sum() * (leaves - 1) / leaves
    assert chi_square < 26.1  # of 8 degrees of freedom: once in a thousand seeds, and the seeds are fixed


def test_a_sampled_convolution_has_the_expectation_of_the_whole() -> None:
    rng = np.random.default_rng(0)
    graph = Graph.from_arrays(rng.integers(0, 40, (2, 400)), rng.normal(size=(40, 2)))
    inputs = Inputs.of(graph, np.float64)
    pairs = sample_pairs(purify(graph, 0.0, seed=0), 2, pairs_per_class=20, max_sources=40, seed=0)
    hidden, rows = rng.normal(size=(40, 1)), np.unique(np.concatenate([pairs.left, pairs.right]))
    whole = inputs.convolution.rows(hidden, rows)
    sums, squares = np.zeros_like(whole), np.zeros_like(whole)
    tries = 600
    for seed in range(tries):
        excerpt = training_subgraph(inputs, pairs, layers=2, neighbours=5, at_once=100, seed=seed)
        found = excerpt.inputs.convolution.rows(hidden[excerpt.nodes], np.searchsorted(excerpt.nodes, rows))
        sums, squares = sums + found, squares + found**2
    error = np.sqrt(np.maximum(squares / tries - (sums / tries) ** 2, 1e-12) / tries)
    assert (np.abs(sums / tries - whole) < 4.5 * error).all()


def test_a_detector_trained_on_samples_scores_all_neighbours(small: Graph) -> None:
    sampled = HCM(training="sampled", neighbours=3, **QUICK).fit(small)
    assert np.isfinite(sampled.anomaly_scores_).all()
    assert np.array_equal(sampled.score_samples(small), -sampled.anomaly_scores_)
    assert not np.array_equal(sampled.anomaly_scores_, HCM(training="full", **QUICK).fit(small).anomaly_scores_)


@pytest.mark.parametrize(
    ("entries", "seen", "expected"), [(2**26, 2**20, 256), (2**26, 1, 64), (1, 2**20, 64), (200, 2**20, 128)]
)
def test_as_many_neighbours_are_drawn_as_keep_to_the_memory(
    monkeypatch: pytest.MonkeyPatch, entries: int, seen: int, expected: int
) -> None:
    monkeypatch.setattr(excerpt, "MOST_ENTRIES", entries)
    monkeypatch.setattr(excerpt, "MOST_SEEN", seen)
    leaves = 250
    ends = np.array([0, 1]), np.array([1, 2])
    pairs = HopPairs(*ends, np.array([0, 2]), np.ones(1), True)

    def draw(rows, count):
        assert rows.tolist() == [0, 1, 2]
        assert count == 0
        return excerpt.Neighbours(np.array([leaves, 1, 1]), np.zeros(3), np.zeros(0))

    assert excerpt.enough_neighbours(pairs, draw, leaves + 1, layers=2, at_once=5) == expected
    assert excerpt.enough_neighbours(pairs, draw, leaves + 1, layers=3, at_once=5) == 64
