"""One node as the views see it: what an explanation of Odd is made of, with one kind of nodes or several."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.explain.explanation import NOTABLE, ColumnDifference, Counterfactual
from oddhop.odd.combine import KINDS, Evidence

MEMBER = 0.5  # of the largest surprise: so surprising is an edge within a group


@dataclass(frozen=True, eq=False)
class Seen:
    """One node.

    Attributes
    ----------
    evidence : what the views say of it.
    nodes, f, rarity : its neighbours, the log likelihood ratio of each edge (how much less the neighbour looks like one
        than chance would), and the share of all such edges whose ends look as far apart; NaN where edges say nothing.
    members : whether a neighbour belongs to its group, or is shared by the group.
    order : the neighbours by how much they matter.
    looked_at : how many of them tell what is typical.
    columns : those that raise its score.
    counterfactual : what would lower it.
    partners : other nodes of its group, which share neighbours with it.
    cycle : the nodes of the first cycle that it is on.
    """

    evidence: Evidence
    nodes: Ints
    f: Floats
    rarity: Floats
    members: Bools
    order: Ints
    looked_at: int
    columns: tuple[ColumnDifference, ...]
    counterfactual: Counterfactual | None = None
    partners: tuple[int, ...] = ()
    cycle: tuple[int, ...] = ()


def kind_of(evidence: Evidence) -> str:
    """Return the kind of anomaly of one node."""
    return KINDS[int(evidence.kind[0])]


def is_notable(evidence: Evidence, view: str) -> bool:
    """Return whether a view finds one node unusual."""
    return bool(np.exp(evidence.log_p[KINDS.index(view), 0]) < NOTABLE)
