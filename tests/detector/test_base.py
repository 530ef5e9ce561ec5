"""Every detector is explained, audited and saved through the same methods."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import oddhop
from oddhop import Graph, Odd
from oddhop.detector.base import GraphDetector
from oddhop.odd import views
from tests.conftest import QUICK, needs_torch


@pytest.fixture(params=[pytest.param("HCM", marks=needs_torch), "Odd"])
def fitted(request: pytest.FixtureRequest, small: Graph) -> GraphDetector:
    settings = QUICK if request.param == "HCM" else {"random_state": 0}
    return getattr(oddhop, request.param)(**settings, top_k=7).fit(small)


def test_either_detector_explains_and_audits_its_ranking(small: Graph, fitted: GraphDetector) -> None:
    baseline = fitted.baseline(fitted.result_)
    assert baseline.threshold == fitted.threshold_
    why = fitted.explain(3)
    assert why.score == pytest.approx(fitted.anomaly_scores_[3], rel=1e-4)
    odd = fitted.name == "odd"
    assert bool(why.views) == odd
    checks = {one.check for one in fitted.audit()}
    assert ("strangers" in checks, "ties" in checks) == (odd, not odd)
    features = fitted.features()
    assert features.num_rows == small.node_count
    assert all(np.isfinite(features[name].to_numpy()).all() for name in features.column_names)


def test_k_nodes_are_flagged_by_table_prediction_and_decision(small: Graph, fitted: GraphDetector) -> None:
    assert sum(fitted.result_["flagged"].to_pylist()) == 7
    assert (fitted.predict(small) == -1).sum() == 7
    assert (fitted.decision_function(small) < 0).sum() == 7
    assert fitted.threshold_ not in fitted.anomaly_scores_


def test_without_a_budget_the_top_percent_makes_the_alert_line(small: Graph) -> None:
    fitted = Odd(random_state=0).fit(small)
    assert fitted.baseline(fitted.result_).threshold == fitted.anomaly_scores_.max()


def test_tables_of_any_kind_are_fitted_and_ids_come_back() -> None:
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    rng = np.random.default_rng(0)
    people = {"name": [f"p{k}" for k in range(60)], "age": rng.integers(18, 80, 60), "town": ["Bonn", "Cork"] * 30}
    edges = {"from": [f"p{k}" for k in rng.integers(0, 60, 150)], "to": [f"p{k}" for k in rng.integers(0, 60, 150)]}
    first = Odd(random_state=0).fit(pd.DataFrame(edges), nodes=pd.DataFrame(people))
    second = Odd(random_state=0).fit(pl.DataFrame(edges), nodes=pl.DataFrame(people))
    assert first.result_.equals(second.result_)
    assert set(first.result_["id"].to_pylist()) == set(people["name"])
    oddest = first.result_["id"][0].as_py()
    assert first.explain(oddest).id == oddest
    again = first.rank(pd.DataFrame(edges), nodes=pd.DataFrame(people))
    assert again["score"].equals(first.result_["score"])


def test_a_loaded_detector_says_what_it_has_not(small: Graph, tmp_path: Path) -> None:
    Odd(random_state=0).fit(small).save(tmp_path / "model.oddhop")
    loaded = oddhop.load(tmp_path / "model.oddhop")
    assert type(loaded) is Odd
    with pytest.raises(AttributeError, match=r"call rank\(network\)"):
        loaded.anomaly_scores_  # noqa: B018 - the access is what is tested
    assert not hasattr(Odd(), "anomaly_scores_")


def test_the_eigenvectors_are_not_searched_again_to_explain(
    small: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitted = Odd(random_state=0).fit(small)
    fitted.save(tmp_path / "model.oddhop")
    loaded = Odd.load(tmp_path / "model.oddhop")
    asked: list[object] = []
    found = views.leading_eigenpairs
    monkeypatch.setattr(views, "leading_eigenpairs", lambda wiring: asked.append(wiring) or found(wiring))
    kept = [one.explain([3, 9], small, result=fitted.result_) for one in (fitted, loaded)]
    assert not asked
    assert kept[0] == kept[1]  # the file keeps every bit of what the fit left
    forgetful = _with_edges(loaded, None)
    anew = forgetful.explain([3, 9], small, result=fitted.result_)[0]
    assert len(asked) == 1
    assert anew.score == pytest.approx(kept[0][0].score, rel=1e-5)


def test_what_was_kept_of_one_network_is_not_used_for_another(small: Graph) -> None:
    fitted = Odd(random_state=0).fit(small)
    result, score = fitted.result_, fitted.anomaly_scores_[3]
    other = small.with_attributes(small.attributes[::-1].copy())
    why = fitted.explain(3, other, result=result)
    assert why == _with_edges(fitted, None).explain(3, other, result=result)
    mismatched = _with_edges(fitted, np.zeros(3, dtype=np.float32)).explain(3, small, result=result)
    assert mismatched.score == pytest.approx(score, rel=1e-5)


def _with_edges(fitted: Odd, residuals: np.ndarray | None) -> Odd:
    fitted.model_ = replace(fitted.model_, learned=replace(fitted.model_.learned, residuals=residuals))
    return fitted


def test_odd_and_its_report_do_without_torch() -> None:
    imports = "import sys, oddhop.runs.reopen, oddhop.reports; from oddhop import Odd; import oddhop.detector.registry"
    told = f"{imports}; oddhop.detector.registry.detector_named('odd'); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", told], check=False).returncode == 0


def test_arrays_are_fitted_without_the_readers_of_tables() -> None:
    code = """
import sys, numpy as np
from oddhop import Graph, Odd
Odd(simulate=False).fit(Graph.from_arrays([[0, 1, 2, 3], [1, 2, 3, 0]], np.eye(4)))
print(*(name for name in ("duckdb", "oddhop.tables.read", "oddhop.odd.explain") if name in sys.modules))
"""
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip() == ""


def test_a_copy_that_flags_anew_predicts_as_many(small: Graph) -> None:
    fitted = Odd(top_k=2, random_state=0, simulate=False).fit(small)
    assert (fitted.flagging(top_k=7).predict(small) == -1).sum() == 7
    assert (fitted.predict(small) == -1).sum() == 2
