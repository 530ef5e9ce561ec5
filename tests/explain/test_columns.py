"""What is said of a column: its value here, and that of the neighbours with those that are unknown counted apart."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from oddhop import read_network
from oddhop.explain.columns import Columns

EDGES = pa.table({"source": ["a"] * 5, "target": ["b", "c", "d", "e", "f"]})


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
    assert told.sentence.startswith(f"age: 31; neighbours: {said}; whole network: ")
    assert columns.own(span, 6) == "unknown"
