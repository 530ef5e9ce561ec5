from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oddhop import Graph, Network, read_network
from oddhop.casebook import Fingerprint, changed, fingerprint_of
from oddhop.casebook import fingerprint as module
from oddhop.casebook.fingerprint import hash_of
from oddhop.errors import CaseBookError, GraphError, SettingsError


@st.composite
def networks(draw: st.DrawFn) -> tuple[list[str], list[tuple[int, int]], list[float]]:
    count = draw(st.integers(2, 12))
    names = draw(st.lists(st.text("abcxyz=é ", min_size=1, max_size=4), min_size=count, max_size=count, unique=True))
    ends = st.integers(0, count - 1)
    ties = draw(st.lists(st.tuples(ends, ends).filter(lambda tie: tie[0] != tie[1]), min_size=1, max_size=30))
    return names, ties, draw(st.lists(st.floats(-9, 9, width=32), min_size=count, max_size=count))


def network_of(names: list[str], ties: list[tuple[int, int]], values: list[float]) -> Network:
    return Network.of(Graph.from_arrays(np.array(ties).T, np.array(values)[:, None], node_ids=names))


@settings(max_examples=50, deadline=None)
@given(networks(), st.randoms())
def test_neither_the_order_of_nodes_nor_a_second_look_changes_anything(made, random) -> None:
    names, ties, values = made
    order = list(range(len(names)))
    random.shuffle(order)
    place = {old: new for new, old in enumerate(order)}
    other = network_of([names[k] for k in order], [(place[b], place[a]) for a, b in ties], [values[k] for k in order])
    members = names[: max(len(names) // 2, 1)]
    one = fingerprint_of(network_of(*made), network_of(*made).numbers(members))
    two = fingerprint_of(other, other.numbers(members[::-1]))
    assert one == two
    assert Fingerprint.from_json(one.to_json()) == one
    what = changed(one, two, more_than=0.0)
    assert not what.enough
    assert what.sentences == []


@settings(max_examples=50, deadline=None)
@given(networks(), networks())
def test_shares_are_shares_and_the_same_both_ways(made, more) -> None:
    network, other = network_of(*made), network_of(*more)
    one, two = (fingerprint_of(some, np.arange(some.graph.node_count)) for some in (network, other))
    there, back = changed(one, two), changed(two, one)
    assert 0 <= there.neighbour_share <= 1
    assert 0 <= there.member_share <= 1
    assert there.member_share == back.member_share
    assert there.neighbour_share == back.neighbour_share
    assert dict(there.columns) == dict(back.columns)


def people(**changes: list[object]) -> pa.Table:
    columns = {
        "id": [f"p{k}" for k in range(8)],
        "income": [10.0, 20, 30, 40, 50, 60, 70, 80],
        "pays": ["card", "cash"] * 4,
        "note": [f"late word{k % 3} again" for k in range(8)],
    }
    return pa.table({**columns, **changes})


def read(ties: list[tuple[str, str]], nodes: pa.Table, **more: object) -> Network:
    left, right = zip(*ties, strict=True)
    encoded = more if "encoding" in more else {"kinds": {"note": "text"}}
    return read_network(pa.table({"from": left, "to": right}), nodes, flows=False, **encoded)


TIES = [("p0", f"p{k}") for k in range(1, 6)] + [("p6", "p7"), ("p1", "p2")]


def test_columns_and_neighbours_that_changed_are_named() -> None:
    then = read(TIES, people())
    old = fingerprint_of(then, then.numbers(["p0"]))
    now = read([*TIES, ("p0", "p6")], people(), encoding=then.encoding)
    what = changed(old, fingerprint_of(now, now.numbers(["p0"])))
    assert what.sentences == ["1 of 6 neighbours is new"]
    assert not what.enough
    for name, values in (("pays", ["cash"] * 2 + ["card", "cash"] * 3), ("income", [60.0, 20, 30, 40, 50, 60, 70, 80])):
        now = read(TIES, people(**{name: values}), encoding=then.encoding)
        what = changed(old, fingerprint_of(now, now.numbers(["p0"])))
        assert what.sentences == [f"{name} changed"]
        assert what.enough
    slightly = read(TIES, people(income=[11.0, 20, 30, 40, 50, 60, 70, 80]), encoding=then.encoding)
    assert not changed(old, fingerprint_of(slightly, slightly.numbers(["p0"]))).enough


def test_levels_that_are_learned_again_change_nothing() -> None:
    then = read(TIES, people())
    now = read(TIES, people(pays=["card", "cash"] * 2 + ["bank", "bank", "bank", None]))
    assert len(now.graph.attribute_names) != len(then.graph.attribute_names)
    old, new = (fingerprint_of(one, one.numbers(["p0", "p1"])) for one in (then, now))
    assert changed(old, new).columns == ()


def test_a_column_that_the_table_gained_says_nothing_of_the_case() -> None:
    then = read(TIES, people())
    now = read(TIES, people(town=["Bonn", "Cork"] * 4))
    assert not changed(fingerprint_of(then, np.array([0])), fingerprint_of(now, np.array([0]))).enough


def test_members_that_came_and_went_are_counted() -> None:
    network = read(TIES, people())
    old, new = (fingerprint_of(network, network.numbers(some)) for some in (["p0", "p1"], ["p0", "p2", "p3"]))
    what = changed(old, new)
    assert what.sentences == ["2 more nodes belong to the case", "1 node no longer belongs to the case"]
    assert what.member_share == 3 / 4
    assert what.enough


def test_a_kind_is_called_by_its_name_and_has_its_own_columns() -> None:
    ties = pa.table({"from": ["p0", "p1", "p2"], "to": ["x", "x", "y"]})
    phones = pa.table({"id": ["x", "y"], "price": [3.0, 9.0]})
    network = read_network(ties, {"account": people(), "phone": phones}, judge="account")
    old, new = (fingerprint_of(network, network.numbers(some)) for some in (["p0"], ["p0", "p1", "p2"]))
    assert changed(old, new).sentences == ["2 more accounts belong to the case"]
    (member,) = old.members.values()
    assert "price" not in member.columns
    assert "income" in member.columns
    assert member.neighbours == (hash_of("phone x"),)


def test_events_are_counted_with_the_time_of_the_last() -> None:
    ties = {"from": ["p0", "p1", "p0"], "to": ["p1", "p0", "p2"], "time": ["2026-01-01", "2026-01-03", "2026-01-02"]}
    network = read_network(pa.table(ties), people())
    (member,) = fingerprint_of(network, network.numbers(["p0"])).members.values()
    assert member.events == 3
    assert np.datetime64(member.last_event, "us") == np.datetime64("2026-01-03")


def test_a_hub_is_sampled_and_the_sample_tells_what_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HASHED_AT_ONCE", 700)  # in several parts

    def hub(first: int, count: int) -> Fingerprint:
        star = np.arange(first, first + count)
        return fingerprint_of(Network.of(Graph.from_arrays([0 * star, star], np.zeros((9_000, 1)))), np.array([0]))

    old = hub(1, 4_000)
    (member,) = old.members.values()
    assert (len(member.neighbours), member.degree) == (1_000, 4_000)
    assert member.neighbours == tuple(sorted(hash_of(str(k)) for k in range(1, 4_001))[:1_000])
    assert changed(old, hub(1, 4_000)).neighbour_share == 0
    moved = changed(old, hub(1_001, 4_000))  # 1,000 came, 1,000 went, of 5,000
    assert abs(moved.neighbour_share - 0.4) < 0.05
    assert abs(changed(old, hub(1, 900)).neighbour_share - 3_100 / 4_000) < 0.02


def test_attributes_of_arrays_that_are_zero_are_not_written() -> None:
    attributes = np.zeros((3, 50))
    attributes[0, 7] = 2.0
    network = Network.of(Graph.from_arrays([[0, 1], [1, 2]], attributes))
    (member,) = fingerprint_of(network, np.array([0])).members.values()
    assert member.columns == {"attribute 7": (2.0,)}
    other = Network.of(Graph.from_arrays([[0, 1], [1, 2]], np.zeros((3, 50))))
    what = changed(fingerprint_of(network, np.array([0])), fingerprint_of(other, np.array([0])))
    assert what.sentences == ["attribute 7 changed"]


@pytest.mark.parametrize("nodes", [[], [-1], [3]])
def test_nodes_that_there_are_not_are_refused(nodes: list[int]) -> None:
    network = Network.of(Graph.from_arrays([[0, 1], [1, 2]], np.zeros((3, 1))))
    with pytest.raises(GraphError, match="members"):
        fingerprint_of(network, np.array(nodes))


def test_a_share_above_one_is_refused() -> None:
    with pytest.raises(SettingsError, match="more_than"):
        changed(Fingerprint({}), Fingerprint({}), more_than=20)


def damaged() -> list[str]:
    network = Network.of(Graph.from_arrays([[0, 0], [1, 2]], np.ones((3, 1))))
    good = json.loads(fingerprint_of(network, np.array([0])).to_json())
    (name,) = good["members"]
    out = ["", "[]", "{", "[" * 5_000, json.dumps({**good, "more": 1}), json.dumps({"members": {"x": {}}})]
    for key, value in (
        ("degree", -1),
        ("degree", 1),
        ("degree", "2"),
        ("neighbours", ["x"]),
        ("columns", {"a": ["b"]}),
    ):
        out.append(json.dumps({**good, "members": {name: {**good["members"][name], key: value}}}))
    turned = {**good["members"][name], "neighbours": good["members"][name]["neighbours"][::-1]}
    return [*out, json.dumps({**good, "members": {name: turned}}), json.dumps(good).replace("1.0", "NaN")]


@pytest.mark.parametrize("text", damaged())
def test_a_damaged_fingerprint_is_refused(text: str) -> None:
    with pytest.raises(CaseBookError, match="damaged"):
        Fingerprint.from_json(text)
