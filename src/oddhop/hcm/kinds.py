"""HCM judges one kind of node; a network of several is refused."""

from __future__ import annotations

from oddhop.errors import GraphError
from oddhop.graph.kinds import NodeKinds


def check_one_kind(kinds: NodeKinds | None) -> None:
    """Refuse a network with several kinds of nodes: their attributes cannot be compared across an edge.

    Examples
    --------
    >>> from oddhop.graph.kinds import NodeKinds
    >>> from oddhop.hcm.kinds import check_one_kind
    >>> check_one_kind(NodeKinds(("account", "device"), (0, 3, 5), (0, 1), judged=0))
    Traceback (most recent call last):
    oddhop.errors.GraphError: HCM supports one kind of node, as in the paper, got 2: account, device; use Odd, or
        give an edge table that connects account to account if they share a node
    """
    if kinds is not None:
        judged = kinds.names[kinds.judged]
        remedy = f"or give an edge table that connects {judged} to {judged} if they share a node"
        raise GraphError(
            f"HCM supports one kind of node, as in the paper, got {len(kinds.names)}: {', '.join(kinds.names)}",
            f"use Odd, {remedy}",
            command=f"give --detector odd, {remedy}",
        )
