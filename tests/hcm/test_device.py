"""What a machine without a GPU can show of one: a step and a block of scoring touch nothing but their device."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

import numpy as np
import torch

from oddhop import HCM, Graph
from oddhop.base.randomness import NOISE, torch_generator
from oddhop.errors import SettingsError
from oddhop.hcm import chains
from oddhop.hcm.chains import descend
from oddhop.hcm.hop_pairs import Batch
from oddhop.hcm.model import HopModel, Inputs, Shape, Step, device_of
from oddhop.hcm.sampler import SGLD, Rule
from oddhop.hcm.settings import HCMSettings
from tests.cli.conftest import DETECT, FAST_HCM, refused, run
from tests.conftest import QUICK, sha256

SHAPES = [
    Shape(5, 8, 1, 4),
    Shape(5, 8, 2, 4),
    Shape(5, 8, 4, 3, directed=True),
    Shape(5, 8, 2, 4, relu_vectors=True, relu_logits=True, most_likely=True),
]


def on_meta(shape: Shape) -> HopModel:
    start = shape.start(torch.Generator().manual_seed(0), torch.float32)
    return HopModel(shape, start.to("meta"))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_whole_step_runs_where_there_are_no_numbers(small: Graph, shape: Shape) -> None:
    batch = Batch(np.array([0, 3, 7, 3]), np.array([1, 40, 9, 2]), np.array([0, 2, 1, 0]))
    step = Step.of(Inputs.of(small, np.float32), batch, shape.layers).to("meta")
    model = on_meta(shape)
    sampler = SGLD(model.parameters(), Rule(0.01, burn_in=1, temperature=1e-4, weight_decay=1e-8))
    for number in range(2):  # one that adapts, and one after
        loss, finite = descend(model, sampler, step, torch_generator(0, NOISE, number))
        assert (loss.device.type, finite.device.type) == ("meta", "meta")
    assert all(weight.device.type == "meta" for weight in model.parameters())
    assert sampler.squares().device.type == "meta"


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_block_of_scoring_runs_where_there_are_no_numbers(small: Graph, shape: Shape) -> None:
    model, inputs = on_meta(shape), Inputs.of(small, np.float32)
    with torch.no_grad():
        vectors = model.layer(0, torch.from_numpy(inputs.convolved).to("meta"))
        for number in range(1, shape.layers):
            block = inputs.convolution.rows(10, 20).to("meta")
            vectors = model.layer(number, block.times(vectors.new_zeros(61, 8)))
        hops = model.hops(vectors[:3], vectors[3:6])
    assert (hops.device.type, tuple(hops.shape)) == ("meta", (3,))


@pytest.mark.parametrize("layers", [2, 4])
def test_nothing_returns_to_numpy_between_the_transfer_and_the_end_of_the_update(
    small: Graph, monkeypatch: pytest.MonkeyPatch, layers: int
) -> None:
    steps = 0

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("a tensor was handed to NumPy, or an array to torch, in the middle of a step")

    def watched(*given: object) -> object:
        nonlocal steps
        steps += 1
        with pytest.MonkeyPatch.context() as patch:
            for owner, name in ((torch.Tensor, "numpy"), (torch.Tensor, "__array__"), (torch, "from_numpy")):
                patch.setattr(owner, name, refused)
            return descend(*given)  # type: ignore[arg-type]

    plain = HCM(**QUICK, layers=layers, workers=1).fit(small)
    monkeypatch.setattr(chains, "descend", watched)
    seen = HCM(**QUICK, layers=layers, workers=1).fit(small)
    assert steps == 2 * (12 + 2 * 2)
    assert sha256(seen.anomaly_scores_) == sha256(plain.anomaly_scores_)


def test_auto_takes_a_gpu_that_holds_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert [device_of(HCMSettings(device="auto", precision=precision)) for precision in ("float32", "float64")] == [
        "mps",
        "cpu",
    ]
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert [device_of(HCMSettings(device=name)) for name in ("auto", "cuda", "mps", "cpu")] == [
        "cuda",
        "cuda",
        "mps",
        "cpu",
    ]


def test_a_device_that_is_not_there_is_refused(small: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    fitted = HCM(**QUICK, device="auto").fit(small)
    assert sha256(fitted.anomaly_scores_) == sha256(HCM(**QUICK).fit(small).anomaly_scores_)
    with pytest.raises(SettingsError, match="device='cuda', and torch finds none"):
        HCM(**QUICK, device="cuda").fit(small)
    with pytest.raises(SettingsError, match="device='cuda', and torch finds none"):
        fitted.set_params(device="cuda").rank(small)
    with pytest.raises(SettingsError, match="device='mps' has no float64"):
        HCM(**QUICK, device="mps", precision="float64").fit(small)


def test_the_command_and_a_settings_file_name_the_device_too(folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.cuda, "is_available", lambda: False)
        (folder / "gpu.toml").write_text('[hcm]\ndevice = "cuda"\n')
        ways = {"a": ["--device", "cuda"], "b": ["--settings", "gpu.toml"], "c": ["--set", "hcm.device=cuda"]}
        for out, given in ways.items():
            lines = refused(2, *DETECT, *FAST_HCM, *given, "--out", out)
            assert "device='cuda', and torch finds none" in lines[0]
        run(*DETECT, *FAST_HCM, "--settings", "gpu.toml", "--device", "auto", "--no-report", "--out", "run")
    assert "unknown setting" in refused(2, *DETECT, "--device", "cpu", "--out", "other")[0]
    assert "device='tpu'" in refused(2, *DETECT, *FAST_HCM, "--device", "tpu", "--out", "other")[0]


def test_a_run_that_goes_on_leaves_what_it_goes_on_from_as_it_was() -> None:
    parameter = torch.nn.Parameter(torch.ones(3, dtype=torch.float64))
    sampler, squares = SGLD([parameter], Rule(0.1, 2, 0.5, 0.01)), torch.zeros(3, dtype=torch.float64)
    sampler.restore(squares, 1)
    parameter.grad = torch.ones(3, dtype=torch.float64)
    sampler.step(torch.Generator())
    assert not squares.any()
    assert sampler.squares().all()
