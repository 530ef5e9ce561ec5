"""Several kinds of nodes in one network: accounts, devices, merchants."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oddhop.base.arrays import Ints
from oddhop.errors import GraphError


@dataclass(frozen=True)
class NodeKinds:
    """Which nodes and which attributes belong to which kind. The nodes of a kind follow each other.

    Attributes
    ----------
    names : of the kinds.
    bounds : the node at which each kind begins, and the number of nodes at the end.
    columns : for every attribute the number of the kind that has it. Nodes of other kinds have 0 there.
    judged : the number of the kind that is judged. The others are context.

    Examples
    --------
    >>> from oddhop.graph.kinds import NodeKinds
    >>> kinds = NodeKinds(("account", "device"), (0, 3, 5), (0, 0, 1), judged=0)
    >>> kinds.nodes(1), kinds.columns_of(0).tolist()
    (slice(3, 5, None), [0, 1])
    """

    names: tuple[str, ...]
    bounds: tuple[int, ...]
    columns: tuple[int, ...]
    judged: int

    def __post_init__(self) -> None:
        count = len(self.names)
        steps = np.diff(self.bounds)
        if count < 2 or len(set(self.names)) != count or len(self.bounds) != count + 1 or not 0 <= self.judged < count:
            raise GraphError(f"kinds must have two or more names and one more bound than names, got {self!r}")
        if self.bounds[0] != 0 or (steps < 1).any() or not all(0 <= one < count for one in self.columns):
            raise GraphError(
                f"every kind must have a node, and every attribute must have one of the kinds, got {self!r}"
            )

    def nodes(self, kind: int) -> slice:
        """Return the nodes of a kind."""
        return slice(self.bounds[kind], self.bounds[kind + 1])

    def columns_of(self, kind: int) -> Ints:
        """Return the attributes of a kind, by number."""
        return np.flatnonzero(np.array(self.columns, dtype=np.int64) == kind)

    def of(self, nodes: Ints) -> Ints:
        """Return the kinds of some nodes, by number.

        Examples
        --------
        >>> import numpy as np
        >>> from oddhop.graph.kinds import NodeKinds
        >>> NodeKinds(("account", "device"), (0, 3, 5), (0, 0, 1), judged=0).of(np.array([0, 3, 2])).tolist()
        [0, 1, 0]
        """
        return np.searchsorted(np.array(self.bounds[1:]), nodes, side="right")
