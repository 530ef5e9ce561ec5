from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.inspection import permutation_importance
from sklearn.model_selection import ParameterGrid

pytest.importorskip("torch")

from oddhop import HCM, Graph
from oddhop.errors import GraphError, MemoryBudgetError, NothingToLearnError, SettingsError
from tests.conftest import QUICK, sha256


@pytest.fixture(scope="module")
def fitted(small: Graph) -> HCM:
    return HCM(**QUICK, top_k=5).fit(small)


def test_clone_and_parameters_carry_over() -> None:
    detector = HCM(hop_classes=3, random_state=7)
    copy = clone(detector)
    assert copy.get_params() == detector.get_params()
    assert copy.set_params(hop_classes=5) is copy
    assert (copy.hop_classes, detector.hop_classes) == (5, 3)
    with pytest.raises(ValueError, match="no parameter 'hopes'"):
        copy.set_params(hopes=5)


def test_the_constructor_only_stores() -> None:
    detector = HCM(hop_classes="many", drop_ratio=-3)
    assert (detector.hop_classes, detector.drop_ratio) == ("many", -3)


@pytest.mark.parametrize("method", ["score_samples", "predict", "decision_function", "rank"])
def test_not_fitted_is_said(small: Graph, method: str) -> None:
    with pytest.raises(NotFittedError):
        getattr(HCM(), method)(small)
    with pytest.raises(NotFittedError):
        HCM().save("never-written")


def test_fit_is_idempotent_and_ignores_y(small: Graph, fitted: HCM) -> None:
    first = fitted.anomaly_scores_.copy()
    again = clone(fitted).fit(small, y=np.ones(61)).fit(small)
    assert sha256(again.anomaly_scores_) == sha256(first)


def test_the_chain_of_scikit_learn_names(small: Graph, fitted: HCM) -> None:
    np.testing.assert_array_equal(fitted.score_samples(small), -fitted.anomaly_scores_)
    np.testing.assert_array_equal(fitted.decision_function(small), fitted.score_samples(small) - fitted.offset_)
    labels = fitted.predict(small)
    assert (labels == -1).sum() == 5
    np.testing.assert_array_equal(labels == -1, fitted.decision_function(small) < 0)
    np.testing.assert_array_equal(clone(fitted).fit_predict(small), labels)
    assert not hasattr(fitted, "predict_proba")


def test_a_grid_of_settings_runs_through_clone_and_set_params(small: Graph) -> None:
    hashes = set()
    for params in ParameterGrid({"hop_classes": [2, 4], "score": ["ahp", "hav"]}):
        hashes.add(sha256(clone(HCM(**QUICK)).set_params(**params).fit(small).anomaly_scores_))
    assert len(hashes) == 4


def test_permutation_importance_tells_which_attribute_the_scores_rest_on() -> None:
    rng = np.random.default_rng(0)
    side = np.repeat([0, 1], 40)
    edges = np.concatenate([rng.integers(0, 40, (2, 160)), rng.integers(40, 80, (2, 160))], axis=1)
    x = np.column_stack([3.0 * side + rng.normal(size=80), np.ones(80)])
    graph = Graph.from_arrays(edges, x)
    detector = HCM(**{**QUICK, "burn_in": 150, "score": "ahp"}).fit(graph)
    before = detector.score_samples(graph)

    def agreement(fitted: HCM, attributes: np.ndarray, y: object) -> float:
        return -float(np.abs(fitted.score_samples(graph.with_attributes(attributes)) - before).mean())

    importance = permutation_importance(detector, x, np.zeros(80), scoring=agreement, n_repeats=3, random_state=0)
    assert importance.importances_mean[0] > 0
    assert importance.importances_mean[1] == 0


def test_the_result_table_is_ranked_and_consistent(small: Graph, fitted: HCM) -> None:
    table = fitted.result_
    rank, low, high = (table[name].to_numpy() for name in ("rank", "rank_low", "rank_high"))
    np.testing.assert_array_equal(rank, np.arange(1, 62))
    assert ((low <= rank) & (rank <= high) & (low >= 1) & (high <= 61)).all()
    assert (np.diff(table["score"].to_numpy()) < 0).all()
    assert table["flagged"].to_numpy(zero_copy_only=False).sum() == 5
    chance = table["top_probability"].to_numpy()
    assert ((chance >= 0) & (chance <= 1)).all()
    assert chance[:5].mean() > chance[-20:].mean()
    np.testing.assert_array_equal(fitted.anomaly_scores_[table["id"].to_numpy()], table["score"].to_numpy())


def test_a_node_without_neighbours_is_last_and_not_judged(fitted: HCM) -> None:
    last = fitted.result_.slice(60).to_pylist()[0]
    assert last["id"] == 60
    assert not last["judged"]
    assert not last["flagged"]
    assert last["score"] == 0.0
    assert (fitted.anomaly_scores_[:60] > 0).all()


def test_the_formulas_hold_in_the_table(fitted: HCM) -> None:
    table = fitted.result_
    ahp, iv, hav = (table[name].to_numpy() for name in ("ahp", "iv", "hav"))
    np.testing.assert_allclose(hav, ahp / ahp.max() + iv / iv.max(), rtol=1e-6)
    assert ((ahp[:-1] >= 1) & (ahp[:-1] <= 4)).all()


def test_ids_are_kept_and_row_order_changes_no_score(small: Graph) -> None:
    ids = np.array([f"n{k:02d}" for k in range(61)])
    edges = np.array([[u, v] for u in range(61) for v in small.indices[small.indptr[u] : small.indptr[u + 1]] if u < v])
    straight = Graph.from_arrays(edges.T, small.attributes, node_ids=ids)
    shuffle = np.random.default_rng(1).permutation(61)
    place = np.argsort(shuffle)
    shuffled = Graph.from_arrays(place[edges[::-1]].T[::-1], small.attributes[shuffle], node_ids=ids[shuffle])
    one, two = (HCM(**QUICK).fit(graph) for graph in (straight, shuffled))
    assert one.result_.equals(two.result_)
    assert one.result_["id"][60].as_py() == "n60"


def test_another_network_with_the_same_attributes_can_be_scored(small: Graph, fitted: HCM) -> None:
    rng = np.random.default_rng(3)
    other = Graph.from_arrays(rng.integers(0, 20, (2, 40)), rng.normal(size=(20, 5)))
    table = fitted.rank(other)
    assert table.num_rows == 20
    np.testing.assert_allclose(
        np.sort(table["score"].to_numpy())[::-1], np.sort(-fitted.score_samples(other))[::-1], rtol=0
    )
    wrong = Graph.from_arrays([[0], [1]], np.zeros((2, 4)))
    with pytest.raises(GraphError, match="fitted on 5 attributes, got 4"):
        fitted.score_samples(wrong)


def test_no_budget_flags_nothing(small: Graph) -> None:
    detector = HCM(**QUICK).fit(small)
    assert detector.threshold_ == np.inf
    assert not detector.result_["flagged"].to_numpy(zero_copy_only=False).any()
    assert (detector.predict(small) == 1).all()


def test_a_share_flags_that_share_and_ties_never_break_the_budget(small: Graph) -> None:
    assert (HCM(**QUICK, contamination=0.1).fit(small).predict(small) == -1).sum() == 6
    ring = Graph.from_arrays([np.arange(8), (np.arange(8) + 1) % 8], np.zeros((8, 2)))  # all nodes alike
    assert (HCM(**QUICK, top_k=3).fit(ring).predict(ring) == -1).sum() <= 3


def test_seed_0_is_a_seed_and_none_is_fresh(small: Graph) -> None:
    seeds = {**QUICK, "random_state": None}
    zero, one, fresh = HCM(**QUICK).fit(small), HCM(**{**QUICK, "random_state": 1}).fit(small), HCM(**seeds).fit(small)
    assert sha256(zero.anomaly_scores_) == sha256(HCM(**QUICK).fit(small).anomaly_scores_)
    assert len({sha256(d.anomaly_scores_) for d in (zero, one, fresh)}) == 3
    again = HCM(**{**QUICK, "random_state": fresh.seed_}).fit(small)
    assert sha256(again.anomaly_scores_) == sha256(fresh.anomaly_scores_)


def test_sgd_has_no_noise_and_sgld_has(small: Graph) -> None:
    quiet, loud = (HCM(**QUICK, sampler=sampler, temperature=1e-3).fit(small) for sampler in ("sgd", "sgld"))
    assert quiet.diagnostics_.temperature == 0
    assert loud.diagnostics_.temperature == 1e-3
    assert sha256(quiet.anomaly_scores_) != sha256(loud.anomaly_scores_)


def test_the_temperature_is_one_over_the_number_of_pairs(small: Graph) -> None:
    assert HCM(**QUICK).fit(small).diagnostics_.temperature == 1e-4  # few pairs: no hotter than this
    rng = np.random.default_rng(0)
    large = Graph.from_arrays(rng.integers(0, 2000, (2, 8000)), rng.normal(size=(2000, 2)))
    told = HCM(**QUICK, pair_labels="exhaustive").fit(large).diagnostics_
    present = told.class_sizes[told.class_sizes > 0]
    assert told.temperature == pytest.approx(1 / (present.size * present.min()))
    assert told.temperature < 1e-4


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"hop_classes": 1}, "hop_classes=1"),
        ({"drop_ratio": 1.0}, "drop_ratio=1.0"),
        ({"score": "ivv"}, "score='ivv'"),
        ({"random_state": -1}, "random_state=-1"),
        ({"chains": 1, "samples": 2}, "one chain needs at least 4 samples"),
        ({"contamination": 0.7}, "contamination must be"),
        ({"contamination": 0.1, "top_k": 3}, "not both"),
        ({"burn_in": 2.5}, "burn_in=2.5"),
    ],
)
def test_bad_settings_are_named_at_fit(small: Graph, params: dict[str, object], message: str) -> None:
    with pytest.raises(SettingsError, match=message.replace("(", r"\(")):
        HCM(**{**QUICK, **params}).fit(small)


def test_numpy_scalars_are_settings_too(small: Graph) -> None:
    assert HCM(**{**QUICK, "hop_classes": np.int64(4), "drop_ratio": np.float64(0.2)}).fit(small).seed_ == 0


def test_only_graphs_are_taken_and_edges_are_needed(small: Graph) -> None:
    with pytest.raises(GraphError, match=r"got numpy\.ndarray; make a Graph with .* or from_arrays"):
        HCM().fit(np.zeros((3, 3)))
    with pytest.raises(NothingToLearnError, match="no edges"):
        HCM().fit(Graph.from_arrays([[], []], np.zeros((3, 1))))


def test_a_run_over_its_memory_is_refused_before_it_begins(small: Graph) -> None:
    with pytest.raises(
        MemoryBudgetError,
        match=r"needs about .* for training, and the limit is 0 MiB; try fewer neighbours, workers=1",
    ):
        HCM(max_memory=1000).fit(small)


def test_progress_tells_every_stage_to_its_end(small: Graph) -> None:
    seen: dict[str, tuple[int, int]] = {}
    HCM(**QUICK).fit(small, progress=lambda stage, done, total: seen.update({stage: (done, total)}))
    assert list(seen) == ["preparing", "hop pairs", "training", "scoring"]
    assert all(done == total for done, total in seen.values())


def test_the_input_is_never_modified(small: Graph) -> None:
    before = small.fingerprint
    HCM(**QUICK).fit(small)
    del small.__dict__["fingerprint"]
    assert small.fingerprint == before
    with pytest.raises(ValueError, match="read-only"):
        small.attributes[0, 0] = 1.0


SCRIPT = """
import json, sys, torch, numpy as np, hashlib
from oddhop import HCM, Graph
threads, workers, wide = json.loads(sys.argv[1])
torch.set_num_threads(threads)
rng = np.random.default_rng(0)
x = rng.normal(size=(3000, 150 if wide else 10))
graph = Graph.from_arrays(rng.integers(0, 3000, (2, 9000)), x)
fitted = HCM(burn_in=6, samples=2, thin=1, chains=3, random_state=0, workers=workers).fit(graph)
assert torch.get_num_threads() == threads
print(hashlib.sha256(fitted.anomaly_scores_.tobytes()).hexdigest())
"""


@pytest.mark.slow
@pytest.mark.parametrize("wide", [False, True])
def test_one_sha256_at_any_number_of_threads_and_workers(wide: bool) -> None:
    hashes = set()
    for threads, workers in product((1, 2), (1, 2)):
        environment = {"OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads)}
        arguments = [sys.executable, "-c", SCRIPT, json.dumps([threads, workers, wide])]
        done = subprocess.run(arguments, env={**os.environ, **environment}, capture_output=True, text=True, check=True)
        hashes.add(done.stdout.strip())
    assert len(hashes) == 1


def test_graphs_of_networkx_and_pyg_are_taken_as_they_are(small: Graph) -> None:
    networkx, pyg = pytest.importorskip("networkx"), pytest.importorskip("torch_geometric.data")
    torch = pytest.importorskip("torch")
    rows = np.repeat(np.arange(61), small.degrees)
    other = networkx.Graph()
    other.add_nodes_from((node, {"x": small.attributes[node]}) for node in range(61))
    other.add_edges_from(zip(rows.tolist(), small.indices.tolist(), strict=True))
    data = pyg.Data(
        x=torch.from_numpy(np.array(small.attributes)),
        edge_index=torch.from_numpy(np.stack([rows, small.indices.astype(np.int64)])),
    )
    plain = HCM(**QUICK).fit(small)
    for one in (other, data):
        fitted = HCM(**QUICK).fit(one)
        assert sha256(fitted.anomaly_scores_) == sha256(plain.anomaly_scores_)
        assert np.array_equal(fitted.score_samples(one), plain.score_samples(small))
    with pytest.raises(GraphError, match="a detector needs a Graph"):
        HCM().fit(networkx.nodes)


@pytest.mark.parametrize("chains", [1, 3])
def test_diagnostics_are_shown_in_a_few_lines(small: Graph, chains: int) -> None:
    shown = repr(HCM(**{**QUICK, "chains": chains, "samples": 4}).fit(small).diagnostics_)
    assert shown.startswith(f"Diagnostics({chains} chain{'s' * (chains > 1)}, loss ")
    assert len(shown) < 4 * 80
    assert "\n" not in shown


def test_a_process_that_reads_tables_and_fits_ends_without_a_word(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    pairs = "\n".join(f"{a},{b}" for a, b in rng.integers(0, 40, (120, 2)))
    (tmp_path / "edges.csv").write_text(f"from,to\n{pairs}\n")
    (tmp_path / "nodes.csv").write_text("id,size\n" + "\n".join(f"{k},{k * k % 17}" for k in range(40)) + "\n")
    script = f"from oddhop import HCM; HCM(**{QUICK}).fit('edges.csv', nodes='nodes.csv')"
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stderr == ""  # where typing kept what torch holds, DuckDB's binding told at the end what was left
