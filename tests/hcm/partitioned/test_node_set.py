from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oddhop.hcm.partitioned.node_set import NodeSet

pytestmark = pytest.mark.kernels

some_nodes = st.lists(st.one_of(st.integers(0, 60), st.integers(0, 2**62)), max_size=200)


def as_nodes(numbers: list[int]) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


@settings(deadline=None)
@given(first=some_nodes, more=st.lists(some_nodes, max_size=5), asked=some_nodes)
def test_it_is_the_set_that_python_has(first: list[int], more: list[list[int]], asked: list[int]) -> None:
    ours, known = NodeSet(as_nodes(first)), set(first)
    for nodes in more:
        expected = [node for node in dict.fromkeys(nodes) if node not in known]
        assert ours.add(as_nodes(nodes)).tolist() == expected
        known.update(nodes)
    assert ours.size == len(known)
    assert ours.holds(as_nodes(asked)).tolist() == [node in known for node in asked]
    rows = [asked[:3], [], asked[3:]]
    ends = np.cumsum([0, *map(len, rows)])
    firsts = [next((node for node in row if node in known), -1) for row in rows]
    assert ours.first_in_rows(as_nodes(asked), ends, np.arange(3)).tolist() == firsts


@pytest.mark.parametrize("step", [1, 2**16, 2**32, 2**40 + 1])
def test_it_grows_with_what_it_holds_and_not_with_the_numbers(step: int) -> None:
    nodes = np.arange(1_000) * step
    grown = NodeSet(nodes[:1])
    for start in range(0, 1_000, 100):
        grown.add(nodes[start : start + 100])
    for one in (NodeSet(nodes), grown):
        assert one.size == 1_000
        assert 2_000 <= one.slots.size <= 4_096
        assert one.holds(nodes).all()
        assert not one.holds(nodes + 1_000 * step).any()
