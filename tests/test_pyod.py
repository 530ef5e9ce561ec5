"""HCM and Odd under the checks that PyOD has for its own detectors of graphs, in our words."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("torch_geometric")
pytest.importorskip("pyod")

import torch
from pyod.models.base import BaseDetector
from pyod.utils.data import generate_graph_data
from sklearn.base import clone
from torch_geometric.data import Data

from oddhop import HCM, Graph, Odd
from oddhop.detector.base import GraphDetector
from oddhop.pyod import PyODDetector
from tests.conftest import QUICK

OURS = [HCM(**QUICK), Odd(random_state=0, simulate=False)]
each = pytest.mark.parametrize("detector", OURS, ids=["HCM", "Odd"])


@pytest.fixture(scope="module")
def made() -> tuple[Any, np.ndarray, np.ndarray]:
    x, edges, _ = generate_graph_data(n_nodes=100, n_features=16, contamination=0.1, random_state=42)
    return Data(x=torch.FloatTensor(x), edge_index=torch.LongTensor(edges)), x.astype(np.float32), edges


@each
def test_it_has_what_every_detector_of_pyod_has_after_a_fit(detector: GraphDetector, made: Any) -> None:
    data = made[0]
    found = PyODDetector(detector).fit(data)
    assert isinstance(found, BaseDetector)
    assert found.decision_scores_.shape == found.labels_.shape == (100,)
    assert (found.decision_scores_ >= 0).all()
    assert found.threshold_ == pytest.approx(np.percentile(found.decision_scores_, 90))
    assert found.labels_.tolist() == (found.decision_scores_ > found.threshold_).astype(int).tolist()
    assert found.labels_.sum() == 10
    ahead = np.argsort(-found.decision_scores_)[:10].tolist()
    assert sorted(ahead) == sorted(found.detector_.result_["id"].to_pylist()[:10])


@each
def test_rows_with_edges_are_the_same_network_as_a_data(detector: GraphDetector, made: Any) -> None:
    data, x, edges = made
    whole = PyODDetector(detector).fit(data)
    parts = PyODDetector(detector).fit(x, edge_index=edges)
    assert np.array_equal(whole.decision_scores_, parts.decision_scores_)
    assert np.array_equal(whole.decision_function(data), parts.decision_function(x, edge_index=edges))


@each
def test_predictions_are_pyods_on_the_fitted_network_and_on_another(detector: GraphDetector, made: Any) -> None:
    data, x, edges = made
    found = PyODDetector(detector, contamination=0.2).fit(data)
    assert found.decision_function(data) == pytest.approx(found.decision_scores_)
    assert found.predict(data).tolist() == found.labels_.tolist()
    for method in ("linear", "unify"):
        probability, confidence = found.predict_proba(data, method=method, return_confidence=True)
        assert probability.shape == (100, 2)
        assert probability.sum(axis=1) == pytest.approx(np.ones(100))
        assert (np.argsort(probability[:, 1], kind="stable")[-1]) == found.decision_scores_.argmax()
        assert ((confidence >= 0) & (confidence <= 1)).all()
    with pytest.raises(ValueError, match="not a valid probability"):
        found.predict_proba(data, method="guess")
    other = Graph.from_arrays(edges[:, edges.sum(axis=0) % 3 > 0], x)
    assert set(found.predict(other)) <= {0, 1}
    assert not np.array_equal(found.decision_function(other), found.decision_scores_)


@each
def test_a_network_without_attributes_is_refused(detector: GraphDetector, made: Any) -> None:
    with pytest.raises(ValueError, match="x missing"):
        PyODDetector(detector).fit(Data(edge_index=made[0].edge_index, num_nodes=100))


def test_parameters_are_those_of_scikit_learn_and_the_detector_given_is_left_alone(made: Any) -> None:
    given = Odd(random_state=0, simulate=False)
    found = clone(PyODDetector(given)).set_params(detector__n_resamples=2, contamination=0.05).fit(made[0])
    assert found.detector_.n_resamples == 2
    assert given.n_resamples == 4
    assert "model_" not in vars(given)
    PyODDetector(given).fit(made[0])
    assert "model_" not in vars(given)
    assert found.labels_.sum() == 5
    with pytest.raises(ValueError, match="contamination"):
        PyODDetector(given, contamination=0.7)
    with pytest.raises(ValueError, match="not fitted"):
        PyODDetector(given).predict(made[0])


WITHOUT_PYOD = """
import sys
sys.modules["pyod"] = None
import oddhop
oddhop.Odd
try:
    import oddhop.pyod
except ImportError as error:
    print(error)
"""


def test_without_pyod_it_names_the_line_to_type() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_PYOD], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("which is not installed; pip install pyod")
