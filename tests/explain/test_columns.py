"""What is said of a column: its value here, and that of the neighbours with those that are unknown counted apart."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from oddhop import read_network
from oddhop.explain.columns import Columns

EDGES = pa.table({"source": ["a"] * 5, "target": ["b", "c", "d", "e", "f"]})
PAID = pa.table({"from": list("aabccd"), "to": list("bccdbb"), "euros": [100.0, 12.34, 50.0, 33.33, 7.0, 70.1]})
PEOPLE = pa.table({"id": list("abcd"), "age": [30, 40, 50, 60]})


@pytest.mark.parametrize(
    ("neighbours", "said"),
    [
        ([18.0, 54.0, 81.0, None, None], "median 54 (range 18 to 81, 2 unknown)"),
        ([18.0, 54.0, 81.0, 54.0, 20.0], "median 54 (range 18 to 81)"),
        ([54.0, 54.0, 54.0, 54.0, None], "54 (1 unknown)"),
        ([None, None, None, None, None], "5 unknown"),
    ],
)
def test_unknown_values_of_neighbours_are_counted_apart(neighbours: list[float | None], said: str) -> None:
    people = pa.table({"id": list("abcdefgh"), "age": [31.0, *neighbours, None, 99.0]})
    columns = Columns(read_network(EDGES, people, flows=False))
    [span] = columns.spans
    told = columns.difference(span, 0, np.arange(1, 6), "54", -1.0)
    assert (told.column, told.own, told.usual) == ("age", "31", said)
    assert columns.own(span, 6) == "unknown"


def test_shares_of_events_are_said_with_their_events() -> None:
    columns = Columns(read_network(PAID, PEOPLE))
    spans = {one.name: one for one in columns.spans}
    round_sent, round_received = (spans[f"euros {side} share of round amounts"] for side in ("out", "in"))
    assert columns.own(round_sent, 0) == "0.5 (2 events)"
    assert columns.own(round_sent, 1) == "1 (1 event)"
    assert columns.own(spans["euros out mean"], 1) == "50"
    # Node a received nothing. Its share was filled in for the detector, and is no value of the node.
    told = columns.difference(round_received, 0, np.array([1, 2]), "1", -1.0)
    assert (told.own, told.elsewhere) == ("unknown", "")
