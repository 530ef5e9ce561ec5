"""What a fit of HCM comes to, on one machine as on many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from oddhop.base.arrays import Floats, Ints
from oddhop.detector.ranking import Mixing, mixing
from oddhop.graph.preparation import Preparation
from oddhop.hcm.chains import Plan, Posterior
from oddhop.hcm.hop_pairs import HopPairs
from oddhop.hcm.scoring import Scores
from oddhop.hcm.training_pairs import LeftOut
from oddhop.settings import HCMSettings


@dataclass(frozen=True)
class Diagnostics:
    """What a careful reader asks of a run.

    Attributes
    ----------
    mixing : R-hat and effective sample size of every node.
    losses : the training loss of every chain at its end.
    class_sizes, classes_counted : pairs of every hop class, and whether counted or estimated.
    dropped, tied, similarity : edges dropped before labelling, how many of them by a tie, and
        by which similarity.
    temperature : of the posterior.
    hubs : nodes of so many neighbours that no hop was counted over them.
    """

    mixing: Mixing
    losses: Floats
    class_sizes: Floats
    classes_counted: bool
    dropped: int
    tied: int
    similarity: str
    temperature: float
    hubs: int

    @classmethod
    def of(cls, scores: Scores, posterior: Posterior, plan: Plan, pairs: HopPairs, left_out: LeftOut) -> Diagnostics:
        """Collect them from what the stages gave."""
        return cls(
            mixing=mixing(scores.draws),
            losses=posterior.losses,
            class_sizes=pairs.class_sizes,
            classes_counted=pairs.exact,
            dropped=left_out.dropped,
            tied=left_out.tied,
            similarity=left_out.similarity,
            temperature=plan.rule.temperature,
            hubs=left_out.hubs,
        )


@dataclass(frozen=True)
class Learned:
    """What a fit comes to, wherever it ran.

    Attributes
    ----------
    settings, seed, preparation, posterior : what scores another network.
    scores, diagnostics : of the network that was learned from.
    node_ids, degrees, fingerprint : its nodes, and what it is known by.
    """

    settings: HCMSettings
    seed: int
    preparation: Preparation
    posterior: Posterior
    scores: Scores
    diagnostics: Diagnostics
    node_ids: npt.NDArray[Any] | None
    degrees: Ints
    fingerprint: str
