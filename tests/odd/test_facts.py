"""Facts: each against a count by hand, what they find, and that blocks and the order of rows change no bit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

from oddhop import Odd, load, read_network
from oddhop.odd.cycle import find_cycles
from oddhop.odd.facts import ends as ends_module
from oddhop.odd.facts.ends import Ends, Setting, measure_nodes
from oddhop.odd.facts.find import EventFacts, find_facts, rarity
from oddhop.odd.facts.share import Share, standing, usual_of
from oddhop.odd.facts.strata import categories, classes, guess_stratum
from oddhop.odd.facts.table import FACTS
from oddhop.odd.tail import smallest_log_p, tail_log_p
from oddhop.odd.views import fit_views
from oddhop.tables.network import Network

DAY = 86_400
START = np.datetime64("2026-01-05T00:00:00", "s")  # a Monday


def payments(rows: list[tuple[int, int, float, float]], nodes: int = 8) -> Network:
    """Return a network of payments: from, to, amount, and days after the start."""
    source, target, amount, days = zip(*rows, strict=True)
    when = START + np.round(np.array(days) * DAY).astype("timedelta64[s]")
    edges = pa.table({"payer": source, "payee": target, "amount": amount, "when": when})
    return read_network(edges, pa.table({"id": np.arange(nodes), "age": np.linspace(20, 60, nodes)}))


def bank(seed: int = 3, nodes: int = 600, events: int = 6_000) -> tuple[pa.Table, pa.Table]:
    """Return payments in office hours between people and firms, of 5 to 500."""
    rng = np.random.default_rng(seed)
    source, target = rng.integers(0, nodes, (2, events))
    amount = np.round(np.exp(rng.uniform(np.log(5), np.log(500), events)) * np.where(source % 3 == 0, 8, 1), 2)
    when = START + rng.integers(0, 84, events) * DAY + rng.integers(8 * 3600, 19 * 3600, events)
    edges = pa.table({"payer": source, "payee": target, "amount": amount, "when": when})
    kind = np.where(np.arange(nodes) % 3 == 0, "firm", "person")
    return edges, pa.table({"id": np.arange(nodes), "kind": kind, "age": rng.normal(40, 9, nodes)})


def with_rows(edges: pa.Table, rows: list[tuple[int, int, float, float]]) -> pa.Table:
    source, target, amount, days = zip(*rows, strict=True)
    when = START + np.round(np.array(days) * DAY).astype("timedelta64[s]")
    more = pa.table({"payer": source, "payee": target, "amount": amount, "when": when})
    return pa.concat_tables([edges, more.cast(edges.schema)])


def facts_of(network: Network) -> EventFacts:
    found = fit_views(network.graph)[2].facts
    assert found is not None
    return found


def ends_of(network: Network, node: int) -> tuple[EventFacts, Ends]:
    facts = facts_of(network)
    return facts, facts.known.setting.ends(node, node + 1)


def carried(network: Network, node: int, name: str) -> list[float]:
    """Return the amounts of the events that carry a fact of a node."""
    facts, ends = ends_of(network, node)
    fact = next(one for one in facts.facts if one.name == name)
    return sorted(ends.amount[facts.adds(fact, ends) > 0].tolist())


def figure(network: Network, node: int, name: str) -> float:
    facts, ends = ends_of(network, node)
    fact = next(one for one in facts.facts if one.name == name)
    assert fact.of_nodes is not None
    return float(fact.of_nodes(facts.known, ends)[0][0])


def test_ends_are_in_the_order_of_time_and_each_event_stands_at_both() -> None:
    network = payments([(0, 1, 10.0, 3), (1, 0, 20.0, 1), (0, 2, 30.0, 2), (2, 0, 5.0, 2)])
    _, ends = ends_of(network, 0)
    assert ends.amount.tolist() == [20.0, 30.0, 5.0, 10.0]
    assert ends.side.tolist() == [1, 0, 1, 0]
    assert ends.partner.tolist() == [1, 2, 2, 1]
    assert ends.opens.tolist() == [True, True, False, False]
    np.testing.assert_array_equal(network.graph.events.amounts[ends.row, 0], ends.amount)


def test_return_flow_is_what_went_both_ways_with_each_partner() -> None:
    network = payments([(0, 1, 10.0, 1), (1, 0, 4.0, 2), (0, 2, 7.0, 3), (3, 0, 9.0, 4), (1, 2, 5.0, 5)])
    # With node 1 the smaller side is 4; the smaller sides of all that both sent and received are 13 and 9.
    assert figure(network, 0, "return flow") == pytest.approx(np.log1p(4 / np.median([13.0, 9.0])))
    assert carried(network, 0, "return flow") == [4.0, 10.0]


def test_what_is_sent_is_covered_by_what_came_in_the_three_days_before_the_oldest_first() -> None:
    rows = [(1, 0, 100.0, 1.0), (2, 0, 50.0, 2.0), (0, 3, 120.0, 2.5), (0, 4, 60.0, 4.5), (1, 5, 1.0, 20.0)]
    network = payments(rows)
    facts, ends = ends_of(network, 0)
    fact = next(one for one in facts.facts if one.name == "passed on to one")
    # 100 and 20 of the 50 go to 3. The 30 that are left are young enough for the payment of day 4.5.
    assert ends.amount[facts.adds(fact, ends) > 0].tolist() == [120.0]
    received = [100.0 + 50.0, 120.0, 60.0, 1.0]
    assert figure(network, 0, "passed on to one") == pytest.approx(120 / (150 + np.median(received)))


def test_an_amount_is_matched_by_one_that_went_on_to_somebody_else() -> None:
    rows = [(1, 0, 100.0, 1), (0, 1, 95.0, 2), (0, 2, 90.0, 3), (3, 0, 70.0, 5), (0, 4, 69.0, 9), (5, 0, 8.0, 20)]
    # 95 goes back to where it came from, and 69 leaves a day too late.
    assert carried(payments(rows), 0, "amounts matched") == [90.0, 100.0]


def test_the_busiest_week_is_where_most_money_moved_on_one_side() -> None:
    rows = [(0, k % 3 + 1, 10.0, 7.0 * k + 0.5) for k in range(13)]
    rows += [(0, 4, 300.0, 30.2), (0, 5, 200.0, 33.0), (6, 7, 1.0, 91.0)]
    found = carried(payments(rows), 0, "busiest week")
    assert found[-2:] == [200.0, 300.0]
    assert len(found) <= 3


def test_a_silence_ends_with_what_follows_within_a_week() -> None:
    rows = [(0, 1, 10.0, 1), (0, 2, 10.0, 2), (0, 3, 500.0, 70), (4, 0, 400.0, 72), (0, 5, 1.0, 90), (6, 7, 5.0, 91)]
    assert carried(payments(rows), 0, "silence") == [400.0, 500.0]


@pytest.mark.parametrize(
    ("amount", "round_amount", "below"),
    [(100.0, True, False), (120.0, True, False), (99.5, False, True), (1_234.0, False, False), (4_600.0, True, True)],
)
def test_round_amounts_and_limits(amount: float, round_amount: bool, below: bool) -> None:
    rows = [(0, 1, amount, 1), *((k, k + 1, above + 0.03 * k, k) for k in range(2, 7) for above in (104.21, 5_213.17))]
    network = payments(rows)
    assert (amount in carried(network, 0, "round amounts")) == round_amount
    assert (amount in carried(network, 0, "just below a limit")) == below


def test_equal_amounts_are_of_different_partners_on_one_side() -> None:
    rows = [(0, 1, 50.0, 1), (0, 2, 50.0, 2), (0, 3, 60.0, 3), (0, 3, 60.0, 4), (4, 0, 70.0, 5), (0, 4, 70.0, 6)]
    rows += [(k, k + 1, 11.0 + k, 7) for k in range(3, 7)]
    assert carried(payments(rows), 0, "equal amounts") == [50.0, 50.0]


def test_z_is_that_of_its_formula() -> None:
    rng = np.random.default_rng(5)
    nodes, x, cell = np.sort(rng.integers(0, 40, 400)), rng.normal(size=400), rng.integers(0, 3, 400)
    weight, use = rng.uniform(1, 2, 400), rng.random(400) < 0.9
    start = np.concatenate([[0], np.cumsum(np.bincount(nodes, minlength=40))])
    none = np.zeros(400, dtype=np.int64)
    ends = Ends(0, start, nodes, none, none, none, np.ones(400), none, none, none, none, none)
    share = Share(x, cell, 3, none, 1, use, weight)
    usual = usual_of(share)
    usual.add(share)
    rate, chance, _ = usual.rates(ends, share)
    z = standing(rate, chance)
    rates, noises = np.zeros(40), np.zeros(40)
    for node in range(40):
        above = under = noise = 0.0
        for e in np.flatnonzero((nodes == node) & use):
            others = use & (nodes != node)
            mean, square = x[use].mean(), (x[use] ** 2).mean()
            for some in (others, others & (cell == cell[e])):
                mean = (x[some].sum() + 20 * mean) / (some.sum() + 20)
                square = ((x[some] ** 2).sum() + 20 * square) / (some.sum() + 20)
            above += weight[e] * (x[e] - mean)
            noise += weight[e] ** 2 * (square - mean**2)
            under += weight[e]
        rates[node], noises[node] = above / under, noise / under**2
    kept = np.abs(rates) <= np.quantile(np.abs(rates), 0.99)
    tau = max(0.0, (rates[kept] ** 2 - noises[kept]).mean())
    np.testing.assert_allclose(z, rates / np.sqrt(noises + tau), rtol=1e-9)


def crime(edges: pa.Table, make: Callable[[int], tuple[int, int, float, float]], count: int) -> pa.Table:
    return with_rows(edges, [make(k) for k in range(count)])


def firsts(edges: pa.Table, nodes: pa.Table, node: int) -> tuple[list[str], int]:
    """Return the loudest facts of a node, and its rank."""
    detector = Odd(random_state=0, simulate=False, n_resamples=2).fit(edges, nodes=nodes)
    result = detector.result_
    place = result["id"].to_pylist().index(node)
    facts = detector._facts
    assert facts is not None
    number = detector.network_.numbers([node])[0]
    return [facts.facts[k].name for k in facts.which[:, number]], int(result["rank"][place].as_py())


def test_a_takeover_at_night_is_found_by_its_hours() -> None:
    edges, nodes = bank()
    taken = crime(edges, lambda k: (100, 200 + 3 * k, 450.0 + k, 40.05 + k / 100), 12)
    loudest, rank = firsts(taken, nodes, 100)
    assert rank <= 3
    assert "odd hours" in loudest


def test_amounts_just_below_a_limit_are_found() -> None:
    edges, nodes = bank()
    split = crime(edges, lambda k: (100, 101 + k, 972.4 + 0.3 * k, 10.4 + 3 * k), 20)
    loudest, rank = firsts(split, nodes, 100)
    assert rank <= 3
    assert "just below a limit" in loudest


def test_a_silent_node_that_wakes_up_is_found() -> None:
    edges, nodes = bank(nodes=601)
    source, target = (edges[name].to_numpy() for name in ("payer", "payee"))
    quiet = edges.filter(pa.array((source != 600) & (target != 600)))
    woken = with_rows(
        quiet, [(600, 3, 20.0, 0.5), (600, 5, 4_000.0, 70.5), (9, 600, 4_100.0, 70.4), (600, 7, 90.0, 71.5)]
    )
    loudest, rank = firsts(woken, nodes, 600)
    assert rank <= 5
    assert "silence" in loudest


def test_stranger_outlier_and_clique_are_the_same_with_and_without_events() -> None:
    edges, nodes = bank()
    with_flows, without = (fit_views(read_network(edges, nodes, flows=flows).graph)[1] for flows in (True, False))
    np.testing.assert_array_equal(with_flows.log_p[:3], without.log_p[:3])
    assert not without.log_p[3:].any()


def test_facts_have_the_same_bits_in_blocks_and_in_any_order_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    edges, nodes = bank()
    network = read_network(edges, nodes)
    whole = facts_of(network)
    shuffled = edges.take(pa.array(np.random.default_rng(1).permutation(edges.num_rows)))
    again = facts_of(read_network(shuffled, nodes))
    assert again.log_p.tobytes() == whole.log_p.tobytes()
    monkeypatch.setattr("oddhop.odd.facts.find.BYTES_AT_ONCE", 1)
    one_by_one = facts_of(network)
    assert one_by_one.which.tobytes() == whole.which.tobytes()
    assert one_by_one.loud.tobytes() == whole.loud.tobytes()
    monkeypatch.setattr(ends_module, "ENDS_AT_ONCE", 500)
    blocks = facts_of(network)
    np.testing.assert_allclose(blocks.loud, whole.loud, atol=1e-9)
    for kept in (0, 3_000):  # of 12,000 ends, for the next pass
        monkeypatch.setattr(ends_module, "ENDS_KEPT", kept)
        assert facts_of(network).loud.tobytes() == blocks.loud.tobytes()


def test_the_background_has_as_many_small_p_values_as_they_say() -> None:
    found = [facts_of(read_network(*bank(seed, nodes=1_500, events=15_000))).log_p for seed in range(4)]
    # 6,000 nodes: 60 expected, and 5 standard deviations either way.
    assert 21 <= sum(int((log_p < np.log(0.01)).sum()) for log_p in found) <= 99
    assert max(int((log_p < np.log(1e-5)).sum()) for log_p in found) == 0


def test_missing_times_and_amounts_are_taken_for_unknown_and_usual() -> None:
    edges, nodes = bank()
    amount, when = (edges[name].to_numpy(zero_copy_only=False).copy() for name in ("amount", "when"))
    amount[::7], when[::5] = np.nan, np.datetime64("NaT")
    gaps = pa.table({"payer": edges["payer"], "payee": edges["payee"], "amount": amount, "when": when})
    found = facts_of(read_network(gaps, nodes))
    assert np.isfinite(found.loud).all()
    assert np.isfinite(found.log_p).all()


@pytest.mark.parametrize("columns", [["payer", "payee", "amount"], ["payer", "payee", "when"]])
def test_facts_that_need_what_is_not_there_are_left_out(columns: list[str]) -> None:
    edges, nodes = bank()
    found = facts_of(read_network(edges.select(columns), nodes))
    needs = {one.needs for one in found.facts}
    assert needs == {"", "amount" if "amount" in columns else "time"}
    assert len(FACTS) <= 20


def test_the_stratum_is_the_category_that_explains_volumes_and_small_ones_are_put_together() -> None:
    edges, nodes = bank()
    table = nodes.append_column("letter", pa.array(np.array(list("abcd"))[np.arange(600) % 4]))
    facts = facts_of(read_network(edges, table))
    stratum = facts.known.setting.stratum
    firm = np.arange(600) % 3 == 0
    assert len(set(stratum[firm])) == len(set(stratum[~firm])) == 1
    assert stratum[0] != stratum[1]
    levels = np.repeat([0, 1, 2], [500, 450, 50])
    divided = classes(levels, np.tile([1, 2, 3, 4], 250))
    sizes = np.bincount(np.unique(divided, return_inverse=True)[1])
    assert sizes.size == 5  # two classes of each of the large ones, and the small one
    assert sizes.min() >= 50
    assert guess_stratum([], np.ones(5)).tolist() == [0] * 5


def test_categories_are_neighbouring_columns_of_which_each_node_has_one() -> None:
    kind, town = np.eye(3)[np.arange(30) % 3], np.eye(5)[np.arange(30) % 5]
    flag = (np.arange(30) % 7 == 0)[:, None].astype(float)
    table = np.hstack([kind, np.linspace(0, 1, 30)[:, None], flag, town])
    found = categories(table)
    assert [one.tolist() for one in found] == [(np.arange(30) % 3).tolist(), (np.arange(30) % 5).tolist()]


def test_rarity_counts_ties_against_the_node() -> None:
    figures, among = np.array([1.0, 2.0, 2.0, 3.0, np.nan]), [np.arange(5)]
    np.testing.assert_allclose(rarity(figures, among), [-np.log(4 / 5), *2 * [-np.log(3 / 5)], -np.log(1 / 5), 0.0])
    two_sided = rarity(figures, among, 2)
    np.testing.assert_allclose(two_sided[[0, 3]], -np.log(2 / 5))


def test_p_values_are_ranks_in_the_bulk_and_a_tail_beyond() -> None:
    score = np.random.default_rng(0).exponential(size=20_000)
    judged = np.ones(score.size, dtype=bool)
    log_p = tail_log_p(score, judged)
    for share in (0.5, 0.1, 0.01, 0.001):
        assert np.mean(log_p < np.log(share)) == pytest.approx(share, rel=0.25)
    score[0] = 1e6
    assert tail_log_p(score, judged)[0] == pytest.approx(smallest_log_p(20_000), rel=0.2)
    judged[1:] = False
    assert tail_log_p(score, judged)[1:].tolist() == [0.0] * 19_999


def test_volumes_add_up_either_side() -> None:
    network = payments([(0, 1, 10.0, 1), (0, 1, 5.0, 2), (1, 2, 3.0, 3)])
    volume, seen, usual = measure_nodes(network.graph.events)
    partners = facts_of(network).known.setting.partner_counts.T
    assert partners[:, :3].tolist() == [[1, 1, 0], [0, 1, 1]]
    assert volume[:, :3].tolist() == [[15.0, 3.0, 0.0], [0.0, 15.0, 3.0]]
    assert (seen[2] - seen[0]) == 2 * DAY * 1_000_000
    assert usual == pytest.approx((10 * 5 * 3) ** (1 / 3))
    assert isinstance(facts_of(network).known.setting, Setting)
    nothing = np.empty((8, 0))
    assert find_facts(None, slice(0, 8), nothing, nothing) is None


@pytest.mark.parametrize(("other", "cycles"), [(39.0, 1), (41.0, 0)])
def test_a_cycle_that_carries_less_than_a_fifth_of_what_nodes_sent_is_none(other: float, cycles: int) -> None:
    rows = [(k, (k + 1) % 3, 10.0, 1 + k / 10) for k in range(3)] + [(k, k + 3, other, 20.0) for k in range(3)]
    found = find_cycles(payments(rows).graph.events, 8)
    assert found is not None
    assert found.counts[:3].tolist() == 3 * [cycles]


def test_each_side_has_facts_of_its_own() -> None:
    rows = [(0, 1, 10.0, 1), (2, 0, 70.0, 2), (0, 2, 5.0, 3), (3, 4, 6.0, 4), (4, 3, 7.0, 5)]
    network = payments(rows)
    assert carried(network, 0, "volume sent") == [5.0, 10.0]
    assert carried(network, 0, "volume received") == [70.0]
    facts, ends = ends_of(network, 0)
    for name, side in (("new partners sent to", 0), ("amounts sent", 0), ("amounts received", 1)):
        fact = next(one for one in facts.facts if one.name == name)
        assert fact.of_ends is not None
        assert (fact.of_ends(facts.known, ends).use == (ends.side == side)).all()


def test_place_weighs_half_where_there_are_events_and_only_there() -> None:
    edges, nodes = bank()
    weights = [fit_views(read_network(edges, nodes, flows=flows).graph)[0].place for flows in (True, False)]
    assert weights == [0.5, 1.0]


@pytest.mark.slow
def test_a_saved_model_judges_the_same_and_reads_the_same_edge_columns(tmp_path) -> None:
    edges, nodes = bank()
    detector = Odd(random_state=0, simulate=False).fit(edges, nodes=nodes)
    detector.save(tmp_path / "model.oddhop")
    more = edges.append_column("fee", pa.array(np.arange(edges.num_rows) * 1.5))
    again = load(tmp_path / "model.oddhop").rank(more, nodes=nodes)
    assert again["id"].to_pylist() == detector.result_["id"].to_pylist()
    np.testing.assert_allclose(again["score"].to_numpy(), detector.result_["score"].to_numpy())
