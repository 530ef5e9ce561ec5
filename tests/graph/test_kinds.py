from __future__ import annotations

import json
from dataclasses import asdict, replace

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from pydantic import BaseModel

from oddhop import Graph, read_network
from oddhop.errors import GraphError
from oddhop.graph.disk import STRICT
from oddhop.graph.kinds import NodeKinds

KINDS = NodeKinds(("account", "device", "merchant"), (0, 3, 5, 6), (0, 1, 0, 1), judged=0)


class Stored(BaseModel):
    """The kinds as a manifest has them."""

    model_config = STRICT
    kinds: NodeKinds


def _graph(*, sparse: bool = False) -> Graph:
    x = np.array([[1, 0, 2, 0], [3, 0, 4, 0], [5, 0, 6, 0], [0, 7, 0, 8], [0, 9, 0, 1], [0, 0, 0, 0]], dtype=float)
    graph = Graph.from_arrays([[0, 1, 2, 0, 1], [3, 3, 4, 5, 5]], sp.csr_array(x) if sparse else x)
    return replace(graph, kinds=KINDS)


@pytest.mark.parametrize(
    "parts",
    [
        (("a",), (0, 6), (0,), 0),
        (("a", "a"), (0, 3, 6), (0,), 0),
        (("a", "b"), (0, 6), (0,), 0),
        (("a", "b"), (0, 3, 3), (0,), 0),
        (("a", "b"), (1, 3, 6), (0,), 0),
        (("a", "b"), (0, 3, 6), (2,), 0),
        (("a", "b"), (0, 3, 6), (-1,), 0),
        (("a", "b"), (0, 3, 6), (0,), 2),
        (("a", "b"), (0, 3, 6), (0,), -1),
    ],
)
def test_kinds_that_do_not_fit_together_are_refused(parts: tuple) -> None:
    with pytest.raises(GraphError):
        NodeKinds(*parts)
    document = dict(zip(("names", "bounds", "columns", "judged"), parts, strict=True))
    with pytest.raises(ValueError, match="kind"):
        Stored.model_validate_json(json.dumps({"kinds": document}))


def test_kinds_go_through_json() -> None:
    assert Stored.model_validate_json(Stored(kinds=KINDS).model_dump_json()).kinds == KINDS
    for name, value in (("judged", 0.0), ("judged", True), ("names", [1, 2, 3]), ("bounds", [0, 3.0, 5, 6])):
        with pytest.raises(ValueError, match=name):
            Stored.model_validate_json(json.dumps({"kinds": {**asdict(KINDS), name: value}}))


def test_every_node_and_column_has_one_kind() -> None:
    of = [k for k in range(3) for _ in range(6)[KINDS.nodes(k)]]
    assert KINDS.of(np.arange(6)).tolist() == of == [0, 0, 0, 1, 1, 2]
    assert [KINDS.columns_of(k).tolist() for k in range(3)] == [[0, 2], [1, 3], []]


@pytest.mark.parametrize("sparse", [False, True])
def test_a_kind_has_its_own_rows_and_columns(sparse: bool) -> None:
    graph = _graph(sparse=sparse)
    own = [graph.of_kind(k) for k in range(3)]
    values = [one.attributes.toarray() if sparse else one.attributes for one in own]
    assert [one.tolist() for one in values] == [[[1, 2], [3, 4], [5, 6]], [[7, 8], [9, 1]], [[]]]
    assert [one.edge_count for one in own] == [0, 0, 0]
    assert all(one.kinds is None for one in own)
    alone = replace(graph, kinds=None)
    assert alone.of_kind(0) is alone


def test_flow_columns_stay_with_their_kind() -> None:
    graph = replace(_graph(), flow_count=2)  # the last two columns: one of accounts, one of devices
    assert [graph.of_kind(k).flow_count for k in range(3)] == [1, 1, 0]


def test_the_fingerprint_knows_who_is_judged_and_not_what_a_kind_is_called() -> None:
    graph = _graph()
    renamed = replace(graph, kinds=replace(KINDS, names=("x", "y", "z")))
    assert renamed.fingerprint == graph.fingerprint
    others = [
        replace(KINDS, judged=1),
        replace(KINDS, judged=2),
        replace(KINDS, bounds=(0, 2, 5, 6)),
        replace(KINDS, columns=(0, 1, 0, 2)),
        None,
    ]
    prints = {replace(graph, kinds=one).fingerprint for one in others}
    assert len({*prints, graph.fingerprint}) == len(others) + 1


def test_the_judged_are_a_network_of_their_own_columns() -> None:
    accounts = pa.table(
        {
            "id": ["b", "a", "c"],
            "age": [30, 40, 50],
            "note": ["pays late every month", "never pays at all", "pays on the day"],
        }
    )
    devices = pa.table({"id": ["d", "e"], "age": [1, 2]})
    edges = pa.table(
        {
            "from": ["a", "b", "c", "a"],
            "to": ["d", "d", "e", "e"],
            "from_kind": ["account"] * 4,
            "to_kind": ["device"] * 4,
        }
    )
    tables = {"account": accounts, "device": devices}
    network = read_network(edges, tables, judge="account", kinds={"account.note": "text"})
    own = network.of_judged()
    assert own.ids.to_pylist() == ["a", "b", "c"]
    assert own.graph.node_count == 3
    assert own.graph.kinds is None
    assert own.encoding is not None
    assert {"age", "note"} <= {one.name for one in own.encoding.columns}
    assert len(own.encoding.names) == own.graph.attribute_count
    assert own.graph.flow_count == own.encoding.flow_count
    assert own.originals is not None
    assert own.originals["note"].to_pylist() == ["never pays at all", "pays late every month", "pays on the day"]
    kinds = network.graph.kinds
    assert kinds is not None
    every = network.graph.attributes.toarray()
    np.testing.assert_array_equal(own.graph.attributes.toarray(), every[:3][:, kinds.columns_of(0)])
    assert network.encoding is not None
    assert network.encoding.of_kind("merchant") is None
    # Judged by devices, theirs.
    other = read_network(edges, tables, judge="device", kinds={"account.note": "text"})
    assert other.of_judged().ids.to_pylist() == ["d", "e"]
    assert other.graph.fingerprint != network.graph.fingerprint
    alone = read_network(pa.table({"from": ["a"], "to": ["b"]}), accounts)
    assert alone.of_judged() is alone
