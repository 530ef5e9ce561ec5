"""The drawing of a case: what it shows and counts, where its marks are, and that nothing in a table can harm it."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oddhop.cases.case import Case, CaseEvent, Cases, Counterpart, Fact, Member, Nouns
from oddhop.cases.drawing.flows import DRAWN, flows_of
from oddhop.cases.drawing.page import card, page_of
from oddhop.cases.drawing.picture import drawn
from oddhop.cases.drawing.when import NOMINAL, PAD, when
from oddhop.cases.words import amount_text, short_id, short_window, window_text
from tests.cases import model
from tests.reports.conftest import HARMFUL

ALL = [model.burst(), model.chain(), model.ring(), model.florist(), model.group(), model.group(14), model.collector()]
START = datetime(2026, 3, 2)


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def tags(case: Case, cases: Cases) -> Tags:
    found = Tags()
    found.feed(f"{card(case, cases)}{page_of(replace(cases, cases=(case, case))).partition('<body>')[2]}")
    return found


def around(*cases: Case) -> Cases:
    return Cases(cases, model.NOUNS, 20_000, 120_413, model.FIRST, model.LAST)


@pytest.mark.parametrize("case", ALL, ids=[one.id + str(len(one.members)) for one in ALL])
def test_a_card_has_no_script_no_style_and_loads_nothing(case: Case) -> None:
    found = tags(case, around(case))
    assert not {"script", "img", "iframe", "object", "link", "style", "image", "use"} & set(found.names)
    assert not [name for name, _ in found.attributes if name.startswith("on") or name in ("style", "src")]
    assert all(value is not None and value.startswith("#") for name, value in found.attributes if "href" in name)
    assert not re.search(r"url\(|@import|expression", page_of(around(case)))


@pytest.mark.parametrize("harm", HARMFUL)
def test_whatever_a_table_says_stays_text(harm: str) -> None:
    names = (harm, f"{harm}2")
    case = Case(
        harm,
        1,
        "fan-in",
        harm,
        harm,
        (Member(names[0], "pays in", harm, harm, sent=5.0), Member(names[1], "collects", profile=harm, received=5.0)),
        focus=names[1:],
        events=(CaseEvent(*names, "2026-03-02T10:00:00", 5.0, harm), CaseEvent(*names, "2026-03-03T10:00:00", 7.0)),
        outside=(Counterpart(2, harm, "is paid"),),
        facts=(Fact("x", harm, harm),),
        next=(harm,),
        status=harm,
    )
    found = tags(case, Cases((case,), Nouns(*[harm] * 7), 2))
    assert not {"script", "img"} & set(found.names)
    assert not [name for name, _ in found.attributes if name.startswith("on") or name in ("style", "src")]
    assert found.texts.count(harm) >= 3


def test_at_most_twelve_members_are_drawn_and_the_others_are_summed_up() -> None:
    case = model.collector(40)
    found = flows_of(case, model.NOUNS)
    members = [one for one in found.places if one.look != "out"]
    assert len([one for one in members if one.count == 1]) <= DRAWN
    assert sum(one.count for one in members) == len(case.members)
    inside = [one for one in found.flows if found.places[one.target].name == case.focus[0]]
    assert sum(one.amount or 0.0 for one in inside) == pytest.approx(case.amount)
    assert sum(one.count for one in inside) == case.event_count
    assert found.places[-1].count == case.outside[0].count


def test_other_events_of_the_members_are_in_no_line() -> None:
    case = model.burst()
    more = tuple(replace(one, inside=False) for one in case.events)
    assert flows_of(replace(case, events=case.events + more), model.NOUNS) == flows_of(case, model.NOUNS)
    found = when(replace(case, events=case.events + more), around(case))
    assert found is not None
    assert sum(dot.look == "usually" for dot in found.dots) == len(more)


@pytest.mark.parametrize("case", ALL, ids=[one.id + str(len(one.members)) for one in ALL])
def test_boxes_do_not_overlap_and_stay_in_the_picture(case: Case) -> None:
    pictures = drawn(case, model.NOUNS).pictures
    assert [one.look for one in pictures] == ["wide", "tall"]
    for picture in pictures:
        for box in picture.boxes:
            assert box.x >= 0
            assert box.x + box.width <= picture.width + 0.1
            assert box.y + box.height <= picture.height
        for a in picture.boxes:
            for b in picture.boxes:
                apart = a.x + a.width <= b.x or b.x + b.width <= a.x or a.y + a.height <= b.y or b.y + b.height <= a.y
                assert a is b or apart or case.pattern == "group"


def test_money_goes_from_left_to_right() -> None:
    picture = drawn(model.burst(), model.NOUNS).pictures[0]
    x = {box.title: box.x for box in picture.boxes}
    assert x["A00871"] < x["A19610"] < x["A19233"]


def test_a_chain_is_drawn_in_its_order_and_a_ring_comes_back() -> None:
    for case, back in ((model.chain(), 0), (model.ring(), 1)):
        wide, tall = drawn(case, model.NOUNS).pictures
        assert [box.title for box in wide.boxes] == [box.title for box in tall.boxes] == list(case.order)
        assert all(a.x < b.x for a, b in pairwise(wide.boxes))
        assert all(a.y < b.y for a, b in pairwise(tall.boxes))
        assert len(wide.strokes) == len(case.order) - 1 + back


def test_a_long_path_takes_two_rows_and_counts_what_it_leaves_out() -> None:
    names = tuple(f"n{k}" for k in range(15))
    rows = [(a, b, f"2026-03-02T{k:02}:00:00", 10.0) for k, (a, b) in enumerate(pairwise(names))]
    members = tuple(model.member(one, "passes on", rows) for one in names)
    case = Case("x", 1, "chain", "", "", members, order=names, events=model.events(rows), event_count=14)
    picture = drawn(case, model.NOUNS).pictures[0]
    assert len(picture.boxes) == DRAWN
    assert len({box.y for box in picture.boxes}) == 2
    assert any("3" in one.text for one in picture.labels)
    assert drawn(case, model.NOUNS).not_drawn == 3


def test_a_case_without_events_has_no_axis_and_one_without_ties_no_picture() -> None:
    case = model.group()
    assert when(case, around(case)) is None
    assert drawn(replace(case, ties=()), model.NOUNS).pictures == ()
    assert "figure" not in tags(replace(case, ties=()), around()).names


MOMENTS = st.lists(st.integers(0, 60 * 24 * 90), min_size=1, max_size=40)


@settings(max_examples=60, deadline=None)
@given(MOMENTS, st.lists(st.sampled_from([1.0, 3.0, 250.0, None]), min_size=40, max_size=40))
def test_the_marks_of_the_axis_are_where_the_times_are(minutes: list[int], amounts: list[float | None]) -> None:
    times = [(START + timedelta(minutes=one)).isoformat() for one in minutes]
    rows = tuple(CaseEvent(*(("a", "f") if k % 3 else ("f", "b")), time, amounts[k]) for k, time in enumerate(times))
    case = Case("x", 1, "fan-in", "", "", (Member("f", "collects", flagged=True),), focus=("f",), events=rows)
    found = when(case, around(case))
    assert found is not None
    assert len(found.dots) == len(rows)
    assert all(PAD <= dot.x <= 100 - PAD for dot in found.dots)
    drawn_at = sorted(dot.x for dot in found.dots)
    at = sorted(datetime.fromisoformat(one) for one in times)
    spread = (at[-1] - at[0]) / timedelta(minutes=1)
    if spread:
        shares = [(one - at[0]) / timedelta(minutes=1) / spread for one in at]
        width = drawn_at[-1] - drawn_at[0]
        assert [(x - drawn_at[0]) / width for x in drawn_at] == pytest.approx(shares, abs=0.02)
    for a in found.dots:
        assert (a.y < 0) == ("to f" in a.label)
        for b in found.dots:
            apart = ((a.x - b.x) / 100 * NOMINAL) ** 2 + (a.y - b.y) ** 2
            assert a is b or apart >= (a.r + b.r - 0.4) ** 2 or max(found.above, found.below) > 96
    assert [x for x, _ in found.ticks] == sorted(x for x, _ in found.ticks)
    assert len(found.ticks) <= 10


def test_ticks_stand_at_the_full_hours_that_they_name() -> None:
    case = model.burst()
    found = when(case, around(case))
    assert found is not None
    place = {datetime.fromisoformat(one.time or ""): None for one in case.events}
    minutes = [int(word[:2]) * 60 + int(word[3:]) for _, word in found.ticks]
    (x0, _), (x1, _) = found.ticks[0], found.ticks[-1]
    first = min(place)
    expected = x0 + (first.hour * 60 + first.minute - minutes[0]) / (minutes[-1] - minutes[0]) * (x1 - x0)
    assert min(dot.x for dot in found.dots) == pytest.approx(expected, abs=0.02)
    assert found.band_word == "night"
    assert found.bands == ((0.0, 100.0),)


def test_days_without_hours_have_no_nights_and_events_without_amounts_are_equal() -> None:
    case = model.collector(20)
    found = when(replace(case, events=tuple(replace(one, amount=None) for one in case.events)), around(case))
    assert found is not None
    assert found.band_word != "night"
    assert len({dot.r for dot in found.dots}) == 1
    assert found.largest is None


def test_the_strip_has_all_days_of_the_period_and_the_lens_stands_over_the_window() -> None:
    case = model.burst()
    found = when(case, around(case))
    assert found is not None
    assert found.strip is not None
    assert found.strip[1].count("M") == 1
    assert found.lens is not None
    day = PAD + (datetime(2026, 4, 14) - datetime(2026, 1, 1)).days / 120 * (100 - 2 * PAD)
    assert day <= found.lens[0] <= found.lens[1] <= day + 1


def test_a_burst_of_hundreds_stays_small_and_is_counted() -> None:
    rows = [("a", "f", f"2026-03-02T10:{k % 60:02}:00", 5.0) for k in range(260)]
    case = Case(
        "x", 1, "fan-in", "", "", (Member("f", "collects"),), focus=("f",), events=model.events(rows), more_events=7
    )
    found = when(case, around(case))
    assert found is not None
    assert len(found.dots) + found.not_drawn == 267
    assert found.above < 250


def test_amounts_and_spans_in_words() -> None:
    assert amount_text(999.99, Nouns(unit="€")) == "€1,000"
    assert amount_text(0.5, Nouns(unit="kWh")) == "0.50 kWh"
    assert window_text("2026-04-14T02:06:00", "2026-04-14T03:09:00") == "14 April 2026, 02:06 to 03:09"
    assert window_text("2025-12-30", "2026-01-02", hours=False) == "30 December 2025 to 2 January 2026"
    assert short_window(model.burst()) == "14 Apr 02:06"
    assert short_id("x" * 30 + "end").endswith("end")


@given(st.text(min_size=1, max_size=60), st.integers(4, 30))
def test_a_shortened_id_is_never_longer(name: str, most: int) -> None:
    assert len(short_id(name, most)) <= max(most, 1)


ROLES = ("pays in", "passes on", "collects", "is paid", "group")


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_roles_and_events_can_be_drawn(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 14))
    roles = data.draw(st.lists(st.sampled_from(ROLES), min_size=size, max_size=size))
    others = data.draw(st.lists(st.sampled_from(ROLES[:1] + ROLES[2:4]), max_size=3))
    ends = st.tuples(st.integers(0, size - 1 + len(others)), st.integers(0, size - 1 + len(others)))
    events = tuple(
        CaseEvent(f"A{source}", f"A{target}", f"2026-04-{1 + day:02d}", 10.0)
        for day, (source, target) in enumerate(data.draw(st.lists(ends, max_size=25)))
    )
    members = tuple(Member(f"A{k}", role) for k, role in enumerate(roles))
    outside = tuple(Counterpart(1, "", role, 5.0, (f"A{size + k}",)) for k, role in enumerate(others))
    pattern = data.draw(st.sampled_from(["passed on", "fan-in", "group"]))
    one = Case("A0", 1, pattern, "What happened", "What", members, events=events, outside=outside, amount=10.0)
    for picture in drawn(one, Nouns()).pictures:
        assert {box.x + box.width <= picture.width + 1 and box.x >= 0 for box in picture.boxes} == {True}


def test_levels_that_find_no_column_share_one() -> None:
    chain = ["pays in", "passes on", "passes on", "passes on", "collects"]
    members = tuple(Member(f"A{k}", role) for k, role in enumerate([*chain, "is paid"]))
    steps = ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5))
    events = tuple(CaseEvent(f"A{a}", f"A{b}", f"2026-04-0{1 + a}", 10.0) for a, b in steps)
    found = drawn(Case("A0", 1, "passed on", "What", "What", members, events=events, amount=10.0), Nouns())
    for picture in found.pictures:
        across = [box.x for box in picture.boxes]
        assert across[0] < across[1] <= across[2] <= across[3] < max(across) == across[5]


def test_what_a_terminal_shows_of_cases_fits_a_line() -> None:
    cases = around(*ALL)
    assert all(len(repr(one)) < 160 and one.headline in repr(one) for one in ALL)
    assert repr(cases).startswith(f"{len(ALL)} cases among 20,000 ")
    assert repr(replace(cases, cases=cases.cases[:1])).startswith("1 case among ")
