"""How well scores find known anomalies: ROC-AUC with its standard error, average precision, the kinds apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import rankdata

from oddhop.base.arrays import Bools, Floats

RESAMPLES = 200


def roc_auc(anomalous: Bools, scores: Floats) -> tuple[float, float]:
    """Return the ROC-AUC and its standard error over the nodes (DeLong 1988).

    Examples
    --------
    >>> import numpy as np
    >>> from benchmarks.metrics import roc_auc
    >>> area, error = roc_auc(np.array([True, True, False, False]), np.array([4.0, 2.0, 3.0, 1.0]))
    >>> area, round(error, 3)
    (0.75, 0.354)
    """
    odd, plain = scores[anomalous], scores[~anomalous]
    ranks = rankdata(scores)
    # The share of the other kind that each node is ranked above; their spread is what DeLong asks for.
    over_plain = (ranks[anomalous] - rankdata(odd)) / plain.size
    under_odd = 1.0 - (ranks[~anomalous] - rankdata(plain)) / odd.size
    variance = sum(share.var(ddof=1) / share.size for share in (over_plain, under_odd) if share.size > 1)
    return float(over_plain.mean()), float(np.sqrt(variance))


def average_precision(anomalous: Bools, scores: Floats, *, seed: int = 0) -> tuple[float, float]:
    """Return the average precision and its standard error over the nodes (bootstrap, both kinds resampled apart)."""
    rng = np.random.default_rng(seed)
    odd, plain = scores[anomalous], scores[~anomalous]
    labels = np.repeat([True, False], [odd.size, plain.size])
    drawn = [
        _average_precision(labels, np.concatenate([rng.choice(odd, odd.size), rng.choice(plain, plain.size)]))
        for _ in range(RESAMPLES)
    ]
    return _average_precision(anomalous, scores), float(np.std(drawn, ddof=1))


def _average_precision(anomalous: Bools, scores: Floats) -> float:
    # That of scikit-learn, whose checks take ten times as long as the sum.
    order = np.argsort(-scores, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(scores[order])), scores.size - 1)  # equal scores are taken together
    found = np.cumsum(anomalous[order])[ends]
    return float((np.diff(found, prepend=0) * found / (ends + 1)).sum() / found[-1])


def figures(
    scores: Floats, anomalous: Bools, structural: Bools | None = None, contextual: Bools | None = None
) -> dict[str, Any]:
    """Return all figures of one score; a kind is compared with the normal nodes, without the other kind.

    Examples
    --------
    >>> import numpy as np
    >>> from benchmarks.metrics import figures
    >>> found = figures(np.array([3.0, 2.0, 1.0, 0.0]), np.array([True, False, False, False]))
    >>> found["roc_auc"], found["average_precision"], found["mean_anomalous"]
    (1.0, 1.0, 3.0)
    """
    found: dict[str, Any] = _pair(scores, anomalous)
    found["mean_anomalous"], found["mean_normal"] = float(scores[anomalous].mean()), float(scores[~anomalous].mean())
    for name, kind in (("structural", structural), ("contextual", contextual)):
        if kind is not None and kind.any():
            seen = kind | ~anomalous
            found[name] = _pair(scores[seen], kind[seen])
    return found


def _pair(scores: Floats, labels: Bools) -> dict[str, float]:
    area, area_error = roc_auc(labels, scores)
    precision, precision_error = average_precision(labels, scores)
    return {
        "roc_auc": area,
        "roc_auc_error": area_error,
        "average_precision": precision,
        "average_precision_error": precision_error,
    }
