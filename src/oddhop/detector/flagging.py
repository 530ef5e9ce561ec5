"""How many nodes to flag, and from which score on."""

from __future__ import annotations

import numpy as np

from oddhop.base.arrays import Bools, Floats
from oddhop.detector.settings import DetectorSettings

DEFAULT_TOP_SHARE = 0.01


def budget(settings: DetectorSettings, judged: int) -> int:
    """Return how many of the judged nodes may be flagged; with no budget set, how many a reader looks at first."""
    share = DEFAULT_TOP_SHARE if settings.contamination == "auto" else settings.contamination
    return max(1, min(settings.top_k or int(np.ceil(share * judged)), judged))


def threshold(score: Floats, judged: Bools, top: int) -> float:
    """Return a score between the last of the first ``top`` judged nodes and the next; nodes above it are flagged.

    Nodes that tie across the border are left out together, so never more than ``top`` are flagged. Where that leaves
    none, the threshold is infinite.
    """
    ladder = np.sort(score[judged])[::-1]
    flagged = ladder[:top]
    if ladder.size > top:
        flagged = flagged[flagged > ladder[top]]
    if not flagged.size:
        return float("inf")
    last = float(flagged[-1])
    below = score[score < last]
    following = float(below.max()) if below.size else float(np.nextafter(last, -np.inf))
    middle = following + (last - following) / 2
    return middle if middle < last else following  # neighbouring floats have nothing between them
