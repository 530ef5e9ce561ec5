"""Either detector is explained and audited through the same three functions."""

from __future__ import annotations

import numpy as np
import pytest

from oddhop import HCM, Graph, Odd
from oddhop.detectors.reasons import audited, explain, measure_of, top_of
from tests.conftest import QUICK


@pytest.mark.parametrize("detector", [HCM(**{**QUICK, "top_k": 7}), Odd(random_state=0, top_k=7)])
def test_the_model_says_who_explains(small: Graph, detector: HCM | Odd) -> None:
    fitted = detector.fit(small)
    model, result = fitted.model_, fitted.result_
    measure = measure_of(model, result)
    assert top_of(model, result) == 7
    assert measure.threshold == fitted.threshold_
    [why] = explain(model, small, [3], measure)
    assert why.score == pytest.approx(fitted.anomaly_scores_[3], rel=1e-4)
    odd = isinstance(fitted, Odd)
    assert bool(why.views) == odd
    checks = {one.check for one in audited(model, small, result, dropped=9, tied=3)}
    assert ("strangers" in checks, "ties" in checks) == (odd, not odd)


def test_without_a_budget_the_top_percent_makes_the_alert_line(small: Graph) -> None:
    fitted = Odd(random_state=0).fit(small)
    measure = measure_of(fitted.model_, fitted.result_)
    assert measure.threshold == np.sort(fitted.anomaly_scores_)[-top_of(fitted.model_, fitted.result_)]
