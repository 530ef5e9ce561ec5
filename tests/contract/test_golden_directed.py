"""HCM with a direction against the reference: labels, loss and its gradient, scores; and what turning arrows does."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from oddhop import Graph
from oddhop.hcm.arrows import arrows
from oddhop.hcm.chains import Posterior
from oddhop.hcm.hop_pairs import Batch, HopPairs, list_pairs, sample_pairs
from oddhop.hcm.material import Material
from oddhop.hcm.model import HopModel, Inputs, Shape, Step
from oddhop.hcm.purify import Purified, purify
from oddhop.hcm.scoring import score_nodes
from tests.contract import reference
from tests.contract.test_golden import (
    ATTRIBUTES,
    CHAINS,
    EVERY_CASE,
    HIDDEN,
    case,
    edge_set,
    hops_of,
    random_batch,
    random_snapshots,
    random_weights,
    reference_weights,
)

SOME_CASES = EVERY_CASE[::2]

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered in scalar:RuntimeWarning:oddhop.base.randomness")


@cache
def arcs_of(number: int) -> np.ndarray:
    """One arc an edge of the case, either way, and for every third edge the other one too."""
    rng = np.random.default_rng(number)
    turned = rng.random(len(case(number).edges)) < 0.5
    arcs = np.where(turned[:, None], case(number).edges[:, ::-1], case(number).edges)
    return rng.permutation(np.vstack([arcs, arcs[::3, ::-1]]))


def directed(number: int, arcs: np.ndarray) -> Graph:
    stored = np.vstack([arcs, arcs[:5], [[0, 0]]])  # some twice, and a loop
    return Graph.from_arrays(stored.T, case(number).attributes, directed=True)


@cache
def purified(number: int) -> tuple[Purified, np.ndarray]:
    """The purified arcs, and the reference's classes of all ordered pairs."""
    one, arcs = case(number), arcs_of(number)
    network = purify(directed(number, arcs), one.drop_ratio, seed=number, directed=True)
    edges = edge_set(purify(one.graph, one.drop_ratio, seed=number))
    kept = np.array([arc for arc in arcs.tolist() if (min(arc), max(arc)) in edges]).reshape(-1, 2)
    return network, reference.hop_classes(kept, one.nodes, one.classes, directed=True)


def labels_of(pairs: HopPairs, nodes: int) -> np.ndarray:
    table = np.zeros((nodes, nodes), dtype=np.int64)
    table[pairs.left, pairs.right] = hops_of(pairs)
    return table


@pytest.mark.parametrize("number", SOME_CASES)
def test_listed_and_sampled_pairs_have_the_hops_along_the_arrows(number: int) -> None:
    one, (network, table) = case(number), purified(number)
    listed = list_pairs(network, one.classes)
    assert listed.left.size == one.nodes * (one.nodes - 1)
    assert (labels_of(listed, one.nodes) == table).all()
    assert listed.class_sizes.tolist() == [(table == hop).sum() for hop in range(1, one.classes + 1)]
    for wanted in (10, one.nodes**2):
        drawn = sample_pairs(network, one.classes, pairs_per_class=wanted, max_sources=one.nodes, seed=number)
        assert (hops_of(drawn) == table[drawn.left, drawn.right]).all()
        assert drawn.class_sizes.tolist() == listed.class_sizes.tolist()
    assert drawn.left.size == listed.left.size


@pytest.mark.parametrize("number", SOME_CASES)
def test_turned_arrows_turn_every_pair(number: int) -> None:
    one, (network, _) = case(number), purified(number)
    turned = purify(directed(number, arcs_of(number)[:, ::-1]), one.drop_ratio, seed=number, directed=True)
    forth, back = (labels_of(list_pairs(some, one.classes), one.nodes) for some in (network, turned))
    assert (forth == back.T).all()
    assert np.array_equal(turned.indices, network.backwards[1])


@pytest.mark.parametrize("number", SOME_CASES)
def test_arrows_both_ways_give_the_labels_of_the_undirected_network(number: int) -> None:
    one = case(number)
    both = directed(number, np.vstack([one.edges, one.edges[:, ::-1]]))
    assert (arrows(both) == 3).all()
    there = labels_of(list_pairs(purify(both, one.drop_ratio, seed=number, directed=True), one.classes), one.nodes)
    half = labels_of(list_pairs(purify(one.graph, one.drop_ratio, seed=number), one.classes), one.nodes)
    assert (there == half + half.T).all()


@pytest.mark.parametrize("number", SOME_CASES)
def test_scores_agree_in_double_precision(number: int) -> None:
    one, arcs = case(number), arcs_of(number)
    graph, shape = directed(number, arcs), Shape(ATTRIBUTES, HIDDEN, one.layers, one.classes, directed=True)
    snapshots = random_snapshots(shape, np.random.default_rng(1000 + number))
    ours = score_nodes(Posterior(snapshots, shape, np.zeros(CHAINS)), Material(graph, Inputs.of(graph, np.float64)))
    samples = [reference_weights(flat, shape) for flat in snapshots.reshape(-1, shape.size)]
    theirs = reference.score_nodes(one.attributes, one.edges, samples, arcs=arcs)
    for name in ("ahp", "iv", "hav"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=0, atol=1e-10)


@pytest.mark.parametrize("number", [0, 1, 2, 13, 34, 48])
def test_the_loss_and_its_gradient_agree_and_pairs_are_not_symmetric(number: int) -> None:
    one, rng = case(number), np.random.default_rng(number)
    shape = Shape(ATTRIBUTES, HIDDEN, one.layers, one.classes, directed=True)
    smooth, flat = reference.convolution(one.edges, one.nodes), random_weights(shape, rng)
    pairs, hops = random_batch(one, 5000, rng)  # more than the head takes at once

    def loss_at(vector: np.ndarray, pairs: np.ndarray = pairs) -> float:
        weights = reference_weights(vector, shape)
        return reference.cross_entropy(smooth, one.attributes, weights, pairs, hops, directed=True)

    model = HopModel(shape, torch.tensor(flat))
    batch = Batch(pairs[:, 0].copy(), pairs[:, 1].copy(), hops - 1)
    loss = model.loss(Step.of(Inputs.of(one.graph, np.float64), batch, one.layers))
    loss.backward()
    gradient = np.concatenate([np.asarray(part.grad).ravel() for part in model.parameters()])
    assert float(loss.detach()) == pytest.approx(loss_at(flat), abs=1e-11)
    assert abs(loss_at(flat) - loss_at(flat, pairs[:, ::-1])) > 1e-4
    for direction in rng.normal(size=(2, shape.size)) / np.sqrt(shape.size):
        slope = (loss_at(flat + 1e-6 * direction) - loss_at(flat - 1e-6 * direction)) / 2e-6
        assert gradient @ direction == pytest.approx(slope, rel=1e-5, abs=1e-7)
