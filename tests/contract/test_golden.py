"""oddhop against the reference: every stage, on fifty random networks, and the gradient on small ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import combinations, permutations
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("torch")

import torch

from oddhop import Graph
from oddhop.hcm.chains import Posterior
from oddhop.hcm.hop_pairs import Batch, HopPairs, list_pairs, sample_pairs
from oddhop.hcm.material import Material
from oddhop.hcm.model import HopModel, Inputs, Shape, Step
from oddhop.hcm.purify import Purified, purify
from oddhop.hcm.scoring import Scores, score_nodes
from tests.contract import reference

HIDDEN = 8
CHAINS, SAMPLES = 3, 2
ATTRIBUTES = 6
EVERY_CASE = range(50)

FAMILIES = ("sparse", "dense", "power law", "disconnected", "tree")
KINDS = ("continuous", "binary", "few profiles", "sparse binary", "constant")

# The hash wraps around 64 bits on purpose; without the JIT, NumPy remarks on it.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered in scalar:RuntimeWarning:oddhop.base.randomness")


# --- Random networks -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    family: str
    kind: str
    edges: np.ndarray
    attributes: np.ndarray
    drop_ratio: float
    classes: int
    layers: int
    graph: Graph

    @property
    def nodes(self) -> int:
        return len(self.attributes)


def random_network(family: str, rng: np.random.Generator) -> nx.Graph:
    seed = int(rng.integers(2**31))
    if family == "dense":
        return nx.gnp_random_graph(int(rng.integers(20, 71)), 0.3, seed=seed)
    nodes = int(rng.integers(20, 201))
    if family == "sparse":
        return nx.gnp_random_graph(nodes, 2.5 / nodes, seed=seed)
    if family == "power law":
        return nx.barabasi_albert_graph(nodes, int(rng.integers(1, 4)), seed=seed)
    if family == "tree":
        return nx.random_labeled_tree(nodes, seed=seed)
    islands = [nx.gnp_random_graph(nodes // 4, 8 / nodes, seed=seed + island) for island in range(3)]
    return nx.disjoint_union_all([*islands, nx.empty_graph(nodes - 3 * (nodes // 4))])


def random_attributes(kind: str, nodes: int, rng: np.random.Generator) -> np.ndarray:
    if kind == "continuous":
        return rng.normal(size=(nodes, ATTRIBUTES))
    if kind == "binary":
        return rng.integers(0, 2, (nodes, ATTRIBUTES)).astype(float)
    if kind == "sparse binary":  # most similarities are exactly 0, and some rows are empty
        return (rng.random((nodes, ATTRIBUTES)) < 0.15).astype(float)
    if kind == "constant":  # every edge is tied with every other
        return np.ones((nodes, 1)) * rng.normal(size=ATTRIBUTES)
    # Few profiles at many lengths, one of them nothing: ties on paper that float64 does not see as ties.
    profiles = np.vstack([rng.normal(size=(4, ATTRIBUTES)), np.zeros(ATTRIBUTES)])
    return profiles[rng.integers(0, 5, nodes)] * rng.uniform(0.1, 10.0, (nodes, 1))


def as_people_store_edges(edges: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Shuffled, in either direction, some twice and with a self loop: none of it may change a result."""
    stored = np.vstack([edges, edges[: len(edges) // 4], [[0, 0]]])
    stored = rng.permutation(stored)
    turned = rng.random(len(stored)) < 0.5
    stored[turned] = stored[turned, ::-1]
    return stored


@cache
def case(number: int) -> Case:
    rng = np.random.default_rng(number)
    family, kind = FAMILIES[number % 5], KINDS[number // 5 % 5]
    network = random_network(family, rng)
    # Nodes in random order, so that no stage can lean on how a generator numbers them.
    names = rng.permutation(network.number_of_nodes())
    stored = as_people_store_edges(names[np.array(network.edges)], rng)
    attributes = random_attributes(kind, network.number_of_nodes(), rng)
    return Case(
        family=family,
        kind=kind,
        edges=reference.same_edges_once(stored),
        attributes=attributes,
        drop_ratio=(0.0, 0.5, 0.2, float(rng.uniform(0, 0.5)))[number % 4],
        classes=2 + (number + number // 5) % 5,
        layers=1 + number % 3,
        graph=Graph.from_arrays(stored.T, attributes),
    )


def test_the_cases_are_as_varied_as_they_should_be() -> None:
    cases = [case(number) for number in EVERY_CASE]
    degrees = [one.graph.degrees for one in cases]
    assert {(one.family, one.kind) for one in cases} == {(family, kind) for family in FAMILIES for kind in KINDS}
    assert {one.classes for one in cases} == {2, 3, 4, 5, 6}
    assert {(one.layers, one.classes) for one in cases} >= {(layers, 4) for layers in (1, 2, 3)}
    assert {one.drop_ratio for one in cases} >= {0.0, 0.2, 0.5}
    assert max(one.nodes for one in cases) in range(180, 201)
    assert sum((degree == 0).any() for degree in degrees) >= 10
    assert all(one.graph.edge_count == len(one.edges) > 0 for one in cases)


# --- Purify --------------------------------------------------------------------------------------------------------


def edge_set(network: Purified) -> set[tuple[int, int]]:
    """The undirected edges of a purified network, after checking that each stands in both rows."""
    rows = np.repeat(np.arange(network.indptr.size - 1), np.diff(network.indptr))
    directed = list(zip(rows.tolist(), network.indices.tolist(), strict=True))
    assert len(set(directed)) == len(directed)
    assert {(b, a) for a, b in directed} == set(directed)
    return {(a, b) for a, b in directed if a < b}


def check_purified(network: Purified, verdict: reference.Verdict) -> None:
    kept = edge_set(network)
    assert kept >= verdict.kept
    assert not kept & verdict.dropped
    assert kept <= verdict.kept | verdict.tied
    assert len(verdict.tied - kept) == verdict.tied_to_drop
    assert network.left_out.dropped == len(verdict.dropped) + verdict.tied_to_drop
    assert network.left_out.tied == verdict.tied_to_drop


@pytest.mark.parametrize("number", EVERY_CASE)
@pytest.mark.parametrize("stored", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_purifying_drops_what_the_reference_drops(number: int, stored: Callable[[np.ndarray], Any]) -> None:
    one = case(number)
    verdict = reference.judge_edges(one.attributes, one.edges, one.drop_ratio)
    graph = Graph.from_arrays(one.edges.T, stored(one.attributes))
    network = purify(graph, one.drop_ratio, seed=number)
    check_purified(network, verdict)
    assert network.left_out.similarity == ("jaccard" if reference.is_binary(one.attributes) else "cosine")


def test_some_cases_have_ties_to_break_and_some_have_none() -> None:
    verdicts = [reference.judge_edges(one.attributes, one.edges, one.drop_ratio) for one in map(case, EVERY_CASE)]
    assert sum(verdict.tied_to_drop > 0 for verdict in verdicts) >= 15
    assert sum(verdict.tied_to_drop == 0 < len(verdict.dropped) for verdict in verdicts) >= 5


def test_the_seed_alone_breaks_ties() -> None:
    one = case(KINDS.index("constant") * 5 + FAMILIES.index("tree"))
    shuffled = np.random.default_rng(0).permutation(one.edges)
    again = Graph.from_arrays(shuffled.T, one.attributes)
    first = edge_set(purify(one.graph, 0.3, seed=1))
    assert edge_set(purify(again, 0.3, seed=1)) == first
    assert edge_set(purify(one.graph, 0.3, seed=2)) != first


# --- Hop labels ----------------------------------------------------------------------------------------------------


@cache
def purified(number: int) -> tuple[Purified, np.ndarray]:
    """A purified network and the reference's classes of all its pairs."""
    one = case(number)
    network = purify(one.graph, one.drop_ratio, seed=number)
    kept = np.array(sorted(edge_set(network)))
    return network, reference.hop_classes(kept, one.nodes, one.classes)


def hops_of(pairs: HopPairs) -> np.ndarray:
    return 1 + np.repeat(np.arange(pairs.starts.size - 1), np.diff(pairs.starts))


def unordered_counts(table: np.ndarray, classes: int) -> list[int]:
    upper = table[np.triu_indices(len(table), k=1)]
    return [int((upper == hop).sum()) for hop in range(1, classes + 1)]


@pytest.mark.parametrize("number", EVERY_CASE)
def test_listed_pairs_are_all_pairs_with_the_true_hops(number: int) -> None:
    one, (network, table) = case(number), purified(number)
    pairs = list_pairs(network, one.classes)
    listed = [(min(a, b), max(a, b)) for a, b in zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)]
    assert sorted(listed) == list(combinations(range(one.nodes), 2))
    assert (hops_of(pairs) == table[pairs.left, pairs.right]).all()
    assert pairs.class_sizes.tolist() == unordered_counts(table, one.classes)
    assert pairs.exact


# Few and many: the last two classes are told apart in one of two ways, depending on what is asked.
@pytest.mark.parametrize("number", EVERY_CASE)
@pytest.mark.parametrize(("wanted", "share_of_sources"), [(10, 1.0), (400, 0.4)])
def test_sampled_pairs_carry_the_true_hops(number: int, wanted: int, share_of_sources: float) -> None:
    one, (network, table) = case(number), purified(number)
    sources = int(share_of_sources * one.nodes)
    pairs = sample_pairs(network, one.classes, pairs_per_class=wanted, max_sources=sources, seed=number)
    assert pairs.left.size > 0
    assert (hops_of(pairs) == table[pairs.left, pairs.right]).all()
    assert np.unique(pairs.left).size <= sources
    assert pairs.class_sizes.tolist() == unordered_counts(table, one.classes)


@pytest.mark.parametrize("number", EVERY_CASE)
def test_asking_for_everything_draws_every_ordered_pair_once(number: int) -> None:
    one, (network, table) = case(number), purified(number)
    pairs = sample_pairs(network, one.classes, pairs_per_class=one.nodes**2, max_sources=one.nodes, seed=number)
    drawn = sorted(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))
    assert drawn == list(permutations(range(one.nodes), 2))
    assert (hops_of(pairs) == table[pairs.left, pairs.right]).all()


# --- Scores --------------------------------------------------------------------------------------------------------


def shape_of(one: Case) -> Shape:
    return Shape(attributes=ATTRIBUTES, hidden=HIDDEN, layers=one.layers, classes=one.classes)


def random_weights(shape: Shape, rng: np.random.Generator) -> np.ndarray:
    """A flat vector whose predictions spread over the classes; no bias is 0, or a forgotten bias would not show."""
    pieces = [rng.normal(size=part) * (1.5 / np.sqrt(part[0]) if len(part) == 2 else 0.5) for part in shape.parts]
    return np.concatenate([piece.ravel() for piece in pieces])


def random_snapshots(shape: Shape, rng: np.random.Generator) -> np.ndarray:
    """Chains that disagree more than their own samples do, so that pooling them wrongly shows."""
    centres = np.array([random_weights(shape, rng) for _ in range(CHAINS)])
    wobble = np.array([[random_weights(shape, rng) for _ in range(SAMPLES)] for _ in range(CHAINS)])
    return centres[:, None, :] + 0.2 * wobble


def reference_weights(flat: np.ndarray, shape: Shape) -> reference.Weights:
    ends = np.cumsum([int(np.prod(part)) for part in shape.parts])
    pieces = np.split(np.asarray(flat, dtype=np.float64), ends[:-1])
    *layers, head_in, head_in_bias, head_out, head_out_bias = (
        piece.reshape(part) for piece, part in zip(pieces, shape.parts, strict=True)
    )
    return reference.Weights(tuple(layers), head_in, head_in_bias, head_out, head_out_bias)


def scores_by_both(one: Case, snapshots: np.ndarray) -> tuple[Scores, reference.NodeScores]:
    shape = shape_of(one)
    posterior = Posterior(snapshots, shape, np.zeros(snapshots.shape[0]))
    ours = score_nodes(posterior, Material(one.graph, Inputs.of(one.graph, snapshots.dtype.type)))
    samples = [reference_weights(flat, shape) for flat in snapshots.reshape(-1, shape.size)]
    return ours, reference.score_nodes(one.attributes, one.edges, samples)


def check_scores(ours: Scores, theirs: reference.NodeScores, tolerance: float) -> None:
    np.testing.assert_allclose(ours.ahp, theirs.ahp, rtol=0, atol=tolerance)
    np.testing.assert_allclose(ours.iv, theirs.iv, rtol=0, atol=tolerance)
    np.testing.assert_allclose(ours.hav, theirs.hav, rtol=0, atol=tolerance)


@pytest.mark.parametrize("number", EVERY_CASE)
def test_scores_agree_in_double_precision(number: int) -> None:
    one = case(number)
    ours, theirs = scores_by_both(one, random_snapshots(shape_of(one), np.random.default_rng(1000 + number)))
    check_scores(ours, theirs, 1e-10)
    lonely = one.graph.degrees == 0
    assert not ours.hav[lonely].any()
    assert theirs.iv.max() > 1e-3  # else agreement on IV would say nothing


@pytest.mark.parametrize("number", EVERY_CASE[::2])
def test_scores_agree_in_single_precision(number: int) -> None:
    one = case(number)
    snapshots = random_snapshots(shape_of(one), np.random.default_rng(2000 + number)).astype(np.float32)
    ours, theirs = scores_by_both(one, snapshots)
    check_scores(ours, theirs, 1e-4)


@pytest.mark.parametrize(("chains", "samples"), [(1, 1), (1, 7), (3, 1), (3, 3), (7, 2)])
def test_samples_that_never_differ_leave_hav_to_ahp(chains: int, samples: int) -> None:
    one = case(7)
    shape = shape_of(one)
    flat = random_weights(shape, np.random.default_rng(0))
    ours, theirs = scores_by_both(one, np.tile(flat, (chains, samples, 1)))
    assert not theirs.iv.any()
    check_scores(ours, theirs, 1e-10)


# --- Loss and gradient ---------------------------------------------------------------------------------------------


def random_batch(one: Case, size: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of different nodes with their hops; some come twice, and some nodes in none."""
    left = rng.integers(0, one.nodes - 1, size)
    right = (left + rng.integers(1, one.nodes - 1, size)) % (one.nodes - 1)
    return np.stack([left, right], axis=1), rng.integers(1, one.classes + 1, size)


def loss_and_gradient(one: Case, flat: np.ndarray, pairs: np.ndarray, hops: np.ndarray) -> tuple[float, np.ndarray]:
    model = HopModel(shape_of(one), torch.tensor(flat))
    batch = Batch(pairs[:, 0].copy(), pairs[:, 1].copy(), hops - 1)
    loss = model.loss(Step.of(Inputs.of(one.graph, np.float64), batch, one.layers))
    loss.backward()
    return float(loss.detach()), np.concatenate([np.asarray(part.grad).ravel() for part in model.parameters()])


def small_case(layers: int) -> Case:
    edges = np.array(nx.connected_watts_strogatz_graph(12, 4, 0.3, seed=layers).edges)
    attributes = np.random.default_rng(layers).normal(size=(13, ATTRIBUTES))  # the last node has no edge
    graph = Graph.from_arrays(edges.T, attributes)
    return Case("small", "continuous", reference.same_edges_once(edges), attributes, 0.0, 4, layers, graph)


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_every_coordinate_of_the_gradient_agrees_with_finite_differences(layers: int) -> None:
    one, rng = small_case(layers), np.random.default_rng(layers)
    shape, smooth = shape_of(one), reference.convolution(one.edges, one.nodes)
    flat = random_weights(shape, rng)
    pairs, hops = random_batch(one, 30, rng)

    def loss_at(vector: np.ndarray) -> float:
        return reference.cross_entropy(smooth, one.attributes, reference_weights(vector, shape), pairs, hops)

    differences, step = np.empty(shape.size), 1e-6
    for place in range(shape.size):
        aside = np.zeros(shape.size)
        aside[place] = step
        differences[place] = (loss_at(flat + aside) - loss_at(flat - aside)) / (2 * step)
    loss, gradient = loss_and_gradient(one, flat, pairs, hops)
    assert loss == pytest.approx(loss_at(flat), abs=1e-12)
    assert np.abs(gradient).max() > 1e-2
    np.testing.assert_allclose(gradient, differences, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("number", [0, 1, 2, 13, 34, 48])
def test_the_gradient_of_a_batch_of_several_blocks_agrees_along_random_directions(number: int) -> None:
    one, rng = case(number), np.random.default_rng(number)
    shape, smooth = shape_of(one), reference.convolution(one.edges, one.nodes)
    flat = random_weights(shape, rng)
    pairs, hops = random_batch(one, 5000, rng)  # more than the head takes at once
    loss, gradient = loss_and_gradient(one, flat, pairs, hops)

    def loss_at(vector: np.ndarray) -> float:
        return reference.cross_entropy(smooth, one.attributes, reference_weights(vector, shape), pairs, hops)

    assert loss == pytest.approx(loss_at(flat), abs=1e-11)
    for direction in rng.normal(size=(2, shape.size)) / np.sqrt(shape.size):
        slope = (loss_at(flat + 1e-6 * direction) - loss_at(flat - 1e-6 * direction)) / 2e-6
        assert gradient @ direction == pytest.approx(slope, rel=1e-5, abs=1e-7)


# --- A network without edges ---------------------------------------------------------------------------------------


def test_without_edges_every_pair_is_far_and_every_score_is_zero() -> None:
    attributes = np.random.default_rng(0).normal(size=(5, ATTRIBUTES))
    graph = Graph.from_arrays(np.empty((2, 0), dtype=np.int64), attributes)
    pairs = list_pairs(purify(graph, 0.2, seed=0), 3)
    assert pairs.class_sizes.tolist() == [0, 0, 10]
    one = Case("empty", "continuous", np.empty((0, 2), dtype=np.int64), attributes, 0.2, 3, 2, graph)
    ours, theirs = scores_by_both(one, random_snapshots(shape_of(one), np.random.default_rng(1)))
    check_scores(ours, theirs, 0.0)
    assert not ours.hav.any()
