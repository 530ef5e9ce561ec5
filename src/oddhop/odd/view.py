"""What a view is: one opinion of every node, which the joining, simulated networks and what-ifs ask alike.

A view of the edges is learned with them, see :mod:`oddhop.odd.views`. A view of the nodes stands by itself in a file of
its own: its figure of every node, its figure where nothing is odd, and its weight. It is named in
:mod:`oddhop.odd.all_views`, and that is all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from oddhop.arrays.handles import Handle
from oddhop.base.arrays import Floats
from oddhop.odd.blocks import Blocks
from oddhop.odd.cycle import Cycles
from oddhop.odd.source import Source


@dataclass(frozen=True)
class View:
    """One view.

    Attributes
    ----------
    name : in results and model files.
    weight : of -log p in the score, by 1 / (1 + I) with I the information of an edge about attributes, in nats.
    of_place : whether it looks at the place of a node, and weighs less beside events.
    """

    name: str
    weight: Callable[[float], float]
    of_place: bool = True


@dataclass(frozen=True, eq=False)
class Nodes:
    """What views of the nodes look at.

    Attributes
    ----------
    source : the network.
    blocks, coordinates : of the judged nodes.
    fact_log_p : what the facts of their events say.
    cycles : those of the events, None where they were not searched.
    """

    source: Source
    blocks: Blocks
    coordinates: Handle
    fact_log_p: Floats
    cycles: Cycles | None


@dataclass(frozen=True)
class NodeView(View):
    """A view whose figures do not depend on what is learned from the edges.

    Attributes
    ----------
    figure : of every judged node, high is odd; the logarithm of a p-value where there is no bulk.
    simulated : the same in a simulated network, by its number and a generator of random numbers.
    has_bulk : whether p-values are those of the bulk of the figures.
    """

    figure: Callable[[Nodes], Floats] = lambda nodes: np.zeros(nodes.coordinates.wiring.nodes)
    simulated: Callable[[Floats, Nodes, int, np.random.Generator], Floats] = lambda figure, *_: figure
    has_bulk: bool = False
