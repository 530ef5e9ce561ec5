from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from oddhop import HCM, Graph
from oddhop.errors import TrainingDivergedError
from oddhop.hcm.model import HopModel, Step
from tests.conftest import QUICK, sha256


def test_a_chain_whose_loss_breaks_starts_again_with_half_the_step(
    small: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = 0
    real = HopModel.loss

    def once_broken(model: HopModel, step: Step) -> torch.Tensor:
        nonlocal calls
        calls += 1
        return real(model, step) * (torch.nan if calls == 7 else 1)

    single = {**QUICK, "chains": 1, "samples": 4, "workers": 1}
    monkeypatch.setattr(HopModel, "loss", once_broken)
    scores = HCM(**single, step_size=0.002).fit(small).anomaly_scores_
    monkeypatch.undo()
    assert sha256(scores) == sha256(HCM(**single, step_size=0.001).fit(small).anomaly_scores_)


@pytest.mark.filterwarnings("ignore:.* encountered in:RuntimeWarning")  # kernels without the JIT warn on the way
def test_a_loss_that_stays_broken_ends_with_advice(small: Graph) -> None:
    with pytest.raises(TrainingDivergedError, match=r"not finite .* 3 restarts .* set a tenth"):
        HCM(**QUICK, step_size=1e30).fit(small)


def test_chains_start_apart_and_training_lowers_the_loss(small: Graph) -> None:
    settings = {**QUICK, "chains": 3, "workers": 2}
    short, long = (HCM(**{**settings, "burn_in": steps}).fit(small) for steps in (1, 200))
    weights = long.model_.learned.posterior.weights
    assert not np.allclose(weights[0], weights[1])
    assert long.diagnostics_.losses.mean() < short.diagnostics_.losses.mean() - 0.1
