"""Checks of the face of a detector: parameters, fitting, what it leaves alone, what it gives."""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import random
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr
from sklearn.base import clone

from oddhop.graph.graph import Graph
from tests.contract.subjects import DoesNotApply, communities, edges_and_attributes, fitted, needs, scores_of, state_of


def parameters_are_those_of_the_constructor(detector: Any) -> None:
    names = set(inspect.signature(type(detector).__init__).parameters) - {"self"}
    assert set(detector.get_params(deep=False)) == names


def the_constructor_stores_and_does_nothing_else(detector: Any) -> None:
    made = type(detector)(**detector.get_params(deep=False))
    assert all(name in made.get_params(deep=False) for name in vars(made)), sorted(vars(made))


def a_clone_has_the_same_parameters(detector: Any) -> None:
    assert clone(detector).get_params() == detector.get_params()


def set_params_gives_the_detector_back(detector: Any) -> None:
    fresh = clone(detector)
    assert fresh.set_params(**fresh.get_params()) is fresh


def an_unknown_parameter_is_refused(detector: Any) -> None:
    _raises(lambda: clone(detector).set_params(no_such_parameter=1), ValueError)


def it_prints_as_a_call(detector: Any) -> None:
    assert repr(detector).startswith(f"{type(detector).__name__}(")


def fit_gives_the_detector_back(detector: Any) -> None:
    fresh = clone(detector)
    assert fresh.fit(communities()) is fresh


def fit_ignores_y(detector: Any) -> None:
    graph = communities()
    labelled = _seeded(detector).fit(graph, np.ones(graph.node_count))
    assert np.array_equal(labelled.anomaly_scores_, scores_of(detector, graph))


def fit_changes_no_parameter(detector: Any) -> None:
    fresh = _seeded(detector)
    before = state_of(fresh)
    assert fresh.fit(communities()).get_params() == before


def what_is_learned_ends_with_an_underscore(detector: Any) -> None:
    made = fitted(detector, communities())
    learned = set(vars(made)) - set(made.get_params(deep=False))
    assert all(name.endswith("_") or name.startswith("_") for name in learned), sorted(learned)


def a_clone_of_a_fitted_one_is_not_fitted(detector: Any) -> None:
    assert not hasattr(clone(fitted(detector, communities())), "anomaly_scores_")


def scoring_before_fitting_is_refused(detector: Any) -> None:
    needs(detector, "score_samples")
    _raises(lambda: clone(detector).score_samples(communities()), (ValueError, AttributeError))


def there_is_one_score_a_node(detector: Any) -> None:
    assert scores_of(detector, communities()).shape == (80,)


def scores_are_float64(detector: Any) -> None:
    assert scores_of(detector, communities()).dtype == np.float64


def scores_are_finite(detector: Any) -> None:
    assert np.isfinite(scores_of(detector, communities())).all()


def scores_tell_nodes_apart(detector: Any) -> None:
    assert np.unique(scores_of(detector, communities())).size > 3


def fitting_twice_gives_the_same(detector: Any) -> None:
    graph, fresh = communities(), _seeded(detector)
    first = np.array(fresh.fit(graph).anomaly_scores_)
    assert np.array_equal(fresh.fit(graph).anomaly_scores_, first)


def fitting_again_forgets_the_first_network(detector: Any) -> None:
    fresh = _seeded(detector).fit(communities(seed=1, nodes=60))
    assert np.array_equal(fresh.fit(communities()).anomaly_scores_, scores_of(detector, communities()))


def one_seed_gives_the_same_bits_twice(detector: Any) -> None:
    assert np.array_equal(scores_of(detector, communities()), scores_of(detector, communities()))


def zero_is_a_seed_like_any_other(detector: Any) -> None:
    graph = communities()
    np.random.seed(1)
    first = scores_of(detector, graph, random_state=0)
    np.random.seed(2)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(2)
    assert np.array_equal(first, scores_of(detector, graph, random_state=0))


def another_seed_gives_a_like_ranking(detector: Any) -> None:
    one, two = (scores_of(detector, communities(), random_state=seed) for seed in (0, 1))
    assert spearmanr(one, two).statistic > 0.3


def the_global_random_states_are_left_alone(detector: Any) -> None:
    before = _global_states()
    fitted(detector, communities())
    assert _global_states() == before


def the_number_of_threads_is_left_alone(detector: Any) -> None:
    if "torch" not in sys.modules:
        raise DoesNotApply("torch is not loaded")
    torch = sys.modules["torch"]
    before = torch.get_num_threads()
    fitted(detector, communities())
    assert torch.get_num_threads() == before


def the_network_is_left_alone(detector: Any) -> None:
    edges, x = edges_and_attributes()
    edges_before, x_before = edges.copy(), x.copy()
    graph = Graph.from_arrays(edges, x)
    before = graph.fingerprint
    fitted(detector, graph)
    # The fingerprint is kept once it was asked for: a graph of the same arrays tells.
    after = Graph(graph.indptr, graph.indices, graph.attributes).fingerprint
    assert after == before
    assert np.array_equal(edges, edges_before)
    assert np.array_equal(x, x_before)


def what_is_not_a_network_is_refused(detector: Any) -> None:
    for wrong in (None, np.zeros((3, 3)), "graph"):
        _raises(lambda wrong=wrong: clone(detector).fit(wrong), (TypeError, ValueError))


def fitting_warns_of_nothing(detector: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted(detector, communities())


def fitting_prints_nothing(detector: Any) -> None:
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        fitted(detector, communities())
    assert said.getvalue() == ""


def fitting_writes_no_file(detector: Any) -> None:
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            fitted(detector, communities())
            assert list(Path(folder).iterdir()) == []
        finally:
            os.chdir(before)


def predictions_are_plus_and_minus_one(detector: Any) -> None:
    needs(detector, "predict")
    graph = communities()
    assert set(np.unique(fitted(detector, graph, contamination=0.1).predict(graph))) == {-1, 1}


def fit_predict_is_fit_and_predict(detector: Any) -> None:
    needs(detector, "fit_predict")
    graph = communities()
    assert np.array_equal(_seeded(detector).fit_predict(graph), fitted(detector, graph).predict(graph))


def score_samples_is_minus_the_score(detector: Any) -> None:
    needs(detector, "score_samples")
    graph = communities()
    made = fitted(detector, graph)
    np.testing.assert_allclose(made.score_samples(graph), -made.anomaly_scores_, rtol=1e-9, atol=1e-12)


def the_decision_is_the_score_beside_the_offset(detector: Any) -> None:
    needs(detector, "decision_function")
    graph = communities()
    made = fitted(detector, graph, contamination=0.1)
    np.testing.assert_array_equal(made.decision_function(graph), made.score_samples(graph) - made.offset_)


def the_flagged_are_those_over_the_threshold(detector: Any) -> None:
    needs(detector, "predict")
    graph = communities()
    made = fitted(detector, graph, contamination=0.1)
    assert np.array_equal(made.predict(graph) == -1, made.anomaly_scores_ >= made.threshold_)


def prediction_and_decision_agree(detector: Any) -> None:
    needs(detector, "predict", "decision_function")
    graph = communities()
    made = fitted(detector, graph, contamination=0.1)
    np.testing.assert_array_equal(made.predict(graph) == -1, made.decision_function(graph) < 0)


def contamination_flags_no_more_than_its_share(detector: Any) -> None:
    needs(detector, "predict")
    graph = communities()
    assert 0 < np.sum(fitted(detector, graph, contamination=0.1).predict(graph) == -1) <= 8


def top_k_flags_no_more_than_k(detector: Any) -> None:
    needs(detector, "predict")
    graph = communities()
    assert 0 < np.sum(fitted(detector, graph, top_k=5).predict(graph) == -1) <= 5


def an_impossible_setting_is_refused_when_fitting(detector: Any) -> None:
    if "contamination" not in detector.get_params():
        raise DoesNotApply("it has no contamination")
    _raises(lambda: clone(detector).set_params(contamination=2.0).fit(communities()), ValueError)


def another_network_can_be_scored(detector: Any) -> None:
    needs(detector, "score_samples")
    other = communities(seed=1, nodes=50)
    scores = fitted(detector, communities()).score_samples(other)
    assert scores.shape == (50,)
    assert np.isfinite(scores).all()


def a_network_with_other_columns_is_refused(detector: Any) -> None:
    needs(detector, "score_samples")
    made = fitted(detector, communities())
    _raises(lambda: made.score_samples(communities(columns=3)), ValueError)


def a_saved_detector_scores_to_the_bit(detector: Any) -> None:
    needs(detector, "save", "load")
    graph, made = communities(), fitted(detector, communities())
    with tempfile.TemporaryDirectory() as folder:
        made.save(f"{folder}/model")
        loaded = type(detector).load(f"{folder}/model")
    assert np.array_equal(loaded.score_samples(graph), made.score_samples(graph))


def a_changed_file_is_refused(detector: Any) -> None:
    needs(detector, "save", "load")
    made = fitted(detector, communities())
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model"
        made.save(file)
        content = bytearray(file.read_bytes())
        for place in (0, len(content) // 3, len(content) - 1):
            changed = bytearray(content)
            changed[place] ^= 1
            file.write_bytes(changed)
            _raises(lambda: type(detector).load(file), Exception)


def a_detector_that_was_not_fitted_is_not_saved(detector: Any) -> None:
    needs(detector, "save")
    with tempfile.TemporaryDirectory() as folder:
        _raises(lambda: clone(detector).save(f"{folder}/model"), (ValueError, AttributeError))
        assert list(Path(folder).iterdir()) == []


def a_foreign_member_of_a_community_stands_out(detector: Any) -> None:
    edges, x = edges_and_attributes()
    x[10] = 40.0 * np.array([1.0, -1.0, 1.0, -1.0])
    scores = scores_of(detector, Graph.from_arrays(edges, x))
    assert np.sum(scores > scores[10]) < 20, f"{np.sum(scores > scores[10])} of 80 nodes score higher"


def _global_states() -> list[str]:
    torch = sys.modules.get("torch")  # where it is not loaded it has no state
    states = (random.getstate(), np.random.get_state(), torch.get_rng_state().tolist() if torch else None)
    return [repr(state) for state in states]


def _seeded(detector: Any) -> Any:
    fresh = clone(detector)
    return fresh.set_params(random_state=0) if "random_state" in fresh.get_params() else fresh


def _raises(call: Any, kinds: type[BaseException] | tuple[type[BaseException], ...]) -> None:
    try:
        call()
    except kinds:
        return
    raise AssertionError("no error was raised")
