"""Ids are kept, everything left out is counted, and no order of rows changes the result."""

from __future__ import annotations

import datetime as dt
import decimal
import uuid
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oddhop import Graph
from oddhop.errors import TableError
from oddhop.tables.encode import learn_encoding
from oddhop.tables.read import read_tables
from oddhop.tables.settings import ReadSettings

PEOPLE = pa.table({"id": ["c", "a", "b", "d"], "x": [3.0, 1.0, 2.0, 4.0]})


def edges(*pairs, **more):
    return pa.table({"source": [a for a, _ in pairs], "target": [b for _, b in pairs], **more})


def test_everything_left_out_is_counted_once():
    messy = edges(
        ("a", "b"), ("a", "b"), ("b", "a"), ("b", "b"), ("a", "z"), ("z", "z"), (None, "a"), ("z", None), w=[1] * 8
    )
    twice = pa.concat_tables([PEOPLE, PEOPLE.slice(0, 2), pa.table({"id": pa.array([None], pa.string()), "x": [9.0]})])
    network = read_tables(messy, twice)
    counts = network.counts
    assert network.edge_index.tolist() == [[0, 1], [1, 0]]
    assert (counts.edge_rows, counts.null_ends, counts.unknown_edges, counts.loops, counts.duplicate_edges) == (
        8,
        2,
        2,
        1,
        1,
    )
    assert (counts.node_rows, counts.null_ids, counts.repeated_ids, counts.lone_nodes) == (7, 1, 2, 2)
    assert (network.roles.amount, counts.ignored_columns) == (("w",), ())
    assert counts.edge_rows == counts.null_ends + counts.unknown_edges + counts.loops + counts.duplicate_edges + 2
    assert network.edge_index.dtype == np.int64
    assert not network.edge_index.flags.writeable


WHOLE = (("a", "b"), ("b", "c"), ("c", "d"))


@pytest.mark.parametrize(
    ("pairs", "people", "says"),
    [
        ((*WHOLE, (None, "b")), PEOPLE, "1 edge row.* lack an end, first nothing -> 'b'"),
        ((*WHOLE, ("a", "z"), ("a", "y")), PEOPLE, "2 edge row.* lacks, first 'a' -> 'y'"),
        ((*WHOLE, ("d", "d")), PEOPLE, "1 edge row.* itself, first 'd' -> 'd'"),
        ((*WHOLE, ("b", "c")), PEOPLE, "1 edge row.* repeat another, first 'b' -> 'c'"),
        (WHOLE[:2], PEOPLE, "1 node.* no edge, first 'd'"),
        (WHOLE, pa.concat_tables([PEOPLE, PEOPLE]), "4 node row.* repeat another"),
        (WHOLE, pa.concat_tables([PEOPLE, pa.table({"id": pa.array([None], pa.string()), "x": [0.0]})]), "no id"),
    ],
)
def test_strict_refuses_what_would_be_left_out(pairs, people, says):
    read_tables(edges(*pairs), people)
    with pytest.raises(TableError, match=says):
        read_tables(edges(*pairs), people, ReadSettings(strict=True, flows=False))


def test_strict_takes_whole_tables_and_refuses_unread_columns():
    assert read_tables(edges(*WHOLE), PEOPLE, ReadSettings(strict=True)).counts.lone_nodes == 0
    assert read_tables(edges(*WHOLE, WHOLE[0]), PEOPLE, ReadSettings(strict=True)).counts.duplicate_edges == 1
    with pytest.raises(TableError, match="not read: \\['weight'\\]"):
        read_tables(edges(*WHOLE, weight=[1, 2, 3]), PEOPLE, ReadSettings(strict=True, flows=False))


def test_rows_that_contradict_each_other_are_refused():
    people = pa.table({"id": ["a", "b", "b"], "x": [1.0, 2.0, 3.0], "y": [0, 0, 0]})
    with pytest.raises(TableError, match="the id 'b' stands in rows that differ in \\['x'\\]"):
        read_tables(edges(("a", "b")), people)


DAYS = [dt.date(2024, 1, k) for k in (1, 2, 3)]
UUIDS = [uuid.UUID(int=k << 100) for k in (3, 1, 2)]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([10, 9, -1], pa.int64()),
        ([10, 9, 1], pa.int16()),
        ([2**64 - 1, 9, 1], pa.uint64()),
        (["10", "9", "1"], pa.string()),
        (DAYS[::-1], pa.date32()),
        ([dt.datetime(2024, 1, k, tzinfo=dt.UTC) for k in (3, 1, 2)], pa.timestamp("us", "UTC")),
        ([decimal.Decimal(k) / 100 for k in (1000, 950, 125)], pa.decimal128(8, 2)),
        ([b"\xff", b"a", b"\\xFF"], pa.binary()),
    ],
    ids=str,
)
def test_ids_come_back_as_they_came(values, kind):
    ids = pa.array(values, kind)
    network = read_tables(pa.table({"u": ids.slice(0, 2), "v": ids.slice(1)}), pa.table({"id": ids, "x": [0, 1, 2]}))
    assert network.ids.type == kind
    assert set(network.ids.to_pylist()) == set(values)
    place = {value: k for k, value in enumerate(network.ids.to_pylist())}
    assert {tuple(e) for e in network.edge_index.T.tolist()} == {(place[a], place[b]) for a, b in pairwise(values)}
    assert [network.columns.column("x")[place[v]].as_py() for v in values] == [0, 1, 2]
    if pa.types.is_integer(kind):
        assert network.ids.to_pylist() == sorted(values)


def test_uuids_come_back_as_uuids():
    ids = pa.array([value.bytes for value in UUIDS], pa.uuid())
    network = read_tables(pa.table({"u": ids.slice(0, 2), "v": ids.slice(1)}), pa.table({"id": ids, "x": [0, 1, 2]}))
    assert network.ids.type == pa.uuid()
    assert network.ids.to_pylist() == sorted(UUIDS, key=str)


def csv(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    return tmp_path / name


def test_leading_zeros_are_kept_in_ids_and_in_columns(tmp_path):
    people = csv(tmp_path, "n.csv", "id,zip,age\n007,01234,7\n7,94105,8\n")
    network = read_tables(csv(tmp_path, "e.csv", "source,target\n007,7\n"), people)
    assert network.ids.to_pylist() == ["007", "7"]
    assert network.edge_index.tolist() == [[0], [1]]
    assert network.columns.to_pydict() == {"zip": ["01234", "94105"], "age": ["7", "8"]}


def test_ids_of_a_csv_are_integers_where_every_node_has_one(tmp_path):
    people = csv(tmp_path, "n.csv", "id,x\n10,1\n9,2\n")
    network = read_tables(csv(tmp_path, "e.csv", "source,target\n9,10\n009,10\nx,9\n"), people)
    assert network.ids.equals(pa.array([9, 10]))
    assert (network.edge_index.tolist(), network.counts.unknown_edges) == ([[0], [1]], 2)


def test_a_csv_takes_the_type_of_the_other_table(tmp_path):
    lines = csv(tmp_path, "e.csv", "source,target\n9,10\n09,10\n")
    network = read_tables(lines, pa.table({"id": [9, 10], "x": [1, 2]}))
    assert (network.edge_index.tolist(), network.counts.unknown_edges) == ([[0], [1]], 1)
    days = csv(tmp_path, "d.csv", f"source,target\n{DAYS[0]},{DAYS[1]}\n")
    assert read_tables(days, pa.table({"id": DAYS, "x": [1, 2, 3]})).ids.to_pylist() == DAYS
    people = csv(tmp_path, "n.csv", "id,x\n9,1\n10,2\n")
    for kind in (pa.int32(), pa.string(), pa.float64()):
        ends = pa.array([9, 10]).cast(kind)
        network = read_tables(pa.table({"u": ends.slice(0, 1), "v": ends.slice(1)}), people)
        assert network.edge_index.tolist() == [[0], [1]]


def test_two_types_that_may_mean_other_things_are_refused():
    with pytest.raises(TableError, match=r"VARCHAR and column 'id' of .* holds BIGINT"):
        read_tables(edges(("7", "8")), pa.table({"id": [7, 8], "x": [1, 2]}))
    with pytest.raises(TableError, match=r"BIGINT and column 'id' of .* holds VARCHAR"):
        read_tables(edges((7, 8)), pa.table({"id": ["7", "8"], "x": [1, 2]}))


def test_integers_with_a_gap_are_integers_and_other_fractions_no_ids():
    frame = pd.DataFrame({"source": [1, None], "target": [2, 2]})
    network = read_tables(frame, pd.DataFrame({"id": [1, 2], "x": [0.0, 1.0]}))
    assert (network.edge_index.tolist(), network.counts.null_ends) == ([[0], [1]], 1)
    for odd in (1.5, float("inf"), 2.0**60):
        with pytest.raises(TableError, match="exact ids"):
            read_tables(edges((1.0, odd)), pa.table({"id": [1, 2], "x": [1, 2]}))
    with pytest.raises(TableError, match="single values"):
        read_tables(edges((1, 2)), pa.table({"id": [[1], [2]], "x": [1, 2]}))


@pytest.mark.parametrize(
    ("names", "ends"),
    [
        (["Source", "Target", "w"], (0, 1)),
        (["w", "to", "from"], (2, 1)),
        ([":START_ID", "since", ":END_ID"], (0, 2)),
        (["left hand", "right hand"], (0, 1)),
    ],
)
def test_ends_are_guessed_from_names(names, ends):
    columns = {name: ["a"] if k == ends[0] else ["b"] for k, name in enumerate(names)}
    network = read_tables(pa.table(columns), PEOPLE)
    assert (network.roles.source, network.roles.target) == (names[ends[0]], names[ends[1]])
    assert network.edge_index.tolist() == [[0], [1]]


def test_roles_can_be_said_and_a_slip_is_told():
    table = pa.table({"source": ["x"], "target": ["x"], "payer": ["a"], "payee": ["b"]})
    with pytest.raises(TableError, match=r"cannot be told .*'source', 'target', 'payer', 'payee'.*source="):
        read_tables(table, PEOPLE)
    said = read_tables(table, PEOPLE, ReadSettings(source="payer", target="payee", id="id"))
    assert (said.roles.source, said.roles.target, said.counts.ignored_columns) == (
        "payer",
        "payee",
        ("source", "target"),
    )
    for roles, says in [
        ({"source": "payr", "target": "payee"}, "did you mean 'payer'"),
        ({"source": "payer"}, "both"),
        ({"source": "payer", "target": "payer"}, "two columns"),
        ({"source": "payer", "target": "payee", "id": "qqq"}, r"its columns are \['id', 'x'\]"),
    ]:
        with pytest.raises(TableError, match=says):
            read_tables(table, PEOPLE, ReadSettings(**roles))


def test_the_id_is_guessed_or_asked_for():
    ends, x = edges(("a", "b")), [1.0, 2.0]
    assert read_tables(ends, pa.table({"x": x, "Node ID": ["a", "b"]})).roles.id == "Node ID"
    assert read_tables(ends, pa.table({"name": ["p", "q"], "id": ["a", "b"]})).roles.id == "id"
    assert read_tables(ends, pa.table({"person": ["a", "b"], "x": x})).roles.id == "person"
    with pytest.raises(TableError, match="'id' or 'key'; say which with id="):
        read_tables(ends, pa.table({"id": ["a", "b"], "key": ["a", "b"]}))
    with pytest.raises(TableError, match=r"not one of 1 edges .*first edge is 'a' -> 'b'"):
        read_tables(ends, pa.table({"town": ["p", "q"], "person": ["a", "b"]}))


def test_a_network_without_attributes_or_nodes_is_told_what_would_do():
    with pytest.raises(TableError, match=r"no node table.*degree"):
        read_tables(edges(("a", "b")))
    with pytest.raises(TableError, match=r"no column besides 'id'.*degree"):
        read_tables(edges(("a", "b")), PEOPLE.select(["id"]), ReadSettings(flows=False))
    with pytest.raises(TableError, match="no node with an id among 0 rows"):
        read_tables(edges(("a", "b")), PEOPLE.slice(0, 0))


def test_no_edges_are_a_network_of_lone_nodes(tmp_path):
    for none in (
        edges(("a", "b")).slice(0, 0),
        csv(tmp_path, "e.csv", "source,target\n"),
        csv(tmp_path, "f.csv", "u,v"),
    ):
        network = read_tables(none, PEOPLE)
        assert (network.edge_index.shape, network.counts.lone_nodes) == ((2, 0), 4)


def test_columns_of_a_csv_have_the_type_of_all_their_values(tmp_path):
    head = "id,whole,real,code,flag,day,moment,text,none"
    rows = [
        "1,5,1e3,01,true,2024-02-29,2024-01-01 10:00:00,5a,",
        "2,-7,.5,2,FALSE,2024-01-01,2024-01-01T10:00,x,",
        "3,,nan,3,,,,,",
    ]
    network = read_tables(edges((1, 2)), csv(tmp_path, "n.csv", "\n".join([head, *rows]) + "\n"))
    report = learn_encoding(network.columns).report
    kinds = ["number", "number", "category", "boolean", "date", "date", "category", ""]
    assert [one.kind for one in report] == kinds
    types = ["int64", "double", "string", "bool", "date32[day]", "timestamp[us]", "string"]
    assert [one.type for one in report[:-1]] == types


def test_keys_of_ndjson_may_be_anything_and_may_be_missing(tmp_path):
    lines = '{"id": "a", "$.x": 1, "a/b~c": 0.5}\n{"id": "b", "0": true, "$.x": null, "v": [1, 2]}\n'
    network = read_tables(edges(("a", "b")), csv(tmp_path, "n.ndjson", lines))
    assert network.columns.select(["$.x", "0", "a/b~c"]).to_pydict() == {
        "$.x": [1, None],
        "0": [None, True],
        "a/b~c": [0.5, None],
    }


keys = st.one_of(
    st.lists(st.integers(-9, 99), min_size=1, unique=True), st.lists(st.text(max_size=3), min_size=1, unique=True)
)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.data())
def test_no_order_of_rows_changes_the_network(data):
    ids = data.draw(keys)
    kind = pa.string() if isinstance(ids[0], str) else pa.int64()
    end = st.one_of(st.none(), st.sampled_from(ids), st.just("zzzz" if kind == pa.string() else 1234))
    rows = [*data.draw(st.lists(st.tuples(end, end), max_size=12)), (ids[0], ids[0])]
    people = [(value, float(k)) for k, value in enumerate(ids)]

    def network(rows, people):
        source, target = (pa.array(side, kind) for side in zip(*rows, strict=True))
        one, two = zip(*people, strict=True)
        return read_tables(
            pa.table({"source": source, "target": target}), pa.table({"id": pa.array(one, kind), "x": pa.array(two)})
        )

    def fingerprint(tables):
        return Graph.from_arrays(tables.edge_index, tables.columns.column("x").to_numpy().reshape(-1, 1)).fingerprint

    one = network(rows, people)
    two = network(data.draw(st.permutations(rows)), data.draw(st.permutations(people)))
    assert one.ids.to_pylist() == sorted(ids)
    assert one.ids.equals(two.ids)
    assert one.columns.equals(two.columns)
    assert np.array_equal(one.edge_index, two.edge_index)
    assert one.counts == two.counts
    if not any(isinstance(value, str) and value.endswith("\0") for value in ids):
        assert fingerprint(one) == fingerprint(two)


def test_a_table_of_too_many_columns_is_refused_by_its_header(tmp_path):
    for name in ("edges", "nodes"):
        wide = ",".join(["from", "to", "id", *(f"c{k}" for k in range(200_000))])
        (tmp_path / f"{name}.csv").write_text(wide if name == "nodes" else "from,to\na,b\n")
    with pytest.raises(TableError, match="200,003 columns, and at most 5,000"):
        read_tables(tmp_path / "edges.csv", tmp_path / "nodes.csv")
    columns = {f"c{k}": pa.array([1]) for k in range(5_001)}
    with pytest.raises(TableError, match="5,001 columns"):
        read_tables(pa.table(columns), pa.table({"id": [1], "x": [1]}))


def test_no_array_of_the_events_can_be_changed():
    edges = pa.table({"from": ["a", "b", "a"], "to": ["b", "a", "b"], "euros": [1.0, 2.0, 3.0], "time": [1, 2, 3]})
    events = read_tables(edges, pa.table({"id": ["a", "b"], "x": [1, 2]})).events
    arrays = {name: one for name, one in vars(events).items() if isinstance(one, np.ndarray)}
    assert {"indptr", "partners", "amounts"} <= arrays.keys()
    assert not [name for name, one in arrays.items() if one.flags.writeable]
