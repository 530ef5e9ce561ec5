"""The views of what nodes did: the facts of their events, and cycles of events."""

from __future__ import annotations

import numpy as np

from oddhop.base.arrays import Floats
from oddhop.odd.tail import smallest_log_p
from oddhop.odd.view import Nodes, NodeView


def _uniform(figure: Floats, _: Nodes, __: int, rng: np.random.Generator) -> Floats:
    """Return p-values of facts as they are where nothing is odd: all are as likely."""
    return np.where(figure < 0, np.maximum(np.log1p(-rng.random(figure.size)), smallest_log_p(figure.size)), 0.0)


def _cycles(nodes: Nodes) -> Floats:
    if nodes.cycles is None:
        return np.zeros(nodes.coordinates.wiring.nodes)
    return nodes.cycles.log_p[nodes.source.rows]


def _permuted_cycles(figure: Floats, nodes: Nodes, turn: int, _: np.random.Generator) -> Floats:
    """Return what cycles of the same events with permuted times say."""
    return figure if nodes.cycles is None else nodes.cycles.permuted_log_p(turn)[nodes.source.rows]


FLOW = NodeView("flow", weight=lambda _: 1.0, of_place=False, figure=lambda nodes: nodes.fact_log_p, simulated=_uniform)
CYCLE = NodeView("cycle", weight=lambda _: 1.0, of_place=False, figure=_cycles, simulated=_permuted_cycles)
