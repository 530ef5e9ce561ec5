"""Where the list ends: simulated networks, and what stands out from them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from oddhop import Graph, Odd, read_network
from oddhop.arrays.stores import ENTRIES
from oddhop.errors import SettingsError
from oddhop.odd import null, simulate
from oddhop.odd.communities import folded
from oddhop.odd.findings import standing_out
from oddhop.odd.homophily import Ratios, make_ratios
from oddhop.odd.kinds import Edges
from oddhop.odd.null import Chance, bulk_ratio, head_above_gap, head_beyond_tail, simulate_chance
from oddhop.odd.null_groups import by_degree, groups_of_edges
from oddhop.odd.views import fit_views
from tests.odd.small_shop import shop
from tests.odd.stores import in_memory


def network(seed: int, *, clique: int = 0, strangers: int = 0, nodes: int = 1_200) -> Graph:
    """Six communities with columns of their own; a clique across them, and nodes with the columns of another one."""
    rng = np.random.default_rng(seed)
    community = np.arange(nodes) % 6
    u, v = rng.integers(0, nodes, (2, 5 * nodes))
    v = np.where(rng.random(u.size) < 0.8, (v // 6) * 6 + u % 6, v) % nodes
    members = rng.permutation(nodes)[:clique]
    ends = members[np.stack(np.triu_indices(clique, 1))]
    looks = community.copy()
    looks[:strangers] = (looks[:strangers] + 3) % 6
    x = rng.normal(size=(6, 8))[looks] * 1.5 + rng.normal(size=(nodes, 8))
    return Graph.from_arrays(np.concatenate([np.stack([u, v]), ends], axis=1), x)


def test_shares_count_simulated_nodes_that_score_as_high() -> None:
    chance = Chance(np.array([0.0, 1.0, 2.0, 3.0]), 2)
    # Ranks 1 to 4 score 5, 2, 1.5, -1: of two simulated networks 0, 2, 2 nodes score as high, then more than are kept.
    np.testing.assert_allclose(chance.shares(np.array([1.5, 5.0, -1.0, 2.0])), [0.5, 0.75, 0.5, np.inf])
    assert chance.standing_out(np.array([1.5, 5.0, -1.0, 2.0]), 0.5) == 3
    assert chance.standing_out(np.array([1.5, 5.0, -1.0, 2.0]), 0.4) == 0


def test_groups_are_octaves_of_the_degree_and_few_nodes_join_the_octave_below() -> None:
    cells, degrees = np.repeat([0, 1], [180, 20]), np.tile([1, 2, 3, 4, 9, 900], 34)[:200]
    found = by_degree(cells, degrees)
    octaves = {tuple(np.unique(degrees[found == one])) for one in np.unique(found[cells == 0])}
    assert octaves == {(1,), (2, 3, 4), (9, 900)}  # 30 nodes have 900 and 30 have 4: fewer than 32
    assert np.unique(found[cells == 1]).size == 1
    assert not np.intersect1d(found[cells == 0], found[cells == 1]).size


def test_the_bulks_of_real_and_simulated_networks_are_compared_below_the_anomalies() -> None:
    scores = np.linspace(0, 10, 101)
    assert bulk_ratio(scores, scores) == pytest.approx(1.0)
    assert bulk_ratio(2 * scores, scores) == pytest.approx(2.0)
    assert bulk_ratio(scores, 2 * scores) == pytest.approx(0.5)
    odd = np.concatenate([scores[:96], [500.0] * 5])  # what stands out does not stretch what it is compared with
    assert bulk_ratio(odd, scores) == pytest.approx(1.0)


def test_simulated_networks_keep_degrees_and_the_edges_and_f_between_every_two_groups(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph = network(3, clique=14)
    fitted, evidence, data = fit_views(graph)
    groups, seen = [], []
    by_groups, scores = simulate.by_degree, simulate.clique_scores
    monkeypatch.setattr(simulate, "by_degree", lambda *given: groups.append(by_groups(*given)) or groups[-1])

    def kept(edges: Edges, ratios: Ratios) -> Any:
        seen.append((edges.own.wiring, ratios))
        return scores(edges, ratios)

    monkeypatch.setattr(simulate, "clique_scores", kept)
    monkeypatch.setattr(null, "SIMULATED_NODES", 0)
    simulate_chance(fitted, data, evidence.score, 0)
    real, own = data.edges.own.wiring, data.edges.own
    before = make_ratios(real, own.coordinates, fitted.homophily)
    (group,) = groups
    looks, octaves = np.arange(1_200) % 6, np.log2(np.maximum(graph.degrees, 1)).astype(int)
    for one in np.unique(group):  # a group has nodes of one octave, or of two where few are left over
        assert np.ptp(octaves[group == one]) <= 1 or (group == one).sum() < 200
    shared = [np.bincount(looks[group == one], minlength=6).max() / (group == one).sum() for one in np.unique(group)]
    assert np.mean(shared) > 0.6  # nodes of a group look alike
    assert len(seen) == 2
    for simulated, after in seen:
        np.testing.assert_array_equal(simulated.degrees.all(), graph.degrees)
        assert (simulated.indices.read() != graph.indices).mean() > 0.5
        blocks = [groups_of_edges(wiring, group) for wiring in (real, simulated)]
        counts = [np.bincount(one) for one in blocks]
        np.testing.assert_array_equal(*counts)
        f = [folded(real, before.f).astype(float), folded(simulated, after.f).astype(float)]
        sums = [np.bincount(one, values) for one, values in zip(blocks, f, strict=True)]
        np.testing.assert_allclose(*sums, atol=1e-3)
        assert np.corrcoef(*(np.sort(values) for values in f))[0, 1] > 0.9999
        means = [one.sums.read() / np.maximum(graph.degrees, 1) for one in (before, after)]
        assert 0.5 < means[1].std() / means[0].std() < 1.1


def test_f_of_a_node_is_drawn_from_nodes_of_its_group() -> None:
    graph = network(0)
    group = np.arange(graph.node_count) % 2
    wiring = in_memory(graph)
    f = wiring.given(np.repeat(group.astype(np.float32), graph.degrees), ENTRIES)
    outlying = np.random.default_rng(0).normal(size=graph.node_count)
    means, degrees = simulate.Donors.of(wiring, f, outlying, group).means(np.random.default_rng(1))
    np.testing.assert_array_equal(degrees, graph.degrees)
    assert (means == group).mean() > 0.9  # those at the border of a group may be given the next one's


def test_a_node_takes_f_from_few_nodes_so_that_nodes_differ_as_they_do() -> None:
    rng = np.random.default_rng(0)
    ends = rng.integers(0, 400, (2, 20_000))
    graph = Graph.from_arrays(ends[:, ends[0] != ends[1]], rng.normal(size=(400, 1)))
    wiring, group = in_memory(graph), np.zeros(400, dtype=np.int64)
    f = wiring.given(np.repeat(rng.normal(size=400), graph.degrees), ENTRIES)  # all edges of a node have the same
    means, _ = simulate.Donors.of(wiring, f, rng.normal(size=400), group).means(rng)
    # The mean of eight nodes, drawn with repetition: between edge by edge (.1) and node by node (1).
    assert means.std() == pytest.approx(1 / np.sqrt(8), rel=0.15)


def test_simulated_scores_are_raised_to_the_real_ones_in_the_bulk_and_by_the_margin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fitted, evidence, data = fit_views(network(1))
    plain = simulate_chance(fitted, data, evidence.score, 0)
    higher = simulate_chance(fitted, data, 2 * evidence.score, 0)
    assert higher.ratio == pytest.approx(2 * plain.ratio)
    monkeypatch.setattr(null, "MARGIN", 0.0)
    monkeypatch.setattr(null, "LEAST_MARGIN", 1.0)
    bare = simulate_chance(fitted, data, evidence.score, 0)
    for raised in (plain, higher):
        np.testing.assert_allclose(raised.scores, bare.scores * max(1.15, 1.25 * raised.ratio))


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_where_nothing_is_odd_nothing_stands_out(seed: int) -> None:
    # Over the generators of benchmarks/null.py one network in seven has a node that stands out, and none has three.
    views, evidence, data = fit_views(network(seed))
    assert simulate_chance(views, data, evidence.score, 0).standing_out(evidence.score, 0.1) <= 2


@pytest.mark.slow
def test_a_planted_ring_and_strangers_stand_out_on_any_number_of_workers() -> None:
    graph = network(1, clique=14, strangers=10)
    chances = []
    for workers in (1, 3):
        views, evidence, data = fit_views(graph, workers=workers)
        chances.append(simulate_chance(views, data, evidence.score, 0))
    one, two = chances
    np.testing.assert_array_equal(one.scores, two.scores)
    assert 12 <= one.standing_out(evidence.score, 0.1) <= 30


def test_max_chance_flags_the_head_that_stands_out_and_a_model_file_keeps_it(tmp_path) -> None:
    graph = network(1, clique=14)
    fitted = Odd(random_state=0, max_chance=0.1).fit(graph)
    count = int(fitted.ending().figure)
    assert count >= 10
    assert fitted.result_["flagged"].to_pylist() == [True] * count + [False] * (graph.node_count - count)
    fitted.save(tmp_path / "model.oddhop")
    again = Odd.load(tmp_path / "model.oddhop")
    table = again.rank(graph)
    assert again.ending(table) == fitted.ending()
    assert "stand out" in [one.check for one in again.audit(graph, table)]


def test_so_few_simulations_that_nothing_can_stand_out_are_said() -> None:
    score = np.array([500.0, 400.0, 300.0, 200.0, 1.0])
    few, many = (standing_out(Chance(np.linspace(0, 20, 50), count), score, 0.1) for count in (2, 20))
    assert "can only show that 5 nodes or more stand out" in few.sentence
    assert many.figure == 4
    assert "score as high" in standing_out(Chance(np.linspace(0, 900, 50), 2), score, 0.1).sentence


def test_a_head_far_above_the_tail_is_counted_and_named_where_no_node_stands_out() -> None:
    rng = np.random.default_rng(0)
    tails = [rng.exponential(2.0, 3_000) for _ in range(20)]
    assert sum(head_beyond_tail(tail, 0.1) for tail in tails) <= 2  # at a share of .1 about one in ten has one node
    gap = np.concatenate([tails[0], 60.0 + np.arange(7)])
    assert head_beyond_tail(gap, 0.1) == 7
    assert head_beyond_tail(np.zeros(100), 0.1) == head_beyond_tail(np.arange(9.0), 0.1) == 0
    high = Chance(np.full(30, 99.0), 20, gap.size)
    said = standing_out(high, gap, 0.1)
    assert "top 7 nodes score far above all others (60, then" in said.sentence
    assert (said.level, said.figure) == ("warning", 0.0)
    assert "far above" not in standing_out(high, tails[0], 0.1).sentence


def test_where_simulations_differ_the_head_must_lie_beyond_the_tail_or_above_a_gap() -> None:
    tail = np.random.default_rng(0).exponential(2.0, 3_000)
    head = np.concatenate([tail, 60.0 + np.arange(7)])
    low, high = np.sort(np.random.default_rng(1).exponential(1.5, 60_000))[-6_000:], np.full(400, 99.0)
    count = Chance(low, 20).standing_out(head, 0.1)
    assert 7 < count < 30
    assert Chance(low, 20, ratio=1.3).standing_out(head, 0.1) == 7
    assert Chance(high, 20).standing_out(head, 0.1) == Chance(high, 20, ratio=1.3).standing_out(head, 0.1) == 0
    assert Chance(high, 20, ratio=0.7).standing_out(head, 0.1) == 7
    crowd = np.linspace(5.0, np.sort(tail)[-3] - 0.01, 6_000)
    assert Chance(crowd, 20).standing_out(tail, 0.1) == 3
    assert "not far above the other nodes" in standing_out(Chance(crowd, 20, 3_000, 1.3), tail, 0.1).sentence
    many = np.concatenate([tail, np.full(60, 40.0)])  # a long head is part of the tail itself
    assert Chance(low, 20, ratio=1.3).standing_out(many, 0.1) == Chance(low, 20).standing_out(many, 0.1) >= 60
    assert "7 nodes stand out: the top 7" in standing_out(Chance(high, 20, 3_007, 0.7), head, 0.1).sentence
    assert Chance(low, 20, ratio=0.7).standing_out(head, 0.1) == count


def test_a_gap_is_wide_where_the_next_score_is_far_lower_and_many_follow() -> None:
    scores = np.concatenate([np.full(3, 30.0), np.linspace(19.9, 5, 400)])
    assert head_above_gap(scores) == 3
    assert head_above_gap(np.where(scores == 30, 29.0, scores)) == 0
    assert head_above_gap(scores[:100]) == 0  # three of a hundred are many
    assert head_above_gap(np.zeros(500)) == head_above_gap(np.ones(1)) == 0


@pytest.mark.parametrize(("ratio", "named"), [(1.0, False), (2.0, True), (0.4, True)])
def test_simulations_that_disagree_with_the_network_are_named(ratio: float, named: bool) -> None:
    chance = Chance(np.linspace(0, 20, 50), 20, 100, ratio)
    assert (f"{ratio:.1f} times as high" in standing_out(chance, np.arange(100.0), 0.1).more) == named


def test_nodes_of_all_kinds_count_for_the_number_of_simulations(monkeypatch: pytest.MonkeyPatch) -> None:
    made = shop()
    network = read_network(made.edges, {"account": made.accounts, "device": made.devices}, judge="account")
    monkeypatch.setattr(null, "SIMULATED_NODES", 3 * network.graph.node_count)
    fitted, evidence, data = fit_views(network.graph)
    assert simulate_chance(fitted, data, evidence.score, 0).simulations == 3


def test_small_networks_are_not_simulated_unless_asked(small: Graph) -> None:
    assert Odd(random_state=0).fit(small).ending().figure is None
    assert Odd(random_state=0, simulate=True).fit(small).ending().figure == 0.0


@pytest.mark.parametrize(
    "wrong", [{"max_chance": 0.1, "top_k": 3}, {"max_chance": 0.1, "simulate": False}, {"max_chance": 0.6}]
)
def test_settings_that_contradict_each_other_are_refused(small: Graph, wrong: dict[str, object]) -> None:
    with pytest.raises(SettingsError):
        Odd(**wrong).fit(small)


def test_a_network_of_more_nodes_than_were_simulated_has_more_of_them_by_chance() -> None:
    scores, ranking = np.array([0.0, 1.0, 2.0, 3.0]), np.array([1.5, 5.0, -1.0, 2.0])
    alike = Chance(scores, 2, nodes=4).shares(ranking)
    np.testing.assert_allclose(Chance(scores, 2).shares(ranking), alike)
    np.testing.assert_allclose(Chance(scores, 2, nodes=2).shares(ranking), 2 * alike)
    np.testing.assert_allclose(Chance(scores, 2, nodes=8).shares(ranking), alike / 2)
