"""Functions that one example each shows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from oddhop.detector.cost import Cost, check_memory
from oddhop.detector.flagging import budget, threshold
from oddhop.detector.ranking import align, ascending, join_similar, rank_scores, spans
from oddhop.detector.registry import detector_named
from oddhop.detector.result_table import Judgement, result_table
from oddhop.detector.shown import first_rows
from oddhop.errors import MemoryBudgetError
from oddhop.odd.settings import OddSettings


def test_a_table_has_the_highest_score_first() -> None:
    score, everyone = np.array([0.1, 0.7, 0.4]), np.ones(3, dtype=bool)
    judgement = Judgement(rank_scores(score, np.stack([score, score]), everyone, 1, inflation=1.0), everyone)
    table = result_table(pa.array(["al", "bo", "cy"]), np.array([1, 2, 1]), judgement, 0.55)
    assert table.select(["id", "rank", "flagged"]).to_pylist()[0] == {"id": "bo", "rank": 1, "flagged": True}


def test_replicates_are_brought_to_one_mean_and_spread() -> None:
    rows = np.array([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]])
    aligned = align(lambda span: rows[:, span], np.ones(3, dtype=bool))
    assert (bool(np.allclose(*aligned.block(slice(0, 3)))), round(aligned.unit, 2)) == (True, 4.49)


def test_a_variance_is_joined_with_those_of_similar_nodes() -> None:
    variance = np.array([0.0, 2.0])
    assert (join_similar(variance, 1, np.array([0, 1])), variance.tolist()) == (4, [0.75, 1.25])


def test_judged_nodes_go_from_low_to_high() -> None:
    assert ascending(np.array([2.0, 0.0, 1.0]), np.array([True, False, True])).tolist() == [2, 0]


def test_the_first_rows_are_shown_with_their_rank_ranges() -> None:
    names = ("id", "score", "rank", "rank_low", "rank_high")
    html = first_rows(pa.table({name: [1, 2] for name in names}))
    assert ("rank range" in html, "2 to 2" in html) == (True, True)


def test_nodes_that_tie_across_the_border_are_left_out_together() -> None:
    everyone = np.ones(4, dtype=bool)
    assert threshold(np.array([1.0, 5.0, 3.0, 2.0]), everyone, 2) == 2.5
    assert threshold(np.array([1.0, 3.0, 3.0, 3.0]), everyone, 2) == np.inf


def test_a_fit_that_needs_more_memory_is_refused() -> None:
    with pytest.raises(
        MemoryBudgetError, match=r"HCM on a large network needs about 3\.0 GiB for scoring, and the limit is"
    ):
        check_memory(Cost({"scoring": 3 * 2**30}), 2**30, "HCM on a large network")


def test_the_budget_is_that_of_the_settings_or_one_in_a_hundred() -> None:
    assert (budget(OddSettings(top_k=5), 1_000), budget(OddSettings(), 1_000)) == (5, 10)


def test_nodes_are_cut_into_blocks() -> None:
    assert repr(list(spans(65_537))) == "[slice(0, 65536, None), slice(65536, 65537, None)]"


def test_a_detector_is_found_by_its_name() -> None:
    assert detector_named("odd").__name__ == "Odd"
