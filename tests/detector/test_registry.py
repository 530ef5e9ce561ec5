"""A third detector is a class and a line in the registry; every command and check then knows it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import oddhop
from oddhop import Graph
from oddhop.base.parallel import Progress
from oddhop.cli import app
from oddhop.detector.base import GraphDetector
from oddhop.detector.contract import FitRun
from oddhop.detector.estimator import parameters_of
from oddhop.detector.flagging import budget
from oddhop.detector.ranking import rank_scores
from oddhop.detector.registry import DETECTORS, Entry, registered
from oddhop.detector.result_table import Judgement
from oddhop.detector.settings import DetectorSettings
from oddhop.errors import MissingExtraError, SettingsError
from oddhop.graph.preparation import learn_preparation
from tests.contract.checks import Check, graph_detector_checks
from tests.contract.subjects import DoesNotApply


class FarSettings(DetectorSettings):
    power: float = 1.0


class Far(GraphDetector):
    """A node is anomalous if its attributes are far from the mean."""

    name = "far"
    settings_type = FarSettings

    @parameters_of(FarSettings)
    def __init__(self) -> None: ...

    def _learn(self, graph: Graph, run: FitRun) -> tuple[Any, Judgement]:
        preparation = learn_preparation(graph.attributes, scale="standard", pca_components=None, pca_above=100)
        learned = preparation.arrays()
        return learned, self._judged(graph, learned, run.settings)

    def _judge(self, graph: Graph, progress: Progress) -> Judgement:
        return self._judged(graph, self.model_.learned, self.model_.settings)

    def _judged(self, graph: Graph, learned: Any, settings: FarSettings) -> Judgement:
        if graph.attribute_count != learned["unit"].size:
            raise oddhop.errors.GraphError("other columns than before", "give the same")
        x = graph.attributes.toarray() if hasattr(graph.attributes, "toarray") else graph.attributes
        z = (x / learned["unit"] - learned["centre"]) / learned["spread"]
        score, judged = np.linalg.norm(z, axis=1) ** settings.power, graph.degrees > 0
        ranking = rank_scores(score, np.stack([score, score]), judged, budget(settings, judged.sum()), inflation=1.0)
        return Judgement(ranking, judged, {"norm": score})


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DETECTORS, "far", Entry(f"{__name__}:Far", f"{__name__}:FarSettings", summary="for this test"))


def run(*words: str) -> str:
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == 0, done.output
    return done.output


def test_every_command_knows_a_third_detector(far: None, folder: Path) -> None:
    tables = ["edges.csv", "--nodes", "nodes.csv"]
    run("detect", *tables, "--detector", "far", "--set", "far.power=2.0", "--out", "run", "--top", "3", "--seed", "0")
    assert sorted(file.name for file in (folder / "run").glob("[!.]*")) == [
        "cases.json", "manifest.json", "model.oddhop", "report.html", "results.csv", "results.parquet", "state.parquet"
    ]  # fmt: skip
    assert "p7: score" in run("explain", "run", "p7")
    assert 'id="case-1"' in (folder / "run" / "report.html").read_text()
    run("report", "run", "--explain", "5")
    run("fit", *tables, "--detector", "far", "--model", "far.oddhop", "--seed", "0")
    run("score", "far.oddhop", *tables, "--out", "scores")
    assert "a model of Far" in run("verify", "far.oddhop")
    assert "Estimated memory of a run" in run("plan", *tables, "--detector", "far")
    loaded = oddhop.load(folder / "far.oddhop")
    assert type(loaded) is Far
    assert (
        loaded.features(oddhop.read_network("edges.csv", "nodes.csv", encoding=loaded.model_.encoding)).num_rows == 80
    )


@pytest.mark.parametrize("check", graph_detector_checks(Far()), ids=lambda check: check.name)
def test_a_third_detector_passes_every_check(check: Check) -> None:
    try:
        check()
    except DoesNotApply as reason:
        pytest.skip(str(reason))


def test_an_unknown_detector_is_refused_with_those_that_there_are(folder: Path) -> None:
    told = CliRunner().invoke(app, ["detect", "edges.csv", "--nodes", "nodes.csv", "--detector", "od", "--out", "run"])
    assert told.exit_code == 2
    assert "no detector is called 'od'" in told.stderr
    assert "choose odd or hcm or cosine" in told.stderr
    with pytest.raises(SettingsError):
        oddhop.detector.registry.settings_named("none")


WITHOUT_TORCH = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
sys.meta_path.insert(0, Absent())
import oddhop
try:
    oddhop.HCM
except oddhop.OddhopError as error:
    print(error)
"""


def test_without_torch_hcm_names_the_line_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_TORCH], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith('needs torch, which is not installed; pip install "oddhop[hcm]"')
    monkeypatch.setitem(DETECTORS, "broken", Entry("oddhop.nowhere:It", "oddhop.odd.settings:OddSettings"))
    with pytest.raises(ModuleNotFoundError):
        oddhop.detector.registry.detector_named("broken")
    assert issubclass(MissingExtraError, ImportError)


MINE = '''
import numpy as np
from oddhop.detector.base import GraphDetector
from oddhop.detector.estimator import parameters_of
from oddhop.detector.flagging import budget
from oddhop.detector.ranking import rank_scores
from oddhop.detector.result_table import Judgement
from oddhop.detector.settings import DetectorSettings


class BusySettings(DetectorSettings):
    power: float = 1.0


class Busy(GraphDetector):
    """The node with the most neighbours is the most anomalous."""

    name = "busy"
    settings_type = BusySettings

    @parameters_of(BusySettings)
    def __init__(self): ...

    def _learn(self, graph, run):
        return {}, self._of(graph, run.settings)

    def _judge(self, graph, progress):
        return self._of(graph, self.model_.settings)

    def _of(self, graph, settings):
        score, judged = graph.degrees.astype(float) ** settings.power, graph.degrees > 0
        top = budget(settings, int(judged.sum()))
        return Judgement(rank_scores(score, [score, score], judged, top, inflation=1.0), judged)
'''


@pytest.fixture
def mine(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    (folder / "mine_of_a_test.py").write_text(MINE)
    monkeypatch.syspath_prepend(folder)
    yield "mine_of_a_test:Busy"
    DETECTORS.pop("busy", None)
    sys.modules.pop("mine_of_a_test", None)


def test_a_class_of_ones_own_runs_and_no_model_file_imports_it(mine: str, folder: Path) -> None:
    tables, some = ["edges.csv", "--nodes", "nodes.csv"], ["--top", "3", "--explain", "9", "--set", "busy.power=2.0"]
    run("detect", *tables, "--detector", mine, "--out", "run", *some)
    first, *_, last = pq.read_table(folder / "run/results.parquet").to_pylist()
    assert first["score"] == first["degree"] ** 2
    assert f"{first['id']}: score" in run("explain", "run", first["id"])
    DETECTORS.pop("busy")
    sys.modules.pop("mine_of_a_test")
    for words in (["explain", "run", last["id"]], ["report", "run"]):
        refused = CliRunner().invoke(app, words)
        assert "a model of 'busy'" in refused.stderr
        assert "--detector package.module:Class" in refused.stderr
        assert "mine_of_a_test" not in sys.modules
        run(*words, "--detector", mine)
        DETECTORS.pop("busy")
        sys.modules.pop("mine_of_a_test")
    run("score", "run/model.oddhop", *tables, "--out", "scores", "--detector", mine)
    assert 'id="case-1"' in (folder / "run" / "report.html").read_text()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("oddhop.nowhere:It", "cannot be imported"),
        ("oddhop.odd.detector:Even", "cannot be imported"),
        ("oddhop.graph.graph:Graph", "is not a detector"),
        ("oddhop.odd.detector:Odd.fit", "is not a detector"),
    ],
)
def test_what_is_no_detector_is_refused(name: str, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        registered(name)


def test_a_class_cannot_take_the_name_of_another_detector(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Far, "name", "odd")
    with pytest.raises(SettingsError, match="another detector is called 'odd'"):
        registered(f"{__name__}:Far")
