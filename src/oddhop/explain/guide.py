"""What a report says about how to read it, in the words of a detector."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Guide:
    """How to read the scores of a detector.

    Attributes
    ----------
    repeated : what rank intervals refer to, such as "in another run".
    entries : (term, meaning), in the order in which they are read.
    """

    repeated: str
    entries: tuple[tuple[str, str], ...]


PLAIN = Guide(
    repeated="in another run",
    entries=(
        (
            "A high score is not proof of a problem.",
            "A high score means that a node is unusual in this network. A person must decide whether an unusual node "
            "needs attention.",
        ),
        (
            "Score.",
            "A score is not a probability. Use scores to rank nodes and to see which nodes reach the alert threshold.",
        ),
    ),
)
