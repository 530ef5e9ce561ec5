from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import oddhop
from oddhop import Graph, Odd
from oddhop.base.files import pack_arrays, unpack_arrays
from oddhop.errors import GraphError, MemoryBudgetError, ModelFileError, NothingToLearnError, SettingsError
from tests.conftest import needs_torch, sha256
from tests.contract.test_zoo import SHAPES, _attributes
from tests.odd.planted import CLIQUE, OUTLIER, STRANGER, planted


@pytest.fixture(scope="module")
def fitted() -> Odd:
    return Odd(random_state=0, top_k=10).fit(planted())


def test_the_table_says_who_is_odd_and_how(fitted: Odd) -> None:
    table = fitted.result_
    kinds = dict(zip(table["id"].to_pylist(), table["kind"].to_pylist(), strict=True))
    flagged = table.filter(table["flagged"])
    assert set(flagged["id"].to_pylist()) == {STRANGER, OUTLIER, *CLIQUE.tolist()}
    assert (kinds[STRANGER], kinds[OUTLIER], kinds[int(CLIQUE[0])]) == ("stranger", "outlier", "clique")
    assert table["rank"].to_pylist() == list(range(1, 401))
    for name in ("p_stranger", "p_outlier", "p_clique"):
        p = table[name].to_numpy()
        assert ((p > 0) & (p <= 1)).all()
    low, rank, high = (table[name].to_numpy() for name in ("rank_low", "rank", "rank_high"))
    assert ((low <= rank) & (rank <= high)).all()


def test_no_score_depends_on_the_seed_or_the_workers(fitted: Odd) -> None:
    other = Odd(random_state=99, workers=2).fit(planted())
    assert sha256(other.anomaly_scores_) == sha256(fitted.anomaly_scores_)
    again = clone(fitted).fit(planted(), y=np.ones(400))
    assert again.result_.equals(fitted.result_)


def test_the_chain_of_scikit_learn_names(fitted: Odd) -> None:
    graph = planted()
    np.testing.assert_array_equal(fitted.score_samples(graph), -fitted.anomaly_scores_)
    labels = fitted.predict(graph)
    assert (labels == -1).sum() == 10
    np.testing.assert_array_equal(labels == -1, fitted.decision_function(graph) < 0)


@pytest.mark.parametrize("method", ["score_samples", "predict", "rank"])
def test_not_fitted_is_said(small: Graph, method: str) -> None:
    with pytest.raises(NotFittedError):
        getattr(Odd(), method)(small)
    with pytest.raises(NotFittedError):
        Odd().save("never-written")


def test_a_model_file_keeps_every_score(fitted: Odd, tmp_path: Path) -> None:
    fitted.save(tmp_path / "odd")
    loaded = Odd.load(tmp_path / "odd")
    assert loaded.get_params() == fitted.get_params()
    assert loaded.rank(planted()).equals(fitted.rank(planted()))
    assert loaded.rank(planted()).equals(fitted.result_)


def test_where_every_node_has_one_neighbour_a_model_goes_through_a_file(tmp_path: Path) -> None:
    x = np.repeat(np.random.default_rng(0).normal(size=(200, 1)), 2, axis=0)
    twins = Graph.from_arrays(np.arange(400).reshape(200, 2).T, x)
    fitted = Odd(random_state=0, n_resamples=2, simulate=False).fit(twins)
    fitted.save(tmp_path / "odd")
    np.testing.assert_array_equal(-Odd.load(tmp_path / "odd").score_samples(twins), fitted.anomaly_scores_)


def test_a_wide_network_of_words_goes_through_a_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    graph = Graph.from_arrays(rng.integers(0, 90, (2, 300)), (rng.random((90, 130)) < 0.1).astype(float))
    fitted = Odd(random_state=0, n_resamples=2).fit(graph)
    fitted.save(tmp_path / "odd")
    np.testing.assert_array_equal(-Odd.load(tmp_path / "odd").score_samples(graph), fitted.anomaly_scores_)


def test_a_changed_or_foreign_file_is_refused(fitted: Odd, small: Graph, tmp_path: Path) -> None:
    fitted.save(tmp_path / "odd")
    content = bytearray((tmp_path / "odd").read_bytes())
    content[-3] ^= 1
    (tmp_path / "changed").write_bytes(content)
    with pytest.raises(ModelFileError):
        Odd.load(tmp_path / "changed")
    with pytest.raises(ModelFileError, match="cannot be read"):
        Odd.load(tmp_path / "absent")


@needs_torch
def test_a_model_of_another_detector_is_refused(fitted: Odd, tmp_path: Path) -> None:
    fitted.save(tmp_path / "odd")
    with pytest.raises(ModelFileError, match="has 'odd' of schema"):
        oddhop.HCM.load(tmp_path / "odd")


def test_bad_settings_and_inputs_are_refused_by_name(small: Graph) -> None:
    with pytest.raises(SettingsError, match="n_resamples=1"):
        Odd(n_resamples=1).fit(small)
    with pytest.raises(SettingsError, match="contamination or top_k"):
        Odd(contamination=0.1, top_k=3).fit(small)
    with pytest.raises(GraphError, match="needs a Graph, a Network"):
        Odd().fit(np.eye(3))
    with pytest.raises(NothingToLearnError, match="no edges"):
        Odd().fit(Graph.from_arrays(np.empty((2, 0), dtype=int), np.eye(3)))
    with pytest.raises(MemoryBudgetError, match="max_memory"):
        Odd(max_memory=1000).fit(small)
    with pytest.raises(MemoryBudgetError, match="the limit is 100 MiB; try simulate=False, or raise max_memory"):
        Odd(max_memory="100 MiB", simulate=True).fit(small)
    with pytest.raises(SettingsError, match=r"'4x'.*write for example 4GiB"):
        Odd(max_memory="4x").fit(small)
    with pytest.raises(MemoryBudgetError, match="the limit is 100 MiB; raise max_memory"):
        Odd(max_memory="100 MiB", max_chance=0.1).fit(small)


def test_a_node_without_neighbours_is_not_judged(small: Graph) -> None:
    row = Odd(random_state=0, contamination=0.5).fit(small).result_.sort_by("id").slice(60, 1).to_pylist()[0]
    assert (row["score"], row["judged"], row["flagged"], row["score_std"]) == (0.0, False, False, 0.0)


@pytest.mark.parametrize("kind", ["normal", "constant", "zero", "1e20", "1e-20"])
@pytest.mark.parametrize("shape", [name for name, (_, pairs) in SHAPES.items() if pairs])
def test_degenerate_networks_get_finite_scores_and_no_warning(shape: str, kind: str) -> None:
    nodes, pairs = SHAPES[shape]
    table = Odd(random_state=0).fit(Graph.from_arrays(np.array(pairs).T, _attributes(kind, nodes))).result_
    for name in set(table.column_names) - {"id", "kind"}:
        assert np.isfinite(table[name].to_numpy().astype(float)).all()


@pytest.mark.parametrize("kind", ["normal", "constant", "zero", "1e20", "1e-20"])
def test_wide_degenerate_tables_too(kind: str) -> None:
    x = np.tile(_attributes(kind, 12), (1, 60))
    graph = Graph.from_arrays([np.arange(11), np.arange(1, 12)], x)
    assert np.isfinite(Odd(random_state=0).fit(graph).anomaly_scores_).all()


@pytest.mark.parametrize(
    "change",
    [
        lambda a, i: i.update(settings=3),
        lambda a, i: a.update({"block0.preparation.centre": a["block0.preparation.centre"][:, None]}),
        lambda a, i: a["block0.preparation.unit"].fill(0),
        lambda a, i: a["block0.preparation.spread"].fill(-1),
        lambda a, i: a.update({"block0.coordinates.knots": a["block0.coordinates.knots"][None]}),
        lambda a, i: a.update({"block0.coordinates.knots": a["block0.coordinates.knots"][:0]}),
        lambda a, i: a.update({"block0.columns": a["block0.columns"] + 1}),
        lambda a, i: a["block0.weight"].fill(0),
        lambda a, i: a.pop("block0.columns"),
        lambda a, i: a.update({"homophily.correlation": a["homophily.correlation"][:, None]}),
        lambda a, i: a["homophily.within"].fill(0),
        lambda a, i: a["homophily.between"].fill(-1),
        lambda a, i: i.update(seed=[1]),
        lambda a, i: i.update(encoding=[1, 2]),
    ],
)
def test_a_resealed_model_that_does_not_fit_together_is_refused(fitted, tmp_path, change):
    fitted.save(tmp_path / "odd")
    arrays, info = unpack_arrays((tmp_path / "odd").read_bytes(), "it")
    arrays = {name: array.copy() for name, array in arrays.items()}
    change(arrays, info)
    (tmp_path / "odd").write_bytes(pack_arrays(arrays, info))
    with pytest.raises(ModelFileError):
        Odd.load(tmp_path / "odd")
