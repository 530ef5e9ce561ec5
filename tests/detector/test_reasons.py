"""Either detector is explained and audited through the same three functions."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from oddhop import HCM, Graph, Odd
from oddhop.detector.reasons import audited, explain, measure_of, top_of
from oddhop.odd import ring
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


def test_the_eigenvectors_are_not_searched_again_to_explain(
    small: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitted = Odd(random_state=0).fit(small)
    fitted.save(tmp_path / "model.oddhop")
    model = Odd.load(tmp_path / "model.oddhop").model_
    measure = measure_of(model, fitted.result_)
    asked: list[Graph] = []
    found = ring.communities
    monkeypatch.setattr(ring, "communities", lambda graph: asked.append(graph) or found(graph))
    kept = [list(explain(one, small, [3, 9], measure)) for one in (fitted.model_, model)]
    assert not asked
    assert kept[0] == kept[1]  # the file keeps every bit of what the fit left
    [anew, _] = explain(replace(model, apart=None), small, [3, 9], measure)
    assert len(asked) == 1
    assert anew.score == pytest.approx(kept[0][0].score, rel=1e-5)


def test_what_was_kept_of_one_network_is_not_used_for_another(small: Graph) -> None:
    model = Odd(random_state=0).fit(small).model_
    measure = measure_of(model, Odd(random_state=0).fit(small).result_)
    other = small.with_attributes(small.attributes[::-1].copy())
    [why] = explain(model, other, [3], measure)
    [anew] = explain(replace(model, apart=None), other, [3], measure)
    assert why == anew
    [mismatched] = explain(replace(model, apart=np.zeros(3, dtype=np.float32)), small, [3], measure)
    assert mismatched.score == pytest.approx(Odd(random_state=0).fit(small).anomaly_scores_[3], rel=1e-5)


def test_odd_and_its_report_do_without_torch() -> None:
    imports = "import sys, oddhop.cli.casefile, oddhop.reports; from oddhop import Odd; import oddhop.detector.registry"
    told = f"{imports}; oddhop.detector.registry.detector_named('odd'); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", told], check=False).returncode == 0
