"""What HCM says of its scores, in words."""

from __future__ import annotations

from oddhop.explain.audit import Finding
from oddhop.explain.guide import Guide
from oddhop.explain.phrases import share

HALF = 0.5
GUIDE = Guide(
    repeated="a fresh run",
    picture="Each ring is one step; the dashed ring is usual.",
    entries=(
        (
            "An odd node is not a guilty one.",
            "The score says that a node does not look like the company it keeps. Whether that matters is for a "
            "person to say.",
        ),
        (
            "Steps.",
            "oddhop learned from this network how far apart two nodes look. A neighbour is one step away; one that "
            "looks three steps away does not look like a neighbour.",
        ),
        (
            "Score.",
            "It is high where the neighbours look far away, or where the model is unsure how far. It is no "
            "probability. Only the order, and the distance from the alert line, mean something.",
        ),
    ),
)


def ties(dropped: int, tied: int) -> Finding:
    """Say how many of the edges that were left out of the labels were chosen by a tie.

    Examples
    --------
    >>> from oddhop.hcm.phrases import ties
    >>> ties(100, 80).level
    'warning'
    """
    part = tied / dropped
    told = f"Of the {dropped:,} least similar edges, which were left out when distances were learned, {share(part)}"
    if part <= HALF:
        return Finding("ties", "fine", part, f"{told} were chosen by a tie.")
    return Finding("ties", "warning", part, f"{told} were chosen by a tie: the attributes hardly tell edges apart.")
