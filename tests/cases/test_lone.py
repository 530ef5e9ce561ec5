"""What is said of strangers, outliers and accounts that were opened together is counted again in the tables."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta
from statistics import median

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oddhop import Graph, Network, read_network
from oddhop.cases.case import Case, Fact
from oddhop.cases.find import CaseFinder
from oddhop.cases.lone import like_it, lone_headline
from oddhop.cases.nouns import Words, nouns_of
from oddhop.explain.columns import Columns
from oddhop.explain.explanation import Explanation
from tests.cases.small_bank import MULE, bank, case_of, everyday, explained

TRADES = ("bakery", "garage", "hotel")
COUNT = 30


def accounts(rows: list[tuple[str, int | None, int]]) -> Network:
    """Return accounts with a trade, an income that may be missing and a date; each pays the next one."""
    names = [f"a{k:02d}" for k in range(len(rows))]
    trade, income, days = zip(*rows, strict=True)
    nodes = pa.table(
        {
            "account": names,
            "trade": trade,
            "income": pa.array(income, pa.int64()),
            "opened": [datetime(2015, 1, 1) + timedelta(days=day) for day in days],
        }
    )
    return read_network(pa.table({"payer": names, "payee": [*names[1:], names[0]]}), nodes, directed=True)


def case_for(network: Network, why: Explanation) -> Case:
    ids = network.ids.to_pylist()
    result = pa.table({"id": ids, "score": np.zeros(len(ids)), "judged": np.ones(len(ids), dtype=bool)})
    (case,) = CaseFinder(network, result, nouns_of(network, "payments.csv", "accounts.csv")).find([why]).cases
    return case


def differing(network: Network, kind: str, name: str, *columns: str, far: int = 0, degree: int = 3) -> Explanation:
    """Return an explanation of an account that differs in some columns from the first few accounts."""
    known, node = Columns(network), network.numbers([name])[0]
    spans = {one.name: one for one in known.spans}
    told = (known.difference(spans[one], node, np.arange(degree), "", -9.0) for one in columns)
    return replace(explained(name, kind), columns=tuple(told), far=far, degree=degree)


row = st.tuples(st.sampled_from(TRADES), st.none() | st.integers(1, 40), st.integers(0, 40))
tables = st.lists(row, min_size=COUNT, max_size=COUNT)


def alike(rows: list[tuple[str, int | None, int]], columns: list[str]) -> int:
    """Count the rows like the first one: the same trade, an income or a date as far on its side of the median."""
    own, many = rows[0], 0
    middles = [median(one[k] for one in rows if one[k] is not None) for k in (1, 2)]
    for one in rows:
        same = {"trade": one[0] == own[0]}
        for name, k in (("income", 1), ("opened", 2)):
            high = own[k] is not None and own[k] >= middles[k - 1]
            if own[k] is None or one[k] is None:
                same[name] = own[k] is None and one[k] is None
            else:
                same[name] = one[k] >= own[k] if high else one[k] <= own[k]
        many += all(same[name] for name in columns)
    return many


@given(tables, st.permutations(("trade", "income", "opened")))
@settings(max_examples=40, deadline=None)
def test_a_combination_of_values_is_counted(rows: list[tuple[str, int | None, int]], order: list[str]) -> None:
    missing = sum(one[1] is None for one in rows)
    assume(10 <= missing < COUNT - 2)  # so that a gap is a value of its own, and there is a median
    assume(len({one[2] for one in rows}) > 2 and len({one[1] for one in rows}) > 3)
    network = accounts(rows)
    known = [name for name in order if name in {one.name for one in Columns(network).spans}][:2]
    assert like_it(Columns(network), 0, known) == (alike(rows, known), COUNT)
    case = case_for(network, differing(network, "outlier", "a00", *known))
    said = re.search(r"\((\d+) of (\d+) accounts\)", case.headline)
    if said:
        assert [int(one) for one in said.groups()] == [alike(rows, known), COUNT]
        assert alike(rows, known) <= 0.05 * COUNT


ROWS = [("hotel" if k > 49 else TRADES[k % 2], 20 + k % 7, k) for k in range(60)]


def test_a_stranger_is_told_by_those_that_are_unlike_it() -> None:
    network = accounts([*ROWS, ("hotel", 23, 30)])
    case = case_for(network, differing(network, "stranger", "a60", "trade", far=4, degree=5))
    assert case.pattern == "stranger"
    assert case.headline == "a60 is unlike 4 of the 5 accounts it deals with: its trade is hotel"
    usual = f"Usually it is {TRADES[0]} (3 of 5); {100 * 11 / 61:.0f}% of all accounts have the same."
    (told,) = case.facts
    assert (told.here, told.usual) == ("The “trade” of a60 is hotel.", usual)
    assert (told.count, told.of_whom) == (5, "the 5 accounts it deals with")
    every = case_for(network, differing(network, "stranger", "a60", "trade", far=5, degree=5))
    assert every.headline.startswith("a60 is unlike all 5 accounts it deals with")


def test_a_stranger_to_hardly_anybody_is_told_by_what_differs() -> None:
    network = accounts([*ROWS, ("hotel", 26, 30)])
    case = case_for(network, differing(network, "stranger", "a60", "income", far=1, degree=7))
    usual = median(one[1] for one in ROWS[:7])
    assert case.headline == f"a60 differs from the 7 accounts it deals with: income 26, usually {usual}"


def test_a_value_that_is_rare_is_said_to_be() -> None:
    network = accounts([*ROWS, ("hotel", 23, 900)])
    case = case_for(network, differing(network, "outlier", "a60", "opened", "income"))
    day = f"{datetime(2015, 1, 1) + timedelta(days=900):%Y-%m-%d}"
    assert case.headline == f"a60 has values that are rare here: opened {day}"
    assert case.facts[0].here == f"The “opened” of a60 is {day}."
    assert "98% of all accounts have less" in case.facts[0].usual


@pytest.mark.parametrize("others", [0, 1, 4])
def test_others_opened_in_the_same_week(others: int) -> None:
    young = ["mule", "boss", "v1", *(f"a{60 + k:03d}" for k in range(others))]
    found = [one for one in case_of(bank(MULE, young=young), "mule").next if "same week" in one]
    many = f"{others} account{'s' * (others != 1)}"
    assert found == ([f"The other {many} opened in the same week as 3 members."] if others else [])


def test_hardly_any_money_is_everyday_use() -> None:
    little = [("new", "other", 2.5, 24.0 * 60 + 3, "instant"), ("new", "other", 2.4, 24.0 * 60 + 4, "instant")]
    case = case_of(bank(little), "new")
    middle = median(round(one[2], 2) for one in [*everyday(), *little])
    assert case.reading is not None
    assert (case.reading.could_be, case.reading.likely) == ("It could also be everyday use.", "for")
    assert case.reading.test == f"For it: €4.90 is no more than the median payment here, €{middle:.2f}."


def test_small_things_are_named() -> None:
    network = accounts([*ROWS, ("hotel", 23, 30)])
    why = replace(differing(network, "outlier", "a60", "trade", "income"), kind=None)
    case = case_for(network, why)
    assert case.headline == "a60 is a little unusual in several ways: trade hotel and income 23"


def test_a_flag_that_few_have_needs_nothing_usual() -> None:
    flags = [[float(k == 0), float(k % 2)] for k in range(12)]
    graph = Graph.from_arrays([[0] * 11, list(range(1, 12))], flags, node_ids=[f"n{k}" for k in range(12)])
    why = differing(Network.of(graph), "stranger", "n0", "attribute 0", far=1, degree=11)
    assert case_for(Network.of(graph), why).headline == "n0 differs from the 11 accounts it deals with: attribute 0 yes"


@pytest.mark.parametrize(
    ("here", "usual", "headline"),
    [
        ("a60 paid €12 in all.", "Usually it is €340.", "a60 paid €12 in all; usually it is €340"),
        ("€12 (90%) of what a60 paid was in round amounts.", "Usually 4% does.", "€12 (90%) of what a60 paid was in"),
    ],
)
def test_a_sum_is_said_beside_the_usual_one(here: str, usual: str, headline: str) -> None:
    network = accounts([*ROWS, ("hotel", 23, 30)])
    words = Words(nouns_of(network), network)
    fact = Fact("volume sent", here, usual)
    long, _ = lone_headline(words, Columns(network), 60, explained("a60"), "single", [fact])
    assert long.startswith(headline)
    assert ("usually" in long) == ("usually" in headline)
