"""Every figure in a sentence of a case is that of the tables, counted again here in plain loops."""

from __future__ import annotations

import re
from datetime import datetime
from statistics import mean, median

import numpy as np
import pytest

from oddhop.cases.case import Case, Fact, Nouns
from oddhop.cases.growth import Draft
from oddhop.cases.marks import Marks
from oddhop.cases.nouns import Words, duration, nouns_of, share
from oddhop.cases.readings import sureness
from oddhop.cases.sentences import headlines
from oddhop.cases.shape import shape_of
from oddhop.cases.surprise import event_book
from tests.cases.small_bank import (
    BEGIN,
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
    everyday,
)


def numbers(text: str) -> list[float]:
    return [float(one.replace(",", "")) for one in re.findall(r"(?<![A-Za-z])\d+(?:,\d+)*(?:\.\d+)?(?!\d|:\d)", text)]


def fact(case: Case, measure: str) -> Fact:
    return next(one for one in case.facts if one.measure == measure)


def is_round(value: float) -> bool:
    return value >= 100 and float(f"{value:.1e}") == value


def first_of_pair(rows: list[Payment]) -> list[bool]:
    seen, out = set[tuple[str, str]](), {}
    for k in sorted(range(len(rows)), key=lambda k: rows[k][3]):
        out[k] = rows[k][:2] not in seen
        seen.add(rows[k][:2])
    return [out[k] for k in range(len(rows))]


# Others of the type of the case, so that these are what it is compared with.
TRANSFERS = [
    (f"a{30 + k}", f"a{60 + k}", 100.0 if k % 10 == 0 else 123.45 + k, 24.0 * k + 12, "transfer") for k in range(40)
]
ROUNDS = [(*row[:2], 5_000.0 + 100 * k, *row[3:]) for k, row in enumerate(RING)]


@pytest.mark.parametrize(
    ("planted", "flagged", "measure", "holds"),
    [
        (CASH, "top", "just below a limit", lambda row: 9_000 <= row[2] < 10_000),
        (COLLECTOR, "shop", "equal amounts", lambda row: row[2] == 49.0),
        (NIGHT, "n0", "odd hours", lambda row: row[3] % 24 < 5),
        (CASH, "top", "type", lambda row: row[4] == "cash deposit"),
        (ROUNDS, "r0", "round amounts", lambda row: is_round(row[2])),
    ],
)
def test_shares_of_payments(planted: list[Payment], flagged: str, measure: str, holds) -> None:
    case = case_of(bank([*planted, *TRANSFERS]), flagged)
    inside = {(one.source, one.target, one.amount) for one in case.events if one.inside}
    rest = [row for row in [*everyday(), *TRANSFERS] if (row[0], row[1], round(row[2], 2)) not in inside]
    givers = {one.id for one in case.members if one.role == "pays in"}
    entering = [row for row in planted if not givers or row[0] in givers]
    kinds = {row[4] for row in planted}
    same = [row for row in rest if row[4] in kinds and measure != "type"]
    rest = same if len(same) >= 20 else rest
    told = fact(case, measure)
    assert numbers(told.here)[0] == sum(map(holds, entering)) == len(entering)
    usual = sum(map(holds, rest)) / len(rest)
    assert f"Usually {share(usual) if usual else 'none'} " in told.usual
    assert told.count == len(rest)


def test_first_contact() -> None:
    rows = [*everyday(), *SPREE]
    case = case_of(bank(SPREE), "a077")
    opens = first_of_pair(rows)
    told = fact(case, "new partners")
    assert numbers(told.here) == [len(SPREE)]
    assert share(mean(opens[: -len(SPREE)])) in told.usual


def test_what_was_passed_on() -> None:
    network = bank(NIGHT)
    case = case_of(network, "n0")
    told = fact(case, "passed on to one")
    into, out = (sum(row[2] for row in NIGHT if row[end].startswith("n")) for end in (1, 0))
    waits = []
    for node in ("n0", "n1", "n2"):
        got, gave = ([row[3] for row in NIGHT if row[end] == node] for end in (1, 0))
        waits.append(median(min(later - one for later in gave if later >= one) for one in got))
    part = min(out, into) / into
    money, wait = f"{share(part)} of the €{into:,.0f}", duration(median(waits))
    assert told.here == f"The 3 in the middle passed on {money} received, after {wait} in the median."
    assert share(usual_passed([*everyday(), *NIGHT])) in told.usual
    assert told.count == len({row[1] for row in [*everyday(), *NIGHT]})
    assert f"{share(part)} went on within {wait}, to sink" in case.headline
    for one in case.passed_on:
        got, gave = (sum(row[2] for row in NIGHT if row[end] == one.id) for end in (1, 0))
        assert one.share == pytest.approx(min(1.0, gave / got), abs=1e-4)


def usual_passed(rows: list[Payment]) -> float:
    """Return the mean over all who received anything of the share that went on within six days."""
    sent: dict[str, list[Payment]] = {}
    for row in sorted(rows, key=lambda row: row[3]):
        sent.setdefault(row[0], []).append(row)
    got, on = dict[str, float](), dict[str, float]()
    for payer, payee, euros, hours, _ in rows:
        euros = round(euros, 2)
        later = [row for row in sent.get(payee, []) if row[3] >= hours - 1e-9][:12]
        fits = any(
            row[1] != payer and row[3] - hours <= 144 and -0.01 < np.log(euros / round(row[2], 2)) < 0.3
            for row in later
        )
        got[payee] = got.get(payee, 0.0) + euros
        on[payee] = on.get(payee, 0.0) + euros * fits
    return mean(on[node] / got[node] for node in got)


def test_the_own_past() -> None:
    case = case_of(bank(SPREE), "a077")
    others = [row for row in everyday() if "a077" in row[:2]]
    first, last = min(row[3] for row in SPREE), max(row[3] for row in SPREE)
    apart = [row for row in others if not first <= row[3] <= last]
    told = fact(case, "busiest week")
    assert told.here == f"a077 had {len(SPREE)} payments of this case in {duration(last - first)}."
    assert told.usual.startswith(f"Usually there are fewer: {len(apart)} in the other ")
    amounts = fact(case, "amounts")
    assert numbers(amounts.here) == [round(median(row[2] for row in SPREE))]
    assert numbers(amounts.usual)[0] == pytest.approx(round(median(round(row[2], 2) for row in others), 2), abs=0.01)
    assert amounts.count == len(others)


def test_silence_and_young_accounts() -> None:
    case = case_of(bank(COLLECTOR), "shop")
    every = sorted(row[3] for row in [*everyday(), *COLLECTOR])
    gap = COLLECTOR[0][3] - every[0]
    assert f"shop, silent for {duration(gap)}," in case.headline
    young = case_of(bank(MULE, young=["mule", "boss", "v1"]), "mule")
    told = fact(young, "young members")
    assert numbers(told.here)[:2] == [3, 8]
    assert numbers(told.here)[2] == 90
    assert share(3 / 158) in told.usual
    assert told.count == 158


def test_headline_sums_are_those_of_the_payments() -> None:
    for planted, flagged, into in (
        (MULE, "mule", lambda row: row[1] == "mule"),
        (NIGHT, "n0", lambda row: row[0].startswith("p")),
        (CASH, "top", lambda row: row[0].startswith("d")),
        (CHAIN, "c3", lambda row: row[0] == "c0"),
        (RING, "r0", lambda row: row[0] == "r0"),
        (SPREE, "a077", lambda row: True),
    ):
        case = case_of(bank(planted), flagged)
        total = sum(round(row[2], 2) for row in planted if into(row))
        assert f"€{total:,.0f}" in case.headline
        hours = max(row[3] for row in planted) - min(row[3] for row in planted)
        assert f"in {duration(hours)}" in case.headline


def test_readings_test_the_innocent_one() -> None:
    fresh = case_of(bank(MULE), "mule").reading
    assert fresh is not None
    assert (fresh.likely, numbers(fresh.test)) == ("against", [40, 7])
    shops = sorted({row[1] for row in everyday() if row[0] == "a077"})[:3]
    splurge = [("a077", shops[k % 3], 900.0 + 41.07 * k, 24.0 * 70 + 3.3 * k, "card") for k in range(9)]
    spree = case_of(bank(splurge), "a077")
    assert spree.reading is not None
    begun = (datetime.fromisoformat(spree.first or "") - BEGIN).total_seconds() / 3_600
    known = {row[1] for row in everyday() if row[0] == "a077" and row[3] < begun - 1e-6} & {*shops}
    assert (spree.reading.likely, numbers(spree.reading.test)) == ("for", [len(known), 3])
    ring = case_of(bank(RING), "r0").reading
    assert ring is not None
    assert (ring.likely, numbers(ring.test)) == ("against", [4])
    monthly = [
        (*row[:3], 24.0 * (3 + 30.4 * turn) + 9 + 2 * k, row[4]) for turn in range(3) for k, row in enumerate(RING[:4])
    ]
    regular = case_of(bank(monthly), "r0").reading
    assert regular is not None
    assert (regular.likely, regular.test) == ("for", "For it: it comes back every month, 3 times so far.")


def test_what_is_left_at_the_end() -> None:
    kept = case_of(bank(MULE), "mule").next
    total = sum(round(row[2], 2) for row in MULE if row[1] == "boss")
    assert kept[0].startswith(f"boss: the €{total:,.0f} had not left it by 31 Mar")
    later = [("boss", "a001", 55.0, 24.0 * 80, "card"), ("boss", "a002", 25.0, 24.0 * 81, "card")]
    spent = case_of(bank([*MULE, *later]), "mule").next
    assert spent[0] == f"boss, which received €{total:,.0f} and sent €80 since, by 2 payments."
    assert kept[1] == "One of the 6 accounts that paid: what for?"


@pytest.mark.parametrize(
    ("p", "nodes", "among"), [(1e-9, 600, 600), (1e-2, 600, 100), (2e-3, 10_000, 500), (0.9, 600, 1)]
)
def test_never_rarer_than_the_table_allows(p: float, nodes: int, among: int) -> None:
    network = bank([])
    found = sureness(Words(Nouns(node="account", nodes="accounts"), network), [p], nodes)
    assert found.among == among <= nodes
    assert "million" not in found.sentence


def test_words_come_from_files_and_columns() -> None:
    network = bank([])
    words = nouns_of(network)
    assert (words.node, words.event, words.unit, words.sends) == ("account", "payment", "€", "pays")
    assert nouns_of(network, "x/movie_reviews.csv", "papers.parquet").node == "paper"
    assert nouns_of(network, "x/movie_reviews.csv", "papers.parquet").events == "reviews"
    assert nouns_of(network, "edges.csv", "nodes.csv").node == "account"
    assert nouns_of(network, "flows.csv", "computers.csv").nodes == "computers"


@pytest.mark.parametrize(
    ("hours", "said"),
    [(0.05, "3 minutes"), (2.0, "2 hours"), (36.0, "36 hours"), (240.0, "10 days"), (24 * 365, "12 months")],
)
def test_durations(hours: float, said: str) -> None:
    assert duration(hours) == said


@pytest.mark.parametrize(("part", "said"), [(0.001, "less than 1%"), (0.34, "34%"), (0.998, "over 99%"), (1.0, "100%")])
def test_shares(part: float, said: str) -> None:
    assert share(part) == said


def test_who_gave_and_who_got_need_not_have_dealt_with_each_other() -> None:
    network = bank([("mid", "last", 90.0, 10.0, "card"), ("first", "mid", 100.0, 20.0, "card")])
    assert network.graph.events is not None
    book = event_book(network.graph.events, np.zeros(network.graph.node_count, dtype=np.int64))
    first, mid, last = network.numbers(["first", "mid", "last"]).tolist()
    events = frozenset(int(k) for k in np.flatnonzero((book.source == mid) | (book.source == first)))
    shape = shape_of(book, Draft((first, mid, last), (), events, (mid,)))
    headline, short = headlines(Words(nouns_of(network), network), book, shape, Marks())
    assert (headline, short) == ("3 accounts had 2 payments in 10 hours", "3 accounts had 2 payments")
