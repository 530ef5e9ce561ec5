"""The table that a run prints: what does not fit is counted."""

from __future__ import annotations

import pyarrow as pa
import pytest

from oddhop.cli.summary import MOST_SHOWN, show_top


@pytest.mark.parametrize(("flagged", "said"), [(MOST_SHOWN, ""), (MOST_SHOWN + 3, "; 3 more flagged in the results")])
def test_flagged_cases_that_are_not_shown_are_counted(
    capsys: pytest.CaptureFixture[str], flagged: int, said: str
) -> None:
    ranks = list(range(1, 41))
    bounds = dict.fromkeys(("rank", "rank_low", "rank_high", "degree", "case"), ranks)
    marked = [rank <= flagged for rank in ranks]
    result = pa.table({"id": [f"n{rank}" for rank in ranks], "score": [50.0 - rank for rank in ranks], **bounds})
    show_top(result.append_column("flagged", pa.array(marked)), top=MOST_SHOWN)
    assert capsys.readouterr().out.splitlines()[0].strip() == f"Top 20 cases among 40 nodes{said}"
