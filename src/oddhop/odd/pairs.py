"""Edges from one side: the rows of judged nodes or of nodes of another kind, with what is known of both."""

from __future__ import annotations

from dataclasses import dataclass

from oddhop.arrays.handles import Handle
from oddhop.arrays.wiring import Wiring


@dataclass(frozen=True, eq=False)
class Side:
    """The rows of nodes of one kind.

    Attributes
    ----------
    wiring : their edges to nodes of one kind, their own or another.
    coordinates : of the nodes.
    residuals : what communities leave of every entry.
    """

    wiring: Wiring
    coordinates: Handle
    residuals: Handle


@dataclass(frozen=True, eq=False)
class Pairs:
    """The edges between judged nodes and nodes of another kind, by its name, as rows of either."""

    kind: str
    near: Side
    far: Side

    @property
    def sides(self) -> tuple[Side, Side]:
        """The rows of the judged nodes, and of the others."""
        return self.near, self.far

    @property
    def count(self) -> int:
        """The number of edges."""
        return self.near.wiring.entry_count
