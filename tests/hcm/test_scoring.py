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
from oddhop.hcm.material import Material
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
    whole = score_nodes(posterior, Material(small, inputs))
    assert np.array_equal(score_nodes(posterior, Material(small, inputs), workers=3).chain_ahp, whole.chain_ahp)
    for name, size in (("ROWS_AT_ONCE", 7), ("EDGES_AT_ONCE", 5), ("EDGES_OF_A_TASK", 11)):
        monkeypatch.setattr(f"oddhop.hcm.scoring.{name}", size)
    parts = score_nodes(posterior, Material(small, inputs), workers=2)
    np.testing.assert_allclose(parts.chain_ahp, whole.chain_ahp, atol=1e-6)
    np.testing.assert_allclose(parts.iv, whole.iv, atol=1e-6)


def test_figures_in_a_folder_are_those_in_memory_and_no_byte_may_change(small: Graph, tmp_path: Path) -> None:
    model = HCM(**QUICK).fit(small).model_
    inputs = Inputs.of(model.learned.preparation.apply(small, np.float32), np.float32)
    folder = RunFolder(tmp_path)
    first, again = (score_nodes(model.learned.posterior, Material(small, inputs, folder=folder)) for _ in range(2))
    memory = score_nodes(model.learned.posterior, Material(small, inputs))
    for other in (first, again):
        for part in ("chain_ahp", "chain_within", "chain_between", "chain_moved"):
            assert np.array_equal(getattr(other, part), getattr(memory, part))
    del first, again, other
    changed = bytearray((tmp_path / "mean-0.bin").read_bytes())
    changed[5] ^= 1
    (tmp_path / "mean-0.bin").write_bytes(changed)
    with pytest.raises(ModelFileError, match="changed after"):
        score_nodes(model.learned.posterior, Material(small, inputs, folder=folder))


@pytest.mark.parametrize("change", [{"ahp": None}, {"ahp": np.zeros(3)}, {"more": np.zeros(61)}])
def test_a_checkpoint_of_scoring_that_does_not_fit_is_refused(small: Graph, tmp_path: Path, change: dict) -> None:
    model = HCM(**QUICK).fit(small).model_
    inputs = Inputs.of(model.learned.preparation.apply(small, np.float32), np.float32)
    folder = RunFolder(tmp_path)
    score_nodes(model.learned.posterior, Material(small, inputs, folder=folder))
    arrays, info = folder.load("scores-0")
    folder.save("scores-0", {name: one for name, one in {**arrays, **change}.items() if one is not None}, info)
    with pytest.raises(ModelFileError, match="does not match its run"):
        score_nodes(model.learned.posterior, Material(small, inputs, folder=folder))


def test_chains_that_are_added_leave_those_before_and_the_variance_falls_apart_into_two(small: Graph) -> None:
    model = HCM(**QUICK | {"chains": 3}).fit(small).model_
    posterior = model.learned.posterior
    inputs = Inputs.of(model.learned.preparation.apply(small, np.float32), np.float32)
    two = score_nodes(replace(posterior, weights=posterior.weights[:2]), Material(small, inputs))
    steps = []
    three = score_nodes(posterior, Material(small, inputs), before=two, progress=lambda s, d, t: steps.append(d))
    assert steps == [5, 6]
    whole = score_nodes(posterior, Material(small, inputs))
    for part in ("chain_ahp", "chain_within", "chain_between", "chain_moved"):
        assert np.array_equal(getattr(three, part), getattr(whole, part))
    same = score_nodes(replace(posterior, weights=np.stack([posterior.weights[0]] * 2)), Material(small, inputs))
    assert not same.chain_between.any()
    np.testing.assert_array_equal(same.iv, same.chain_within[0])


def test_a_node_with_one_neighbour_is_judged_and_one_with_none_is_not(small: Graph) -> None:
    model = HCM(**QUICK).fit(small).model_
    path = Graph.from_arrays([[0, 1], [1, 2]], np.random.default_rng(0).normal(size=(4, small.attribute_count)))
    inputs = Inputs.of(model.learned.preparation.apply(path, np.float32), np.float32)
    scores = score_nodes(model.learned.posterior, Material(path, inputs))
    assert scores.judged.tolist() == [True, True, True, False]
    assert scores.ahp[:3].min() >= 1
    assert scores.ahp[3] == 0


def test_a_network_without_edges_has_nothing_to_keep_and_scores_of_zero(small: Graph, tmp_path: Path) -> None:
    model = HCM(**QUICK).fit(small).model_
    lone = Graph.from_arrays(np.empty((2, 0), dtype=np.int64), small.attributes)
    inputs = Inputs.of(model.learned.preparation.apply(lone, np.float32), np.float32)
    scores = score_nodes(model.learned.posterior, Material(lone, inputs, folder=RunFolder(tmp_path)))
    assert not scores.chain_scores("ahp").any()
    assert not scores.chain_scores("hav").any()
    assert not scores.judged.any()
    assert not (tmp_path / "mean-0.bin").exists()


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
        score_nodes(model.learned.posterior, Material(small, inputs, folder=folder), progress=stop)
    steps = []
    material = Material(small, inputs, folder=folder)
    again = score_nodes(model.learned.posterior, material, progress=lambda s, d, t: steps.append((s, d, t)))
    assert steps == [("scoring", 3, 4), ("scoring", 4, 4)]
    straight = score_nodes(model.learned.posterior, Material(small, inputs))
    for kind in ("ahp", "hav"):
        assert np.array_equal(again.chain_scores(kind), straight.chain_scores(kind))
    assert np.array_equal(straight.chain_scores("ahp"), straight.chain_ahp)
    assert np.array_equal(straight.judged, small.degrees > 0)


@pytest.mark.parametrize("samples", [5, 8, 10])
def test_equal_parts_of_one_chain_stand_in_for_chains(small: Graph, samples: int) -> None:
    detector = HCM(**{**QUICK, "chains": 1, "samples": samples}, score="hav").fit(small)
    model = detector.model_
    inputs = Inputs.of(model.learned.preparation.apply(small, np.float32), np.float32)
    scores = score_nodes(model.learned.posterior, Material(small, inputs))
    assert scores.single
    parts = replicate_count(1, samples)
    assert scores.chain_within.shape == (parts, small.node_count)
    # An interval of HAV is made from how HAV differs between the parts, not from AHP alone.
    table = detector.result_
    assert (table["rank_low"].to_numpy() <= table["rank"].to_numpy()).all()
    expected = rank_nodes(scores, "hav", 3).std
    assert not np.allclose(expected, rank_nodes(replace(scores, chain_between=0 * scores.chain_between), "hav", 3).std)
