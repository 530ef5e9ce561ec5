from __future__ import annotations

import uuid

import pyarrow as pa
import pytest

from oddhop import Odd
from oddhop.errors import EncodingError
from oddhop.graph.events import EventColumns
from oddhop.tables.flows import flow_columns
from oddhop.tables.network import read_network

IDS = [uuid.UUID(int=k).bytes for k in (3, 1, 2)]
TIES = pa.table({"u": pa.array(IDS, pa.uuid()), "v": pa.array(IDS[1:] + IDS[:1], pa.uuid())})
PEOPLE = pa.table({"id": pa.array(IDS, pa.uuid()), "age": [30, 10, 20], "town": ["Bonn", "Cork", "Bonn"]})


def test_ids_of_any_type_come_back_as_they_came() -> None:
    network = read_network(TIES, PEOPLE)
    assert network.graph.node_ids is None
    assert network.ids.type == pa.uuid()
    ranked = Odd(random_state=0).fit(network).result_
    assert ranked["id"].type == pa.uuid()
    assert {value.bytes for value in ranked["id"].to_pylist()} == set(IDS)


def test_settings_reach_the_reader_and_the_encoder() -> None:
    network = read_network(
        TIES.rename_columns(["a", "b"]),
        PEOPLE,
        source="b",
        target="a",
        kinds={"town": "ignore"},
    )
    assert (network.roles.source, network.roles.target) == ("b", "a")
    assert network.graph.attribute_names == ("age",)


def test_an_encoding_is_used_again_and_tells_what_is_new() -> None:
    first = read_network(TIES, PEOPLE)
    again = read_network(TIES, PEOPLE, encoding=first.encoding)
    assert again.graph.fingerprint == first.graph.fingerprint
    assert [one.count for one in again.differences] == [1]  # Cork, which one row has
    moved = PEOPLE.set_column(2, "town", pa.array(["Rome", "Cork", "Bonn"]))
    assert [one.count for one in read_network(TIES, moved, encoding=first.encoding).differences] == [2]
    with pytest.raises(EncodingError, match="age"):
        read_network(TIES, PEOPLE.drop_columns(["age"]), encoding=first.encoding)


def test_progress_goes_through_reading_and_encoding() -> None:
    seen: list[tuple[str, int, int]] = []
    read_network(TIES, PEOPLE, progress=lambda *report: seen.append(report))
    steps = list(dict.fromkeys(step for step, _, _ in seen))
    assert steps == ["numbering nodes", "placing edges", "sorting events", "encoding", "attributes"]
    columns = len(PEOPLE.column_names) - 1 + len(flow_columns(EventColumns()))
    assert ("encoding", columns - 1, columns) in seen
    assert seen[-1] == ("attributes", PEOPLE.num_rows, PEOPLE.num_rows)
