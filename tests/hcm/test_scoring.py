from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from oddhop import HCM, Graph
from oddhop.base.checkpoints import RunFolder
from oddhop.errors import ModelFileError
from oddhop.hcm.chains import Posterior
from oddhop.hcm.model import Inputs, Shape
from oddhop.hcm.ranking import rank_nodes
from oddhop.hcm.scoring import score_nodes
from oddhop.hcm.settings import replicate_count
from tests.conftest import QUICK

pytestmark = pytest.mark.kernels


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_blocks_of_any_size_and_any_number_of_threads_give_the_same_hops(
    small: Graph, layers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    shape, inputs = Shape(5, 8, layers, 3), Inputs.of(small, np.float32)
    weights = shape.start(torch.Generator().manual_seed(0), torch.float32).numpy()
    posterior = Posterior(np.stack([weights, 1.1 * weights])[None], shape, np.zeros(1))
    whole = score_nodes(posterior, inputs, small)
    assert np.array_equal(score_nodes(posterior, inputs, small, workers=3).chain_ahp, whole.chain_ahp)
    for name, size in (("ROWS_AT_ONCE", 7), ("EDGES_AT_ONCE", 5), ("EDGES_OF_A_TASK", 11)):
        monkeypatch.setattr(f"oddhop.hcm.scoring.{name}", size)
    parts = score_nodes(posterior, inputs, small, workers=2)
    np.testing.assert_allclose(parts.chain_ahp, whole.chain_ahp, atol=1e-6)
    np.testing.assert_allclose(parts.chain_iv, whole.chain_iv, atol=1e-6)


def test_figures_in_a_folder_are_those_in_memory_and_no_byte_may_change(small: Graph, tmp_path: Path) -> None:
    model = HCM(**QUICK).fit(small).model_
    inputs = Inputs.of(model.learned.preparation.apply(small, np.float32), np.float32)
    folder = RunFolder(tmp_path)
    first, again = (score_nodes(model.learned.posterior, inputs, small, folder=folder) for _ in range(2))
    memory = score_nodes(model.learned.posterior, inputs, small)
    for other in (first, again):
        assert np.array_equal(other.chain_iv, memory.chain_iv)
        assert np.array_equal(other.draws, memory.draws)
    del first, again, other
    changed = bytearray((tmp_path / "mean.bin").read_bytes())
    changed[5] ^= 1
    (tmp_path / "mean.bin").write_bytes(changed)
    with pytest.raises(ModelFileError, match="changed after"):
        score_nodes(model.learned.posterior, inputs, small, folder=folder)


@pytest.mark.parametrize("change", [{"sha256": None}, {"sha256": [{}] * 3}, {"sha256": [{}]}])
def test_a_checkpoint_of_scoring_that_does_not_fit_is_refused(small: Graph, tmp_path: Path, change: dict) -> None:
    model = HCM(**QUICK).fit(small).model_
    inputs = Inputs.of(model.learned.preparation.apply(small, np.float32), np.float32)
    folder = RunFolder(tmp_path)
    folder.save("scoring", {"within": np.zeros((2, small.node_count))}, change)
    with pytest.raises(ModelFileError, match="does not match its run"):
        score_nodes(model.learned.posterior, inputs, small, folder=folder)


def test_a_checkpoint_of_no_chain_is_a_beginning(small: Graph, tmp_path: Path) -> None:
    model = HCM(**QUICK).fit(small).model_
    inputs = Inputs.of(model.learned.preparation.apply(small, np.float32), np.float32)
    RunFolder(tmp_path).save("scoring", {"within": np.zeros((0, small.node_count))}, {"sha256": []})
    begun = score_nodes(model.learned.posterior, inputs, small, folder=RunFolder(tmp_path))
    assert np.array_equal(begun.chain_iv, score_nodes(model.learned.posterior, inputs, small).chain_iv)


def test_a_node_with_one_neighbour_is_judged_and_one_with_none_is_not(small: Graph) -> None:
    model = HCM(**QUICK).fit(small).model_
    path = Graph.from_arrays([[0, 1], [1, 2]], np.random.default_rng(0).normal(size=(4, small.attribute_count)))
    scores = score_nodes(
        model.learned.posterior, Inputs.of(model.learned.preparation.apply(path, np.float32), np.float32), path
    )
    assert scores.judged.tolist() == [True, True, True, False]
    assert scores.ahp[:3].min() >= 1
    assert scores.ahp[3] == 0


def test_a_network_without_edges_has_nothing_to_keep_and_scores_of_zero(small: Graph, tmp_path: Path) -> None:
    model = HCM(**QUICK).fit(small).model_
    lone = Graph.from_arrays(np.empty((2, 0), dtype=np.int64), small.attributes)
    inputs = Inputs.of(model.learned.preparation.apply(lone, np.float32), np.float32)
    scores = score_nodes(model.learned.posterior, inputs, lone, folder=RunFolder(tmp_path))
    assert not scores.chain_scores("ahp").any()
    assert not scores.chain_scores("hav").any()
    assert not scores.judged.any()
    assert not (tmp_path / "mean.bin").exists()


def test_a_run_in_a_folder_that_was_killed_between_chains_goes_on(small: Graph, tmp_path: Path) -> None:
    model = HCM(**QUICK).fit(small).model_
    inputs = Inputs.of(model.learned.preparation.apply(small, np.float32), np.float32)

    class StoppedError(Exception):
        pass

    def stop(stage: str, done: int, total: int) -> None:
        if done == 3:
            raise StoppedError

    folder = RunFolder(tmp_path)
    with pytest.raises(StoppedError):
        score_nodes(model.learned.posterior, inputs, small, folder=folder, progress=stop)
    steps = []
    again = score_nodes(
        model.learned.posterior, inputs, small, folder=folder, progress=lambda s, d, t: steps.append((s, d, t))
    )
    assert steps == [("scoring", 3, 4), ("scoring", 4, 4)]
    straight = score_nodes(model.learned.posterior, inputs, small)
    for kind in ("ahp", "hav"):
        assert np.array_equal(again.chain_scores(kind), straight.chain_scores(kind))
    assert np.array_equal(straight.chain_scores("ahp"), straight.chain_ahp)
    assert np.array_equal(straight.judged, small.degrees > 0)


@pytest.mark.parametrize("samples", [5, 8, 10])
def test_equal_parts_of_one_chain_stand_in_for_chains(small: Graph, samples: int) -> None:
    detector = HCM(**{**QUICK, "chains": 1, "samples": samples}, score="hav").fit(small)
    model = detector.model_
    inputs = Inputs.of(model.learned.preparation.apply(small, np.float32), np.float32)
    scores = score_nodes(model.learned.posterior, inputs, small)
    assert scores.draws.shape == (1, samples, small.node_count)
    np.testing.assert_allclose(scores.ahp, scores.draws[0].mean(axis=0), rtol=1e-5)
    parts = replicate_count(1, samples)
    assert scores.chain_iv.shape == (parts, small.node_count)
    # An interval of HAV is made from how HAV differs between the parts, not from AHP alone.
    table = detector.result_
    assert (table["rank_low"].to_numpy() <= table["rank"].to_numpy()).all()
    expected = rank_nodes(scores, "hav", 3).std
    assert not np.allclose(expected, rank_nodes(replace(scores, chain_iv=0 * scores.chain_iv), "hav", 3).std)
