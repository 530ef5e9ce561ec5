"""Functions that one example each shows."""

from __future__ import annotations

import numpy as np

from oddhop import Graph
from oddhop.graph.adjacency import Repairs
from oddhop.graph.in_words import more_facts, read_facts, repair_facts
from oddhop.graph.rows import Columns, NodeRows, fill


def test_rows_are_filled_from_whole_blocks() -> None:
    out = np.empty(2)
    fill(out, 3, 9, lambda first, last: np.arange(first, last) / 2)
    assert out.tolist() == [1.5, 2.0]


def test_a_graph_says_what_it_holds() -> None:
    assert read_facts(Graph.from_arrays([[0, 1], [1, 2]], [[1.0], [2.0], [3.0]])) == (
        ("nodes", "3"),
        ("edges", "2"),
        ("attributes", "1"),
    )


def test_a_graph_says_what_else_is_known() -> None:
    assert more_facts(Graph.from_arrays([[0, 1], [1, 2]], [[1.0], [2.0], [3.0]], attribute_names=["age"])) == (
        ("mean degree", "1.3"),
        ("attribute names", "age"),
    )


def test_repairs_are_counted_in_words() -> None:
    assert repair_facts(Repairs(loops=2)) == ((2, "edges from a node to itself, skipped"),)


def test_rows_of_some_nodes_count_from_the_first_of_them() -> None:
    assert NodeRows(np.arange(6.0).reshape(3, 2), slice(1, 3))[0:1].tolist() == [[2.0, 3.0]]


def test_columns_come_in_the_order_that_is_asked_for() -> None:
    assert Columns(np.arange(6.0).reshape(2, 3), np.array([2, 0]))[0:2].tolist() == [[2.0, 0.0], [5.0, 3.0]]
