"""Cycles are those that a search without any cleverness finds; by chance hardly any node is on one."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from oddhop import Odd, read_network
from oddhop.graph.events import DAY
from oddhop.odd import cycle
from oddhop.odd.cycle import cycle_from, find_cycles, sent_events
from oddhop.tables.settings import ReadSettings

pytestmark = pytest.mark.kernels
HOUR = 3_600


def payments(rows: list[tuple[int, int, int, float]]) -> pa.Table:
    source, target, second, amount = zip(*rows, strict=True)
    when = np.datetime64("2026-01-01", "s") + np.array(second)
    return pa.table({"source": source, "target": target, "when": when, "amount": np.array(amount)})


def people(count: int) -> pa.Table:
    return pa.table({"id": range(count), "x": np.arange(count) * 1.0})


def events_of(rows: list[tuple[int, int, int, float]], count: int):
    return read_network(payments(rows), people(count), directed=True).graph.events


def begins_a_cycle(rows: list[tuple[int, int, int, float]], start: int) -> bool:
    """Follow every way from an event, without limits."""
    begin = rows[start]

    def onward(path: list[int]) -> bool:
        last = rows[path[-1]]
        for k, (a, b, second, amount) in enumerate(rows):
            fits = a == last[1] and last[2] <= second <= begin[2] + 7 * 24 * HOUR
            if not fits or abs(amount - last[3]) > 0.2 * abs(last[3]) or k in path:
                continue
            if b == begin[0]:
                if len(path) + 1 >= 3:
                    return True
            elif len(path) + 1 < 6 and b not in {rows[i][1] for i in path} and onward([*path, k]):
                return True
        return False

    return begin[0] != begin[1] and onward([start])


@pytest.mark.parametrize("seed", range(20))
def test_every_event_that_begins_a_cycle_is_found(seed: int) -> None:
    rng = np.random.default_rng(seed)
    nodes, count = 6, 26
    rows = [
        (int(a), int(b), int(second), float(amount))
        for a, b, second, amount in zip(
            rng.integers(0, nodes, count),
            rng.integers(0, nodes, count),
            np.sort(rng.choice(20 * 24 * HOUR, count, replace=False)),
            rng.choice([100.0, 95.0, 84.0, 50.0], count),
            strict=True,
        )
        if a != b
    ]
    events = events_of(rows, nodes)
    cycles, sent = find_cycles(events, nodes), sent_events(events)
    found = sum(bool(cycle_from(sent, e)) for e in range(sent.partners.size))
    assert found == sum(begins_a_cycle(rows, k) for k in range(len(rows)))
    assert cycles.truncated == 0
    for node in np.flatnonzero(cycles.counts):
        steps = cycle_from(sent, int(cycles.first[node]))
        source = np.searchsorted(sent.indptr, steps, side="right") - 1
        assert node in source
        assert 3 <= len(steps) <= 6
        assert (np.diff(sent.times[steps]) >= 0).all()
        assert sent.times[steps[-1]] - sent.times[steps[0]] <= 7 * DAY
        assert (sent.partners[steps] == np.roll(source, -1)).all()


def test_without_direction_or_time_there_is_no_view() -> None:
    rows = [(0, 1, 0, 1.0), (1, 2, 1, 1.0), (2, 0, 2, 1.0)]
    assert find_cycles(read_network(payments(rows), people(3), directed=False).graph.events, 3) is None
    timeless = payments(rows).drop_columns(["when"])
    assert find_cycles(read_network(timeless, people(3), directed=True).graph.events, 3) is None
    assert find_cycles(None, 3) is None


def test_a_search_that_is_cut_short_is_counted() -> None:
    rows = [(0, 1, 0, 1.0), (70, 0, 9, 9.0)] + [(1, k, 1, 1.0) for k in range(2, 71)]
    rows += [(k, 70, 2, 5.0) for k in range(2, 70)] + [(70, 0, 3, 1.0)]
    assert find_cycles(events_of(rows, 71), 71).truncated == 1


def made_up(seed: int, planted: bool, nodes: int = 400) -> tuple[pa.Table, pa.Table]:
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, nodes, (2, 3_000))
    rows = [
        (int(a), int(b), int(s), float(x))
        for a, b, s, x in zip(*ends, rng.integers(0, 28 * 24 * HOUR, 3_000), rng.lognormal(4, 1, 3_000), strict=True)
    ]
    if planted:
        members = [3, 90, 177, 264, 351]
        for turn in range(2):
            steps = zip(members, members[1:] + members[:1], strict=True)
            rows += [(a, b, (10 + 3 * turn) * 24 * HOUR + k * HOUR, 900.0 * 0.97**k) for k, (a, b) in enumerate(steps)]
    table = pa.table({"id": range(nodes), "x": rng.normal(size=nodes)})
    return payments(rows), table


def test_a_planted_cycle_leads_the_list_and_is_named() -> None:
    edges, nodes = made_up(0, planted=True)
    detector = Odd(random_state=0, simulate=False).fit(edges, nodes=nodes)
    first = detector.result_.slice(0, 5)
    assert sorted(first["id"].to_pylist()) == [3, 90, 177, 264, 351]
    assert set(first["kind"].to_pylist()) == {"cycle"}
    assert detector.explain(90).cycle == (3, 90, 177, 264, 351)


def test_cycles_are_searched_once_for_a_fit_and_its_explanations(monkeypatch: pytest.MonkeyPatch) -> None:
    searches = []
    monkeypatch.setattr(cycle, "sent_events", lambda events: (searches.append(1), sent_events(events))[1])
    edges, nodes = made_up(0, planted=True)
    network = read_network(edges, nodes)
    detector = Odd(random_state=0, simulate=False).fit(network)
    detector.explain(90)
    detector.explain(3)
    assert len(searches) == 1
    other = read_network(edges.slice(1), nodes, encoding=network.encoding)
    fresh = Odd(random_state=0, simulate=False).fit(network)
    fresh.score_samples(other)
    assert len(searches) == 3  # another network has cycles of its own


@pytest.mark.parametrize("seed", range(5))
def test_rows_are_put_in_the_order_of_time_partner_and_amount(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 40, 30)
    indptr, count = np.concatenate([[0], np.cumsum(sizes)]), int(sizes.sum())
    times, partners = rng.integers(0, 5, count), rng.integers(0, 4, count)
    amounts = rng.choice([1.0, 2.0, np.nan, np.inf], count)
    order = np.empty(count, dtype=np.int64)
    cycle._order_rows(indptr, times, partners, amounts, order)
    rows = np.repeat(np.arange(sizes.size), sizes)
    assert (order == np.lexsort((amounts, partners, times, rows))).all()


@pytest.mark.slow
def test_by_chance_a_small_p_value_is_as_rare_as_it_says() -> None:
    # 20 networks of 400 nodes: 8,000 p-values, of which .01 are 80; a cycle has several nodes, so the spread is wide.
    small = 0
    for seed in range(20):
        events = read_network(*made_up(seed, planted=False)).graph.events
        small += int((find_cycles(events, 400).log_p <= np.log(0.01)).sum())
    assert small <= 160


def test_the_settings_of_reading_decide_the_amount() -> None:
    rows = [(0, 1, 0, 100.0), (1, 2, HOUR, 98.0), (2, 0, 2 * HOUR, 97.0)]
    other = payments(rows).append_column("fee", pa.array([1.0, 9.0, 50.0]))
    by_amount = read_network(other, people(3), amount=("amount", "fee"), directed=True).graph.events
    by_fee = read_network(other, people(3), amount=("fee", "amount"), directed=True).graph.events
    assert find_cycles(by_amount, 3).counts.tolist() == [1, 1, 1]
    assert find_cycles(by_fee, 3).counts.tolist() == [0, 0, 0]
    assert ReadSettings(amount=("fee",)).amount == ("fee",)
