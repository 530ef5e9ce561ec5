"""What nodes of simulated networks take over from real nodes of their group."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from oddhop.base.arrays import Floats, Ints
from oddhop.odd.null_groups import STAGE
from oddhop.odd.outlier import log_lengths
from oddhop.odd.row_blocks import gathered
from oddhop.partitions.files import Store
from oddhop.partitions.task import TaskRunner

Components = Callable[[Store, int], Floats]
"""Gives what attributes do not predict of the flows of a range, see :meth:`oddhop.odd.flow.FlowModel.components`."""


def nodes_alike(groups: Ints, rng: np.random.Generator) -> Ints:
    """Return, for every node, another node of its group, each once."""
    donors = np.empty(groups.size, dtype=np.int64)
    donors[np.argsort(groups, kind="stable")] = np.lexsort([rng.random(groups.size), groups])
    return donors


def write_components(store: Store, runner: TaskRunner, components: Components | None) -> int:
    """Write the components of the flows one by one, and return how many there are."""
    if components is None:
        return 0
    return runner.quiet.each(STAGE, partial(_write_components, store, components), store.ranges)[0]


def _write_components(store: Store, components: Components, number: int) -> int:
    rows = components(store, number)
    for k, column in enumerate(rows.T):
        store.write(_component(k), number, np.ascontiguousarray(column))
    return int(rows.shape[1])


def simulated_flow(store: Store, count: int, groups: Ints, rng: np.random.Generator) -> Floats:
    """Return the figure of the flow view where every component comes from another node of the same group."""
    squares = np.zeros(groups.size)
    for k in range(count):
        squares += gathered(store, _component(k))[nodes_alike(groups, rng)] ** 2
    return log_lengths(squares) if count else squares


def _component(k: int) -> str:
    return f"component{k}"
