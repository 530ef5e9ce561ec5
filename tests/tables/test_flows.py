"""Flow columns are what plain Python makes of the same events, and no form or order of the tables changes them."""

from __future__ import annotations

import datetime as dt
import json
import math
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import oddhop
from oddhop.graph.events import Events
from oddhop.tables.flows import columns as flows
from oddhop.tables.flows import flow_columns, flow_values
from oddhop.tables.ingest import ingest
from oddhop.tables.read import NetworkTables, Roles, read_tables
from oddhop.tables.settings import ReadSettings

pytestmark = pytest.mark.kernels

NAN = math.nan
HOUR, DAY = dt.timedelta(hours=1), dt.timedelta(days=1)
FRIDAY = dt.datetime(2024, 3, 1)


class Event(NamedTuple):
    """A row of an edge table; None for what is missing."""

    source: Any
    target: Any
    time: dt.datetime | None = None
    amounts: tuple[float | None, ...] = ()
    kinds: tuple[str | None, ...] = ()


class Case(NamedTuple):
    """An edge table, and what its columns are."""

    events: list[Event]
    ids: list[Any]
    directed: bool
    amounts: tuple[str, ...] = ()
    time: str | None = None
    kinds: tuple[str, ...] = ()

    @property
    def edges(self) -> pa.Table:
        id_type = pa.string() if isinstance(self.ids[0], str) else pa.int64()
        columns = {
            "source": pa.array([event.source for event in self.events], id_type),
            "target": pa.array([event.target for event in self.events], id_type),
        }
        if self.time:
            columns[self.time] = pa.array([event.time for event in self.events], pa.timestamp("us"))
        for k, name in enumerate(self.amounts):
            columns[name] = pa.array([event.amounts[k] for event in self.events], pa.float64())
        for k, name in enumerate(self.kinds):
            columns[name] = pa.array([event.kinds[k] for event in self.events], pa.string())
        return pa.table(columns)

    @property
    def nodes(self) -> pa.Table:
        return pa.table({"id": self.ids, "age": [20 + 7 * k % 31 for k in range(len(self.ids))]})

    def read(self, **more: Any) -> NetworkTables:
        said = {"directed": self.directed, "amount": self.amounts, "time": self.time, "edge_kind": self.kinds}
        return read_tables(self.edges, self.nodes, ReadSettings(**(said | more)))


# The definitions, as plainly as they can be said.


def share(part: float, whole: float) -> float:
    return part / whole if whole else NAN


def lower_median(values: list[float]) -> float:
    return sorted(values)[(len(values) - 1) // 2] if values else NAN


def is_known(amount: float | None) -> bool:
    return amount is not None and not math.isnan(amount)


def is_round(amount: float) -> bool:
    digits, exponent = f"{amount:.1e}".split("e")
    unit = 10.0 ** (int(exponent) - 1)
    return abs(amount / unit - 10 * float(digits)) <= 1e-6


def partners_of(node: Any, events: list[Event]) -> list[Any]:
    return [event.target if event.source == node else event.source for event in events]


def largest_share_within(width: dt.timedelta, times: list[dt.datetime]) -> float:
    if len(times) < 2:
        return NAN
    return share(max(sum(start <= time < start + width for time in times) for start in times), len(times))


def amount_columns(where: str, amounts: list[float]) -> dict[str, float]:
    return {
        f"{where} sum": sum(amounts),
        f"{where} mean": share(sum(amounts), len(amounts)),
        f"{where} median": lower_median(amounts),
        f"{where} largest": max(amounts, default=NAN),
        f"{where} share of round amounts": share(sum(map(is_round, amounts)), len(amounts)),
    }


def time_columns(times: list[dt.datetime]) -> dict[str, float]:
    times = sorted(times)
    gaps = [(after - before) / HOUR for before, after in pairwise(times)]
    return {
        "days active": (times[-1] - times[0]) / DAY if times else NAN,
        "median gap hours": lower_median(gaps),
        "largest share in an hour": largest_share_within(HOUR, times),
        "largest share in a day": largest_share_within(DAY, times),
        "night share": share(sum(time.hour < 6 for time in times), len(times)),
        "weekend share": share(sum(time.isoweekday() in (6, 7) for time in times), len(times)),
    }


def hours_from_in_to_out(sent: list[Event], received: list[Event]) -> float:
    waits = []
    for came in received:
        later = [went.time - came.time for went in sent if went.time and came.time and went.time >= came.time]
        if later:
            waits.append(min(later) / HOUR)
    return lower_median(waits)


def passed_on_in_a_day(sent: list[Event], received: list[Event]) -> float:
    def moved(event: Event) -> float:
        if not event.amounts:
            return 1.0
        return abs(event.amounts[0]) if is_known(event.amounts[0]) else 0.0

    came = sorted((event.time, moved(event)) for event in received if event.time)
    went = sorted((event.time, moved(event)) for event in sent if event.time)
    left = [amount for _, amount in came]
    taken = 0.0
    for moment, wanted in went:
        for k, (arrival, _) in enumerate(came):
            if moment - DAY <= arrival <= moment:
                part = min(left[k], wanted)
                left[k] -= part
                wanted -= part
                taken += part
    return share(taken, sum(amount for _, amount in came))


def expected_columns(case: Case, node: Any) -> dict[str, float]:
    """Return the flow columns of a node, in their order."""
    events = [e for e in case.events if e.source != e.target and e.source in case.ids and e.target in case.ids]
    sent = [event for event in events if event.source == node]
    received = [event for event in events if event.target == node]
    both = sent + received
    sides = {" out": sent, " in": received} if case.directed else {"": both}
    to, by, every = (set(partners_of(node, some)) for some in (sent, received, both))

    out: dict[str, float] = {}
    for side, some in sides.items():
        partners = Counter(partners_of(node, some))
        out[f"events{side}"] = len(some)
        out[f"partners{side}"] = len(partners)
        largest = max(partners.values(), default=0)
        out[f"largest partner share{side}"] = share(largest, len(some)) if len(some) > 1 else NAN
    out["events per partner"] = share(len(both), len(every))
    if case.directed:
        out["mutual partner share"] = share(len(to & by), len(every))

    for k, name in enumerate(case.amounts):
        for side, some in sides.items():
            out |= amount_columns(f"{name}{side}", [e.amounts[k] for e in some if is_known(e.amounts[k])])
        if case.directed:
            came, went = out[f"{name} in sum"], out[f"{name} out sum"]
            out[f"{name} balance"] = share(came - went, abs(came) + abs(went))

    if case.time:
        out |= time_columns([event.time for event in both if event.time])
    if case.time and case.directed:
        out["hours from in to out"] = hours_from_in_to_out(sent, received)
        out["passed on in a day"] = passed_on_in_a_day(sent, received)

    for k, name in enumerate(case.kinds):
        seen = [event.kinds[k] for event in both]
        for level in sorted({event.kinds[k] for event in case.events} - {None}):
            out[f"{name}={level} share"] = share(seen.count(level), len(seen))
        out[f"{name} values"] = len(set(seen) - {None})
    return out


ROUND = (0.0, 5.0, 10.0, 250.0, 1200.0, 99.0, 100.0, 0.25, 0.003, 7000.0, -30.0, -4500.0)


def random_amount(rng: np.random.Generator) -> float | None:
    missing, is_nan, rounded, negative = rng.random(4)
    if missing < 0.1:
        return NAN if is_nan < 0.3 else None
    if rounded < 0.4:
        return float(rng.choice(ROUND))
    return round(float(rng.lognormal(5, 1)), 2) * (-1 if negative < 0.1 else 1)


def random_time(rng: np.random.Generator, days: int, step: dt.timedelta) -> dt.datetime | None:
    """Return a time that is often a multiple of a step, so that whole hours and days lie between many events."""
    missing, exact = rng.random(2)
    if missing < 0.1:
        return None
    return FRIDAY + int(rng.integers(0, days * DAY // step)) * step + (exact > 0.7) * float(rng.random()) * HOUR


def random_case(seed: int, *, most: int = 60, whole: bool = False) -> Case:
    """Return a small table with faults; a whole one has every column."""
    rng = np.random.default_rng(seed)
    ids = [f"n{k:02d}" for k in range(rng.integers(3, 13))]
    liked = rng.dirichlet(np.full(len(ids), 0.5))
    directed = whole or bool(seed % 2)
    amounts = ("euros", "fee")[: 2 if whole else rng.integers(0, 3)]
    time = "time" if whole or rng.random() < 0.8 else None
    kinds = ("channel", "status")[: 1 if whole else rng.integers(0, 3)]
    if not (directed or amounts or time or kinds):
        amounts = ("euros",)
    days, step = int(rng.integers(1, 6)), (HOUR / 2, 6 * HOUR, 12 * HOUR)[rng.integers(0, 3)]

    def end() -> str | None:
        fault = rng.random()
        return "unknown" if fault < 0.04 else None if fault < 0.07 else str(rng.choice(ids, p=liked))

    def event(source: str | None, target: str | None) -> Event:
        return Event(
            source,
            target,
            random_time(rng, days, step) if time else None,
            tuple(random_amount(rng) for _ in amounts),
            tuple(None if rng.random() < 0.15 else str(rng.choice(["card", "cash", "wire"])) for _ in kinds),
        )

    count = most if whole else int(rng.integers(0, most + 1))
    events = [event(ids[0], ids[1])] * (count > 0) + [event(end(), end()) for _ in range(count - 1)]
    return Case(events, ids, directed, amounts, time, kinds)


@pytest.mark.parametrize("seed", [*range(10), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(10, 50))])
def test_flow_columns_are_what_their_definitions_say(seed: int) -> None:
    case = random_case(seed)
    tables = case.read()
    assert tables.ids.to_pylist() == case.ids
    expected = [expected_columns(case, node) for node in case.ids]
    names = [one.name for one in flow_columns(tables.events.columns)]
    assert names == list(expected[0])
    values = pd.DataFrame(flow_values(tables.events), index=case.ids, columns=names)
    pd.testing.assert_frame_equal(
        values, pd.DataFrame(expected, index=case.ids, dtype=float), check_exact=False, rtol=1e-9, atol=0
    )


@pytest.mark.parametrize("seed", [1, 2])
def test_flow_values_do_not_depend_on_how_many_nodes_are_taken_at_once(seed, monkeypatch):
    events = random_case(seed).read().events
    whole = flow_values(events)
    monkeypatch.setattr(flows, "NODES_AT_ONCE", 2)
    assert np.array_equal(flow_values(events), whole, equal_nan=True)


def test_a_day_of_a_middleman_worked_out_by_hand():
    at = [FRIDAY + k * HOUR for k in (0, 1, 2, 25, 54)]
    case = Case(
        [
            Event("a", "m", at[0], (100.0,), ("in",)),
            Event("b", "m", at[1], (50.5,), ("in",)),
            Event("m", "c", at[2], (120.0,), ("out",)),
            Event("m", "a", at[3], (20.0,), (None,)),
            Event("m", "c", at[4], (7.0,), ("out",)),
        ],
        ["a", "b", "c", "m"],
        True,
        ("euros",),
        "time",
        ("way",),
    )
    events = case.read().events
    got = dict(zip([one.name for one in flow_columns(events.columns)], flow_values(events)[3], strict=True))
    assert got == pytest.approx(
        {
            "events out": 3,
            "partners out": 2,
            "largest partner share out": 2 / 3,
            "events in": 2,
            "partners in": 2,
            "largest partner share in": 1 / 2,
            "events per partner": 5 / 3,
            "mutual partner share": 1 / 3,
            "euros out sum": 147,
            "euros out mean": 147 / 3,
            "euros out median": 20,
            "euros out largest": 120,
            "euros out share of round amounts": 1,
            "euros in sum": 150.5,
            "euros in mean": 75.25,
            "euros in median": 50.5,
            "euros in largest": 100,
            "euros in share of round amounts": 1 / 2,
            "euros balance": (150.5 - 147) / (150.5 + 147),
            "days active": 2.25,
            "median gap hours": 1,
            "largest share in an hour": 1 / 5,
            "largest share in a day": 3 / 5,
            "night share": 4 / 5,
            "weekend share": 2 / 5,
            "hours from in to out": 1,
            "passed on in a day": 140 / 150.5,
            "way=in share": 2 / 5,
            "way=out share": 2 / 5,
            "way values": 2,
        }
    )


def assert_same_events(one: Events | None, other: Events | None) -> None:
    assert one is not None
    assert other is not None
    assert one.columns == other.columns
    for (name, left), (_, right) in zip(one.arrays(), other.arrays(), strict=True):
        assert left.dtype == right.dtype, name
        assert np.array_equal(left, right, equal_nan=left.dtype.kind == "f"), name
    assert np.array_equal(flow_values(one), flow_values(other), equal_nan=True)


def shuffled(table: pa.Table, seed: int) -> pa.Table:
    return table.take(np.random.default_rng(seed).permutation(table.num_rows))


def known(value: Any) -> Any:
    """Return what JSON can say: times as text, and nothing for what is no number."""
    if isinstance(value, dt.datetime):
        return value.isoformat()
    return None if isinstance(value, float) and math.isnan(value) else value


def write_ndjson(table: pa.Table, path: Path) -> Path:
    rows = [{name: known(value) for name, value in row.items()} for row in table.to_pylist()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def write_csv(table: pa.Table, path: Path) -> Path:
    rows = [{name: known(value) for name, value in row.items()} for row in table.to_pylist()]
    pd.DataFrame(rows, columns=table.column_names, dtype=object).to_csv(path, index=False)
    return path


def write_parts(table: pa.Table, folder: Path, parts: int) -> Path:
    folder.mkdir()
    bounds = np.linspace(0, table.num_rows, parts + 1).astype(int)
    for k in range(parts):
        pq.write_table(table.slice(bounds[k], bounds[k + 1] - bounds[k]), folder / f"part-{k}.parquet")
    return folder


@pytest.mark.parametrize("seed", range(3))
def test_no_order_and_no_form_of_the_table_changes_a_bit(seed, tmp_path):
    case = random_case(seed, most=120, whole=True)
    edges, nodes = case.edges, case.nodes
    first = read_tables(edges, nodes)
    assert (first.roles.amount, first.roles.time, first.roles.edge_kind) == (case.amounts, case.time, case.kinds)
    other = shuffled(edges, seed)
    forms = {
        "shuffled": other,
        "parquet": write_parts(other, tmp_path / "parts", 4),
        "csv": write_csv(other, tmp_path / "edges.csv"),
        "ndjson": write_ndjson(other, tmp_path / "edges.ndjson"),
        "pandas": other.to_pandas(),
        "polars": pl.from_arrow(other),
    }
    for form in forms.values():
        tables = read_tables(form, nodes)
        assert_same_events(tables.events, first.events)
        assert (tables.roles, tables.counts) == (first.roles, first.counts)


@pytest.mark.parametrize(
    ("said", "form"),
    [
        ({}, "parquet"),
        ({}, "csv"),
        ({}, "ndjson"),
        ({"directed": False}, "parquet"),
        ({"since": "2024-03-01 12:00", "until": "2024-03-03"}, "csv"),
        ({"keep_unknown": True, "amount": ["fee"]}, "parquet"),
    ],
    ids=str,
)
def test_what_is_ingested_is_what_is_read(said, form, tmp_path):
    case = random_case(5, most=120, whole=True)
    write = {"parquet": lambda table, path: pq.write_table(table, path), "csv": write_csv, "ndjson": write_ndjson}[form]
    paths = tmp_path / f"edges.{form}", tmp_path / f"nodes.{form}"
    for table, path in zip((case.edges, case.nodes), paths, strict=True):
        write(table, path)
    network = oddhop.read_network(*paths, **said)
    ingest(*paths, tmp_path / "graph", ReadSettings(**said))
    graph = oddhop.Graph.open(tmp_path / "graph")
    assert_same_events(graph.events, network.graph.events)
    assert graph.attribute_names == network.graph.attribute_names
    assert graph.flow_count == network.graph.flow_count
    attributes = np.asarray(network.graph.attributes)
    assert graph.attributes.dtype == attributes.dtype
    assert np.asarray(graph.attributes).tobytes() == attributes.tobytes()


@pytest.mark.parametrize("seed", range(3))
def test_cents_in_place_of_euros_change_no_attribute(seed):
    case = random_case(seed, most=120, whole=True)
    cents = case.edges
    for name in case.amounts:
        k = cents.column_names.index(name)
        cents = cents.set_column(k, name, pa.array(100 * cents.column(name).to_numpy()))
    one, two = (oddhop.read_network(edges, case.nodes).graph for edges in (case.edges, cents))
    assert one.attribute_names == two.attribute_names
    assert np.abs(np.asarray(one.attributes, float) - np.asarray(two.attributes, float)).max() <= 1e-6


PEOPLE = pa.table({"id": ["a", "b", "c", "d"], "x": [3.0, 1.0, 2.0, 4.0]})
UPWARD = [("a", "b"), ("b", "d"), ("a", "c"), ("c", "d")]


def pairs(*rows: tuple[Any, Any], **more: Any) -> pa.Table:
    return pa.table({"source": [a for a, _ in rows], "target": [b for _, b in rows], **more})


@pytest.mark.parametrize(
    ("rows", "directed"),
    [
        (UPWARD * 5, False),
        ([(b, a) for a, b in UPWARD] * 5, False),
        ([*UPWARD * 5, ("b", "a")], True),
        ((UPWARD * 5)[:19], True),
        ([*(UPWARD * 5)[:19], ("a", "a")], True),
        ([*UPWARD * 5, ("d", "d"), ("z", "a")], False),
    ],
    ids=["upward", "downward", "once the other way", "too few", "a loop does not count", "loop and unknown"],
)
def test_a_table_with_every_pair_in_order_has_no_direction(rows, directed):
    edges = pairs(*rows, w=[1.0 + k for k in range(len(rows))])
    assert read_tables(edges, PEOPLE).roles.directed is directed
    told = read_tables(edges, PEOPLE, ReadSettings(directed=not directed))
    assert (told.roles.directed, told.events.columns.directed) == (not directed, not directed)


def test_rows_that_stand_both_ways_are_one_event_each():
    there, back = UPWARD, [(b, a) for a, b in UPWARD]
    amounts = [5.0, None, 7.0, 7.5]
    once = read_tables(pairs(*there, w=amounts), PEOPLE, ReadSettings(directed=False))
    twice = pairs(*there, *back, w=amounts + amounts)
    both = read_tables(twice, PEOPLE)
    assert both.roles.directed is False
    assert both.events.event_count == len(UPWARD)
    assert_same_events(both.events, once.events)
    assert read_tables(twice, PEOPLE, ReadSettings(directed=False)).events.event_count == len(UPWARD)
    assert read_tables(twice, PEOPLE, ReadSettings(directed=True)).events.event_count == 2 * len(UPWARD)
    other = read_tables(pairs(*there, *back, w=[*amounts, *amounts[::-1]]), PEOPLE)
    assert (other.roles.directed, other.events.event_count) == (True, 2 * len(UPWARD))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("since", "until"),
    [
        ("2024-03-01T12:00:00", None),
        (None, "2024-03-02"),
        ("2024-03-01 06:00", "2024-03-02T00:30:00Z"),
        ("2024-03-01T07:00:00+01:00", "2024-03-02T01:30:00+01:00"),
    ],
)
def test_a_window_is_a_filter_of_the_table(seed, since, until):
    case = random_case(seed, most=120, whole=True)

    def moment(text: str | None, otherwise: str) -> pd.Timestamp:
        stamp = pd.Timestamp(text or otherwise)
        return stamp.tz_convert(None) if stamp.tz else stamp

    start, stop = moment(since, "1900-01-01"), moment(until, "2200-01-01")
    inside = [event.time is not None and start <= event.time < stop for event in case.events]
    window = read_tables(case.edges, case.nodes, ReadSettings(since=since, until=until, directed=True))
    filtered = read_tables(case.edges.filter(pa.array(inside)), case.nodes, ReadSettings(directed=True))
    assert 0 < window.counts.outside_window == len(inside) - sum(inside) < len(inside)
    assert_same_events(window.events, filtered.events)
    assert np.array_equal(window.edge_index, filtered.edge_index)
    same = ("null_ends", "unknown_edges", "loops", "duplicate_edges", "lone_nodes")
    assert [getattr(window.counts, name) for name in same] == [getattr(filtered.counts, name) for name in same]


@pytest.mark.parametrize(
    ("ids", "rows", "every"),
    [
        (["a", "b"], [("a", "b"), ("z", "a"), ("b", "q"), ("q", "q"), (None, "b")], ["a", "b", "q", "z"]),
        ([10, 9], [(9, 10), (100, 9), (10, -1), (-1, -1), (None, 10)], [-1, 9, 10, 100]),
    ],
    ids=["text", "integers"],
)
def test_ends_that_the_node_table_lacks_are_kept_where_asked_for(ids, rows, every, tmp_path):
    edges, nodes = pairs(*rows, w=[1.0, 2.0, 3.0, 4.0, 5.0]), pa.table({"id": ids, "x": [0.5, 1.5]})
    without = read_tables(edges, nodes)
    assert (without.ids.to_pylist(), without.counts.unknown_nodes) == (sorted(ids), 0)
    assert (without.counts.unknown_edges, without.events.event_count) == (3, 1)
    files = write_csv(edges, tmp_path / "e.csv"), write_csv(nodes, tmp_path / "n.csv")
    for some in ((edges, nodes), files):
        kept = read_tables(*some, ReadSettings(keep_unknown=True))
        assert (kept.ids.to_pylist(), kept.counts.unknown_nodes) == (every, 2)
        assert (kept.counts.unknown_edges, kept.counts.loops, kept.counts.null_ends) == (0, 1, 1)
        assert kept.columns.column("x").null_count == 2
        full = pa.table({"id": every, "x": [0.0] * 4})
        assert_same_events(kept.events, read_tables(edges, full).events)


def roles_of(**more: Any) -> Roles:
    rows = len(next(iter(more.values())))
    return read_tables(pairs(*[UPWARD[k % 4] for k in range(rows)], **more), PEOPLE).roles


def test_amount_time_and_kind_are_guessed():
    times = pa.array([FRIDAY + k * HOUR for k in range(4)], pa.timestamp("us"))
    kinds = ["card", "cash", "cash", None]
    roles = roles_of(euros=[1.5, 2.0, None, 3.0], booked=times, channel=kinds, seen=times, note=["x"] * 4)
    assert (roles.amount, roles.time, roles.edge_kind) == (("euros",), "booked", ("channel",))
    assert dict(roles.unread).keys() == {"seen", "note"}
    roles = roles_of(pieces=[1, 2, 2, 3], day=[FRIDAY.date()] * 4, urgent=[True, False, True, None])
    assert (roles.amount, roles.time, roles.edge_kind) == (("pieces",), "day", ("urgent",))
    assert roles_of(time=[1_709_251_200 + k for k in range(4)]).time == "time"
    assert roles_of(time=[1, 2, 3, 3]).amount == ()


def test_an_id_of_the_event_is_no_amount():
    roles = roles_of(transaction_id=[7, 8, 8, 9], euros=[1, 2, 2, 3])
    assert (roles.amount, [name for name, _ in roles.unread]) == (("euros",), ["transaction_id"])
    many = list(range(100, 140))
    assert roles_of(number=many, euros=[k % 7 for k in many]).amount == ("euros",)
    assert roles_of(number=[float(k) for k in many]).amount == ()
    assert roles_of(number=[k + 0.5 for k in many]).amount == ("number",)
    said = read_tables(pairs(*UPWARD, transaction_id=[7, 8, 8, 9]), PEOPLE, ReadSettings(amount=("transaction_id",)))
    assert said.roles.amount == ("transaction_id",)


@pytest.mark.parametrize(
    ("ending", "shift"), [("", 0), ("Z", 0), ("+00:00", 0), ("+01:00", -1), ("-0530", 5.5), ("+02", -2)]
)
def test_text_times_are_times_and_their_offset_counts(ending, shift, tmp_path):
    moments = [FRIDAY + k * HOUR for k in (0, 5, 30, 31)]
    texts = [f"{moment.isoformat(sep='T' if k % 2 else ' ')}{ending}" for k, moment in enumerate(moments)]
    edges = pairs(*UPWARD, when=texts)
    expected = pairs(*UPWARD, when=pa.array([moment + shift * HOUR for moment in moments], pa.timestamp("us")))
    first = read_tables(expected, PEOPLE)
    assert first.roles.time == "when"
    for form in (edges, write_csv(edges, tmp_path / "e.csv"), write_ndjson(edges, tmp_path / "e.ndjson")):
        tables = read_tables(form, PEOPLE)
        assert tables.roles == first.roles
        assert_same_events(tables.events, first.events)


def test_texts_of_which_one_is_no_time_are_kinds():
    roles = roles_of(when=["2024-03-01", "2024-03-02", "soon", "soon"])
    assert (roles.time, roles.edge_kind) == (None, ("when",))
