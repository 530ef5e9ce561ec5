from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("torch")

from oddhop import HCM, Graph
from oddhop.base.files import pack_arrays, unpack_arrays
from oddhop.errors import GraphError, ModelFileError
from oddhop.hcm.settings import BY_NEED
from oddhop.tables.encode import learn_encoding
from tests.conftest import QUICK, sha256


@pytest.fixture(scope="module")
def fitted(small: Graph) -> HCM:
    return HCM(**QUICK, contamination=0.05).fit(small)


@pytest.fixture(scope="module")
def saved(fitted: HCM, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "model.oddhop"
    fitted.save(path)
    return path


def test_a_loaded_model_scores_the_training_network_to_the_same_bytes(small: Graph, fitted: HCM, saved: Path) -> None:
    loaded = HCM.load(saved)
    assert sha256(-loaded.score_samples(small)) == sha256(fitted.anomaly_scores_)
    assert loaded.get_params() == fitted.get_params()
    assert (loaded.threshold_, loaded.seed_) == (fitted.threshold_, fitted.seed_)
    assert loaded.rank(small).equals(fitted.result_)


def test_a_model_with_pca_loads_too(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    graph = Graph.from_arrays(rng.integers(0, 40, (2, 90)), rng.normal(size=(40, 120)))
    fitted = HCM(**QUICK).fit(graph)
    fitted.save(tmp_path / "wide.oddhop")
    assert sha256(-HCM.load(tmp_path / "wide.oddhop").score_samples(graph)) == sha256(fitted.anomaly_scores_)
    turned = _rewritten(tmp_path / "wide.oddhop", tmp_path, lambda a, i: a.update(components=a["components"].T))
    with pytest.raises(ModelFileError, match=r"components is float64 of shape \(20, 120\)"):
        HCM.load(turned)


def test_a_loaded_model_still_says_what_another_seed_would_keep(small: Graph, fitted: HCM, saved: Path) -> None:
    [found] = [one for one in fitted.audit() if one.check == "seeds"]
    assert found.figure == fitted.diagnostics_.agreement.kept
    assert found in HCM.load(saved).audit(small)


def test_a_model_whose_chains_were_added_by_need_loads_too(small: Graph, tmp_path: Path) -> None:
    fitted = HCM(**QUICK | {"chains": None}).fit(small)
    assert len(fitted.model_.learned.posterior.weights) in BY_NEED
    fitted.save(tmp_path / "model.oddhop")
    assert sha256(-HCM.load(tmp_path / "model.oddhop").score_samples(small)) == sha256(fitted.anomaly_scores_)
    odd = _rewritten(tmp_path / "model.oddhop", tmp_path, lambda a, i: a.update(weights=a["weights"][:3]))
    with pytest.raises(ModelFileError, match="weights is float32 of shape"):
        HCM.load(odd)


def test_the_files_of_this_version_stay_readable(saved: Path) -> None:
    _, info = unpack_arrays(saved.read_bytes(), "the model")
    assert (info["kind"], info["schema"]) == ("hcm", 3)  # from the first release on another needs a reader


def test_saving_twice_gives_the_same_file_and_replaces_whole(fitted: HCM, saved: Path, tmp_path: Path) -> None:
    target = tmp_path / "again.oddhop"
    target.write_bytes(b"old")
    fitted.save(target)
    assert target.read_bytes() == saved.read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["again.oddhop"]


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_changed_byte_passes(saved: Path, tmp_path: Path, data: st.DataObject) -> None:
    content = bytearray(saved.read_bytes())
    # Half of the changes fall into the header, where no sha256 of a tensor would see them.
    size = int.from_bytes(content[:8], "little") + 8
    place = data.draw(st.integers(0, size - 1) | st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    (tmp_path / "mutant.oddhop").write_bytes(content)
    with pytest.raises(ModelFileError):
        HCM.load(tmp_path / "mutant.oddhop")


@pytest.mark.parametrize("cut", [0, 7, 100, -1])
def test_a_cut_or_lengthened_file_is_refused(saved: Path, tmp_path: Path, cut: int) -> None:
    content = saved.read_bytes()
    for changed in (content[:cut], content + b"x"):
        (tmp_path / "cut.oddhop").write_bytes(changed)
        with pytest.raises(ModelFileError):
            HCM.load(tmp_path / "cut.oddhop")


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="cannot be read: No such file"):
        HCM.load(tmp_path / "none.oddhop")


def _rewritten(saved: Path, tmp_path: Path, change) -> Path:
    """Change a model and seal it again, as someone hostile could."""
    arrays, info = unpack_arrays(saved.read_bytes(), "the model")
    arrays = {name: array.copy() for name, array in arrays.items()}
    change(arrays, info)
    path = tmp_path / "rewritten.oddhop"
    path.write_bytes(pack_arrays(arrays, info))
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a, i: i.update(schema=99), "schema 99, expected"),
        (lambda a, i: i.update(kind="something"), "'something'"),
        (lambda a, i: i["settings"].update(hop_classes=5), "does not match the settings|expected floats of shape"),
        (lambda a, i: i["settings"].update(code="import os"), "code"),
        (lambda a, i: i.pop("settings"), "settings"),
        (lambda a, i: a.update(weights=a["weights"][:1]), "weights is float32 of shape"),
        (lambda a, i: a["weights"].fill(np.nan), "weights has values that are not finite"),
        (lambda a, i: a.update(unit=a["unit"].astype(np.int64)), "unit is int64"),
        (lambda a, i: a.pop("spread"), "spread"),
        (lambda a, i: i["settings"].update(precision="float64"), "precision"),
        (lambda a, i: i["learned"]["shape"].update(layers=-1), "not a usable model"),
        (lambda a, i: i["learned"]["shape"].update(more=1), "not a usable model"),
        (lambda a, i: i["learned"]["shape"].update(layers=10**12), "does not match the settings"),
        (lambda a, i: a.update(unit=np.ones(9), centre=np.ones(9)), "do not match the attributes"),
        (lambda a, i: i.update(seed="many"), "not a usable model"),
        (lambda a, i: i.update(settings=3), "settings must be names and values"),
        (lambda a, i: i["learned"]["shape"].update(hidden=2**63), "not a usable model"),
        (lambda a, i: i["learned"].update(shape=None), "not a usable model"),
        (lambda a, i: a["unit"].fill(0), "has scales that are not above 0"),
        (lambda a, i: a["spread"].fill(0), "has scales that are not above 0"),
        (lambda a, i: a["spread"].fill(-1), "has scales that are not above 0"),
        (lambda a, i: a["threshold"].fill(np.nan), "threshold"),
        (lambda a, i: a.pop("threshold"), "threshold"),
        (lambda a, i: i["learned"]["left_out"].update(dropped=-1), "counts that are not valid"),
        (lambda a, i: i["learned"].pop("left_out"), "left_out"),
        (lambda a, i: i["learned"]["agreement"].update(kept="1.0"), "is no agreement of two rankings"),
        (lambda a, i: i["learned"]["agreement"].update(first=0), "is no agreement of two rankings"),
        (lambda a, i: i["learned"].update(agreement={"kept": 1.0}), "not a usable model"),
        (lambda a, i: i["learned"].pop("agreement"), "agreement"),
        (lambda a, i: i.update(kind=["hcm"]), "does not name the model in it"),
    ],
    ids=lambda one: None if callable(one) else one[:40],
)
def test_a_resealed_model_that_does_not_fit_together_is_refused(saved, tmp_path, change, message) -> None:
    with pytest.raises(ModelFileError, match=message):
        HCM.load(_rewritten(saved, tmp_path, change))


def test_a_pickle_or_a_plain_safetensors_file_is_refused(tmp_path: Path) -> None:
    import safetensors.numpy

    hostile = b"cos\nsystem\n(S'touch hacked'\ntR."
    plain = safetensors.numpy.save({"x": np.zeros(2)})
    odd = safetensors.numpy.save({"x": np.zeros(2)}, metadata={"oddhop": json.dumps([1, 2])})
    for content in (hostile, plain, odd):
        (tmp_path / "file.oddhop").write_bytes(content)
        with pytest.raises(ModelFileError, match="not an oddhop file"):
            HCM.load(tmp_path / "file.oddhop")


@pytest.mark.filterwarnings("ignore::RuntimeWarning:oddhop.hcm.model")  # said by kernels that are plain Python
def test_scores_that_are_not_finite_are_refused(small: Graph, saved: Path, tmp_path: Path) -> None:
    loaded = HCM.load(_rewritten(saved, tmp_path, lambda a, i: a["weights"].fill(3e38)))
    for ask in (loaded.score_samples, loaded.rank):
        with pytest.raises(GraphError, match="scores are not finite: the model does not fit this network"):
            ask(small)


def test_an_encoding_of_other_columns_is_refused(small: Graph, fitted: HCM, tmp_path: Path) -> None:
    table = pa.table({"a": np.arange(9.0), "b": np.arange(9.0) ** 2})
    fitted.save(tmp_path / "m.oddhop", encoding=learn_encoding(table))
    with pytest.raises(ModelFileError, match="the encoding gives 2 attributes and the model takes 5"):
        HCM.load(tmp_path / "m.oddhop")


def test_a_model_with_its_encoding_keeps_it(small: Graph, fitted: HCM, tmp_path: Path) -> None:
    encoding = learn_encoding(
        pa.table({name: np.random.default_rng(k).normal(size=9) for k, name in enumerate("abcde")})
    )
    fitted.save(tmp_path / "m.oddhop", encoding=encoding)
    model = HCM.load(tmp_path / "m.oddhop").model_
    assert model.encoding == encoding
    assert (model.learned.maxima, model.fingerprint, model.version) == (
        fitted.model_.learned.maxima,
        small.fingerprint,
        fitted.model_.version,
    )
    assert np.array_equal(model.learned.posterior.losses, fitted.model_.learned.posterior.losses)
    assert model.learned.posterior.shape == fitted.model_.learned.posterior.shape
