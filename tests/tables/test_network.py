from __future__ import annotations

import uuid

import pyarrow as pa
import pytest

from oddhop.errors import EncodingError
from oddhop.settings import EncodeSettings, ReadSettings
from oddhop.tables.network import load_network, with_ids

IDS = [uuid.UUID(int=k).bytes for k in (3, 1, 2)]
TIES = pa.table({"u": pa.array(IDS, pa.uuid()), "v": pa.array(IDS[1:] + IDS[:1], pa.uuid())})
PEOPLE = pa.table({"id": pa.array(IDS, pa.uuid()), "age": [30, 10, 20], "town": ["Bonn", "Cork", "Bonn"]})


def test_ids_of_any_type_come_back_as_they_came() -> None:
    network = load_network(TIES, PEOPLE)
    assert network.graph.node_ids is None
    assert network.ids.type == pa.uuid()
    named = with_ids(pa.table({"id": [2, 0], "score": [0.5, 0.1]}), network.ids)
    assert [value.bytes for value in named["id"].to_pylist()] == [IDS[0], IDS[1]]
    assert named["score"].to_pylist() == [0.5, 0.1]


def test_settings_reach_the_reader_and_the_encoder() -> None:
    network = load_network(
        TIES.rename_columns(["a", "b"]),
        PEOPLE,
        ReadSettings(source="b", target="a"),
        EncodeSettings(kinds={"town": "ignore"}),
    )
    assert (network.roles.source, network.roles.target) == ("b", "a")
    assert network.graph.attribute_names == ("age",)


def test_an_encoding_is_used_again_and_tells_what_is_new() -> None:
    first = load_network(TIES, PEOPLE)
    again = load_network(TIES, PEOPLE, encoding=first.encoding)
    assert again.graph.fingerprint == first.graph.fingerprint
    assert [one.count for one in again.differences] == [1]  # Cork, which one row has
    moved = PEOPLE.set_column(2, "town", pa.array(["Rome", "Cork", "Bonn"]))
    assert [one.count for one in load_network(TIES, moved, encoding=first.encoding).differences] == [2]
    with pytest.raises(EncodingError, match="age"):
        load_network(TIES, PEOPLE.drop_columns(["age"]), encoding=first.encoding)


def test_progress_goes_through_reading_and_encoding() -> None:
    seen: list[tuple[str, int, int]] = []
    load_network(TIES, PEOPLE, progress=lambda *report: seen.append(report))
    assert seen[0] == ("reading", 0, 5)
    assert ("reading", 5, 5) in seen
    assert seen[-1] == ("encoding", 2, 2)
