"""Fellows: sums over neighbours give what all pairs two steps apart would."""

from __future__ import annotations

import numpy as np
import pytest

from oddhop import Graph
from oddhop.views.coordinates import learn_coordinates
from oddhop.views.fellows import Fellows, learn_fellowship
from oddhop.views.ratio import Ratio
from oddhop.views.stranger import fellows_of, learn_kinship, strangeness, turned
from tests.views.planted import planted


@pytest.fixture(scope="module")
def small() -> tuple[Graph, np.ndarray]:
    rng = np.random.default_rng(0)
    graph = Graph.from_arrays(rng.integers(0, 40, (2, 60)), rng.normal(size=(40, 3)))
    assert (graph.degrees == 1).any()
    return graph, np.asarray(graph.attributes)


def _fellows(graph: Graph) -> list[tuple[int, int, np.ndarray]]:
    """Give every node, a neighbour of it, and that neighbour's other neighbours."""
    rows = [graph.indices[graph.indptr[i] : graph.indptr[i + 1]] for i in range(graph.node_count)]
    return [(i, int(j), rows[j][rows[j] != i]) for i in range(graph.node_count) for j in rows[i]]


def test_the_sums_give_the_mean_over_all_fellows(small: tuple[Graph, np.ndarray]) -> None:
    graph, faces = small
    rho = np.array([0.5, -0.3, 0.0])
    ratio, fellows = Ratio.of(rho), Fellows.of(graph, faces, rho, -0.7)
    listed = _fellows(graph)
    expected = [
        ratio(np.broadcast_to(faces[i], faces[others].shape), faces[others]).mean() if others.size else -0.7
        for i, _, others in listed
    ]
    nodes, through = np.array([i for i, _, _ in listed]), np.array([j for _, j, _ in listed])
    np.testing.assert_allclose(fellows(nodes, through), expected)
    own = nodes == nodes[-1]
    again = fellows.with_faces(int(nodes[-1]), through[own], faces[[nodes[-1]]])
    np.testing.assert_allclose(again[0], np.array(expected)[own])


def test_the_correlation_and_the_mean_are_those_of_all_pairs(small: tuple[Graph, np.ndarray]) -> None:
    graph, faces = small
    listed = [(i, j, others) for i, j, others in _fellows(graph) if others.size]
    expected = np.mean([faces[i] * faces[others].mean(axis=0) for i, _, others in listed], axis=0)
    found, usual = learn_fellowship(graph, faces, 0.0, 0.98)
    np.testing.assert_allclose(found, expected)
    fellows = Fellows.of(graph, faces, found, usual)
    told = fellows(np.array([i for i, _, _ in listed]), np.array([j for _, j, _ in listed]))
    assert usual == pytest.approx(told.mean())


def test_pairs_have_no_fellows() -> None:
    graph = Graph.from_arrays([[0, 2], [1, 3]], np.eye(4))
    correlation, usual = learn_fellowship(graph, np.eye(4), 0.0, 0.98)
    assert usual == 0.0
    np.testing.assert_array_equal(correlation, 0.0)


def test_what_is_no_more_than_noise_tells_nothing(small: tuple[Graph, np.ndarray]) -> None:
    graph, faces = small
    correlation, usual = learn_fellowship(graph, faces, 1.0, 0.98)
    assert usual == 0.0
    ends = np.repeat(np.arange(graph.node_count), graph.degrees), graph.indices
    np.testing.assert_array_equal(Fellows.of(graph, faces, correlation, usual)(*ends), 0.0)


def test_a_node_with_one_neighbour_is_told_by_its_fellows() -> None:
    graph = planted()
    new, other = graph.node_count, graph.node_count + 1
    ends = np.stack([np.repeat(np.arange(new), graph.degrees), graph.indices])
    ends = np.concatenate([ends[:, ends[0] < ends[1]], [[100, 100], [new, other]]], axis=1)
    rows = np.asarray(graph.attributes)
    unlike = np.argmax(((rows[:, :6] - rows[100, :6]) ** 2).sum(axis=1))
    wired = Graph.from_arrays(ends, np.concatenate([rows, rows[[unlike, 100]]]))
    coordinates = learn_coordinates(wired).apply(wired)
    kinship = learn_kinship(wired, coordinates)
    g = fellows_of(wired, turned(coordinates, kinship), kinship)(np.array([new, other]), np.array([100, 100]))
    assert g[0] > 0 > kinship.usual_fellows > g[1]
    z = strangeness(wired, coordinates, kinship)
    assert z[new] > 2 > 0 > z[other]
