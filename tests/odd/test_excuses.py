"""Excuses: each on a small network where it explains a fact, and on one that looks much the same where it does not."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from oddhop import read_network
from oddhop.odd.facts import excuses
from oddhop.odd.facts.excuses import EXCUSES, explained, remains, shares
from oddhop.odd.facts.kernels import weeks_of_new_partners
from oddhop.tables.network import Network
from tests.odd.test_facts import bank, ends_of, facts_of, payments, with_rows

Rows = list[tuple[int, int, float, float]]
ELSEWHERE: Rows = [(6, 7, 3.0, 0), (7, 6, 4.5, 90)]


def excused(network: Network, node: int, name: str, side: int | None = None) -> dict[str, float]:
    """Return which share of a fact of a node each excuse explains, or of all that it sent (0) or received (1)."""
    facts, ends = ends_of(network, node)
    fact = next(one for one in facts.facts if one.name == name)
    adds = facts.adds(fact, ends) if side is None else ends.amount * (ends.side == side)
    found = shares(fact, ends, adds, explained(facts.known.setting, ends))[1][:, 0]
    return dict(zip([one.name for one in EXCUSES], found.tolist(), strict=True))


def test_the_share_of_a_single_event_is_the_sum_of_squares_of_the_shares_of_all() -> None:
    once = excused(payments([(0, 1, 900.0, 40), (0, 2, 100.0, 41), *ELSEWHERE]), 0, "amounts sent", 0)
    assert once["one event"] == pytest.approx(0.9**2 + 0.1**2)
    often = excused(payments([*((0, k % 5 + 1, 100.0, 40 + k) for k in range(10)), *ELSEWHERE]), 0, "amounts sent", 0)
    assert often["one event"] == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("amounts", "days", "regular"),
    [
        ([500.0, 500.0, 500.0], [1, 31, 62], 1.0),  # a rent
        ([500.0, 500.0, 500.0], [1, 8, 15], 1.0),
        ([500.0, 500.0, 510.0], [1, 31, 62], 0.0),  # not the same amount
        ([500.0, 500.0, 500.0], [1, 31, 80], 0.0),  # not the same interval
        ([500.0, 500.0, 500.0], [1, 2, 3], 0.0),  # too soon
        ([500.0, 500.0], [1, 31], 0.0),
    ],
)
def test_equal_amounts_at_equal_intervals_are_regular(amounts: list[float], days: list[float], regular: float) -> None:
    rows = [(0, 1, amount, day) for amount, day in zip(amounts, days, strict=True)]
    assert excused(payments(rows + ELSEWHERE), 0, "volume sent")["regular"] == regular
    others = [(0, k, amount, day) for k, (_, _, amount, day) in enumerate(rows, 1)]  # to somebody else each time
    assert excused(payments(others + ELSEWHERE), 0, "volume sent")["regular"] == 0.0


@pytest.mark.parametrize(("directions", "turns"), [("srsr", 1.0), ("ssrr", 0.0), ("srs", 0.0)])
def test_what_always_comes_back_before_more_is_sent_is_in_turn(directions: str, turns: float) -> None:
    ends = {"s": (0, 1), "r": (1, 0)}
    rows = [(*ends[way], 100.0 + 20 * k, 10.0 * k) for k, way in enumerate(directions)]
    assert excused(payments(rows + ELSEWHERE), 0, "return flow")["in turn"] == turns


def test_new_partners_are_a_habit_in_the_share_of_the_weeks_that_have_them() -> None:
    weekly: Rows = [(0, k + 1, 10.0, 7 * k + 1) for k in range(13)]
    at_once: Rows = [(0, k + 1, 10.0, 1 + k / 20) for k in range(13)]
    old: Rows = [(0, 1, 10.0, 7 * k + 1) for k in range(13)]
    whole: Rows = [(14, 15, 3.0, 0), (15, 14, 4.5, 91)]
    shown = [excused(payments(rows + whole, 16), 0, "volume sent")["habit"] for rows in (weekly, at_once, old)]
    np.testing.assert_allclose(shown, [1.0, 0.0, 0.0])
    start, none = np.array([0, 3]), np.zeros(3, dtype=np.int64)
    found = weeks_of_new_partners(start, np.array([0, 0, 1]), np.array([1, 4, 4]), np.ones(3, dtype=bool))
    assert found.tolist() == [1.0, 1.0, 0.0]  # another kind or side is no habit
    assert weeks_of_new_partners(start, none, np.array([1, 4, 4]), np.zeros(3, dtype=bool)).tolist() == [0.0] * 3


def test_a_partner_of_many_explains_what_is_paid_to_it_but_neither_its_amounts_nor_what_comes_back() -> None:
    customers: Rows = [(k, 1, 5.0 + k, k) for k in range(2, 12)]
    network = payments([(0, 1, 900.0, 40), (1, 0, 100.0, 50), *customers], 12)
    # Ten others pay node 1; it pays nobody else. On average 12 payments go from 12 nodes, and to 2.
    assert excused(network, 0, "amounts sent", 0)["known"] == pytest.approx(10 / (10 + 2 * 12 / 2))
    assert excused(network, 0, "amounts received", 1)["known"] == 0.0
    assert excused(network, 0, "return flow")["known"] == 0.0
    assert excused(network, 0, "round amounts")["known"] == 0.0
    private = payments([(0, 1, 900.0, 40), *((k, 12, 5.0, k) for k in range(2, 12))], 13)
    assert excused(private, 0, "amounts sent", 0)["known"] == 0.0


def test_peers_are_the_others_of_its_kind_with_the_same_partner() -> None:
    edges, nodes = bank()
    kind = nodes["kind"].to_numpy(zero_copy_only=False).copy()
    few = edges.filter(pa.array(edges["payee"].to_numpy() != 3))
    seen = []
    for like in ("person", "firm"):
        kind[:12], kind[3] = like, "firm"
        kind[100] = "person"  # and eight firms, or persons, pay node 3 as well
        table = nodes.set_column(1, "kind", pa.array(kind))
        rows = with_rows(few, [(100, 3, 900.0, 40.4), *((k, 3, 20.0, 30 + k) for k in range(4, 12))])
        network = read_network(rows, table)
        facts, ends = ends_of(network, 100)
        setting = facts.known.setting
        paid = (ends.partner == 3) & (ends.side == 0)
        alike = int(setting.partners_alike(ends)[paid][0])
        by = dict(zip([one.name for one in EXCUSES], explained(setting, ends)[paid][0].tolist(), strict=True))
        assert by["peers"] == pytest.approx((alike - 1) / (alike - 1 + setting.usual_alike))
        seen.append(alike)
    assert seen == [9, 1]


def test_a_single_event_or_a_known_partner_does_not_explain_a_volume() -> None:
    network = payments([(0, 1, 900.0, 40), *((k, 1, 5.0 + k, k) for k in range(2, 12))], 12)
    found = excused(network, 0, "volume sent")
    assert found["one event"] == found["known"] == 0.0
    assert found["peers"] > 0.3


def test_what_is_spread_over_many_partners_is_explained_and_what_one_of_them_has_is_not() -> None:
    spread: Rows = [(k, 0, 100.0, k) for k in range(1, 12)]
    # The only node that receives does so from as many as is usual.
    assert excused(payments(spread, 12), 0, "volume received")["many"] == pytest.approx(10 / (10 + 2 * 11))
    more: Rows = [(k - 1, k, 100.0, 20 + k) for k in range(2, 12)]
    assert excused(payments(spread + more, 12), 0, "volume received")["many"] == pytest.approx(10 / (10 + 2 * 21 / 11))
    one: Rows = [(1, 0, 100.0, k) for k in range(1, 12)]
    assert excused(payments(one, 12), 0, "volume received")["many"] == 0.0
    heavy = [*spread, (1, 0, 1e6, 20)]
    assert excused(payments(heavy, 12), 0, "volume received")["many"] < 0.01


def test_each_excuse_lowers_what_the_others_leave_and_a_weight_of_0_switches_all_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    np.testing.assert_allclose(remains(np.array([[1.0, 0.0], [0.5, 0.0]])), [0.3 * 0.65, 1.0])
    edges, nodes = bank()
    # One large payment, and a dozen that together are as large.
    single = with_rows(edges, [(100, 201, 6_000.0, 40.4)])
    several = with_rows(edges, [(100, 201 + k, 500.0, 40.4 + k / 50) for k in range(12)])
    networks = [read_network(rows, nodes) for rows in (single, several)]
    lowered = [facts_of(network).loud[:, 100].sum() for network in networks]
    monkeypatch.setattr(excuses, "WEIGHT", 0.0)
    whole = [facts_of(network).loud[:, 100].sum() for network in networks]
    assert lowered[0] < 0.5 * whole[0]
    assert lowered[1] > 1.5 * lowered[0]
    assert whole[1] < 1.5 * whole[0]


def test_events_without_times_or_directions_have_fewer_excuses() -> None:
    rows: Rows = [*((k, 1, 5.0 + k, k) for k in range(2, 12)), (0, 1, 50.0, 3), (0, 2, 4.0, 5)]
    source, target, amount, _ = zip(*rows, strict=True)
    edges = pa.table({"payer": source, "payee": target, "amount": amount})
    nodes = pa.table({"id": np.arange(12), "age": np.linspace(20, 60, 12)})
    directed, undirected = (read_network(edges, nodes, directed=way) for way in (True, False))
    for network in (directed, undirected):
        found = excused(network, 0, "amounts sent", 0)
        assert found["regular"] == found["in turn"] == found["habit"] == 0.0
        assert 0.3 < found["known"] < 0.7


def test_what_a_node_does_too_little_of_is_never_lowered(monkeypatch: pytest.MonkeyPatch) -> None:
    edges, nodes = bank()
    amount, payer = edges["amount"].to_numpy(), edges["payer"].to_numpy()
    mean = edges.set_column(2, "amount", pa.array(np.where(payer == 99, amount / 100, amount)))
    network = read_network(mean, nodes)
    found = []
    for weight in (excuses.WEIGHT, 0.0):
        monkeypatch.setattr(excuses, "WEIGHT", weight)
        facts = facts_of(network)
        named = [facts.facts[number].name in {"amounts sent", "volume sent"} for number in facts.which[:, 99]]
        found.append(float(facts.loud[named.index(True), 99]))
    assert found[0] == found[1] > 3
