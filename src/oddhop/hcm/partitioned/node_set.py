"""A set of nodes that takes memory by how many it holds, whatever the size of the network.

A table of slots, two to four for every node; a node stands in the slot that its bits are mixed to, or in the next
that is free. Slots hold node + 1, so that a fresh table of zeros is empty.
"""

from __future__ import annotations

import numpy as np
from numba import uint64

from oddhop.base.arrays import Bools, Ints
from oddhop.base.kernels import compiled
from oddhop.base.randomness import mix

FEWEST_SLOTS = 64


class NodeSet:
    """A set of nodes.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop.hcm.partitioned.node_set import NodeSet
    >>> nodes = NodeSet(np.array([5, 2**40]))
    >>> nodes.add(np.array([7, 5, 7])).tolist(), nodes.holds(np.array([7, 8])).tolist()
    ([7], [True, False])
    """

    def __init__(self, nodes: Ints) -> None:
        self.slots = np.zeros(_slots_for(nodes.size), dtype=np.int64)
        self.size = 0
        self.add(nodes)

    def add(self, nodes: Ints) -> Ints:
        """Add nodes; give those that were new, each once, in their order."""
        new = np.empty(nodes.size, dtype=np.int64)
        read = found = 0
        while True:
            room = self.slots.size // 2 - self.size
            read, end = _add(self.slots, nodes, read, room, new, found)
            self.size += end - found
            found = end
            if read == nodes.size:
                return new[:found].copy()
            slots = np.zeros(2 * self.slots.size, dtype=np.int64)
            _move(self.slots, slots)
            self.slots = slots

    def holds(self, nodes: Ints) -> Bools:
        """Tell which nodes are in it."""
        out = np.empty(nodes.size, dtype=np.bool_)
        _holds(self.slots, nodes, out)
        return out

    def first_in_rows(self, neighbours: Ints, ends: Ints, rows: Ints) -> Ints:
        """Return the first neighbour of each row that is in it, or -1; ``ends`` says where rows begin and end."""
        out = np.full(rows.size, -1, dtype=np.int64)
        _first_in_rows(self.slots, neighbours, ends, rows, out)
        return out


def _slots_for(size: int) -> int:
    return max(FEWEST_SLOTS, 1 << int(2 * size).bit_length())


@compiled
def _slot(slots: Ints, node: int) -> np.uint64:
    """Return the slot where a node stands, or where it would."""
    last = uint64(slots.size - 1)
    at = mix(uint64(0), node) & last
    while slots[at] != 0 and slots[at] != node + 1:
        at = (at + uint64(1)) & last
    return at


@compiled
def _add(slots: Ints, nodes: Ints, read: int, room: int, new: Ints, end: int) -> tuple[int, int]:
    for k in range(read, nodes.size):
        at = _slot(slots, nodes[k])
        if slots[at] == 0:
            if room == 0:
                return k, end
            slots[at] = nodes[k] + 1
            new[end] = nodes[k]
            end += 1
            room -= 1
    return nodes.size, end


@compiled
def _move(old: Ints, slots: Ints) -> None:
    for k in range(old.size):
        if old[k] != 0:
            slots[_slot(slots, old[k] - 1)] = old[k]


@compiled
def _holds(slots: Ints, nodes: Ints, out: Bools) -> None:
    for k in range(nodes.size):
        out[k] = slots[_slot(slots, nodes[k])] != 0


@compiled
def _first_in_rows(slots: Ints, neighbours: Ints, ends: Ints, rows: Ints, out: Ints) -> None:
    for k in range(rows.size):
        for p in range(ends[rows[k]], ends[rows[k] + 1]):
            if slots[_slot(slots, neighbours[p])] != 0:
                out[k] = neighbours[p]
                break
