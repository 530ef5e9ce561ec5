"""A result as a frame: the same values, the kept columns, and a plain word where a package is missing."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import NotFittedError

from oddhop import Graph, Odd, read_network
from oddhop.errors import GraphError, MissingExtraError

SETTINGS = {"random_state": 0, "simulate": False, "workers": 1, "n_resamples": 2}


@pytest.fixture(scope="module")
def fitted(small: Graph) -> Odd:
    return Odd(**SETTINGS).fit(small)


def test_both_frames_have_the_values_of_the_result(fitted: Odd) -> None:
    pandas, polars = fitted.to_pandas(), fitted.to_polars()
    assert list(pandas.columns) == polars.columns == fitted.result_.column_names
    back = pa.Table.from_pandas(pandas, preserve_index=False).cast(fitted.result_.schema)
    assert back.equals(fitted.result_)
    assert isinstance(polars, pl.DataFrame)
    assert polars["score"].to_list() == fitted.result_["score"].to_pylist()
    assert polars["id"].to_list() == fitted.result_["id"].to_pylist()


def test_columns_that_were_kept_come_along(tables: dict[str, pa.Table]) -> None:
    network = read_network(tables["edges"], tables["nodes"], keep_columns=("town",))
    frame = Odd(**SETTINGS).fit(network).to_pandas()
    towns = dict(zip(tables["nodes"]["name"].to_pylist(), tables["nodes"]["town"].to_pylist(), strict=True))
    assert frame["town"].tolist() == [towns[name] for name in frame["id"]]


def test_a_network_with_an_encoding_of_its_own_is_refused(tables: dict[str, pa.Table]) -> None:
    edges, nodes = tables["edges"], tables["nodes"]
    detector = Odd(**SETTINGS).fit(edges, nodes=nodes)
    later = nodes.slice(1).take(np.arange(nodes.num_rows - 2, -1, -1))  # another median, and not sorted
    other = read_network(edges, later)
    for score in (detector.score_samples, detector.predict, detector.rank):
        with pytest.raises(GraphError, match="encoded in another way"):
            score(other)
    alike = read_network(edges, later, encoding=detector.model_.encoding)
    ranked = detector.rank(edges, nodes=later)
    scores = dict(zip(ranked["id"].to_pylist(), ranked["score"].to_pylist(), strict=True))
    expected = [scores[name] for name in alike.judged_ids.to_pylist()]
    for samples in (detector.score_samples(alike), detector.score_samples(edges, nodes=later)):
        assert (-samples).tolist() == expected
    flagging = detector.flagging(top_k=3)
    assert np.count_nonzero(flagging.predict(edges, nodes=later) == -1) == 3


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_missing_package_is_named_with_what_to_install(
    fitted: Odd, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError) as raised:
        getattr(fitted, f"to_{package}")()
    assert raised.value.remedy == f"pip install {package}"


def test_there_is_no_frame_without_a_result(fitted: Odd, tmp_path: Path) -> None:
    with pytest.raises(NotFittedError):
        Odd().to_pandas()
    fitted.save(tmp_path / "model")
    with pytest.raises(AttributeError, match="loaded from a file"):
        Odd.load(tmp_path / "model").to_polars()


def test_a_column_of_ids_is_explained() -> None:
    rng = np.random.default_rng(0)
    fitted = Odd(random_state=0, simulate=False).fit(
        Graph.from_arrays(rng.integers(0, 60, (2, 200)), rng.normal(size=(60, 3)))
    )
    frame = fitted.to_pandas()
    assert [why.id for why in fitted.explain(frame["id"][:3])] == frame["id"][:3].tolist()
