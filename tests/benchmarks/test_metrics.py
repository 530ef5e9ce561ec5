"""Figures and their intervals against independent computations."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from benchmarks.comparison.cells import Cell, Injection
from benchmarks.comparison.summary import digits, slope, summarise
from benchmarks.metrics import average_precision, figures, roc_auc


def drawn(seed: int, odd: int = 40, plain: int = 400) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = np.repeat([True, False], [odd, plain])
    return labels, rng.normal(size=labels.size) + labels


def test_the_area_is_scikit_learns_ties_and_all() -> None:
    labels, scores = drawn(0)
    for values in (scores, scores.round(0)):
        assert roc_auc(labels, values)[0] == pytest.approx(roc_auc_score(labels, values))


def test_the_standard_error_is_the_spread_over_fresh_draws() -> None:
    areas, errors = zip(*(roc_auc(*drawn(seed)) for seed in range(400)), strict=True)
    assert np.mean(errors) == pytest.approx(np.std(areas), rel=0.1)


def test_the_error_of_the_average_precision_is_of_the_right_size() -> None:
    points, errors = zip(*(average_precision(*drawn(seed)) for seed in range(30)), strict=True)
    labels, scores = drawn(0)
    for values in (scores, scores.round(0)):
        assert average_precision(labels, values)[0] == pytest.approx(average_precision_score(labels, values))
    assert np.mean(errors) == pytest.approx(np.std(points), rel=0.35)


def test_a_kind_is_told_from_normal_nodes_only() -> None:
    anomalous = np.array([True, True, False, False])
    structural, contextual = np.array([True, False, False, False]), np.array([False, True, False, False])
    found = figures(np.array([2.0, 0.0, 1.0, 1.5]), anomalous, structural, contextual)
    assert found["structural"]["roc_auc"] == 1.0
    assert found["contextual"]["roc_auc"] == 0.0


def line(area: float, error: float = 0.03) -> dict[str, object]:
    return {"status": "done", "figures": {"ahp": {"roc_auc": area, "roc_auc_error": error}}}


def test_more_seeds_on_the_same_anomalies_do_not_shrink_the_error_over_nodes() -> None:
    cells = [Cell("one", "HCM", seed) for seed in range(10)]
    found = summarise({cell.key: line(0.7) for cell in cells}, cells, "ahp")
    assert (found.mean, found.runs) == (pytest.approx(0.7), 10)
    assert found.high - found.low == pytest.approx(2 * 1.96 * 0.03, rel=1e-3)


def test_injections_that_differ_widen_the_interval() -> None:
    cells = [Cell("one", "HCM", 0, Injection(5, k)) for k in range(5)]
    alike = summarise({cell.key: line(0.7) for cell in cells}, cells, "ahp")
    apart = summarise({cell.key: line(0.7 + 0.05 * (-1) ** k) for k, cell in enumerate(cells)}, cells, "ahp")
    assert alike.high - alike.low == pytest.approx(2 * 1.96 * 0.03 / np.sqrt(5), rel=1e-3)
    assert apart.high - apart.low > 2 * (alike.high - alike.low)


def test_what_has_no_figure_says_why() -> None:
    cell, other = Cell("one", "HCM"), Cell("one", "HCM", 1)
    assert str(summarise({}, [cell], "ahp")) == "not run"
    assert str(summarise({cell.key: {"status": "over time"}}, [cell], "ahp")) == "over time"
    assert "(1 of 2 runs)" in str(summarise({cell.key: line(0.7)}, [cell, other], "ahp"))


def test_growth_is_told_by_the_large_end() -> None:
    sizes = [10.0, 100.0, 1e3, 1e4, 1e5, 1e6]
    assert slope(sizes, [1.0, 1.0, 1.0, 1e1, 1e2, 1e3]) == pytest.approx(1.0)
    assert slope([10.0], [1.0]) is None
    assert digits(0.5) == ".500"
