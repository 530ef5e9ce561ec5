"""What a report says about how to read it, in the words of a detector."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Guide:
    """How to read the scores and pictures of a detector.

    Attributes
    ----------
    repeated : what rank intervals refer to, such as "in another run".
    picture : what distance from the centre means in the picture of a node and its neighbours.
    entries : (term, meaning), in the order in which they are read.
    """

    repeated: str
    picture: str
    entries: tuple[tuple[str, str], ...]


PLAIN = Guide(
    repeated="in another run",
    picture="The dashed ring in the picture marks the typical distance of a neighbour.",
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
