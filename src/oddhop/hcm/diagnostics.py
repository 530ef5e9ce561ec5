"""What a careful reader asks of a run of HCM: how well its chains agree, and what it learned from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oddhop.base.arrays import Floats
from oddhop.explain.audit import Finding
from oddhop.hcm.chains import Plan, Posterior
from oddhop.hcm.hop_pairs import HopPairs
from oddhop.hcm.phrases import convergence
from oddhop.hcm.scoring import Scores
from oddhop.hcm.training_pairs import LeftOut

ROWS_AT_ONCE = 65_536


@dataclass(frozen=True)
class Mixing:
    """How well the chains agree: R-hat and effective sample size of every node's mean hop count."""

    r_hat: Floats
    effective: Floats


def mixing(draws: Floats) -> Mixing:
    """Return R-hat and the effective sample size of draws of shape (chains, samples, nodes).

    Chains are split in halves, so that one that still drifts is seen. The effective size sums
    autocorrelations in pairs until a pair turns negative (Geyer 1992).
    """
    nodes = draws.shape[2]
    r_hat, effective = np.ones(nodes), np.empty(nodes)
    for start in range(0, nodes, ROWS_AT_ONCE):
        block = slice(start, min(start + ROWS_AT_ONCE, nodes))
        r_hat[block], effective[block] = _mixing(_halves(draws[:, :, block]).astype(np.float64))
    return Mixing(r_hat, effective)


def _halves(draws: Floats) -> Floats:
    half = draws.shape[1] // 2
    if half < 2:
        return draws
    return np.concatenate([draws[:, :half], draws[:, draws.shape[1] - half :]])


def _mixing(x: Floats) -> tuple[Floats, Floats]:
    chains, samples, nodes = x.shape
    total = chains * samples
    if chains < 2 or samples < 2:
        return np.ones(nodes), np.full(nodes, float(total))
    means = x.mean(axis=1)
    within = x.var(axis=1, ddof=1).mean(axis=0)
    pooled = (samples - 1) / samples * within + means.var(axis=0, ddof=1)
    still = pooled <= 1e-14 * np.maximum(np.abs(means).max(axis=0), 1e-30) ** 2
    safe = np.where(still, 1.0, pooled)
    r_hat = np.where(still, 1.0, np.sqrt(safe / np.maximum(within, 1e-12 * safe)))
    deviations = x - means[:, None]
    time = np.ones(nodes)  # 1 + 2 x the sum of the autocorrelations
    open_ended = np.ones(nodes, dtype=bool)
    for lag in range(1, samples - 1, 2):
        pair = np.zeros(nodes)
        for k in (lag, lag + 1):
            gap = samples - k
            covariance = (deviations[:, :gap] * deviations[:, k:]).sum(axis=1).mean(axis=0) / samples
            pair += 1.0 - (within - covariance) / safe
        open_ended &= pair > 0
        time += 2.0 * np.where(open_ended, pair, 0.0)
    return r_hat, np.where(still, total, np.minimum(total / time, total))


@dataclass(frozen=True)
class Diagnostics:
    """Diagnostics of a fit.

    Attributes
    ----------
    mixing : R-hat and effective sample size of every node.
    r_hat : the median R-hat of the judged nodes.
    convergence : what that says, and what to do; empty with one chain or with one sample of each.
    losses : the training loss of every chain at its end.
    class_sizes, classes_counted : pairs of every hop class, and whether counted or estimated.
    dropped, tied, similarity : edges dropped before labelling, how many of them by a tie, and
        by which similarity.
    temperature : of the posterior.
    hubs : nodes of so many neighbours that no hop was counted over them.
    """

    mixing: Mixing
    r_hat: float
    convergence: tuple[Finding, ...]
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
        """Return the diagnostics from the results of the stages."""
        mixed = mixing(scores.draws)
        r_hat = float(np.median(mixed.r_hat[scores.judged])) if scores.judged.any() else 1.0
        return cls(
            mixing=mixed,
            r_hat=r_hat,
            convergence=convergence(r_hat, chains=plan.chains, samples=plan.samples, thin=plan.thin),
            losses=posterior.losses,
            class_sizes=pairs.class_sizes,
            classes_counted=pairs.exact,
            dropped=left_out.dropped,
            tied=left_out.tied,
            similarity=left_out.similarity,
            temperature=plan.rule.temperature,
            hubs=left_out.hubs,
        )
