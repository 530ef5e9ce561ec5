"""What must hold for every network, file and number: hypothesis looks for one where it does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oddhop import Graph
from oddhop.errors import NothingToLearnError
from oddhop.graph.adjacency import both_ways, keep_edges, upper_edges
from oddhop.graph.checks import rows_are_mirrored, rows_are_whole
from oddhop.hcm.hop_pairs import draw_batch, list_pairs, sample_pairs
from oddhop.hcm.purify import purify

Property = Callable[[Any], None]
PROPERTIES: dict[str, tuple[Property, float]] = {}
FIT, FILE, STAGE = 0.001, 0.2, 1.0  # how much a case costs decides how many there are


def holds(name: str, share: float = STAGE) -> Callable[[Property], Property]:
    def kept(check: Property) -> Property:
        PROPERTIES[name] = (check, share)
        return check

    return kept


def check_all(count: int) -> dict[str, Any]:
    """Check every property on its share of the cases; count those that were run."""
    total = sum(share for _, share in PROPERTIES.values())
    done: Counter[str] = Counter()
    errors = []
    for name, (check, share) in PROPERTIES.items():
        cases = max(2, round(count * share / total))
        limits = settings(
            max_examples=cases, deadline=None, database=None, suppress_health_check=list(HealthCheck), print_blob=True
        )
        try:
            limits(given(st.data())(_counted(check, name, done)))()
        except Exception as error:
            errors.append(f"{name}: {type(error).__name__}: {str(error)[:500]}")
    return {"test": "properties", "properties": len(PROPERTIES), "cases": sum(done.values()), "errors": errors}


def _counted(check: Property, name: str, done: Counter[str]) -> Property:
    def checked(data: Any) -> None:
        done[name] += 1
        check(data)

    return checked


def edges_of(data: Any, nodes: int = 12, most: int = 30) -> tuple[int, np.ndarray]:
    count = data.draw(st.integers(2, nodes))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    return count, rng.integers(0, count, (2, data.draw(st.integers(0, most))))


def graph_of(data: Any, columns: int = 3) -> tuple[Graph, np.ndarray, np.ndarray, np.random.Generator]:
    nodes, edges = edges_of(data)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    x = rng.normal(size=(nodes, columns))
    return Graph.from_arrays(edges, x), edges, x, rng


def same(one: Graph, other: Graph) -> bool:
    return one.fingerprint == other.fingerprint


@holds("the order of edges changes nothing")
def _(data: Any) -> None:
    graph, edges, x, rng = graph_of(data)
    assert same(graph, Graph.from_arrays(edges[:, rng.permutation(edges.shape[1])], x))


@holds("the direction of edges changes nothing")
def _(data: Any) -> None:
    graph, edges, x, rng = graph_of(data)
    turned = np.where(rng.random(edges.shape[1]) < 0.5, edges, edges[::-1])
    assert same(graph, Graph.from_arrays(turned, x))


@holds("repeated edges and loops change nothing, and are counted")
def _(data: Any) -> None:
    graph, edges, x, rng = graph_of(data)
    again = edges[:, rng.random(edges.shape[1]) < 0.5]
    loops = np.repeat(rng.integers(0, len(x), (1, 3)), 2, axis=0)
    mended = Graph.from_arrays(np.concatenate([edges, again, loops], axis=1), x)
    assert same(graph, mended)
    assert mended.repairs.loops == graph.repairs.loops + 3 + int((again[0] == again[1]).sum())
    assert mended.repairs.duplicates == graph.repairs.duplicates + int((again[0] != again[1]).sum())


@holds("relabelling changes nothing but the labels")
def _(data: Any) -> None:
    graph, edges, x, rng = graph_of(data)
    order, ids = rng.permutation(len(x)), rng.choice(10**6, len(x), replace=False)
    one = Graph.from_arrays(edges, x, ids)
    assert same(one, Graph.from_arrays(np.argsort(order)[edges], x[order], ids[order]))
    assert np.array_equal(np.sort(one.degrees), np.sort(graph.degrees))


@holds("rows are whole and mirrored, and a changed number is seen")
def _(data: Any) -> None:
    graph, _, _, rng = graph_of(data)
    assert rows_are_whole(graph.indptr, graph.indices, graph.node_count)
    assert rows_are_mirrored(graph.indptr, graph.indices)
    if graph.indices.size:
        changed = graph.indices.copy()
        place = rng.integers(0, changed.size)
        changed[place] += rng.choice([-(2**30), -3, -1, 1, 2, 2**30])
        whole = rows_are_whole(graph.indptr, changed, graph.node_count)
        assert not (whole and rows_are_mirrored(graph.indptr, changed))


@holds("every edge has one number")
def _(data: Any) -> None:
    graph, edges, _, _ = graph_of(data)
    left, right = upper_edges(graph.indptr, graph.indices, graph.upper, 0, graph.edge_count)
    expected = sorted({(min(u, v), max(u, v)) for u, v in edges.T.tolist() if u != v})
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == expected


@holds("the edges that are kept are left")
def _(data: Any) -> None:
    graph, _, _, rng = graph_of(data)
    keep = rng.random(graph.edge_count) < 0.5
    indptr, indices = keep_edges(graph.indptr, graph.indices, graph.upper, keep)
    assert rows_are_whole(indptr, indices, graph.node_count)
    assert rows_are_mirrored(indptr, indices)
    assert indices.size == 2 * keep.sum()


@holds("a figure of an edge stands in both its rows")
def _(data: Any) -> None:
    graph, _, _, rng = graph_of(data)
    values, out = rng.normal(size=graph.edge_count), np.zeros(graph.indices.size)
    both_ways(graph.indptr, graph.indices, graph.upper, values, out)
    rows = np.repeat(np.arange(graph.node_count), graph.degrees)
    found = {(int(u), int(v)): value for u, v, value in zip(rows, graph.indices, out, strict=True)}
    assert all(found[v, u] == value for (u, v), value in found.items())
    assert sorted(out) == sorted([*values, *values])


@holds("purifying drops exactly the share, whatever the unit")
def _(data: Any) -> None:
    graph, edges, x, rng = graph_of(data)
    ratio, seed = data.draw(st.floats(0, 0.99)), data.draw(st.integers(0, 2**32 - 1))
    left = purify(graph, ratio, seed=seed)
    assert (
        left.left_out.dropped
        == (graph.indices.size - left.indices.size) // 2
        == int(np.floor(ratio * graph.edge_count + 1e-9))
    )
    unit = 2.0 ** rng.integers(-60, 60)
    assert np.array_equal(left.indices, purify(Graph.from_arrays(edges, x * unit), ratio, seed=seed).indices)


@holds("every pair has the class of its distance, and pairs of two components the last")
def _(data: Any) -> None:
    graph, edges, _, _ = graph_of(data)
    classes = data.draw(st.integers(2, 5))
    pairs = list_pairs(purify(graph, 0.0, seed=0), classes)
    assert pairs.class_sizes.sum() == graph.node_count * (graph.node_count - 1) / 2
    net = nx.empty_graph(graph.node_count)
    net.add_edges_from(edges.T.tolist())
    distances = dict(nx.all_pairs_shortest_path_length(net))
    for label in range(classes):
        for k in range(pairs.starts[label], pairs.starts[label + 1]):
            hops = distances[int(pairs.left[k])].get(int(pairs.right[k]), classes)
            assert min(hops, classes) == label + 1


@holds("sampled pairs have the labels of listed ones")
def _(data: Any) -> None:
    graph, _, _, _ = graph_of(data)
    network, classes = purify(graph, 0.2, seed=0), data.draw(st.integers(2, 5))
    try:
        drawn = sample_pairs(network, classes, pairs_per_class=data.draw(st.integers(1, 40)), max_sources=99, seed=1)
    except NothingToLearnError:
        assert network.indices.size == 0
        return
    listed = list_pairs(network, classes)
    right = {frozenset(p): c for c in range(classes) for p in _pairs_of(listed, c)}
    assert all(right[frozenset(pair)] == c for c in range(classes) for pair in _pairs_of(drawn, c))


def _pairs_of(pairs: Any, label: int) -> list[tuple[int, int]]:
    span = slice(pairs.starts[label], pairs.starts[label + 1])
    return list(zip(pairs.left[span].tolist(), pairs.right[span].tolist(), strict=True))


@holds("a batch has as many pairs of every class")
def _(data: Any) -> None:
    graph, _, _, rng = graph_of(data)
    pairs = list_pairs(purify(graph, 0.0, seed=0), 3)
    size = data.draw(st.integers(1, 9))
    batch = draw_batch(pairs, size, rng)
    assert np.bincount(batch.labels, minlength=3)[pairs.present].tolist() == [size] * pairs.present.size
    allowed = {(u, v, c) for c in range(3) for u, v in _pairs_of(pairs, c)}
    assert set(zip(batch.left.tolist(), batch.right.tolist(), batch.labels.tolist(), strict=True)) <= allowed
