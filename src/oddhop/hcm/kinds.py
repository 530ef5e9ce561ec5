"""HCM judges one kind of node; a network of several is refused."""

from __future__ import annotations

from oddhop.errors import GraphError
from oddhop.graph.kinds import NodeKinds


def check_one_kind(kinds: NodeKinds | None) -> None:
    """Refuse a network with several kinds of nodes: their attributes cannot be compared across an edge."""
    if kinds is not None:
        judged = kinds.names[kinds.judged]
        remedy = f"or give an edge table that connects {judged} to {judged} if they share a node"
        raise GraphError(
            f"HCM supports one kind of node, as in the paper, got {len(kinds.names)}: {', '.join(kinds.names)}",
            f"use Odd, {remedy}",
            command=f"give --detector odd, {remedy}",
        )
