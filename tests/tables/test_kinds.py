from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

from oddhop.errors import EncodingError, TableError
from oddhop.graph.events import Events
from oddhop.tables.encode import Encoding
from oddhop.tables.ingest import ingest
from oddhop.tables.network import Network, open_network, read_network
from oddhop.tables.read.kinds import EndKind
from oddhop.tables.settings import EncodeSettings, ReadSettings

ACCOUNTS, DEVICES, ROWS = 40, 25, 200


def made(seed: int = 0) -> tuple[pa.Table, pa.Table, pa.Table]:
    """Accounts that pay each other and log in to devices; ids of both are numbers from 1 on."""
    rng = np.random.default_rng(seed)
    accounts = pa.table(
        {
            "id": np.arange(1, ACCOUNTS + 1),
            "age": rng.integers(18, 80, ACCOUNTS),
            "town": rng.choice(["Bonn", "Cork", "Oulu"], ACCOUNTS),
        }
    )
    devices = pa.table(
        {"id": np.arange(1, DEVICES + 1), "age": rng.integers(1, 9, DEVICES), "price": rng.normal(400, 90, DEVICES)}
    )
    to_device = np.arange(ROWS) % 2 == 0
    edges = pa.table(
        {
            "from": rng.integers(1, ACCOUNTS + 1, ROWS),
            "to": np.where(to_device, rng.integers(1, DEVICES + 1, ROWS), rng.integers(1, ACCOUNTS + 1, ROWS)),
            "to_kind": np.where(to_device, "device", "account"),
            "euros": rng.exponential(50, ROWS).round(2),
        }
    )
    return edges, accounts, devices


def read(edges: Any, nodes: Any, **settings: Any) -> Network:
    return read_network(edges, nodes, **{"judge": "account", "source_kind": "account", **settings})


def same_bits(one: Network, other: Network) -> None:
    assert one.graph.fingerprint == other.graph.fingerprint
    assert one.ids.equals(other.ids)


@pytest.fixture
def network() -> Network:
    edges, accounts, devices = made()
    return read(edges, {"account": accounts, "device": devices})


def test_nodes_stand_by_kind_and_then_by_id(network: Network) -> None:
    kinds = network.graph.kinds
    assert kinds is not None
    assert (kinds.names, kinds.bounds, kinds.judged) == (("account", "device"), (0, 40, 65), 0)
    assert network.ids.to_pylist() == [*range(1, 41), *range(1, 26)]
    assert (network.kind_of(0), network.kind_of(40), network.name(3), network.name(40)) == (
        "account",
        "device",
        4,
        "device 1",
    )
    assert len(network.judged_ids) == 40
    assert network.numbers([25]).tolist() == [24]
    assert "2 kinds of nodes: 40 account (judged), 25 device" in network.roles.sentences(network.graph.events)[0]
    assert "'to_kind'" in network.roles.sentences(network.graph.events)[0]
    assert network.roles.edge_kind == ()


def test_an_id_is_unique_within_its_kind_alone(network: Network) -> None:
    edges, _, _ = made()
    graph = network.graph
    want = {
        (s - 1, t - 1 + (40 if kind == "device" else 0))
        for s, t, kind in zip(*(edges[name].to_pylist() for name in ("from", "to", "to_kind")), strict=True)
    }
    want = {(min(pair), max(pair)) for pair in want if pair[0] != pair[1]}
    sources, targets = graph.ends(0, graph.edge_count)
    assert set(zip(sources.tolist(), targets.tolist(), strict=True)) == want


def test_a_kind_is_learned_from_its_own_rows(network: Network) -> None:
    _, accounts, devices = made()
    graph, kinds = network.graph, network.graph.kinds
    assert kinds is not None and network.encoding is not None  # noqa: PT018
    ages = {one.name: one.scale.centre for one in network.encoding.columns if one.name.endswith(".age")}
    assert ages == {
        "account.age": sorted(accounts["age"].to_pylist())[19],
        "device.age": sorted(devices["age"].to_pylist())[12],
    }
    assert not any("missing" in name for name in graph.attribute_names)
    for k in range(2):
        others = np.setdiff1d(np.arange(graph.attribute_count), kinds.columns_of(k))
        assert not graph.attributes[kinds.nodes(k)][:, others].any()
    flows = graph.attribute_names[-graph.flow_count :]
    assert {name.split(".")[0] for name in flows} == {"account", "device"}
    assert "device.events in" in flows
    assert "device.events out" not in flows  # nothing comes from a device


def test_names_and_order_of_the_tables_change_no_bit(network: Network) -> None:
    edges, accounts, devices = made()
    other = read(edges, {"device": devices, "account": accounts})
    same_bits(network, other)
    assert other.graph.attribute_names == network.graph.attribute_names
    place = edges.column_names.index("to_kind")
    renamed = edges.set_column(
        place, "to_kind", pa.array(["a" if one == "device" else "z" for one in edges["to_kind"].to_pylist()])
    )
    same_bits(network, read(renamed, {"z": accounts, "a": devices}, judge="z", source_kind="z"))
    mirrored = pa.array(np.random.default_rng(1).permutation(accounts.num_rows))
    same_bits(network, read(edges, {"account": accounts.take(mirrored), "device": devices}))


def test_one_kind_over_two_files(tmp_path: Path, network: Network) -> None:
    edges, accounts, devices = made()
    pa_csv.write_csv(accounts.slice(0, 13), tmp_path / "accounts-1.csv")
    pa_csv.write_csv(accounts.slice(13), tmp_path / "accounts-2.csv")
    same_bits(network, read(edges, {"account": str(tmp_path / "accounts-*.csv"), "device": devices}))


def test_one_table_with_a_column_of_kinds_is_the_same(network: Network) -> None:
    edges, accounts, devices = made()
    parts = [
        accounts.append_column("what", pa.array(["account"] * ACCOUNTS)),
        devices.append_column("what", pa.array(["device"] * DEVICES)),
    ]
    shared = read(edges, pa.concat_tables(parts, promote_options="default"), node_kind="what")
    same_bits(network, shared)
    assert shared.encoding == network.encoding
    again = read(edges, pa.concat_tables(parts, promote_options="default"), node_kind="what", encoding=shared.encoding)
    same_bits(again, network)


def test_kinds_that_edges_alone_name() -> None:
    edges, accounts, _ = made()
    network = read(edges, {"account": accounts})
    assert network.graph.kinds is None  # without to_kind as a column of kinds there is one
    network = read(edges, {"account": accounts}, target_kind="to_kind")
    kinds = network.graph.kinds
    assert kinds is not None
    assert kinds.names == ("account", "device")
    assert "device (only in the edge table)" in network.roles.kinds
    assert all(name.split(".")[1] for name in network.graph.attribute_names)
    network = read(edges.select(["from", "to"]), {"account": accounts}, target_kind="shop")
    assert network.graph.kinds is not None
    assert network.counts is not None
    assert network.counts.unknown_nodes == network.graph.node_count - ACCOUNTS
    judged = read(edges.select(["from", "to"]), {"account": accounts}, target_kind="shop", judge="shop")
    assert judged.graph.kinds is not None
    assert len(judged.judged_ids) == judged.counts.unknown_nodes


def test_a_mapping_of_one_kind_is_one_kind() -> None:
    edges, accounts, _ = made()
    one, other = read_network(edges, accounts), read_network(edges, {"account": accounts}, judge="account")
    same_bits(one, other)
    assert one.encoding == other.encoding
    assert other.graph.kinds is None


def test_ids_of_several_types_become_text() -> None:
    edges = pa.table({"from": [1, 2, 3, 1], "to": ["x", "y", "x", "z"]})
    accounts, devices = pa.table({"id": [3, 1, 2], "age": [4, 7, 5]}), pa.table({"id": ["y", "x"], "price": [3, 9]})
    nodes = {"account": accounts, "device": devices}
    network = read_network(edges, nodes, judge="account")
    assert network.ids.to_pylist() == ["1", "2", "3", "x", "y"]
    assert network.counts.unknown_edges == 1
    kept = read_network(edges, nodes, judge="account", keep_unknown=True, target_kind="device")
    assert sorted(kept.ids.to_pylist()) == ["1", "2", "3", "x", "y", "z"]


def test_kept_columns_are_those_of_the_judged_and_shown_for_others() -> None:
    edges, accounts, devices = made()
    network = read(edges, {"account": accounts, "device": devices}, keep_columns=("age",))
    assert network.originals.column_names == ["account.age", "device.age"]
    assert network.profile(0) == f"age {accounts['age'][0]}"
    assert network.profile(40) == f"age {devices['age'][0]}"
    result = network.with_kept(pa.table({"id": [2, 1]}))
    assert result["age"].to_pylist() == accounts["age"].to_pylist()[1::-1]
    with pytest.raises(TableError, match="no column 'price'"):
        read(edges, {"account": accounts, "device": devices}, keep_columns=("price",))


def test_what_a_column_is_may_be_said_for_one_kind_or_all() -> None:
    edges, accounts, devices = made()
    nodes = {"account": accounts, "device": devices}
    names = read(edges, nodes, kinds={"age": "ignore"}).graph.attribute_names
    assert not any(".age" in name for name in names)
    names = read(edges, nodes, kinds={"device.age": "ignore"}).graph.attribute_names
    assert "account.age" in names
    assert "device.age" not in names
    with pytest.raises(EncodingError, match=r"device\.agee"):
        read(edges, nodes, kinds={"device.agee": "ignore"})


def test_an_encoding_is_used_again_for_the_same_kinds(network: Network) -> None:
    edges, accounts, devices = made()
    nodes = {"account": accounts, "device": devices}
    encoding = Encoding.from_json(network.encoding.to_json())
    assert encoding == network.encoding
    again = read_network(edges, nodes, source_kind="account", encoding=encoding)  # it knows whom to judge
    same_bits(network, again)
    # More devices than accounts: the kinds stay in the order of the model.
    more = pa.concat_tables([devices, devices.set_column(0, "id", pa.array(np.arange(100, 100 + DEVICES)))])
    larger = read_network(edges, {"account": accounts, "device": more}, source_kind="account", encoding=encoding)
    assert larger.graph.kinds.names == ("account", "device")
    with pytest.raises(TableError, match="fitted with 'account', 'device'"):
        read_network(edges, {"account": accounts, "phone": devices}, source_kind="account", encoding=encoding)
    with pytest.raises(TableError, match="judges 'account'"):
        read_network(edges, nodes, judge="device", source_kind="account", encoding=encoding)
    with pytest.raises(TableError, match="does not say of which kind"):
        read_network(edges, accounts, encoding=encoding)
    alone = read_network(edges, accounts).encoding
    with pytest.raises(TableError, match="one kind of node"):
        read(edges, nodes, encoding=alone)


def test_an_encoding_of_one_kind_says_nothing_of_kinds() -> None:
    edges, accounts, _ = made()
    assert not {"kinds", "nodes"} & read_network(edges, accounts).encoding.to_json().keys()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"judge": None}, "2 kinds of nodes and it is open which of them is judged: 40 account, 25 device"),
        ({"judge": "acount"}, "did you mean 'account'"),
        ({"source_kind": None}, "the id 1 is that of a node of kind 'account' and 'device'"),
        ({"node_kind": "town"}, "node_kind"),
        ({"target_kind": "from"}, "is that of a node|fitted|kinds"),
    ],
)
def test_what_is_open_is_asked(change: dict[str, Any], message: str) -> None:
    edges, accounts, devices = made()
    if change == {"target_kind": "from"}:
        many = pa.table({"from": ["1"] * 200, "to": ["1"] * 200, "what": [str(k) for k in range(200)]})
        with pytest.raises(TableError, match="more than 100 different kinds"):
            read(many, {"account": accounts, "device": devices}, target_kind="what")
        return
    with pytest.raises(TableError, match=message):
        read(edges, {"account": accounts, "device": devices}, **change)


def test_tables_that_do_not_say_their_kind() -> None:
    edges, accounts, _ = made()
    for change in ({"target_kind": "to_kind"}, {"judge": "account"}):
        with pytest.raises(TableError, match="does not say of which kind"):
            read_network(edges, accounts, **change)
    with pytest.raises(TableError, match="no node table"):
        read_network(edges, {})
    with pytest.raises(TableError, match="needs a name"):
        read_network(edges, {" ": accounts})


def test_an_id_twice_within_a_kind() -> None:
    edges, accounts, devices = made()
    again = pa.concat_tables([devices, devices.slice(0, 1)])
    assert read(edges, {"account": accounts, "device": again}).counts.repeated_ids == 1
    other = pa.concat_tables([devices, devices.slice(0, 1).set_column(1, "age", pa.array([99]))])
    with pytest.raises(
        TableError, match=r"the id 1 of a node of kind 'device' stands in rows that differ in \['age'\]"
    ):
        read(edges, {"account": accounts, "device": other})


def test_edges_between_kinds_do_not_look_like_edges_in_order() -> None:
    edges, accounts, devices = made()
    only = edges.filter(pa.compute.equal(edges["to_kind"], "device"))
    assert read(only, {"account": accounts, "device": devices}).roles.directed


def test_a_column_called_like_a_kind_that_holds_none_is_no_kind() -> None:
    edges, accounts, devices = made()
    devices = devices.set_column(0, "id", pa.array(np.arange(101, 101 + DEVICES)))
    edges = edges.set_column(2, "to_type", pa.array(["fast", "slow"] * (ROWS // 2)))
    network = read_network(edges, {"account": accounts, "device": devices}, judge="account")
    assert network.roles.edge_kind == ("to_type",)


@pytest.mark.parametrize("shared", [False, True])
def test_ingest_gives_the_same_bits(tmp_path: Path, shared: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oddhop.tables.ingest.steps.NODES_AT_ONCE", 27)  # blocks that lie across kinds
    edges, accounts, devices = made()
    accounts = accounts.append_column("note", pa.array([f"note number {k % 7} here" for k in range(ACCOUNTS)]))
    settings: dict[str, Any] = {"judge": "account", "source_kind": "account", "keep_columns": ("age",)}
    nodes: Any = {"account": accounts, "device": devices}
    if shared:
        parts = [table.append_column("what", pa.array([kind] * table.num_rows)) for kind, table in nodes.items()]
        nodes, settings["node_kind"] = {"": pa.concat_tables(parts, promote_options="default")}, "what"
    paths = {kind: str(tmp_path / f"nodes{kind}.csv") for kind in nodes}
    for kind, table in nodes.items():
        pa_csv.write_csv(table, paths[kind])
    pa_csv.write_csv(edges, tmp_path / "edges.csv")
    named = paths[""] if shared else paths
    in_memory = read_network(str(tmp_path / "edges.csv"), named, **settings)
    ingest(tmp_path / "edges.csv", named, tmp_path / "graph", ReadSettings(**settings), EncodeSettings())
    on_disk = open_network(tmp_path / "graph")
    same_bits(in_memory, on_disk)
    assert on_disk.graph.kinds == in_memory.graph.kinds
    assert on_disk.encoding == in_memory.encoding
    assert on_disk.roles == in_memory.roles
    assert on_disk.counts == replace(in_memory.counts)
    assert on_disk.originals.equals(in_memory.originals.select(on_disk.originals.column_names))
    assert on_disk.profile(50) == in_memory.profile(50)
    assert isinstance(on_disk.graph.events, Events)
    ingest(tmp_path / "edges.csv", named, tmp_path / "again", ReadSettings(**settings), encoding=in_memory.encoding)
    same_bits(open_network(tmp_path / "again"), in_memory)


def written(folder: Path, edges: pa.Table, accounts: pa.Table, devices: pa.Table) -> dict[str, str]:
    for name, table in (("edges", edges), ("accounts", accounts), ("devices", devices)):
        pa_csv.write_csv(table, folder / f"{name}.csv")
    return {"account": str(folder / "accounts.csv"), "device": str(folder / "devices.csv")}


@pytest.mark.parametrize(
    "step", ["read.read.placing", "ingest.steps.fill_buckets", "read.read.write_events", "ingest.steps.write_dense"]
)
def test_a_killed_ingest_goes_on(tmp_path: Path, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = written(tmp_path, *made())
    settings = ReadSettings(judge="account", source_kind="account")
    edges = tmp_path / "edges.csv"
    with monkeypatch.context() as patch:
        patch.setattr(f"oddhop.tables.{step}", _killed)
        with pytest.raises(KeyboardInterrupt):
            ingest(edges, nodes, tmp_path / "graph", settings)
    ingest(edges, nodes, tmp_path / "graph", settings)
    same_bits(open_network(tmp_path / "graph"), read(str(tmp_path / "edges.csv"), nodes))


def _killed(*arguments: Any, **options: Any) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("several", [False, True])
def test_an_end_whose_kind_is_missing_lacks_an_end(tmp_path: Path, several: bool) -> None:
    edges, accounts, devices = made()
    told = [None if k % 10 == 1 else one for k, one in enumerate(edges["to_kind"].to_pylist())]
    edges = edges.set_column(2, "to_kind", pa.array(told))
    if not several:
        edges = edges.filter(pa.compute.fill_null(pa.compute.equal(edges["to_kind"], "account"), True))
    nodes = written(tmp_path, edges, accounts, devices)
    if not several:
        del nodes["device"]
    settings = {"judge": "account", "source_kind": "account", "target_kind": "to_kind"}
    network = read_network(str(tmp_path / "edges.csv"), nodes, **settings)
    assert (network.graph.kinds is not None) == several
    counts = network.counts
    assert counts.null_ends == ROWS // 10
    kept = counts.edge_rows - counts.null_ends - counts.unknown_edges - counts.loops
    assert network.graph.events.event_count == kept
    ingest(tmp_path / "edges.csv", nodes, tmp_path / "graph", ReadSettings(**settings))
    same_bits(open_network(tmp_path / "graph"), network)


def test_an_end_may_be_called_like_its_kind() -> None:
    accounts = pa.table({"id": [1, 2, 3], "age": [20, 30, 40]})
    devices = pa.table({"id": [1, 2], "price": [5.0, 9.0]})
    logins = pa.table({"account": [1, 2, 3], "device": [1, 1, 2]})
    tables = {"account": accounts, "device": devices}
    ends = {"source": "account", "target": "device", "source_kind": "account", "target_kind": "device"}
    network = read_network(logins, tables, judge="account", **ends)
    assert network.graph.kinds is not None
    assert network.graph.kinds.names == ("account", "device")
    assert network.graph.node_count == 5


def test_a_kind_has_no_dot_in_its_name() -> None:
    edges, accounts, devices = made()
    with pytest.raises(TableError, match="must not have a dot"):
        read(edges, {"account.x": accounts, "device": devices}, judge="account.x", source_kind="account.x")


def test_a_kind_that_no_node_has_is_not_taken_for_the_first() -> None:
    kinds = ("account", "device")
    assert [EndKind(name=one).sql(kinds) for one in kinds] == ["0", "1"]
    assert EndKind(name="shop").sql(kinds) == "CAST(NULL AS INTEGER)"
    assert EndKind().sql(kinds) is None
