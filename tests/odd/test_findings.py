"""What the audit says of a ranking by Odd."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from oddhop.odd.findings import COMPARISONS, controls, standing_out
from oddhop.odd.null import Chance


@pytest.mark.parametrize(("columns", "edges", "level"), [(0.001, 0.5, "warning"), (0.95, 0.001, "fine")])
def test_a_list_that_columns_alone_would_give_is_a_warning(columns: float, edges: float, level: str) -> None:
    rest = [0.9] * 40
    judged = {"p_outlier": [columns] * 10 + rest, "p_clique": [edges] * 10 + rest, "judged": [True] * 50}
    assert controls(pa.table(judged), 10).level == level


@pytest.mark.parametrize("score", [1.0, 99.0])
def test_the_count_of_nodes_that_stand_out_says_how_it_differs_from_a_p_value(score: float) -> None:
    told = standing_out(Chance(np.arange(50.0), 20), np.full(3, score), 0.1)
    assert (told.figure == 0.0) == (score == 1.0)
    assert told.more.endswith(COMPARISONS)
