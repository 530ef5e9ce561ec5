"""Baselines: known answers, one protocol, the same scores for the same seed."""

from __future__ import annotations

import importlib.util
import math

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
import torch

from benchmarks.baselines import BASELINES, TRIVIAL
from benchmarks.baselines.amen import amen
from benchmarks.baselines.madan import SCALE, _weights, madan
from benchmarks.baselines.resgcn import WiringLoss, resgcn, trained
from oddhop import Graph

BORROWED = {"DOMINANT", "CoLA", "Radar", "ANOMALOUS"}
HAVE = all(importlib.util.find_spec(name) for name in ("pyod", "pygod", "torch_geometric"))


def two_circles(seed: int = 0) -> Graph:
    """Two communities of 30 with their own attributes; node 0 has the attributes of the other one."""
    rng = np.random.default_rng(seed)
    half = rng.integers(0, 30, (2, 150))
    x = np.repeat([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], 30, axis=0) + rng.normal(0, 0.05, (60, 3))
    x[0] = [0.0, 1.0, 0.0]
    return Graph.from_arrays(np.concatenate([half, half + 30, [[0, 0, 1], [1, 2, 31]]], axis=1), x)


@pytest.mark.parametrize("name", [name for name in BASELINES if name not in BORROWED])
def test_every_baseline_gives_one_finite_score_a_node_the_same_for_the_same_seed(name: str, small: Graph) -> None:
    first = BASELINES[name](small, seed=1)
    assert first.shape == (61,)
    assert np.isfinite(first).all()
    assert np.array_equal(first, BASELINES[name](small, seed=1))


@pytest.mark.parametrize("name", sorted(BORROWED))
@pytest.mark.skipif(not HAVE, reason="the extra [benchmarks] is not installed")
def test_borrowed_baselines_follow_the_protocol_and_change_no_input_nodes_without_edges_among_it(name: str) -> None:
    circles = two_circles()
    x = np.concatenate([circles.attributes, np.ones((2, 3))])
    graph = Graph.from_arrays(np.stack(circles.ends(0, circles.edge_count)), x)
    before = graph.attributes.copy(), graph.indptr.copy(), graph.indices.copy()
    scores = BASELINES[name](graph, seed=0)
    assert scores.shape == (62,)
    assert np.isfinite(scores).all()
    assert np.array_equal(scores, BASELINES[name](graph, seed=0))
    for old, new in zip(before, (graph.attributes, graph.indptr, graph.indices), strict=True):
        assert np.array_equal(old, new)


@pytest.mark.parametrize("name", [name for name in BASELINES if name not in BORROWED | {"degree", "ResGCN"}])
def test_dense_and_sparse_attributes_score_alike(name: str) -> None:
    graph = two_circles()
    sparse = graph.with_attributes(sp.csr_array(graph.attributes))
    assert np.allclose(BASELINES[name](graph, seed=0), BASELINES[name](sparse, seed=0), atol=1e-6)


def test_trivial_scores_have_their_known_values() -> None:
    path = Graph.from_arrays([[0, 1], [1, 2]], [[3.0, 4.0], [0.0, 0.0], [6.0, 8.0]])
    assert TRIVIAL["degree"](path).tolist() == [1.0, 2.0, 1.0]
    assert TRIVIAL["attribute norm"](path).tolist() == [5.0, 0.0, 10.0]
    assert TRIVIAL["neighbour distance"](path).tolist() == [5.0, 7.5, 10.0]


def test_amen_of_a_triangle_with_a_tail_is_worked_out_by_hand() -> None:
    """Nodes 0, 1, 2 form a triangle, 3 hangs on 2; all share the only attribute: m = 4, degrees 2, 2, 3, 1.

    Node 0: inside 6 - (2 + 2 + 3)^2 / 8 = -1/8; outside, the edge 2-3: -(1 - 3/8) = -5/8. N = -3/4.
    Node 3: C = {3, 2}: 2 - (1 + 3)^2 / 8 = 0; outside, 2-0 and 2-1: -2 (1 - 6/8) = -1/2. N = -1/2.
    """
    graph = Graph.from_arrays([[0, 1, 0, 2], [1, 2, 2, 3]], np.full((4, 1), 3.0))  # by its largest entry all are 1
    assert amen(graph)[[0, 3]].tolist() == pytest.approx([0.75, 0.5])


@pytest.mark.parametrize("low", [0.0, 0.5, -0.5], ids=["from 0", "above 0", "negative"])
def test_amen_brings_columns_to_the_unit_range_dense_or_sparse(low: float) -> None:
    graph = two_circles()
    x = np.abs(graph.attributes) + low
    dense, sparse = graph.with_attributes(x), graph.with_attributes(sp.csr_array(x))
    assert np.allclose(amen(dense), amen(sparse))
    assert np.allclose(amen(dense), amen(graph.with_attributes(8.0 * x)))


def test_amen_takes_the_norm_of_the_attributes_that_speak_for_the_neighbourhood() -> None:
    """Two triangles apart, each with two attributes of its own: N = sqrt(2) (6 - 36 / 12) = 3 sqrt(2)."""
    x = np.repeat([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]], 3, axis=0)
    graph = Graph.from_arrays([[0, 1, 0, 3, 4, 3], [1, 2, 2, 4, 5, 5]], x)
    assert amen(graph) == pytest.approx(np.full(6, -3 * math.sqrt(2)))


def test_madan_agrees_with_the_matrix_exponential() -> None:
    graph = two_circles()
    w = _weights(graph).toarray()
    laplacian = np.diag(w.sum(axis=1)) - w
    heat = scipy.linalg.expm(-SCALE / w.sum(axis=1).mean() * laplacian)
    assert madan(graph) == pytest.approx(np.linalg.norm(heat, axis=0), abs=1e-5)


def test_madan_finds_the_node_that_its_neighbours_are_unlike() -> None:
    whole = np.triu_indices(12, 1)
    x = np.random.default_rng(0).normal(0, 0.1, (12, 2))
    x[5] += 4.0
    assert madan(Graph.from_arrays(np.stack(whole), x)).argmax() == 5


@pytest.mark.parametrize(("seed", "unit"), [(0, 1.0), (1, 1000.0)])
def test_resgcn_leaves_the_largest_residual_on_the_row_that_nothing_explains(seed: int, unit: float) -> None:
    x = np.repeat([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]], 30, axis=0)
    x[11] = [0.0, 0.0, 0.6, -0.8]  # no longer than the others
    graph = two_circles().with_attributes(unit * x)
    assert resgcn(graph, seed=seed).argmax() == 11


def test_resgcn_learns_the_wiring() -> None:
    graph = two_circles()
    _, z = trained(graph, 0)
    assert WiringLoss.apply(z, graph).item() < 0.24 * 60  # where Z is 0 it is a quarter of the nodes
    assert (z[:30] @ z[:30].t()).mean() > 0.3
    assert (z[30:] @ z[30:].t()).mean() > 0.3
    assert (z[:30] @ z[30:].t()).mean() < -0.3


def test_the_wiring_loss_has_the_gradient_of_its_plain_form() -> None:
    graph = two_circles()
    z = torch.randn(60, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64, requires_grad=True)
    a = torch.from_numpy(sp.csr_array((np.ones(graph.indices.size), graph.indices, graph.indptr)).toarray())
    plain = (a - torch.sigmoid(z @ z.t())).square().sum() / 60
    (expected,) = torch.autograd.grad(plain, z)
    blocked = WiringLoss.apply(z, graph)
    (found,) = torch.autograd.grad(blocked, z)
    assert blocked.item() == pytest.approx(plain.item())
    assert torch.allclose(found, expected)


@pytest.mark.parametrize("name", ["neighbour distance", "MADAN"])
def test_a_node_among_strangers_is_ranked_first(name: str) -> None:
    assert BASELINES[name](two_circles(), seed=0).argmax() == 0
