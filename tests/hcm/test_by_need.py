"""Chains and steps by need: enough for the ranking to hold, and no more."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from oddhop import HCM, Graph
from oddhop.hcm.model import HopModel, Step
from oddhop.hcm.settings import HCMSettings
from tests.cli.conftest import DETECT, FEW, run
from tests.conftest import QUICK, sha256

BY_NEED = {**QUICK, "chains": None}


def steady_at(chains: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let so many chains be taken to be enough."""
    from oddhop.hcm import detector
    from oddhop.hcm.ranking import Agreement

    def agreement(scores, kind: str) -> Agreement:
        return Agreement(20, 1.0 if len(scores.chain_ahp) >= chains else 0.2, 1.0)

    monkeypatch.setattr(detector, "agreement", agreement)


def test_chains_are_added_until_another_seed_would_keep_the_ranking() -> None:
    """Two groups and one node between them: what is plain needs few chains, and noise needs all."""
    rng = np.random.default_rng(0)
    side = np.repeat([0, 1], 100)
    edges = np.concatenate([rng.integers(0, 100, (2, 400)), rng.integers(100, 200, (2, 400))], axis=1)
    plain = Graph.from_arrays(edges, 4.0 * side[:, None] + rng.normal(0, 0.3, (200, 3)))
    noise = Graph.from_arrays(rng.integers(0, 200, (2, 800)), rng.normal(size=(200, 3)))
    few = {"hidden": 8, "samples": 2, "thin": 2, "random_state": 0}
    found = [HCM(**few, burn_in=steps).fit(one).diagnostics_ for one, steps in ((plain, 100), (noise, 20))]
    for one in found:
        assert one.agreement.enough or one.chains == 32
    assert found[0].chains < found[1].chains


@pytest.mark.parametrize("chains", [4, 8])
def test_the_chains_that_were_needed_give_the_bits_of_as_many_that_were_asked_for(
    small: Graph, chains: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    steady_at(chains, monkeypatch)
    by_need = HCM(**BY_NEED).fit(small)
    monkeypatch.undo()
    assert by_need.diagnostics_.chains == chains
    asked = HCM(**{**QUICK, "chains": chains}).fit(small)
    assert sha256(by_need.anomaly_scores_) == sha256(asked.anomaly_scores_)
    assert by_need.result_.equals(asked.result_)


@pytest.mark.parametrize("stage", ["training", "scoring"])
def test_a_run_that_ended_while_chains_were_added_goes_on_to_the_same_bits(
    small: Graph, tmp_path: Path, stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    steady_at(8, monkeypatch)

    class StoppedError(Exception):
        pass

    most = {"training": 4 * 16, "scoring": 4 * 2}[stage]  # of the first round

    def stop(name: str, done: int, total: int) -> None:
        if name == stage and total > most and done > 0.7 * total:
            raise StoppedError

    straight = HCM(**BY_NEED, workers=2).fit(small)
    with pytest.raises(StoppedError):
        HCM(**BY_NEED, workers=1).fit(small, run_folder=tmp_path / "run", progress=stop)
    seen = []
    resumed = HCM(**BY_NEED).fit(
        small, run_folder=tmp_path / "run", resume=True, progress=lambda name, done, total: seen.append((name, total))
    )
    assert sha256(resumed.anomaly_scores_) == sha256(straight.anomaly_scores_)
    assert resumed.result_.equals(straight.result_)


def test_steps_grow_with_the_pairs_within_limits() -> None:
    settings = HCMSettings()
    steps = [settings.steps_before(smallest, 4) for smallest in (100, 1_350, 5_000, 20_000, 10**6)]
    assert steps == [100, 106, 391, 1_000, 1_000]
    assert HCMSettings(burn_in=7).steps_before(10**6, 4) == 7
    rounds = [settings.rounds(smallest, 4) for smallest in (100, 5_000, 10**6)]
    assert rounds == [(4, 8, 16, 32), (4, 8, 16), (4, 8)]
    assert HCMSettings(chains=3).rounds(100, 4) == (3,)


def test_a_step_sees_few_rows_of_a_dense_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """512 pairs have at most 1,024 ends; the paper's rule would take nearly all nodes in every step."""
    rng = np.random.default_rng(0)
    graph = Graph.from_arrays(rng.integers(0, 3_000, (2, 20_000)), rng.normal(size=(3_000, 2)))
    seen, real = [], HopModel.loss

    def loss(model: HopModel, step: Step):
        seen.append((step.left.numel(), step.blocks[-1].starts.numel() - 1))
        return real(model, step)

    monkeypatch.setattr(HopModel, "loss", loss)
    HCM(burn_in=3, chains=2, samples=2, thin=1, hidden=8, random_state=0, workers=1).fit(graph)
    assert all(pairs <= 512 and rows <= 2 * pairs for pairs, rows in seen)


def test_the_repr_of_the_diagnostics_fits_a_screen_and_tells_what_another_seed_keeps(small: Graph) -> None:
    found = HCM(**{**QUICK, "chains": 4}).fit(small).diagnostics_
    assert len(repr(found)) < 400
    assert f"{found.agreement.first} nodes" in repr(found)
    np.testing.assert_allclose(
        found.iv_within + found.iv_between, HCM(**{**QUICK, "chains": 4}).fit(small).result_.sort_by("id")["iv"]
    )


def test_the_variance_of_one_chain_lies_within_it(small: Graph) -> None:
    found = HCM(**{**QUICK, "chains": 1, "samples": 4}).fit(small)
    np.testing.assert_allclose(found.diagnostics_.iv_within, found.result_.sort_by("id")["iv"])
    assert found.diagnostics_.iv_within.any()
    assert not found.diagnostics_.iv_between.any()


def test_the_command_and_the_report_tell_it_even_where_it_is_fine(folder: Path) -> None:
    settings = ["hcm.chains=16", "hcm.burn_in=100", "hcm.hidden=8"]
    options = [word for one in settings for word in ("--set", one)]
    printed = run(*DETECT[: -len(FEW)], "--out", "run", "--detector", "hcm", *options)
    assert "Another seed would keep about" in printed
    assert "Another seed would keep about" in (folder / "run" / "report.html").read_text()
