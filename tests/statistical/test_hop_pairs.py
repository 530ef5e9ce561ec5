"""The law of the hop pairs (see oddhop.hcm.hop_pairs) against exhaustive distances on small networks.

On 4 networks with 2 to 5 classes, for both ways of drawing: 112 classes at most. The counts of a
class are checked by chi-square at p > 0.0001 on both sides and by their dispersion at 4 standard
errors, each of 32 draws as a whole by the spread of its totals at p > 0.0001. A right
implementation fails one of these with probability 0.04; the seeds are fixed, so it was settled once.
"""

from functools import cache

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config
from scipy.stats import chi2

from oddhop.base.randomness import HOPS, generator, word
from oddhop.errors import NothingToLearnError
from oddhop.hcm import hop_pairs as hops
from oddhop.hcm.hop_pairs import HopPairs, draw_batch, list_pairs, sample_pairs
from oddhop.hcm.hop_search import draw_block
from oddhop.hcm.purify import Purified

DRAWS = 100 if config.DISABLE_JIT else 2_000
SEEDS = 40 if config.DISABLE_JIT else 400
RATES = np.array([0.35, 0.6, 0.25, 0.8, 0.5])

STAR_WITH_TAIL = nx.Graph([*((0, leaf) for leaf in range(1, 8)), (7, 8), (8, 9), (9, 10), (1, 2)])
TWO_HUBS = nx.Graph(
    [*((0, leaf) for leaf in range(2, 8)), *((1, leaf) for leaf in range(8, 14)), (2, 3), (8, 9), (7, 8), (6, 13)]
)
IN_PIECES = nx.Graph([(0, 1), (1, 2), (2, 3), (3, 4), (5, 6), (6, 7), (5, 7)])
IN_PIECES.add_nodes_from([8, 9])
NETWORKS = {
    "star with a tail": STAR_WITH_TAIL,
    "two hubs": TWO_HUBS,
    "power law": nx.barabasi_albert_graph(14, 2, seed=1),
    "in pieces": IN_PIECES,
    "arrows": nx.gnp_random_graph(14, 0.15, seed=4, directed=True),
}


def network_of(graph: nx.Graph) -> Purified:
    matrix = nx.to_scipy_sparse_array(graph, nodelist=sorted(graph), format="csr")
    matrix.sort_indices()
    turned = matrix.T.tocsr()
    rows, back = ((one.indptr.astype(np.int64), one.indices.astype(np.int32)) for one in (matrix, turned))
    return Purified(*rows, back if graph.is_directed() else None)


def true_classes(graph: nx.Graph, classes: int) -> np.ndarray:
    """Return the class of every ordered pair, -1 on the diagonal."""
    labels = np.full((len(graph), len(graph)), classes - 1)
    for source, reached in nx.all_pairs_shortest_path_length(graph, cutoff=classes - 1):
        for node, distance in reached.items():
            labels[source, node] = distance - 1
    return labels


def draw(network: Purified, classes: int, rates: np.ndarray, *, expand: bool, key: int = 0):
    sources = np.arange(network.indptr.size - 1)
    return draw_block(
        network.indptr, network.indices, network.backwards, sources, classes, rates, expand, word(key, HOPS)
    )


def pair_counts(graph: nx.Graph, classes: int, rates: np.ndarray, *, expand: bool, first_key: int = 0) -> np.ndarray:
    """Return how often each ordered pair was drawn, one row a draw."""
    network, nodes, counts = network_of(graph), len(graph), []
    for key in range(first_key, first_key + DRAWS):
        left, right, _ = draw(network, classes, rates, expand=expand, key=key)
        counts.append(np.bincount(left.astype(np.int64) * nodes + right, minlength=nodes * nodes))
    return np.array(counts)


def plausible(statistic: float, freedom: int) -> bool:
    return 1e-4 < chi2.cdf(statistic, freedom) < 1 - 1e-4


@cache
def counts_of_case(name: str, classes: int, expand: bool) -> np.ndarray:
    return pair_counts(NETWORKS[name], classes, RATES[:classes], expand=expand)


@pytest.fixture
def bare_engine(monkeypatch):
    """Hundreds of tiny samples would mostly count the threads of the machine."""
    monkeypatch.setattr(hops, "threads", lambda workers: lambda function, blocks, _: [*map(function, blocks)])


every_case = pytest.mark.parametrize(
    ("name", "classes", "expand"),
    [(name, classes, expand) for name in NETWORKS for classes in range(2, 6) for expand in (True, False)],
)


@every_case
def test_every_pair_of_a_class_is_drawn_equally_often(name, classes, expand):
    counts, labels = counts_of_case(name, classes, expand).sum(axis=0), true_classes(NETWORKS[name], classes).ravel()
    assert counts[labels == -1].sum() == 0
    for label in np.unique(labels[labels >= 0]):
        mine, expected = counts[labels == label], DRAWS * RATES[label]
        assert plausible(((mine - expected) ** 2 / expected).sum(), mine.size), label


@every_case
def test_a_pair_is_drawn_as_often_as_poisson_says(name, classes, expand):
    counts, labels = counts_of_case(name, classes, expand), true_classes(NETWORKS[name], classes).ravel()
    for label in np.unique(labels[labels >= 0]):
        mine, rate = counts[:, labels == label], RATES[label]
        dispersion = ((mine - rate) ** 2 / rate).mean()
        assert abs(dispersion - 1) < 4 * np.sqrt((2 + 1 / rate) / mine.size), label


@every_case
def test_pairs_are_drawn_independently(name, classes, expand):
    # Were some drawn together, or one instead of the other, the totals would spread more or less.
    labels = true_classes(NETWORKS[name], classes)
    totals, expected = counts_of_case(name, classes, expand).sum(axis=1), RATES[labels[labels >= 0]].sum()
    assert plausible(((totals - expected) ** 2 / expected).sum(), DRAWS)


def test_both_ways_of_drawing_have_the_same_law_around_a_hub():
    graph = nx.barabasi_albert_graph(24, 2, seed=3)
    graph.add_edges_from((0, node) for node in range(1, 18))
    rates, labels = np.array([0.2, 0.02, 0.5, 0.5]), true_classes(graph, 4).ravel()
    rim = pair_counts(graph, 4, rates, expand=True).sum(axis=0)
    proposals = pair_counts(graph, 4, rates, expand=False, first_key=DRAWS).sum(axis=0)
    for label in np.unique(labels[labels >= 0]):
        one, two = rim[labels == label], proposals[labels == label]
        drawn = one + two > 0
        assert drawn.mean() > 0.9
        assert plausible(((one - two)[drawn] ** 2 / (one + two)[drawn]).sum(), int(drawn.sum())), label


graphs = st.builds(
    nx.gnp_random_graph, st.integers(2, 14), st.floats(0.05, 0.6), st.integers(0, 2**32 - 1), st.booleans()
)


@settings(deadline=None, max_examples=50)
@given(graphs, st.integers(2, 5), st.booleans(), st.integers(0, 1_000))
def test_a_drawn_pair_has_the_class_of_its_distance(graph, classes, expand, key):
    left, right, labels = draw(network_of(graph), classes, RATES[:classes], expand=expand, key=key)
    assert np.array_equal(labels, true_classes(graph, classes)[left, right])


@settings(deadline=None, max_examples=50)
@given(graphs, st.integers(2, 5))
def test_at_a_rate_of_one_every_pair_is_drawn_once(graph, classes):
    left, right, labels = draw(network_of(graph), classes, np.linspace(1.0, 3.0, classes), expand=True)
    drawn = set(zip(left.tolist(), right.tolist(), labels.tolist(), strict=True))
    truth = true_classes(graph, classes)
    assert drawn == {(u, v, truth[u, v]) for u in graph for v in graph if u != v}
    assert len(drawn) == labels.size


@settings(deadline=None, max_examples=25)
@given(graphs, st.integers(3, 5), st.integers(0, 1_000))
def test_classes_within_the_ball_are_whole_without_reading_the_rim(graph, classes, key):
    rates = np.where(np.arange(classes) < classes - 2, 1.0, 0.3)
    left, right, labels = draw(network_of(graph), classes, rates, expand=False, key=key)
    near = labels < classes - 2
    truth = true_classes(graph, classes)
    inside = np.argwhere((truth >= 0) & (truth < classes - 2))
    assert sorted(zip(left[near], right[near], strict=True)) == [tuple(pair) for pair in inside]
    assert np.array_equal(labels, truth[left, right])


def test_a_class_of_rate_zero_is_never_drawn():
    for expand in (True, False):
        _, _, labels = draw(network_of(TWO_HUBS), 4, np.array([0.5, 0.0, 0.5, 0.0]), expand=expand)
        assert set(labels.tolist()) == {0, 2}


def test_what_a_source_draws_does_not_depend_on_its_block():
    network = network_of(TWO_HUBS)
    parts = [
        draw_block(network.indptr, network.indices, network.backwards, block, 4, RATES[:4], False, word(0, HOPS))
        for block in (np.arange(5), np.arange(5, 14))
    ]
    assert np.array_equal(np.hstack(parts), np.array(draw(network, 4, RATES[:4], expand=False)))


@settings(deadline=None, max_examples=50)
@given(graphs, st.integers(2, 5))
def test_the_list_of_all_pairs_is_exhaustive(graph, classes):
    pairs, truth = list_pairs(network_of(graph), classes), true_classes(graph, classes)
    labels = np.repeat(np.arange(classes), np.diff(pairs.starts))
    assert np.array_equal(labels, truth[pairs.left, pairs.right])
    met = 1 if graph.is_directed() else 2  # a pair and its reverse are one pair where edges have no direction
    listed = set(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))
    assert len(listed) == labels.size == len(graph) * (len(graph) - 1) // met
    assert graph.is_directed() or (pairs.left < pairs.right).all()
    assert pairs.class_sizes.tolist() == [(truth == label).sum() / met for label in range(classes)]
    assert pairs.exact


@pytest.mark.parametrize("name", ["power law", "arrows"])
@pytest.mark.parametrize("classes", [2, 3, 4, 5])
def test_class_sizes_are_exact_when_every_node_is_a_pilot(name, classes):
    network = network_of(NETWORKS[name])
    sampled = sample_pairs(network, classes, pairs_per_class=5, max_sources=4, seed=0)
    assert sampled.class_sizes.tolist() == list_pairs(network, classes).class_sizes.tolist()
    assert sampled.exact


@pytest.mark.parametrize("classes", [2, 3, 4, 5])
@pytest.mark.usefixtures("bare_engine")
def test_class_sizes_from_some_sources_are_unbiased(classes, monkeypatch):
    monkeypatch.setattr(hops, "PILOT_SOURCES", 6)
    network = network_of(nx.barabasi_albert_graph(30, 1, seed=2))
    samples = [sample_pairs(network, classes, pairs_per_class=3, max_sources=6, seed=seed) for seed in range(SEEDS)]
    assert not any(sample.exact for sample in samples)
    sizes = np.array([sample.class_sizes for sample in samples])
    error = sizes.std(axis=0, ddof=1) / np.sqrt(SEEDS)
    assert (abs(sizes.mean(axis=0) - list_pairs(network, classes).class_sizes) <= 4 * error).all()


@pytest.mark.parametrize("classes", [2, 3, 4, 5])
@pytest.mark.parametrize("max_sources", [8, 30])
@pytest.mark.usefixtures("bare_engine")
def test_a_sample_has_the_number_of_pairs_asked_for(classes, max_sources):
    network = network_of(nx.barabasi_albert_graph(30, 1, seed=2))
    samples = [
        sample_pairs(network, classes, pairs_per_class=6, max_sources=max_sources, seed=seed) for seed in range(SEEDS)
    ]
    drawn = np.array([np.diff(sample.starts) for sample in samples])
    assert (abs(drawn.mean(axis=0) - 6) < 4 * drawn.std(axis=0, ddof=1) / np.sqrt(SEEDS)).all()
    assert max(np.unique(sample.left).size for sample in samples) <= max_sources


@pytest.mark.parametrize("classes", [2, 3, 4, 5])
@pytest.mark.usefixtures("bare_engine")
def test_a_sample_is_uniform_within_each_class(classes):
    graph = NETWORKS["two hubs"]
    network, truth = network_of(graph), true_classes(graph, classes)
    counts = np.zeros(truth.shape)
    for seed in range(4 * SEEDS):
        pairs = sample_pairs(network, classes, pairs_per_class=8, max_sources=14, seed=seed)
        np.add.at(counts, (pairs.left, pairs.right), 1)
    for label in np.unique(truth[truth >= 0]):
        mine = counts[truth == label]
        expected = 4 * SEEDS * 8 / mine.size
        assert plausible(((mine - expected) ** 2 / expected).sum(), mine.size), label


def test_a_sample_asked_for_everything_is_every_ordered_pair():
    network, truth = network_of(TWO_HUBS), true_classes(TWO_HUBS, 4)
    pairs = sample_pairs(network, 4, pairs_per_class=10**6, max_sources=14, seed=0)
    assert np.diff(pairs.starts).tolist() == [(truth == label).sum() for label in range(4)]
    assert np.unique(pairs.left.astype(np.int64) * 14 + pairs.right).size == pairs.left.size


def test_a_sample_is_the_same_for_any_number_of_workers():
    network = network_of(nx.barabasi_albert_graph(200, 2, seed=5))
    one, three = (
        sample_pairs(network, 4, pairs_per_class=300, max_sources=150, seed=7, workers=workers) for workers in (1, 3)
    )
    assert np.array_equal(one.left, three.left)
    assert np.array_equal(one.right, three.right)
    assert np.array_equal(one.starts, three.starts)


def test_a_network_without_edges_has_nothing_to_learn():
    with pytest.raises(NothingToLearnError, match=r"no edges.*give at least one"):
        sample_pairs(network_of(nx.empty_graph(5)), 4, pairs_per_class=5, max_sources=5, seed=0)


def numbered_pairs(*sizes: int) -> HopPairs:
    """Return pairs whose left node is their own number."""
    starts = np.concatenate([[0], np.cumsum(sizes)])
    numbers = np.arange(starts[-1])
    return HopPairs(numbers, numbers + 1, starts, np.array(sizes, dtype=float), exact=True)


@given(st.lists(st.integers(0, 20), min_size=2, max_size=5).filter(any), st.integers(1, 12), st.integers(0, 99))
def test_a_batch_has_as_many_pairs_of_every_class_that_exists(sizes, per_class, seed):
    pairs = numbered_pairs(*sizes)
    batch = draw_batch(pairs, per_class, generator(seed))
    assert np.bincount(batch.labels, minlength=len(sizes)).tolist() == [per_class * (size > 0) for size in sizes]
    assert np.array_equal(np.searchsorted(pairs.starts, batch.left, side="right") - 1, batch.labels)
    assert np.array_equal(batch.right, batch.left + 1)
    for label in pairs.present:
        distinct = np.unique(batch.left[batch.labels == label]).size
        assert distinct == per_class or sizes[label] < per_class


@pytest.mark.parametrize(("size", "per_class"), [(40, 10), (10, 40)], ids=["without replacement", "with replacement"])
def test_a_batch_is_uniform_within_a_class(size, per_class):
    pairs, rng, draws = numbered_pairs(5, 0, size), generator(0), 2_000
    counts = np.zeros(5 + size)
    for _ in range(draws):
        counts += np.bincount(draw_batch(pairs, per_class, rng).left, minlength=5 + size)
    mine, expected = counts[5:], draws * per_class / size
    # Without replacement a pair's count is Binomial(draws, share), so it varies less.
    variance = expected * (1 - per_class / size) if per_class <= size else expected * (1 - 1 / size)
    assert plausible(((mine - expected) ** 2).sum() / variance * (size - 1) / size, size - 1)


def test_a_lone_edge_among_many_nodes_is_found():
    indptr = np.zeros(5_002, dtype=np.int64)
    indptr[4_001:] = 1
    indptr[4_500:] = 2
    network = Purified(indptr, np.array([4_499, 4_000], dtype=np.int32))
    for seed in range(10):  # the pilot of most seeds sees neither end
        pairs = sample_pairs(network, 4, pairs_per_class=100, max_sources=5_001, seed=seed)
        assert set(pairs.left[: pairs.starts[1]].tolist()) == {4_000, 4_499}
