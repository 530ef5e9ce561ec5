"""Functions that one example each shows."""

from __future__ import annotations

import numpy as np

from oddhop.runs.drift import index, stability_index
from oddhop.runs.read import left_out
from oddhop.runs.targets import StoredObject, target_named
from oddhop.tables.read.joins import Counts


def test_a_target_is_found_by_its_address() -> None:
    assert target_named("s3://shop/scores.parquet", "replace", None) == StoredObject(
        "s3://shop/scores.parquet", "replace"
    )
    # The address may have a password, which is not shown.
    assert repr(target_named("scores", "create", "sqlite:///shop.db")) == "DatabaseTable(name='scores', mode='create')"


def test_the_stability_of_equal_shares_is_nothing() -> None:
    assert (
        index(np.array([10, 10]), np.array([20, 20])),
        round(index(np.array([100, 100]), np.array([150, 50])), 2),
    ) == (0.0, 0.27)


def test_the_stability_index_grows_with_the_shift() -> None:
    old = np.arange(1000.0)
    assert (
        stability_index(old, old),
        round(stability_index(old, old + 50), 2),
        stability_index(old, old + 500) > 1,
    ) == (0.0, 0.05, True)


def test_what_was_left_out_has_its_own_number() -> None:
    counts = Counts(
        edge_rows=0,
        node_rows=0,
        null_ends=2,
        unknown_edges=3,
        loops=4,
        duplicate_edges=5,
        null_ids=6,
        repeated_ids=7,
        lone_nodes=8,
        ignored_columns=(),
        outside_window=1,
        unknown_nodes=9,
    )
    words = {
        1: "window",
        2: "without a source",
        3: "not in the node table",
        4: "itself",
        5: "repeat the two nodes",
        6: "without an id",
        7: "repeated node rows",
        8: "without an edge",
        9: "only in the edge table",
    }
    pairs = [text for _, text in left_out(counts, events=False, both_ways=11)]
    assert {int(one.split()[0]): words[int(one.split()[0])] in one for one in pairs} == dict.fromkeys(words, True)
    events = left_out(counts, events=True, both_ways=11)
    assert [kept for kept, text in events if text.startswith("11 ") and "both directions" in text] == [True]
    assert [kept for kept, text in events if text.startswith("5 ") and "one more event" in text] == [True]
    assert [kept for kept, text in events if text.startswith("4 ")] == [False]
