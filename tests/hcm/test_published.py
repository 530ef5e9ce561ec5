"""HCM as the paper prints it: its formulas, and the settings of its networks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from oddhop import HCM, Graph
from oddhop.cli.settings import gathered
from oddhop.errors import SettingsError
from oddhop.hcm.model import HopModel, Inputs, Shape, receptive
from tests.conftest import sha256
from tests.contract.reference import adjacency_of, relu

SHORT = {"burn_in": 5, "samples": 4, "hidden": 8, "random_state": 0, "workers": 1}


@pytest.fixture(scope="module")
def fitted(small: Graph) -> HCM:
    return HCM.as_published("Amazon", **SHORT).fit(small)


@pytest.mark.parametrize("layers", [1, 2, 4])
def test_the_printed_formulas_hold(small: Graph, layers: int) -> None:
    settings = HCM.as_published("BlogCatalog", layers=layers, hidden=6, precision="float64").settings()
    shape = Shape.of(settings, small.attribute_count)
    flat = torch.randn(shape.size, generator=torch.Generator().manual_seed(layers), dtype=torch.float64)
    model, nodes = HopModel(shape, flat), small.node_count
    inputs = Inputs.of(small, np.float64, normalised=settings.normalised_input)
    with torch.no_grad():
        z = model.vectors(*receptive(inputs, np.arange(nodes), layers))
        hops = model.hops(z[:30], z[30:60]).numpy()

    rows = np.repeat(np.arange(nodes), small.degrees)
    loops = adjacency_of(np.stack([rows, small.indices], axis=1), nodes) + np.eye(nodes)
    root = np.diag(1 / np.sqrt(loops.sum(axis=0)))
    *convolutions, v0, b0, v1, b1 = (np.asarray(part.detach()) for part in model.parameters())
    hidden = relu(loops @ np.asarray(small.attributes) @ convolutions[0])
    for matrix in convolutions[1:]:
        hidden = relu(root @ loops @ root @ hidden @ matrix)
    logits = relu(relu(np.abs(hidden[:30] - hidden[30:60]) @ v0 + b0) @ v1 + b1)
    np.testing.assert_allclose(z.numpy(), hidden, atol=1e-10)
    np.testing.assert_array_equal(hops, logits.argmax(axis=1) + 1)


def test_every_network_has_what_is_printed_for_it() -> None:
    everywhere = {"chains": 1, "step_size": 0.01, "weight_decay": 5e-8, "drop_ratio": 0.2, "hop_classes": 4}
    everywhere |= {"sampling_ratio": 0.3, "hidden": 128, "pca_components": 20, "preconditioned": False, "score": "hav"}
    for name, layers in (("Flickr", 2), ("BlogCatalog", 2), ("ACM", 2), ("Amazon", 4), ("Enron", 4)):
        settings = HCM.as_published(name).settings().model_dump()
        assert {**settings, **everywhere, "layers": layers} == settings
        assert settings["burn_in"] + settings["samples"] * settings["thin"] == 100
    with pytest.raises(SettingsError, match="the paper has no network 'Cora'; it has BlogCatalog, Flickr"):
        HCM.as_published("Cora")


def test_a_settings_file_and_the_command_ask_for_it_too_and_what_else_is_given_wins(tmp_path: Path) -> None:
    (tmp_path / "paper.toml").write_text('[hcm]\nas_published = "Enron"\nchains = 2\n')
    own = {"detector": "hcm", "learn": {"random_state": 3}}
    from_file = gathered(tmp_path / "paper.toml", [], **own).of("hcm")
    by_option = gathered(None, ["hcm.chains=2", "hcm.as_published=Enron"], **own).of("hcm")
    assert from_file == by_option == HCM.as_published("Enron", chains=2, random_state=3).settings()
    with pytest.raises(SettingsError, match="the paper has no network 'Cora'"):
        gathered(None, ["hcm.as_published=Cora"], detector="hcm")


def test_the_rule_of_the_paper_sets_the_pairs_of_a_step(small: Graph, fitted: HCM) -> None:
    sizes = fitted.diagnostics_.class_sizes
    pairs: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HopModel, "loss", lambda model, step: pairs.append(step.left.numel()) or _loss(model, step))
        HCM.as_published("Amazon", **SHORT).fit(small)
    assert set(pairs) == {int((sizes > 0).sum() * int(0.3 * sizes[sizes > 0].min()))}


_loss = HopModel.loss


def test_predictions_are_whole_hops_and_a_saved_model_and_its_reasons_agree(
    small: Graph, fitted: HCM, tmp_path: Path
) -> None:
    fitted.save(tmp_path / "model.oddhop")
    loaded = HCM.load(tmp_path / "model.oddhop")
    assert sha256(-loaded.score_samples(small)) == sha256(fitted.anomaly_scores_)
    table = fitted.result_.sort_by("id").to_pydict()
    hops = np.array(table["ahp"]) * small.degrees * 4  # four samples
    np.testing.assert_allclose(hops, np.round(hops), atol=1e-3)
    assert np.ptp(hops / np.maximum(small.degrees, 1)) > 0  # else this would say little
    for node in (0, 17):
        assert fitted.explain(node).hops == pytest.approx(table["ahp"][node], abs=1e-5)
