"""A killed run goes on to the same bits, and nothing else may go on in its folder."""

from __future__ import annotations

import fcntl
import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from oddhop import HCM, Graph
from oddhop.base.files import pack_arrays, unpack_arrays
from oddhop.errors import ModelFileError, RunFolderError
from oddhop.hcm.chains import Plan
from tests.conftest import QUICK, sha256

SETTINGS = {"burn_in": 250, "samples": 3, "thin": 20, "chains": 3, "hidden": 8, "random_state": None, "workers": 2}

SCRIPT = """
import json, os, signal, sys
import numpy as np
from oddhop import HCM, Graph
folder, stage, moment, settings = json.loads(sys.argv[1])
rng = np.random.default_rng(0)
graph = Graph.from_arrays(rng.integers(0, 200, (2, 600)), rng.normal(size=(200, 5)))

def progress(name, done, total):
    if name == stage and done >= moment * total:
        os.kill(os.getpid(), signal.SIGKILL)

HCM(**settings).fit(graph, run_folder=folder, progress=progress)
"""


def _graph() -> Graph:
    rng = np.random.default_rng(0)
    return Graph.from_arrays(rng.integers(0, 200, (2, 600)), rng.normal(size=(200, 5)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stage", "moment"),
    [("hop pairs", 0.5), ("training", 0.1), ("training", 0.55), ("training", 0.95), ("scoring", 0.6)],
)
def test_a_killed_run_resumes_to_the_same_bits(tmp_path: Path, stage: str, moment: float) -> None:
    argument = json.dumps([str(tmp_path / "run"), stage, moment, SETTINGS])
    killed = subprocess.run([sys.executable, "-c", SCRIPT, argument], capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    steps = []
    resumed = HCM(**SETTINGS).fit(
        _graph(), run_folder=tmp_path / "run", resume=True, progress=lambda s, d, t: steps.append(s)
    )
    straight = HCM(**{**SETTINGS, "random_state": resumed.seed_}).fit(_graph())
    assert sha256(resumed.anomaly_scores_) == sha256(straight.anomaly_scores_)
    assert resumed.result_.equals(straight.result_)
    if moment > 0.5 and stage == "training":  # something was really carried over
        assert steps.count("training") < 3 * (250 + 60) * 0.8
    assert not list((tmp_path / "run").glob("*.tmp"))


@pytest.fixture
def run(tmp_path: Path, small: Graph) -> Path:
    HCM(**QUICK).fit(small, run_folder=tmp_path / "run")
    return tmp_path / "run"


def test_a_finished_run_resumes_to_the_same_bits(run: Path, small: Graph) -> None:
    again = HCM(**QUICK).fit(small, run_folder=run, resume=True)
    assert sha256(again.anomaly_scores_) == sha256(HCM(**QUICK).fit(small).anomaly_scores_)


def test_a_folder_with_a_run_is_not_overwritten(run: Path, small: Graph) -> None:
    with pytest.raises(RunFolderError, match="already has a run; pass resume=True"):
        HCM(**QUICK).fit(small, run_folder=run)


def test_other_settings_data_or_version_are_refused(run: Path, small: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RunFolderError, match="another run: hop_classes was 4 and is 3;"):
        HCM(**{**QUICK, "hop_classes": 3}).fit(small, run_folder=run, resume=True)
    with pytest.raises(RunFolderError, match="began with the seed 0, got the seed 1; resume it without random_state"):
        HCM(**{**QUICK, "random_state": 1}).fit(small, run_folder=run, resume=True)
    other = small.with_attributes(small.attributes + 1.0)
    with pytest.raises(RunFolderError, match="data was"):
        HCM(**QUICK).fit(other, run_folder=run, resume=True)
    monkeypatch.setattr("oddhop.detector.fit_folder.__version__", "0.0.1")
    with pytest.raises(RunFolderError, match=r"version was .* and is '0\.0\.1'"):
        HCM(**QUICK).fit(small, run_folder=run, resume=True)


def test_workers_and_memory_may_differ(run: Path, small: Graph) -> None:
    settings = {**QUICK, "workers": 1, "max_memory": 2**33}
    assert HCM(**settings).fit(small, run_folder=run, resume=True).seed_ == 0


def test_two_runs_cannot_share_a_folder(run: Path, small: Graph) -> None:
    with (run / ".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(RunFolderError, match="another run is writing"):
            HCM(**QUICK).fit(small, run_folder=run, resume=True)


def test_a_damaged_checkpoint_or_manifest_is_refused(run: Path, small: Graph) -> None:
    checkpoint = run / "chain-0.safetensors"
    content = bytearray(checkpoint.read_bytes())
    content[-1] ^= 1
    checkpoint.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"chain-0\.safetensors was changed"):
        HCM(**QUICK).fit(small, run_folder=run, resume=True)
    (run / "manifest.json").write_text("{")
    with pytest.raises(RunFolderError, match="cannot be read"):
        HCM(**QUICK).fit(small, run_folder=run, resume=True)


def test_the_steps_of_a_plan_add_up() -> None:
    from oddhop.hcm.sampler import Rule

    assert Plan(Rule(0.1, 50, 0.0, 0.0), chains=2, samples=3, thin=4, pairs_per_class=1, seed=0).steps == 62


@pytest.mark.parametrize("change", [{"step": 99}, {"step": "5"}, {"loss": None}, {"halvings": -1}, "square", "more"])
def test_a_checkpoint_that_does_not_fit_its_run_is_refused(run: Path, small: Graph, change) -> None:
    file = run / "chain-0.safetensors"
    arrays, document = unpack_arrays(file.read_bytes(), "it")
    if change == "square":
        arrays["square"] = arrays["square"][:-1]
    elif change == "more":
        arrays["more"] = arrays["square"]
    else:
        document["info"].update(change)
    file.write_bytes(pack_arrays(arrays, document))
    with pytest.raises(ModelFileError, match="the checkpoint of chain-0 does not match its run"):
        HCM(**QUICK).fit(small, run_folder=run, resume=True)


@pytest.mark.parametrize("seed", ["3", -1, 2.5, [1]])
def test_a_seed_that_is_none_is_refused(tmp_path: Path, small: Graph, seed) -> None:
    settings = {**QUICK, "random_state": None}
    HCM(**settings).fit(small, run_folder=tmp_path / "run")
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_bytes())
    (tmp_path / "run" / "manifest.json").write_text(json.dumps({**manifest, "seed": seed}))
    with pytest.raises(RunFolderError, match="has a manifest with a seed that is not valid"):
        HCM(**settings).fit(small, run_folder=tmp_path / "run", resume=True)
