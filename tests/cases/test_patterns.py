"""Hand-made schemes in a small bank: who belongs to a case, in which role, and what is said first."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from oddhop.cases.assemble import torn
from oddhop.cases.growth import Draft, gather
from oddhop.cases.surprise import event_book, with_surprise
from oddhop.graph.events import Events
from tests.cases.small_bank import (
    CASH,
    CHAIN,
    COLLECTOR,
    MULE,
    NIGHT,
    RING,
    SPREE,
    Payment,
    bank,
    case_of,
    cases_of,
    ids,
)


@pytest.mark.parametrize(
    ("planted", "flagged", "pattern", "headline"),
    [
        (
            MULE,
            "mule",
            "passed on",
            "6 accounts paid €18,260 by instant payment to mule, silent for 40 days, in 10 days; 97% went on within 2 "
            "hours, to boss",
        ),
        (
            COLLECTOR,
            "shop",
            "fan-in",
            "20 accounts paid €980 by transfer, €49 each, to shop, silent for 50 days, in 4 days, 20 payments",
        ),
        (
            RING,
            "r0",
            "ring",
            "€15,000 by transfer, €5,000 each, went round among 4 accounts in 43 days, 3 rounds, 12 payments",
        ),
        (
            CHAIN,
            "c3",
            "chain",
            "€160,003 passed through 5 accounts in turn in 23 days, 2 rounds; each handed on 97% within 20 hours, at "
            "last to c6",
        ),
        (SPREE, "a077", "fan-out", "a077 paid €11,111 to 12 accounts in 36 hours, 12 payments"),
        (
            NIGHT,
            "n0",
            "passed on",
            "9 accounts paid €40,001 at night by instant payment to 3 accounts in 2 hours; 98% went on within 72 "
            "minutes, to sink",
        ),
        (
            CASH,
            "top",
            "passed on",
            "2 accounts paid €111,900 by cash deposit, each just below €10,000, to 3 accounts in 34 days; 99% went on, "
            "to top",
        ),
    ],
)
def test_a_scheme_is_one_case_of_its_members_and_payments(
    planted: list[Payment], flagged: str, pattern: str, headline: str
) -> None:
    case = case_of(bank(planted), flagged)
    assert (case.pattern, case.headline) == (pattern, headline)
    assert ids(case) == sorted({end for row in planted for end in row[:2]})
    inside = sorted((one.source, one.target, round(one.amount or 0, 2)) for one in case.events if one.inside)
    assert inside == sorted((row[0], row[1], round(row[2], 2)) for row in planted)
    assert case.event_count == len(planted)
    assert len(case.short) <= 60


def test_roles() -> None:
    mule = case_of(bank(MULE), "mule")
    assert (ids(mule, "passes on"), ids(mule, "collects")) == (["mule"], ["boss"])
    assert ids(mule, "pays in") == [f"v{k}" for k in range(6)]
    chain = case_of(bank(CHAIN), "c3")
    assert chain.order == tuple(f"c{k}" for k in range(7))
    assert [one.events for one in chain.runs] == [6, 6]
    ring = case_of(bank(RING), "r0")
    assert ring.order == ("r0", "r1", "r2", "r3")
    assert ids(ring, "ring") == ["r0", "r1", "r2", "r3"]


def test_flagged_members_of_a_scheme_are_one_case() -> None:
    found = cases_of(bank([*MULE, *RING]), "boss", "r1", "mule", "r3", "v2")
    assert [[one.id for one in case.members if one.flagged] for case in found.cases] == [
        ["v2", "mule", "boss"],
        ["r1", "r3"],
    ]
    assert [case.id for case in found.cases] == ["boss", "r1"]


def test_a_shop_at_the_edge_is_a_counterpart() -> None:
    groceries = [(f"a{k:03d}", "mart", 20.0 + k, 24.0 * (k % 90) + 12, "card") for k in range(30, 150)] * 5
    spent = [("mule", "mart", 2_950.0, 24.0 * 45 + 12, "instant")]
    case = case_of(bank([*MULE, *groceries, *spent]), "mule")
    assert "mart" not in ids(case)


def test_without_amounts_and_without_times() -> None:
    untold = case_of(bank(NIGHT, without=("euros",)), "n0")
    assert untold.amount is None
    assert "€" not in untold.headline + untold.short + "".join(one.here + one.usual for one in untold.facts)
    timeless = case_of(bank(RING, without=("booked",)), "r0")
    assert timeless.first is None
    assert not timeless.daily
    assert "days" not in timeless.headline


def test_a_group_that_pays_each_other_is_no_ring() -> None:
    pairs = [(one, other) for one in range(5) for other in range(5) if one != other]
    mutual = [(f"g{a}", f"g{b}", 900.0 + 31.7 * k, 24.0 * (30 + k) + 12, "transfer") for k, (a, b) in enumerate(pairs)]
    case = case_of(bank(mutual), "g0")
    total = sum(row[2] for row in mutual)
    assert (case.pattern, case.order) == ("group", ())
    assert case.headline.startswith(f"5 accounts paid each other 20 times, €{total:,.0f}")
    assert case.headline.endswith("; 10 of their 10 pairs deal with each other")
    assert case.amount == pytest.approx(total, abs=0.01)


def test_a_ring_and_a_farm_that_share_an_account_are_two_cases() -> None:
    pairs = [(one, other) for one in range(5) for other in range(5) if one != other]
    names = ["r0", "g1", "g2", "g3", "g4"]
    farm = [
        (names[a], names[b], 900.0 + 31.7 * k, 24.0 * (22 + 2 * k) + 12, "transfer") for k, (a, b) in enumerate(pairs)
    ]
    found = cases_of(bank([*RING, *farm]), "r0", "r1", "g1", "g2").cases
    assert {tuple(ids(case)) for case in found} == {("r0", "r1", "r2", "r3"), ("g1", "g2", "g3", "g4", "r0")}
    ring, group = sorted(found, key=lambda case: case.pattern != "ring")
    assert (ring.pattern, ring.event_count, group.pattern, group.event_count) == ("ring", 12, "group", 20)
    assert "€5,000 each" in ring.headline
    assert "each," not in group.headline


def test_circles_with_one_member_in_common_are_torn_apart_and_nothing_else_is() -> None:
    def split(rows: list[tuple[int, int]], *seeds: int) -> list[tuple[set[int], int]]:
        source, target = (np.array(side) for side in zip(*rows, strict=True))
        nodes = int(max(source.max(), target.max())) + 1
        book = event_book(Events.of_arcs(source, target, nodes), np.zeros(nodes, dtype=np.int64))
        draft = Draft(tuple(range(nodes)), (), frozenset(range(len(rows))), seeds)
        return sorted(((set(one.members), len(one.events)) for one in torn(book, draft)), key=lambda one: max(one[0]))

    circles = [(0, 1), (1, 2), (2, 0), (0, 3), (3, 4), (4, 0)]
    assert split(circles, 1, 3) == [({0, 1, 2}, 3), ({0, 3, 4}, 3)]
    assert split(circles, 1, 0) == [({0, 1, 2}, 3), ({0, 3, 4}, 3)]
    assert len(split(circles, 1)) == 1  # nothing was flagged in the other
    chain = [(k, k + 1) for k in range(6)]
    assert len(split(chain, 0, 6)) == 1
    assert len(split([*circles, (1, 3), (3, 1)], 1, 4)) == 1


# Two of the buyers' payments at a time go on together, to the outlet, so no amount matches another.
EMPTIED = [("shop", "outlet", 90.0, 24 * 50 + 5.0 * k + 30, "transfer") for k in range(1, 20, 2)]
BACK = [("shop", "v03", 300.0, 24 * 54.0 + 9 * k, "transfer") for k in range(3)]
SPENT = [("shop", f"a{k:03d}", 90.0, 24 * 50 + 10.0 * k + 30, "transfer") for k in range(10)]
LIVES = [("shop", f"a{k:03d}", 11.0 + k, 24.0 * (4 * k + 1) + 12, "card") for k in range(20)]
WAGES = [(f"w{k}", "clerk", 2_000.0, 24.0 * (2 + 30 * month) + 30, "transfer") for month in range(3) for k in range(3)]
PAYROLL = [
    *(("firm", f"w{k}", 2_030.0, 24.0 * (2 + 30 * month) + 9, "transfer") for month in range(3) for k in range(3)),
    *(("firm", f"a{k:03d}", 2_030.0, 24.0 * (2 + 30 * month) + 9, "transfer") for month in range(3) for k in range(9)),
]


def gathered(planted: list[Payment], seed: str, usual: set[tuple[str, str]]) -> tuple[set[str], set[tuple[str, str]]]:
    """Return the members and the pairs of a draft; the payments between some pairs do not surprise."""
    network = bank(planted)
    assert network.graph.events is not None
    book = with_surprise(event_book(network.graph.events, np.zeros(network.graph.node_count, dtype=np.int64)))
    names = [str(network.name(node)) for node in range(book.nodes)]
    pairs = [(names[a], names[b]) for a, b in zip(book.source.tolist(), book.target.tolist(), strict=True)]
    quiet = np.where([pair in usual for pair in pairs], 0.0, book.surprise)
    draft = gather(replace(book, surprise=quiet), names.index(seed), np.ones(book.nodes, dtype=bool))
    return {names[node] for node in draft.members}, {pairs[event] for event in draft.events}


@pytest.mark.parametrize(("sent", "joins"), [(EMPTIED, {"outlet"}), (SPENT, set()), (BACK, set())])
def test_the_one_to_whom_the_money_of_a_case_went_on_joins_and_those_who_share_it_do_not(
    sent: list[Payment], joins: set[str]
) -> None:
    pairs = {row[:2] for row in (*sent, *LIVES)}
    members, found = gathered([*COLLECTOR, *sent, *LIVES], "shop", pairs)
    assert {row[:2] for row in COLLECTOR} <= found
    assert found & pairs == {("shop", one) for one in joins}
    assert {one for one in members if not one.startswith("v")} == {"shop", *joins}


def test_what_a_member_handed_on_came_from_somebody_of_the_case() -> None:
    usual = {("firm", "w2"), *((row[0], row[1]) for row in PAYROLL if row[1].startswith("a"))}
    members, found = gathered([*WAGES, *PAYROLL], "clerk", usual)
    assert members >= {"clerk", "w0", "w1", "w2"}
    assert found == {row[:2] for row in (*WAGES, *PAYROLL) if not row[1].startswith("a")}


@pytest.mark.parametrize("seed", [1, 2, 11, 12])
def test_a_headline_counts_payments_that_there_are(seed: int) -> None:
    """Those whom a payer paid are drawn together by what they paid themselves, and need not have paid each other."""
    rng, paid = np.random.default_rng(seed), []
    for _ in range(3):
        payer, count = f"a{rng.integers(30, 150):03d}", int(rng.integers(4, 12))
        for _ in range(count):
            payee, euros = f"a{rng.integers(0, 150):03d}", float(rng.choice([600.0, 900.0, 250.0]))
            hours = 24.0 * rng.integers(5, 80) + float(rng.uniform(0, 40))
            paid.append((payer, payee, euros, hours, "instant"))
    payers = sorted({one[0] for one in paid})
    for case in cases_of(bank([one for one in paid if one[0] != one[1]]), *payers).cases:
        assert not re.search(r"\b0 (times|payments)\b|€0\b", case.headline), case.headline
