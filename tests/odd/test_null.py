"""Where the list ends: simulated networks, and what stands out from them."""

from __future__ import annotations

import numpy as np
import pytest

from oddhop import Graph, Odd, read_network
from oddhop.errors import SettingsError
from oddhop.odd import null
from oddhop.odd.null import Chance, simulate_chance
from oddhop.odd.null_model import find_communities
from oddhop.odd.phrases import standing_out
from oddhop.odd.views import fit_views
from oddhop.partitions.task import on_threads
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


def test_planted_communities_are_found_and_where_there_are_none_there_is_one() -> None:
    found = find_communities(in_memory(network(0)), on_threads(1), 0)
    shared = np.array([np.bincount(found[c::6]).max() / found[c::6].size for c in range(6)])
    assert shared.min() > 0.8
    rng = np.random.default_rng(0)
    random = Graph.from_arrays(rng.integers(0, 900, (2, 4_000)), np.zeros((900, 1)))
    assert not find_communities(in_memory(random), on_threads(1), 0).any()


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_where_nothing_is_odd_nothing_stands_out(seed: int) -> None:
    # Over the generators of benchmarks/null.py one network in seven has a node that stands out, and none has three.
    views, evidence, data = fit_views(network(seed))
    assert simulate_chance(views, data, seed=0).standing_out(evidence.score, 0.1) <= 2


@pytest.mark.slow
def test_a_planted_ring_and_strangers_stand_out_on_any_number_of_workers() -> None:
    graph = network(1, clique=14, strangers=10)
    views, evidence, data = fit_views(graph)
    one, two = (simulate_chance(views, data, seed=0, workers=workers) for workers in (1, 3))
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


def test_nodes_of_all_kinds_count_for_the_number_of_simulations(monkeypatch: pytest.MonkeyPatch) -> None:
    made = shop()
    network = read_network(made.edges, {"account": made.accounts, "device": made.devices}, judge="account")
    monkeypatch.setattr(null, "SIMULATED_NODES", 3 * network.graph.node_count)
    fitted, _, data = fit_views(network.graph)
    assert simulate_chance(fitted, data, seed=0).simulations == 3


def test_small_networks_are_not_simulated_unless_asked(small: Graph) -> None:
    assert Odd(random_state=0).fit(small).ending().figure is None
    assert Odd(random_state=0, simulate=True).fit(small).ending().figure == 0.0


@pytest.mark.parametrize(
    "wrong", [{"max_chance": 0.1, "top_k": 3}, {"max_chance": 0.1, "simulate": False}, {"max_chance": 0.6}]
)
def test_settings_that_contradict_each_other_are_refused(small: Graph, wrong: dict[str, object]) -> None:
    with pytest.raises(SettingsError):
        Odd(**wrong).fit(small)
