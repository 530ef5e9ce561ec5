"""What holds for all cases: any order of rows, the caps, events and members belong together, money is counted once."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oddhop.cases.case import Case, Cases
from oddhop.cases.growth import gather
from oddhop.cases.store import FILE, read_cases, write_cases
from oddhop.cases.surprise import event_book, tail, with_surprise
from oddhop.errors import RunFolderError
from oddhop.graph.events import Events
from tests.cases.small_bank import CHAIN, MULE, NIGHT, RING, bank, case_of, cases_of


@pytest.fixture(scope="module")
def found() -> Cases:
    return cases_of(bank([*MULE, *RING, *CHAIN, *NIGHT]), "mule", "r1", "c2", "n1", "a031", "a099")


def test_the_order_of_rows_does_not_matter(found: Cases) -> None:
    again = cases_of(bank([*MULE, *RING, *CHAIN, *NIGHT], order=3), "mule", "r1", "c2", "n1", "a031", "a099")
    assert again == found


def test_events_join_members_and_counterparts(found: Cases) -> None:
    for case in found.cases:
        known = {one.id for one in case.members} | {name for one in case.outside for name in one.ids}
        inside = [one for one in case.events if one.inside]
        assert len(inside) + case.more_events == case.event_count
        assert all({one.source, one.target} <= known for one in inside)
        ends = {end for one in inside for end in (one.source, one.target)}
        assert all(one.id in ends or one.flagged for one in case.members)


def test_members_add_up_to_the_events(found: Cases) -> None:
    for case in found.cases:
        inside = [one for one in case.events if one.inside]
        for member in case.members:
            sent = sum(one.amount or 0.0 for one in inside if one.source == member.id)
            received = sum(one.amount or 0.0 for one in inside if one.target == member.id)
            count = sum(member.id in (one.source, one.target) for one in inside)
            assert (member.sent, member.received, member.events) == (
                pytest.approx(sent),
                pytest.approx(received),
                count,
            )


def test_money_is_counted_once(found: Cases) -> None:
    """What givers gave beyond what they got, whatever stations the money passed; in a ring the mean of its steps."""
    for case in found.cases:
        inside = [one for one in case.events if one.inside]
        if not inside:
            continue
        if case.pattern == "ring":
            assert case.amount == pytest.approx(sum(one.amount or 0 for one in inside) / len(case.order), abs=0.01)
            continue
        if case.pattern == "group" and len({one.source for one in inside} & {one.target for one in inside}) > 1:
            continue
        balance: dict[object, float] = {}
        for one in inside:
            balance[one.source] = balance.get(one.source, 0.0) + (one.amount or 0.0)
            balance[one.target] = balance.get(one.target, 0.0) - (one.amount or 0.0)
        assert case.amount == pytest.approx(sum(max(0.0, value) for value in balance.values()), abs=0.01)


def test_days_add_up_to_the_events_of_the_focus(found: Cases) -> None:
    case = next(one for one in found.cases if one.id == "mule")
    inside = sum(one.amount or 0.0 for one in case.events if one.inside)
    assert sum(one[1] for one in case.daily) == pytest.approx(inside)


def test_texts_keep_to_their_length(found: Cases) -> None:
    for case in found.cases:
        assert 0 < len(case.headline) <= 120
        assert 0 < len(case.short) <= 60
        assert len(case.facts) <= 3
        assert "node" not in case.headline.split()


def test_cases_have_caps() -> None:
    crowd = [(f"q{k:03d}", "hub", 75.0, 24 * 50 + 0.05 * k, "transfer") for k in range(700)]
    case = case_of(bank(crowd), "hub")
    assert len(case.members) <= 80
    assert sum(one.inside for one in case.events) <= 300
    assert sum(not one.inside for one in case.events) <= 200
    assert case.event_count == sum(one.inside for one in case.events) + case.more_events


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=15, deadline=None)
def test_a_draft_is_small_and_has_its_seed_whatever_the_network(seed: int) -> None:
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(3, 60))
    source, target = rng.integers(0, nodes, (2, int(rng.integers(3, 300))))
    if (source == target).all():
        return
    book = with_surprise(event_book(Events.of_arcs(source, target, nodes), np.zeros(nodes, dtype=np.int64)))
    assert (book.surprise >= 0).all()
    draft = gather(book, 0, np.ones(nodes, dtype=bool))
    assert draft.members[0] == 0
    assert len({*draft.members}) == len(draft.members) <= 80
    assert not {*draft.members} & {*draft.outside}
    ends = {int(end) for k in draft.events for end in (book.source[k], book.target[k])}
    assert ends == ({*draft.members, *draft.outside} if draft.events else ends)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2)), min_size=1, max_size=40))
def test_a_tail_share_counts_those_with_as_much(rows: list[tuple[int, int]]) -> None:
    stat, group = (np.array(column) for column in zip(*rows, strict=True))
    for share, value, one in zip(tail(stat.astype(float), group), stat, group, strict=True):
        same = stat[group == one]
        assert share == pytest.approx(min(1.0, ((same >= value).sum() + 0.5) / same.size))


def test_a_file_of_cases_is_read_as_it_was_written(found: Cases, tmp_path: Path) -> None:
    write_cases(found, tmp_path)
    assert read_cases(tmp_path) == found


@pytest.mark.parametrize(
    "damage",
    [
        lambda document: document | {"schema": 99},
        lambda document: document | {"more": 1},
        lambda document: document | {"cases": [{"id": 3}]},
        lambda document: document | {"nouns": {}},
        lambda document: [document],
    ],
)
def test_a_file_that_is_no_file_of_cases_is_refused(damage, tmp_path: Path) -> None:
    document = asdict(Cases((Case("a", 1, "single", "It stands out", "It stands out", ()),)))
    (tmp_path / FILE).write_text(json.dumps(damage(json.loads(json.dumps(document)))))
    with pytest.raises(RunFolderError):
        read_cases(tmp_path)
