"""Injection: what is asked for is put in, kinds apart, and the leak-controlled reading gives nothing away."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import roc_auc_score

from benchmarks.inject import Injected, inject
from benchmarks.networks import load_network
from oddhop import Graph
from oddhop.errors import GraphError, SettingsError

DATA = os.environ.get("ODDHOP_DATA", "")


def network(*, sparse: bool = False) -> Graph:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(300, 6)) * rng.lognormal(size=(300, 1))
    edges = (300 * rng.random((2, 1500)) ** 2).astype(int)
    return Graph.from_arrays(edges, sp.csr_array(x) if sparse else x)


def dense(graph: Graph) -> np.ndarray:
    return graph.attributes.toarray() if sp.issparse(graph.attributes) else graph.attributes


def leaks(graph: Graph, made: Injected) -> list[float]:
    """Return the ROC-AUC of degree and of attribute norm for both kinds and each alone, of either sign."""
    trivial = graph.degrees, np.linalg.norm(dense(graph), axis=1)
    found = []
    for kind in (made.anomalous, made.structural, made.contextual):
        seen = kind | ~made.anomalous
        found += [roc_auc_score(kind[seen], score[seen]) for score in trivial]
    return [max(value, 1 - value) for value in found]


@pytest.mark.parametrize("sparse", [False, True])
def test_members_are_fully_wired_and_the_others_have_foreign_attributes(sparse: bool) -> None:
    graph = network(sparse=sparse)
    made = inject(graph, random_state=0, clique_size=6, cliques=3)
    assert made.structural.sum() == made.contextual.sum() == 18
    assert not (made.structural & made.contextual).any()
    adjacency = sp.csr_array((np.ones(made.graph.indices.size), made.graph.indices, made.graph.indptr))
    members = np.flatnonzero(made.structural)
    assert (adjacency[members][:, members].sum(axis=1) >= 5).all()
    changed = (dense(made.graph) != dense(graph)).any(axis=1)
    assert (changed == made.contextual).all()
    assert (dense(made.graph) == dense(graph)[made.takes_from]).all()


def test_each_takes_the_farthest_of_all_when_all_are_candidates() -> None:
    graph = network()
    made = inject(graph, random_state=0, clique_size=2, cliques=2, candidates=300)
    for node in np.flatnonzero(made.contextual):
        distances = np.linalg.norm(graph.attributes - graph.attributes[node], axis=1)
        assert made.takes_from[node] == distances.argmax()


def test_the_papers_words_change_the_far_nodes_and_label_them() -> None:
    graph = network()
    made = inject(graph, random_state=0, clique_size=6, cliques=3, candidates=300, scheme="paper-text")
    assert 0 < made.contextual.sum() < 18
    assert ((made.takes_from != np.arange(300)) == made.contextual).all()


@pytest.mark.parametrize("reading", ["dominant", "paper-text", "leak-controlled"])
def test_a_seed_gives_the_same_injection_and_another_seed_another(reading: str) -> None:
    first, again, other = (
        inject(network(), random_state=s, cliques=2, clique_size=4, scheme=reading) for s in (3, 3, 4)
    )
    assert first.graph.fingerprint == again.graph.fingerprint != other.graph.fingerprint
    assert (first.anomalous == again.anomalous).all()


def test_the_leak_controlled_reading_changes_no_degree_and_wires_its_groups() -> None:
    graph = network()
    made = inject(graph, random_state=0, clique_size=8, cliques=3, scheme="leak-controlled")
    assert (made.graph.degrees == graph.degrees).all()
    members = np.flatnonzero(made.structural)

    def inside(g: Graph) -> float:
        adjacency = sp.csr_array((np.ones(g.indices.size), g.indices, g.indptr))
        return float(adjacency[members][:, members].sum() / g.degrees[members].sum())

    assert inside(made.graph) > 0.4 > 4 * inside(graph)


def test_what_cannot_be_put_in_is_refused() -> None:
    with pytest.raises(SettingsError, match="ask for fewer"):
        inject(network(), random_state=0, clique_size=50, cliques=5)
    with pytest.raises(SettingsError, match="must be one of"):
        inject(network(), random_state=0, scheme="ours")  # type: ignore[arg-type]


def test_targets_alike_in_length_and_fullness_do_not_take_from_the_same_few() -> None:
    rng = np.random.default_rng(0)
    x = np.zeros((600, 40))
    for row in x:
        row[rng.choice(40, 3, replace=False)] = 1.0  # all rows are as long and as full
    graph = Graph.from_arrays(rng.integers(0, 600, (2, 3000)), x)
    made = inject(graph, random_state=0, clique_size=10, cliques=6, scheme="leak-controlled")
    donors = made.takes_from[made.contextual]
    assert np.unique(donors).size >= 50  # of 60
    assert np.bincount(donors).max() <= 3


def test_where_many_nodes_have_no_edge_the_degree_would_tell() -> None:
    edges = np.random.default_rng(0).integers(0, 75, (2, 400))
    graph = Graph.from_arrays(edges, np.random.default_rng(1).normal(size=(100, 3)))
    with pytest.raises(GraphError, match="25 of 100 nodes have no edge"):
        inject(graph, random_state=0, clique_size=4, cliques=2, scheme="leak-controlled")
    assert inject(graph, random_state=0, clique_size=4, cliques=2).structural.sum() == 8


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.skipif(not DATA or not Path(DATA, "cora").is_dir(), reason="ODDHOP_DATA names no data folder")
@pytest.mark.parametrize(
    ("name", "cliques"), [("cora", 5), ("citeseer", 5), ("blogcatalog_raw", 10), ("flickr_raw", 15), ("acmv9", 20)]
)
def test_neither_degree_nor_norm_tells_leak_controlled_anomalies(name: str, cliques: int) -> None:
    graph = load_network(name).graph
    for seed in range(3):
        made = inject(graph, random_state=seed, cliques=cliques, scheme="leak-controlled")
        assert max(leaks(made.graph, made)) < 0.6
    told = inject(graph, random_state=0, cliques=cliques)
    assert max(leaks(told.graph, told)) > 0.9
