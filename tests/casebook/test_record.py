from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oddhop import Graph, Network, read_network
from oddhop.casebook import Fingerprint, changed, fingerprint_of
from oddhop.casebook.changes import changes
from oddhop.casebook.fingerprint import node_hashes, records, text_hashes
from oddhop.casebook.record import KEPT
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
    assert 0 <= there.all.came[0] <= there.all.degrees[1][0] == back.all.degrees[0][0]
    assert there.all.came[0] == back.all.gone[0]
    assert there.came == back.gone
    assert there.all.columns == back.all.columns
    assert there.enough == back.enough
    rows = records(network, np.arange(network.graph.node_count))
    alone = changes(rows, rows)
    assert not alone.at_all().any()
    assert not alone.enough().any()


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
    assert changed(old, fingerprint_of(now, now.numbers(["p0"])), more_than=0.1).enough
    for name, values in (("pays", ["cash"] * 2 + ["card", "cash"] * 3), ("income", [60.0, 20, 30, 40, 50, 60, 70, 80])):
        now = read(TIES, people(**{name: values}), encoding=then.encoding)
        what = changed(old, fingerprint_of(now, now.numbers(["p0"])))
        assert what.sentences == [f"{name} changed"]
        assert what.enough
    slightly = read(TIES, people(income=[11.0, 20, 30, 40, 50, 60, 70, 80]), encoding=then.encoding)
    what = changed(old, fingerprint_of(slightly, slightly.numbers(["p0"])))
    assert what.sentences == ["income changed slightly"]
    assert not what.enough
    gap = read(TIES, people(income=[None, 20, 30, 40, 50, 60, 70, 80]))
    for one, two in ((then, gap), (gap, then)):
        what = changed(*(fingerprint_of(some, some.numbers(["p0"])) for some in (one, two)))
        assert what.sentences == ["income changed"]


def test_levels_that_are_learned_again_change_nothing() -> None:
    then = read(TIES, people())
    now = read(TIES, people(pays=["card", "cash"] * 2 + ["bank", "bank", "bank", None]))
    assert len(now.graph.attribute_names) != len(then.graph.attribute_names)
    old, new = (fingerprint_of(one, one.numbers(["p0", "p1"])) for one in (then, now))
    assert not any(changed(old, new).all.columns.values())


def test_a_scale_that_is_learned_again_changes_nothing() -> None:
    then = read(TIES, people())
    now = read(TIES, people(income=[10.0, 20, 30, 40, 50, 60, 70, 9e9]))  # the others' numbers are another's now
    assert then.encoding.columns[0].scale != now.encoding.columns[0].scale
    old, new = (fingerprint_of(one, one.numbers([f"p{k}" for k in range(7)])) for one in (then, now))
    assert changed(old, new).sentences == []
    moved = read(TIES, people(income=[70.0, 20, 30, 40, 50, 60, 10, 9e9]))
    assert changed(old, fingerprint_of(moved, moved.numbers([f"p{k}" for k in range(7)]))).sentences == [
        "income changed for 2 of 7 nodes"
    ]


def test_a_column_that_the_table_gained_says_nothing_of_the_case() -> None:
    then = read(TIES, people())
    now = read(TIES, people(town=["Bonn", "Cork"] * 4))
    assert not changed(fingerprint_of(then, np.array([0])), fingerprint_of(now, np.array([0]))).enough


def test_members_that_came_and_went_are_counted() -> None:
    network = read(TIES, people())
    old, new = (fingerprint_of(network, network.numbers(some)) for some in (["p0", "p1"], ["p0", "p2", "p3"]))
    what = changed(old, new)
    assert what.sentences == ["2 more nodes belong to the case", "1 node no longer belongs to the case"]
    assert (what.came, what.gone, what.kept) == (2, 1, 1)
    assert what.enough
    assert not changed(old, new, more_than=0.75).enough


def test_a_kind_is_called_by_its_name_and_has_its_own_columns() -> None:
    ties = pa.table({"from": ["p0", "p1", "p2"], "to": ["x", "x", "y"]})
    phones = pa.table({"id": ["x", "y"], "price": [3.0, 9.0]})
    network = read_network(ties, {"account": people(), "phone": phones}, judge="account")
    old, new = (fingerprint_of(network, network.numbers(some)) for some in (["p0"], ["p0", "p1", "p2"]))
    assert changed(old, new).sentences == ["2 more accounts belong to the case"]
    assert [one for one in old.records.column_names if one.startswith("column:")] == [
        "column:income",
        "column:pays",
        "column:note",
    ]
    assert old.records["neighbours"].to_pylist() == [text_hashes(["phone x"]).tolist()]
    hashes = node_hashes(network)
    nodes = np.arange(network.graph.node_count)
    assert np.array_equal(hashes, text_hashes([str(network.name(node)) for node in nodes]))
    assert np.array_equal(hashes, node_hashes(network, nodes[::-1])[::-1])


def paid(amounts: list[float], days: list[int]) -> Fingerprint:
    rows = {"from": ["p0"] * len(days), "to": ["p1"] * len(days), "amount": amounts}
    ties = pa.table({**rows, "time": [f"2026-01-{day:02d}" for day in days]})
    network = read_network(ties, people())
    return fingerprint_of(network, network.numbers(["p0"]))


def test_events_count_by_their_number_and_their_amounts() -> None:
    then = paid([10.0] * 4, [1, 2, 3, 4])
    (row,) = then.records.to_pylist()
    assert (row["total:events"], row["total:amount"]) == (4.0, 40.0)
    assert np.datetime64(row["last event"], "us") == np.datetime64("2026-01-04")
    what = changed(then, paid([10.0] * 5, [1, 2, 3, 4, 5]))
    assert what.sentences == ["1 event is new"]
    assert not what.enough  # one event alone opens nothing
    what = changed(then, paid([10.0] * 7, [1, 2, 3, 4, 5, 6, 7]))
    assert what.enough
    assert what.sentences == ["3 events are new", "the sum of amount rose from 40 to 70"]
    what = changed(then, paid([10.0, 10.0, 10.0, 900.0], [1, 2, 3, 4]))  # as many, and one is large
    assert (what.sentences, what.enough) == (["the sum of amount rose from 40 to 930"], True)
    later = [one.records for one in (then, paid([10.0] * 4, [2, 3, 4, 5]))]
    assert changes(*later).at_all().all()
    assert not changes(*later).enough().any()


def test_a_hub_is_sampled_and_the_sample_tells_what_changed() -> None:
    def hub(first: int, count: int) -> Fingerprint:
        star = np.arange(first, first + count)
        return fingerprint_of(Network.of(Graph.from_arrays([0 * star, star], np.zeros((9_000, 1)))), np.array([0]))

    old = hub(1, 4_000)
    (row,) = old.records.to_pylist()
    assert (len(row["neighbours"]), row["degree"]) == (KEPT, 4_000)
    assert row["neighbours"] == sorted(text_hashes([str(k) for k in range(1, 4_001)]).tolist())[:KEPT]
    assert changed(old, hub(1, 4_000)).sentences == []
    moved = changed(old, hub(1_001, 4_000))  # 1,000 came, 1,000 went
    assert abs(moved.all.came[0] - 1_000) < 250
    assert moved.all.came[0] == moved.all.gone[0]
    fewer = changed(old, hub(1, 900))
    assert abs(fewer.all.gone[0] - 3_100) < 50
    assert abs(fewer.all.came[0]) < 50


def test_blocks_of_rows_give_the_records_of_all() -> None:
    rng = np.random.default_rng(0)
    network = Network.of(Graph.from_arrays(rng.integers(0, 50, (2, 300)), rng.normal(size=(50, 3))))
    whole = records(network, np.arange(50), node_hashes(network))
    parts = [records(network, np.arange(k, k + 10)) for k in range(0, 50, 10)]
    assert pa.concat_tables(parts).combine_chunks().equals(whole)
    for node in range(50):
        others = network.graph.indices[network.graph.indptr[node] : network.graph.indptr[node + 1]]
        assert whole["neighbours"][node].as_py() == sorted(text_hashes([str(one) for one in others]).tolist())


@pytest.mark.parametrize("nodes", [[], [-1], [3]])
def test_nodes_that_there_are_not_are_refused(nodes: list[int]) -> None:
    network = Network.of(Graph.from_arrays([[0, 1], [1, 2]], np.zeros((3, 1))))
    with pytest.raises(GraphError, match="members"):
        fingerprint_of(network, np.array(nodes))


def test_a_share_above_one_is_refused() -> None:
    with pytest.raises(SettingsError, match="more_than"):
        changed(Fingerprint(), Fingerprint(), more_than=20)


def damaged() -> list[str]:
    network = Network.of(Graph.from_arrays([[0, 0], [1, 2]], np.ones((3, 1))))
    good = json.loads(fingerprint_of(network, np.array([0])).to_json())
    columns = good["columns"]
    out = ["", "[]", "[" * 5_000, "3", *(json.dumps({**good, name: None}) for name in ("version", "columns"))]
    for name, values in (
        ("degree", [-1]),
        ("degree", [1]),
        ("degree", ["2"]),
        ("degree", [1 << 70]),
        ("node", ["xyz"]),
        ("node", [-1]),
        ("neighbours", ["xyz"]),
        ("neighbours", [columns["neighbours"][1][0][::-1]]),
        ("column:attribute 0", ["b"]),
        ("column:attribute 0", [1.0, 2.0]),
    ):
        out.append(json.dumps({**good, "columns": {**columns, name: [columns[name][0], values, ""]}}))
    out.append(json.dumps({**good, "columns": {**columns, "degree": ["binary", [2], ""]}}))
    out.append(json.dumps({**good, "columns": {**columns, "degree": ["int64", [2], "[1, 2]"]}}))
    return out


def test_a_fingerprint_of_an_older_version_is_none() -> None:
    assert Fingerprint.from_json('{"encoded":true,"kind":"node","members":{}}') is None


@pytest.mark.parametrize("text", damaged())
def test_a_damaged_fingerprint_is_refused(text: str) -> None:
    with pytest.raises(CaseBookError, match="damaged"):
        Fingerprint.from_json(text)
