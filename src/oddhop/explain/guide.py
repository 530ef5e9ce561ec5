"""What a report says about how to read it, in the words of a detector."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Guide:
    """How to read the scores and pictures of a detector.

    Attributes
    ----------
    repeated : what rank ranges compare with, such as "a fresh run".
    picture : what distance from the centre means in the picture of a node and its neighbours.
    entries : (term, meaning), in the order in which they are read.
    fixed : what was kept as it is while a node was scored again, as a clause; empty if nothing was.
    """

    repeated: str
    picture: str
    entries: tuple[tuple[str, str], ...]
    fixed: str = ""


PLAIN = Guide(
    repeated="a fresh run",
    picture="The dashed ring is usual.",
    entries=(
        (
            "An odd node is not a guilty one.",
            "The score says that a node is unlike what is usual here. Whether that matters is for a person to say.",
        ),
        ("Score.", "It is no probability. Only the order, and the distance from the alert line, mean something."),
    ),
)
